#!/usr/bin/env python3
"""Does our error fall with the reference's precision, as it should where ours is not what is off?

    PYTHONPATH=build/python python3 tests/tools/measure_precision.py [--model smollm2|gemma3]

A model of F32 weights (the file's, dequantised) runs once here with K and V in F32, and in PyTorch in
each type. Prints a table for docs/measurements.md: signal to noise of ours against each, and against
BF16 where ours rounds with it. Exit code 1 where a finer reference is further away.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import gguf
import numpy as np
import torch

import make_golden_models as models
import make_golden_torch as reference
from make_golden_torch import vetro
from measure_diff import prompt, run

TYPES = ("bfloat16", "float16", "float32", "float64")


def dequantised(source, target):
    """A copy of a model whose weights are all F32, its metadata as they are."""
    reader = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(target, reader.get_field("general.architecture").contents())
    for name, field in reader.fields.items():
        if name.startswith("GGUF.") or name in ("general.architecture", "general.file_type"):
            continue
        kind = field.types[0]
        writer.add_key_value(name, field.contents(), kind,
                             field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None)
    for tensor in reader.tensors:
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        writer.add_tensor(tensor.name, np.ascontiguousarray(values, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def signal(program, ours, theirs):
    """(lowest of the layers' outputs, logits) in dB."""
    done = subprocess.run([program, "diff", ours, theirs, "--all", "--json"], capture_output=True,
                          text=True)
    rows = {row["name"]: float("inf") if row["snr_db"] is None else row["snr_db"]
            for row in json.loads(done.stdout)["rows"]}
    return min(snr for name, snr in rows.items() if name.endswith(".l_out")), rows["logits"]


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--model", default="smollm2")
    options.add_argument("--vetro", default="build/bin/vetro")
    options.add_argument("--models-dir", default="models", type=Path)
    options = options.parse_args()
    model = next(m for m in models.MODELS if m.key == options.model)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        path, theirs, ours = (f"{folder}/{name}" for name in ("f32.gguf", "torch.st", "ours.st"))
        dequantised(models.model_path(options.models_dir, model), path)
        ids = ",".join(map(str, prompt(model, 10)))
        dump = ["dump", path, "--ids", ids, "--hooks", "*", "-o", ours, "--kv", "f32"]
        run(options.vetro, *dump)
        for dtype in TYPES:
            net = vetro.torch.load(path, dtype=getattr(torch, dtype))
            vetro.torch.capture(net, prompt(model, 10), theirs)
            found[dtype] = signal(options.vetro, ours, theirs)
            if dtype == "bfloat16":
                run(options.vetro, *dump, "--reference", "--round", "bf16")
                found["bfloat16, ours rounds with it"] = signal(options.vetro, ours, theirs)
                run(options.vetro, *dump)
    for name, (layer, logits) in found.items():
        print(f"| {model.key} | {name} | {layer:.1f} | {logits:.1f} |")
    rising = [found[dtype][0] for dtype in TYPES]
    if rising[:3] != sorted(rising[:3]) or rising[3] < rising[2] - 3:
        sys.exit("measure_precision: a finer reference is further away")


if __name__ == "__main__":
    main()
