// The bytes of one file's tensors: mapped, read into memory of our own, or where they are already.
#pragma once
#include "frontends/gguf/Parse.h"
#include <atomic>

namespace vetro::gguf {

class TensorData {
public:
  /// An open file and what its head says; all must outlive the calls that take it.
  struct Source {
    int fd;
    llvm::ArrayRef<uint8_t> content; ///< the file's bytes instead of fd; aligned to 64
    llvm::StringRef path;
    uint64_t fileBytes;
    const Head &head;
  };

  TensorData() = default;
  ~TensorData();
  TensorData(const TensorData &) = delete;
  TensorData &operator=(const TensorData &) = delete;

  /// Maps or reads the tensors as `options` say, or borrows them from `content`, once; `progress`
  /// gets 0..1. Adds to `notes` what did not go as asked. Fails where the file cannot be mapped or
  /// read.
  llvm::Error load(const Source &source, const OpenOptions &options,
                   llvm::function_ref<void(double)> progress, std::vector<std::string> &notes);

  bool isMapped() const { return mapped_; }
  /// All that was mapped or read.
  llvm::ArrayRef<uint8_t> memory() const { return {memory_, memoryBytes_}; }
  /// The bytes of tensor number `i` of the file, 8-byte aligned; empty if they were read and
  /// released.
  llvm::ArrayRef<uint8_t> bytes(size_t i) const;
  /// Drops the pages of tensor number `i`.
  void release(size_t i) const;
  /// Drops the whole pages among bytes [begin, end) of tensor number `i`.
  void release(size_t i, uint64_t begin, uint64_t end) const;
  /// Number of the tensor whose mapped bytes hold `address`, or the number of tensors.
  size_t tensorAt(const void *address) const;

private:
  struct Place {
    uint64_t offset, sizeBytes; ///< in memory_
  };
  llvm::Error map(const Source &source, const OpenOptions &options);
  llvm::Error read(const Source &source, const OpenOptions &options,
                   llvm::function_ref<void(double)> progress, std::vector<std::string> &notes);
  void borrow(const Source &source, const OpenOptions &options, std::vector<std::string> &notes);
  void placeAsInFile(const Head &head);
  void planPlaces(const Head &head);
  void drop(uint64_t begin, uint64_t end) const;

  uint8_t *memory_ = nullptr;
  uint64_t memoryBytes_ = 0;
  bool mapped_ = false, borrowed_ = false, locked_ = false;
  std::vector<Place> places_;
  std::unique_ptr<std::atomic<bool>[]> released_; ///< per tensor, for data that was read
  std::function<void(llvm::ArrayRef<uint8_t>)> onUnmap_;
};

} // namespace vetro::gguf
