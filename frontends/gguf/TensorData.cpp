// Mapping, plain reading and direct I/O of tensor data.
#include "frontends/gguf/TensorData.h"
#include "frontends/gguf/BlockReader.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"
#include <cerrno>
#include <sys/mman.h>
#include <unistd.h>

namespace vetro::gguf {

using llvm::Error;

static uint64_t pageBytes() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }

TensorData::~TensorData() {
  if (borrowed_ && locked_)
    munlock(memory_, memoryBytes_);
  if (!memory_ || borrowed_)
    return;
  if (mapped_ && onUnmap_)
    onUnmap_(memory());
  munmap(memory_, memoryBytes_);
}

Error TensorData::load(const Source &source, const OpenOptions &options,
                       llvm::function_ref<void(double)> progress, std::vector<std::string> &notes) {
  const Head &head = source.head;
  if (head.tensors.empty())
    return Error::success();
  // Mapped tensors lie at multiples of the file's alignment: under 8, doubles would be misaligned.
  bool aligned = head.alignment >= 8;
  if (!source.content.empty()) {
    borrow(source, options, notes);
  } else if (options.mmap && !options.directIO && aligned) {
    if (Error e = map(source, options))
      return e;
  } else {
    if (options.mmap && !aligned)
      notes.push_back("tensors are aligned to " + std::to_string(head.alignment) +
                      " bytes only: read instead of mapped");
    if (Error e = read(source, options, progress, notes))
      return e;
  }
  locked_ = options.mlock && mlock(memory_, memoryBytes_) == 0;
  if (options.mlock && !locked_)
    notes.push_back("memory could not be locked: " + std::generic_category().message(errno) +
                    "; raise ulimit -l");
  return Error::success();
}

Error TensorData::map(const Source &source, const OpenOptions &options) {
  void *memory = mmap(nullptr, source.fileBytes, PROT_READ, MAP_PRIVATE, source.fd, 0);
  if (memory == MAP_FAILED)
    return makeSystemError(source.path, "map the file into memory (--no-mmap reads it)", errno);
  memory_ = static_cast<uint8_t *>(memory);
  memoryBytes_ = source.fileBytes;
  mapped_ = true;
  onUnmap_ = options.onUnmap;
  if (options.onMap)
    options.onMap(this->memory());
  placeAsInFile(source.head);
  return Error::success();
}

void TensorData::placeAsInFile(const Head &head) {
  places_.reserve(head.tensors.size());
  for (const TensorInfo &t : head.tensors)
    places_.push_back({head.dataOffset + t.offset, t.sizeBytes});
}

/// Nothing of the content is written: it is not ours, and may be part of the program.
void TensorData::borrow(const Source &source, const OpenOptions &options,
                        std::vector<std::string> &notes) {
  memory_ = const_cast<uint8_t *>(source.content.data());
  memoryBytes_ = source.content.size();
  borrowed_ = true;
  placeAsInFile(source.head);
  if (!options.mmap || options.directIO)
    notes.push_back("the model is in memory already: it is not read");
}

/// Large tensors get pages of their own, so that each can be released.
void TensorData::planPlaces(const Head &head) {
  uint64_t end = 0;
  for (const TensorInfo &t : head.tensors) {
    end = llvm::alignTo(end, t.sizeBytes >= (64 << 10) ? pageBytes() : 64);
    places_.push_back({end, t.sizeBytes});
    end += t.sizeBytes;
  }
  memoryBytes_ = llvm::alignTo(end, pageBytes());
}

Error TensorData::read(const Source &source, const OpenOptions &options,
                       llvm::function_ref<void(double)> progress, std::vector<std::string> &notes) {
  planPlaces(source.head);
  void *memory =
      mmap(nullptr, memoryBytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return makeSystemError(source.path,
                           "get " + std::to_string(memoryBytes_) +
                               " bytes of memory (mapping the file needs none)",
                           errno);
  memory_ = static_cast<uint8_t *>(memory);
  released_ = std::make_unique<std::atomic<bool>[]>(places_.size());
  BlockReader reader(source.fd, source.path, source.fileBytes);
  if (options.directIO && !reader.enableDirect())
    notes.push_back("direct I/O is not possible on this file system: read through its cache");
  for (size_t i = 0; i < places_.size(); ++i) {
    uint64_t from = source.head.dataOffset + source.head.tensors[i].offset;
    if (Error e = reader.read(from, {memory_ + places_[i].offset, places_[i].sizeBytes}))
      return e;
    progress(static_cast<double>(i + 1) / static_cast<double>(places_.size()));
  }
  return Error::success();
}

llvm::ArrayRef<uint8_t> TensorData::bytes(size_t i) const {
  if (released_ && released_[i])
    return {};
  return {memory_ + places_[i].offset, places_[i].sizeBytes};
}

void TensorData::release(size_t i) const {
  if (borrowed_)
    return;
  uint64_t page = pageBytes();
  uint64_t begin = places_[i].offset, end = begin + places_[i].sizeBytes;
  if (mapped_) { // neighbours on shared pages are read from the file again
    begin = begin / page * page;
    end = std::min(llvm::alignTo(end, page), llvm::alignTo(memoryBytes_, page));
  } else {
    begin = llvm::alignTo(begin, page);
    end = end / page * page;
    released_[i] = true;
  }
  drop(begin, end);
}

void TensorData::release(size_t i, uint64_t begin, uint64_t end) const {
  if (borrowed_)
    return;
  drop(llvm::alignTo(places_[i].offset + begin, pageBytes()),
       (places_[i].offset + end) / pageBytes() * pageBytes());
}

/// Gives the pages [begin, end) of memory_ back.
void TensorData::drop(uint64_t begin, uint64_t end) const {
  if (begin >= end)
    return;
  if (locked_)
    munlock(memory_ + begin, end - begin);
  madvise(memory_ + begin, end - begin, MADV_DONTNEED);
}

size_t TensorData::tensorAt(const void *address) const {
  const auto *at = static_cast<const uint8_t *>(address);
  if (!mapped_ || at < memory_ || at >= memory_ + memoryBytes_)
    return places_.size();
  uint64_t offset = static_cast<uint64_t>(at - memory_);
  for (size_t i = 0; i < places_.size(); ++i)
    if (offset >= places_[i].offset && offset - places_[i].offset < places_[i].sizeBytes)
      return i;
  return places_.size();
}

} // namespace vetro::gguf
