// The keys every text model reads. Names and defaults: ggml-org/ggml, docs/gguf.md.
#include "frontends/Hyperparameters.h"

#include <cmath>

using namespace mlir;

namespace vetro {

static constexpr int64_t maxHeads = 1 << 16, maxWidth = 1 << 24;

/// Head size: key_length where given, else width / heads; both head sizes must be the same.
static int64_t readHeadDim(Metadata &meta, const Hyperparameters &h) {
  if (!meta.has(".attention.key_length")) {
    int64_t heads = h.nHead.front();
    if (h.nEmbd % heads != 0) {
      meta.fail(".attention.head_count", "found " + Twine(heads),
                "a divisor of embedding_length " + Twine(h.nEmbd));
      return 1;
    }
    return h.nEmbd / heads;
  }
  int64_t key = meta.integer(".attention.key_length", 1, maxHeads);
  int64_t value = meta.integerOr(".attention.value_length", key, 1, maxHeads);
  if (key != value)
    meta.fail(".attention.value_length", "found " + Twine(value), "the key_length " + Twine(key));
  return key;
}

Hyperparameters readHyperparameters(Blocks &blocks) {
  Metadata &meta = blocks.metadata();
  Hyperparameters h;
  h.nLayer = meta.integer(".block_count", 1, 1024);
  h.nEmbd = meta.integer(".embedding_length", 1, maxWidth);
  h.nCtx = meta.integer(".context_length", 1, INT32_MAX);
  h.nVocab = blocks.rowsOf("token_embd.weight");
  meta.integerOr(".vocab_size", h.nVocab, 1, INT32_MAX); // the embedding's rows decide
  h.nHead = meta.perLayer(".attention.head_count", h.nLayer, {}, 1, maxHeads);
  h.nHeadKV = h.nHead;
  if (meta.has(".attention.head_count_kv"))
    h.nHeadKV = meta.perLayer(".attention.head_count_kv", h.nLayer, {}, 1, maxHeads);
  for (int64_t i = 0; i < h.nLayer; ++i)
    if (h.nHead[i] % h.nHeadKV[i] != 0)
      meta.fail(".attention.head_count_kv", "found " + Twine(h.nHeadKV[i]),
                "a divisor of head_count " + Twine(h.nHead[i]));
  h.nFf = meta.perLayer(".feed_forward_length", h.nLayer, {}, 1, maxWidth);
  h.headDim = readHeadDim(meta, h);
  h.eps = meta.number(".attention.layer_norm_rms_epsilon", 0, 1e-2);
  return h;
}

/// Linear and YaRN scaling of the frequencies.
static void readScaling(Metadata &meta, RopeSpec &r, const Hyperparameters &h) {
  std::string kind = meta.textOr(".rope.scaling.type", "linear");
  if (kind != "none" && kind != "linear" && kind != "yarn")
    meta.fail(".rope.scaling.type", "found '" + kind + "'", "none, linear or yarn");
  StringRef key = meta.has(".rope.scale_linear") ? ".rope.scale_linear" : ".rope.scaling.factor";
  float factor = meta.numberOr(key, 1, 0, 1e6);
  if (kind == "none")
    return;
  r.freqScale = 1 / factor;
  r.attnFactor = meta.numberOr(".rope.scaling.attn_factor", 1, 0, 1e6);
  r.nCtxOrig = meta.integerOr(".rope.scaling.original_context_length", h.nCtx, 1, INT32_MAX);
  if (kind == "yarn")
    r.extFactor = 1;
}

RopeSpec readRope(Blocks &blocks, StringRef mode, const Hyperparameters &h) {
  Metadata &meta = blocks.metadata();
  RopeSpec r;
  r.mode = mode;
  r.nDims = meta.integerOr(".rope.dimension_count", h.headDim, 2, h.headDim);
  if (r.nDims % 2 != 0)
    meta.fail(".rope.dimension_count", "found " + Twine(r.nDims), "an even number");
  r.base = meta.numberOr(".rope.freq_base", 10000, 0, 1e12);
  readScaling(meta, r, h);
  r.factors = blocks.optionalWeight("rope_freqs.weight", {r.nDims / 2});
  return r;
}

} // namespace vetro
