#!/usr/bin/env python3
"""Every format on random models: the fast path's and llama.cpp's logits against the interpreter's.

For each architecture and format `vetro make-tiny` writes a model, which llama.cpp must load. The
figure is the mean square of the difference over the mean square of the interpreter's logits, at all
positions of one prompt. Ours must be under the bound of its kind, and llama.cpp's so small that both
mean the same model.

    python3 tests/tools/measure_formats.py [--vetro build/bin/vetro]

Prints a table for docs/measurements.md; exit code 1 and a line for each bound that is missed. Needs
llama-cpp-python (requirements-golden.txt).
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
from safetensors.numpy import load_file

from llama_cpp_peer import LlamaCpp

ROOT = Path(__file__).resolve().parents[2]
FLOATS = ("F32", "F16", "BF16")
FORMATS = FLOATS + ("Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K",
                    "IQ4_NL", "Q4_K_M")
VARIANTS = (("llama", ()), ("llama", ("--optional",)), ("gemma3", ()))
OURS_AT_MOST = {True: 1e-8, False: 1e-3}  # by whether activations stay floats
PEER_AT_MOST = 5e-3
IDS = [5 + 7 * i % 200 for i in range(40)]


def our_logits(options, model, folder, *more):
    path = Path(folder) / "logits.safetensors"
    subprocess.run([options.vetro, "dump", model, "--ids", ",".join(map(str, IDS)), "--hooks",
                    "logits", "-o", path, *more], check=True, stderr=subprocess.DEVNULL)
    return load_file(path)["logits"]


def distance(logits, reference):
    wide = reference.astype(numpy.float64)
    return ((logits - wide) ** 2).sum() / (wide ** 2).sum()


def measure(options, folder, arch, kind, more):
    """(ours, llama.cpp's) distance from the interpreter."""
    model = str(Path(folder) / "tiny.gguf")
    subprocess.run([options.vetro, "make-tiny", "--arch", arch, "--type", kind, "--seed", "3", *more,
                    "-o", model], check=True, capture_output=True)
    reference = our_logits(options, model, folder, "--reference")
    peer = LlamaCpp(model, n_ctx=256)
    theirs = peer.logits(IDS)
    peer.close()
    return distance(our_logits(options, model, folder), reference), distance(theirs, reference)


def main():
    parser = argparse.ArgumentParser(description="measure every format on random models")
    parser.add_argument("--vetro", default=ROOT / "build" / "bin" / "vetro")
    options, misses = parser.parse_args(), []
    print("| model | ours | llama.cpp |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for arch, more in VARIANTS:
            for kind in FORMATS:
                name = " ".join((arch, kind, *more))
                ours, theirs = measure(options, folder, arch, kind, more)
                print(f"| {name} | {ours:.1e} | {theirs:.1e} |", flush=True)
                for who, value, bound in (("ours", ours, OURS_AT_MOST[kind in FLOATS]),
                                          ("llama.cpp's", theirs, PEER_AT_MOST)):
                    if not value <= bound:  # not a number is a miss
                        misses.append(f"{name}: {who} {value:.1e}, expected at most {bound:.0e}")
    print("\n" + "\n".join(misses or ["every bound is kept"]))
    return bool(misses)


if __name__ == "__main__":
    sys.exit(main())
