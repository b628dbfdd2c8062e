// Logits of many positions in the file of llama.cpp's llama-perplexity (tools/perplexity,
// --save-all-logits and --kl-divergence-base), so that runs of both programs can be compared.
//
// Little-endian: "_logits_", u32 nCtx, i32 nVocab, i32 nChunks, i32 tokens[nChunks * nCtx], then of
// each chunk the rows of positions nCtx/2 to nCtx - 2, each f32 scale, f32 least, u16
// code[nVocab], and one u16 more where nVocab is odd. ln p(i) = scale * code[i] + least. A token
// more than 16 nats below the best one has code 0. Worked example: logits 2, 1, -30 have
// ln(sum exp) = 2.3133, so that ln p = -0.3133, -1.3133, -32.3; stored are scale 16/65535, least
// -16.3133 and the codes 65535, 61439, 0: the last is read as -16.3133.
#pragma once

#include "runtime/trace/Bytes.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"
#include <vector>

namespace vetro {

struct SavedLogitsHeader {
  uint32_t nCtx = 0; ///< tokens in a chunk, at least 3
  int32_t nVocab = 0, nChunks = 0;
  std::vector<int32_t> tokens; ///< [nChunks * nCtx], as tokenised: no BOS put in

  uint64_t rowsPerChunk() const { return nCtx - 1 - nCtx / 2; }
  uint64_t rowBytes() const { return 8 + 2 * (uint64_t(nVocab) + nVocab % 2); }
};

/// Begins a file; rows follow.
void writeSavedHeader(llvm::raw_ostream &out, const SavedLogitsHeader &header);
/// Appends a row. `logits` [nVocab]: the largest is finite, none is NaN.
void writeSavedRow(llvm::raw_ostream &out, llvm::ArrayRef<float> logits);

/// ln p of all tokens from the bytes of a row. Error (without the file's name): scale or least that
/// no writer makes.
llvm::Error decodeSavedRow(const char *row, llvm::MutableArrayRef<float> logProbs);

class SavedLogits {
public:
  static constexpr llvm::StringLiteral magic = "_logits_";

  /// Reads the header. Error: not such a file; counts that are none or that its length does not
  /// fit; a token outside of the vocabulary.
  static llvm::Expected<SavedLogits> open(std::shared_ptr<const Bytes> bytes);

  const SavedLogitsHeader &header() const { return head; }
  uint64_t rows() const { return uint64_t(head.nChunks) * head.rowsPerChunk(); }
  /// Where row `row` begins in the file.
  uint64_t rowOffset(uint64_t row) const;
  /// Reads ln p of row `row` < rows() to `logProbs` [nVocab]. Error: the file was cut meanwhile, a
  /// row that no writer makes.
  llvm::Error read(uint64_t row, llvm::MutableArrayRef<float> logProbs) const;
  const std::string &path() const { return bytes->path(); }

private:
  std::shared_ptr<const Bytes> bytes;
  SavedLogitsHeader head;
};

} // namespace vetro
