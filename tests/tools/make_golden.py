#!/usr/bin/env python3
"""Writes what PyTorch says about the real models: greedy ids, sampled values, likelihoods.

Reads MODEL.prompts.json (ids, from make_golden_ids.py) and the GGUF file, runs transformers in F32
on the dequantised weights, and writes beside it, in tests/golden/ or the folder of --out,

    MODEL.greedy.json         32 greedy ids for each prompt, with the margin of every step
    MODEL.hooks.safetensors   every value of one short prompt, sampled (tests/golden/README.md)
    MODEL.nll.json            likelihood of each token of one long text, first choice of its start

--full DIR also writes, for comparisons that need every number, never committed:

    MODEL.hooks.full.safetensors    the same values, whole
    MODEL.prose.logits.safetensors  logits [360, n_vocab] of the text's first 360 positions

    python3 tests/tools/make_golden.py [--model smollm2|gemma3] [--out DIR] [--full DIR]
"""

import argparse
import json
from pathlib import Path

import numpy
import torch
from safetensors.numpy import save_file

import make_golden_models as models
import make_golden_torch as reference

GREEDY_STEPS = 32
TOP1_POSITIONS = 360
SAMPLES_PER_TENSOR = 64
SAMPLE_SEED = 20240229


def round_sig(value, digits):
    return float(f"{value:.{digits}g}")


def header(model):
    return {"model": model.file, "sha256": model.sha256,
            "command": f"python3 tests/tools/make_golden.py --model {model.key}",
            "torch": torch.__version__.split("+")[0]}


def write_greedy(model, net, prompts, out):
    rows = []
    for prompt in prompts["prompts"]:
        ids, margins = reference.greedy(net, prompt["ids"], GREEDY_STEPS)
        rows.append({"name": prompt["name"], "text": prompt["text"], "prompt_ids": prompt["ids"],
                     "ids": ids, "margins": [round_sig(margin, 5) for margin in margins]})
        print(f"  {prompt['name']}: smallest margin {min(margins):.5f}", flush=True)
    models.write_json(out / f"{model.key}.greedy.json",
               {**header(model), "ignore_eos": True, "prompts": rows})


def sample_indices(count):
    """One seeded pick from each of up to 64 equal stretches, so that every region is seen."""
    picks = min(count, SAMPLES_PER_TENSOR)
    edges = numpy.arange(picks + 1, dtype=numpy.int64) * count // picks
    rng = numpy.random.default_rng(SAMPLE_SEED)
    return (edges[:-1] + (rng.random(picks) * (edges[1:] - edges[:-1])).astype(numpy.int64))


def grouped_by_kind(values):
    """{kind: [tensor of layer 0, 1, ...]}; values outside the layers are groups of one."""
    groups = {}
    for name, value in values.items():
        groups.setdefault(name.rsplit(".", 1)[-1], []).append((name, value))
    layer = lambda name: int(name.split(".")[1]) if name.startswith("blk.") else 0
    return {kind: [value for _, value in sorted(group, key=lambda item: layer(item[0]))]
            for kind, group in groups.items()}


def sampled(values):
    """The compact form: for each kind its shape, sampled indices, their values, and whole sums."""
    out = {}
    for kind, tensors in grouped_by_kind(values).items():
        flat = numpy.stack([tensor.numpy().reshape(-1) for tensor in tensors])
        index = sample_indices(flat.shape[1])
        wide = flat.astype(numpy.float64)
        out[f"{kind}.shape"] = numpy.array(tensors[0].shape, dtype=numpy.int32)
        out[f"{kind}.index"] = index.astype(numpy.int32)
        out[f"{kind}.value"] = flat[:, index].copy()
        out[f"{kind}.sum"] = wide.sum(axis=1)
        out[f"{kind}.sumsq"] = (wide * wide).sum(axis=1)
    return out


def write_hooks(model, net, prompts, out, full_dir):
    prompt = prompts["hook_prompt"]
    values = reference.capture(net, prompt["ids"])
    metadata = {**header(model), "text": prompt["text"],
                "ids": ",".join(str(token) for token in prompt["ids"])}
    path = out / f"{model.key}.hooks.safetensors"
    save_file(sampled(values), path, metadata=metadata)
    print(f"{path.name}: {path.stat().st_size} bytes, {len(values)} values", flush=True)
    if full_dir:
        save_file({name: value.numpy() for name, value in values.items()},
                  full_dir / f"{model.key}.hooks.full.safetensors", metadata=metadata)


def token_nll(net, ids):
    """(-ln p of ids[1:] each given what precedes it, logits): sums in F64 over F32 logits."""
    logits = reference.logits_of(net, ids)
    nll = [float(torch.logsumexp(logits[at].double(), dim=0) - logits[at, token].double())
           for at, token in enumerate(ids[1:])]
    return nll, logits


def other_windows(model, net, ids):
    """Likelihoods under the window's two neighbours: a test must find the right one nearest."""
    out = {}
    for window in (model.window - 1, model.window + 1) if model.window else ():
        net.config.sliding_window = window
        nll, _ = token_nll(net, ids)
        out[f"nll_window_{window}"] = [round_sig(value, 9) for value in nll]
    if model.window:
        net.config.sliding_window = model.window
    return out


def write_nll(model, net, prompts, out, full_dir):
    ids = prompts["prose"]["ids"]
    nll, logits = token_nll(net, ids)
    best = torch.topk(logits[:TOP1_POSITIONS], 2)
    models.write_json(out / f"{model.key}.nll.json", {
        **header(model), "ids": ids, "mean_nll": sum(nll) / len(nll),
        f"mean_nll_{TOP1_POSITIONS}": sum(nll[:TOP1_POSITIONS - 1]) / (TOP1_POSITIONS - 1),
        "nll": [round_sig(value, 9) for value in nll], "top1": best.indices[:, 0].tolist(),
        "top1_margin": [round_sig(float(row[0] - row[1]), 5) for row in best.values],
        **other_windows(model, net, ids)})
    if full_dir:
        save_file({"logits": logits[:TOP1_POSITIONS].contiguous().numpy()},
                  full_dir / f"{model.key}.prose.logits.safetensors",
                  metadata={**header(model), "ids": ",".join(map(str, ids[:TOP1_POSITIONS]))})


def main():
    parser = argparse.ArgumentParser(description="write the golden files that PyTorch decides")
    parser.add_argument("--model", choices=[model.key for model in models.MODELS])
    parser.add_argument("--models-dir", default=models.ROOT / "models")
    models.add_out_option(parser)
    parser.add_argument("--full", type=Path, metavar="DIR", help="also write whole tensors there")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--part", choices=("greedy", "hooks", "nll"), help="only this part")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.full:
        options.full.mkdir(parents=True, exist_ok=True)
    for model in models.chosen(options.model):
        path = options.out / f"{model.key}.prompts.json"
        prompts = json.loads(path.read_text(encoding="ascii"))
        print(f"{model.key}: loading {model.file}", flush=True)
        net = reference.load(models.model_path(options.models_dir, model))
        if options.part in (None, "hooks"):
            write_hooks(model, net, prompts, options.out, options.full)
        if options.part in (None, "greedy"):
            write_greedy(model, net, prompts, options.out)
        if options.part in (None, "nll"):
            write_nll(model, net, prompts, options.out, options.full)


if __name__ == "__main__":
    main()
