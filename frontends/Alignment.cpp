// The rows that decoders share.
#include "frontends/Alignment.h"
#include "frontends/Architecture.h"

namespace vetro {

static constexpr llvm::StringLiteral rows = "drop_batch", heads = "drop_batch,split_heads",
                                     headsFirst = "drop_batch,heads_second";

static constexpr ValueAlignment decoder[] = {
    {"embed", "model.embed_tokens", "output", rows},
    {"blk.*.attn_norm", "model.layers.*.input_layernorm", "output", rows},
    {"blk.*.q", "model.layers.*.self_attn.q_proj", "output", heads},
    {"blk.*.k", "model.layers.*.self_attn.k_proj", "output", heads},
    {"blk.*.v", "model.layers.*.self_attn.v_proj", "output", heads},
    {"blk.*.q_rope", ropeFunction, "q", headsFirst, true},
    {"blk.*.k_rope", ropeFunction, "k", headsFirst, true},
    {"blk.*.k_cache", attentionFunction, "key", headsFirst, true},
    {"blk.*.v_cache", attentionFunction, "value", headsFirst, true},
    {"blk.*.attn_scores", attentionFunction, "scores", headsFirst, true},
    {"blk.*.attn_probs", attentionFunction, "probs", headsFirst, true},
    {"blk.*.attn_ctx", "model.layers.*.self_attn.o_proj", "input", rows},
    {"blk.*.attn_out", "model.layers.*.self_attn.o_proj", "output", rows},
    {"blk.*.resid_mid", "model.layers.*.post_attention_layernorm", "input", rows},
    {"blk.*.ffn_norm", "model.layers.*.post_attention_layernorm", "output", rows},
    {"blk.*.ffn_gate", "model.layers.*.mlp.gate_proj", "output", rows},
    {"blk.*.ffn_up", "model.layers.*.mlp.up_proj", "output", rows},
    {"blk.*.ffn_act", "model.layers.*.mlp.down_proj", "input", rows},
    {"blk.*.ffn_out", "model.layers.*.mlp", "output", rows},
    {"blk.*.l_out", "model.layers.*", "output", rows},
    {"final_norm", "model.norm", "output", rows},
    {"logits", modelFunction, "logits", rows, true},
};

std::vector<ValueAlignment> alignmentOf(const Architecture &architecture) {
  std::vector<ValueAlignment> all(architecture.alignment.begin(), architecture.alignment.end());
  for (const ValueAlignment &row : decoder)
    if (llvm::none_of(architecture.alignment,
                      [&](const ValueAlignment &own) { return own.name == row.name; }))
      all.push_back(row);
  return all;
}

} // namespace vetro
