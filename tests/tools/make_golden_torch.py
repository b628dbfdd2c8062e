"""A GGUF file in PyTorch: F32 on dequantised weights, eager attention, every value observable.

`load` gives transformers' model; `greedy`, `logits_of` and `capture` run it. `capture` returns the
values of one prompt under Vetro's names and in Vetro's layouts (docs/tensor-names.md); it needs the package
vetro, which knows where each value is found: PYTHONPATH=build/python.
"""

import torch
from transformers.utils import logging

import vetro.torch


def load(path):
    """The model in F32."""
    logging.disable_progress_bar()
    return vetro.torch.load(path)


@torch.no_grad()
def logits_of(model, ids):
    """Logits [T, n_vocab] of one prompt, all positions in one pass, no cache."""
    return model(torch.tensor([ids]), use_cache=False).logits[0]


@torch.no_grad()
def greedy(model, ids, steps):
    """`steps` greedy ids and for each the first minus the second logit; ends never stop it."""
    out, margins = [], []
    result = model(torch.tensor([ids]), use_cache=True)
    for _ in range(steps):
        best = torch.topk(result.logits[0, -1], 2)
        out.append(int(best.indices[0]))
        margins.append(float(best.values[0]) - float(best.values[1]))
        result = model(torch.tensor([[out[-1]]]), use_cache=True, cache=result.cache)
    return out, margins


def capture(model, ids):
    """All values of one prompt in Vetro's layouts: {name: tensor}, dtype that of the model."""
    return vetro.torch.values(model, ids)
