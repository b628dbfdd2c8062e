// llama: Llama 1-3, Mistral, Mixtral, SmolLM, TinyLlama (Touvron et al. 2023, Jiang et al. 2024).
// A layer: norm, attention with grouped heads, rotation of neighbouring pairs (files keep the rows
// of Q and K in that order), residual, norm, gated SiLU feed-forward or a mixture of them,
// residual.
#include "frontends/Architecture.h"
#include "frontends/Hyperparameters.h"

#include <cmath>

using mlir::Value;

namespace vetro::arch {

static void build(Blocks &m) {
  Hyperparameters h = readHyperparameters(m);
  RopeSpec rope = readRope(m, "norm", h);
  ExpertSpec experts = readExperts(m);
  if (m.failed())
    return;
  float scale = 1 / std::sqrt(float(h.headDim));
  Value x = m.embed(h.nVocab, h.nEmbd);
  for (int i = 0; i < h.nLayer; ++i) {
    auto name = [i](llvm::StringRef suffix) { return Blocks::layerName(i, suffix); };
    Value attnNorm = m.rmsNorm(x, name("attn_norm"), h.eps, name("attn_norm"));
    Value q = m.heads(attnNorm, name("attn_q"), h.nHead[i], h.headDim, name("q"));
    Value k = m.heads(attnNorm, name("attn_k"), h.nHeadKV[i], h.headDim, name("k"));
    Value v = m.heads(attnNorm, name("attn_v"), h.nHeadKV[i], h.headDim, name("v"));
    q = m.rope(q, rope, name("q_rope"));
    k = m.rope(k, rope, name("k_rope"));
    Value ctx = m.attention(q, k, v, i, {h.nHead[i], h.nHeadKV[i], h.headDim, scale});
    Value out = m.linear(ctx, name("attn_output"), h.nEmbd, name("attn_out"));
    Value mid = m.add(out, x, name("resid_mid"));
    Value ffnNorm = m.rmsNorm(mid, name("ffn_norm"), h.eps, name("ffn_norm"));
    Value ffn = experts.nExpert ? m.expertFfn(ffnNorm, i, experts, h.nFf[i], "silu")
                                : m.gatedFfn(ffnNorm, i, h.nFf[i], "silu");
    x = m.add(ffn, mid, name("l_out"));
  }
  m.head(x, h.nVocab, h.eps);
}

// Files keep the rows of Q and K as neighbouring pairs, transformers as halves.
static constexpr llvm::StringLiteral qk = "drop_batch,split_heads,halves_to_pairs",
                                     rotated = "drop_batch,heads_second,halves_to_pairs";
static constexpr ValueAlignment alignment[] = {
    {"blk.*.q", "model.layers.*.self_attn.q_proj", "output", qk},
    {"blk.*.k", "model.layers.*.self_attn.k_proj", "output", qk},
    {"blk.*.q_rope", ropeFunction, "q", rotated, true},
    {"blk.*.k_rope", ropeFunction, "k", rotated, true},
    {"blk.*.k_cache", attentionFunction, "key", rotated, true},
};

static constexpr llvm::StringLiteral modelTypes[] = {"mistral", "mixtral"};

extern const Architecture llama{"llama", build, {}, alignment, /*mixtures=*/true, modelTypes};

} // namespace vetro::arch
