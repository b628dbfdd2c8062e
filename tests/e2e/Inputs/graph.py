"""vetro graph with numbers beside its nodes, as JSON and for Model Explorer; from a model, a trace and MLIR text;
with names that would act on what shows them; large graphs in time.

    graph.py VETRO FOLDER
"""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import xml.dom.minidom

from check import equal, error, expect, object_of, quiet

FOLDER = sys.argv[2]
MODEL = f"{FOLDER}/m.gguf"


def path(name):
    return f"{FOLDER}/{name}"


def graph(name, *arguments):
    quiet("graph", *arguments, "-o", path(name))
    return open(path(name), encoding="utf-8").read()


def texts(svg):
    xml.dom.minidom.parseString(svg.encode())  # it is XML
    return [re.sub("&#160;|&#181;", lambda m: {"&#160;": " ", "&#181;": "µ"}[m[0]], t)
            for t in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]


def overlays():
    document = json.load(open(path("run/trace.json")))
    single = [b["step_us"] for b in document["batches"] if b["tokens"] == 1]
    medians = [sorted(us)[len(us) // 2] for us in zip(*single)]
    for source in ((path("run"),), (MODEL, "--trace", path("run"), "--layer", "all")):
        shown = texts(graph("time.svg", *source, "--overlay", "time"))
        wanted = sorted(f"{us:.1f} µs" for us in medians)
        equal(sorted(t for t in shown if re.fullmatch(r"[0-9.]+ µs", t)), wanted)
    folded = texts(graph("folded.svg", MODEL, "--trace", path("run"), "--overlay", "bytes"))
    expect(any("weights read" in t for t in folded), "the title does not say what the numbers are")
    named = {s["name"]: s["weight_bytes"] for s in document["steps"]}
    layer = texts(graph("layer.svg", path("run"), "--layer", "1", "--overlay", "bytes"))
    expect(f"{named['blk.1.ffn_act'] / 1e3:.1f} kB" in layer, f"{named['blk.1.ffn_act']} in {layer}")


def errors():
    for name, options in (("ours", ("--override-kv", "llama.rope.freq_base=f32:5000")), ("reference", ("--reference",))):
        quiet("dump", MODEL, "--ids", "5,9,12,300", "--hooks", "blk.*", *options, "-o", path(f"{name}.safetensors"))
    found = object_of("diff", path("ours.safetensors"), path("reference.safetensors"), "--model", MODEL, code=1)
    json.dump(found, open(path("diff.json"), "w"))
    shown = texts(graph("error.svg", MODEL, "--layer", "0", "--overlay", "error", "--diff", path("diff.json")))
    row = next(r for r in found["rows"] if r["name"] == "blk.0.q_rope")
    ratio = max(row["graph"]["ratio"], row["kernel"]["ratio"])
    expect(ratio > 1, "the wrong base is not seen")
    expect(f"{row['snr_db']:.1f} dB, {ratio:.2f} of its floor" in shown, f"{row} in {shown}")


def as_json():
    whole = json.loads(graph("all.json", MODEL))
    of_trace = json.loads(graph("trace.json", path("run")))
    equal(of_trace, whole)  # a trace keeps what the model gives
    layer = json.loads(graph("layer.json", MODEL, "--layer", "1"))
    equal([n["id"] for n in layer["nodes"]], [n["id"] for n in whole["nodes"] if n["layer"] == 1])
    near = json.loads(graph("near.json", MODEL, "--around", "blk.1.q_rope:1"))
    drawn = graph("near.dot", MODEL, "--around", "blk.1.q_rope:1")
    for node in near["nodes"]:
        expect(f'id="{node["id"]}"' in drawn, f"{node['id']} is not in the drawing")
    for part in (layer, near):
        expect(part["edges"] and all(0 <= e[end] < len(part["nodes"]) for e in part["edges"] for end in ("from", "to")),
               "an edge leads out of the part")


def model_explorer():
    found = json.loads(graph("me.json", path("run"), "--model-explorer", "--overlay", "time"))
    nodes = found["graphs"][0]["nodes"]
    ids = [n["id"] for n in nodes]
    equal(len(ids), len(set(ids)))
    equal(ids, [n["id"] for n in json.loads(graph("all.json", MODEL))["nodes"]])
    outputs = {n["id"]: n for n in nodes}
    expect(all(e["sourceNodeId"] in outputs for n in nodes for e in n["incomingEdges"]), "an edge from nowhere")
    expect(any(n["namespace"] == "blk.1/ffn" for n in nodes), "layers are no folders")
    expect(all(isinstance(a["value"], str) for n in nodes for a in n["attrs"]), "attributes are texts")
    expect(any("style" in n for n in nodes), "the overlay colours nothing")


PRODUCT = """vetro.weight @A : tensor<4x2xf32>
func.func @product(%b: tensor<3x2xf32> {vetro.input = "B"}) -> tensor<3x4xf32> {
  %a = vetro.get_weight @A : tensor<4x2xf32>
  %c = vetro.matmul %b, %a : (tensor<3x2xf32>, tensor<4x2xf32>) -> tensor<3x4xf32> loc("C<b>")
  return %c : tensor<3x4xf32>
}
"""


def mlir_text():
    """A graph that was written by hand."""
    open(path("product.mlir"), "w").write(PRODUCT)
    shown = texts(graph("product.svg", path("product.mlir")))
    for words in ("product.mlir", "C&lt;b&gt;", "B"):
        expect(words in shown, f"{words} is not in {shown}")
    expect(any("matmul" in t and "[3, 4]" in t for t in shown) and any(t.startswith("A") and "4×2" in t for t in shown), f"{shown}")
    nodes = json.loads(graph("product.json", path("product.mlir")))["nodes"]
    expect([n for n in nodes if n["op"] == "matmul"], f"{nodes}")
    open(path("wrong.mlir"), "w").write(PRODUCT.replace("3x4", "4x3"))
    error("graph", path("wrong.mlir"), "-o", path("x.svg"), has=["wrong.mlir: C<b>: ", "vetro.matmul", "[3, 4]"])
    error("graph", path("product.mlir"), "--layer", "0", "-o", path("x.svg"), has=['no layer "0"', "expected all"])


def refusals():
    for arguments, words in (((MODEL, "--overlay", "time"), "--trace"), ((MODEL, "--overlay", "error"), "--diff"),
                             ((path("run"), "--stage", "fused", "--overlay", "time"), "planned"),
                             (("tiny", "--trace", path("run"), "--overlay", "time"), "another model"), ((MODEL, "--disable", "fuse-qkv", "--trace", path("run"), "--overlay", "time"), "other options"),
                             ((path("run"), "--layer", "9"), "no layer"), ((path("run"), "--trace", path("run")), "already")):
        error("graph", *arguments, "-o", path("x.svg"), has=[words])
    error("graph", MODEL, "--model-explorer", "-o", path("x.svg"), has=["json"])
    shutil.copytree(path("run"), path("damaged"))
    for damage in ('{"nodes": 3}', '{"nodes": [{}], "edges": []}', "[", "null"):
        open(path("damaged/graph.planned.json"), "w").write(damage)
        error("graph", path("damaged"), "-o", path("x.svg"), has=["damaged"])


def hostile():
    bad = "a\"b<c>&d\n\x1b[31m\\e\u202ef\u200bg\ufeff{h}|i"
    shutil.copytree(path("run"), path("hostile"))
    document = json.load(open(path("hostile/graph.planned.json")))
    for node in document["nodes"][5:9]:
        node["id"] = node["name"] = bad + node["id"]
        node["drawn"]["results"] = [{"name": bad, "type": bad}]
        node["drawn"]["lines"] = [bad]
        node["drawn"]["operands"] = [{**o, "text": bad, "port": bad} for o in node["drawn"]["operands"]]
    json.dump(document, open(path("hostile/graph.planned.json"), "w"))
    dot = graph("bad.dot", path("hostile"))
    done = subprocess.run(["dot", "-Tsvg", path("bad.dot")], capture_output=True)
    equal((done.returncode, done.stderr), (0, b""))
    svg = graph("bad.svg", path("hostile"))
    xml.dom.minidom.parseString(svg.encode())
    for text in (dot, svg, done.stdout.decode()):
        for character in "\x1b\u202e\u200b\ufeff":
            expect(character not in text, f"{character!r} is in the drawing")
    for text in (svg, done.stdout.decode()):
        expect("<c>" not in text, "a name became an element")
    json.loads(graph("bad.json", path("hostile")))


def in_time():
    """CPU time, since others use the machine too."""
    quiet("make-tiny", "--arch", "llama", "--type", "Q4_0", "--layers", "130", "-o", path("big.gguf"))
    big = json.loads(graph("big.json", path("big.gguf"), "--stage", "frontend"))
    expect(len(big["nodes"]) > 4000, f"{len(big['nodes'])} nodes")
    for options, most in (((), 2), (("--layer", "77"), 1)):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        graph("big.svg", path("big.gguf"), "--stage", "frontend", *options)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        expect(seconds <= most, f"{len(big['nodes'])} nodes {options} took {seconds:.2f} s, at most {most}")


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(FOLDER)
    quiet("make-tiny", "--arch", "llama", "--type", "Q4_0", "--layers", "3", "-o", MODEL)
    quiet("run", MODEL, "--ids", "5,9,12", "-n", "4", "--ignore-eos", "--trace", path("run"))
    overlays()
    errors()
    as_json()
    model_explorer()
    mlir_text()
    refusals()
    hostile()
    in_time()
    print("graph: done")


main()
