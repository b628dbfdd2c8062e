// From module paths to our names.
#include "runtime/engine/Modules.h"
#include "frontends/Architecture.h"

#include "llvm/ADT/StringExtras.h"
#include <set>

namespace vetro {
namespace {

constexpr llvm::StringLiteral layers = "model.layers.";

/// "gemma3" of Gemma3ForCausalLM.
std::string typeOf(llvm::StringRef modelClass) {
  return modelClass.take_front(modelClass.find("For")).lower();
}

/// `pattern` with the layer in place of "*".
std::string atLayer(llvm::StringRef pattern, uint64_t layer) {
  auto [before, after] = pattern.split('*');
  bool starred = before.size() < pattern.size();
  return starred ? (before + llvm::Twine(layer) + after).str() : pattern.str();
}

/// Names entries of one file.
class Namer {
public:
  explicit Namer(TensorTable &table) : table(table) {
    for (auto [i, entry] : llvm::enumerate(table.entries)) {
      index[entry.name] = i;
      llvm::StringRef rest = entry.name;
      uint64_t layer;
      if (rest.consume_front(layers) && !rest.consumeInteger(10, layer))
        present.insert(layer);
    }
  }
  void name(const ValueAlignment &row) {
    if (row.name.contains('*'))
      for (uint64_t layer : present)
        nameAt(row, layer);
    else
      nameAt(row, 0);
  }

private:
  void nameAt(const ValueAlignment &row, uint64_t layer);
  size_t placeOf(const ValueAlignment &row, uint64_t layer) const;
  size_t find(const llvm::Twine &name) const {
    auto found = index.find(name.str());
    return found == index.end() ? SIZE_MAX : found->second;
  }

  TensorTable &table;
  llvm::StringMap<size_t> index; ///< by the modules' names
  std::set<uint64_t> present;
};

/// Where the row's value is among the entries. What a module with children puts out is not among
/// them: a layer's output is what the next layer reads, the last one's what the final norm reads.
/// Logits are the head's output.
size_t Namer::placeOf(const ValueAlignment &row, uint64_t layer) const {
  if (row.ofFunction)
    return row.module == modelFunction && row.port == "logits" ? find("lm_head.output") : SIZE_MAX;
  std::string module = atLayer(row.module, layer);
  size_t found = find(module + "." + row.port);
  if (found != SIZE_MAX || row.port != "output" || module != layers.str() + std::to_string(layer))
    return found;
  return layer == *present.rbegin() ? find("model.norm.input")
                                    : find(layers + llvm::Twine(layer + 1) + ".input");
}

void Namer::nameAt(const ValueAlignment &row, uint64_t layer) {
  size_t at = placeOf(row, layer);
  if (at == SIZE_MAX)
    return;
  std::string name = atLayer(row.name, layer);
  table.entries[at].name = name;
  table.metadata["transforms:" + name] = row.transforms.str();
}

} // namespace

llvm::Expected<std::unique_ptr<TensorFile>> openValues(llvm::StringRef path) {
  auto file = TensorFile::open(path);
  if (!file)
    return file.takeError();
  llvm::StringRef modelClass = (*file)->metadata("model_class");
  if (modelClass.empty())
    return file;
  const Architecture *architecture = findArchitectureOfModel(typeOf(modelClass));
  if (!architecture)
    return llvm::createStringError(path + ": is of a " + printable(modelClass) +
                                   ", known architectures are " +
                                   llvm::join(architectureNames(), ", "));
  TensorTable table{(*file)->entries(), (*file)->allMetadata()};
  Namer namer(table);
  for (const ValueAlignment &row : alignmentOf(*architecture))
    namer.name(row);
  return TensorFile::of(path, std::move(table));
}

} // namespace vetro
