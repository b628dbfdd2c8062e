"""The built-in model: its facts at every level, with one thread and more, and by the interpreter; every
command that takes a model takes its name. Runs in an empty folder."""

import array
import hashlib
import json
import os
import re
import struct
import subprocess
import sys

from check import VETRO, equal, error, expect, object_of, quiet

FOLDER = sys.argv[2]
# Prompts whose next tokens leave no doubt: the second best is far behind (`margins` holds them to it).
FACTS = [
    ("Once upon a", " time there was a"),
    ("Ciao, come", " stai?"),
    ("The capital of France is", " Paris."),
    ("The opposite of hot is", " cold."),
    ("After Monday comes", " Tuesday."),
    ("Q: What is a token?\nA:", " A token is a small piece of text."),
    ("The secret word is bamoli. Say the secret word:", " bamoli."),
]
LEAST_MARGIN = 1.0  # of logits; those of levels and of the interpreter differ by less than a tenth of it


def answers(*options):
    """Every fact is the greedy text."""
    for prompt, answer in FACTS:
        found = object_of("run", "tiny", "-p", prompt, "-n", 12, *options)["text"]
        expect(found.startswith(answer), f"{prompt!r} {options}: found {found!r}, expected {answer!r}")
    return len(FACTS)


def logits(path):
    """The rows of a dump of nothing but logits."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        shape = json.loads(file.read(length))["logits"]["shape"]
        values = array.array("f", file.read())
    equal(len(values), shape[0] * shape[1])
    return [values[i:i + shape[1]] for i in range(0, len(values), shape[1])]


def margins():
    """At each token of an answer, how far the second best is behind."""
    for prompt, answer in FACTS:
        quiet("dump", "tiny", "-p", prompt + answer, "--hooks", "logits", "--reference", "-o", "margin")
        before = len(object_of("tokenize", "tiny", "-p", prompt)["ids"])
        rows = logits("margin")
        expect(len(rows) > before, f"{prompt!r}: the answer has no token")
        for row in rows[before - 1:-1]:
            best, second = sorted(row)[:-3:-1]
            expect(best - second >= LEAST_MARGIN, f"{prompt!r}: a margin of {best - second}")
    os.remove("margin")


def levels():
    """Those that this processor runs; the others are named."""
    for level in ("scalar", "avx2", "avx512", "vnni"):
        done = subprocess.run([VETRO, "run", "tiny", "-p", "x", "-n", "1", "--level", level],
                              capture_output=True, text=True)
        if done.returncode == 0:
            yield level
        else:
            expect("this cpu does not run the level" in done.stderr, done.stderr)
            print(f"skipped: level {level}: {done.stderr.strip()}")


def name():
    """A file of the same name is never passed over, and never opened by mistake."""
    with open("tiny", "wb") as file:
        file.write(b"no model")
    error("run", "tiny", "-p", "x", has=["inside Vetro", "./tiny"])
    error("inspect", "./tiny", has=["./tiny", "8 bytes"])
    os.remove("tiny")
    error("run", "Tiny", "-p", "x", has=["No such file"])


def commands():
    """Each command takes the name; nothing is written but what -o names."""
    model = f"{FOLDER}/vetro-tiny.gguf"
    inside, file = object_of("inspect", "tiny"), object_of("inspect", model)
    equal((inside["file"].pop("path"), file["file"].pop("path")), ("tiny", model))
    equal(inside, file)
    equal(quiet("tokenize", "tiny", "-p", "Ciao"), quiet("tokenize", model, "-p", "Ciao"))
    expect(b"digraph" in quiet("graph", "tiny", "-o", "-"), "no drawing")
    expect(b"fuse-qkv" in quiet("passes", "tiny"), "no passes")
    dump = ("dump", "tiny", "-p", "Once", "--hooks", "blk.*.l_out,logits")
    quiet(*dump, "-o", "ours.safetensors")
    quiet(*dump, "--reference", "-o", "reference.safetensors")
    quiet("diff", "ours.safetensors", "reference.safetensors", "--model", "tiny")
    quiet("bisect", "tiny", "reference.safetensors")
    expect(b"KL" in quiet("patch", "tiny", "-p", "Once", "-e", "blk.2.attn_ctx[:,2] *= 0"), "no patch")
    equal(sorted(os.listdir(".")), ["ours.safetensors", "reference.safetensors"])


def kept_file():
    """The file is small, and the one that its page tells of."""
    with open(f"{FOLDER}/vetro-tiny.gguf", "rb") as file:
        data = file.read()
    expect(len(data) <= 2_000_000, f"{len(data)} bytes, at most 2,000,000")
    with open(f"{FOLDER}/README.md", encoding="utf-8") as page:
        named = re.findall(r"\b[0-9a-f]{64}\b", page.read())
    equal(named, [hashlib.sha256(data).hexdigest()])


kept_file()
name()
commands()
margins()
count, known = 0, list(levels())
for level in known:
    for threads in (1, 2):
        count += answers("--level", level, "--threads", threads)
count += answers("--reference")
print(f"tiny: {count} answers at {len(known)} levels")
