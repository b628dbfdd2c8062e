// The fields that every trace.json has, by example. docs/trace.md says what they mean.
#include "runtime/trace/TraceFile.h"

#include <algorithm>
#include <cstdint>

namespace vetro {

using Json = nlohmann::ordered_json;

// A list has the form of its one element. "?" ends the name of a field that may be missing or null.
static constexpr const char *schema = R"({
  "format": "text",
  "version": "integer",
  "model": {
    "path": "text", "name": "text", "architecture": "text", "hash": "text", "bytes": "integer",
    "metadata": [{"key": "text", "type": "text", "value": "any"}],
    "tensors": [{"name": "text", "type": "text", "shape": ["integer"], "bytes": "integer"}]
  },
  "machine": {"cpu": "text", "level": "text", "threads": "integer"},
  "options": "object",
  "edits?": ["text"],
  "passes": [{
    "pass": "text", "ops_before": "integer", "ops_after": "integer", "ir?": "text",
    "rewrites": [{"site": "text", "what": "text", "fired": "bool", "source": "text",
                  "in": ["text"]}]
  }],
  "graphs": "object",
  "assembly?": "text",
  "steps": [{
    "name": "text", "op": "text", "function": "text", "values": ["text"], "inside": ["text"],
    "weights": ["text"], "kernels": ["text"], "barrier": "bool", "weight_bytes": "integer"
  }],
  "memory": {"buffers": "integer", "arena_bytes": "integer", "weight_bytes": "integer"},
  "kv": {
    "context": "integer", "page_positions": "integer", "bytes": "integer",
    "states": [{"name": "text", "kind": "text", "element": "text", "heads": "integer",
                "head_dim": "integer"}]
  },
  "sampler": {"chain": "text", "options": "object"},
  "prompt": {"text?": "text", "ids": ["integer"], "pieces": ["text"], "encoding?": {
    "fragments": [{"begin": "integer", "end": "integer"}],
    "words": [{"begin": "integer", "end": "integer", "text": "text", "ids": ["integer"],
               "merges": [{"left": "text", "right": "text", "result": "text"}]}]
  }},
  "batches": [{
    "first": "integer", "tokens": "integer", "outputs": "integer", "ms": "number",
    "micro_batches": ["integer"], "step_us": ["number"], "values?": "text"
  }],
  "tokens": [{
    "position": "integer", "id": "integer", "piece": "text", "bytes": "text", "batch": "integer",
    "row": "integer",
    "sampled?": {
      "id": "integer", "eog": "bool", "draw": "number", "rng": ["text"],
      "stages": [{"name": "text", "active": "bool", "in": "integer", "out": "integer",
                  "mass_removed": "number", "entropy_bits": "number",
                  "top": [{"id": "integer", "piece": "text", "logit": "number", "p": "number"}]}]
    }
  }],
  "hooks": ["text"],
  "text": "text",
  "stop": "text"
})";

static bool isOf(const std::string &type, const Json &value) {
  return type == "any" || (type == "text" && value.is_string()) ||
         (type == "integer" && value.is_number_integer()) ||
         (type == "number" && value.is_number()) || (type == "bool" && value.is_boolean()) ||
         (type == "object" && value.is_object());
}

/// The first thing in `value` that is not of the form; empty: nothing.
static std::string wrongIn(const Json &value, const Json &form, const std::string &at) {
  if (form.is_string())
    return isOf(form.get_ref<const std::string &>(), value)
               ? ""
               : at + ": expected " + form.get<std::string>();
  if (value.type() != form.type())
    return at + ": expected " + (form.is_array() ? "a list" : "an object");
  std::string wrong;
  if (form.is_array())
    for (size_t i = 0; i < value.size() && wrong.empty(); ++i)
      wrong = wrongIn(value[i], form[0], at + "[" + std::to_string(i) + "]");
  for (auto it = form.begin(); form.is_object() && it != form.end() && wrong.empty(); ++it) {
    std::string key = it.key();
    bool optional = key.back() == '?';
    if (optional)
      key.pop_back();
    auto field = value.find(key);
    if (field == value.end() || (optional && field->is_null()))
      wrong = optional ? "" : at + (at.empty() ? "" : ".") + key + ": is missing";
    else
      wrong = wrongIn(*field, it.value(), at + (at.empty() ? "" : ".") + key);
  }
  return wrong;
}

static bool isId(const Json &id) { return id >= 0 && id <= INT32_MAX; }

/// What is wrong with the token at a position; `before`: of the one before it, its batch.
static std::string wrongInToken(const Json &document, const Json &token, int64_t before) {
  const Json &batches = document["batches"];
  if (!isId(token["id"]))
    return ".id: no id of a token";
  if (token["batch"] < -1 || token["batch"] >= int64_t(batches.size()))
    return ".batch: no such batch";
  if (token["batch"] >= 0 && before < 0)
    return ".batch: it ran after a token that did not";
  if (token["batch"] >= 0 &&
      (token["row"] < 0 || token["row"] >= batches[size_t(token["batch"])]["tokens"]))
    return ".row: not in its batch";
  if (!token.contains("sampled") || token["sampled"].is_null())
    return "";
  if (!isId(token["sampled"]["id"]))
    return ".sampled.id: no id of a token";
  return token["sampled"]["stages"].empty() ? ".sampled.stages: is empty" : "";
}

/// What the form cannot say: lists that are never empty, and numbers of one field that name places
/// in another.
static std::string wrongPlaces(const Json &document) {
  const Json &tokens = document["tokens"], &batches = document["batches"];
  for (const char *list : {"passes", "steps", "tokens"})
    if (document[list].empty())
      return std::string(list) + ": is empty";
  size_t nPrompt = document["prompt"]["ids"].size();
  if (nPrompt == 0 || nPrompt > tokens.size())
    return "prompt.ids: not those of the first tokens";
  for (size_t i = 0; i < batches.size(); ++i) {
    std::string at = "batches[" + std::to_string(i) + "]";
    if (batches[i]["step_us"].size() != document["steps"].size())
      return at + ".step_us: not one for each step";
    int64_t first = batches[i]["first"], n = batches[i]["tokens"], all = int64_t(tokens.size());
    if (first < 0 || first > all || n < 1 || n > all - first)
      return at + ".tokens: not in the run";
  }
  int64_t before = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (std::string wrong = wrongInToken(document, tokens[i], before); !wrong.empty())
      return "tokens[" + std::to_string(i) + "]" + wrong;
    before = tokens[i]["batch"];
  }
  return "";
}

std::string wrongInTrace(const Json &document) {
  static const Json form = Json::parse(schema);
  if (!document.is_object())
    return "expected an object";
  std::string wrong = wrongIn(document, form, "");
  return wrong.empty() ? wrongPlaces(document) : wrong;
}

} // namespace vetro
