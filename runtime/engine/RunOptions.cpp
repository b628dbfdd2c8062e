// One list of options, written and read.
#include "runtime/engine/RunOptions.h"

#include "llvm/ADT/STLExtras.h"
#include <nlohmann/json.hpp>

namespace vetro {

using Json = nlohmann::ordered_json;

/// Calls `each` with the name and the place of every option that decides the numbers.
template <typename Options, typename Each> static void forEachOption(Options &o, Each each) {
  each("override_kv", o.open.overrides);
  each("kv", o.kvType);
  each("disable", o.disable);
  each("activation", o.activations);
  each("level", o.level);
  each("round", o.round);
}

std::string describeRun(const ModelOptions &options) {
  Json json = Json::object();
  forEachOption(options, [&](const char *name, const auto &value) { json[name] = value; });
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

static bool isTexts(const Json &json) {
  return json.is_array() && llvm::all_of(json, [](const Json &j) { return j.is_string(); });
}
static bool read(const Json &json, std::string &to) {
  if (json.is_string())
    to = json.get<std::string>();
  return json.is_string();
}
static bool read(const Json &json, std::vector<std::string> &to) {
  if (isTexts(json))
    to = json.get<std::vector<std::string>>();
  return isTexts(json);
}

bool takeRunOptions(llvm::StringRef text, ModelOptions &options) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  bool sound = json.is_object();
  if (sound)
    forEachOption(options, [&](const char *name, auto &value) {
      sound &= !json.contains(name) || read(json[name], value);
    });
  return sound;
}

llvm::Error takeRunOptions(const TensorFile &file, ModelOptions &options) {
  llvm::StringRef text = file.metadata("run");
  if (text.empty() || takeRunOptions(text, options))
    return llvm::Error::success();
  return llvm::createStringError(file.path() +
                                 ": its metadata 'run' is not what vetro dump writes");
}

} // namespace vetro
