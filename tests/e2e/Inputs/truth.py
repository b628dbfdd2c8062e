"""What a run holds, to compare with what a viewer shows: its trace, the dump of all its values, and how it
differs from a run that keeps keys and values in F32."""

import ast
import json
import math
import re
import subprocess

import tensors
from check import VETRO, expect, quiet


def value_of(document, pointer):
    """What a JSON pointer of a screen means; "#" counts a list (of a text, bytes), "#fired" and "#refused"
    rewrites; "+" adds up a list."""
    base, mark, count = pointer.partition("#")
    base, plus, _ = base.partition("+")
    for key in base.split("/")[1:]:
        document = document[int(key)] if isinstance(document, list) else document[key]
    if plus:
        return sum(document)
    if not mark:
        return document
    if count:
        return sum(r["fired"] == (count == "fired") for r in document)
    return len(document.encode()) if isinstance(document, str) else len(document)


def statistic(row, index):
    """What is counted over a row of numbers; "bin.3" of 16 bins, "bin.3/32" of 32."""
    numbers = [x for x in row if math.isfinite(x)]
    low, high = min(numbers), max(numbers)
    if index.startswith("bin."):
        place_of, _, count = index[4:].partition("/")
        bins = [0] * int(count or 16)
        for x in numbers:
            place = (x - low) / (high - low) if high > low else 0
            bins[min(int(place * len(bins)), len(bins) - 1)] += 1
        return bins[int(place_of)]
    return {"min": low, "max": high, "mean": sum(numbers) / len(numbers), "absmax": max(abs(x) for x in numbers),
            "rms": math.sqrt(sum(x * x for x in numbers) / len(numbers)), "nans": len(row) - len(numbers)}[index]


def near(a, b, share=1e-9):
    return a == b or abs(a - b) <= share * max(abs(a), abs(b))


def softmax(logits):
    best = max(logits)
    weights = [math.exp(x - best) for x in logits]
    return [w / sum(weights) for w in weights]


def record(model, run, folder):
    """Makes FOLDER/run, all.safetensors and diff.json of a run; `run`: options of vetro run."""
    quiet("run", model, *run, "--trace", f"{folder}/run", "--trace-hooks", "blk.*.l_out,blk.*.q_rope,embed,logits")
    document = json.load(open(f"{folder}/run/trace.json"))
    ids = ",".join(str(t["id"]) for t in document["tokens"] if t["batch"] >= 0)
    quiet("dump", model, "--ids", ids, "--hooks", "*", "-o", f"{folder}/all.safetensors")
    quiet("dump", model, "--ids", ids, "--hooks", "blk.*.l_out,blk.*.q_rope,blk.*.q,logits", "--kv", "f32", "-o",
          f"{folder}/f32.safetensors")
    with open(f"{folder}/diff.json", "wb") as out:
        subprocess.run([VETRO, "diff", f"{folder}/f32.safetensors", f"{folder}/all.safetensors", "--json"], stdout=out)
    return Truth(model, folder, ids)


