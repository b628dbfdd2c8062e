#!/usr/bin/env python3
"""Holds `vetro perplexity` on the real models against PyTorch and llama.cpp on the same chunks.

    python3 tests/tools/measure_perplexity.py [--model smollm2|gemma3]

The text is that of tests/golden/*.nll.json, 800 tokens, in chunks of 256. PyTorch's figure bounds the
interpreter's; llama.cpp's logits are put into a file by llama-perplexity's arithmetic, done here in
NumPy, and the divergence from it must be NumPy's. Prints a table for docs/measurements.md; exit code 1
and a line for each miss.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
import torch

import make_golden_models as models
import make_golden_torch as reference
from llama_cpp_peer import LlamaCpp
from logit_distance import log_softmax

CTX = 256
FIRST = CTX // 2


def measured(options, path, ids, *arguments):
    command = [options.vetro, "perplexity", path, "--ids", ",".join(map(str, ids)), "--threads", 2,
               "-c", CTX, "--json", *arguments]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"measure_perplexity: {arguments}: {done.stderr}")
    return json.loads(done.stdout)


def counted(model, ids, logits_of):
    """(logits [FIRST - 1, n_vocab], the tokens that came) of each chunk."""
    for begin in range(0, len(ids) - CTX + 1, CTX):
        chunk = ids[begin:begin + CTX]
        run = [model.bos if model.key == "gemma3" else chunk[0], *chunk[1:]]
        yield numpy.asarray(logits_of(run))[FIRST:CTX - 1], chunk[FIRST + 1:]


def perplexity(chunks):
    return float(numpy.exp(numpy.mean([-log_softmax(row)[token] for logits, tokens in chunks
                                       for row, token in zip(logits, tokens)])))


def packed(row):
    """A row of the file, in float32 as llama-perplexity's log_softmax() does it."""
    best, f32 = row.max(), numpy.float32
    least = max(row.min(), best - f32(16))
    total = f32(numpy.log(numpy.exp(row - best).sum(dtype=numpy.float64)))
    scale = f32((best - least) / f32(65535))
    codes = numpy.where(row > least, numpy.rint(f32(1) / scale * (row - least)), 0).astype("<u2")
    head = numpy.array([scale, least - best - total], "<f4")
    return head, codes


def write_base(path, ids, chunks, n_vocab):
    with open(path, "wb") as file:
        count = len(ids) // CTX
        file.write(b"_logits_" + numpy.array([CTX, n_vocab, count], "<u4").tobytes())
        file.write(numpy.array(ids[:count * CTX], "<i4").tobytes())
        for logits, _ in chunks:
            for row in logits:
                head, codes = packed(row)
                file.write(head.tobytes() + codes.tobytes() + bytes(2 * (n_vocab % 2)))


def stored(path, n_vocab):
    """ln p of every row of a file of saved logits."""
    data = open(path, "rb").read()
    at = 20 + 4 * CTX * int(numpy.frombuffer(data, "<i4", 1, 16)[0])
    while at < len(data):
        scale, low = numpy.frombuffer(data, "<f4", 2, at)
        yield scale * numpy.frombuffer(data, "<u2", n_vocab, at + 8).astype(numpy.float64) + low
        at += 8 + 2 * (n_vocab + n_vocab % 2)


def mean_kl(bases, rows):
    """KL(base || row) over what the base holds likelier than e^-16, by NumPy."""
    total = [float((numpy.exp(b) * (b - r))[b > -16].sum()) for b, r in zip(bases, rows)]
    return sum(total) / len(total)


def compare(options, model, folder):
    """The misses of one model."""
    path = models.model_path(options.models_dir, model)
    ids = json.loads((models.GOLDEN / f"{model.key}.nll.json").read_text(encoding="ascii"))["ids"]
    net = reference.load(path)
    torch_ppl = perplexity(counted(model, ids, lambda run: reference.logits_of(net, run)))
    del net
    peer = LlamaCpp(path, n_ctx=CTX, threads=2)
    theirs = list(counted(model, ids, peer.logits))
    peer.close()
    n_vocab = theirs[0][0].shape[1]
    write_base(folder / "base", ids, theirs, n_vocab)
    fast = measured(options, path, ids, "--kl-base", folder / "base", "--save-logits", folder / "own")
    exact = measured(options, path, ids, "--reference", "--kv", "f32")
    own = mean_kl(stored(folder / "base", n_vocab), stored(folder / "own", n_vocab))
    kl = fast["divergence"]["kl"]["value"]
    again = measured(options, path, ids, "--kl-base", folder / "own")["divergence"]
    peer_ppl = perplexity(theirs)
    print(f"| {model.key} | {torch_ppl:.5f} | {exact['ppl']:.5f} | {fast['ppl']:.5f} ± "
          f"{fast['ppl_error']:.3f} | {peer_ppl:.5f} | {kl:.6f} | {own:.6f} | "
          f"{again['kl']['value']:.1e} |", flush=True)
    checks = ((abs(exact["ppl"] / torch_ppl - 1) < 1e-4, "the interpreter's perplexity is not PyTorch's"),
              (abs(fast["ppl"] / torch_ppl - 1) < 5e-3, "the perplexity is not PyTorch's within 0.5 %"),
              (abs(numpy.exp(fast["divergence"]["base_nll"]["value"]) / peer_ppl - 1) < 1e-4,
               "llama.cpp's perplexity is not that of its file"),
              (abs(kl - own) < 2e-5, "the divergence is not NumPy's"), # 16 bits on one side more
              (abs(again["kl"]["value"]) < 1e-5 and again["same_top"]["value"] > 0.99,
               "a run diverges from itself"))
    return [f"{model.key}: {what}" for holds, what in checks if not holds]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", choices=[model.key for model in models.MODELS])
    parser.add_argument("--models-dir", default=models.ROOT / "models")
    parser.add_argument("--vetro", default=models.ROOT / "build" / "bin" / "vetro")
    options = parser.parse_args()
    torch.set_num_threads(2)
    print("| model | PyTorch | interpreter | fast path | llama.cpp | KL(llama.cpp, ours) | by NumPy | "
          "KL(ours, ours) |")
    print("|---|---|---|---|---|---|---|---|")
    misses = []
    for model in models.chosen(options.model):
        with tempfile.TemporaryDirectory() as folder:
            misses += compare(options, model, Path(folder))
    print("\n" + ("\n".join(misses) or "PyTorch, llama.cpp and NumPy agree"))
    sys.exit(bool(misses))


if __name__ == "__main__":
    main()
