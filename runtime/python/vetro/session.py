"""A sequence of tokens that grows: Model.session()."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vetro import _vetro
from vetro.arguments import ids_of, whole
from vetro.edits import Edit, raw_edits
from vetro.errors import Error


class Session:
    """One sequence with its KV cache; used by one thread at a time. Made by Model.session()."""

    def __init__(self, model: _vetro.Model, n_ctx: int, ubatch: int, edits: Iterable[Edit]) -> None:
        self._raw = _vetro.Session(model, whole("n_ctx", n_ctx), whole("ubatch", ubatch),
                                   raw_edits(edits))

    def run(self, ids: ArrayLike, logits: str = "last") -> NDArray[np.float32]:
        """Appends ids [n] to the sequence and computes them.

        logits: "last", those of the last id, [1, n_vocab]; "all", [n, n_vocab]. Natural, before any
        sampling option. Error (input): an id outside the vocabulary, a full context; then nothing has
        run. KeyboardInterrupt leaves the sequence as it was.
        """
        if logits not in ("last", "all"):
            raise Error(f"logits: found {logits!r}, expected 'last' or 'all'")
        return self._raw.run(ids_of(ids), logits == "all")

    @property
    def length(self) -> int:
        """Positions in the sequence."""
        return self._raw.length

    @property
    def n_ctx(self) -> int:
        """Positions that it can hold."""
        return self._raw.n_ctx

    def truncate(self, n: int) -> None:
        """Forgets positions from n on; the next id takes position n (or `length`, if that is less)."""
        self._raw.truncate(whole("n", n))

    def __repr__(self) -> str:
        return f"<vetro.Session, {self.length} of {self.n_ctx} positions>"
