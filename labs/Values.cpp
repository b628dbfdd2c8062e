// Numbers that a lab makes up or writes down.
#include "labs/Values.h"

#include "llvm/Support/raw_ostream.h"
#include <cstring>

namespace vetro::labs {

namespace {
/// The numbers of all tensors, one after the other.
class Numbers : public Bytes {
public:
  explicit Numbers(std::vector<float> numbers)
      : Bytes("numbers of the lab", numbers.size() * sizeof(float)), numbers(std::move(numbers)) {}
  llvm::Error read(uint64_t offset, void *to, uint64_t bytes) const override {
    if (offset > size() || bytes > size() - offset)
      return error("is shorter than its tensors");
    std::memcpy(to, reinterpret_cast<const char *>(numbers.data()) + offset, bytes);
    return llvm::Error::success();
  }

private:
  std::vector<float> numbers;
};
} // namespace

std::unique_ptr<TensorFile> fileOf(llvm::ArrayRef<NamedTensor> tensors) {
  std::vector<float> all;
  TensorTable table;
  for (const NamedTensor &t : tensors) {
    table.entries.push_back({.name = t.name,
                             .dtype = "F32",
                             .shape = t.shape,
                             .offset = all.size() * sizeof(float),
                             .sizeBytes = t.data.size() * sizeof(float)});
    all.insert(all.end(), t.data.begin(), t.data.end());
  }
  auto bytes = std::make_shared<Numbers>(std::move(all));
  for (TensorEntry &entry : table.entries)
    entry.bytes = bytes;
  return TensorFile::of(bytes->path(), std::move(table));
}

NamedTensor smallIntegers(llvm::StringRef name, std::vector<int64_t> shape, uint64_t seed) {
  NamedTensor tensor{name.str(), shape, {}};
  int64_t n = 1;
  for (int64_t d : shape)
    n *= d;
  // Steele et al. 2014, "Fast splittable pseudorandom number generators": splitmix64.
  uint64_t state = seed;
  for (int64_t i = 0; i < n; ++i) {
    uint64_t z = state += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    tensor.data.push_back(float((z ^ (z >> 31)) % 19) - 9);
  }
  return tensor;
}

llvm::Error writeTensors(llvm::StringRef path, const std::vector<NamedTensor> &tensors,
                         const std::vector<std::pair<std::string, std::string>> &metadata) {
  std::error_code code;
  llvm::raw_fd_ostream out(path, code);
  if (!code) {
    writeSafetensors(out, tensors, metadata);
    out.close();
    code = out.error();
    out.clear_error();
  }
  return code ? llvm::createStringError(path + ": " + code.message()) : llvm::Error::success();
}

} // namespace vetro::labs
