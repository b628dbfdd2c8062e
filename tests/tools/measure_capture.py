#!/usr/bin/env python3
"""The memory of a capture, whole and layer by layer, and that both write the same file.

    PYTHONPATH=build/python python3 tests/tools/measure_capture.py [--tokens 600]

SmolLM2 from its GGUF file and from a checkpoint in F32 made of it, and a wide model of random weights:
layers of 240 MB. Each capture is a process of its own; its peak (VmHWM) is what it has more than after
its imports. Prints a table for docs/measurements.md; exit code 1 if a pair of files differs.
"""

import argparse
import hashlib
import random
import subprocess
import sys
import tempfile
from pathlib import Path

CAPTURE = """
import sys, time, torch, accelerate, gguf
import transformers.models.llama.modeling_llama
from vetro.torch import capture, load
torch.set_num_threads(2)
def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) // 1024
path, target, ids, by_layer = sys.argv[1:]
imports, begin = peak(), time.time()
model = load(path, by_layer=by_layer == "by")
loaded = peak()
capture(model, [int(i) for i in ids.split(",")], target)
print(loaded - imports, peak() - imports, round(time.time() - begin))
"""

WIDE = """
import sys, torch
from transformers import LlamaConfig, LlamaForCausalLM
torch.manual_seed(1)
LlamaForCausalLM(LlamaConfig(hidden_size=2048, intermediate_size=8192, num_hidden_layers=6,
    num_attention_heads=16, num_key_value_heads=8, vocab_size=32000)).save_pretrained(
    sys.argv[1], max_shard_size="500MB")
"""

CHECKPOINT = """
import sys
from vetro.torch import load
load(sys.argv[1]).save_pretrained(sys.argv[2], max_shard_size="100MB")
"""


def python(code, *arguments):
    done = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"measure_capture: {done.stderr}")
    return done.stdout


def sum_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def weights_mb(path):
    files = [path] if path.is_file() else path.glob("*.safetensors")
    return sum(file.stat().st_size for file in files) // 2**20


def measure(name, path, count, folder):
    """Prints two rows; whether both files are the same."""
    ids = ",".join(str(random.Random(i).randrange(300, 30000)) for i in range(count))
    sums = []
    for way in "whole", "by":
        target = folder / "capture.safetensors"
        loaded, peak, seconds = python(CAPTURE, path, target, ids, way).split()
        size = target.stat().st_size // 2**20
        print(f"| {name} | {weights_mb(path)} | {count} | {'layer by layer' if way == 'by' else way} | "
              f"{loaded} | {peak} | {seconds} | {size} |", flush=True)
        sums.append(sum_of(target))
    return sums[0] == sums[1]


def main():
    root = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", type=Path, default=root / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf")
    parser.add_argument("--tokens", default="5,600")
    options = parser.parse_args()
    print("| weights from | MB of files | tokens | | loaded, MB | peak, MB | seconds | MB captured |")
    print("|---|---|---|---|---|---|---|---|")
    same = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python(CHECKPOINT, options.model, folder / "f32")
        python(WIDE, folder / "wide")
        for label, path in (("SmolLM2, GGUF Q4_1", options.model), ("SmolLM2, checkpoint F32", folder / "f32"),
                            ("wide model, checkpoint F32", folder / "wide")):
            for count in map(int, options.tokens.split(",")):
                same &= measure(label, path, count, folder)
    print("\n" + ("both ways write the same file" if same else "the files differ"))
    sys.exit(not same)


if __name__ == "__main__":
    main()
