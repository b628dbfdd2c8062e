"""vetro diff on files of other programs: arrays of NumPy's, trees of modules, saved logits."""

import os
import shutil
import struct
import sys
import zipfile

from check import equal, error, expect, object_of, quiet, run
from tensors import Tree, read

MODEL, FOLDER = sys.argv[2:4]
IDS = [5, 9, 12, 300, 7, 45, 81, 3]
HEADS = ("q", "k", "v") # values of heads


def path(name):
    return f"{FOLDER}/{name}"


def dump(name, *options):
    quiet("dump", MODEL, "--ids", ",".join(map(str, IDS)), "--hooks", "*", "-o", path(name), *options)
    return path(name)


def npy(shape, numbers, code="<f4"):
    size = "(" + "".join(f"{d}, " for d in shape) + ")"
    header = f"{{'descr': '{code}', 'fortran_order': False, 'shape': {size}, }}\n".encode()
    kind = {"<f4": "<{}f", "<i8": "<{}q"}[code].format(len(numbers))
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + struct.pack(kind, *numbers)


def arrays(reference):
    """.npz, stored and deflated, and a folder of .npy: the verdict is that of safetensors."""
    made = {name: npy(*value) for name, value in read(reference).items()}
    made["ids"] = npy([len(IDS)], IDS, "<i8")
    for name, method in (("stored.npz", zipfile.ZIP_STORED), ("packed.npz", zipfile.ZIP_DEFLATED)):
        with zipfile.ZipFile(path(name), "w", method) as file:
            for array, data in made.items():
                file.writestr(array + ".npy", data)
    os.makedirs(path("folder"))
    for array, data in made.items():
        open(path(f"folder/{array}.npy"), "wb").write(data)
    return [path("stored.npz"), path("packed.npz"), path("folder")]


def report(ours, reference):
    return object_of("diff", ours, reference, "--model", MODEL, "--common")


def same_verdict(ours, reference, others):
    wanted = report(ours, reference)
    equal(wanted["first"], None)
    for other in others:
        equal(report(ours, other), wanted)


def module_layout(name, shape, numbers):
    """A value of ours as the module of transformers' llama has it."""
    part = name.rsplit(".")[-1]
    if part in HEADS:
        heads, width = shape[1:]
        if part != "v": # pairs to halves
            numbers = [numbers[at + 2 * (i % (width // 2)) + i // (width // 2)]
                       for at in range(0, len(numbers), width) for i in range(width)]
        shape = [shape[0], heads * width]
    return [1, *shape], numbers


MODULES = {"attn_norm": ("input_layernorm", "outputs"), "q": ("self_attn.q_proj", "outputs"),
           "k": ("self_attn.k_proj", "outputs"), "v": ("self_attn.v_proj", "outputs"),
           "attn_ctx": ("self_attn.o_proj", "inputs"), "attn_out": ("self_attn.o_proj", "outputs"),
           "resid_mid": ("post_attention_layernorm", "inputs"),
           "ffn_norm": ("post_attention_layernorm", "outputs"),
           "ffn_gate": ("mlp.gate_proj", "outputs"), "ffn_up": ("mlp.up_proj", "outputs"),
           "ffn_act": ("mlp.down_proj", "inputs")}


def layer(tree, found, i):
    """The node of a layer: its input is the output of the one before it."""
    def value(name):
        return module_layout(name, *found[name])
    by_module = {}
    for name, (module, port) in MODULES.items():
        by_module.setdefault(module, {})[port] = value(f"blk.{i}.{name}")
    prefix = f"model.layers.{i}"
    node = tree.module(prefix, inputs=value("embed" if i == 0 else f"blk.{i - 1}.l_out"))
    node["children"] = [tree.module(f"{prefix}.{module}", **ports) for module, ports in by_module.items()]
    return node


def module_tree(ours, reference):
    found = read(reference)
    def value(name):
        return module_layout(name, *found[name])
    tree = Tree(path("tree"))
    layers = [layer(tree, found, i) for i in range(3)]
    tree.write([tree.module("model.embed_tokens", outputs=value("embed")), *layers,
                tree.module("model.norm", inputs=value("blk.2.l_out"), outputs=value("final_norm")),
                tree.module("lm_head", outputs=value("logits"))], IDS)
    compared = report(ours, path("tree"))
    equal(compared["first"], None)
    wanted = {row["name"]: row for row in report(ours, reference)["rows"]}
    names = [row["name"] for row in compared["rows"]]
    equal(len(names), 3 * (len(MODULES) + 1) + 3)
    expect("blk.2.l_out" in names and "logits" in names, f"names: {names}")
    for row in compared["rows"]:
        for key in ("snr_db", "max_abs"):
            equal(row[key], wanted[row["name"]][key])
        expect(row["transforms"][0] == "drop_batch", f"{row['name']}: {row['transforms']}")
    equal(report(ours, path("tree/LlamaForCausalLM_debug_tree_FULL_TENSORS.json"))["rows"],
          compared["rows"])
    odd = Tree(path("odd"), "MambaForCausalLM")
    odd.write([odd.module("model.norm", outputs=value("final_norm"))], IDS)
    error("diff", ours, path("odd"), has=["MambaForCausalLM", "known architectures are", "llama"])


def edits_from_a_tree(reference):
    """An edit's file is read as diff reads it: names of modules are brought to ours."""
    for name in ("blk.1.k", "blk.0.l_out", "blk.2.ffn_act"):
        first, second = (object_of("patch", MODEL, "--ids", ",".join(map(str, IDS[::-1])), "-n", 2,
                                   "-e", f"{name}[-1] = @{file}") for file in (reference, path("tree")))
        expect(first["kl"] > 0, f"{name} changed nothing: {first}")
        equal({**second, "edits": None}, {**first, "edits": None})
    error("patch", MODEL, "--ids", "1,2", "-e", f"blk.0.q = @{path('odd')}",
          has=["MambaForCausalLM", "known architectures are"])


def saved_logits():
    """Two files of llama.cpp's beside each other."""
    text = ",".join(map(str, IDS * 3))
    for name, options in (("a", ()), ("b", ("--reference",))):
        quiet("perplexity", MODEL, "--ids", text, "-c", 8, "--save-logits", path(name), *options)
    equal(object_of("diff", path("a"), path("a"))["rows"][0]["equal"], True)
    row = object_of("diff", path("a"), path("b"), "--snr", 10)["rows"][0]
    equal((row["name"], row["shape"][0], row["equal"]), ("logits", 9, False))
    expect(0 < row["logits"]["mean_kl"] < 0.1, f"KL: {row['logits']}")
    error("diff", path("a"), dump("whole"), has=["tokens differ"])


def refusals(ours):
    os.makedirs(path("empty"))
    with zipfile.ZipFile(path("model.pt"), "w") as file:
        file.writestr("model/data.pkl", b"\x80\2}.")
    open(path("old.pth"), "wb").write(b"\x80\2\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.")
    cases = (("model.pt", ["holds a pickle", "safetensors.torch.save_file"]),
             ("old.pth", ["is a pickle", "safetensors.torch.save_file"]),
             ("empty", ["without .npy files"]), ("none.npz", ["could not open"]))
    for name, words in cases:
        error("diff", ours, path(name), has=[name, *words])


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(FOLDER)
    ours, reference = dump("ours"), dump("reference", "--reference", "--kv", "f32")
    same_verdict(ours, reference, arrays(reference))
    module_tree(ours, reference)
    edits_from_a_tree(reference)
    saved_logits()
    refusals(ours)
    print("formats: done")


main()
