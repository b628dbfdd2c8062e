#!/usr/bin/env python3
"""Holds the real models against PyTorch value by value, as a user would: capture, dump, diff.

    python3 tests/tools/measure_diff.py [--model smollm2|gemma3] [--tokens 10,600]

Every name that the architecture aligns must be captured and compared, and nothing may pass its floor;
a name taken out of the reference must make the comparison fail. Prints a table for
docs/measurements.md; exit code 1 and a line for each miss.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file

import make_golden_models as models
import make_golden_torch as reference
from make_golden_torch import vetro


def run(program, *arguments, code=0):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != code:
        sys.exit(f"measure_diff: exit code {done.returncode}, expected {code}: {arguments}: "
                 f"{done.stderr}")
    return done


def prompt(model, count):
    """`count` ids that no text made, after the first one that the model expects."""
    chosen = random.Random(count)
    return [model.bos] + [chosen.randrange(300, 40000) for _ in range(count - 1)]


def without(source, name, target):
    """A copy of a safetensors file that lacks one tensor."""
    with safe_open(source, "pt") as file:
        save_file({key: file.get_tensor(key) for key in file.keys() if key != name}, target,
                  metadata=file.metadata())


def worst(rows, kind):
    """"ratio name" of the largest ratio to the floor, and the lowest signal-to-noise."""
    judged = [row for row in rows if row[kind]]
    top = max(judged, key=lambda row: row[kind]["ratio"])
    snr = min((row for row in judged if row[kind]["snr_db"] is not None),
              key=lambda row: row[kind]["snr_db"])
    return (f"{top[kind]['ratio']:.2f} `{top['name'].rsplit('.')[-1]}`",
            f"{snr[kind]['snr_db']:.1f} `{snr['name'].rsplit('.')[-1]}`")


def compare(options, model, net, count, folder):
    """The misses of one prompt."""
    path, misses = models.model_path(options.models_dir, model), []
    ids = prompt(model, count)
    ours, theirs = folder / "ours.safetensors", folder / "torch.safetensors"
    if missing := vetro.torch.capture(net, ids, theirs):
        misses.append(f"{len(missing)} names were not captured, {missing[0]} first")
    run(options.vetro, "dump", path, "--ids", ",".join(map(str, ids)), "--hooks", "*", "-o", ours)
    report = json.loads(run(options.vetro, "diff", ours, theirs, "--model", path, "--threads", 2,
                            "--json").stdout)
    rows = report["rows"]
    if lacking := [row["name"] for row in rows if not row["graph"]]:
        misses.append(f"{lacking[0]} has no graph error")
    graph, graph_snr = worst(rows, "graph")
    kernel, _ = worst(rows, "kernel")
    print(f"| {model.key}, {count} | {len(rows)} | {graph} | {graph_snr} | {kernel} |", flush=True)
    lone = folder / "lone.safetensors"
    without(theirs, "blk.1.q_rope", lone)
    run(options.vetro, "diff", ours, lone, "--model", path, "--json", code=2)
    return misses


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", choices=[model.key for model in models.MODELS])
    parser.add_argument("--models-dir", default=models.ROOT / "models")
    parser.add_argument("--vetro", default=models.ROOT / "build" / "bin" / "vetro")
    parser.add_argument("--tokens", default="10,600")
    options = parser.parse_args()
    torch.set_num_threads(2)
    print("| model, tokens | values | graph: largest ratio | lowest, dB | kernel: largest ratio |")
    print("|---|---|---|---|---|")
    misses = []
    for model in models.chosen(options.model):
        net = reference.load(models.model_path(options.models_dir, model))
        for count in map(int, options.tokens.split(",")):
            with tempfile.TemporaryDirectory() as folder:
                misses += compare(options, model, net, count, Path(folder))
    print("\n" + ("\n".join(misses) or "every value is aligned and within its floor"))
    sys.exit(bool(misses))


if __name__ == "__main__":
    main()
