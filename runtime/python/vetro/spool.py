"""A safetensors file that is written tensor by tensor: Spool."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import tempfile
from typing import IO, Any

import torch

# safetensors' name of a type.
DTYPES = {torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16",
          torch.int64: "I64", torch.int32: "I32", torch.int16: "I16", torch.int8: "I8",
          torch.uint8: "U8", torch.bool: "BOOL"}


class Spool:
    """Tensors on their way into a safetensors file; none is kept in memory.

    The file begins with a header that tells where each tensor lies, and numbers must lie at multiples
    of their size. So the numbers wait in files without a name beside the target, one for each size of
    number, until all are known. A context manager: leaving it drops what was not written.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = pathlib.Path(path)
        self._files: dict[int, IO[bytes]] = {}  # by the bytes of a number
        self._entries: dict[str, tuple[torch.Size, torch.dtype, int]] = {}  # shape, type, begin

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *_error: object) -> None:
        for file in self._files.values():
            file.close()

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def add(self, name: str, tensor: torch.Tensor) -> None:
        """Takes a tensor of any device and layout; it may change afterwards."""
        numbers = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
        file = self._files.get(tensor.element_size())
        if file is None:
            file = tempfile.TemporaryFile(dir=self._path.parent)
            self._files[tensor.element_size()] = file
        self._entries[name] = (tensor.shape, tensor.dtype, file.tell())
        file.write(numbers.data)

    def described(self) -> dict[str, dict[str, Any]]:
        """{name: shape and dtype} of what was added, in that order."""
        return {name: {"shape": list(shape), "dtype": str(dtype).removeprefix("torch.")}
                for name, (shape, dtype, _begin) in self._entries.items()}

    def write(self, metadata: dict[str, str]) -> None:
        """Writes the file, whole or not at all."""
        begins, at = {}, 0
        for size in sorted(self._files, reverse=True):
            begins[size] = at
            at += self._files[size].tell()
        header: dict[str, Any] = {"__metadata__": metadata}
        for name, (shape, dtype, begin) in sorted(
                self._entries.items(), key=lambda entry: begins[entry[1][1].itemsize] + entry[1][2]):
            begin += begins[dtype.itemsize]
            header[name] = {"dtype": DTYPES[dtype], "shape": list(shape),
                            "data_offsets": [begin, begin + shape.numel() * dtype.itemsize]}
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        part = self._path.with_name(self._path.name + ".part")
        try:
            with open(part, "wb") as out:
                out.write(len(text).to_bytes(8, "little") + text)
                for size in begins:
                    self._files[size].seek(0)
                    shutil.copyfileobj(self._files[size], out, 1 << 20)
            os.replace(part, self._path)
        finally:
            part.unlink(missing_ok=True)
