// Where the heads of an attention look: at this token, and one head at all tokens.

// The attention's probabilities in the layer that is looked at.
function probsName() {
  const here = (name) => name.endsWith("attn_probs") && layerOf(name) === place.layer;
  return about.steps.flatMap((step) => step.inside.concat(step.values)).find(here);
}

function share(p) {
  return place.scale === "log" ? logShare(p) : p;
}

function positionHeads(n) {
  return Array.from({length: n}, (_, c) => h("th", {title: `position ${c}`},
    h("span", {}, about.tokens[c] ? cellNode(about.tokens[c].piece) : "")));
}

function shareCell(name, index, p, token) {
  const cell = shade(h("td", {class: "cell", title: `${numberText(p * 100)} %`}), share(p));
  return isDatum(cell, name, String(index), p, token);
}

function headTable(heads) {
  const p = unpacked(heads.f32), n = heads.positions;
  const rows = Array.from({length: heads.heads}, (_, head) => {
    const group = heads.perGroup > 1 && head % heads.perGroup === 0;
    return h("tr", {class: `${group ? "group" : ""} ${head === place.head ? "layer" : ""}`},
      h("th", {class: "target", title: "this head at all tokens", onclick: () => go({head}, true)},
        heads.perGroup > 1 ? `${head} (kv ${Math.floor(head / heads.perGroup)})` : head),
      Array.from({length: n}, (_, c) => shareCell(heads.name, head * n + c, p[head * n + c], place.token)));
  });
  return h("table", {class: "layers heads"}, h("thead", {}, h("tr", {}, h("th", {}, "head"), positionHeads(n))),
    h("tbody", {}, rows));
}

async function triangleNode(name) {
  if (place.head < 0) return note("Click a head for its attention at every token.");
  const triangle = await source.ask("triangle", {name, head: place.head});
  const rows = triangle.rows.map(({token, at, f32}) => h("tr", {class: token === place.token ? "layer" : ""},
    h("th", {}, `${token} `, cellNode(about.tokens[token].piece)),
    [...unpacked(f32)].map((p, c) => c > token ? null : shareCell(name, at + c, p, token))));
  const n = triangle.rows.length ? unpacked(triangle.rows.at(-1).f32).length : 0;
  return h("section", {}, h("h3", {}, `head ${place.head} at each token (row) to each position`), h("div", {class: "scroll"},
    h("table", {class: "layers heads"}, h("thead", {}, h("tr", {}, h("th", {}), positionHeads(n))), h("tbody", {}, rows))));
}

async function headsView() {
  const name = probsName();
  const title = h("h2", {}, name ?? "attention");
  if (!name) return [title, note(`Layer ${place.layer} has no attention in the trace.`)];
  const heads = await source.ask("heads", {token: place.token, name});
  return [title,
    h("p", {class: "sentence"}, "Each row is a head of token ", cellNode(about.tokens[place.token].piece),
      ", each column a position that it can look at; a row adds up to 1.",
      heads.perGroup > 1 ? ` ${heads.perGroup} heads share one of keys and values.` : ""),
    h("div", {class: "bar-of-choices"},
      choiceNode([[-1, "‹ layer"], [1, "layer ›"]], null, (by) => moveLayer(Number(by)), "layer"),
      choiceNode({linear: "linear", log: "log"}, place.scale, (scale) => go({scale}, true), "scale")),
    h("div", {class: "scroll"}, headTable(heads)),
    note("The first token takes what a head has no use for: log shows what is left."),
    await triangleNode(name)];
}
