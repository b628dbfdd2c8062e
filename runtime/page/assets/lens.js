// What each layer would say were it the last one: layers by tokens, computed when it is asked for.
let lensTokens = new Set();

function lensCell(layer, token) {
  const cell = shade(h("td", {class: "lens"}), layer.p.data[0].value);
  const piece = cellNode(layer.piece, "b", token);
  const p = cellNode(layer.p, "small", token);
  const rank = layer.rank ? h("small", {}, " #", cellNode(layer.rank, "span", token)) : null;
  if (layer.rank?.data[0].value === 1) cell.classList.add("hit");
  cell.append(piece, " ", p, rank ?? "");
  cell.title = shown(`${layer.name}: ${layer.piece.text}, p ${layer.p.text}` +
    (layer.rank ? `; the drawn token has rank ${layer.rank.text}, p ${layer.drawnP.text}` : ""));
  return isHook(cell, layer.name);
}

function lensTable(columns) {
  const names = columns[0].layers.map((layer) => layer.name);
  const rows = names.map((name, y) => h("tr", {},
    h("th", {class: "target", onclick: () => select(name)}, name),
    columns.map((column) => lensCell(column.layers[y], column.token)))).reverse();
  return h("table", {class: "layers lenses"}, h("thead", {}, h("tr", {}, h("th", {}, "after"),
    columns.map(({token}) => h("th", {class: token === place.token ? "here" : ""}, `${token} `, cellNode(about.tokens[token].piece))))),
  h("tbody", {}, rows));
}

// Asks for the tokens that are wanted one by one, and says how far that is.
async function lensColumns() {
  const wanted = [...new Set([...lensTokens, place.token])].filter((token) => token < about.nRun).sort((a, b) => a - b);
  const columns = [];
  for (const [i, token] of wanted.entries()) {
    progress("logit lens", i / wanted.length);
    columns.push(await source.ask("lens", {token}));
  }
  progress(null);
  return columns;
}

async function lensView() {
  const title = h("h2", {}, "logit lens");
  if (place.token >= about.nRun) return [title, note("This token was drawn last and did not run.")];
  const columns = await lensColumns();
  const all = () => {
    for (let token = 0; token < about.nRun; ++token) lensTokens.add(token);
    draw();
  };
  return [title,
    h("p", {class: "sentence"}, "After each layer (a row, the last one on top): the likeliest piece were this the last layer, ",
      "its probability, and after # the rank of the token that was drawn in the end."),
    source.isFile() ? null : h("p", {}, h("button", {type: "button", id: "lens-all", onclick: all}, `all ${about.nRun} tokens`)),
    columns[0].layers.length ? h("div", {class: "scroll"}, lensTable(columns)) : note("The model has no layers.")];
}
