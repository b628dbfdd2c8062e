// Step 13: what the plan's steps computed for a token.
#include "runtime/screens/Draw.h"

#include "llvm/Support/FormatVariadic.h"

namespace vetro::screens {

bool listHas(const Json &list, llvm::StringRef text) {
  return std::any_of(list.begin(), list.end(), [&](const Json &item) {
    return item.is_string() && item.get_ref<const std::string &>() == text;
  });
}

std::optional<size_t> opWith(const Json &d, llvm::StringRef name) {
  const Json &steps = d["steps"];
  for (const char *field : {"values", "inside"})
    for (size_t i = 0; i < steps.size(); ++i)
      if (listHas(steps[i][field], name))
        return i;
  return std::nullopt;
}

std::string opName(const Json &d, size_t op) {
  const std::string &name = d["steps"][op]["name"].get_ref<const std::string &>();
  if (!name.empty())
    return name;
  for (size_t before = op; before-- > 0;) // such as the store of what was computed before it
    if (!d["steps"][before]["name"].get_ref<const std::string &>().empty())
      return d["steps"][before]["name"].get<std::string>() + "." +
             d["steps"][op]["op"].get<std::string>();
  return d["steps"][op]["op"];
}

int64_t layerOf(const Json &d, size_t op) {
  std::string text = opName(d, op);
  llvm::StringRef name = text;
  int64_t layer;
  return name.consume_front("blk.") && !name.split('.').first.getAsInteger(10, layer) ? layer : -1;
}

static const char *opWords(llvm::StringRef op) {
  static constexpr std::pair<const char *, const char *> table[] = {
#define VT_OP(NAME, WORDS) {#NAME, WORDS},
#include "runtime/screens/OpWords.def"
#undef VT_OP
  };
  for (auto [name, words] : table)
    if (op == name)
      return words;
  return "";
}

/// What passes did at this step, and by which line.
static Table rewrites(const Json &d, const Json &step) {
  Facts facts("what the compiler did here");
  for (size_t p = 0; p < d["passes"].size(); ++p)
    for (size_t i = 0; i < d["passes"][p]["rewrites"].size(); ++i) {
      const Json &rewrite = d["passes"][p]["rewrites"][i];
      bool here = rewrite["site"] == step["name"] ||
                  listHas(step["values"], rewrite["site"].get_ref<const std::string &>());
      if (!here || step["name"] == "")
        continue;
      std::string at = pointer("passes", p, "rewrites/") + std::to_string(i);
      Cell what = fact(d, at + "/what", rewrite["fired"] ? Tone::Good : Tone::Dim);
      facts.add(d["passes"][p]["pass"].get<std::string>() + (rewrite["fired"] ? "" : " refused"),
                what, fact(d, at + "/source", Tone::Dim));
    }
  return facts.table;
}

/// Kernels, weights, time and bytes of a step.
static Table describe(const Json &d, const Place &place) {
  const Json &step = d["steps"][place.op];
  std::string at = pointer("steps", place.op);
  Facts facts("the step");
  facts.add("op", fact(d, at + "/op", Tone::Strong),
            text(opWords(step["op"].get_ref<const std::string &>())));
  for (size_t i = 0; i < step["kernels"].size(); ++i)
    facts.add("kernel", fact(d, at + "/kernels/" + std::to_string(i)));
  for (size_t i = 0; i < step["weights"].size(); ++i)
    facts.add("weight", fact(d, at + "/weights/" + std::to_string(i)));
  int64_t batch = d["tokens"][place.token]["batch"];
  if (batch >= 0) {
    std::string time = pointer("batches", size_t(batch), "step_us/") + std::to_string(place.op);
    double us = d[Json::json_pointer(time)], bytes = step["weight_bytes"];
    Cell rate;
    if (bytes > 0 && us > 0)
      rate = text(llvm::formatv("µs for its batch; weights of {0} at {1:f1} GB/s", bytesText(bytes),
                                bytes / us / 1e3)
                      .str(),
                  Tone::Dim);
    else
      rate = text("µs for its batch", Tone::Dim);
    facts.add("time", fact(d, time), rate);
  }
  return facts.table;
}

/// The names of a step's values, and of those inside it.
static std::vector<std::string> namesOf(const Json &step, bool inside) {
  std::vector<std::string> names;
  auto add = [&](const Json &list) {
    for (const Json &name : list)
      if (name != "" && !llvm::is_contained(names, name.get<std::string>()))
        names.push_back(name);
  };
  if (inside)
    add(step["inside"]);
  add(step["values"]);
  return names;
}

/// Result by result: how far what ran is from its recomputation, as a share of the bound.
static llvm::Error addProof(Recording &r, const Place &place, Screen &s) {
  auto proofs = r.prove(place.token, uint32_t(place.op));
  if (!proofs)
    return proofs.takeError();
  Table table{"what ran against its recomputation",
              {heading("result"), heading("largest |difference| / bound", true),
               heading("ran", true), heading("recomputed", true), heading("")}};
  for (const Proof &p : *proofs) {
    Cell worst = number(p.name, "proof", p.worst);
    worst.tone = p.worst <= 1 ? Tone::Good : Tone::Bad;
    table.rows.push_back({text(p.name, Tone::Strong), worst, number(p.name, "proof.ran", p.ran),
                          number(p.name, "proof.recomputed", p.recomputed),
                          text(p.worst <= 1 ? "proved" : "not within its bound", worst.tone)});
  }
  s.tables.push_back(std::move(table));
  return llvm::Error::success();
}

/// What the comparison with a reference found of these values.
static Table differences(const Recording &r, llvm::ArrayRef<HookValue> values) {
  Table table{"against the reference",
              {heading("value"), heading("SNR, dB", true), heading("max abs", true),
               heading("graph error / floor", true), heading("kernel error / floor", true)}};
  for (const HookValue &value : values) {
    auto i = r.comparisonRow(value.tensor.name);
    if (!i)
      continue;
    const Json &row = r.comparison()["rows"][*i];
    auto cell = [&](const std::string &at) {
      Json::json_pointer here(at);
      const Json &x = row.contains(here) ? row[here] : Json();
      return x.is_number() ? number("diff.json", pointer("rows", *i) + at, x) : Cell();
    };
    Cell snr = row["equal"] == true ? text("equal", Tone::Good) : cell("/snr_db");
    table.rows.push_back({text(value.tensor.name, Tone::Strong), snr, cell("/max_abs"),
                          cell("/graph/ratio"), cell("/kernel/ratio")});
    for (Cell &ratio : llvm::MutableArrayRef(table.rows.back()).take_back(2))
      if (!ratio.data.empty())
        ratio.tone = ratio.data[0].value <= 1 ? Tone::Good : Tone::Bad;
  }
  return table;
}

llvm::Error addValues(Recording &r, const Place &place, Screen &s) {
  const Json &d = r.document();
  s.tables.push_back(describe(d, place));
  auto values = r.values(place.token, namesOf(d["steps"][place.op], place.inside));
  if (!values)
    return values.takeError();
  Table table{place.inside ? "values, with those inside the step" : "values", valueHeader()};
  table.chooses = true;
  for (const HookValue &value : *values)
    table.rows.push_back(valueRow(value));
  if (table.rows.empty())
    table = {"values",
             {},
             {{text("what it computes goes into the cache or into records of 8 bits; Enter: "
                    "the values inside",
                    Tone::Dim)}}};
  s.tables.push_back(std::move(table));
  if (Table compared = differences(r, *values); !compared.rows.empty())
    s.tables.push_back(std::move(compared));
  if (!values->empty() && place.row < values->size()) {
    const HookValue &value = (*values)[place.row];
    Table numbers{"numbers of " + shown(value.tensor.name), {}};
    for (size_t i = 0; i < std::min<size_t>(value.tensor.data.size(), 64); i += 4) {
      Row row = {{std::to_string(i), Tone::Dim, true}};
      for (size_t k = i; k < std::min(i + 4, value.tensor.data.size()); ++k)
        row.push_back(number(value.tensor.name, std::to_string(k), value.tensor.data[k]));
      numbers.rows.push_back(std::move(row));
    }
    if (!numbers.rows.empty())
      s.tables.push_back(std::move(numbers));
  }
  if (place.inside && r.model())
    if (llvm::Error error = addProof(r, place, s))
      return error;
  if (Table table = rewrites(d, d["steps"][place.op]); !table.rows.empty())
    s.tables.push_back(std::move(table));
  return llvm::Error::success();
}

Drawn drawCompute(Recording &r, const Place &place) {
  const Json &d = r.document();
  Screen s;
  std::string at = pointer("steps", place.op);
  s.sentence = {
      text("Step "), text(std::to_string(place.op + 1), Tone::Strong),
      text(" of "),  text(std::to_string(d["steps"].size())),
      text(": "),    text(opName(d, place.op), Tone::Strong),
      text(" by "),  fact(d, at + "/op", Tone::Strong),
      text(", "),    text(opWords(d["steps"][place.op]["op"].get_ref<const std::string &>())),
      text(".")};
  using Add = llvm::Error(Recording &, const Place &, Screen &);
  static constexpr Add *tabs[] = {addValues, addHeads, addIr, addAssembly};
  if (llvm::Error error = tabs[int(place.tab)](r, place, s))
    return std::move(error);
  auto map = layerMap(r, place);
  if (!map)
    return map.takeError();
  s.map = std::move(*map);
  return s;
}

} // namespace vetro::screens
