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

// transformers/models/mixtral/modeling_mixtral.py: MixtralTopKRouter, MixtralExperts. Both see the
// tokens of all sequences as rows: there is no batch to drop.
static constexpr llvm::StringLiteral router = "model.layers.*.mlp.gate",
                                     mixed = "model.layers.*.mlp.experts",
                                     dense = "!model.layers.*.mlp.experts";

static constexpr ValueAlignment mixture[] = {
    {"blk.*.ffn_moe_logits", router, "output", "", false, mixed},
    {"blk.*.ffn_moe_probs", router, "probs", "", false, mixed},
    {"blk.*.ffn_moe_topk", router, "output.2", "", false, mixed},
    {"blk.*.ffn_moe_weights", router, "chosen", "", false, mixed},
    {"blk.*.ffn_moe_weights_norm", router, "output.1", "", false, mixed},
    {"blk.*.ffn_moe_gate", expertsFunction, "gate", "", true, mixed},
    {"blk.*.ffn_moe_up", expertsFunction, "up", "", true, mixed},
    {"blk.*.ffn_moe_act", expertsFunction, "act", "", true, mixed},
    {"blk.*.ffn_moe_down", expertsFunction, "down", "", true, mixed},
    {"blk.*.ffn_moe_weighted", expertsFunction, "weighted", "", true, mixed},
    {"blk.*.ffn_gate", "model.layers.*.mlp.gate_proj", "output", rows, false, dense},
    {"blk.*.ffn_up", "model.layers.*.mlp.up_proj", "output", rows, false, dense},
    {"blk.*.ffn_act", "model.layers.*.mlp.down_proj", "input", rows, false, dense},
};

std::vector<ValueAlignment> alignmentOf(const Architecture &architecture) {
  std::vector<ValueAlignment> all(architecture.alignment.begin(), architecture.alignment.end());
  auto add = [&](llvm::ArrayRef<ValueAlignment> shared) {
    for (const ValueAlignment &row : shared)
      if (llvm::none_of(all, [&](const ValueAlignment &own) { return own.name == row.name; }))
        all.push_back(row);
  };
  if (architecture.mixtures)
    add(mixture);
  add(decoder);
  return all;
}

} // namespace vetro
