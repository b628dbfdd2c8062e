#!/usr/bin/env python3
"""Says whether golden files made anew agree with the committed ones.

Another CPU or thread count changes the last bits of F32 sums, so numbers are compared within bounds
and ids exactly; a first choice may differ only where its margin is under 0.001, and greedy ids from
such a step onwards.

    python3 tests/tools/make_golden_check.py DIR     exit code 1 and a line for each disagreement
"""

import json
import sys
from pathlib import Path

import numpy
from safetensors import safe_open
from safetensors.numpy import load_file

import make_golden_models as models

EXCUSED_MARGIN = 1e-3
MARGIN_BOUND = 1e-3  # logits of up to 40 differ by about 1e-4 between orders of F32 sums
NLL_BOUND = 5e-4  # 8e-5 is the largest distance of a logit from F64 over the long text
SNR_AT_LEAST_DB = 95.0  # F32 against F64 measures 109 dB at the worst value, over all its elements
SUMSQ_BOUND = 1e-5


def read(path):
    return json.loads(path.read_text(encoding="ascii"))


def differing_ids(committed, made):
    """Disagreements of the two files that hold ids only."""
    return [f"'{key}' differs" for key in committed
            if key != "command" and committed[key] != made.get(key)]


def differing_greedy(committed, made):
    problems = []
    for old, new in zip(committed["prompts"], made["prompts"], strict=True):
        for step, (want, have) in enumerate(zip(old["ids"], new["ids"], strict=True)):
            if old["margins"][step] < EXCUSED_MARGIN:
                break  # from here on the two may have gone different ways
            gap = abs(old["margins"][step] - new["margins"][step])
            if want != have or gap > MARGIN_BOUND:
                problems.append(f"'{old['name']}' step {step}: id {have}, expected {want}; margin "
                                f"off by {gap:.2e}")
                break
    return problems


def differing_nll(committed, made):
    problems = [] if committed["ids"] == made["ids"] else ["'ids' differs"]
    for at, margin in enumerate(committed["top1_margin"]):
        if margin >= EXCUSED_MARGIN and committed["top1"][at] != made["top1"][at]:
            problems.append(f"'top1' differs at position {at}")
    for key in (key for key in committed if key.startswith("nll")):
        off = numpy.abs(numpy.array(committed[key]) - numpy.array(made[key])).max()
        if not off <= NLL_BOUND:
            problems.append(f"'{key}' off by up to {off:.2e}, expected at most {NLL_BOUND:.0e}")
    return problems


def estimated_snr_db(kind, committed, made):
    """Lowest SNR of a kind's layers: exact mean square over mean squared error of the samples.

    The samples' own energy would not do: values such as ffn_act live from a few large elements that
    samples miss. Errors in those show in the sum of squares, which is compared apart.
    """
    elements = float(numpy.prod(committed[f"{kind}.shape"].astype(numpy.float64)))
    power = committed[f"{kind}.sumsq"] / elements
    error = made[f"{kind}.value"].astype(numpy.float64) - committed[f"{kind}.value"]
    noise = numpy.maximum((error**2).mean(axis=1), power * 1e-30)  # equal bits: 300 dB
    return float((10 * numpy.log10(power / noise)).min())


def differing_hooks(committed_path, made_path):
    committed, made = load_file(committed_path), load_file(made_path)
    with safe_open(committed_path, "numpy") as old, safe_open(made_path, "numpy") as new:
        problems = [] if old.metadata()["ids"] == new.metadata()["ids"] else ["'ids' differ"]
    for kind in (name.removesuffix(".value") for name in committed if name.endswith(".value")):
        if any(not numpy.array_equal(committed[f"{kind}.{part}"], made.get(f"{kind}.{part}"))
               for part in ("shape", "index")):
            problems.append(f"'{kind}' is missing or sampled in another way")
            continue
        snr = estimated_snr_db(kind, committed, made)
        if not snr >= SNR_AT_LEAST_DB:
            problems.append(f"'{kind}' agrees to {snr:.1f} dB only")
        drift = numpy.abs(made[f"{kind}.sumsq"] / committed[f"{kind}.sumsq"] - 1).max()
        if not drift <= SUMSQ_BOUND:
            problems.append(f"'{kind}' has another sum of squares: off by {drift:.1e}")
    return problems


def main():
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        raise SystemExit("usage: make_golden_check.py DIR, as make_golden.py --out wrote it")
    folder, failed = Path(sys.argv[1]), False
    for model in models.MODELS:
        for kind, compare in (("tokenize", differing_ids), ("prompts", differing_ids),
                              ("greedy", differing_greedy), ("nll", differing_nll)):
            name = f"{model.key}.{kind}.json"
            for problem in compare(read(models.GOLDEN / name), read(folder / name)):
                failed = True
                print(f"{name}: {problem}")
        name = f"{model.key}.hooks.safetensors"
        for problem in differing_hooks(models.GOLDEN / name, folder / name):
            failed = True
            print(f"{name}: {problem}")
    print("golden files made anew " + ("differ" if failed else "agree"))
    return failed


if __name__ == "__main__":
    sys.exit(main())
