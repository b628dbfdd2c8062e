"""vetro inspect: what it counts in a file, and files that are no models."""

import sys

from check import equal, error, expect, object_of, quiet

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
overrides()
no_models()
print("inspect: done")
