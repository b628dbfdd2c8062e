// Steps 1 to 7, which run once: from the machine to the context.
#include "runtime/screens/Draw.h"

namespace vetro::screens {

std::string pointer(llvm::StringRef list, size_t i, llvm::StringRef field) {
  std::string at = ("/" + list + "/").str() + std::to_string(i);
  return field.empty() ? at : at + ("/" + field).str();
}

int64_t keyIndex(const Json &document, llvm::StringRef suffix) {
  const Json &keys = document["model"]["metadata"];
  std::string prefix = document["model"]["architecture"].get<std::string>() + ".";
  for (size_t i = 0; i < keys.size(); ++i) {
    const std::string &key = keys[i]["key"].get_ref<const std::string &>();
    if (key == suffix || key == prefix + suffix.str())
      return int64_t(i);
  }
  return -1;
}

Cell keyFact(const Json &document, llvm::StringRef suffix) {
  int64_t i = keyIndex(document, suffix);
  return i < 0 ? text("?", Tone::Dim)
               : fact(document, pointer("model/metadata", size_t(i), "value"), Tone::Strong);
}

static Cell count(const Json &document, const std::string &list) {
  size_t n = document[Json::json_pointer(list)].size();
  return {.text = std::to_string(n), .tone = Tone::Strong, .data = {{"trace.json", list + "#", n}}};
}

Drawn drawMachine(Recording &r, const Place &) {
  const Json &d = r.document();
  Screen s;
  s.sentence = {text("This machine is a "),
                fact(d, "/machine/cpu", Tone::Strong),
                text("; the kernels of level "),
                fact(d, "/machine/level", Tone::Strong),
                text(" run on "),
                fact(d, "/machine/threads", Tone::Strong),
                text(" thread(s), and the compiler writes the rest for it.")};
  Facts facts("what decided the numbers of this run");
  for (auto it = d["options"].begin(); it != d["options"].end(); ++it)
    facts.add(it.key(), fact(d, "/options/" + it.key()));
  for (size_t i = 0; d.contains("edits") && i < d["edits"].size(); ++i)
    facts.add("edit", fact(d, pointer("edits", i), Tone::Accent));
  s.tables = {facts.table};
  return s;
}

Drawn drawFile(Recording &r, const Place &) {
  const Json &d = r.document();
  Screen s;
  s.sentence = {text("The file's "),
                bytesFact(d, "/model/bytes"),
                text(" are mapped, not copied: a header of "),
                count(d, "/model/metadata"),
                text(" keys says what the "),
                count(d, "/model/tensors"),
                text(" tensors mean.")};
  Facts facts("the model's file");
  facts.add("path", fact(d, "/model/path"))
      .add("name", fact(d, "/model/name"))
      .add("bytes", fact(d, "/model/bytes"))
      .add("hash", fact(d, "/model/hash"),
           text("of keys and tensors: another model has another", Tone::Dim));
  s.tables = {facts.table};
  return s;
}

Drawn drawArchitecture(Recording &r, const Place &) {
  const Json &d = r.document();
  Screen s;
  s.sentence = {text("The key general.architecture is "),
                fact(d, "/model/architecture", Tone::Strong),
                text(": its frontend builds a graph of "),
                fact(d, "/passes/0/ops_before", Tone::Strong),
                text(" ops, and "),
                count(d, "/passes"),
                text(" passes make "),
                count(d, "/steps"),
                text(" steps of it.")};
  Table table{"passes",
              {heading("pass"), heading("ops before", true), heading("after", true),
               heading("rewrites", true), heading("refused", true), heading("first one"),
               heading("its line")}};
  table.chooses = true;
  for (size_t i = 0; i < d["passes"].size(); ++i) {
    const Json &rewrites = d["passes"][i]["rewrites"];
    std::string at = pointer("passes", i, "rewrites");
    size_t fired =
        size_t(llvm::count_if(rewrites, [](const Json &w) { return w["fired"].get<bool>(); }));
    auto counted = [&](const char *what, size_t n) {
      return Cell{.text = std::to_string(n), .right = true, .data = {{"trace.json", at + what, n}}};
    };
    Row row = {fact(d, pointer("passes", i, "pass"), Tone::Strong),
               fact(d, pointer("passes", i, "ops_before")),
               fact(d, pointer("passes", i, "ops_after")), counted("#fired", fired),
               counted("#refused", rewrites.size() - fired)};
    if (!rewrites.empty()) {
      row.push_back(fact(d, at + "/0/what"));
      row.push_back(fact(d, at + "/0/source", Tone::Dim));
    }
    table.rows.push_back(std::move(row));
  }
  s.tables = {table};
  return s;
}

/// The keys of the file's header that `takes` a name.
static Table keyTable(const Json &d, llvm::StringRef title,
                      llvm::function_ref<bool(llvm::StringRef)> takes) {
  Table table{title.str(), {heading("key"), heading("type"), heading("value")}};
  const Json &keys = d["model"]["metadata"];
  for (size_t i = 0; i < keys.size(); ++i)
    if (takes(keys[i]["key"].get_ref<const std::string &>())) {
      Cell value = fact(d, pointer("model/metadata", i, "value"));
      value.right = false;
      table.rows.push_back({fact(d, pointer("model/metadata", i, "key")),
                            fact(d, pointer("model/metadata", i, "type"), Tone::Dim), value});
    }
  return table;
}

static bool isOfVocabulary(llvm::StringRef key) { return key.starts_with("tokenizer."); }

Drawn drawParameters(Recording &r, const Place &) {
  const Json &d = r.document();
  Screen s;
  s.sentence = {text("Keys of the file give the shape: "),
                keyFact(d, "block_count"),
                text(" layers of width "),
                keyFact(d, "embedding_length"),
                text(", "),
                keyFact(d, "attention.head_count"),
                text(" heads that share "),
                keyFact(d, "attention.head_count_kv"),
                text(" key heads, and a feed-forward width of "),
                keyFact(d, "feed_forward_length"),
                text(".")};
  s.tables = {keyTable(d, "keys", [](llvm::StringRef key) { return !isOfVocabulary(key); })};
  return s;
}

Drawn drawVocabulary(Recording &r, const Place &) {
  const Json &d = r.document();
  Screen s;
  s.sentence = {text("The vocabulary comes with the file: pieces of kind "),
                keyFact(d, "tokenizer.ggml.model"),
                text(", a text begins with id "),
                keyFact(d, "tokenizer.ggml.bos_token_id"),
                text(" and ends with id "),
                keyFact(d, "tokenizer.ggml.eos_token_id"),
                text(".")};
  s.tables = {keyTable(d, "keys of the vocabulary", isOfVocabulary)};
  return s;
}

Drawn drawTensors(Recording &r, const Place &) {
  const Json &d = r.document();
  Screen s;
  s.sentence = {count(d, "/model/tensors"),
                text(" tensors lie in the file; those that steps multiply by "
                     "are packed anew for this machine, "),
                bytesFact(d, "/memory/weight_bytes"), text(" in all.")};
  Table table{"tensors",
              {heading("name"), heading("type"), heading("ne (ggml)", true),
               heading("shape (PyTorch)", true), heading("bytes", true)}};
  const Json &tensors = d["model"]["tensors"];
  for (size_t i = 0; i < tensors.size(); ++i) {
    std::vector<int64_t> shape = tensors[i]["shape"];
    Cell torch = {shapeText(shape), Tone::Plain, true};
    for (size_t k = 0; k < shape.size(); ++k)
      torch.data.push_back(
          {"trace.json", pointer("model/tensors", i, "shape/") + std::to_string(k), shape[k]});
    std::reverse(shape.begin(), shape.end());
    table.rows.push_back({fact(d, pointer("model/tensors", i, "name")),
                          fact(d, pointer("model/tensors", i, "type"), Tone::Accent),
                          {shapeText(shape), Tone::Plain, true},
                          torch,
                          fact(d, pointer("model/tensors", i, "bytes"))});
  }
  s.tables = {table};
  return s;
}

Drawn drawContext(Recording &r, const Place &) {
  const Json &d = r.document();
  Screen s;
  s.sentence = {text("The context holds "),
                fact(d, "/kv/context", Tone::Strong),
                text(" positions: every key and value head keeps a row for each, "),
                bytesFact(d, "/kv/bytes"),
                text(" in pages of "),
                fact(d, "/kv/page_positions"),
                text("; what a step needs for a moment fits into "),
                bytesFact(d, "/memory/arena_bytes"),
                text(".")};
  Table table{"cache: bytes = positions x heads x head_dim x bytes of the element",
              {heading("state"), heading("positions", true), heading("heads", true),
               heading("head_dim", true), heading("element")}};
  for (size_t i = 0; i < d["kv"]["states"].size(); ++i)
    table.rows.push_back({fact(d, pointer("kv/states", i, "name")), fact(d, "/kv/context"),
                          fact(d, pointer("kv/states", i, "heads")),
                          fact(d, pointer("kv/states", i, "head_dim")),
                          fact(d, pointer("kv/states", i, "element"))});
  s.tables = {table};
  return s;
}

} // namespace vetro::screens
