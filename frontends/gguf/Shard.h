// One file of a model: its descriptor, its head, its tensors' bytes.
#pragma once
#include "frontends/gguf/Parse.h"
#include "frontends/gguf/TensorData.h"
#include <ctime>

namespace vetro::gguf {

class Shard {
public:
  /// Opens a regular file, or takes OpenOptions::content for one, and reads and checks its head and
  /// data ranges; reads no data.
  static llvm::Expected<std::unique_ptr<Shard>> open(llvm::StringRef path,
                                                     const OpenOptions &options);
  ~Shard();
  Shard(const Shard &) = delete;
  Shard &operator=(const Shard &) = delete;

  /// Maps or reads the data, see TensorData::load.
  llvm::Error load(const OpenOptions &options, llvm::function_ref<void(double)> progress,
                   std::vector<std::string> &notes);
  /// An error if the file's size or modification time has changed and its bytes are mapped.
  llvm::Error checkUnchanged() const;

  llvm::StringRef path() const { return path_; }
  uint64_t fileBytes() const { return fileBytes_; }
  const Head &head() const { return head_; }
  const TensorData &data() const { return data_; }

  unsigned firstTensor = 0; ///< number in File::tensors() of this shard's first tensor

private:
  Shard() = default;
  llvm::Error openFile();
  std::string path_;
  int fd_ = -1; ///< kept, so that checkUnchanged() asks about the file that was opened
  llvm::ArrayRef<uint8_t> content_; ///< the file's bytes instead of fd_
  uint64_t fileBytes_ = 0;
  timespec modified_{};
  HeaderBuffer header_;
  Head head_; ///< points into header_
  TensorData data_;
};

} // namespace vetro::gguf
