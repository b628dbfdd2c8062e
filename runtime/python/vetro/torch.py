"""The values of a Hugging Face model under Vetro's names, for `vetro diff`.

    from vetro.torch import capture, load
    model = load("model.gguf")                      # the same weights, dequantised to F32
    capture(model, [504, 3575, 282], "torch.safetensors")

Every tensor is written as PyTorch has it; the metadata name the steps that lead to Vetro's layout. Where
each value is found comes from `vetro.alignment` (the architecture's own file), not from this one.
"""

import argparse
import contextlib
import functools
import json
import pathlib
import re
import sys

import torch
from safetensors.torch import save_file

import vetro

# Hugging Face's name of an architecture, where GGUF's is another.
GGUF_NAME = {"gemma3_text": "gemma3", "mistral": "llama", "mixtral": "llama"}


class CaptureError(RuntimeError):
    """The model cannot be captured; the message says what to do."""


@functools.cache
def alignment(arch):
    """Rows {name, module or function, port, transforms} of an architecture; "*" is the layer."""
    try:
        return vetro.alignment(arch)
    except ImportError as error:  # of the extension module: the message tells how to get it
        raise CaptureError(str(error)) from None
    except vetro.Error as error:
        raise CaptureError(error.message) from None


def load(path, dtype=torch.float32):
    """A model with eager attention: of a GGUF file, dequantised, or of a checkpoint's folder."""
    from transformers import AutoModelForCausalLM, GgufConfig
    path, more = pathlib.Path(path), {}
    if path.is_file():
        more = {"gguf_file": path.name, "quantization_config": GgufConfig(dequantize=True)}
        path = path.parent
    return AutoModelForCausalLM.from_pretrained(
        str(path), dtype=dtype, attn_implementation="eager", **more).eval()


class _Recorder:
    """Collects the wanted values in the order of computation."""

    def __init__(self, rows, wanted):
        self.rows, self.wanted = rows, wanted
        self.values, self.found = {}, {}
        self.layer = None  # that runs now: a function has no module to ask

    def put(self, row, value, layer):
        name = row["name"].replace("*", str(layer))
        if not self.wanted(name):
            return
        if name in self.values:
            raise CaptureError(f"{name} was computed twice: is the model's cache off?")
        self.values[name], self.found[name] = value.detach().clone().contiguous(), row

    def of_function(self, function, port, value):
        for row in self.rows:
            if row.get("function") == function and row["port"] == port:
                self.put(row, value, self.layer)


def _first(value):
    return value[0] if isinstance(value, tuple) else value


def _hook_modules(model, record):
    handles, modules = [], dict(model.named_modules())
    # A multimodal checkpoint has a level more: model.language_model.layers.
    prefix = "model.language_model" if "model.language_model.layers" in modules else "model"
    for index, layer in enumerate(modules[f"{prefix}.layers"]):
        handles.append(layer.register_forward_pre_hook(
            lambda _m, _i, index=index: setattr(record, "layer", index)))
    for row in record.rows:
        if "module" not in row:
            continue
        pattern = re.escape(re.sub(r"^model\b", prefix, row["module"])).replace(r"\*", r"(\d+)")
        for name, module in modules.items():
            if (match := re.fullmatch(pattern, name)) is None:
                continue
            layer = match.group(1) if match.groups() else None
            if row["port"] == "input":
                handles.append(module.register_forward_pre_hook(
                    lambda _m, inputs, row=row, layer=layer: record.put(row, inputs[0], layer)))
            else:
                handles.append(module.register_forward_hook(
                    lambda _m, _i, out, row=row, layer=layer: record.put(row, _first(out), layer)))
    return handles


def _watched_rope(record, original):
    @functools.wraps(original)
    def rope(*args, **kwargs):
        q, k = original(*args, **kwargs)
        record.of_function("rope", "q", q)
        record.of_function("rope", "k", k)
        return q, k
    return rope


def _watched_attention(record, original):
    """Eager attention in its own order of operations, with its middle visible."""
    @functools.wraps(original)
    def attention(module, query, key, value, attention_mask, scaling, softcap=None, **kwargs):
        groups = module.num_key_value_groups
        record.of_function("attention", "key", key)
        record.of_function("attention", "value", value)
        scores = torch.matmul(query, key.repeat_interleave(groups, dim=1).transpose(2, 3)) * scaling
        if softcap is not None:
            scores = torch.tanh(scores / softcap) * softcap
        record.of_function("attention", "scores", scores)
        result = original(module, query, key, value, attention_mask, scaling=scaling,
                          **({} if softcap is None else {"softcap": softcap}), **kwargs)
        record.of_function("attention", "probs", result[1])
        return result
    return attention


