// Keys, as in vetro step; the digits choose a view.

function walkCycle(by) {
  const {step, token} = place;
  if (by < 0) {
    if (step === 11 && token >= about.nPrompt) return go({step: 16, token: token - 1, view: "step", row: 0, inside: 0});
    return step > 1 ? go({step: step - 1, view: "step", row: 0, inside: 0}) : say("this is the first step");
  }
  if (step < 16) return go({step: step + 1, view: "step", row: 0, inside: 0});
  if (token + 1 < about.nRun) return go({step: 11, token: token + 1, view: "step", row: 0, inside: 0});
  return say("the run ended here");
}

function moveOp(by) {
  const op = Math.max(0, Math.min(about.steps.length - 1, place.op + by));
  go({...atOp(place.step === 13 || place.view !== "step" ? op : place.op), step: 13});
}

// To where the op's operands come from, or to who reads its results.
async function follow(field) {
  try {
    const flow = await source.ask("flow", {op: place.op});
    if (!flow[field].length) return say(field === "from" ? "it reads weights, ids and the cache only" : "nothing reads it");
    const [first, ...others] = flow[field].map((op) => about.steps[op].name || about.steps[op].op);
    say(`${field === "from" ? "from" : "read by"} ${first}${others.length ? `; also ${others.join(", ")}` : ""}`);
    return go({...atOp(flow[field][0]), step: 13});
  } catch (error) {
    return say(error.message, true);
  }
}

// To the same value of another layer, or else to its first op.
function moveLayer(by) {
  const layer = place.layer + by;
  const inLayer = about.steps.findIndex((step) => step.layer === layer);
  if (inLayer < 0) return say(`there is no layer ${layer}`);
  const name = place.name.replace(/^blk\.\d+\./, `blk.${layer}.`);
  const change = layerOf(name) === layer && opOf.has(name) ? {op: opOf.get(name), name} : atOp(inLayer);
  return go({...change, layer, step: 13, row: 0, at: 0});
}

function moveToken(by) {
  const token = place.token + by;
  if (token >= 0 && token < about.tokens.length) go({token, row: 0});
}

function turnPass(by) {
  const changed = about.passes.flatMap((pass, i) => pass.changed ? [i] : []);
  const next = by > 0 ? changed.find((i) => i > place.pass) : changed.findLast((i) => i < place.pass);
  if (next !== undefined) go({pass: next, view: "passes"});
}

function moveRow(by) {
  const rows = [...document.querySelectorAll("#view tr.choice")];
  const at = rows.findIndex((row) => row.classList.contains("chosen"));
  rows[Math.max(0, Math.min(rows.length - 1, at + by))]?.click();
}

// A name, a part of one, a step from 1 to 16, "token 7".
function find(text) {
  const token = /^token (\d+)$/.exec(text.trim());
  if (token) return moveToken(Number(token[1]) - place.token);
  const step = Number(text);
  if (text.trim() && Number.isInteger(step) && step >= 1 && step <= 16) return go({step, view: "step", row: 0});
  const names = [...opOf.keys()], from = names.indexOf(place.name) + 1;
  const name = opOf.has(text) ? text : [...names.slice(from), ...names.slice(0, from)].find((other) => other.includes(text));
  return name && text ? select(name) : say(`no value has ${text} in its name`, true);
}

async function patch(body) {
  progress("running again", 0);
  try {
    const message = await source.patch(body);
    await begin(); // draws the frame anew, the line of messages too
    say(message);
  } catch (error) {
    say(error.message, true);
  }
  progress(null);
}

function edit() {
  const text = prompt("Edit a value and run again, such as blk.5.l_out[7,3] = 0", place.name ? `${place.name} *= 0` : "");
  if (text) patch({token: place.token, edit: text});
}

// The keys that the terminal has too are described as there; those below differ.
function help() {
  const here = [["1 to 8", "the views"], ["/", "find a value, a step (13), token 7"], ["e z", "edit a value and run again; take it back"],
    ["Space Right Left", "next, previous of the sixteen steps"], ["n p", "next, previous op"], ["N P", "next, previous layer"],
    ["u o", "where it comes from; who uses it"], ["t T", "next, previous token"], ["[ ]", "the compiler's previous, next pass"], ["Up Down", "choose a row"],
    ["Enter Escape", "with the values inside; without"], ["w", "why was this piece not drawn?"], ["y", "the command that shows this again"],
    ["m", "colour the map by the next metric"], ["?", "this help"]];
  const dialog = document.getElementById("help");
  dialog.replaceChildren(h("h2", {}, "keys"), h("dl", {class: "facts"},
    here.map(([keys, words]) => [h("dt", {}, keys.split(" ").map((key) => [h("kbd", {}, key), " "])), h("dd", {}, words)])),
  h("form", {method: "dialog"}, h("button", {}, "close")));
  dialog.showModal();
}

function nextMetric() {
  const names = Object.keys(metrics).filter((name) => name !== "diff" || about.hasDiff);
  go({metric: names[(names.indexOf(place.metric) + 1) % names.length]}, true);
}

const keys = {
  " ": () => walkCycle(1), ArrowRight: () => walkCycle(1), ArrowLeft: () => walkCycle(-1),
  u: () => follow("from"), o: () => follow("users"),
  n: () => moveOp(1), p: () => moveOp(-1), N: () => moveLayer(1), P: () => moveLayer(-1),
  t: () => moveToken(1), T: () => moveToken(-1), "[": () => turnPass(-1), "]": () => turnPass(1),
  ArrowDown: () => moveRow(1), ArrowUp: () => moveRow(-1), j: () => moveRow(1), k: () => moveRow(-1),
  Enter: () => go({inside: 1}, true), Escape: () => go({inside: 0, tab: 0, weight: "", head: -1}, true),
  "/": () => document.getElementById("find").focus(), "?": help, m: nextMetric, e: edit, z: () => patch({undo: true}),
  w: () => place.view === "sampler" ? document.getElementById("why")?.focus() : go({view: "sampler"}),
  y: () => say(`${about.command.replace(/^vetro view/, "vetro step").replace(/ --at .*/, "")} --at '${place.step}` +
    `${place.step === 13 ? ` ${about.steps[place.op].name}` : ""} token ${place.token}'`),
};

function pressed(event) {
  const typing = event.target.closest("input, select, textarea, dialog, summary");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) {
    if (event.key === "Escape" && typing && event.target.id) event.target.blur();
    return;
  }
  if ((event.key === "Enter" || event.key === " ") && event.target.closest("button, [role=link], g.node")) return;
  const view = Object.keys(views).filter((name) => name !== "diff" || about.hasDiff)[Number(event.key) - 1];
  const act = /^[1-8]$/.test(event.key) && view ? () => go({view}) : keys[event.key];
  if (!act) return;
  event.preventDefault();
  say("");
  act();
}
