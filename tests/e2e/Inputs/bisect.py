"""vetro bisect, vetro patch and dump --edit from outside: what they name, their exit codes and errors."""

import json
import os
import struct
import sys

from check import equal, error, expect, object_of, quiet, run

MODEL, FOLDER = sys.argv[2:4]
IDS = ("--ids", "5,9,12,300,7,45,81,3")


def path(name):
    return f"{FOLDER}/{name}.safetensors"


def dump(name, *options, hooks="*"):
    quiet("dump", MODEL, *IDS, "--hooks", hooks, "-o", path(name), *options)
    return path(name)


def verdict(reference, *options, code=1):
    return json.loads(run("bisect", MODEL, reference, "--json", *options, code=code).stdout)


def bisecting():
    reference = dump("reference", "--reference", "--kv", "f32")
    sound = verdict(reference, code=0)
    equal((sound["first"], sound["blame"], sound["trials"], sound["missing"]), (None, None, [], []))
    text = run("bisect", MODEL, reference).stdout.decode()
    equal(text, "nothing passes its floor\n")
    # A reference whose state was rounded is met with the same rounding.
    equal(verdict(dump("half", "--reference"), code=0)["first"], None)

    found = verdict(reference, "--override-kv", "llama.attention.layer_norm_rms_epsilon=f32:0.01")
    equal((found["first"]["name"], found["first"]["kind"], found["blame"]),
          ("blk.0.attn_norm", "graph", "the frontend"))
    equal(found["first"]["keys"], ["llama.attention.layer_norm_rms_epsilon"])
    expect(found["first"]["source"].startswith("frontends/arch/llama.cpp:"), found["first"]["source"])
    expect(found["first"]["weights"] == ["blk.0.attn_norm.weight"], found["first"]["weights"])
    expect(found["recovery"]["logits_snr_db_after"] > found["recovery"]["logits_snr_db_before"],
           found["recovery"])
    few = verdict(dump("few", "--reference", "--kv", "f32", hooks="blk.*.l_out"),
                  "--override-kv", "llama.rope.freq_base=f32:100")
    equal((few["first"]["name"], few["first"]["kind"], few["recovery"]), ("blk.0.l_out", "graph", None))
    expect("rope" in few["first"]["ops"] and "embed" in few["missing"], few)
    for weight in ("attn_q", "attn_k", "attn_v", "ffn_down"):  # also what went through the cache
        expect(f"blk.0.{weight}.weight" in few["first"]["weights"], few["first"]["weights"])
    text = run("bisect", MODEL, reference, "--override-kv", "llama.rope.freq_base=f32:100", code=1)
    expect(b"decided by the metadata keys" in text.stdout and b"blame: the frontend" in text.stdout,
           text.stdout)


def bisect_errors():
    error("bisect", MODEL, dump("ran"), has=["was run by kernels", "--reference"])
    error("bisect", MODEL, "nowhere", has=["nowhere"])
    other = f"{FOLDER}/other.safetensors"
    quiet("dump", MODEL, *IDS, "--reference", "--hooks", "blk.0.q", "-o", other)
    data = open(other, "rb").read()
    with open(other, "wb") as file:
        file.write(data.replace(b'"blk.0.q"', b'"blk.9.q"').replace(b"label:blk.0.q", b"label:blk.9.q"))
    error("bisect", MODEL, other, has=["none of the model's values", "docs/tensor-names.md"])
    error("bisect", MODEL, path("reference"), "--ids", "1,2", has=["its shape is"])


def choices():
    """Choices of experts are whole numbers in a file; what is none, or no expert, is refused."""
    moe, values = f"{FOLDER}/moe.gguf", f"{FOLDER}/moe.safetensors"
    quiet("make-tiny", "--arch", "llama", "--type", "Q8_0", "--layers", "1", "--override-kv",
          "llama.expert_count=u32:4", "--override-kv", "llama.expert_used_count=u32:2", "-o", moe)
    quiet("dump", moe, *IDS, "--hooks", "*", "--reference", "--kv", "f32", "-o", values)
    equal(object_of("bisect", moe, values)["first"], None)
    data = bytearray(open(values, "rb").read())
    length = struct.unpack("<Q", data[:8])[0]
    at = 8 + length + json.loads(data[8:8 + length])["blk.0.ffn_moe_topk"]["data_offsets"][0]
    taken = struct.unpack("<2f", data[at:at + 8])
    for choice, has in ((99, "expert 99"), (-1, "expert -1"), (1.5, "whole numbers"), (3e9, "whole numbers"),
                        (next(e for e in range(4) if e not in taken), None)):
        data[at:at + 4] = struct.pack("<f", choice)
        with open(values, "wb") as file:
            file.write(data)
        if has:
            error("bisect", moe, values, has=[has])
        else:
            found = json.loads(run("bisect", moe, values, "--json", code=1).stdout)
            equal((found["first"]["name"], found["recovery"]), ("blk.0.ffn_moe_topk", None))


def patching():
    same = object_of("patch", MODEL, *IDS, "-e", "blk.1.l_out += 0", "-n", "3")
    equal((same["kl"], same["same_first_choice"], same["switched_off"]), (0, True, []))
    equal(same["before"], same["after"])
    equal(len(same["after"]["ids"]), 3)
    changed = object_of("patch", MODEL, *IDS, "-e", "blk.1.ffn_gate[2:,3] = 1", "-e", "blk.0.v *= 0",
                        "-n", "0", "--top", "2")
    expect(changed["kl"] > 0, changed)
    equal(changed["switched_off"], ["fuse-glu@blk.1.ffn_act"])
    equal(len(changed["before"]["top"]), 2)
    text = run("patch", MODEL, *IDS, "-e", "logits[-1] = 0", "-n", "0").stdout.decode()
    expect("KL of after from before" in text, text)

    edit = ("-e", "blk.2.attn_ctx[3,1] = 0.5")
    for options in ((), ("--reference",)):
        quiet("dump", MODEL, *IDS, "--hooks", "blk.2.attn_ctx", *edit, *options, "-o", path("edited"))
        data = open(path("edited"), "rb").read()
        expect(b'"edits":"blk.2.attn_ctx[3,1] = 0.5"' in data, data[:600])
    quiet("dump", MODEL, *IDS, "--hooks", "*", *edit, "-o", path("edited"))
    report = run("diff", path("edited"), path("reference"), "--model", MODEL, "--json", code=0)
    expect("ours ran with edits" in " ".join(json.loads(report.stdout)["notes"]), report.stdout[-300:])


def patch_errors():
    for text, has in (("blk.9.q = 0", "no value is called blk.9.q"), ("blk.0.q[8] = 0", "8 places"),
                      ("blk.0.q[:,99] = 0", "axis 1"), ("q", "expected NAME"), ("", "expected NAME"),
                      ("blk.0.q = x", "neither a number"), ("blk.0.q = @nowhere", "nowhere"),
                      ("logits[2] = 0", "was not computed"), ("[ = 0", "value's name first")):
        error("patch", MODEL, *IDS, "-e", text, has=[has])
    error("patch", MODEL, *IDS, has=["--edit"])


os.makedirs(FOLDER, exist_ok=True)
for test in (bisecting, bisect_errors, choices, patching, patch_errors):
    test()
print("bisect: done")
