// The sampler's stages as a funnel, the draw, and why a token was not drawn.

function funnelRow(stage, i, most) {
  const bar = barNode(Math.log1p(Number(stage.out.data[0].value)) / Math.log1p(most));
  const cells = [stage.in, stage.out, stage.removed, stage.entropy].map((cell) => cellNode(cell, "td"));
  const name = cellNode(stage.name);
  const row = h("tr", {class: `choice ${stage.active ? "" : "off"} ${i === place.stageRow ? "chosen" : ""}`,
    onclick: () => go({stageRow: i}, true)}, h("td", {}, stage.active ? "" : "?", name), cells,
  h("td", {class: "wide"}, bar));
  return row;
}

function candidatesNode(stage, drawn) {
  const rows = stage.top.map((candidate) => h("tr", {class: candidate.id.data[0].value === drawn ? "chosen" : ""},
    cellNode(candidate.piece, "td"), cellNode(candidate.id, "td"), cellNode(candidate.logit, "td"),
    cellNode(candidate.p, "td"), h("td", {class: "wide"}, barNode(candidate.p.data[0].value))));
  return h("section", {class: "table"}, h("h3", {}, "after ", shown(stage.name.text), `: the ${stage.top.length} likeliest`),
    h("div", {class: "scroll"}, h("table", {}, h("thead", {}, h("tr", {},
      ["piece", "id", "logit", "p", ""].map((word) => h("th", {}, word)))), h("tbody", {}, rows))));
}

// The probabilities one after another from 0 to 1, and where the draw fell.
function drawNode(funnel) {
  const last = [...funnel.stages].reverse().find((stage) => stage.top.length > 1) ?? funnel.stages.at(-1);
  if (!last) return null;
  const bar = h("div", {class: "draw"});
  let sum = 0;
  for (const candidate of last.top) {
    const p = candidate.p.data[0].value;
    const piece = h("span", {title: `${candidate.piece.text}: ${candidate.p.text}`}, p > 0.04 ? candidate.piece.text : "");
    piece.style.flexGrow = String(Math.max(p, 0));
    if (candidate.id.data[0].value === funnel.drawn.data[0].value) piece.classList.add("chosen");
    bar.append(piece);
    sum += p;
  }
  const rest = h("span", {class: "rest", title: "all others"});
  rest.style.flexGrow = String(Math.max(0, 1 - sum));
  const mark = h("i", {title: "the draw"});
  mark.style.left = `${100 * Number(funnel.draw.data[0].value)}%`;
  bar.append(rest, mark);
  const greedy = funnel.stages.some((stage) => stage.active && stage.name.text === "greedy");
  if (greedy) mark.remove();
  if (greedy) return h("section", {}, h("h3", {}, "no draw"), h("p", {}, "Greedy: the likeliest is taken, id ", cellNode(funnel.drawn), "."), bar);
  return h("section", {}, h("h3", {}, "the draw"), h("p", {}, "A number in [0, 1): ", cellNode(funnel.draw),
    "; drawn was id ", cellNode(funnel.drawn), "."), bar);
}

function whyNode(funnel) {
  const answer = h("output", {});
  // One of the likeliest, or any other where the run is at hand.
  const ask = async (event) => {
    const typed = event.target.value, piece = typed.trim().replace(/^[\u0120\u2581]/, "");
    const found = funnel.fates.find((fate) => fate.piece === typed) ??
      funnel.fates.find((fate) => fate.piece.replace(/^[\u0120\u2581]/, "") === piece);
    const why = !piece ? "" : found?.why ?? (source.isFile()
      ? `${piece} is not among the ${funnel.fates.length} likeliest of the logits, which this file holds`
      : await source.ask("why", {token: place.token, piece: typed}).then((a) => a.why, (error) => error.message));
    if (event.target.value === typed) answer.textContent = shown(why);
  };
  const list = h("datalist", {id: "pieces"}, funnel.fates.map((fate) => h("option", {value: fate.piece})));
  return h("p", {class: "why"}, h("label", {}, "Why not this token? ",
    h("input", {id: "why", list: "pieces", autocomplete: "off", placeholder: "a piece", oninput: ask})), list, answer);
}

async function samplerView() {
  const title = h("h2", {}, "sampler");
  const funnel = await source.ask("funnel", {token: place.token});
  if (!funnel.stages.length) return [title, note("The trace recorded no stages.")];
  const most = Math.max(...funnel.stages.map((stage) => Number(stage.in.data[0].value)));
  const chosen = funnel.stages[within(place.stageRow, funnel.stages.length)];
  return [title, h("p", {class: "sentence"}, cellNode(funnel.chain)),
    h("div", {class: "scroll"}, h("table", {class: "funnel"}, h("thead", {}, h("tr", {},
      ["stage", "in", "out", "mass removed", "entropy, bits", "candidates left (log)"].map((word) => h("th", {}, word)))),
    h("tbody", {}, funnel.stages.map((stage, i) => funnelRow(stage, i, most))))),
    whyNode(funnel), drawNode(funnel),
    candidatesNode(chosen, funnel.drawn.data[0].value)];
}
