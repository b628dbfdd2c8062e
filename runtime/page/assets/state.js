// The place one is at, kept in the address after "#", so that links, back and forward work.
const views = {
  step: "step", graph: "graph", tensor: "tensor", heads: "attention", lens: "logit lens",
  sampler: "sampler", passes: "passes & code", diff: "diff",
};

let about = null; // the run's frame: the answer "about"
let opOf = new Map(); // from a value's name to the step of the plan that computes it
let place = {};

const defaults = {
  view: "step", token: 0, step: 1, op: 0, inside: 0, tab: 0, pass: 0, row: 0, layer: 0, name: "",
  metric: "rms", all: 0, pool: "max", scale: "linear", at: 0, stage: "planned", beside: "", head: -1,
  weight: "", wrow: 0, block: 0, stageRow: 0,
};

// Names of values that the trace knows, in the order of the plan.
function indexNames() {
  opOf = new Map();
  for (const field of ["values", "inside"])
    about.steps.forEach((step, op) => step[field].forEach((name) => {
      if (name !== "" && !opOf.has(name)) opOf.set(name, op);
    }));
}

function layerOf(name) {
  const match = /^blk\.(\d+)\./.exec(name);
  return match ? Number(match[1]) : -1;
}

function within(number, count) {
  return Number.isInteger(number) && number >= 0 && number < count ? number : 0;
}

// What the address says; what it says wrongly is as if it said nothing.
function readPlace() {
  const words = new URLSearchParams(location.hash.slice(1));
  const read = {...defaults, token: Math.max(0, about.nPrompt - 1)};
  for (const key of Object.keys(defaults))
    if (words.has(key))
      read[key] = typeof defaults[key] === "number" ? Number(words.get(key)) : words.get(key);
  read.token = within(read.token, about.tokens.length);
  read.op = within(read.op, about.steps.length);
  read.pass = within(read.pass, about.passes.length);
  read.step = within(read.step - 1, 16) + 1;
  if (!views[read.view]) read.view = "step";
  if (!opOf.has(read.name)) read.name = about.steps[read.op]?.values.find((name) => name) ?? "";
  place = read;
}

// Goes to a place that differs in `change`. `quietly`: back skips it.
function go(change, quietly = false) {
  const next = {...place, ...change};
  const words = new URLSearchParams();
  for (const [key, value] of Object.entries(next))
    if (value !== defaults[key]) words.set(key, value);
  words.set("token", next.token);
  const hash = `#${words}`;
  if (hash === location.hash) return draw();
  if (quietly) history.replaceState(null, "", hash);
  else history.pushState(null, "", hash);
  draw();
}

// What belongs to an op: its first value, its layer.
function atOp(op) {
  const step = about.steps[op];
  const name = step.values.find((value) => value) ?? step.inside.find((value) => value) ?? place.name;
  return {op, name, row: 0, at: 0, layer: step.layer >= 0 ? step.layer : place.layer};
}

// Goes to a value, in the view where one can see it.
function select(name) {
  const op = opOf.get(name);
  const layer = layerOf(name);
  const view = ["graph", "tensor", "heads", "passes"].includes(place.view) ? place.view : "tensor";
  go({...(op === undefined ? {} : {op}), step: 13, name, at: 0, row: 0, view,
    layer: layer >= 0 ? layer : place.layer});
}
