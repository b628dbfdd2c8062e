"""Models of transformers as captures want them: load(), whole or layer by layer."""

from __future__ import annotations

import collections.abc
import ctypes
import os
import pathlib
import tempfile
from typing import Any, Collection, Iterator, NamedTuple

import numpy as np
import torch


class CaptureError(RuntimeError):
    """The model cannot be captured; the message says what to do."""


# Other attentions and mixtures are other orders of operations, and hide what lies between.
EAGER = {"attn_implementation": "eager", "experts_implementation": "eager"}


def load(path: str | os.PathLike[str], dtype: torch.dtype = torch.float32,
         by_layer: bool = False) -> Any:
    """transformers' model, eager: of a GGUF file, dequantised, or of a checkpoint's folder.

    by_layer: the weights stay in the file. Each module reads its own when it runs and drops them when
    it has run, so that memory holds the embedding, a part of a layer or the head, never two of them.
    Experts of a checkpoint that transformers merges are kept in a temporary folder (TMPDIR).
    CaptureError: the model has a weight that the file lacks; what was no model to begin with.
    """
    path = pathlib.Path(path)
    if not path.exists():
        raise CaptureError(f"{path}: no such file or folder, expected a GGUF file or a checkpoint")
    if not by_layer:
        return _whole(path, dtype)
    _give_back_freed_memory()
    return _gguf_by_layer(path, dtype) if path.is_file() else _checkpoint_by_layer(path, dtype)


def _whole(path: pathlib.Path, dtype: torch.dtype) -> Any:
    more = {}
    if path.is_file():
        from transformers import GgufConfig
        more = {"gguf_file": path.name, "quantization_config": GgufConfig(dequantize=True)}
    return _from_pretrained(path, dtype, more)


def _give_back_freed_memory() -> None:
    """From now on blocks of 1 MB and more go back to the system when they are freed.

    glibc keeps such of up to 32 MB for later, and what is allocated in turn, weights and values of
    another size, leaves holes between them: SmolLM2 with 600 tokens grows by 20 MB a layer.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(-3, 1 << 20)  # M_MMAP_THRESHOLD of malloc.h


def _checkpoint_by_layer(path: pathlib.Path, dtype: torch.dtype) -> Any:
    """By accelerate's disk offload, which wants one module that is not on disk."""
    folder = tempfile.TemporaryDirectory(prefix="vetro-offload-")
    places = {"": "disk", "model.rotary_emb": "cpu"}
    model = _from_pretrained(path, dtype, {"device_map": places, "offload_folder": folder.name})
    model.vetro_offload = folder  # lives as long as the model
    return model


def _from_pretrained(path: pathlib.Path, dtype: torch.dtype, more: dict[str, Any]) -> Any:
    from transformers import AutoModelForCausalLM
    folder = path.parent if path.is_file() else path
    model, info = AutoModelForCausalLM.from_pretrained(
        str(folder), dtype=dtype, output_loading_info=True, ignore_mismatched_sizes=True, **EAGER, **more)
    _require_all(path, info["missing_keys"], info["mismatched_keys"])
    return model.eval()


def _require_all(path: pathlib.Path, missing: Collection[str],
                 mismatched: Collection[tuple[str, Any, Any]]) -> None:
    """transformers fills what a file lacks, or has in another shape, with random numbers."""
    hint = ("transformers takes the file for another model than it is; capture the checkpoint that it "
            "was made from")
    if missing:
        raise CaptureError(f"{path}: lacks {min(missing)} of transformers' model ({len(missing)} such "
                           f"weights): {hint}")
    if mismatched:
        name, found, expected = min(mismatched)
        raise CaptureError(f"{path}: {name} is {list(found)}, expected {list(expected)} "
                           f"({len(mismatched)} such weights): {hint}")


class _Place(NamedTuple):
    """Where a tensor of a GGUF file lies."""

    name: str
    kind: Any  # gguf.GGMLQuantizationType
    shape: tuple[int, ...]  # in PyTorch's order
    offset: int
    size: int  # in bytes


