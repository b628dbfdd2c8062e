"""vetro eval from outside: a graph by hand, a folder that bisect left, errors, exit codes."""

import json
import os
import re
import shlex
import subprocess
import sys

import tensors
from check import equal, error, expect, quiet, run

VETRO = sys.argv[1]
MODEL, FOLDER = sys.argv[2:4]
IDS = ("--ids", "5,9,12,300,7,45,81,3")


def path(name):
    return f"{FOLDER}/{name}"


def write(name, text):
    open(path(name), "w").write(text)
    return path(name)


def by_hand():
    graph = write("product.mlir", """func.func @f(%a: tensor<2x2x4xf32> {vetro.input = "a"},
                  %b: tensor<2x3x4xf32> {vetro.input = "b"}) -> tensor<2x2x3xf32> {
  %c = vetro.bmm %a, %b : (tensor<2x2x4xf32>, tensor<2x3x4xf32>) -> tensor<2x2x3xf32> loc("c")
  return %c : tensor<2x2x3xf32>
}""")
    a = [float(i % 7 - 3) for i in range(16)]
    b = [float(i % 5 - 2) for i in range(24)]
    c = [sum(a[(g * 2 + i) * 4 + k] * b[(g * 3 + j) * 4 + k] for k in range(4))
         for g in range(2) for i in range(2) for j in range(3)]
    values = path("values.safetensors")
    tensors.write(values, {"a": ([2, 2, 4], a), "b": ([2, 3, 4], b), "c": ([2, 2, 3], c)})
    for options in ((), ("--level", "scalar"), ("--reference",)):
        result = json.loads(run("eval", graph, values, "--json", *options).stdout)["results"]
        equal([(r["name"], r["shape"], r["right"], r["expected"]["snr_db"]) for r in result],
              [("c", [2, 2, 3], True, None)])
        equal("kernel" in result[0], options != ("--reference",))
    out = path("out.safetensors")
    text = run("eval", graph, values, "-o", out).stdout.decode()
    expect("against the file's value: equal dB" in text, text)
    equal(tensors.read(out)["c"], ([2, 2, 3], c))
    c[4] += 1
    tensors.write(values, {"a": ([2, 2, 4], a), "b": ([2, 3, 4], b), "c": ([2, 2, 3], c)})
    expect(b"differs" in run("eval", graph, values, code=1).stdout, "a wrong value is seen")
    run("eval", graph, values, "--min-snr", "1", code=0)
    error("eval", graph, has=["no tensor \"a\""])
    product = write("two-values.mlir", """func.func @f(%b: tensor<?x4xf32> {vetro.input = "b"},
                    %a: tensor<2x4xf32> {vetro.input = "a"}) -> tensor<?x2xf32> {
  %c = vetro.matmul %b, %a : (tensor<?x4xf32>, tensor<2x4xf32>) -> tensor<?x2xf32> loc("c")
  return %c : tensor<?x2xf32>
}""")
    rows = path("rows.safetensors")
    tensors.write(rows, {"a": ([2, 4], a[:8]), "b": ([6, 4], b)})
    error("eval", product, rows, has=["(c) multiplies with", "vetro.bmm"])
    run("eval", product, rows, "--reference")
    error("eval", graph, values, "-o", values, has=["-o"])
    error("eval", write("bad.mlir", "func.func @f() {"), has=["bad.mlir:1:"])
    error("eval", path("nowhere.mlir"), has=["nowhere.mlir"])


def cut_out():
    rope, eps = "llama.rope.freq_base=f32:100", "llama.attention.layer_norm_rms_epsilon=f32:0.01"
    # Of the last the ops are a whole layer, through the cache, from the tokens on.
    for option, hooks, name in ((rope, "*", "blk.0.q_rope"), (eps, "*", "blk.0.attn_norm"),
                                (rope, "blk.*.l_out", "blk.0.l_out")):
        reference = path("reference.safetensors")
        quiet("dump", MODEL, *IDS, "--hooks", hooks, "-o", reference, "--reference", "--kv", "f32")
        folder = path(name)
        text = run("bisect", MODEL, reference, "--override-kv", option, "--repro", folder,
                   code=1).stdout.decode()
        command = re.search(r"^alone: cd \S+ && vetro (.*)$", text, re.M)[1]
        expect(command in open(f"{folder}/README.md").read(), "README.md tells the command")
        again = subprocess.run([os.path.abspath(VETRO), *shlex.split(command)], cwd=folder,
                               capture_output=True, text=True)
        equal(again.returncode, 1)
        expect(again.stdout.startswith(name) and "differs" in again.stdout, again.stdout)
    error("bisect", MODEL, reference, "--override-kv", rope, "--repro",
          f"{reference}/x", has=[reference])


os.makedirs(FOLDER, exist_ok=True)
by_hand()
cut_out()
print("eval: done")
