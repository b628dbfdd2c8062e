// The tree of modules of transformers' model_addition_debugger_context(use_repr=False): a JSON file
// NAME_debug_tree_FULL_TENSORS.json and a safetensors file of one tensor "data" for each value.
//
// A node is {"module_path": "LlamaForCausalLM.model.norm", "inputs": {"args": [..], "kwargs":
// {..}}, "outputs": .., "children": [..]}; a tensor in it is {"shape": "torch.Size([1, 5, 576])",
// "dtype": "torch.float32", "value": "./FILE.safetensors"}. Modules with children have no outputs.
#include "runtime/trace/Safetensors.h"
#include "runtime/trace/TensorTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"
#include <nlohmann/json.hpp>

namespace vetro {
namespace {

using Json = nlohmann::json;
using llvm::StringRef;
using llvm::Twine;

constexpr uint64_t maxTreeBytes = 256'000'000;
constexpr unsigned maxDepth = 100;

/// The member `key`, or null where there is none or `json` is no object.
const Json *member(const Json &json, const char *key) {
  auto found = json.is_object() ? json.find(key) : json.end();
  return found == json.end() ? nullptr : &*found;
}

StringRef text(const Json *json) {
  return json && json->is_string() ? StringRef(json->get_ref<const std::string &>()) : StringRef();
}

bool isTensor(const Json *json) {
  return json && member(*json, "shape") && member(*json, "dtype") && member(*json, "value");
}

/// The tensor itself, or the one at a place of a list.
const Json *tensorAt(const Json *json, size_t place = 0) {
  if (json && json->is_array())
    json = place < json->size() ? &(*json)[place] : nullptr;
  else if (place > 0)
    return nullptr;
  return isTensor(json) ? json : nullptr;
}

std::string sizeText(llvm::ArrayRef<int64_t> shape) {
  std::string text = "torch.Size([";
  for (auto [i, d] : llvm::enumerate(shape))
    text += (i ? ", " : "") + std::to_string(d);
  return text + "])";
}

/// Walks the tree and adds what it finds.
class Walk {
public:
  Walk(const Bytes &file, TensorTable &table) : file(file), table(table) {}
  llvm::Error root(const Json &tree);

private:
  llvm::Error node(const Json &node, unsigned depth);
  llvm::Error add(const std::string &name, const Json *tensor);
  llvm::Expected<TensorEntry> open(StringRef value) const;
  llvm::Error noteIds(const Json *ids);

