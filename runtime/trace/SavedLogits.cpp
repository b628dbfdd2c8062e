// Rows of 16-bit log probabilities, written and read.
#include "runtime/trace/SavedLogits.h"
#include "runtime/trace/TensorTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/EndianStream.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace vetro {

using llvm::Twine;
namespace endian = llvm::support::endian;

static constexpr uint64_t fixedBytes = 20; ///< of the header without the tokens
static constexpr float depth = 16;         ///< nats below the best token that are told apart
static constexpr float most = 65535;       ///< the largest code

void writeSavedHeader(llvm::raw_ostream &out, const SavedLogitsHeader &header) {
  endian::Writer to(out, llvm::endianness::little);
  out << SavedLogits::magic;
  to.write(header.nCtx);
  to.write(header.nVocab);
  to.write(header.nChunks);
  for (int32_t token : header.tokens)
    to.write(token);
}

void writeSavedRow(llvm::raw_ostream &out, llvm::ArrayRef<float> logits) {
  auto [low, high] = std::minmax_element(logits.begin(), logits.end());
  float best = *high, least = std::max(*low, best - depth);
  double sum = 0;
  for (float v : logits)
    sum += std::exp(double(v) - best);
  float scale = (best - least) / most;
  endian::Writer to(out, llvm::endianness::little);
  to.write(scale);
  to.write(float(double(least) - best - std::log(sum)));
  for (float v : logits)
    to.write(uint16_t(scale > 0 && v > least ? std::nearbyint((v - least) / scale) : 0));
  if (logits.size() % 2)
    to.write(uint16_t(0));
}

llvm::Error decodeSavedRow(const char *row, llvm::MutableArrayRef<float> logProbs) {
  auto scale = endian::read<float, llvm::endianness::little>(row);
  auto least = endian::read<float, llvm::endianness::little>(row + 4);
  if (!(scale >= 0 && scale * most <= 2 * depth) || !std::isfinite(least))
    return llvm::createStringError("has the scale %g and the least value %g, which are of no "
                                   "logarithms of probabilities",
                                   scale, least);
  for (auto [i, logProb] : llvm::enumerate(logProbs))
    logProb = scale * endian::read16le(row + 8 + 2 * i) + least;
  return llvm::Error::success();
}

/// Bytes of the whole file; UINT64_MAX where they are more than that.
static uint64_t wholeBytes(const SavedLogitsHeader &h) {
  uint64_t tokens = llvm::SaturatingMultiply(uint64_t(h.nChunks), uint64_t(h.nCtx));
  uint64_t rows = llvm::SaturatingMultiply(uint64_t(h.nChunks), h.rowsPerChunk());
  return llvm::SaturatingAdd(fixedBytes, llvm::SaturatingMultiply(tokens, uint64_t(4)),
                             llvm::SaturatingMultiply(rows, h.rowBytes()));
}

static llvm::Error checkCounts(const Bytes &file, const SavedLogitsHeader &h) {
  if (h.nCtx < 3 || h.nVocab < 1 || h.nChunks < 1)
    return file.error("tells of " + Twine(h.nChunks) + " chunks of " + Twine(h.nCtx) +
                      " tokens of a vocabulary of " + Twine(h.nVocab) +
                      ", expected at least 1, 3 and 1");
  uint64_t wanted = wholeBytes(h);
  if (file.size() < wanted)
    return file.error(Twine(h.nChunks) + " chunks of " + Twine(h.nCtx) +
                      " tokens of a vocabulary of " + Twine(h.nVocab) + " need " + Twine(wanted) +
                      " bytes, it has " + Twine(file.size()) + ": is it whole?");
  if (file.size() > wanted)
    return file.error("has " + Twine(file.size() - wanted) + " bytes after its last row");
  return llvm::Error::success();
}

llvm::Expected<SavedLogits> SavedLogits::open(std::shared_ptr<const Bytes> bytes) {
  char start[fixedBytes];
  if (bytes->size() < fixedBytes)
    return bytes->error("is " + Twine(bytes->size()) + " bytes, a file of saved logits has more");
  if (llvm::Error error = bytes->read(0, start, fixedBytes))
    return std::move(error);
  if (llvm::StringRef(start, magic.size()) != magic)
    return bytes->error("does not begin with " + magic +
                        ", expected logits saved by vetro perplexity or llama-perplexity");
  SavedLogits saved;
  SavedLogitsHeader &h = saved.head;
  h.nCtx = endian::read32le(start + 8);
  h.nVocab = int32_t(endian::read32le(start + 12));
  h.nChunks = int32_t(endian::read32le(start + 16));
  if (llvm::Error error = checkCounts(*bytes, h))
    return std::move(error);
  h.tokens.resize(uint64_t(h.nChunks) * h.nCtx);
  if (llvm::Error error = bytes->read(fixedBytes, h.tokens.data(), h.tokens.size() * 4))
    return std::move(error);
  for (auto [i, token] : llvm::enumerate(h.tokens)) {
    token = int32_t(endian::read32le(&token));
    if (token < 0 || token >= h.nVocab)
      return bytes->error("its token " + Twine(i) + " is " + Twine(token) +
                          ", expected an id of its vocabulary: 0 to " + Twine(h.nVocab - 1));
  }
  saved.bytes = std::move(bytes);
  return saved;
}

uint64_t SavedLogits::rowOffset(uint64_t row) const {
  return fixedBytes + head.tokens.size() * 4 + row * head.rowBytes();
}

llvm::Error SavedLogits::read(uint64_t row, llvm::MutableArrayRef<float> logProbs) const {
  std::string data(head.rowBytes(), '\0');
  if (llvm::Error error = bytes->read(rowOffset(row), data.data(), data.size()))
    return error;
  if (llvm::Error error = decodeSavedRow(data.data(), logProbs))
    return bytes->error("its row " + Twine(row) + " " + llvm::toString(std::move(error)));
  return llvm::Error::success();
}

static llvm::Error unpackRows(const TensorEntry &entry, const char *data,
                              llvm::MutableArrayRef<float> out) {
  uint64_t width = uint64_t(entry.shape[1]), rowBytes = entry.sizeBytes / uint64_t(entry.shape[0]);
  for (uint64_t row = 0; row < uint64_t(entry.shape[0]); ++row)
    if (llvm::Error error = decodeSavedRow(data + row * rowBytes, out.slice(row * width, width)))
      return llvm::createStringError("in row " + Twine(row) + " " +
                                     llvm::toString(std::move(error)));
  return llvm::Error::success();
}

llvm::Error readSavedLogits(std::shared_ptr<const Bytes> file, TensorTable &table) {
  auto saved = SavedLogits::open(file);
  if (!saved)
    return saved.takeError();
  const SavedLogitsHeader &h = saved->header();
  TensorEntry entry{.name = "logits", .dtype = "U16", .bytes = file, .unpack = unpackRows};
  entry.shape = {int64_t(saved->rows()), h.nVocab};
  entry.offset = saved->rowOffset(0), entry.sizeBytes = saved->rows() * h.rowBytes();
  table.entries.push_back(std::move(entry));
  std::string &ids = table.metadata["ids"];
  for (int32_t token : h.tokens)
    ids += (ids.empty() ? "" : ",") + std::to_string(token);
  return llvm::Error::success();
}

} // namespace vetro
