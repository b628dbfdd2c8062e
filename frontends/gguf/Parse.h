// The head of a GGUF file: header, metadata, tensor table. Everything is checked here but the
// tensors' byte ranges, which need the size of the file (DataRanges.cpp).
#pragma once
#include "frontends/gguf/Gguf.h"
#include "frontends/gguf/HeaderBuffer.h"
#include "llvm/ADT/StringMap.h"

namespace vetro::gguf {

/// What the head says. Keys, strings and arrays point into the HeaderBuffer.
struct Head {
  uint32_t version = 0;
  uint32_t alignment = 32;
  std::vector<KeyValue> keys;
  std::vector<TensorInfo> tensors;
  uint64_t endOffset = 0;  ///< first byte after the tensor table
  uint64_t dataOffset = 0; ///< endOffset rounded up to the alignment

  /// The key, or null.
  const KeyValue *find(llvm::StringRef key) const;
};

/// Reads and checks the head in `buffer`; `path` is for messages. Time is linear in its bytes.
llvm::Expected<Head> parseHead(HeaderBuffer &buffer, llvm::StringRef path,
                               const OpenOptions &options);

/// Checks that the tensors' ranges are aligned, inside the file, apart from each other, and (unless
/// `options.allowTrailing`) leave no byte unclaimed but padding.
llvm::Error checkDataRanges(const Head &head, uint64_t fileBytes, llvm::StringRef path,
                            const OpenOptions &options);

/// Most keys, tensors and bytes of metadata, unless `OpenOptions::ignoreLimits`.
inline constexpr uint64_t maxKeys = 65536, maxTensors = 65536, maxMetadataBytes = 256 << 20;

} // namespace vetro::gguf