@contextlib.contextmanager
def _watched_functions(model, record):
    """Functions of the module that defines the model's attention."""
    attention = next((m for m in model.modules() if hasattr(m, "num_key_value_groups")), None)
    if attention is None:
        raise CaptureError(f"{type(model).__name__} has no attention module that is known here")
    module = sys.modules[type(attention).__module__]
    originals = {}
    for name, watched in (("apply_rotary_pos_emb", _watched_rope),
                          ("eager_attention_forward", _watched_attention)):
        if hasattr(module, name):
            originals[name] = getattr(module, name)
            setattr(module, name, watched(record, originals[name]))
    try:
        yield
    finally:
        for name, original in originals.items():
            setattr(module, name, original)


def _check(model, ids):
    kind = getattr(model.config, "_attn_implementation", None)
    if kind != "eager":
        raise CaptureError(f"attention is '{kind}', which hides scores and probabilities: load the "
                           "model with attn_implementation='eager'")
    if not ids:
        raise CaptureError("no token: name at least one id")
    vocabulary = model.get_input_embeddings().num_embeddings
    if bad := [i for i in ids if not 0 <= i < vocabulary]:
        raise CaptureError(f"id {bad[0]} is outside the vocabulary of {vocabulary}")


@torch.no_grad()
def values_of(model, ids, arch=None, wanted=lambda name: True):
    """({name: tensor as PyTorch has it}, {name: its row}) of one prompt, in order of computation."""
    _check(model, ids)
    arch = arch or GGUF_NAME.get(model.config.model_type, model.config.model_type)
    record = _Recorder(alignment(arch), wanted)
    handles = _hook_modules(model, record)
    try:
        with _watched_functions(model, record):
            device = model.get_input_embeddings().weight.device
            logits = model(torch.tensor([ids], device=device), use_cache=False).logits
    finally:
        for handle in handles:
            handle.remove()
    record.of_function("model", "logits", logits)
    return record.values, record.found


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
    raw, found = values_of(model, list(ids), arch)
    config = model.config.get_text_config()
    head_dim = getattr(config, "head_dim", None) or (config.hidden_size
                                                     // config.num_attention_heads)
    for name, row in found.items():
        for transform in row["transforms"]:
            raw[name] = TRANSFORMS[transform](raw[name], head_dim)
        raw[name] = raw[name].contiguous()
    return raw


def capture(model, ids, path, arch=None, names=("*",), layers=None):
    """Writes the values of one prompt; returns the names that could not be found.

    model: transformers' causal model with eager attention. ids: the prompt. path: the safetensors to
    write; beside it path + ".index.json" says of each name its module or function, port, transforms,
    shape and type. names: patterns of names to keep. layers: of these layers only. Raises
    CaptureError; nothing of the model is changed.
    """
    globs = [re.compile(re.escape(n).replace(r"\*", ".*").replace(r"\?", ".")) for n in names]

    def wanted(name):
        layer = re.match(r"blk\.(\d+)\.", name)
        return (any(g.fullmatch(name) for g in globs)
                and (layers is None or (layer is not None and int(layer.group(1)) in layers)))

    values, found = values_of(model, list(ids), arch, wanted)
    arch = arch or GGUF_NAME.get(model.config.model_type, model.config.model_type)
    kept = range(model.config.get_text_config().num_hidden_layers)
    expected = [row["name"].replace("*", str(layer)) for row in alignment(arch)
                for layer in (kept if "*" in row["name"] else [None])]
    missing = [name for name in expected if wanted(name) and name not in values]
    metadata = {"producer": "vetro.torch.capture", "arch": arch, "ids": ",".join(map(str, ids)),
                "dtype": str(model.dtype).removeprefix("torch."), "positions": "all"}
    for name, row in found.items():
        metadata[f"transforms:{name}"] = ",".join(row["transforms"])
    save_file({name: value.cpu() for name, value in values.items()}, str(path), metadata=metadata)
    index = {"missing": missing, "values": {
        name: {**found[name], "name": name, "shape": list(value.shape),
               "dtype": str(value.dtype).removeprefix("torch.")} for name, value in values.items()}}
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
    parser.add_argument("--arch", help="general.architecture, where the model's own name differs")
    options = parser.parse_args()
    try:
        ids = [int(i) for i in options.ids.split(",")]
        capture(load(options.model, getattr(torch, options.dtype)), ids, options.output,
                options.arch, options.names.split(","))
    except (CaptureError, ValueError, OSError) as error:
        sys.exit(f"vetro.torch: {error}")


if __name__ == "__main__":
    main()
