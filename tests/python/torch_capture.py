"""Captures of PyTorch's models: whole and layer by layer, the same file, and what is refused."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM
from transformers.utils import logging

import support
from vetro.spool import Spool
from vetro.torch import CaptureError, capture, load, values

logging.disable_progress_bar()
IDS = [5, 300, 77, 12, 9]


def tiny(arch, kind="Q8_0"):
    """A random model's file."""
    path = support.folder / f"{arch}.{kind}.gguf"
    if not path.exists():  # transformers takes heads of 256 where a file of Gemma's names no length
        lengths = ("--override-kv", "gemma3.attention.key_length=u32:64",
                   "--override-kv", "gemma3.attention.value_length=u32:64") if arch == "gemma3" else ()
        support.run("make-tiny", "--arch", arch, "--type", kind, "--layers", "2", "-o", path, *lengths)
    return path


def captured(path, name, by_layer, **more):
    """The bytes of a capture and of its index, and the names that it misses."""
    target = support.folder / name
    missing = capture(load(path, by_layer=by_layer), IDS, target, **more)
    return target.read_bytes(), pathlib.Path(f"{target}.index.json").read_bytes(), missing


class LayerByLayerTest(unittest.TestCase):
    def test_the_file_is_that_of_the_whole_model(self):
        for arch in "llama", "gemma3":
            file, folder = tiny(arch), support.folder / f"{arch}.checkpoint"
            load(file).save_pretrained(folder, max_shard_size="300KB")
            self.assertGreater(len(list(folder.glob("*.safetensors"))), 2)
            whole = captured(file, "whole.safetensors", by_layer=False)
            self.assertEqual(whole[2], [])
            for name, path in ("file", file), ("folder", folder):
                with self.subTest(f"{arch}, {name}"):
                    self.assertEqual(captured(path, f"{name}.safetensors", by_layer=True), whole)

    def test_other_types(self):
        file = tiny("llama")
        for dtype in torch.float64, torch.bfloat16:
            both = [values(load(file, dtype, by_layer), IDS) for by_layer in (False, True)]
            self.assertEqual(both[0]["blk.1.l_out"].dtype, dtype)
            for name in both[0]:
                self.assertTrue(torch.equal(both[0][name], both[1][name]), name)

    def test_a_model_runs_again_and_holds_nothing_between(self):
        model = load(tiny("llama"), by_layer=True)
        first = values(model, IDS)["logits"]
        self.assertTrue(all(p.is_meta for p in model.parameters()))
        self.assertTrue(torch.equal(values(model, IDS)["logits"], first))

    def test_memory(self):
        """Of a model of 4 layers of 21 MB at most, the weights of a module are held at a time."""
        folder = support.folder / "wide"
        LlamaForCausalLM(LlamaConfig(
            hidden_size=768, intermediate_size=1536, num_hidden_layers=16, num_attention_heads=8,
            num_key_value_heads=8, vocab_size=1000)).save_pretrained(folder, max_shard_size="50MB")
        weights = sum(f.stat().st_size for f in folder.glob("*.safetensors")) / 2**20
        peaks = [float(subprocess.run(
            [sys.executable, "-c", PEAK, folder, support.folder / "wide.safetensors", by_layer],
            env={"PYTHONPATH": support.package}, capture_output=True, text=True, check=True).stdout)
            for by_layer in ("", "yes")]
        self.assertGreater(weights, 350)
        self.assertLess(peaks[1], peaks[0] - weights / 2)


PEAK = """
import sys, torch
from vetro.torch import capture, load
def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) / 1024
folder, target, by_layer = sys.argv[1:]
import transformers.models.llama.modeling_llama, accelerate
before = peak()
capture(load(folder, by_layer=bool(by_layer)), [1, 2, 3], target, arch="llama")
print(peak() - before)
"""