class _GgufWeights(collections.abc.Mapping):
    """A GGUF file's weights under transformers' names, dequantised when they are asked for.

    Names and layouts are those of transformers' own reader, which has the whole model in memory.
    """

    CHUNK = 1 << 24  # bytes of the file that are dequantised at once

    def __init__(self, path: pathlib.Path, model: Any, dtype: torch.dtype) -> None:
        import gguf
        from transformers import modeling_gguf_pytorch_utils as reader_of_transformers
        self._path, self._dtype = path, dtype
        reader = gguf.GGUFReader(path)
        processor = reader_of_transformers.TENSOR_PROCESSORS.get(
            reader.fields["general.architecture"].contents(), reader_of_transformers.TensorProcessor)
        self._processor = processor(config=model.config.to_dict())
        self._map = reader_of_transformers.get_gguf_hf_weights_map(model, self._processor)
        self._places = {}
        for t in reader.tensors:
            shape = tuple(reversed(t.shape.tolist()))
            place = _Place(t.name, t.tensor_type, shape, int(t.data_offset), int(t.n_bytes))
            if t.name in self._map:
                self._places[self._map[t.name]] = place
        for target, source in model.all_tied_weights_keys.items():
            if source in self._places:
                self._places.setdefault(target, self._places[source])

    def shape(self, name: str) -> tuple[int, ...]:
        return self._places[name].shape

    def __getitem__(self, name: str) -> torch.Tensor:
        place = self._places[name]
        weights = self._dequantised(place)
        done = self._processor.process(weights=weights, name=place.name, tensor_key_mapping=self._map,
                                       parsed_parameters={"tensors": {}})
        return torch.from_numpy(np.ascontiguousarray(done.weights)).to(self._dtype)

    def _dequantised(self, place: _Place) -> np.ndarray:
        import gguf
        weights = np.empty(place.shape, np.float32)
        rows = weights.reshape(-1, place.shape[-1])
        row = place.size // len(rows)  # in bytes
        step = max(1, self.CHUNK // row)
        for begin in range(0, len(rows), step):
            end = min(begin + step, len(rows))
            packed = np.fromfile(self._path, np.uint8, (end - begin) * row,
                                 offset=place.offset + begin * row)
            rows[begin:end] = gguf.dequantize(packed.reshape(-1, row), place.kind)
        return weights

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def _gguf_by_layer(path: pathlib.Path, dtype: torch.dtype) -> Any:
    """Modules without numbers, and accelerate's hooks that bring them."""
    import accelerate
    from transformers import AutoConfig, AutoModelForCausalLM
    config = AutoConfig.from_pretrained(str(path.parent), gguf_file=path.name)
    with accelerate.init_empty_weights(include_buffers=False):
        model = AutoModelForCausalLM.from_config(config, dtype=dtype, **EAGER)
    weights = _GgufWeights(path, model, dtype)
    wanted = {name: tensor.shape for name, tensor in model.state_dict().items()}
    shapes = {name: torch.Size(weights.shape(name)) for name in wanted.keys() & weights.keys()}
    _require_all(path, wanted.keys() - shapes.keys(),
                 [(name, shape, wanted[name]) for name, shape in shapes.items() if shape != wanted[name]])
    accelerate.cpu_offload(model, execution_device="cpu", offload_buffers=True, state_dict=weights)
    return model.eval()


def check_weights(model: Any) -> None:
    """CaptureError: a weight that is not in memory and that nothing brings there."""
    for name, parameter in model.named_parameters():
        owner = model.get_submodule(name.rpartition(".")[0])
        if parameter.is_meta and not hasattr(owner, "_hf_hook"):
            raise CaptureError(f"{name} has no numbers (device meta) and nothing loads them when it "
                               "runs: load the model with vetro.torch.load(path, by_layer=True)")
