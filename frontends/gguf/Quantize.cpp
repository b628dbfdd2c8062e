// Keys are copied, rows go through F32.
#include "frontends/gguf/Quantize.h"
#include "frontends/gguf/Encode.h"
#include "frontends/gguf/Write.h"
#include "runtime/abi/Dequantize.h"
#include "llvm/ADT/Twine.h"

namespace vetro::gguf {

using llvm::Error;
using llvm::StringRef;

/// All keys in their order; what is no longer so is written anew.
static void copyKeys(const File &file, const FileType &type, Writer &writer) {
  constexpr StringRef typeKey = "general.file_type", versionKey = "general.quantization_version";
  for (const KeyValue &entry : file.keys())
    if (entry.key == typeKey)
      writer.add<uint32_t>(typeKey, type.id);
    else if (entry.key == versionKey)
      writer.add<uint32_t>(versionKey, 2);
    else if (entry.key != "general.alignment" && !entry.key.starts_with("split."))
      writer.addValue(entry.key, entry.value);
  if (!file.find(typeKey))
    writer.add<uint32_t>(typeKey, type.id);
  if (!file.find(versionKey))
    writer.add<uint32_t>(versionKey, 2);
}

/// The number of layers, for mixes that treat some of them better; 1 where the file does not tell.
static int64_t numLayers(const File &file) {
  const Value *arch = file.find("general.architecture");
  const Value *count =
      arch && arch->asString() ? file.find((*arch->asString() + ".block_count").str()) : nullptr;
  return count ? count->asInt().value_or(1) : 1;
}

/// What the file type wants of the tensor.
static Format wantedFormat(const File &file, const FileType &type, const TensorInfo &tensor) {
  auto shape = tensor.shape();
  bool isHead = tensor.name == "token_embd.weight" && !file.findTensor("output.weight");
  return formatOf(type, {tensor.name, shape, numLayers(file), isHead});
}

/// The tensor's rows, from one format to the other; `onRow` is called after each.
static void encode(const File &file, const TensorInfo &tensor, Format format, llvm::raw_ostream &os,
                   llvm::function_ref<void()> onRow) {
  uint64_t width = tensor.ne[0];
  const uint8_t *from = file.data(tensor).data();
  std::vector<float> row(width);
  std::vector<uint8_t> blocks(rowBytes(format, width));
  for (uint64_t i = 0; i < tensor.numRows(); ++i) {
    dequantizeRow(tensor.format, from + i * rowBytes(tensor.format, width), width, row.data());
    encodeRow(format, row.data(), width, blocks.data());
    os.write(reinterpret_cast<const char *>(blocks.data()), blocks.size());
    onRow();
  }
}

Error quantize(const File &file, const FileType &type, StringRef path,
               llvm::function_ref<void(double)> progress) {
  Writer writer;
  copyKeys(file, type, writer);
  uint64_t done = 0, total = 0;
  for (const TensorInfo &tensor : file.tensors()) {
    auto ne = llvm::ArrayRef(tensor.ne).take_front(tensor.nDims);
    Format format = wantedFormat(file, type, tensor);
    if (tensor.supported && tensor.format == format) {
      writer.addTensor(tensor.name, tensor.ggufType, ne, file.data(tensor));
      continue;
    }
    if (!tensor.supported || !canDequantize(tensor.format))
      return makeError(ErrorKind::Data, file.path(),
                       "tensor " + escaped(tensor.name) + " is " + tensor.typeName() +
                           ", which cannot be turned into " + formatInfo(format).name +
                           "; start from the file in F32, F16 or BF16");
    total += tensor.numRows();
    writer.addTensor(tensor.name, format, ne, [&, format](llvm::raw_ostream &os) {
      encode(file, tensor, format, os, [&] {
        if (progress)
          progress(double(++done) / total);
      });
      return Error::success();
    });
  }
  return writer.write(path);
}

} // namespace vetro::gguf
