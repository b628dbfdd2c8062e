"""Arguments of callers, checked and made into what the engine takes."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vetro.errors import Error


def ids_of(ids: ArrayLike) -> NDArray[np.int32]:
    """Token ids as int32 [n]. Error (input): not one axis of whole numbers that fit."""
    array = np.asarray(ids)
    if array.size == 0 and array.ndim == 1:
        return np.zeros(0, np.int32)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise Error(f"ids: found {array.dtype} {list(array.shape)}, expected one axis of whole numbers")
    if array.min() < -2**31 or array.max() >= 2**31:
        raise Error(f"ids: {array[np.abs(array.astype(object)) >= 2**31][0]} is no token id")
    return np.ascontiguousarray(array, np.int32)


def whole(name: str, value: int, low: int = 0, high: int = 2**32 - 1) -> int:
    """A whole number from `low` to `high`. Error (input): it is none."""
    try:
        number = operator.index(value)
    except TypeError:
        number = low - 1
    if not low <= number <= high:
        raise Error(f"{name}: found {value!r}, expected a whole number from {low} to {high}")
    return number


def texts(name: str, values: Iterable[str]) -> Sequence[str]:
    """A list of strings. Error (input): one string, whose letters would be taken apart."""
    if isinstance(values, (str, bytes)):
        raise Error(f"{name}: found one string, expected a list: [{values!r}]")
    return list(values)


def utf8(text: str | bytes) -> bytes:
    """The bytes of a text; surrogates stand for bytes that are no UTF-8, as in file names."""
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")


def cache_folder() -> str:
    """The program's folder of compiled plans: $XDG_CACHE_HOME/vetro, else ~/.cache/vetro."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "vetro") if os.path.isabs(base) else ""
