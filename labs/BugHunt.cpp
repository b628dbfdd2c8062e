// Lab 08: five copies of a model, each with one planted bug. Which copy has which bug, and in which
// layer, the seed of the folder decides; nothing else knows, so that the check plants them again
// in thought.
#include "frontends/gguf/Encode.h"
#include "frontends/gguf/Write.h"
#include "labs/Check.h"
#include "labs/Values.h"
#include "runtime/abi/Dequantize.h"
#include "runtime/engine/Dump.h"

#include <cmath>
#include <random>

namespace vetro::labs {

// The lesson's command: vetro dump bug1.gguf -p "Once upon a time there was a" --hooks '*'
constexpr llvm::StringLiteral prompt = "Once upon a time there was a";

namespace {
enum class Bug { RopeBase, EmbeddingScale, NormPlusOne, HeadMap, GateUpSwap };
constexpr Bug allBugs[] = {Bug::RopeBase, Bug::EmbeddingScale, Bug::NormPlusOne, Bug::HeadMap,
                           Bug::GateUpSwap};

/// A bug and where it sits.
struct Planted {
  Bug bug;
  std::string layer; ///< "blk.2."
  bool ffn;          ///< of both norms of a layer the second one
};

/// What a file becomes with one bug in it.
class BuggyFile {
public:
  BuggyFile(const gguf::File &file, const Planted &planted) : file(file), planted(planted) {}
  /// Error: the file lacks what the bug changes, it cannot be written.
  llvm::Error write(llvm::StringRef path);

private:
  llvm::Error copyKeys(gguf::Writer &writer);
  llvm::Error copyTensor(const gguf::TensorInfo &tensor, gguf::Writer &writer);
  void addChanged(const gguf::TensorInfo &tensor, gguf::Writer &writer,
                  llvm::function_ref<float(float)> change);
  llvm::Error addWithHeadsMoved(const gguf::TensorInfo &tensor, gguf::Writer &writer);
  llvm::Expected<uint32_t> number(llvm::StringRef key) const;
  bool isLayers(const gguf::TensorInfo &tensor, llvm::StringRef suffix) const {
    return tensor.name == planted.layer + suffix.str();
  }

