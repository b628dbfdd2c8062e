"""The values of a Hugging Face model under Vetro's names, for `vetro diff`.

    from vetro.torch import capture, load
    model = load("model.gguf")                      # the same weights, dequantised to F32
    capture(model, [504, 3575, 282], "torch.safetensors")

Every tensor is written as PyTorch has it; the metadata name the steps that lead to Vetro's layout. Where
each value is found comes from `vetro.alignment` (the architecture's own file), not from this one.
"""

import argparse
import functools
import json
import pathlib
import re
import sys

import torch

import vetro
from vetro.spool import Spool
from vetro.torch_models import CaptureError, check_weights, load
from vetro.torch_watch import Modules, Recorder, has_experts, run

__all__ = ["CaptureError", "capture", "load", "values"]


@functools.cache
def alignment(arch):
    """vetro.alignment's rows of an architecture or a model_type."""
    try:
        return vetro.alignment(arch)
    except ImportError as error:  # of the extension module: the message tells how to get it
        raise CaptureError(str(error)) from None
    except vetro.Error as error:
        raise CaptureError(error.message) from None


def _check(model, ids):
    config = model.config.get_text_config()
    kinds = {"attn": "scores and probabilities"}
    if has_experts(model):
        kinds["experts"] = "what each expert computes"
    for kind, hidden in kinds.items():
        found = getattr(config, f"_{kind}_implementation", None)
        if found != "eager":
            raise CaptureError(f"{kind}_implementation is '{found}', which hides {hidden}: load the "
                               f"model with {kind}_implementation='eager'")
    if not ids:
        raise CaptureError("no token: name at least one id")
    vocabulary = model.get_input_embeddings().num_embeddings
    if bad := [i for i in ids if not 0 <= i < vocabulary]:
        raise CaptureError(f"id {bad[0]} is outside the vocabulary of {vocabulary}")
    check_weights(model)


def _record(model, ids, arch, wanted, keep):
    """Runs the prompt; ({name: its row}, the names that should be there, both in order)."""
    _check(model, ids)
    rows, modules = alignment(arch or model.config.model_type), Modules(model)
    record = Recorder(rows, wanted, keep)
    run(model, ids, modules, record)
    return record.found, [name for name in modules.expected(rows) if wanted(name)]


def _split_heads(value, head_dim):
    return value.unflatten(-1, (-1, head_dim))


def _halves_to_pairs(value, _head_dim):
    halves = value.unflatten(-1, (2, value.shape[-1] // 2))
    return halves.transpose(-1, -2).flatten(-2)


TRANSFORMS = {"drop_batch": lambda value, _: value[0],
              "split_heads": _split_heads,
              "heads_second": lambda value, _: value.transpose(0, 1),
              "halves_to_pairs": _halves_to_pairs}


def values(model, ids, arch=None):
    """{name: tensor in Vetro's layout} of one prompt, in the order of computation."""
    found = {}
    rows, _ = _record(model, list(ids), arch, lambda name: True,
                      lambda name, value: found.update({name: value.clone()}))
    config = model.config.get_text_config()
    head_dim = getattr(config, "head_dim", None) or (config.hidden_size
                                                     // config.num_attention_heads)
    for name, row in rows.items():
        for transform in row["transforms"]:
            found[name] = TRANSFORMS[transform](found[name], head_dim)
        found[name] = found[name].contiguous()
    return found


def _metadata(model, ids, rows):
    metadata = {"producer": "vetro.torch.capture", "model_type": model.config.model_type,
                "ids": ",".join(map(str, ids)),
                "dtype": str(model.dtype).removeprefix("torch."), "positions": "all"}
    for name, row in rows.items():
        metadata[f"transforms:{name}"] = ",".join(row["transforms"])
    return metadata


def capture(model, ids, path, arch=None, names=("*",), layers=None):
    """Writes the values of one prompt; returns the names that could not be found.

    model: transformers' causal model, eager; the file is the same, to the bit, whether it was loaded
    whole or by layer. ids: the prompt. path: the safetensors to write, value by value as they are
    computed; beside it path + ".index.json" says of each name its module or function, port,
    transforms, shape and type. names: patterns of names to keep. layers: of these layers only. Raises
    CaptureError, and then writes nothing; nothing of the model is changed.
    """
    globs = [re.compile(re.escape(n).replace(r"\*", ".*").replace(r"\?", ".")) for n in names]

    def wanted(name):
        layer = re.match(r"blk\.(\d+)\.", name)
        return (any(g.fullmatch(name) for g in globs)
                and (layers is None or (layer is not None and int(layer.group(1)) in layers)))

    ids = list(ids)
    with Spool(path) as spool:
        rows, expected = _record(model, ids, arch, wanted, spool.add)
        spool.write(_metadata(model, ids, rows))
        described = spool.described()
    missing = [name for name in expected if name not in rows]
    index = {"missing": missing, "values": {
        name: {**rows[name], "name": name, **more} for name, more in described.items()}}
    pathlib.Path(f"{path}.index.json").write_text(json.dumps(index, indent=1), encoding="utf-8")
    if missing:
        print(f"vetro.torch: not found: {', '.join(missing[:8])}"
              f"{', ...' if len(missing) > 8 else ''} ({len(missing)} of {len(expected)})",
              file=sys.stderr)
    return missing


def main():
    parser = argparse.ArgumentParser(prog="python -m vetro.torch", description=__doc__.split("\n")[0])
    parser.add_argument("model", help="a GGUF file (dequantised) or a checkpoint's folder")
    parser.add_argument("--ids", required=True, help="the prompt: 504,3575,282")
    parser.add_argument("-o", "--output", required=True, help="the safetensors to write")
    parser.add_argument("--names", default="*", help="patterns, separated by commas")
    parser.add_argument("--dtype", default="float32", choices=["float64", "float32", "bfloat16"])
    parser.add_argument("--arch", help="whose values they are, where the model's own model_type does not tell")
    parser.add_argument("--by-layer", action="store_true",
                        help="read weights when they are used: for a model that memory does not hold")
    options = parser.parse_args()
    try:
        ids = [int(i) for i in options.ids.split(",")]
        model = load(options.model, getattr(torch, options.dtype), options.by_layer)
        capture(model, ids, options.output, options.arch, options.names.split(","))
    except (CaptureError, ValueError, OSError) as error:
        sys.exit(f"vetro.torch: {error}")


if __name__ == "__main__":
    main()