class Truth:
    """What record() made."""

    def __init__(self, model, folder, ids):
        self.model, self.folder, self.ids = model, folder, ids
        self.document = json.load(open(f"{folder}/run/trace.json"))
        self.diff = json.load(open(f"{folder}/diff.json"))
        self.values = tensors.read(f"{folder}/all.safetensors")
        self.vocabulary = None
        self.lenses = {}  # (value, token): probabilities
        self.seen = {"document": 0, "numbers": 0, "counted": 0, "proofs": 0, "blocks": 0, "lens": 0, "differences": 0}

    def pieces(self):
        """The vocabulary's spellings, by id."""
        if not self.vocabulary:
            keys = json.loads(quiet("inspect", self.model, "--all", "--json"))["metadata"]
            shown = next(k["value"] for k in keys if k["key"] == "tokenizer.ggml.tokens")
            self.vocabulary = [text.encode("latin-1").decode() for text in ast.literal_eval(shown)]  # bytes as \\xc2
        return self.vocabulary

    def lens(self, name, token):
        """Probabilities after a token had the last layer's result been this value: an edited run's."""
        if (name, token) not in self.lenses:
            last = max((n for n in self.values if n.endswith(".l_out")), key=lambda n: int(n.split(".")[1]))
            shape, row = self.values[name][0], self.row(name, token)
            tensors.write(f"{self.folder}/row.safetensors", {last: ([1, *shape[1:]], row)})
            quiet("dump", self.model, "--ids", ",".join(self.ids.split(",")[:token + 1]), "--hooks", "logits", "-o",
                  f"{self.folder}/lens.safetensors", "-e", f"{last}[{token}] = @{self.folder}/row.safetensors")
            logits = tensors.read(f"{self.folder}/lens.safetensors")["logits"][1][-self.values["logits"][0][-1]:]
            self.lenses[name, token] = softmax(logits)
        return self.lenses[name, token]

    def width(self, name, token):
        """Numbers of the last axis of a value at a token."""
        shape = self.values[name][0]
        return token + 1 if name.split(".")[-1] in ("attn_scores", "attn_probs") else shape[-1]

    def row(self, name, token):
        shape, numbers = self.values[name]
        width = len(numbers) // shape[0]
        row = numbers[token * width:(token + 1) * width]
        if name.split(".")[-1] in ("attn_scores", "attn_probs"):  # [heads, cells]: those it may see
            cells = shape[-1]
            return [x for at in range(0, width, cells) for x in row[at:at + token + 1]]
        return row

    def part(self, name, token, index):
        """"max[0:4,128:132]": the numbers of a part as one."""
        pool, places = re.fullmatch(r"(\w+)\[(.*)\]", index).groups()
        row, slices = self.row(name, token), [tuple(map(int, p.split(":"))) for p in places.split(",")]
        width = self.width(name, token) if len(slices) == 2 else len(row)
        rows = range(*slices[0]) if len(slices) == 2 else (0,)
        numbers = [row[r * width + c] for r in rows for c in range(*slices[-1])]
        return {"max": max(numbers, key=abs), "mean": sum(numbers) / len(numbers), "first": numbers[0]}[pool]

    def check(self, name, index, value, token):
        """Whether a viewer shows what is: `value` of `name` at `index`, a value's of the token."""
        if name == "trace.json":
            found = value_of(self.document, index)
            expect(near(value, found) if index.endswith("+") else value == found, f"{index}: {value}, not {found}")
            self.seen["document"] += 1
        elif index.startswith("proof"):
            expect(index != "proof" or value <= 1, f"{name}: not proved: {value}")
            self.seen["proofs"] += 1
        elif name == "diff.json":
            expect(value == value_of(self.diff, index), f"{index}: {value}, not {value_of(self.diff, index)}")
            self.seen["differences"] += 1
        elif index.startswith("lens"):
            self.check_lens(name, index, value, token)
            self.seen["lens"] += 1
        elif name.endswith(".weight"):
            self.seen["blocks"] += 1
        elif index.isdigit():
            expect(value == self.row(name, token)[int(index)], f"{name}[{index}] of {token}: {value}")
            self.seen["numbers"] += 1
        elif index.endswith("]"):
            expect(near(value, self.part(name, token, index), 1e-6), f"{name} {index} of {token}: {value}")
            self.seen["counted"] += 1
        else:
            expect(near(value, statistic(self.row(name, token), index)), f"{name} {index} of {token}: {value}")
            self.seen["counted"] += 1

    def check_lens(self, name, index, value, token):
        p, drawn = self.lens(name, token), self.document["tokens"][token].get("sampled", {}).get("id")
        found = {"lens.top1": lambda: max(range(len(p)), key=p.__getitem__), "lens.p": lambda: max(p),
                 "lens.drawn.p": lambda: p[drawn], "lens.rank": lambda: 1 + sum(x > p[drawn] for x in p)}[index]()
        expect(near(value, found, 1e-5), f"{name} {index} of {token}: {value}, not {found}")
