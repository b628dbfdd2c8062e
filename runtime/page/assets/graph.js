// The graph of one layer, drawn by Graphviz; the ids in it are the values' names.

// Takes a drawing in: shapes and words, no links and nothing that runs.
function drawing(text) {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  const kept = new Set(["svg", "g", "a", "path", "polygon", "polyline", "ellipse", "text", "title", "rect"]);
  const copy = (from) => {
    if (!kept.has(from.localName)) return null;
    const to = s(from.localName === "a" ? "g" : from.localName);
    for (const {localName, value} of from.attributes)
      if (!/^on|href|style/i.test(localName)) to.setAttribute(localName === "title" ? "aria-label" : localName, value);
    for (const child of from.childNodes)
      if (child.nodeType === Node.TEXT_NODE) to.append(shown(child.textContent.replace(/\n/g, "")));
      else if (child.nodeType === Node.ELEMENT_NODE) to.append(copy(child) ?? "");
    return to;
  };
  return copy(parsed);
}

function graphChoices() {
  const layers = Math.max(...about.steps.map((step) => step.layer));
  const select = h("select", {"aria-label": "layer", onchange: (event) => go({layer: Number(event.target.value)}, true)},
    Array.from({length: layers + 1}, (_, i) => h("option", {value: i, selected: i === place.layer}, `layer ${i}`)));
  return h("div", {class: "bar-of-choices"}, select,
    choiceNode(Object.fromEntries(Object.keys(about.graphs).map((stage) => [stage, stage])), place.stage,
      (stage) => go({stage}, true), "stage"),
    place.stage === "planned" && !source.isFile()
      ? choiceNode({"": "no numbers", time: "time", bytes: "bytes", ...(about.hasDiff ? {error: "difference"} : {})}, place.beside,
        (beside) => go({beside}, true), "numbers beside the nodes") : null);
}

async function graphView() {
  const ask = (layer) => source.ask("graph", {layer, stage: place.stage, beside: place.beside});
  const graph = await ask(place.layer);
  for (const layer of [place.layer + 1, place.layer - 1]) // the likeliest to be asked for next
    if (about.steps.some((step) => step.layer === layer)) ask(layer).catch(() => {});
  const svg = drawing(graph.svg);
  const box = svg.viewBox.baseVal;
  svg.removeAttribute("height");
  svg.setAttribute("class", "graph");
  svg.style.maxWidth = `${box.width * 1.5}px`;
  for (const node of svg.querySelectorAll("g.node")) {
    const name = graph.names[node.id];
    if (!name) continue;
    isHook(node, name);
    node.tabIndex = 0;
    node.classList.toggle("here", name === place.name);
    node.addEventListener("click", () => go({view: "tensor", ...(opOf.has(name) ? {op: opOf.get(name)} : {}), name, at: 0}));
    node.addEventListener("keydown", (event) => event.key === "Enter" && node.dispatchEvent(new Event("click")));
  }
  const inner = svg.querySelector("g.graph"), base = inner.getAttribute("transform") ?? "";
  d3.select(svg).call(d3.zoom().scaleExtent([0.5, 8]).filter((given) => zooms(given))
    .on("zoom", (given) => inner.setAttribute("transform", `${eventOf(given).transform} ${base}`)));
  return [h("h2", {}, `layer ${place.layer}`), graphChoices(), h("div", {class: "scroll paper"}, svg),
    note("Click a node for its value. Drag to move, double-click or Ctrl and wheel to zoom.")];
}
