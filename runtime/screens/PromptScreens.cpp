// Steps 8 to 10 and 12: from text to micro-batches.
#include "runtime/screens/Draw.h"

#include "llvm/ADT/StringExtras.h"

namespace vetro::screens {

Drawn drawPrompt(Recording &r, const Place &) {
  const Json &d = r.document();
  Screen s;
  Facts facts("prompt");
  if (d["prompt"].contains("text")) {
    size_t n = d["prompt"]["text"].get_ref<const std::string &>().size();
    s.sentence = {
        text("The prompt arrives: "),
        {std::to_string(n), Tone::Strong, false, -1, -1, {{"trace.json", "/prompt/text#", n}}},
        text(" bytes of text, taken as they are; no chat template is laid around them.")};
    facts.add("text", fact(d, "/prompt/text", Tone::Strong));
  } else {
    s.sentence = {text("The prompt arrives as ids: nothing is left to tokenize.")};
  }
  facts.add("ids", fact(d, "/prompt/ids"));
  s.tables = {facts.table};
  return s;
}

/// A token's piece, and its bytes as they are printed.
static Row tokenRow(const Json &d, size_t i, size_t here) {
  Row row = {fact(d, pointer("tokens", i, "position")),
             fact(d, pointer("tokens", i, "piece"), Tone::Strong),
             fact(d, pointer("tokens", i, "id")),
             fact(d, pointer("tokens", i, "bytes"), Tone::Dim)};
  if (i == here)
    for (Cell &cell : row)
      cell.tone = Tone::Accent;
  return row;
}

static Table mergeTable(const Json &d, size_t word) {
  std::string at = pointer("prompt/encoding/words", word, "merges");
  Table table{
      "merges of " + fact(d, pointer("prompt/encoding/words", word, "text")).text + ", in order",
      {heading("left"), heading("right"), heading("makes"), heading("rank or score", true)}};
  for (size_t i = 0; i < d[Json::json_pointer(at)].size(); ++i) {
    std::string merge = at + "/" + std::to_string(i);
    Cell rank = fact(d, merge + "/rank");
    table.rows.push_back({fact(d, merge + "/left"), fact(d, merge + "/right"),
                          fact(d, merge + "/result", Tone::Strong),
                          rank.text.empty() ? fact(d, merge + "/score") : rank});
  }
  return table;
}

Drawn drawTokenize(Recording &r, const Place &place) {
  const Json &d = r.document();
  Screen s;
  size_t nIds = d["prompt"]["ids"].size();
  Cell ids{
      std::to_string(nIds), Tone::Strong, false, -1, -1, {{"trace.json", "/prompt/ids#", nIds}}};
  if (!d["prompt"].contains("encoding")) {
    s.sentence = {text("The prompt's "), ids, text(" ids were given; these are their pieces.")};
  } else {
    size_t nWords = d["prompt"]["encoding"]["words"].size();
    s.sentence = {
        text("The text is cut into "),
        {std::to_string(nWords),
         Tone::Strong,
         false,
         -1,
         -1,
         {{"trace.json", "/prompt/encoding/words#", nWords}}},
        text(" words, and inside each the pair that was learned first is merged, again and "
             "again: "),
        ids,
        text(" tokens.")};
    Table words{"words",
                {heading("word"), heading("from byte", true), heading("to", true), heading("ids"),
                 heading("merges", true)}};
    words.chooses = true;
    for (size_t i = 0; i < nWords; ++i) {
      std::string at = pointer("prompt/encoding/words", i);
      size_t n = d[Json::json_pointer(at)]["merges"].size();
      words.rows.push_back(
          {fact(d, at + "/text", Tone::Strong),
           fact(d, at + "/begin"),
           fact(d, at + "/end"),
           fact(d, at + "/ids"),
           {std::to_string(n), Tone::Plain, true, -1, -1, {{"trace.json", at + "/merges#", n}}}});
    }
    s.tables = {words};
    if (nWords > 0)
      s.tables.push_back(mergeTable(d, std::min(place.row, nWords - 1)));
  }
  Table tokens{
      "tokens",
      {heading("position", true), heading("piece"), heading("id", true), heading("bytes")}};
  for (size_t i = 0; i < nIds; ++i)
    tokens.rows.push_back(tokenRow(d, i, place.token));
  s.tables.push_back(tokens);
  return s;
}

/// The batch that a token ran in; -1: none.
static int64_t batchOf(const Json &d, size_t token) { return d["tokens"][token]["batch"]; }

Drawn drawBatch(Recording &r, const Place &place) {
  const Json &d = r.document();
  Screen s;
  int64_t batch = batchOf(d, place.token);
  if (batch < 0) {
    s.sentence = {text("This token was drawn last and ran in no batch: the run ended before.")};
    return s;
  }
  std::string at = pointer("batches", size_t(batch));
  s.sentence = {
      text("Batch "),
      fact(d, pointer("tokens", place.token, "batch"), Tone::Strong),
      text(" takes "),
      fact(d, at + "/tokens", Tone::Strong),
      text(" token(s) from position "),
      fact(d, at + "/first", Tone::Strong),
      text(" on; "),
      fact(d, at + "/outputs", Tone::Strong),
      text(" of them want(s) logits, the last one, since only what comes after it is not known.")};
  Table table{"tokens of the batch",
              {heading("row", true), heading("position", true), heading("piece"),
               heading("id", true), heading("sequence", true), heading("logits")}};
  size_t first = d[Json::json_pointer(at)]["first"], n = d[Json::json_pointer(at)]["tokens"];
  for (size_t i = first; i < first + n && i < d["tokens"].size(); ++i) {
    table.rows.push_back(
        {fact(d, pointer("tokens", i, "row")),
         fact(d, pointer("tokens", i, "position")),
         fact(d, pointer("tokens", i, "piece"), i == place.token ? Tone::Accent : Tone::Strong),
         fact(d, pointer("tokens", i, "id")),
         {"0", Tone::Dim, true},
         text(i + 1 == first + n ? "yes" : "")});
  }
  s.tables = {table};
  return s;
}

Drawn drawMicroBatches(Recording &r, const Place &place) {
  const Json &d = r.document();
  Screen s;
  int64_t batch = batchOf(d, place.token);
  if (batch < 0)
    return drawBatch(r, place);
  std::string at = pointer("batches", size_t(batch));
  size_t n = d[Json::json_pointer(at)]["micro_batches"].size();
  s.sentence = {
      text("The batch of "),
      fact(d, at + "/tokens", Tone::Strong),
      text(" token(s) runs as "),
      {std::to_string(n), Tone::Strong, false, -1, -1, {{"trace.json", at + "/micro_batches#", n}}},
      text(" micro-batch(es), so that what a step needs for a moment stays small; it took "),
      fact(d, at + "/ms", Tone::Strong),
      text(" ms. How it is split changes no bit.")};
  Table table{"all batches",
              {heading("batch", true), heading("first", true), heading("tokens", true),
               heading("micro-batches"), heading("ms", true)}};
  for (size_t i = 0; i < d["batches"].size(); ++i) {
    Cell number{std::to_string(i), int64_t(i) == batch ? Tone::Accent : Tone::Dim, true};
    table.rows.push_back(
        {number, fact(d, pointer("batches", i, "first")), fact(d, pointer("batches", i, "tokens")),
         fact(d, pointer("batches", i, "micro_batches")), fact(d, pointer("batches", i, "ms"))});
  }
  s.tables = {table};
  return s;
}

} // namespace vetro::screens
