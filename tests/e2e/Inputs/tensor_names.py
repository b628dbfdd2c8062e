"""docs/tensor-names.md against real dumps: each model has exactly the names of its column, with the
shape and label that the page says."""

import os
import re
import sys

from check import equal, expect, object_of, run

PAGE, SMOLLM2, GEMMA3, TINY = sys.argv[2:6]
ROW = re.compile(r"^\| `(?P<name>[a-z_N.0-9]+)` \| \[(?P<shape>[^\]]+)\] \| (?P<rest>.*) \|$", re.MULTILINE)


def rows():
    """[(name, shape, cells after it)]"""
    text = open(PAGE, encoding="utf-8").read()
    return [(m["name"], m["shape"], m["rest"].split(" | ")) for m in ROW.finditer(text)]


def sizes(model, n_tokens):
    """What the letters of the shapes mean for a model."""
    found = object_of("inspect", model)
    keys = {entry["key"].split(".", 1)[1]: entry["value"] for entry in found["metadata"]}
    vocabulary = next(t["shape"] for t in found["tensors"] if t["name"] == "token_embd.weight")
    width, heads = keys["embedding_length"], keys["attention.head_count"]
    head = keys.get("attention.key_length", width // heads)
    return {"T": n_tokens, "C": n_tokens, "E": width, "H": heads, "G": keys["attention.head_count_kv"],
            "D": head, "F": keys["feed_forward_length"], "V": max(vocabulary), "R": head // 2,
            "X": keys.get("expert_count"), "U": keys.get("expert_used_count"), "2": 2,
            "H·D": heads * head}, keys["block_count"]


def check(model, expected):
    """expected: {name: (shape, label)} with blk.N."""
    dumped = object_of("dump", model, "-p", "The capital of France", "--hooks", "*", "-o",
                       f"{TINY}.safetensors")["tensors"]
    letters, layers = sizes(model, next(t["shape"][0] for t in dumped if t["name"] == "embed"))
    wanted = {}
    for name, (shape, label) in expected.items():
        numbers = [letters[part] for part in shape.split(", ")]
        for layer in range(layers) if "blk.N." in name else (0,):
            wanted[name.replace("blk.N.", f"blk.{layer}.")] = (numbers, label)
    found = {t["name"]: (t["shape"], t["label"]) for t in dumped}
    expect(len(found) == len(dumped), "a name occurs twice")
    equal(sorted(found), sorted(wanted))
    for name, value in found.items():
        expect(value == wanted[name], f"{name}: found {value}, the page says {wanted[name]}")
    file_bytes = os.path.getsize(f"{TINY}.safetensors")
    least = 4 * sum(product(shape) for shape, _ in found.values())
    expect(file_bytes > least, f"{file_bytes} bytes cannot hold {least} bytes of values")


def check_alignment(arch, column, cells):
    """`vetro names` has every name of the column (but what the plan alone has), where the page says."""
    aligned = object_of("names", arch)["names"]
    found = {row["name"].replace("blk.*.", "blk.N."): row for row in aligned}
    equal(sorted(found), sorted(name for name in column if not name.startswith("rope_table")))
    for name, row in found.items():
        place = row.get("module", "").rsplit(".", 1)[-1]
        if "`" in cells[name] and "module" in row:
            expect(place in cells[name], f"{name}: {place} is not in {cells[name]!r}")
            word = {"output": " out", "output.1": "the second", "output.2": "the third",
                    "chosen": "of the chosen"}.get(row["port"], row["port"][:2])
            expect(word in cells[name], f"{name}: {row['port']} is not in {cells[name]!r}")


def check_layers(experts):
    """Values of a mixture are those of layers that have one, and three are those of the others."""
    when = {row["name"].replace("blk.*.", "blk.N."): row["when"]
            for row in object_of("names", "llama")["names"] if "when" in row}
    mixed = {name for name, module in when.items() if module == "model.layers.*.mlp.experts"}
    equal(mixed, set(experts))
    dense = {name for name, module in when.items() if module == "!model.layers.*.mlp.experts"}
    equal(dense, {"blk.N.ffn_gate", "blk.N.ffn_up", "blk.N.ffn_act"})
    expect(not any("when" in row for row in object_of("names", "gemma3")["names"]), "gemma3 has no mixture")


def product(numbers):
    result = 1
    for number in numbers:
        result *= number
    return result


def main():
    dense = [row for row in rows() if len(row[2]) == 5]
    mixed = [row for row in rows() if len(row[2]) == 4]
    experts = {name: (shape, rest[1]) for name, shape, rest in mixed}
    columns = [{name: (shape, rest[at]) for name, shape, rest in dense if rest[at] != "–"}
               for at in (1, 2)]
    cells = {name: rest[-1] for name, _, rest in dense + mixed}
    check_alignment("llama", {**columns[0], **experts}, cells)
    check_alignment("mixtral", {**columns[0], **experts}, cells)
    check_alignment("gemma3", columns[1], cells)
    check_layers(experts)
    check(SMOLLM2, columns[0])
    check(GEMMA3, columns[1])
    run("make-tiny", "--arch", "llama", "--type", "Q8_0", "-o", TINY, "--override-kv",
        "llama.expert_count=u32:4", "--override-kv", "llama.expert_used_count=u32:2")
    mixture = {name: value for name, value in columns[0].items()
               if name not in ("blk.N.ffn_gate", "blk.N.ffn_up", "blk.N.ffn_act")}
    mixture["blk.N.ffn_norm"] = mixture["blk.N.ffn_norm"][0], "ran"  # the router reads it in F32
    mixture["blk.N.ffn_out"] = mixture["blk.N.ffn_out"][0], "ran"
    check(TINY, {**mixture, **experts})
    print(f"tensor names: {len(dense) + len(experts)} names, 3 models")


main()
