"""Values inside mixtures of experts: transformers' Mixtral beside the same weights in a GGUF file."""

import functools
import json
import unittest

import gguf
import numpy as np
import torch
from safetensors import safe_open
from transformers import MixtralConfig, MixtralForCausalLM, model_addition_debugger_context
from transformers.modeling_gguf_pytorch_utils import LlamaTensorProcessor
from transformers.utils import logging

import support
from vetro.torch import CaptureError, capture, load, values

logging.disable_progress_bar()
IDS = [5, 300, 77, 12, 9, 41, 260, 3]
EXPERTS, USED = 6, 3
NAMES = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
         "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
         "attn_output": "self_attn.o_proj", "ffn_gate_inp": "mlp.gate"}
INSIDE = ("logits", "probs", "topk", "weights", "weights_norm", "gate", "up", "act", "down", "weighted")


@functools.cache
def mixture():
    """A random mixture's file."""
    path = support.folder / "moe.gguf"
    support.run("make-tiny", "--arch", "llama", "--type", "F32", "--layers", "2", "-o", path,
                "--override-kv", f"llama.expert_count=u32:{EXPERTS}",
                "--override-kv", f"llama.expert_used_count=u32:{USED}")
    return path


def configuration(reader):
    def key(name):
        return reader.fields[f"llama.{name}"].contents()
    tensors = {t.name: t for t in reader.tensors}
    return MixtralConfig(
        hidden_size=key("embedding_length"), num_hidden_layers=key("block_count"),
        intermediate_size=key("feed_forward_length"), num_attention_heads=key("attention.head_count"),
        num_key_value_heads=key("attention.head_count_kv"), num_local_experts=EXPERTS,
        num_experts_per_tok=USED, vocab_size=int(tensors["token_embd.weight"].shape[1]),
        rms_norm_eps=key("attention.layer_norm_rms_epsilon"), rope_theta=key("rope.freq_base"),
        head_dim=key("embedding_length") // key("attention.head_count"), sliding_window=None,
        tie_word_embeddings="output.weight" not in tensors, attn_implementation="eager",
        experts_implementation="eager", dtype=torch.float32)


@functools.cache
def mixtral():
    """The file's weights in transformers' model."""
    reader = gguf.GGUFReader(mixture())
    config = configuration(reader)
    rows = LlamaTensorProcessor(config.to_dict())
    found = {t.name: torch.from_numpy(np.copy(rows.process(np.copy(t.data), t.name).weights))
             for t in reader.tensors}
    state = {"model.embed_tokens.weight": found["token_embd.weight"],
             "model.norm.weight": found["output_norm.weight"],
             "lm_head.weight": found.get("output.weight", found["token_embd.weight"])}
    for i in range(config.num_hidden_layers):
        for ours, theirs in NAMES.items():
            state[f"model.layers.{i}.{theirs}.weight"] = found[f"blk.{i}.{ours}.weight"]
        both = [found[f"blk.{i}.ffn_{part}_exps.weight"] for part in ("gate", "up")]
        state[f"model.layers.{i}.mlp.experts.gate_up_proj"] = torch.cat(both, dim=1)
        state[f"model.layers.{i}.mlp.experts.down_proj"] = found[f"blk.{i}.ffn_down_exps.weight"]
    model = MixtralForCausalLM(config).eval()
    model.load_state_dict(state, strict=True)
    return model


class ExpertsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.theirs, cls.ours = support.folder / "mixtral.safetensors", support.folder / "moe.safetensors"
        cls.missing = capture(mixtral(), IDS, cls.theirs)
        support.run("dump", mixture(), "--ids", ",".join(map(str, IDS)), "--hooks", "*", "-o", cls.ours)
        cls.report = json.loads(support.run("diff", cls.ours, cls.theirs, "--model", mixture(), "--json"))

    def test_every_value_is_captured(self):
        self.assertEqual(self.missing, [])
        with safe_open(self.theirs, "pt") as file:
            names = set(file.keys())
            self.assertEqual(file.get_slice("blk.0.ffn_moe_gate").get_shape()[:2], [len(IDS), USED])
        self.assertLessEqual({f"blk.{i}.ffn_moe_{part}" for i in range(2) for part in INSIDE}, names)
        self.assertNotIn("blk.0.ffn_gate", names)

    def test_every_value_is_aligned_and_within_its_floor(self):
        self.assertEqual(self.report["first"], None)
        rows = {row["name"]: row for row in self.report["rows"]}
        for part in INSIDE:
            with self.subTest(part):
                self.assertTrue(rows[f"blk.1.ffn_moe_{part}"]["graph"])

    def test_the_result_is_the_sum_of_what_is_inside(self):
        found = values(mixtral(), IDS)
        for layer in range(2):
            parts = {part: found[f"blk.{layer}.ffn_moe_{part}"] for part in INSIDE}
            total = parts["weighted"].sum(1)
            torch.testing.assert_close(total, found[f"blk.{layer}.ffn_out"], rtol=1e-5, atol=1e-6)
            self.assertTrue(torch.equal(parts["probs"].gather(1, parts["topk"]), parts["weights"]))
            sums = parts["weights"].sum(1, keepdim=True)
            self.assertTrue(torch.equal(parts["weights"] / sums, parts["weights_norm"]))

    def test_watching_changes_nothing(self):
        with torch.no_grad():
            plain = mixtral()(torch.tensor([IDS]), use_cache=False).logits[0]
        self.assertTrue(torch.equal(values(mixtral(), IDS)["logits"], plain))
        self.assertEqual(mixtral().config._experts_implementation, "eager")

    def test_layer_by_layer(self):
        folder = support.folder / "mixtral"
        mixtral().save_pretrained(folder, max_shard_size="500KB")
        target = support.folder / "by_layer.safetensors"
        for by_layer in False, True:
            self.assertEqual(capture(load(folder, by_layer=by_layer), IDS, target), [])
            self.assertEqual(target.read_bytes(), self.theirs.read_bytes())

    def test_a_wrong_router_is_named(self):
        wrong = support.folder / "wrong.safetensors"
        gate = mixtral().model.layers[1].mlp.gate.weight.data
        right = gate.clone()
        self.addCleanup(gate.copy_, right)
        gate.mul_(1.01)
        capture(mixtral(), IDS, wrong)
        done = support.run("diff", self.ours, wrong, "--model", mixture(), "--json", code=1)
        self.assertEqual(json.loads(done)["first"]["name"], "blk.1.ffn_moe_logits")

    def test_transformers_own_debugger_has_what_the_router_puts_out(self):
        folder = support.folder / "tree"
        with model_addition_debugger_context(mixtral(), debug_path=str(folder), use_repr=False,
                                             do_prune_layers=False), torch.no_grad():
            mixtral().forward(torch.tensor([IDS]))
        found = json.loads(support.run("diff", self.ours, folder, "--model", mixture(), "--common", "--json"))
        self.assertEqual(found["first"], None)
        names = {row["name"] for row in found["rows"]}
        self.assertLessEqual({f"blk.{i}.ffn_moe_{part}" for i in range(2)
                              for part in ("logits", "topk", "weights_norm")}, names)

    def test_other_implementations_are_refused(self):
        mixtral().config._experts_implementation = "grouped_mm"
        self.addCleanup(setattr, mixtral().config, "_experts_implementation", "eager")
        with self.assertRaises(CaptureError) as caught:
            capture(mixtral(), IDS, support.folder / "none.safetensors")
        self.assertIn("experts_implementation is 'grouped_mm'", str(caught.exception))
