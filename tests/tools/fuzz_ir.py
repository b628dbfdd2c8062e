"""Edits of the committed .mlir files through `vetro opt`: each parses or is refused, none kills it.

    python3 tests/tools/fuzz_ir.py VETRO [--edits N] [--seed S] [--keep FOLDER]

An edit changes one to three things in one piece of a file (a number here or everywhere, a name, a
type, a whole line) and runs it through the passes of the file's own RUN line, through all of them in the order of a
run, or through none. A signal, an abort or more than 5 s is a failure; the text is then printed, and
written to FOLDER.
"""

import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import tree

AREAS = ("ir", "passes", "lowering")
TIMEOUT_S = 5
PIPELINE = ["rms-norm", "qkv", "rope", "attention", "glu", "residual", "head"]
ALL_PASSES = ([f"--vetro-fuse-{name}" for name in PIPELINE] +
              ["--vetro-select-kernels", "--vetro-plan-memory", "--vetro-schedule",
               "--vetro-emit-steps"])
NUMBERS = ["0", "-1", "1", "2", "3", "4", "5", "31", "32", "33", "64", "65", "256", "4096",
           "65536", "2147483647", "2147483648", "4294967296", "4611686018427387904",
           "9223372036854775807", "-9223372036854775808", "18446744073709551616", "?"]
WORDS = ["f16", "f32", "f64", "i32", "i64", "index", "none", "0.0", "1.0e300", "0x7FC00000",
         "0xFF800000", '""', '"k"', "#vetro.q<a8>", "#vetro.q<q4_K, rows16>", "tensor<*xf32>",
         "tensor<f32>", "tensor<0xf32>", "!vetro.state<0, 0, f16>", "[]", "{}", "unit"]
TOKEN = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|[#!%@^]?[A-Za-z_][\w.]*|\"[^\"]*\"|[^\s\w]")
NUMBER = re.compile(r"-?\d+|\?")


def pieces():
    """For each committed file the (text, passes) of its pieces, without comments."""
    files = []
    for area in AREAS:
        for path in sorted((tree.ROOT / "tests" / area).glob("*.mlir")):
            text = path.read_text()
            passes = re.findall(r"--vetro-[\w-]+", "\n".join(re.findall(r"RUN:.*", text)))
            found = []
            for piece in text.split("// -----"):
                code = "\n".join(line for line in piece.splitlines() if not line.startswith("//"))
                if code.strip():
                    found.append((re.sub(r"//.*", "", code), list(dict.fromkeys(passes))))
            files.append(found)
    return files


def replace(text, match, word):
    return text[:match.start()] + word + text[match.end():]


def edit_once(text, rng):
    """The text with one number, word or line changed, taken away or moved."""
    tokens = list(TOKEN.finditer(text))
    kind = rng.random()
    if kind < 0.3:  # a number everywhere: the types still agree
        old, new = rng.choice(re.findall(r"\b\d+", text) or ["0"]), rng.choice(NUMBERS)
        return re.sub(rf"(?<![\d.]){old}(?![\d.])", new, text)
    if kind < 0.5:
        tokens = list(NUMBER.finditer(text)) or tokens
        return replace(text, rng.choice(tokens), rng.choice(NUMBERS))
    if kind < 0.65:
        return replace(text, rng.choice(tokens), rng.choice(WORDS))
    if kind < 0.8:  # a word for another of the same text
        return replace(text, rng.choice(tokens), rng.choice(tokens).group())
    if kind < 0.88:
        return replace(text, rng.choice(tokens), "")
    lines = text.splitlines()
    at = rng.randrange(len(lines))
    if kind < 0.94:
        del lines[at]
    else:
        lines.insert(rng.randrange(len(lines)), lines[at])
    return "\n".join(lines)


def edited(corpus, seed):
    """(text, passes) of the edit with this number: the same for the same files."""
    rng = random.Random(seed)
    text, passes = rng.choice(rng.choice(corpus))
    for _ in range(rng.choice((1, 1, 2, 3))):
        if TOKEN.search(text):
            text = edit_once(text, rng)
    return text, rng.choice(([], passes, ALL_PASSES))


def run(vetro, text, passes):
    """The exit code; negative for a signal, None for over 5 s."""
    try:
        done = subprocess.run([vetro, "opt", "-", *passes], input=text.encode(), timeout=TIMEOUT_S,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return None
    return done.returncode


def try_edit(vetro, corpus, seed):
    text, passes = edited(corpus, seed)
    return seed, run(vetro, text, passes)


def killed(code):
    return code not in (0, 1)


def self_test(vetro):
    """What is good passes, what is bad is refused, and a program that dies is noticed."""
    good = "func.func @f(%x: tensor<?x4xf32>) {\n  return\n}\n"
    if run(vetro, good, ALL_PASSES[:1]) != 0 or run(vetro, good + "}", []) != 1:
        sys.exit("fuzz_ir: self-test: `vetro opt` does not tell good from bad")
    with tempfile.TemporaryDirectory() as folder:
        dying = pathlib.Path(folder, "dying")
        dying.write_text("#!/bin/sh\nkill -SEGV $$\n")
        dying.chmod(0o700)
        if not killed(run(str(dying), good, [])):
            sys.exit("fuzz_ir: self-test: a program that died was not noticed")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("vetro")
    parser.add_argument("--edits", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep")
    options = parser.parse_args()
    self_test(options.vetro)
    corpus = pieces()
    counts, failures = {0: 0, 1: 0}, 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        seeds = range(options.seed, options.seed + options.edits)
        for seed, code in pool.map(lambda s: try_edit(options.vetro, corpus, s), seeds):
            counts[code] = counts.get(code, 0) + 1
            if not killed(code):
                continue
            failures += 1
            text, passes = edited(corpus, seed)
            print(f"edit {seed}: exit {code}: vetro opt {' '.join(passes)}\n{text}\n")
            if options.keep:
                pathlib.Path(options.keep, f"{seed}.mlir").write_text(text)
    print(f"fuzz_ir: {options.edits} edits of {len(corpus)} files: {counts[0]} accepted, "
          f"{counts[1]} refused, {failures} killed")
    sys.exit(1 if failures or not counts[0] or not counts[1] else 0)


if __name__ == "__main__":
    main()
