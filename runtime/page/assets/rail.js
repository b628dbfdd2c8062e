// The tokens, and the sixteen steps of the cycle.
function drawRail() {
  const rail = document.getElementById("rail");
  rail.replaceChildren(...about.tokens.map((token, i) => {
    const piece = cellNode(token.piece);
    piece.classList.add("piece");
    const kind = i < about.nPrompt ? "prompt" : "generated";
    return h("button", {type: "button", class: `token ${kind}`, "data-at": i,
      title: `token ${i}: ${kind === "prompt" ? "of the prompt" : "generated"}` +
        (i < about.nRun ? "" : "; it was drawn last and did not run"),
      onclick: () => go({token: i, row: 0})}, piece,
      h("small", {}, `${i} · `, cellNode(token.id)));
  }));
}

// What a step of the cycle took for the token, where that was measured.
function timeNode(step) {
  const batch = about.batches[about.tokens[place.token].batch];
  if (!batch) return null;
  const timed = (cell, ms) => {
    const node = cellNode(cell);
    node.textContent = `${ms.toPrecision(3)} ms`;
    return h("small", {}, node);
  };
  if (step.number === 12) return timed(batch.ms, batch.ms.data[0].value);
  return step.number === 13 ? timed(batch.stepsUs, batch.stepsUs.data[0].value / 1000) : null;
}

function drawCycle() {
  let group = "";
  const buttons = about.cycle.map((step) => {
    const first = step.group !== group;
    group = step.group;
    const now = place.view === "step" && step.number === place.step;
    return h("button", {type: "button", class: first ? "first" : "", "data-step": step.number,
      "aria-current": now ? "step" : null, title: `step ${step.number}, ${step.name}: ${step.group}`,
      onclick: () => go({step: step.number, view: "step", row: 0, inside: 0})},
    h("span", {}, h("b", {}, step.number), " ", step.name), timeNode(step));
  });
  document.getElementById("cycle").replaceChildren(...buttons);
  document.querySelectorAll("#rail .token").forEach((node, i) => {
    if (i === place.token) node.setAttribute("aria-current", "true");
    else node.removeAttribute("aria-current");
  });
  document.querySelector("#rail [aria-current]")?.scrollIntoView({block: "nearest", inline: "nearest"});
}

function drawTabs() {
  const shownViews = Object.entries(views).filter(([view]) => view !== "diff" || about.hasDiff);
  document.getElementById("tabs").replaceChildren(...shownViews.map(([view, words], i) =>
    h("button", {type: "button", "data-view": view, "aria-current": view === place.view ? "page" : null,
      onclick: () => go({view})}, h("kbd", {}, i + 1), " ", words)));
}
