// What the compiler made of a layer: pass by pass side by side, the lines that did it, and the
// machine code of an op.

function passSlider(changed) {
  const at = Math.max(0, changed.indexOf(place.pass));
  return h("label", {class: "slider"}, "pass ", h("input", {type: "range", id: "pass", min: 0, max: changed.length - 1, value: at,
    oninput: (event) => go({pass: changed[Number(event.target.value)]}, true)}));
}

function passList(changed) {
  const rows = about.passes.map((pass, i) => h("tr", {class: `${changed.includes(i) ? "choice" : "off"} ${i === place.pass ? "chosen" : ""}`,
    onclick: changed.includes(i) ? () => go({pass: i}, true) : null},
  cellNode(pass.name, "td"), cellNode(pass.before, "td"), cellNode(pass.after, "td"), h("td", {class: "right"}, pass.fired || "")));
  return h("table", {class: "passes"}, h("thead", {}, h("tr", {}, ["pass", "ops before", "after", "sites"].map((word) => h("th", {}, word)))),
    h("tbody", {}, rows));
}

// A line of IR; the name that it defines stands for the value.
function irLine(text) {
  const td = h("td", {});
  const name = /^%([^\s,:=]+)/.exec(text)?.[1];
  if (name) isHook(td, opOf.has(name) ? name : name.replace(/_\d+$/, ""));
  const [left, right] = name && text.includes(" = ") ? [text.slice(0, text.indexOf(" = ")), text.slice(text.indexOf(" = "))] : ["", text];
  td.append(h("b", {}, left), shown(right));
  return td;
}

function irTable(ir) {
  const rows = ir.rows.map(({before, after}) => h("tr", {
    class: before === after ? "same" : !before ? "added" : !after ? "removed" : "changed"}, irLine(before), irLine(after)));
  return h("table", {class: "ir"}, h("thead", {}, h("tr", {}, h("th", {}, "before"), h("th", {}, "after"))), h("tbody", {}, rows));
}

function rewriteNode(rewrite, i) {
  const lines = rewrite.lines.map(({number, text, here}) => h("span", {class: here ? "line here" : "line"},
    `${String(number).padStart(4)}  `, text, h("br")));
  return h("details", {open: rewrite.fired && i === 0, class: rewrite.fired ? "fired" : "refused"},
    h("summary", {}, isHook(h("b", {}, rewrite.site), rewrite.site), rewrite.fired ? ": " : ", refused: ", cellNode(rewrite.what), " ",
      cellNode(rewrite.source)),
    rewrite.in.length ? h("p", {}, "made of ", rewrite.in.map((name, i) => [i ? ", " : "", isHook(h("span", {}, name), name)])) : null,
    lines.length ? h("pre", {}, lines) : note("This program does not hold that line."));
}

// The machine code of the op that is looked at, its time and the bytes that it read.
async function codeNode() {
  const token = Math.min(place.token, about.nRun - 1); // its code is every token's
  const ask = (tab) => source.ask("screen", {step: 13, token, op: place.op, inside: 0, tab, pass: 0, row: 0});
  const [screen, values] = await Promise.all([ask(2), ask(0)]);
  return h("section", {class: "code"}, h("h3", {}, "op ", isHook(h("b", {}, about.steps[place.op].name), place.name)), tableNode(values.tables[0], {}),
    screen.tables.map((table) => isHook(tableNode(table, {}), about.steps[place.op].name)));
}

async function passesView() {
  const changed = about.passes.flatMap((pass, i) => pass.changed ? [i] : []);
  if (!changed.length) return [h("h2", {}, "passes"), note("No pass changed the graph.")];
  if (!changed.includes(place.pass)) place.pass = changed[0];
  const args = {layer: place.layer, pass: place.pass};
  const [ir, rewrites, code] = await Promise.all([source.ask("ir", args), source.ask("rewrites", args), codeNode()]);
  return [h("h2", {}, "layer ", place.layer, ", ", cellNode(about.passes[place.pass].name)),
    h("div", {class: "bar-of-choices"}, passSlider(changed),
      choiceNode([[-1, "‹ layer"], [1, "layer ›"]], null, (by) => moveLayer(Number(by)), "layer")),
    h("div", {class: "irs"}, ir.rows.length ? irTable(ir) : note("The layer has no ops at this stage.")),
    h("h3", {}, "the lines that did it"),
    h("div", {class: "side"}, passList(changed), h("section", {class: "rewrites"},
      rewrites.rewrites.length ? rewrites.rewrites.map(rewriteNode) : note("It fired at no site of this layer."))),
    code];
}
