// A comparison that vetro diff made: how the error grows, and each value.
const diffColumns = {name: "value", snr_db: "SNR, dB", max_abs: "max abs", cosine: "cosine", not_finite: "not finite",
  graph: "graph", kernel: "kernel"};
let diffOrder = {column: null, up: true};

function diffNumber(row, column) {
  const value = column === "graph" || column === "kernel" ? row[column]?.ratio : row[column];
  return value ?? (column === "snr_db" && row.equal ? Infinity : null);
}

function curve(rows) {
  const width = 900, height = 220, left = 44, bottom = 18;
  const finite = rows.map((row) => row.snr_db).filter((x) => Number.isFinite(x));
  const x = d3.scaleLinear([0, Math.max(1, rows.length - 1)], [left, width - 10]);
  const y = d3.scaleLinear([Math.min(0, ...finite), Math.max(1, ...finite)], [height - bottom, 10]).nice();
  const points = rows.map((row, i) => isDatum(isHook(
    s("circle", {cx: x(i), cy: row.equal ? 10 : y(row.snr_db ?? 0), r: 3, class: row.passes === false ? "bad" : "",
      tabindex: -1, onclick: () => select(row.name)}, s("title", {}, `${row.name}: ${row.equal ? "equal" : numberText(row.snr_db)} dB`)), row.name),
  "diff.json", `/rows/${i}/snr_db`, row.snr_db));
  const line = d3.line().x(([i]) => x(i)).y(([, row]) => row.equal ? 10 : y(row.snr_db ?? 0));
  const outputs = rows.map((row, i) => [i, row]).filter(([, row]) => row.name.endsWith(".l_out"));
  const svg = s("svg", {class: "chart curve", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "error in dB, value by value"},
    outputs.length > 1 ? s("path", {d: line(outputs), class: "line"}) : "", points);
  d3.select(svg).append("g").attr("transform", `translate(${left},0)`).call(d3.axisLeft(y).ticks(6));
  return svg;
}

function diffCell(row, i, column) {
  if (column === "name") return isHook(h("td", {class: "target", onclick: () => select(row.name)}, row.name), row.name);
  const value = diffNumber(row, column);
  const bad = (column === "graph" || column === "kernel") && value > 1;
  const place = column === "graph" || column === "kernel" ? `${column}/ratio` : column;
  const cell = h("td", {class: `right ${bad ? "bad" : ""}`}, value === null ? "" : value === Infinity ? "equal" : numberText(value));
  return value === null || value === Infinity ? cell : isDatum(cell, "diff.json", `/rows/${i}/${place}`, value);
}

function diffTable(rows) {
  const order = rows.map((row, i) => [row, i]);
  const {column, up} = diffOrder;
  if (column === "name") order.sort(([a], [b]) => a.name.localeCompare(b.name, "en", {numeric: true}));
  else if (column) order.sort(([a], [b]) => (diffNumber(a, column) ?? -Infinity) - (diffNumber(b, column) ?? -Infinity));
  if (column && !up) order.reverse();
  const head = Object.entries(diffColumns).map(([key, words]) => h("th", {"aria-sort": key === column ? (up ? "ascending" : "descending") : null},
    h("button", {type: "button", class: "link", onclick: () => {
      diffOrder = {column: key, up: key === column ? !up : key === "name" || key === "snr_db"};
      draw();
    }}, words)));
  return h("table", {class: "diffs"}, h("thead", {}, h("tr", {}, head)),
    h("tbody", {}, order.map(([row, i]) => h("tr", {class: row.name === place.name ? "chosen" : ""},
      Object.keys(diffColumns).map((key) => diffCell(row, i, key))))));
}

// Of logits: what the reader of the text would notice.
function logitsNode(row, i) {
  const fact = (words, key) => [`${words} `, isDatum(h("span", {}, numberText(row.logits[key])), "diff.json", `/rows/${i}/logits/${key}`, row.logits[key])];
  return h("p", {}, `${shown(row.name)}: `, fact("KL divergence, nats: mean", "mean_kl"), fact(", largest", "max_kl"),
    fact("; the same likeliest token, share:", "top1"), fact("; of the ten likeliest shared:", "top10"),
    fact("; worst rank of the reference's likeliest:", "worst_rank"));
}

function firstNode(first) {
  if (!first) return h("p", {class: "sentence good"}, "Nothing passes its floor.");
  return h("p", {class: "sentence bad"}, h("b", {}, first.name ?? ""), ` is wrong first${first.kind ? ` (${first.kind})` : ""}.`);
}

async function diffView() {
  const diff = await source.ask("diff");
  const worst = [...diff.rows].sort((a, b) => (diffNumber(b, "kernel") ?? -1) - (diffNumber(a, "kernel") ?? -1))[0];
  return [h("h2", {}, "difference from the reference"), firstNode(diff.first),
    curve(diff.rows),
    note("Decibels that a value is above its error, in the order of computation; the line joins the layers' results. Click a point for its value."),
    diff.rows.map((row, i) => row.logits ? logitsNode(row, i) : null),
    h("p", {}, h("button", {type: "button", onclick: () => {
      diffOrder = {column: "kernel", up: false};
      if (worst) select(worst.name);
    }}, "element view of the worst row")),
    h("div", {class: "scroll"}, diffTable(diff.rows))];
}
