// A random model, step by step: keys, what tensors they ask for, vocabulary, values.
#include "frontends/tiny/Tiny.h"

#include "frontends/Architecture.h"
#include "frontends/Import.h"
#include "frontends/gguf/Encode.h"
#include "frontends/gguf/FileType.h"
#include "frontends/gguf/Override.h"
#include "frontends/tiny/RandomTensor.h"
#include "frontends/tiny/TinyVocab.h"

#include "mlir/IR/MLIRContext.h"

using namespace mlir;

namespace vetro {

namespace {

struct Shape {
  StringRef name;
  int64_t nLayer, nEmbd, nHead, nHeadKV, nFf, nVocab, nCtx;
  bool ownHead; ///< output.weight instead of the embedding
};

constexpr Shape shapes[] = {
    {"tiny", 2, 256, 4, 2, 512, 512, 512, false},
    {"135m", 30, 576, 9, 3, 1536, 49152, 8192, false},
    {"1b", 16, 2048, 32, 8, 8192, 128256, 131072, false},
    {"8b", 32, 4096, 32, 8, 14336, 128256, 8192, true},
};

struct Tensor {
  std::string name;
  std::vector<int64_t> shape;
  Format format;
};

/// The model's hyperparameters in order; a key given again takes the new value.
class Keys {
public:
  Keys(StringRef arch) : arch(arch) {}

  /// A key that starts with a dot gets the architecture's name in front.
  llvm::Error set(const Twine &spec, bool byUser = false) {
    std::string text = spec.str();
    if (text.starts_with("."))
      text = arch + text;
    auto parsed = gguf::parseOverride(text, [](StringRef) { return nullptr; });
    if (!parsed)
      return parsed.takeError();
    for (Entry &entry : entries)
      if (entry.parsed.key == parsed->key) {
        entry = {std::move(*parsed), byUser};
        return llvm::Error::success();
      }
    entries.push_back({std::move(*parsed), byUser});
    return llvm::Error::success();
  }

  /// Drops defaults that the architecture does not read.
  void drop(ArrayRef<std::string> unused) {
    llvm::erase_if(entries, [&](const Entry &entry) {
      return !entry.byUser && llvm::is_contained(unused, entry.parsed.key);
    });
  }

  DictionaryAttr attributes(MLIRContext *context) const {
    SmallVector<NamedAttribute> list;
    list.emplace_back(StringAttr::get(context, "general.architecture"),
                      StringAttr::get(context, arch));
    for (const Entry &entry : entries)
      list.emplace_back(StringAttr::get(context, entry.parsed.key),
                        metadataAttribute(context, entry.parsed.value));
    return DictionaryAttr::get(context, list);
  }

