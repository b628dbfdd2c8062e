#!/usr/bin/env python3
"""Measures how near Vetro is to PyTorch on the real models, and says where a bound is missed.

Two comparisons, both with transformers in F32 on the dequantised weights (make_golden_torch.py):

  the interpreter  every value of every layer of several golden prompts, F32 cache: signal-to-noise
                   10 log10(sum theirs^2 / sum (ours - theirs)^2) over the whole value
  the fast path    the golden long text, F16 cache: mean KL(PyTorch, ours) and first choices over
                   its first 360 positions, mean -ln p over all; beside them llama.cpp's distance
                   from tests/golden/MODEL.peer.json, of its two attentions the better one

    python3 tests/tools/measure_meaning.py [--model smollm2|gemma3] [--values]

Prints tables for docs/measurements.md; exit code 1 and a line for each bound that is missed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
import torch
from safetensors.numpy import load_file

import make_golden_models as models
import make_golden_torch as reference
from logit_distance import distance, nll_of

SNR_AT_LEAST_DB = 90.0
KL_AT_MOST_OF_PEER = {"smollm2": 1.05, "gemma3": 0.7}
NLL_WITHIN = 0.002  # of PyTorch's mean
NLL_TOKENS_AT_LEAST = 750
KL_POSITIONS = 360
PROMPTS = ("english", "code", "digits", "emoji", "cjk", "spaces", "bos", "mixed")


def dump(options, model, ids, hooks, *more):
    """{name: values} of one run of `vetro dump`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "values.safetensors"
        subprocess.run([options.vetro, "dump", models.model_path(options.models_dir, model), "--ids",
                        ",".join(map(str, ids)), "--hooks", hooks, "--threads",
                        str(options.threads), "-o", path, *more], check=True)
        return load_file(path)


def read(model, kind):
    return json.loads((models.GOLDEN / f"{model.key}.{kind}.json").read_text(encoding="ascii"))


def snr_db(theirs, ours):
    """Infinite for equal values, not a number where ours has another shape or is not finite."""
    if theirs.shape != ours.shape or not numpy.isfinite(ours).all():
        return float("nan")
    wide = theirs.astype(numpy.float64)
    noise = ((ours - wide) ** 2).sum()
    return float("inf") if noise == 0 else float(10 * numpy.log10((wide**2).sum() / noise))


def prompts_of(model):
    """[(name, ids)]: the hook prompt and those golden prompts that PROMPTS names."""
    golden = read(model, "prompts")
    named = {row["name"]: row["ids"] for row in golden["prompts"]}
    return [("hook", golden["hook_prompt"]["ids"]), *((name, named[name]) for name in PROMPTS)]


def measure_values(options, model, net):
    """[(SNR in dB, name of the value, name of the prompt)], and the names that have no value."""
    rows, missing = [], set()
    for prompt, ids in prompts_of(model):
        theirs = reference.capture(net, ids)
        ours = dump(options, model, ids, "*", "--reference", "--kv", "f32")
        missing |= theirs.keys() - ours.keys()
        rows += [(snr_db(value.numpy(), ours[name]), name, prompt)
                 for name, value in theirs.items() if name in ours]
    return rows, sorted(missing)


def worst_first(row):
    return (not numpy.isnan(row[0]), row[0])


def worst_by(rows, key):
    """The row of the lowest SNR of each group, the worst group first."""
    worst = {}
    for row in sorted(rows, key=worst_first):
        worst.setdefault(key(row[1]), row)
    return worst


def report_values(options, model, rows, missing):
    """Prints the worst value of each kind; returns the bounds that are missed."""
    print(f"\n{model.key}, the interpreter: {len(rows)} values of {len(PROMPTS) + 1} prompts, F32\n")
    print("| value | lowest SNR, dB | where |\n|---|---|---|")
    kind = (lambda name: name) if options.values else (lambda name: name.rsplit(".", 1)[-1])
    for name, (snr, where, prompt) in worst_by(rows, kind).items():
        print(f"| {name} | {snr:.1f} | `{where}`, prompt '{prompt}' |")
    misses = [f"'{name}' is not among Vetro's values" for name in missing]
    return misses + [f"'{name}' agrees to {snr:.1f} dB, expected {SNR_AT_LEAST_DB:.0f}: {prompt}"
                     for snr, name, prompt in worst_by(rows, lambda name: name).values()
                     if not snr >= SNR_AT_LEAST_DB]