class RefusalTest(unittest.TestCase):
    def refused(self, part, work):
        with self.assertRaises(CaptureError) as caught:
            work()
        self.assertIn(part, str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))

    def test_a_weight_that_the_source_lacks(self):
        folder = support.folder / "lacking"
        load(tiny("llama")).save_pretrained(folder)
        weights = load_file(folder / "model.safetensors")
        del weights["model.layers.1.mlp.up_proj.weight"]
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
        mixture = support.folder / "mixture.gguf"
        support.run("make-tiny", "--arch", "llama", "--type", "F32", "--layers", "1", "-o", mixture,
                    "--override-kv", "llama.expert_count=u32:4",
                    "--override-kv", "llama.expert_used_count=u32:2")
        wide = support.folder / "wide.gguf"
        support.run("make-tiny", "--arch", "gemma3", "--type", "F32", "--layers", "1", "-o", wide)
        for by_layer in False, True:
            self.refused("lacks model.layers.1.mlp.up_proj.weight", lambda: load(folder, by_layer=by_layer))
            self.refused("lacks model.layers.0.mlp.", lambda: load(mixture, by_layer=by_layer))
            self.refused("k_norm.weight is [64], expected [256]", lambda: load(wide, by_layer=by_layer))

    def test_a_model_without_numbers(self):
        config = load(tiny("llama")).config
        with torch.device("meta"):
            model = AutoModelForCausalLM.from_config(config, attn_implementation="eager")
        target = support.folder / "none.safetensors"
        self.refused("has no numbers (device meta)", lambda: capture(model, IDS, target))
        self.assertFalse(target.exists())

    def test_what_hides_values(self):
        model = load(tiny("llama"))
        target = support.folder / "none.safetensors"
        self.refused("no token", lambda: capture(model, [], target))
        self.refused("outside the vocabulary", lambda: capture(model, [10**6], target))
        self.refused("unknown architecture", lambda: capture(model, IDS, target, arch="nobody"))
        model.set_attn_implementation("sdpa")
        self.refused("attn_implementation is 'sdpa'", lambda: capture(model, IDS, target))
        self.refused("no such file", lambda: load(support.folder / "nowhere"))
        self.assertFalse(target.exists())


class SpoolTest(unittest.TestCase):
    def test_safetensors_reads_what_it_wrote(self):
        tensors = {"b": torch.arange(3, dtype=torch.bfloat16), "f": torch.rand(2, 3),
                   "scalar": torch.tensor(2.5, dtype=torch.float64), "ids": torch.arange(5),
                   "bool": torch.tensor([True, False, True]), "none": torch.zeros(0, 4),
                   "turned": torch.rand(4, 3).T, "g": torch.rand(2, dtype=torch.float16)}
        target = support.folder / "spool.safetensors"
        with Spool(target) as spool:
            for name, tensor in tensors.items():
                spool.add(name, tensor)
            spool.write({"key": "value"})
            self.assertEqual(list(spool.described()), list(tensors))
        with safe_open(target, "pt") as file:
            self.assertEqual(file.metadata(), {"key": "value"})
            self.assertEqual(set(file.keys()), set(tensors))
            for name, tensor in tensors.items():
                self.assertTrue(torch.equal(file.get_tensor(name), tensor), name)
                self.assertEqual(file.get_tensor(name).dtype, tensor.dtype)

    def test_the_order_is_that_of_computation(self):
        data, _, _ = captured(tiny("llama"), "order.safetensors", by_layer=False)
        length = int.from_bytes(data[:8], "little")
        names = list(json.loads(data[8:8 + length]))[1:]
        self.assertEqual((names[0], names[1], names[-1]), ("embed", "blk.0.attn_norm", "logits"))
        self.assertLess(names.index("blk.0.l_out"), names.index("blk.1.q"))

    def test_nothing_is_left_of_what_was_not_written(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(ZeroDivisionError), Spool(f"{folder}/a") as spool:
                spool.add("x", torch.zeros(3))
                raise ZeroDivisionError
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [])


class CommandTest(unittest.TestCase):
    def test_by_layer(self):
        target = support.folder / "command.safetensors"
        arguments = [tiny("llama"), "--ids", ",".join(map(str, IDS)), "-o", target]
        command = [sys.executable, "-m", "vetro.torch", *map(str, arguments)]
        environment = {"PYTHONPATH": support.package}
        for more in [], ["--by-layer"]:
            done = subprocess.run(command + more, env=environment, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            shutil.copy(target, support.folder / f"command{len(more)}")
        self.assertEqual((support.folder / "command0").read_bytes(), (support.folder / "command1").read_bytes())
