// The page: its frame, and which view is drawn in it.
const drawers = {step: stepView, graph: graphView, tensor: tensorView, heads: headsView, lens: lensView,
  sampler: samplerView, passes: passesView, diff: diffView};
let turns = 0; // counts draws, so that an answer that comes late draws nothing

function say(text, bad = false) {
  const line = document.getElementById("said");
  line.textContent = shown(text);
  line.classList.toggle("bad", bad);
}

// How far something long is; null: done.
function progress(words, share = 0) {
  const line = document.getElementById("progress");
  line.hidden = words === null;
  line.textContent = words === null ? "" : `${words} ${Math.round(share * 100)} %`;
}

// Draws one part of the page; what went wrong stands in its place.
async function drawPart(id, nodes, turn) {
  const part = document.getElementById(id);
  let drawn;
  const late = setTimeout(() => part.classList.add("waiting"), 150);
  try {
    drawn = await nodes();
  } catch (error) {
    drawn = [h("p", {class: "failed", role: "alert"}, error.message)];
  }
  clearTimeout(late);
  if (turn !== turns) return;
  progress(null);
  part.classList.remove("waiting");
  part.replaceChildren(...drawn.flat(Infinity).filter(Boolean));
}

// The map stays while one walks through the values of a token; only the mark moves.
async function drawMap(turn) {
  const map = document.getElementById("map"), of = `${place.token} ${place.metric} ${place.all} ${about.nEdits}`;
  if (map.dataset.of !== of) await drawPart("map", mapView, turn);
  if (turn !== turns) return;
  map.dataset.of = map.querySelector("[role=alert]") ? "" : of;
  markMap(map);
}

async function draw() {
  const turn = ++turns;
  readPlace();
  document.body.dataset.view = place.view;
  drawTabs();
  drawCycle();
  const view = document.getElementById("view"), moved = view.dataset.at !== `${place.view} ${place.token}`;
  view.dataset.at = `${place.view} ${place.token}`;
  await Promise.all([drawPart("view", drawers[place.view], turn), drawMap(turn)]);
  if (turn !== turns) return;
  if (moved) view.scrollTop = 0;
  document.body.dataset.drawn = String(turn);
}

// Lights up everything that stands for the value that is pointed at.
function light(event) {
  const name = event.target.closest?.("[data-hook]")?.dataset.hook;
  document.querySelectorAll(".lit").forEach((node) => node.classList.remove("lit"));
  if (name !== undefined)
    document.querySelectorAll(`[data-hook="${CSS.escape(name)}"]`).forEach((node) => node.classList.add("lit"));
}

function drawFrame() {
  const names = h("datalist", {id: "names"}, [...opOf.keys()].map((name) => h("option", {value: name})));
  const search = h("input", {id: "find", type: "search", list: "names", placeholder: "/ find a value", "aria-label": "find",
    autocomplete: "off", spellcheck: "false",
    onchange: (event) => {
      const text = event.target.value;
      event.target.value = "";
      event.target.blur();
      if (text) find(text);
    }});
  const edits = about.nEdits ? h("span", {class: "accent"}, `${about.nEdits} edit(s), z takes the last back`) : null;
  document.body.replaceChildren(
    h("header", {}, h("h1", {}, "vetro"), cellNode(about.model), " ", cellNode(about.architecture),
      h("span", {class: "dim file"}, about.trace), edits, search, names,
      h("button", {type: "button", onclick: help}, h("kbd", {}, "?"), " keys")),
    h("nav", {id: "rail", "aria-label": "tokens"}), h("nav", {id: "cycle", "aria-label": "steps of a token"}),
    h("aside", {id: "map", "aria-label": "layer map"}),
    h("div", {id: "main"}, h("nav", {id: "tabs", "aria-label": "views"}), h("main", {id: "view", tabindex: -1})),
    h("footer", {}, h("output", {id: "said"}), h("span", {id: "progress", hidden: true}),
      about.hasModel || source.isFile() ? null : h("span", {class: "dim"}, "the trace alone: --model shows the rest")),
    h("dialog", {id: "help"}));
  document.title = shown(`vetro: ${about.model.text || "a run"}`);
}

async function begin() {
  about = await source.ask("about");
  indexNames();
  readPlace();
  drawFrame();
  drawRail();
  await draw();
}

async function open() {
  try {
    await source.open();
    window.addEventListener("popstate", draw);
    window.addEventListener("hashchange", draw);
    document.addEventListener("keydown", pressed);
    document.addEventListener("mouseover", light);
    await begin();
  } catch (error) {
    document.body.replaceChildren(h("p", {class: "failed", role: "alert"}, error.message));
  }
}

// The other scripts may stand below this one.
document.addEventListener("DOMContentLoaded", open);