  void write(gguf::Writer &writer) const {
    for (const Entry &entry : entries)
      writer.addValue(entry.parsed.key, entry.parsed.value);
  }

private:
  struct Entry {
    gguf::Override parsed;
    bool byUser;
  };
  std::string arch;
  std::vector<Entry> entries;
};

} // namespace

std::vector<StringRef> tinyShapes() {
  std::vector<StringRef> names;
  for (const Shape &shape : shapes)
    names.push_back(shape.name);
  return names;
}

static llvm::Expected<const Shape *> findShape(StringRef name) {
  for (const Shape &shape : shapes)
    if (shape.name == name)
      return &shape;
  return llvm::createStringError("unknown shape " + gguf::escaped(name) +
                                 "; known: " + llvm::join(tinyShapes(), ", "));
}

/// General keys from the shape, the architecture's own, then the user's.
static llvm::Expected<Keys> makeKeys(const TinyOptions &o, const Architecture &arch,
                                     const Shape &shape) {
  Keys keys(o.arch);
  auto number = [](StringRef key, int64_t value) { return (key + "=u32:" + Twine(value)).str(); };
  std::vector<std::string> specs = {
      number(".context_length", shape.nCtx),
      number(".embedding_length", shape.nEmbd),
      number(".block_count", o.layers > 0 ? o.layers : shape.nLayer),
      number(".feed_forward_length", shape.nFf),
      number(".attention.head_count", shape.nHead),
      number(".attention.head_count_kv", shape.nHeadKV),
      ".attention.layer_norm_rms_epsilon=f32:1e-5",
      ".rope.freq_base=f32:100000",
  };
  specs.insert(specs.end(), arch.example.keys.begin(), arch.example.keys.end());
  if (shape.name == "tiny")
    specs.insert(specs.end(), arch.example.tinyKeys.begin(), arch.example.tinyKeys.end());
  for (const std::string &spec : specs)
    if (llvm::Error error = keys.set(spec))
      return std::move(error);
  for (const std::string &spec : o.overrides)
    if (llvm::Error error = keys.set(spec, /*byUser=*/true))
      return std::move(error);
  return keys;
}

/// Runs the architecture's build on a module without tensors and collects those it declares. Keys
/// that it does not read are dropped.
static llvm::Expected<std::vector<Tensor>> makeTensors(const TinyOptions &o, const Shape &shape,
                                                       const gguf::FileType &type, Keys &keys) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<ir::VetroDialect>();
  OpBuilder b(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(b.getUnknownLoc());
  (*module)->setAttr("vetro.metadata", keys.attributes(&context));
  b.setInsertionPointToEnd(module->getBody());
  auto table = RankedTensorType::get({shape.nVocab, shape.nEmbd}, b.getF32Type());
  ir::WeightOp::create(b, b.getUnknownLoc(), "token_embd.weight", table);
  if (shape.ownHead)
    ir::WeightOp::create(b, b.getUnknownLoc(), "output.weight", table);
  MissingWeights missing = o.optional ? MissingWeights::DeclareAll : MissingWeights::Declare;
  auto report = buildGraph(*module, {.missing = missing});
  if (!report)
    return report.takeError();
  keys.drop(report->unusedKeys);

  std::vector<Tensor> tensors;
  bool ownHead = module->lookupSymbol("output.weight") != nullptr;
  int64_t nLayers = o.layers > 0 ? o.layers : shape.nLayer;
  for (auto weight : module->getOps<ir::WeightOp>()) {
    StringRef name = weight.getSymName();
    ArrayRef<int64_t> dims = cast<RankedTensorType>(weight.getType()).getShape();
    bool isHead = name == "token_embd.weight" && !ownHead;
    Format format = formatOf(type, {name, dims, nLayers, isHead});
    tensors.push_back({name.str(), dims.vec(), format});
  }
  return tensors;
}

static uint64_t numValues(const Tensor &tensor) {
  uint64_t n = 1;
  for (int64_t d : tensor.shape)
    n *= d;
  return n;
}

/// Encodes the tensor row by row.
static void stream(const RandomTensor &values, const Tensor &tensor, llvm::raw_ostream &os,
                   llvm::function_ref<void(uint64_t)> onValues) {
  uint64_t width = tensor.shape.back(), total = numValues(tensor);
  std::vector<float> row(width);
  std::vector<uint8_t> blocks(rowBytes(tensor.format, width));
  for (uint64_t at = 0; at < total; at += width) {
    values.read(at, row);
    gguf::encodeRow(tensor.format, row.data(), width, blocks.data());
    os.write(reinterpret_cast<const char *>(blocks.data()), blocks.size());
    onValues(width);
  }
}

/// Adds the tensors, whose values are made while the file is written. All arguments must outlive
/// that.
static void addTensors(gguf::Writer &writer, ArrayRef<Tensor> tensors, uint64_t seed,
                       llvm::function_ref<void(uint64_t)> onValues) {
  for (const Tensor &tensor : tensors) {
    SmallVector<uint64_t> ne(tensor.shape.rbegin(), tensor.shape.rend());
    writer.addTensor(tensor.name, tensor.format, ne,
                     [&tensor, seed, onValues](llvm::raw_ostream &os) {
                       RandomTensor values(seed, tensor.name, tensor.shape);
                       stream(values, tensor, os, onValues);
                       return llvm::Error::success();
                     });
  }
}

llvm::Error makeTiny(const TinyOptions &o, StringRef path,
                     llvm::function_ref<void(double)> progress) {
  const Architecture *arch = findArchitecture(o.arch);
  if (!arch)
    return llvm::createStringError("unknown architecture " + gguf::escaped(o.arch) +
                                   "; known: " + llvm::join(architectureNames(), ", "));
  auto shape = findShape(o.shape);
  if (!shape)
    return shape.takeError();
  auto type = gguf::fileTypeByName(o.type);
  if (!type)
    return type.takeError();
  auto keys = makeKeys(o, *arch, **shape);
  if (!keys)
    return keys.takeError();
  auto tensors = makeTensors(o, **shape, **type, *keys);
  if (!tensors)
    return tensors.takeError();
  uint64_t total = 0, done = 0;
  for (const Tensor &tensor : *tensors)
    total += numValues(tensor);
  auto onValues = [&](uint64_t n) {
    done += n;
    if (progress)
      progress(double(done) / total);
  };
  gguf::Writer writer;
  writer.addString("general.architecture", o.arch);
  writer.addString("general.name", "random " + o.arch + " " + o.shape);
  writer.add<uint32_t>("general.file_type", (*type)->id);
  writer.add<uint32_t>("general.quantization_version", 2);
  keys->write(writer);
  addTinyVocab(writer, arch->example.tokenizer, (*shape)->nVocab);
  addTensors(writer, *tensors, o.seed, onValues);
  return writer.write(path);
}

} // namespace vetro
