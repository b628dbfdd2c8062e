// One value at one token: heat map, histogram, shapes, numbers; the blocks of the weights it is
// computed with.
const pools = {max: "farthest from 0", mean: "mean", first: "first"};

// "max[0:4,128:132]": the numbers that a cell of the heat map stands for, "17" where it is one.
function placeOfCell(grid, pool, row, col) {
  const r0 = row * grid.rowStep, c0 = col * grid.colStep;
  const r1 = Math.min(grid.rows, r0 + grid.rowStep), c1 = Math.min(grid.cols, c0 + grid.colStep);
  if ((r1 - r0) * (c1 - c0) === 1) return String(r0 * grid.cols + c0);
  return grid.rows === 1 ? `${pool}[${c0}:${c1}]` : `${pool}[${r0}:${r1},${c0}:${c1}]`;
}

// Rows by columns; a value of one axis is folded into lines.
function heatMap(tensor) {
  const {grid, pool} = tensor, numbers = unpacked(tensor.f32);
  const perLine = grid.rows > 1 ? grid.nCols : 64;
  const nLines = Math.ceil(numbers.length / perLine);
  const most = numbers.reduce((a, x) => Number.isFinite(x) ? Math.max(a, Math.abs(x)) : a, 0);
  const size = Math.max(5, Math.min(14, Math.floor(840 / perLine)));
  const cells = [...numbers].map((x, i) => {
    const row = grid.rows > 1 ? Math.floor(i / grid.nCols) : 0;
    const index = placeOfCell(grid, pool, row, grid.rows > 1 ? i % grid.nCols : i);
    const share = most > 0 ? x / most : 0;
    const cell = s("rect", {x: (i % perLine) * size, y: Math.floor(i / perLine) * size, width: size, height: size},
      s("title", {}, `${index}: ${numberText(x)}`));
    if (Number.isFinite(x)) signedShade(cell, place.scale === "log" ? Math.sign(share) * logShare(Math.abs(share)) : share);
    else cell.classList.add("broken");
    return isDatum(cell, tensor.name, index, Number.isFinite(x) ? x : null, place.token);
  });
  const layer = s("g", {}, cells);
  const width = perLine * size, height = nLines * size;
  const svg = s("svg", {class: "heat", viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `heat map of ${shown(tensor.name)}`}, layer);
  svg.style.maxWidth = `${width}px`;
  d3.select(svg).call(d3.zoom().scaleExtent([1, 16]).translateExtent([[0, 0], [width, height]])
    .filter((given) => zooms(given)).on("zoom", (given) => layer.setAttribute("transform", eventOf(given).transform)));
  return h("div", {class: "scroll"}, svg,
    note(`Blue below 0, orange above; the strongest is ${numberText(most)} from 0. ` +
      (grid.rowStep * grid.colStep > 1 ? `A cell stands for ${grid.rowStep} x ${grid.colStep} numbers. ` : "") +
      "Drag to move, double-click or Ctrl and wheel to zoom."));
}