  const gguf::File &file;
  const Planted &planted;
  std::vector<std::vector<uint8_t>> changed; ///< bytes of tensors, until they are written
};
} // namespace

static llvm::Expected<std::string> keyOf(const gguf::File &file, llvm::StringRef suffix) {
  auto arch = file.require<llvm::StringRef>("general.architecture");
  if (!arch)
    return arch.takeError();
  return (*arch + suffix).str();
}

llvm::Expected<uint32_t> BuggyFile::number(llvm::StringRef suffix) const {
  auto key = keyOf(file, suffix);
  return key ? file.require<uint32_t>(*key) : key.takeError();
}

llvm::Error BuggyFile::copyKeys(gguf::Writer &writer) {
  auto ropeBase = keyOf(file, ".rope.freq_base");
  if (!ropeBase)
    return ropeBase.takeError();
  for (const gguf::KeyValue &entry : file.keys()) {
    if (planted.bug == Bug::RopeBase && entry.key == *ropeBase)
      writer.add<float>(entry.key, float(entry.value.asFloat().value_or(10000) * 50));
    else if (entry.key != "general.alignment")
      writer.addValue(entry.key, entry.value);
  }
  return llvm::Error::success();
}

/// Every number changed, in the tensor's own format.
void BuggyFile::addChanged(const gguf::TensorInfo &tensor, gguf::Writer &writer,
                           llvm::function_ref<float(float)> change) {
  uint64_t width = tensor.ne[0], bytes = rowBytes(tensor.format, width);
  std::vector<uint8_t> &to = changed.emplace_back(tensor.sizeBytes);
  std::vector<float> row(width);
  for (uint64_t i = 0; i < tensor.numRows(); ++i) {
    dequantizeRow(tensor.format, file.data(tensor).data() + i * bytes, width, row.data());
    for (float &x : row)
      x = change(x);
    gguf::encodeRow(tensor.format, row.data(), width, to.data() + i * bytes);
  }
  writer.addTensor(tensor.name, tensor.format, llvm::ArrayRef(tensor.ne).take_front(tensor.nDims),
                   to);
}

/// Each KV head in the place of the one before it.
llvm::Error BuggyFile::addWithHeadsMoved(const gguf::TensorInfo &tensor, gguf::Writer &writer) {
  auto heads = number(".attention.head_count_kv");
  if (!heads)
    return heads.takeError();
  llvm::ArrayRef<uint8_t> from = file.data(tensor);
  uint64_t headBytes = from.size() / *heads;
  std::vector<uint8_t> &to = changed.emplace_back(from.begin() + headBytes, from.end());
  to.insert(to.end(), from.begin(), from.begin() + headBytes);
  writer.addTensor(tensor.name, tensor.ggufType, llvm::ArrayRef(tensor.ne).take_front(tensor.nDims),
                   to);
  return llvm::Error::success();
}

llvm::Error BuggyFile::copyTensor(const gguf::TensorInfo &tensor, gguf::Writer &writer) {
  auto ne = llvm::ArrayRef(tensor.ne).take_front(tensor.nDims);
  const gguf::TensorInfo *from = &tensor;
  if (planted.bug == Bug::EmbeddingScale && tensor.name == "token_embd.weight") {
    float scale = std::sqrt(float(tensor.ne[0]));
    addChanged(tensor, writer, [scale](float x) { return x * scale; });
    return llvm::Error::success();
  }
  if (planted.bug == Bug::NormPlusOne &&
      isLayers(tensor, planted.ffn ? "ffn_norm.weight" : "attn_norm.weight")) {
    addChanged(tensor, writer, [](float x) { return x + 1; });
    return llvm::Error::success();
  }
  if (planted.bug == Bug::HeadMap &&
      (isLayers(tensor, "attn_k.weight") || isLayers(tensor, "attn_v.weight")))
    return addWithHeadsMoved(tensor, writer);
  if (planted.bug == Bug::GateUpSwap && isLayers(tensor, "ffn_gate.weight"))
    from = file.findTensor(planted.layer + "ffn_up.weight");
  if (planted.bug == Bug::GateUpSwap && isLayers(tensor, "ffn_up.weight"))
    from = file.findTensor(planted.layer + "ffn_gate.weight");
  if (!from)
    return llvm::createStringError(file.path() + ": layer " + planted.layer + " has no gate");
  writer.addTensor(tensor.name, from->ggufType, ne, file.data(*from));
  return llvm::Error::success();
}

llvm::Error BuggyFile::write(llvm::StringRef path) {
  gguf::Writer writer;
  if (llvm::Error error = copyKeys(writer))
    return error;
  changed.reserve(file.tensors().size()); // the writer keeps references
  for (const gguf::TensorInfo &tensor : file.tensors())
    if (llvm::Error error = copyTensor(tensor, writer))
      return error;
  return writer.write(path);
}

/// The bugs of bug1.gguf, bug2.gguf, ... in order.
static llvm::Expected<std::vector<Planted>> plan(const gguf::File &file, uint64_t seed) {
  auto key = keyOf(file, ".block_count");
  if (!key)
    return key.takeError();
  auto nLayer = file.require<uint32_t>(*key);
  if (!nLayer)
    return nLayer.takeError();
  std::mt19937_64 random(seed);
  std::vector<Planted> all;
  for (Bug bug : allBugs) {
    std::string layer = "blk." + std::to_string(random() % *nLayer) + ".";
    all.push_back({bug, layer, random() % 2 == 0});
  }
  for (size_t i = all.size(); i > 1; --i)
    std::swap(all[i - 1], all[random() % i]);
  return all;
}

/// The right values, as `vetro dump tiny --reference --kv f32 --hooks '*'` writes them.
static llvm::Error writeReference(const Folder &folder, ModelOptions tiny) {
  tiny.kvType = "f32";
  auto reference = Reference::create(tiny, {});
  if (!reference)
    return reference.takeError();
  auto globs = HookGlobs::create({"*"});
  if (!globs)
    return globs.takeError();
  std::vector<int32_t> ids = (*reference)->tokenizer().encode(prompt, true, false);
  auto dump = dumpReference(**reference, tiny, ids, *globs);
  if (!dump)
    return dump.takeError();
  auto metadata = metadataOf(*dump, "all");
  std::vector<NamedTensor> tensors;
  for (HookValue &value : dump->values)
    tensors.push_back(std::move(value.tensor));
  return writeTensors(folder.pathOf("right.safetensors"), tensors, metadata);
}

namespace {
/// A sound file and what is planted into its copies.
struct Hunt {
  std::shared_ptr<const gguf::File> file;
  std::vector<Planted> bugs;
};
} // namespace

static llvm::Expected<Hunt> huntOf(const Folder &folder, const ModelOptions &tiny) {
  auto file = gguf::File::open(tiny.path, tiny.open);
  if (!file)
    return file.takeError();
  auto bugs = plan(**file, folder.seed());
  if (!bugs)
    return bugs.takeError();
  return Hunt{std::move(*file), std::move(*bugs)};
}

static llvm::Error prepare(const Folder &folder, const ModelOptions &tiny) {
  auto hunt = huntOf(folder, tiny);
  if (!hunt)
    return hunt.takeError();
  for (auto [i, planted] : llvm::enumerate(hunt->bugs))
    if (llvm::Error error = BuggyFile(*hunt->file, planted)
                                .write(folder.pathOf("bug" + std::to_string(i + 1) + ".gguf")))
      return error;
  return writeReference(folder, tiny);
}

/// The bug's word, the values that are wrong first (either is right), and what is behind them.
static Truth truthOf(const Planted &planted, const std::string &ropeBase) {
  auto here = [&](llvm::StringRef suffix) { return planted.layer + suffix.str(); };
  switch (planted.bug) {
  case Bug::RopeBase:
    return {.words = {{"rope-base"}, {"blk.0.q_rope", "blk.0.k_rope"}, {ropeBase}}};
  case Bug::EmbeddingScale:
    return {.words = {{"embedding-scale"}, {"embed"}, {"token_embd.weight"}}};
  case Bug::NormPlusOne: {
    std::string norm = here(planted.ffn ? "ffn_norm" : "attn_norm");
    return {.words = {{"norm-plus-one"}, {norm}, {norm + ".weight"}}};
  }
  case Bug::HeadMap:
    return {.words = {{"head-map"},
                      {here("k"), here("v")},
                      {here("attn_k.weight"), here("attn_v.weight")}}};
  case Bug::GateUpSwap:
    return {.words = {{"gate-up-swap"},
                      {here("ffn_gate"), here("ffn_up")},
                      {here("ffn_gate.weight"), here("ffn_up.weight")}}};
  }
  llvm_unreachable("all bugs are above");
}

static llvm::Expected<Truths> truths(const Folder &folder, const ModelOptions &tiny) {
  auto hunt = huntOf(folder, tiny);
  if (!hunt)
    return hunt.takeError();
  auto ropeBase = keyOf(*hunt->file, ".rope.freq_base");
  if (!ropeBase)
    return ropeBase.takeError();
  Truths all;
  for (auto [i, planted] : llvm::enumerate(hunt->bugs))
    all["bug" + std::to_string(i + 1)] = truthOf(planted, *ropeBase);
  return all;
}

const LabCode bugHunt{"08", prepare, truths};

} // namespace vetro::labs
