#!/usr/bin/env python3
"""Writes tests/golden/MODEL.peer.json: how far llama.cpp is from PyTorch on the same file and text.

llama.cpp multiplies 8-bit activations, as Vetro's fast path does, so its distance from F32 is the
measure of the fast path's. Needs the logits that `make_golden.py --full DIR` leaves in DIR.

    python3 tests/tools/make_golden_peer.py --full DIR [--model smollm2|gemma3]
"""

import argparse
import json
from pathlib import Path

import numpy
from safetensors.numpy import load_file

import make_golden_models as models
from llama_cpp_peer import LlamaCpp, system_info
from logit_distance import distance, nll_of

KL_POSITIONS = 360


def measure(path, golden, wanted, flash_attn):
    """Distance over the first 360 positions and mean likelihood over the whole text."""
    ids = golden["ids"]
    peer = LlamaCpp(path, n_ctx=1024, threads=1, flash_attn=flash_attn)
    logits = peer.logits(ids)
    peer.close()
    nll = nll_of(logits, ids)
    off = numpy.abs(numpy.array(nll) - numpy.array(golden["nll"]))
    return {**distance(wanted, logits[:KL_POSITIONS]), "mean_nll": sum(nll) / len(nll),
            "mean_nll_pytorch": golden["mean_nll"], "nll_mean_abs_difference": float(off.mean())}


def main():
    parser = argparse.ArgumentParser(description="measure llama.cpp's distance from PyTorch")
    parser.add_argument("--full", type=Path, required=True, metavar="DIR")
    parser.add_argument("--model", choices=[model.key for model in models.MODELS])
    parser.add_argument("--models-dir", default=models.ROOT / "models")
    options = parser.parse_args()
    for model in models.chosen(options.model):
        golden_path = models.GOLDEN / f"{model.key}.nll.json"
        golden = json.loads(golden_path.read_text(encoding="ascii"))
        wanted = load_file(options.full / f"{model.key}.prose.logits.safetensors")["logits"]
        path = models.model_path(options.models_dir, model)
        rows = {f"flash_attention_{mode}": measure(path, golden, wanted, mode)
                for mode in ("off", "on")}
        models.write_json(models.GOLDEN / f"{model.key}.peer.json", {
            "model": model.file, "sha256": model.sha256,
            "command": f"python3 tests/tools/make_golden_peer.py --full DIR --model {model.key}",
            "peer": "llama.cpp of llama-cpp-python 0.3.36, 1 thread, K and V F16",
            "features": system_info(), **rows})


if __name__ == "__main__":
    main()
