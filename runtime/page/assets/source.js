// Answers to what the page asks: from its server, or, in an exported file, from the file itself.
const source = {
  answers: null, // of an exported file: from a request's key to its answer
  known: new Map(),

  async open() {
    const recorded = document.getElementById("recorded");
    if (!recorded) return;
    const bytes = Uint8Array.from(atob(recorded.textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    this.answers = await new Response(stream).json();
    recorded.remove();
  },

  isFile() {
    return this.answers !== null;
  },

  // The same text as Request::key() in Views.cpp.
  key(view, args) {
    const words = Object.keys(args).sort().map((name) => `${name}=${args[name]}`);
    return words.length ? `${view}?${words.join("&")}` : view;
  },

  // The answer; throws an Error with one line that says why there is none.
  ask(view, args = {}) {
    const key = this.key(view, args);
    if (!this.known.has(key)) {
      const answer = this.isFile() ? this.recorded(key) : this.fetched(view, args);
      answer.catch(() => this.known.delete(key));
      this.known.set(key, answer);
    }
    return this.known.get(key);
  },

  async recorded(key) {
    const answer = this.answers[key];
    if (!answer)
      throw new Error(`not in this file, which holds token ${this.answers.tokens.join(", ")}: ` +
        "open the run itself with vetro view");
    if (answer.error) throw new Error(answer.error);
    return answer;
  },

  async fetched(view, args) {
    let response;
    try {
      response = await fetch(`view/${view}?${new URLSearchParams(args)}`);
    } catch {
      throw new Error("vetro view does not answer: it was ended");
    }
    const answer = await response.json();
    if (answer.error) throw new Error(answer.error);
    return answer;
  },

  // An edit or its undoing: the run is another one afterwards.
  async patch(body) {
    if (this.isFile()) throw new Error("an edit runs the model again: open the run with vetro view");
    const response = await fetch("patch", {method: "POST", body: JSON.stringify(body)});
    const answer = await response.json();
    if (answer.error) throw new Error(answer.error);
    this.known.clear();
    return answer.message;
  },
};
