// gemma3: Gemma 3 (Gemma Team 2025).
// A layer: norm, attention with normed queries and keys and half-paired rotation, post-norm,
// residual, norm, gated GELU feed-forward, post-norm, residual. All layers but every n-th see a
// window only and rotate with a base of their own. The norms' +1 is in the file's weights.
#include "frontends/Architecture.h"
#include "frontends/Hyperparameters.h"

#include <cmath>

using mlir::Value;

namespace vetro::arch {

namespace {
/// What differs between layers that see a window and layers that see all.
struct Windows {
  std::vector<int64_t> window; ///< per layer; 0: no window
  RopeSpec full, local;
};
} // namespace

static Windows readWindows(Blocks &m, const Hyperparameters &h) {
  Metadata &meta = m.metadata();
  Windows w;
  w.full = w.local = readRope(m, "neox", h);
  w.local.base = meta.numberOr(".rope.freq_base_swa", 10000, 0, 1e12);
  w.local.freqScale = 1; // scaling stretches the layers that see all
  int64_t size = meta.integerOr(".attention.sliding_window", 0, 0, INT32_MAX);
  w.window.assign(h.nLayer, size);
  // A number n: every n-th layer is full. An array: which layers see a window.
  if (meta.isArray(".attention.sliding_window_pattern")) {
    auto local = meta.perLayer(".attention.sliding_window_pattern", h.nLayer, {}, 0, 1);
    for (int64_t i = 0; i < h.nLayer; ++i)
      w.window[i] = local[i] ? size : 0;
    return w;
  }
  int64_t every = meta.integerOr(".attention.sliding_window_pattern", 6, 1, 1024);
  for (int64_t i = every - 1; i < h.nLayer; i += every)
    w.window[i] = 0;
  return w;
}

static void build(Blocks &m) {
  Hyperparameters h = readHyperparameters(m);
  Windows w = readWindows(m, h);
  float cap = m.metadata().numberOr(".final_logit_softcapping", 0, -1, 1e6);
  if (m.failed())
    return;
  // Only the 62-layer model (27B) scales by width / heads instead of the head size.
  float scaled = h.nLayer == 62 ? float(h.nEmbd) / h.nHead[0] : float(h.headDim);
  float scale = 1 / std::sqrt(scaled);
  Value x = m.embed(h.nVocab, h.nEmbd, std::sqrt(float(h.nEmbd)));
  for (int i = 0; i < h.nLayer; ++i) {
    auto name = [i](llvm::StringRef suffix) { return Blocks::layerName(i, suffix); };
    const RopeSpec &rope = w.window[i] ? w.local : w.full;
    Value attnNorm = m.rmsNorm(x, name("attn_norm"), h.eps, name("attn_norm"));
    Value q = m.heads(attnNorm, name("attn_q"), h.nHead[i], h.headDim, name("q"));
    Value k = m.heads(attnNorm, name("attn_k"), h.nHeadKV[i], h.headDim, name("k"));
    Value v = m.heads(attnNorm, name("attn_v"), h.nHeadKV[i], h.headDim, name("v"));
    q = m.rope(m.rmsNorm(q, name("attn_q_norm"), h.eps, name("q_norm")), rope, name("q_rope"));
    k = m.rope(m.rmsNorm(k, name("attn_k_norm"), h.eps, name("k_norm")), rope, name("k_rope"));
    AttentionSpec spec{h.nHead[i], h.nHeadKV[i], h.headDim, scale, 0, w.window[i]};
    Value out =
        m.linear(m.attention(q, k, v, i, spec), name("attn_output"), h.nEmbd, name("attn_out"));
    Value post = m.rmsNorm(out, name("post_attention_norm"), h.eps, name("attn_post_norm"));
    Value mid = m.add(post, x, name("resid_mid"));
    Value ffnNorm = m.rmsNorm(mid, name("ffn_norm"), h.eps, name("ffn_norm"));
    Value ffn = m.gatedFfn(ffnNorm, i, h.nFf[i], "gelu");
    Value ffnPost = m.rmsNorm(ffn, name("post_ffw_norm"), h.eps, name("ffn_post_norm"));
    x = m.add(ffnPost, mid, name("l_out"));
  }
  m.head(x, h.nVocab, h.eps, cap);
}

static constexpr llvm::StringLiteral keys[] = {
    ".attention.sliding_window=u32:512",
    ".attention.sliding_window_pattern=u32:6",
    ".rope.freq_base=f32:1e6",
};
static constexpr llvm::StringLiteral tinyKeys[] = {
    ".attention.sliding_window=u32:6",
    ".attention.sliding_window_pattern=u32:2",
};

// transformers norms Q and K after it moved the heads forward.
static constexpr llvm::StringLiteral headsFirst = "drop_batch,heads_second", rows = "drop_batch";
static constexpr ValueAlignment alignment[] = {
    {"blk.*.q_norm", "model.layers.*.self_attn.q_norm", "output", headsFirst},
    {"blk.*.k_norm", "model.layers.*.self_attn.k_norm", "output", headsFirst},
    {"blk.*.attn_post_norm", "model.layers.*.post_attention_layernorm", "output", rows},
    {"blk.*.resid_mid", "model.layers.*.pre_feedforward_layernorm", "input", rows},
    {"blk.*.ffn_norm", "model.layers.*.pre_feedforward_layernorm", "output", rows},
    {"blk.*.ffn_post_norm", "model.layers.*.post_feedforward_layernorm", "output", rows},
};

// transformers' Gemma3RMSNorm computes in F32, its weight's +1 included; the embedding's factor is
// a number of the model's type.
static constexpr llvm::StringLiteral norms[] = {
    "blk.*.attn_norm", "blk.*.q_norm",        "blk.*.k_norm", "blk.*.attn_post_norm",
    "blk.*.ffn_norm",  "blk.*.ffn_post_norm", "final_norm"};
static constexpr llvm::StringLiteral scaled[] = {"embed"};

static constexpr llvm::StringLiteral modelTypes[] = {"gemma3_text"};

extern const Architecture gemma3{"gemma3",           build,      {"llama", keys, tinyKeys},
                                 alignment,
                                 /*mixtures=*/false, modelTypes, {norms, 1, scaled}};

} // namespace vetro::arch
