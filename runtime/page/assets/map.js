// Layers by values, beside every view: where one is, and where something stands out.
const metrics = {rms: "rms", absmax: "max", us: "time", diff: "difference"};

// What a cell shows: its number and what that is a picture of; null: nothing is known.
function metricOf(cell, diffRows) {
  if (!cell) return null;
  if (place.metric === "us")
    return cell.usAt ? {value: cell.us, name: "trace.json", index: cell.usAt} : null;
  if (place.metric === "diff") {
    const row = diffRows.get(cell.name);
    return row ? {value: row.row.snr_db, name: "diff.json", index: `/rows/${row.index}/snr_db`} : null;
  }
  return cell[place.metric] === undefined ? null
    : {value: cell[place.metric], name: cell.name, index: place.metric};
}

// How dark a number is: beside the largest of its column, for times of all, for differences by how
// few dB the signal is above the error.
function darkness(found, column, all) {
  if (place.metric === "diff")
    return found.value === null ? 0 : 1 - Math.max(0, Math.min(1, found.value / 120));
  const most = Math.max(...(place.metric === "us" ? all : column).map((x) => x?.value ?? 0));
  return most > 0 ? found.value / most : 0;
}

function mapCell(cell, found, t) {
  const td = h("td", {});
  if (!cell) return td;
  isHook(td, cell.name);
  td.classList.add("cell");
  if (cell.label === "recomputed") td.classList.add("recomputed");
  td.addEventListener("click", () => select(cell.name));
  if (!found) {
    td.classList.add("unknown");
    td.title = shown(`${cell.name}: not known`);
    return td;
  }
  shade(td, t);
  isDatum(td, found.name, found.index, found.value, place.token);
  isHook(td, cell.name);
  const unit = {us: " µs for its step", diff: " dB"}[place.metric] ?? ` ${metrics[place.metric]}`;
  td.title = shown(`${cell.name}: ${found.value === null ? "equal" : numberText(found.value)}${unit}` +
    (cell.nans ? `; ${cell.nans} not finite` : ""));
  if (cell.nans) td.classList.add("broken");
  return td;
}

function mapTable(map, diffRows) {
  const found = map.rows.map((row) => row.cells.map((cell) => metricOf(cell, diffRows)));
  const all = found.flat();
  const head = h("tr", {}, h("th", {}), map.columns.map((name) => h("th", {}, h("span", {}, name))));
  const rows = map.rows.map((row, y) => h("tr", {"data-layer": row.layer},
    h("th", {onclick: () => go({layer: row.layer, view: "graph"}), title: `graph of layer ${row.layer}`}, row.layer),
    row.cells.map((cell, x) => mapCell(cell, found[y][x],
      found[y][x] ? darkness(found[y][x], found.map((line) => line[x]), all) : 0))));
  return h("table", {class: "layers"}, h("thead", {}, head), h("tbody", {}, rows));
}

function outsideTable(map, diffRows) {
  if (!map.outside.length) return null;
  const found = map.outside.map((cell) => metricOf(cell, diffRows));
  return h("table", {class: "layers outside"}, h("tbody", {}, map.outside.map((cell, i) =>
    h("tr", {}, mapCell(cell, found[i], found[i] ? darkness(found[i], [found[i]], found) : 0),
      h("td", {class: "words target", onclick: () => select(cell.name)}, cell.name)))));
}

// Marks the value and the layer that are looked at.
function markMap(map) {
  for (const cell of map.querySelectorAll("td.cell")) cell.classList.toggle("here", cell.dataset.hook === place.name);
  for (const row of map.querySelectorAll("tr[data-layer]")) row.classList.toggle("layer", Number(row.dataset.layer) === place.layer);
}

async function diffByName() {
  const rows = new Map();
  if (about.hasDiff)
    (await source.ask("diff")).rows.forEach((row, index) => rows.set(row.name, {row, index}));
  return rows;
}

async function mapView() {
  const words = {...metrics};
  if (!about.hasDiff) delete words.diff;
  const head = h("div", {class: "bar-of-choices"},
    choiceNode(words, place.metric, (metric) => go({metric}, true), "colour by"),
    choiceNode({0: "ran", 1: "all"}, place.all, (all) => go({all: Number(all)}, true), "which values"));
  if (place.token >= about.nRun) return [head, note("This token was drawn last and did not run.")];
  const [map, diffRows] = await Promise.all([
    source.ask("map", {token: place.token, inside: place.all}), diffByName()]);
  if (!map.rows.length && !map.outside.length)
    return [head, note("The trace keeps no values: open it with --model MODEL, or record it with --trace-hooks.")];
  return [head, h("div", {class: "scroll"}, mapTable(map, diffRows), outsideTable(map, diffRows)),
    note(place.metric === "us" ? "The stronger the colour, the longer the value's step took."
      : place.metric === "diff" ? "The stronger the colour, the fewer dB the value is above its error."
        : "The stronger the colour, the larger beside its column. Framed: recomputed.")];
}
