// The keys every text model reads. Names and defaults: ggml-org/ggml, docs/gguf.md.
#include "frontends/Hyperparameters.h"
#include "frontends/gguf/GgufError.h"

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

/// The embedding's rows decide how many tokens there are; its columns must be embedding_length.
static void readVocabulary(Blocks &blocks, Hyperparameters &h) {
  Metadata &meta = blocks.metadata();
  auto [rows, columns] = blocks.sizeOf("token_embd.weight");
  h.nVocab = std::max<int64_t>(rows, 1);
  int64_t claimed = meta.integerOr(".vocab_size", rows, 1, INT32_MAX);
  if (rows == 0)
    return;
  if (claimed != rows)
    meta.warn(".vocab_size", "found " + Twine(claimed) + ", but token_embd.weight has " +
                                 Twine(rows) + " rows; the rows are used");
  if (columns != h.nEmbd)
    meta.fail(".embedding_length", "found " + Twine(h.nEmbd),
              Twine(columns) + ", the length of the rows of token_embd.weight");
}

Hyperparameters readHyperparameters(Blocks &blocks) {
  Metadata &meta = blocks.metadata();
  Hyperparameters h;
  h.nLayer = meta.integer(".block_count", 1, 1024);
  h.nEmbd = meta.integer(".embedding_length", 1, maxWidth);
  h.nCtx = meta.integer(".context_length", 1, INT32_MAX);
  readVocabulary(blocks, h);
  h.nHead = meta.perLayer(".attention.head_count", h.nLayer, {}, 1, maxHeads);
  h.headDim = readHeadDim(meta, h);
  h.nHeadKV = h.nHead;
  if (meta.has(".attention.head_count_kv"))
    h.nHeadKV = meta.perLayer(".attention.head_count_kv", h.nLayer, {}, 1, maxHeads);
  for (int64_t i = 0; i < h.nLayer; ++i)
    if (h.nHead[i] % h.nHeadKV[i] != 0)
      meta.fail(".attention.head_count_kv", "found " + Twine(h.nHeadKV[i]),
                "a divisor of head_count " + Twine(h.nHead[i]));
  h.nFf = meta.perLayer(".feed_forward_length", h.nLayer, {}, 1, maxWidth);
  h.eps = meta.number(".attention.layer_norm_rms_epsilon", 0, 1e-2);
  return h;
}

ExpertSpec readExperts(Blocks &blocks) {
  Metadata &meta = blocks.metadata();
  ExpertSpec spec;
  spec.nExpert = meta.integerOr(".expert_count", 0, 0, 4096);
  if (spec.nExpert == 0)
    meta.integerOr(".expert_used_count", 0, 0, 0);
  else
    spec.nUsed = meta.integer(".expert_used_count", 1, spec.nExpert);
  return spec;
}

/// Magnitude and ramp of YaRN. Files say the magnitude in one of two ways: yarn_attn_factor is the
/// whole of it, attn_factor multiplies the usual 1 + 0.1 ln(factor).
static void readYarn(Metadata &meta, RopeSpec &r, float factor) {
  r.extFactor = 1;
  r.betaFast = meta.numberOr(".rope.scaling.yarn_beta_fast", 32, 0, 1e6);
  r.betaSlow = meta.numberOr(".rope.scaling.yarn_beta_slow", 1, 0, 1e6);
  if (meta.has(".rope.scaling.yarn_attn_factor"))
    r.attnFactor =
        meta.number(".rope.scaling.yarn_attn_factor", 0, 1e6) / (1 + 0.1f * std::log(factor));
}

/// Scaling of the frequencies: none, linear, yarn, or by the factors of longrope.
static void readScaling(Metadata &meta, RopeSpec &r, const Hyperparameters &h, bool hasFactors) {
  std::string kind = meta.textOr(".rope.scaling.type", hasFactors ? "longrope" : "linear");
  if (!llvm::is_contained({"none", "linear", "yarn", "longrope"}, kind))
    meta.fail(".rope.scaling.type", "found " + gguf::escaped(kind),
              "none, linear, yarn or longrope", "str");
  if (kind == "longrope" && !hasFactors)
    meta.fail(".rope.scaling.type",
              "found longrope, but the file has no "
              "rope_factors_long.weight and rope_factors_short.weight",
              "none, linear or yarn", "str");
  StringRef key = meta.has(".rope.scale_linear") ? ".rope.scale_linear" : ".rope.scaling.factor";
  float factor = meta.numberOr(key, 1, 0, 1e6);
  r.nCtxOrig = meta.integerOr(".rope.scaling.original_context_length", h.nCtx, 1, INT32_MAX);
  if (kind == "none")
    return;
  r.attnFactor = meta.numberOr(".rope.scaling.attn_factor", 1, 0, 1e6);
  if (kind != "longrope")
    r.freqScale = 1 / factor;
  if (kind == "yarn")
    readYarn(meta, r, factor);
}

RopeSpec readRope(Blocks &blocks, StringRef mode, const Hyperparameters &h) {
  Metadata &meta = blocks.metadata();
  RopeSpec r;
  r.mode = mode;
  r.nDims = meta.integerOr(".rope.dimension_count", h.headDim, 2, h.headDim);
  if (r.nDims % 2 != 0)
    meta.fail(".rope.dimension_count", "found " + Twine(r.nDims), "an even number");
  r.base = meta.numberOr(".rope.freq_base", 10000, 0, 1e12);
  bool hasFactors = blocks.hasWeight("rope_factors_long.weight");
  readScaling(meta, r, h, hasFactors);
  if (!hasFactors) {
    r.factors = blocks.optionalWeight("rope_freqs.weight", {r.nDims / 2});
    return r;
  }
  Value longer = blocks.weight("rope_factors_long.weight", {r.nDims / 2});
  Value shorter = blocks.weight("rope_factors_short.weight", {r.nDims / 2});
  r.factors = blocks.contextLength() > r.nCtxOrig ? longer : shorter;
  return r;
}

} // namespace vetro
