"""vetro inspect: what it counts in a file, and files that are no models."""

import os
import pty
import subprocess
import sys

from check import VETRO, equal, error, expect, object_of, quiet

DATA = sys.argv[2]
MODEL = f"{DATA}/stories260k/stories260K.gguf"


def a_model():
    found = object_of("inspect", MODEL)
    equal(list(found), ["file", "metadata", "tensors", "types", "frontend", "kv_cache", "plan", "notes"])
    equal(sum(t["bytes"] for t in found["tensors"]), found["file"]["tensor_bytes"])
    equal(sum(t["tensors"] for t in found["types"]), len(found["tensors"]))
    values = {entry["key"]: entry["value"] for entry in found["metadata"]}
    equal(values["general.architecture"], "llama")
    layers, heads = values["llama.block_count"], values["llama.attention.head_count_kv"]
    width = values["llama.embedding_length"] // values["llama.attention.head_count"]
    equal(found["kv_cache"]["bytes_per_position"], layers * heads * width * 2 * 2)
    equal(object_of("inspect", MODEL, "--kv", "f32")["kv_cache"]["bytes_per_position"],
          layers * heads * width * 2 * 4)
    expect(found["plan"]["steps"] > layers, f"a plan of {found['plan']['steps']} steps")
    equal(found["kv_cache"]["bytes"],
          found["kv_cache"]["context"] * found["kv_cache"]["bytes_per_position"])
    text = quiet("inspect", MODEL).decode()
    for part in ("general.architecture", "token_embd.weight", "kv cache", "steps"):
        expect(part in text, f"{part!r} is missing")


def contradictions():
    """What the frontend wonders about harms nothing: an array of its own, quiet without a terminal."""
    equal(object_of("inspect", MODEL)["frontend"]["warnings"], [])
    wrong = ("--override-kv", "llama.vocab_size=u32:1000000")
    (warning,) = object_of("inspect", MODEL, *wrong)["frontend"]["warnings"]
    for part in ("llama.vocab_size", "1000000", "512"):
        expect(part in warning, f"{part!r} is missing in {warning!r}")
    lines = on_terminal("inspect", MODEL, *wrong)
    equal([line for line in lines if "vocab_size" in line], ["vetro: note: " + warning])
    for _ in range(2):  # compiled, then from the cache
        done = subprocess.run([VETRO, "run", MODEL, "-n", "1", "-p", "a", "-v", *wrong,
                               "--cache-dir", sys.argv[3]], capture_output=True, text=True)
        expect(f"vetro: note: {warning}\n" in done.stderr, f"no note in {done.stderr!r}")


def on_terminal(*arguments):
    """Lines on stderr when stderr is a terminal."""
    ours, its = pty.openpty()
    done = subprocess.run([VETRO, *arguments], stdout=subprocess.DEVNULL, stderr=its)
    os.close(its)
    equal(done.returncode, 0)
    text = b""
    while True:
        try:
            text += os.read(ours, 4096)
        except OSError:  # all is read
            return text.decode().splitlines()


def overrides():
    found = object_of("inspect", MODEL, "--override-kv", "llama.context_length=u32:64")
    equal(found["kv_cache"]["context"], 64)
    entry = next(e for e in found["metadata"] if e["key"] == "llama.context_length")
    equal((entry["value"], entry["overridden"]), (64, True))


def no_models():
    """A vocabulary is shown, with the reason why there is no graph; a broken file is an error."""
    found = object_of("inspect", f"{DATA}/vocab/ggml-vocab-gpt-2.gguf")
    expect(found["frontend"]["why"], "no reason")
    equal((found["tensors"], found["kv_cache"], found["plan"]), ([], None, None))
    error("inspect", sys.argv[0], has=["inspect_file.py"])
    error("inspect", "/no/such.gguf", has=["No such file"])


a_model()
contradictions()
overrides()
no_models()
print("inspect: done")
