"""vetro run --trace from outside: the same in a folder and in one file, equal to what dump and run say,
and nothing of the run is changed by it."""

import json
import os
import shutil
import sys
import zipfile

import tensors
from check import equal, error, expect, object_of, quiet

MODEL, FOLDER = sys.argv[2:4]
PROMPT = ("--ids", "5,9,12,300,7", "-n", "4", "--temp", "0.9", "--top-k", "20", "--seed", "3")


def path(name):
    return f"{FOLDER}/{name}"


def traced(name, *options):
    quiet("run", MODEL, *PROMPT, "--trace", path(name), *options)
    return path(name)


def files_of(trace):
    """{name: bytes} of a folder or a .vtrace."""
    if os.path.isfile(trace):
        with zipfile.ZipFile(trace) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    found = {}
    for folder, _, names in os.walk(trace):
        for name in names:
            full = os.path.join(folder, name)
            found[os.path.relpath(full, trace)] = open(full, "rb").read()
    return found


def without_times(document):
    for batch in document["batches"]:
        batch["ms"], batch["step_us"] = 0, []
    return document


def complete():
    plain = object_of("run", MODEL, *PROMPT)
    folder, one = traced("folder"), traced("one.vtrace")
    document = json.load(open(f"{folder}/trace.json"))
    # Looking changed nothing.
    equal(json.loads(quiet("run", MODEL, *PROMPT, "--json", "--trace", path("again.vtrace")))["ids"],
          plain["ids"])
    equal([t["id"] for t in document["tokens"]], plain["prompt_ids"] + plain["ids"])
    equal((document["text"], document["stop"]), (plain["text"], plain["stop"]))
    # One file holds what the folder holds.
    a, b = files_of(folder), files_of(one)
    equal(sorted(a), sorted(b))
    expect(all(a[name] == b[name] for name in a if name != "trace.json"), "the files differ")
    equal(without_times(json.loads(a["trace.json"])), without_times(json.loads(b["trace.json"])))
    return folder, document


def true(folder, document):
    """What it says is what other commands say."""
    ids = ",".join(str(t["id"]) for t in document["tokens"][:-1])
    quiet("dump", MODEL, "--ids", ids, "--hooks", "blk.*.l_out", "-o", path("dump.safetensors"))
    dumped = tensors.read(path("dump.safetensors"))
    equal(document["hooks"], sorted(dumped))
    for token in document["tokens"][:-1]:
        batch = document["batches"][token["batch"]]
        values = tensors.read(f"{folder}/{batch['values']}")
        for name in document["hooks"]:
            shape, numbers = values[name]
            equal(shape[0], batch["tokens"])
            width, row, at = shape[1], token["row"], token["position"]
            expect(numbers[row * width:(row + 1) * width] ==
                   dumped[name][1][at * width:(at + 1) * width], f"{name} of token {at}")
    equal(document["tokens"][-1]["batch"], -1)
    for token, after in zip(document["tokens"][4:], document["tokens"][5:]):
        stages = token["sampled"]["stages"]
        equal(token["sampled"]["id"], after["id"])
        equal([s["name"] for s in stages if s["active"]][-1], "dist")
        equal(stages[-1]["top"][0]["id"], after["id"])
        expect(stages[-1]["in"] <= 20, "top-k keeps 20")
    passes = json.loads(quiet("passes", MODEL, "--json"))["passes"]
    equal([p["pass"] for p in document["passes"]], [p["pass"] for p in passes])
    for ours, theirs in zip(document["passes"], passes):
        equal(sum(r["fired"] for r in ours["rewrites"]), len(theirs["fired"]))
        for rewrite in ours["rewrites"]:
            file, line = rewrite["source"].split(":")
            expect(file.startswith("passes/") and int(line) > 0, rewrite)
    fused = document["passes"][1]["rewrites"][0]
    equal((fused["site"], fused["in"]), ("blk.0.q", ["blk.0.q", "blk.0.k", "blk.0.v"]))
    steps = document["steps"]
    for batch in document["batches"]:
        equal(len(batch["step_us"]), len(steps))
        expect(0 < sum(batch["step_us"]) <= batch["ms"] * 1000 * 1.5 + 100, "times add up")
    assembly = open(f"{folder}/{document['assembly']}").read()
    expect(all(step["function"] + ":" in assembly for step in steps), "steps are in the assembly")
    graph = json.load(open(f"{folder}/{document['graphs']['planned']}"))
    names = {node["name"] for node in graph["nodes"]}
    expect({step["name"] for step in steps if step["name"]} <= names, "steps are nodes")
    for p in document["passes"]:
        if p.get("ir"):
            text = open(f"{folder}/{p['ir']}").read()
            expect("%blk.2.l_out" in text, p["ir"])


def choices():
    folder = traced("none", "--trace-hooks", "")
    document = json.load(open(f"{folder}/trace.json"))
    equal((document["hooks"], [b.get("values") for b in document["batches"]]), ([], [None] * 4))
    document = json.load(open(f"{traced('all', '--trace-hooks', '*')}/trace.json"))
    expect({"blk.0.q", "blk.2.ffn_out"} & set(document["hooks"]) == {"blk.0.q"}, document["hooks"])
    # Nothing generated: what was drawn is no token.
    quiet("run", MODEL, "--ids", "5,9,12", "-n", "0", "--trace", path("zero"))
    document = json.load(open(f"{path('zero')}/trace.json"))
    equal([t["id"] for t in document["tokens"]], [5, 9, 12])
    # A trace takes the place of a trace, and of nothing else.
    traced("all")
    os.makedirs(path("mine"))
    open(path("mine/letter.txt"), "w").write("dear")
    error("run", MODEL, *PROMPT, "--trace", path("mine"), has=["mine", "no trace"])
    equal(os.listdir(path("mine")), ["letter.txt"])
    error("run", MODEL, *PROMPT, "--trace", path("x"), "--trace-hooks", "nothing", has=["nothing"])
    error("run", MODEL, *PROMPT, "--trace", path("x"), "--reference", has=["--reference"])
    error("run", MODEL, *PROMPT, "--trace", f"{MODEL}/x.vtrace", has=["x.vtrace"])


shutil.rmtree(FOLDER, ignore_errors=True)
os.makedirs(FOLDER)
true(*complete())
choices()
print("trace: done")
