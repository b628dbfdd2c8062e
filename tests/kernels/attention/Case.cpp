// Builds the cache, runs a level's kernels, and computes the reference.
#include "tests/kernels/attention/Case.h"
#include "runtime/abi/Float.h"
#include "runtime/abi/KvPage.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace vetro::test {

Case::Case(const Shape &shape, unsigned seed) : shape(shape) {
  uint32_t longest = *std::max_element(shape.lengths.begin(), shape.lengths.end());
  maxPages = (longest + pagePositions - 1) / pagePositions + 1; // one page is never written
  const uint32_t nPages = maxPages * uint32_t(shape.lengths.size());
  pages.resize(nPages);
  for (uint32_t i = 0; i < nPages; ++i)
    pages[i] = int32_t(i);
  std::shuffle(pages.begin(), pages.end(), std::mt19937(seed));
  const size_t bytes = nPages * kvPageElements(shape.nHeadKV, shape.headDim) * (shape.half ? 2 : 4);
  kState.assign(bytes, 0xff);
  vState.assign(bytes, 0xff);
  fill(seed);
}

void Case::fill(unsigned seed) {
  uint32_t nTokens = 0;
  for (uint32_t length : shape.lengths)
    nTokens += length;
  const uint32_t widthKV = shape.nHeadKV * shape.headDim;
  queries = normals(size_t(nTokens) * width(), seed + 1);
  keys = normals(size_t(nTokens) * widthKV, seed + 2);
  values = normals(size_t(nTokens) * widthKV, seed + 3);
  if (shape.half)
    for (auto *list : {&keys, &values})
      for (float &v : *list)
        v = f16ToFloat(floatToF16(v));
  const NativeKernels &scalar = *nativeKernels();
  for (Token token : allTokens()) {
    VtBatch batch = {1,       0, nullptr, &token.position, &token.sequence, nullptr, pages.data(),
                     maxPages};
    auto storeK = shape.half ? scalar.vt_kv_store_k_f16 : scalar.vt_kv_store_k_f32;
    auto storeV = shape.half ? scalar.vt_kv_store_v_f16 : scalar.vt_kv_store_v_f32;
    size_t at = size_t(row(token)) * widthKV;
    storeK(kState.data(), &batch, 0, shape.nHeadKV, shape.headDim, &keys[at]);
    storeV(vState.data(), &batch, 0, shape.nHeadKV, shape.headDim, &values[at]);
  }
}

std::vector<Case::Token> Case::allTokens() const {
  std::vector<Token> tokens;
  for (size_t s = 0; s < shape.lengths.size(); ++s)
    for (uint32_t i = 0; i < shape.lengths[s]; ++i)
      tokens.push_back({int32_t(s), int32_t(i)});
  return tokens;
}

uint32_t Case::row(Token token) const {
  uint32_t first = 0;
  for (int32_t s = 0; s < token.sequence; ++s)
    first += shape.lengths[size_t(s)];
  return first + uint32_t(token.position);
}

void Case::poison(int32_t sequence, uint32_t position, float value) {
  std::vector<float> rows(size_t(shape.nHeadKV) * shape.headDim, value);
  const uint32_t first = shape.window && position >= shape.window ? position - shape.window + 1 : 0;
  const NativeKernels &scalar = *nativeKernels();
  for (int32_t s = 0; s < int32_t(shape.lengths.size()); ++s)
    for (int32_t i = 0; i < int32_t(maxPages * pagePositions); ++i) {
      if (s == sequence && uint32_t(i) >= first && uint32_t(i) <= position)
        continue;
      VtBatch batch = {1, 0, nullptr, &i, &s, nullptr, pages.data(), maxPages};
      auto storeK = shape.half ? scalar.vt_kv_store_k_f16 : scalar.vt_kv_store_k_f32;
      auto storeV = shape.half ? scalar.vt_kv_store_v_f16 : scalar.vt_kv_store_v_f32;
      storeK(kState.data(), &batch, 0, shape.nHeadKV, shape.headDim, rows.data());
      storeV(vState.data(), &batch, 0, shape.nHeadKV, shape.headDim, rows.data());
    }
}

std::vector<float> Case::run(const NativeKernels &level, const std::vector<Token> &tokens,
                             const std::vector<uint32_t> &cuts) const {
  std::vector<int32_t> positions, sequences;
  std::vector<float> batchQ;
  for (Token token : tokens) {
    positions.push_back(token.position);
    sequences.push_back(token.sequence);
    batchQ.insert(batchQ.end(), q(token), q(token) + width());
  }
  VtBatch batch = {uint32_t(tokens.size()), 0,       nullptr,      positions.data(),
                   sequences.data(),        nullptr, pages.data(), maxPages};
  VtAttention attention = {
      shape.nHead,  shape.nHeadKV, shape.headDim, shape.window, 1 / std::sqrt(float(shape.headDim)),
      shape.softcap};
  std::vector<float> ctx(batchQ.size(), NAN); // what a step finds there must not matter
  auto run = shape.half ? level.vt_attention_f16 : level.vt_attention_f32;
  uint32_t begin = 0, all = uint32_t(tokens.size()) * shape.nHeadKV;
  for (uint32_t end : cuts) {
    run(batchQ.data(), kState.data(), vState.data(), &batch, &attention, begin, end, ctx.data());
    begin = end;
  }
  run(batchQ.data(), kState.data(), vState.data(), &batch, &attention, begin, all, ctx.data());
  return ctx;
}

std::vector<double> Case::reference(const std::vector<Token> &tokens) const {
  const uint32_t d = shape.headDim, widthKV = shape.nHeadKV * d;
  const double scale = 1 / std::sqrt(float(d));
  std::vector<double> out;
  for (Token token : tokens)
    for (uint32_t head = 0; head < shape.nHead; ++head) {
      const float *query = q(token) + head * d;
      const uint32_t kvHead = head / (shape.nHead / shape.nHeadKV);
      std::vector<double> ctx(d, 0.0);
      double sum = 0;
      for (int32_t i = 0; i <= token.position; ++i) {
        if (shape.window && token.position - i >= int32_t(shape.window))
          continue;
        size_t at = size_t(row({token.sequence, i})) * widthKV + kvHead * d;
        double score = 0;
        for (uint32_t j = 0; j < d; ++j)
          score += double(query[j]) * keys[at + j];
        score *= scale;
        if (shape.softcap != 0)
          score = shape.softcap * std::tanh(score / shape.softcap);
        double p = std::exp(score); // scores are small: no maximum needed in double precision
        sum += p;
        for (uint32_t j = 0; j < d; ++j)
          ctx[j] += p * values[at + j];
      }
      for (double c : ctx)
        out.push_back(c / sum);
    }
  return out;
}

} // namespace vetro::test
