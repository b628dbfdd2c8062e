// The sixteen screens, drawn from their cells as the terminal draws them.
const tabs = {0: "values", 1: "IR", 2: "machine code", 3: "heads"};

// What chooses the op of step 13.
function opChoices() {
  const step = about.steps[place.op];
  return h("div", {class: "bar-of-choices"},
    choiceNode([[-1, "‹ op"], [1, "op ›"]], null, (by) => moveOp(Number(by)), "op"),
    h("select", {"aria-label": "op", onchange: (event) => go(atOp(Number(event.target.value)))},
      about.steps.map((other, i) => h("option", {value: i, selected: i === place.op},
        `${i + 1}  ${other.name || other.op}  (${other.op})`))),
    choiceNode(tabs, place.tab, (tab) => go({tab: Number(tab), row: 0}, true), "tab"),
    about.hasModel && step.inside.length
      ? choiceNode({0: "results", 1: "with those inside"}, place.inside, (inside) => go({inside: Number(inside)}, true), "inside")
      : null);
}

// Where an op's operands come from and who reads its results.
async function flowNode() {
  const flow = await source.ask("flow", {op: place.op}).catch(() => null);
  if (!flow) return null;
  const links = (ops) => ops.map((op, i) => [i ? ", " : "", isHook(h("button", {type: "button", class: "link",
    onclick: () => go(atOp(op))}, about.steps[op].name || about.steps[op].op), about.steps[op].name)]);
  return h("p", {class: "note"}, "From ", flow.from.length ? links(flow.from) : "weights, ids and the cache only", "; ",
    flow.users.length ? ["read by ", links(flow.users)] : "nothing reads it", ".");
}

async function stepView() {
  const args = {step: place.step, token: place.token, op: place.step === 13 ? place.op : 0,
    inside: place.step === 13 || place.step === 14 ? place.inside : 0,
    tab: place.step === 13 ? place.tab : 0, pass: place.step === 13 && place.tab === 1 ? place.pass : 0, row: place.row};
  if (place.step === 13) source.ask("flow", {op: place.op}).catch(() => {}); // both at once
  const screen = await source.ask("screen", args);
  const choose = (row) => go({row}, true);
  return [
    h("h2", {}, screen.title),
    h("p", {class: "sentence"}, screen.sentence.map((cell) => cellNode(cell, "span", place.token))),
    place.step === 13 ? [opChoices(), await flowNode()] : null,
    place.step === 14 && about.hasModel
      ? h("p", {}, choiceNode({0: "logits", 1: "with the logit lens"}, place.inside,
        (inside) => go({inside: Number(inside)}, true), "lens")) : null,
    screen.tables.map((table) => {
      const node = tableNode(table, {token: place.token, row: place.row, choose});
      return place.step === 13 && place.tab > 0 && place.tab < 3 ? isHook(node, about.steps[place.op].name) : node; // IR, code
    }),
    place.step === 16 ? note("Space: the token enters again, at step 11.") : note("Space: the next step."),
  ];
}
