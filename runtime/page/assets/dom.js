// Elements. Text reaches the page only here, as text, with what would act on a reader written out.
const SVG = "http://www.w3.org/2000/svg";

// Controls, marks that turn the direction of writing, unassigned: \n, \u{202e}. As shown() in
// runtime/screens/Screen.cpp, which has the bytes that are no UTF-8 besides.
function shown(text) {
  const short = {"\n": "\\n", "\t": "\\t", "\r": "\\r"};
  return String(text).replace(/[\p{C}\p{Zl}\p{Zp}]/gu,
    (c) => short[c] ?? `\\u{${c.codePointAt(0).toString(16)}}`);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "title") element.setAttribute("title", shown(value));
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined)
      element.append(child instanceof Node ? child : shown(child));
  return element;
}

// An element of HTML: h("td", {class: "name"}, "text", child).
function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

// One of SVG.
function s(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// Says what an element is a picture of. `token`: the position that the value belongs to.
function isDatum(element, name, index, value, token) {
  element.dataset.name = name;
  element.dataset.index = index;
  element.dataset.value = JSON.stringify(value);
  if (name !== "trace.json" && name !== "diff.json") {
    if (token !== undefined) element.dataset.token = token;
    element.dataset.hook = name;
  }
  return element;
}

// Says that an element stands for a value: pointing at it lights all of them up.
function isHook(element, name) {
  element.dataset.hook = name;
  return element;
}

function numberText(x) {
  if (x === null || Number.isNaN(x)) return "nan";
  return Number.isInteger(x) && Math.abs(x) < 1e6 ? String(x) : x.toPrecision(5).replace(/\.?0+($|e)/, "$1");
}

// Numbers that Views.cpp packed.
function unpacked(base64) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  return new Float32Array(bytes.buffer);
}

// A cell of a screen: one element, or, for several numbers, one for each inside it.
function cellNode(cell, tag = "span", token = undefined) {
  const data = cell.data ?? [];
  const node = h(tag, {class: [cell.tone ?? "plain", cell.right ? "right" : "", cell.target ? "target" : ""]
    .filter(Boolean).join(" ")});
  if (cell.shade !== undefined) {
    node.classList.add("shade");
    node.style.setProperty("--t", cell.shade);
    node.title = cell.text;
  }
  if (data.length > 1) node.classList.add("many");
  else if (cell.text.length <= 32) node.classList.add("short");
  if (data.length > 1) node.append(...manyNodes(cell, token));
  else if (cell.bar !== undefined) node.append(barNode(cell.bar));
  else node.append(shown(cell.text));
  if (data.length === 1) isDatum(node, data[0].name, data[0].index, data[0].value, token);
  if (cell.target) {
    isHook(node, cell.target);
    node.tabIndex = 0;
    node.setAttribute("role", "link");
    node.addEventListener("click", (event) => {
      event.stopPropagation();
      select(cell.target);
    });
    node.addEventListener("keydown", (event) => event.key === "Enter" && node.click());
  }
  return node;
}

// The parts of a text that belong to one number each: its words, but for those that only join, or the
// characters of a histogram. Where neither fits, the text stands whole and the numbers beside it, unseen.
function manyNodes(cell, token) {
  const joins = new Set(["", "…", "x"]);
  const isNumber = (word) => !joins.has(word.trim());
  const words = cell.text.split(/( )/), characters = [...cell.text];
  let parts = [cell.text, ...cell.data.map(() => "")], holds = (part, i) => i > 0;
  if (words.filter(isNumber).length === cell.data.length) [parts, holds] = [words, isNumber];
  else if (characters.length === cell.data.length) [parts, holds] = [characters, () => true];
  let next = 0;
  return parts.map((part, i) => {
    const node = h("span", {}, part);
    if (!holds(part, i)) return node;
    const datum = cell.data[next++];
    return isDatum(node, datum.name, datum.index, datum.value, token);
  });
}

function barNode(share) {
  const bar = h("span", {class: "bar"});
  bar.style.setProperty("--t", share);
  return bar;
}

// A table of a screen. `choose(i)` is called for a row that was chosen, `row` is the chosen one.
function tableNode(table, {token, row, choose} = {}) {
  const chooses = table.chooses && choose;
  const body = table.rows.map((cells, i) => {
    const line = h("tr", {class: chooses ? (i === row ? "choice chosen" : "choice") : ""},
      cells.map((cell) => cellNode(cell, "td", token)));
    if (chooses) line.addEventListener("click", () => choose(i));
    return line;
  });
  const header = table.header.length
    ? h("thead", {}, h("tr", {}, table.header.map((cell) => cellNode(cell, "th")))) : null;
  return h("section", {class: table.map ? "table map" : "table"},
    table.title ? h("h3", {}, table.title) : null,
    h("div", {class: "scroll"}, h("table", {}, header, h("tbody", {}, body))));
}

// Buttons of which one is pressed: choiceNode({max: "largest"}, "max", (key) => ...); in a given
// order: choiceNode([[-1, "back"], [1, "on"]], ...).
function choiceNode(words, chosen, choose, label) {
  return h("span", {class: "choices", role: "group", "aria-label": label},
    (Array.isArray(words) ? words : Object.entries(words)).map(([key, text]) =>
      h("button", {type: "button", "aria-pressed": String(key === String(chosen)), onclick: () => choose(key)}, text)));
}

function note(...words) {
  return h("p", {class: "note"}, ...words);
}

// What happened, as d3 tells it: version 5 in d3.event, later ones as the first argument.
function eventOf(given) {
  return given?.type ? given : d3.event;
}

// A wheel scrolls the page; with Ctrl it zooms.
function zooms(given) {
  const event = eventOf(given);
  return event.type !== "wheel" || event.ctrlKey;
}