def measure_text(options, model, net):
    """The fast path's distance from PyTorch on the long text, in the words of MODEL.peer.json."""
    golden = read(model, "nll")
    ids = golden["ids"]
    ours = dump(options, model, ids, "logits")["logits"]
    nll = nll_of(ours, ids)
    return {**distance(reference.logits_of(net, ids[:KL_POSITIONS]).numpy(), ours),
            "tokens": len(nll), "mean_nll": float(numpy.mean(nll)),
            "mean_nll_pytorch": float(numpy.mean(golden["nll"]))}


def best_peer(model):
    modes = [value for key, value in read(model, "peer").items() if key.startswith("flash")]
    return {"mean_kl": min(mode["mean_kl"] for mode in modes),
            "top1_equal": max(mode["top1_equal"] for mode in modes),
            "mean_nll": min((mode["mean_nll"] for mode in modes),
                            key=lambda nll: abs(nll - modes[0]["mean_nll_pytorch"]))}


def report_text(model, ours, peer):
    """Prints the fast path's table; returns the bounds that are missed."""
    print(f"\n{model.key}, the fast path: KL and first choices over {ours['positions']} positions, "
          f"likelihood over {ours['tokens']} tokens\n")
    print("| | mean KL, nats | first choices equal | mean -ln p (PyTorch "
          f"{ours['mean_nll_pytorch']:.5f}) |\n|---|---|---|---|")
    for name, row in (("ours", ours), ("llama.cpp", peer)):
        print(f"| {name} | {row['mean_kl']:.3e} | {row['top1_equal']} | {row['mean_nll']:.5f} |")
    ratio, bound = ours["mean_kl"] / peer["mean_kl"], KL_AT_MOST_OF_PEER[model.key]
    off = abs(ours["mean_nll"] / ours["mean_nll_pytorch"] - 1)
    print(f"\nKL: {ratio:.2f} of llama.cpp's; mean -ln p: {100 * off:.3f} % from PyTorch's")
    misses = []
    if not ratio <= bound:
        misses.append(f"mean KL is {ratio:.3f} of llama.cpp's, expected at most {bound}")
    if ours["top1_equal"] < peer["top1_equal"]:
        misses.append(f"{ours['top1_equal']} first choices equal, expected llama.cpp's "
                      f"{peer['top1_equal']} at least")
    if not off <= NLL_WITHIN or ours["tokens"] < NLL_TOKENS_AT_LEAST:
        misses.append(f"mean -ln p over {ours['tokens']} tokens is {100 * off:.3f} % off, expected "
                      f"{100 * NLL_WITHIN} % over {NLL_TOKENS_AT_LEAST} or more")
    return misses


def parse_options():
    parser = argparse.ArgumentParser(description="measure the distance from PyTorch")
    parser.add_argument("--model", choices=[model.key for model in models.MODELS])
    parser.add_argument("--models-dir", default=models.ROOT / "models")
    parser.add_argument("--vetro", default=models.ROOT / "build" / "bin" / "vetro")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--values", action="store_true", help="a line for each value, not each kind")
    return parser.parse_args()


def main():
    options, misses = parse_options(), []
    torch.set_num_threads(1)  # as the golden files were made
    for model in models.chosen(options.model):
        net = reference.load(models.model_path(options.models_dir, model))
        found = report_values(options, model, *measure_values(options, model, net))
        found += report_text(model, measure_text(options, model, net), best_peer(model))
        misses += [f"{model.key}: {miss}" for miss in found]
    print("\n" + "\n".join(misses or ["every bound is kept"]))
    return bool(misses)


if __name__ == "__main__":
    sys.exit(main())
