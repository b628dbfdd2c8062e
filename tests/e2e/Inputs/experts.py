"""vetro diff on values inside a mixture of experts: ties between choices, modules of Mixtral's."""

import os
import shutil
import sys

from check import equal, expect, object_of, quiet
from tensors import Tree, read, write

MODEL, FOLDER = sys.argv[2:4]
IDS = [5, 9, 12, 300, 7, 45, 81, 3]
EXPERTS, USED = 4, 2
PROBS, CHOICES = "blk.0.ffn_moe_probs", "blk.0.ffn_moe_topk"


def path(name):
    return f"{FOLDER}/{name}"


def dump(name, hooks, *options):
    quiet("dump", MODEL, "--ids", ",".join(map(str, IDS)), "--hooks", hooks, "-o", path(name), *options)
    return path(name)


def report(ours, reference, code=0):
    return object_of("diff", ours, reference, "--model", MODEL, "--common", code=code)


def choice_row(found):
    return next(row for row in found["rows"] if row["name"] == CHOICES)["graph"]


def ties(ours, reference):
    """Both of a token's experts have the same probability: either order is right, a third is not."""
    found = {name: value for name, value in read(reference).items() if name in (PROBS, CHOICES)}
    probs, choices = found[PROBS][1], found[CHOICES][1]
    first, second = map(int, choices[:USED])
    probs[second] = probs[first]
    choices[:USED] = [max(first, second), min(first, second)]  # ours takes the lower one first
    write(path("tied"), found, {"ids": ",".join(map(str, IDS)), "dtype": "float32"})
    tied = report(ours, path("tied"), code=1)  # of the probability that was changed
    equal((choice_row(tied)["passes"], choice_row(tied)["ties"]), (True, 2))
    note = f"{CHOICES}: 2 choices between scores that do not differ"
    expect(any(line.startswith(note) for line in tied["notes"]), f"notes: {tied['notes']}")
    choices[1] = next(e for e in range(EXPERTS) if e not in (first, second))
    write(path("wrong"), found, {"ids": ",".join(map(str, IDS)), "dtype": "float32"})
    wrong = choice_row(report(ours, path("wrong"), code=1))
    equal(wrong["passes"], False)
    expect("ties" not in choice_row(report(ours, reference)), "a tie where there is none")


def modules(ours, reference):
    """A router puts out three tensors; the tree of transformers' debugger lists them."""
    found = read(reference)
    tree = Tree(path("tree"), "MixtralForCausalLM")
    parts = [tree.tensor(f"gate{i}", *found[f"blk.0.ffn_moe_{name}"])
             for i, name in enumerate(("logits", "weights_norm", "topk"))]
    tree.write([{"module_path": "MixtralForCausalLM.model.layers.0.mlp.gate", "outputs": parts}], IDS)
    compared = report(ours, path("tree"))
    equal(compared["first"], None)
    equal([row["name"] for row in compared["rows"]],
          ["blk.0.ffn_moe_logits", CHOICES, "blk.0.ffn_moe_weights_norm"])


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(FOLDER)
    ours, reference = dump("ours", "*"), dump("reference", "*", "--reference", "--kv", "f32")
    ties(ours, reference)
    modules(ours, reference)
    print("experts: done")


main()
