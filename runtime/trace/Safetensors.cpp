// Writing of safetensors.
#include "runtime/trace/Safetensors.h"

#include <nlohmann/json.hpp>

namespace vetro {

void writeRawSafetensors(llvm::raw_ostream &out, llvm::ArrayRef<RawTensor> tensors,
                         const std::vector<std::pair<std::string, std::string>> &metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  for (const auto &[key, value] : metadata)
    header["__metadata__"][key] = value;
  uint64_t offset = 0;
  for (const RawTensor &t : tensors) {
    uint64_t end = offset + t.bytes.size();
    header[t.name] = {{"dtype", t.dtype}, {"shape", t.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  text.append((8 - text.size() % 8) % 8, ' '); // the data starts aligned
  uint64_t length = text.size();
  out.write(reinterpret_cast<const char *>(&length), sizeof(length));
  out << text;
  for (const RawTensor &t : tensors)
    out << t.bytes;
}

void writeSafetensors(llvm::raw_ostream &out, const std::vector<NamedTensor> &tensors,
                      const std::vector<std::pair<std::string, std::string>> &metadata) {
  std::vector<RawTensor> raw;
  for (const NamedTensor &t : tensors)
    raw.push_back({t.name,
                   "F32",
                   t.shape,
                   {reinterpret_cast<const char *>(t.data.data()), t.data.size() * sizeof(float)}});
  writeRawSafetensors(out, raw, metadata);
}

} // namespace vetro