function histogram(tensor) {
  const width = 420, height = 130, left = 44, bottom = 22;
  const x = d3.scaleLinear([tensor.min, tensor.max], [left, width - 8]);
  const most = Math.max(1, ...tensor.bins);
  const y = d3.scaleLinear([0, most], [height - bottom, 6]);
  const step = (width - 8 - left) / tensor.bins.length;
  const bars = tensor.bins.map((n, i) => isDatum(
    s("rect", {x: left + i * step, y: y(n), width: Math.max(1, step - 1), height: height - bottom - y(n)},
      s("title", {}, `${n} numbers`)), tensor.name, `bin.${i}/${tensor.bins.length}`, n, place.token));
  const svg = s("svg", {class: "histogram chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "histogram"}, bars);
  d3.select(svg).append("g").attr("transform", `translate(0,${height - bottom})`).call(d3.axisBottom(x).ticks(5));
  d3.select(svg).append("g").attr("transform", `translate(${left},0)`).call(d3.axisLeft(y).ticks(3));
  return svg;
}

function shapeNode(shape) {
  const list = (numbers, join) => numbers.length ? numbers.join(join) : "one number";
  return h("dl", {class: "facts"},
    h("dt", {}, "PyTorch"), h("dd", {}, `[${list(shape.torch, ", ")}]`),
    h("dt", {}, "ggml ne"), h("dd", {}, `[${list(shape.ne, ", ")}]`),
    h("dt", {}, "ggml nb"), h("dd", {}, `[${list(shape.nb, ", ")}] bytes`));
}

async function sliceNode(count) {
  const slice = await source.ask("slice", {token: place.token, name: place.name, at: place.at});
  const numbers = unpacked(slice.f32), rows = [];
  for (let i = 0; i < numbers.length; i += 8)
    rows.push(h("tr", {}, h("td", {class: "dim right"}, slice.at + i),
      [...numbers.slice(i, i + 8)].map((x, k) => isDatum(h("td", {class: "right"}, numberText(x)), slice.name,
        String(slice.at + i + k), Number.isFinite(x) ? x : null, place.token))));
  const last = Math.floor((count - 1) / 64) * 64;
  return h("section", {class: "table"}, h("h3", {}, `numbers ${slice.at} to ${slice.at + numbers.length - 1} of ${count}`),
    source.isFile() || last === 0 ? null : h("div", {class: "bar-of-choices"},
      choiceNode([[0, "first"], [Math.max(0, place.at - 64), "‹ 64"], [Math.min(last, place.at + 64), "64 ›"], [last, "last"]],
        null, (at) => go({at: Number(at)}, true), "numbers")),
    h("div", {class: "scroll"}, h("table", {}, h("tbody", {}, rows))));
}

function weightsNode() {
  const weights = about.steps[place.op]?.weights ?? [];
  if (!weights.length || !about.steps[place.op].values.concat(about.steps[place.op].inside).includes(place.name)) return null;
  return h("p", {}, "Computed with ", weights.map((name, i) => [i ? ", " : "",
    h("button", {type: "button", class: "link", onclick: () => go({weight: name, wrow: 0, block: 0})}, name)]));
}

// The bytes of a weight's block, and the numbers that they stand for.
async function weightNode() {
  if (!place.weight) return null;
  let weight;
  try {
    weight = await source.ask("weight", {name: place.weight, row: place.wrow, block: place.block});
  } catch (error) {
    return h("section", {}, h("h3", {}, place.weight), note(error.message));
  }
  const change = (key, count) => source.isFile() ? String(place[key])
    : h("input", {type: "number", min: 0, max: count - 1, value: place[key], "aria-label": key,
      onchange: (event) => go({[key]: within(Number(event.target.value), count)}, true)});
  return h("section", {class: "weight"}, h("h3", {}, `${weight.name}: ${weight.type}`),
    h("dl", {class: "facts"}, h("dt", {}, "PyTorch"), h("dd", {}, `[${weight.torch.join(", ")}]`),
      h("dt", {}, "ggml ne"), h("dd", {}, `[${weight.ne.join(", ")}]`)),
    h("p", {}, "row ", change("wrow", weight.rows), ` of ${weight.rows}, block `, change("block", weight.blocks),
      ` of ${weight.blocks}`),
    h("pre", {class: "bytes"}, weight.bytes.replace(/(..)/g, "$1 ").trim()),
    tableNode(weight.table, {}));
}

async function tensorView() {
  const head = h("h2", {}, place.name || "no value");
  if (!place.name) return [head, note("Choose a value in the map, or search one with /.")];
  const tensor = await source.ask("tensor", {token: place.token, name: place.name, pool: place.pool});
  return [
    h("h2", {}, tensor.name, " ", h("span", {class: `label ${tensor.label === "ran" ? "good" : "accent"}`}, tensor.label)),
    h("div", {class: "side"}, shapeNode(tensor.shape), histogram(tensor)),
    tableNode({...tensor.table, title: ""}, {token: place.token}),
    h("div", {class: "bar-of-choices"},
      choiceNode(source.isFile() ? {max: pools.max, mean: pools.mean} : pools, place.pool, (pool) => go({pool}, true), "a cell shows"),
      choiceNode({linear: "linear", log: "log"}, place.scale, (scale) => go({scale}, true), "scale")),
    heatMap(tensor),
    await sliceNode(tensor.count),
    weightsNode(),
    await weightNode(),
  ];
}
