// One row per value.
#include "runtime/engine/AlignmentJson.h"
#include "frontends/Architecture.h"
#include "frontends/gguf/GgufError.h"

#include "llvm/ADT/StringExtras.h"
#include <nlohmann/json.hpp>

namespace vetro {

using Json = nlohmann::ordered_json;

llvm::Expected<const Architecture *> requireArchitecture(llvm::StringRef name) {
  if (const Architecture *architecture = findArchitectureOfModel(name))
    return architecture;
  return llvm::createStringError("unknown architecture " + gguf::escaped(name) + ", known are " +
                                 llvm::join(architectureNames(), ", "));
}

static Json rowJson(const ValueAlignment &row) {
  llvm::SmallVector<llvm::StringRef> parts;
  row.transforms.split(parts, ',', -1, /*KeepEmpty=*/false);
  Json transforms = Json::array();
  for (llvm::StringRef part : parts)
    transforms.push_back(part.str());
  Json json = {{"name", row.name.str()},
               {row.ofFunction ? "function" : "module", row.module.str()},
               {"port", row.port.str()},
               {"transforms", transforms}};
  if (!row.when.empty())
    json["when"] = row.when.str();
  return json;
}

std::string alignmentJson(const Architecture &architecture) {
  Json rows = Json::array();
  for (const ValueAlignment &row : alignmentOf(architecture))
    rows.push_back(rowJson(row));
  return Json({{"arch", architecture.name.str()}, {"names", rows}}).dump();
}

} // namespace vetro
