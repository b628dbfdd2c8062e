"""A GGUF file in PyTorch: F32 on dequantised weights, eager attention, every value observable.

`load` gives transformers' model; `greedy`, `logits_of` and `capture` run it. `capture` returns the
values of one prompt under Vetro's names and in Vetro's layouts (docs/tensor-names.md).
"""

import contextlib
import importlib

import torch
from transformers import AutoModelForCausalLM, GgufConfig
from transformers.utils import logging

MODULE = {"llama": "transformers.models.llama.modeling_llama",
          "gemma3_text": "transformers.models.gemma3.modeling_gemma3"}


def load(path):
    """The model in F32. Packed weights exist for some architectures only: dequantise everywhere."""
    logging.disable_progress_bar()
    model = AutoModelForCausalLM.from_pretrained(
        str(path.parent), gguf_file=path.name, dtype=torch.float32, attn_implementation="eager",
        quantization_config=GgufConfig(dequantize=True))
    return model.eval()


@torch.no_grad()
def logits_of(model, ids):
    """Logits [T, n_vocab] of one prompt, all positions in one pass, no cache."""
    return model(torch.tensor([ids]), use_cache=False).logits[0]


@torch.no_grad()
def greedy(model, ids, steps):
    """`steps` greedy ids and for each the first minus the second logit; ends never stop it."""
    out, margins = [], []
    result = model(torch.tensor([ids]), use_cache=True)
    for _ in range(steps):
        best = torch.topk(result.logits[0, -1], 2)
        out.append(int(best.indices[0]))
        margins.append(float(best.values[0]) - float(best.values[1]))
        result = model(torch.tensor([[out[-1]]]), use_cache=True, cache=result.cache)
    return out, margins


class Recorder:
    """Collects values by name; module hooks and the patched functions call `put`."""

    def __init__(self):
        self.values = {}
        self.layer = None  # index of the layer that runs now: functions have no module to ask

    def put(self, name, value):
        name = name if self.layer is None else f"blk.{self.layer}.{name}"
        if name in self.values:
            raise RuntimeError(f"'{name}' was captured twice")
        self.values[name] = value.detach().clone()

    def output(self, name):
        return lambda _module, _inputs, result: self.put(name, result[0])

    def input(self, name):
        return lambda _module, inputs: self.put(name, inputs[0][0])


def _heads_first_to_tokens_first(value):
    return value[0].transpose(0, 1)  # [1, H, T, d] -> [T, H, d]


def _patched_rope(record, original):
    def rope(q, k, *args, **kwargs):
        q_rope, k_rope = original(q, k, *args, **kwargs)
        record.put("q_rope", _heads_first_to_tokens_first(q_rope))
        record.put("k_rope", _heads_first_to_tokens_first(k_rope))
        return q_rope, k_rope
    return rope


def _patched_attention(record):
    """transformers' eager attention in the same order of operations, with its middle visible."""
    def attention(module, query, key, value, attention_mask, scaling, **_ignored):
        groups = module.num_key_value_groups
        record.put("k_cache", _heads_first_to_tokens_first(key))
        record.put("v_cache", _heads_first_to_tokens_first(value))
        keys = key.repeat_interleave(groups, dim=1)
        values = value.repeat_interleave(groups, dim=1)
        scores = torch.matmul(query, keys.transpose(2, 3)) * scaling
        record.put("attn_scores", _heads_first_to_tokens_first(scores))
        probs = torch.softmax(scores + attention_mask, dim=-1)
        record.put("attn_probs", _heads_first_to_tokens_first(probs))
        context = torch.matmul(probs, values).transpose(1, 2).contiguous()
        return context, probs
    return attention


@contextlib.contextmanager
def _patched_functions(model, record):
    module = importlib.import_module(MODULE[model.config.model_type])
    rope, attention = module.apply_rotary_pos_emb, module.eager_attention_forward
    module.apply_rotary_pos_emb = _patched_rope(record, rope)
    module.eager_attention_forward = _patched_attention(record)
    try:
        yield
    finally:
        module.apply_rotary_pos_emb, module.eager_attention_forward = rope, attention


def _hook_layer(record, layer, index, gemma):
    attention, mlp = layer.self_attn, layer.mlp

    def enter(_module, _inputs):
        record.layer = index

    def leave(_module, _inputs, result):
        record.put("l_out", (result[0] if isinstance(result, tuple) else result)[0])
        record.layer = None

    handles = [layer.register_forward_pre_hook(enter)]
    outputs = [("attn_norm", layer.input_layernorm), ("q", attention.q_proj),
               ("k", attention.k_proj), ("v", attention.v_proj), ("attn_out", attention.o_proj),
               ("ffn_gate", mlp.gate_proj), ("ffn_up", mlp.up_proj), ("ffn_out", mlp)]
    inputs = [("attn_ctx", attention.o_proj), ("ffn_act", mlp.down_proj)]
    if gemma:
        outputs += [("q_norm", attention.q_norm), ("k_norm", attention.k_norm),
                    ("attn_post_norm", layer.post_attention_layernorm),
                    ("ffn_norm", layer.pre_feedforward_layernorm),
                    ("ffn_post_norm", layer.post_feedforward_layernorm)]
        inputs += [("resid_mid", layer.pre_feedforward_layernorm)]
    else:
        outputs += [("ffn_norm", layer.post_attention_layernorm)]
        inputs += [("resid_mid", layer.post_attention_layernorm)]
    handles += [module.register_forward_hook(record.output(name)) for name, module in outputs]
    handles += [module.register_forward_pre_hook(record.input(name)) for name, module in inputs]
    return handles + [layer.register_forward_hook(leave)]


def _to_file_rows(value):
    """transformers' rotary halves [.., d] to the file's pairs: ours[2i+r] = theirs[r*d/2+i]."""
    halves = value.unflatten(-1, (2, value.shape[-1] // 2))
    return halves.transpose(-1, -2).flatten(-2).contiguous()


def _to_vetro_layout(name, value, head_dim, permuted_qk):
    kind = name.rsplit(".", 1)[-1]
    if kind in ("q_norm", "k_norm"):  # gemma3 normalises after the heads moved forward: [H, T, d]
        value = value.transpose(0, 1)
    if kind in ("q", "k", "v"):
        value = value.unflatten(-1, (-1, head_dim))
    if permuted_qk and kind in ("q", "k", "q_rope", "k_rope", "k_cache"):
        value = _to_file_rows(value)
    return value.contiguous()


@torch.no_grad()
def capture(model, ids, permuted_qk):
    """All values of one prompt: {name: tensor}, rows in token order, dtype that of the model.

    q, k, v, q_norm, k_norm, q_rope, k_rope are [T, H, d] in the file's own row order; attn_scores
    (after the scale, before the mask) and attn_probs [T, H, T]; k_cache, v_cache [T, Hkv, d];
    everything else [T, width].
    """
    record = Recorder()
    base, gemma = model.model, model.config.model_type == "gemma3_text"
    handles = [base.embed_tokens.register_forward_hook(record.output("embed")),
               base.norm.register_forward_hook(record.output("final_norm"))]
    for index, layer in enumerate(base.layers):
        handles += _hook_layer(record, layer, index, gemma)
    try:
        with _patched_functions(model, record):
            record.values["logits"] = logits_of(model, ids).clone()
    finally:
        for handle in handles:
            handle.remove()
    return {name: _to_vetro_layout(name, value, model.config.head_dim, permuted_qk)
            for name, value in record.values.items()}