  const Bytes &file;
  TensorTable &table;
  std::string modelClass;
  llvm::StringMap<size_t> index;
  std::map<std::string, std::string> misfits; ///< entries of another size than said, and both sizes
};

/// The one tensor of a file beside the tree. Only a file's name is followed, no path.
llvm::Expected<TensorEntry> Walk::open(StringRef value) const {
  StringRef name = value;
  if (!name.consume_front("./") || name.empty() || name.find_first_of("/\\") != StringRef::npos)
    return file.error("its tensor lies in " + printable(value) +
                      ", expected a file beside it: ./NAME.safetensors");
  llvm::SmallString<128> path = llvm::sys::path::parent_path(file.path());
  llvm::sys::path::append(path, name);
  auto bytes = Bytes::ofFileAmongMany(path);
  if (!bytes)
    return bytes.takeError();
  TensorTable one;
  if (llvm::Error error = readSafetensors(*bytes, one))
    return std::move(error);
  if (one.entries.size() != 1)
    return (*bytes)->error("has " + Twine(one.entries.size()) + " tensors, expected the one of " +
                           file.path());
  return std::move(one.entries.front());
}

/// A module that ran more than once, such as the activation of a mixture's experts, left the file
/// of its last run: so does the entry, and only that run's size must be the file's.
llvm::Error Walk::add(const std::string &name, const Json *tensor) {
  if (!tensor)
    return llvm::Error::success();
  const Json &value = (*tensor)["value"];
  if (!value.is_string())
    return file.error("its tensors are printed with four digits each: write them whole, with "
                      "model_addition_debugger_context(model, use_repr=False, ...)");
  auto entry = open(text(&value));
  if (!entry)
    return entry.takeError();
  StringRef said = text(member(*tensor, "shape"));
  if (said == sizeText(entry->shape))
    misfits.erase(name);
  else
    misfits[name] = printable(said) + ", its file has " + sizeText(entry->shape);
  StringRef dtype = text(member(*tensor, "dtype"));
  if (dtype.consume_front("torch.") && dtype.contains("float"))
    table.metadata.try_emplace("dtype", dtype.str());
  entry->name = name;
  auto [at, fresh] = index.try_emplace(name, table.entries.size());
  if (fresh)
    table.entries.emplace_back();
  table.entries[at->second] = std::move(*entry);
  return llvm::Error::success();
}

llvm::Error Walk::node(const Json &node, unsigned depth) {
  StringRef path = text(member(node, "module_path"));
  if (depth > maxDepth || !path.consume_front(modelClass + "."))
    return file.error("is no tree of modules: " + printable(path) + " at depth " + Twine(depth));
  if (const Json *inputs = member(node, "inputs")) {
    const Json *args = member(*inputs, "args"), *kwargs = member(*inputs, "kwargs");
    const Json *first = tensorAt(args);
    if (!first && kwargs)
      first = tensorAt(member(*kwargs, "hidden_states"));
    if (llvm::Error error = add((path + ".input").str(), first))
      return error;
  }
  // The children ran between a module's input and its output.
  if (const Json *children = member(node, "children"); children && children->is_array())
    for (const Json &child : *children)
      if (llvm::Error error = this->node(child, depth + 1))
        return error;
  const Json *outputs = member(node, "outputs");
  size_t count = outputs && outputs->is_array() ? outputs->size() : 1;
  for (size_t i = 0; i < count; ++i)
    if (llvm::Error error =
            add((path + ".output" + (i ? "." + Twine(i) : Twine())).str(), tensorAt(outputs, i)))
      return error;
  return llvm::Error::success();
}

llvm::Error Walk::root(const Json &tree) {
  const Json *children = member(tree, "children");
  modelClass = text(member(tree, "module_path")).str();
  if (modelClass.empty() || !children || !children->is_array())
    return file.error("is no tree of modules, expected module_path and children as transformers' "
                      "model_addition_debugger_context writes them");
  table.metadata["model_class"] = modelClass;
  if (const Json *inputs = member(tree, "inputs")) {
    const Json *args = member(*inputs, "args"), *kwargs = member(*inputs, "kwargs");
    const Json *ids = kwargs ? tensorAt(member(*kwargs, "input_ids")) : nullptr;
    if (llvm::Error error = add("input_ids", ids ? ids : tensorAt(args)))
      return error;
    if (llvm::Error error = takeIds(table, "input_ids"))
      return error;
    index.clear(); // it had that entry only
  }
  for (const Json &child : *children)
    if (llvm::Error error = node(child, 1))
      return error;
  for (const auto &[name, sizes] : misfits)
    return file.error("says that " + printable(name) + " is " + sizes);
  return llvm::Error::success();
}

} // namespace

llvm::Error readModuleTree(std::shared_ptr<const Bytes> file, TensorTable &table) {
  if (file->size() > maxTreeBytes)
    return file->error("is " + Twine(file->size()) + " bytes, of a tree of modules at most " +
                       Twine(maxTreeBytes) + " are read");
  std::string content(file->size(), '\0');
  if (llvm::Error error = file->read(0, content.data(), content.size()))
    return error;
  Json tree = Json::parse(content, nullptr, /*allow_exceptions=*/false);
  if (tree.is_discarded())
    return file->error("is no JSON: is it whole?");
  return Walk(*file, table).root(tree);
}

} // namespace vetro
