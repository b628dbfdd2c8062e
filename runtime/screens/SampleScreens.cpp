// Steps 14 to 16: logits, sampling, text.
#include "runtime/screens/Draw.h"
#include "runtime/screens/Lens.h"

#include "llvm/ADT/StringExtras.h"

namespace vetro::screens {

static std::string sampledAt(const Place &place) {
  return pointer("tokens", place.token, "sampled");
}
static bool isSampled(const Json &d, const Place &place) {
  return d["tokens"][place.token].contains("sampled");
}

/// What the token is, where nothing was drawn after it.
static Row notSampled(const Json &d, const Place &place) {
  return {text("After token "), fact(d, pointer("tokens", place.token, "position"), Tone::Strong),
          text(" ("), fact(d, pointer("tokens", place.token, "piece"), Tone::Strong),
          text(") nothing was drawn: of the prompt only the last token's logits are asked for.")};
}

/// The first candidates of a sampler stage.
static Table candidates(const Json &d, const std::string &stage, const std::string &title) {
  Table table{title,
              {heading("piece"), heading("id", true), heading("logit", true), heading("p", true),
               heading("")}};
  const Json &top = d[Json::json_pointer(stage)]["top"];
  for (size_t i = 0; i < top.size(); ++i) {
    std::string at = stage + "/top/" + std::to_string(i);
    Cell bar{.bar = top[i]["p"].get<double>(), .data = {{"trace.json", at + "/p", top[i]["p"]}}};
    table.rows.push_back({fact(d, at + "/piece", Tone::Strong), fact(d, at + "/id"),
                          fact(d, at + "/logit"), fact(d, at + "/p"), bar});
  }
  return table;
}

/// What each layer would say were it the last one.
static llvm::Error addLens(Recording &r, const Place &place, Screen &s) {
  auto lens = lensOf(r, place.token);
  if (!lens)
    return lens.takeError();
  if (lens->empty()) {
    s.tables.push_back(
        {"lens",
         {},
         {{text("the logit lens runs the model: open the trace with --model", Tone::Dim)}}});
    return llvm::Error::success();
  }
  Table table{"logit lens: what each layer would say were it the last",
              {heading("after"), heading("likeliest"), heading("p", true),
               heading("rank of the drawn", true), heading("its p", true)}};
  for (const LensLayer &layer : *lens) {
    Row row = {text(layer.name, Tone::Dim), text(layer.piece, Tone::Strong),
               number(layer.name, "lens.p", layer.p)};
    row[1].data = {{layer.name, "lens.top1", layer.top1}};
    if (layer.drawnRank > 0) {
      row.push_back(number(layer.name, "lens.rank", double(layer.drawnRank)));
      row.push_back(number(layer.name, "lens.drawn.p", layer.drawnP));
    }
    table.rows.push_back(std::move(row));
  }
  s.tables.push_back(std::move(table));
  return llvm::Error::success();
}

Drawn drawLogits(Recording &r, const Place &place) {
  const Json &d = r.document();
  Screen s;
  if (isSampled(d, place)) {
    std::string stage = sampledAt(place) + "/stages/0";
    s.sentence = {text("The last norm and the head turn the last layer's row into "),
                  fact(d, stage + "/in", Tone::Strong),
                  text(" logits, one for each piece; as probabilities they have "),
                  fact(d, stage + "/entropy_bits", Tone::Strong), text(" bits of entropy.")};
    s.tables = {candidates(d, stage, "largest logits")};
  } else {
    s.sentence = notSampled(d, place);
  }
  if (place.inside && place.token < r.nRun()) {
    if (llvm::Error error = addLens(r, place, s))
      return std::move(error);
  } else if (r.model()) {
    s.tables.push_back(
        {"", {}, {{text("Enter: what each layer would say (logit lens)", Tone::Dim)}}});
  }
  return s;
}

Drawn drawSample(Recording &r, const Place &place) {
  const Json &d = r.document();
  Screen s;
  if (!isSampled(d, place)) {
    s.sentence = notSampled(d, place);
    return s;
  }
  std::string at = sampledAt(place);
  const Json &stages = d[Json::json_pointer(at)]["stages"];
  if (stages.empty())
    return s;
  size_t last = stages.size() - 1;
  s.sentence = {text("The sampler takes "),
                fact(d, at + "/stages/0/in", Tone::Strong),
                text(" candidates through "),
                text(std::to_string(stages.size())),
                text(" stages, leaves "),
                fact(d, at + "/stages/" + std::to_string(last) + "/out", Tone::Strong),
                text(", and draws id "),
                fact(d, at + "/id", Tone::Strong),
                text(" at "),
                fact(d, at + "/draw"),
                text(".")};
  Table funnel{"funnel",
               {heading("stage"), heading("in", true), heading("out", true),
                heading("mass removed", true), heading("entropy, bits", true),
                heading("likeliest after it")}};
  funnel.chooses = true;
  for (size_t i = 0; i < stages.size(); ++i) {
    std::string stage = at + "/stages/" + std::to_string(i);
    bool active = stages[i]["active"];
    Row row = {fact(d, stage + "/name", active ? Tone::Strong : Tone::Dim),
               fact(d, stage + "/in"),
               fact(d, stage + "/out"),
               shareFact(d, stage + "/mass_removed"),
               fact(d, stage + "/entropy_bits"),
               active ? fact(d, stage + "/top/0/piece") : text("off", Tone::Dim)};
    if (!active)
      row[0].text = "?" + row[0].text;
    funnel.rows.push_back(std::move(row));
  }
  size_t chosen = std::min(place.row, last);
  s.tables = {funnel,
              candidates(d, at + "/stages/" + std::to_string(chosen),
                         "candidates after " +
                             fact(d, at + "/stages/" + std::to_string(chosen) + "/name").text)};
  return s;
}

/// Bytes that are not yet a whole character, as text.
static Row bytesRow(const Json &d, size_t i, bool here) {
  std::string bytes;
  const std::string &hex = d["tokens"][i]["bytes"].get_ref<const std::string &>();
  if (!llvm::tryGetFromHex(hex, bytes))
    bytes = "";
  Cell printed = text(bytes, here ? Tone::Accent : Tone::Strong);
  printed.data = {{"trace.json", pointer("tokens", i, "bytes"), hex}};
  return {fact(d, pointer("tokens", i, "position")), fact(d, pointer("tokens", i, "id")),
          fact(d, pointer("tokens", i, "piece")), fact(d, pointer("tokens", i, "bytes"), Tone::Dim),
          printed};
}

Drawn drawText(Recording &r, const Place &place) {
  const Json &d = r.document();
  Screen s;
  size_t next = place.token + 1;
  if (isSampled(d, place) && next < d["tokens"].size()) {
    bool eog = d["tokens"][place.token]["sampled"]["eog"];
    s.sentence = {text("Id "),
                  fact(d, sampledAt(place) + "/id", Tone::Strong),
                  text(" is the bytes "),
                  fact(d, pointer("tokens", next, "bytes"), Tone::Strong),
                  text(eog ? "; it ends the generation."
                           : "; it ends nothing, so it enters again as position "),
                  eog ? Cell() : fact(d, pointer("tokens", next, "position"), Tone::Strong),
                  text(eog ? "" : ", at step 11.")};
  } else if (place.token >= r.nRun()) {
    s.sentence = {text("This is the last token; the run ended by "), fact(d, "/stop", Tone::Strong),
                  text(".")};
  } else {
    s.sentence = notSampled(d, place);
  }
  Facts facts("so far");
  facts.add("generated", fact(d, "/text", Tone::Strong)).add("ended by", fact(d, "/stop"));
  Table table{"tokens",
              {heading("position", true), heading("id", true), heading("piece"), heading("bytes"),
               heading("prints")}};
  for (size_t i = 0; i < d["tokens"].size(); ++i)
    table.rows.push_back(bytesRow(d, i, i == next));
  s.tables = {facts.table, table};
  return s;
}

} // namespace vetro::screens
