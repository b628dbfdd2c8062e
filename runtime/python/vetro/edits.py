"""Edits of values while a model runs: what session(), generate() and dump() take as `edits`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from vetro import _vetro
from vetro.errors import Error

# "blk.3.attn_ctx[:,2] *= 0", or ("blk.3.l_out[-1]", "+=", an array)
Edit: TypeAlias = "str | tuple[str, str, ArrayLike]"


def raw_edits(edits: Iterable[Edit]) -> list[_vetro.Edit]:
    """Edits as the engine takes them. Error (input): what is no edit."""
    if isinstance(edits, (str, bytes)):
        raise Error(f"edits: found one string, expected a list: [{edits!r}]")
    return [_raw_edit(edit) for edit in edits]


def _raw_edit(edit: Edit) -> _vetro.Edit:
    if isinstance(edit, str):
        return _vetro.Edit(edit)
    if not isinstance(edit, tuple) or len(edit) != 3 or edit[1] not in ("=", "+=", "*="):
        raise Error(f"edits: found {edit!r}, expected a line such as 'blk.3.l_out *= 0' or a tuple "
                    "(target, '=' or '+=' or '*=', numbers)")
    target, operator, numbers = edit
    array = np.asarray(numbers, np.float32)
    if array.ndim == 0:
        return _vetro.Edit(f"{target} {operator} {float(array)!r}")
    raw = _vetro.Edit(f"{target} {operator} 0")
    raw.set_tensor(np.ascontiguousarray(array))
    return raw
