"""Named values of a run: what Model.dump() returns."""

from __future__ import annotations

import html

import numpy as np
from numpy.typing import NDArray


class Dump(dict[str, NDArray[np.float32]]):
    """Values by name, in the order of computation: float32, tokens (or cells) first.

    labels: of each name "ran" (a step wrote it), "recomputed" (fusion swallowed it, the interpreter made
    it from the step's own inputs) or "reference" (the interpreter ran the whole prompt).
    metadata: what the file of `vetro dump` would tell: ids, positions, run (how it ran, JSON).
    """

    def __init__(self, values: list[tuple[str, NDArray[np.float32], str]],
                 metadata: dict[str, str]) -> None:
        super().__init__((name, array) for name, array, _ in values)
        self.labels = {name: label for name, _, label in values}
        self.metadata = metadata

    def __repr__(self) -> str:
        return f"<vetro.Dump of {len(self)} values>"

    def _rows(self) -> list[tuple[str, str, str, str]]:
        """Name, shape, label and mean square of each value, as text."""
        return [(name, "[" + ", ".join(map(str, array.shape)) + "]", self.labels[name],
                 f"{np.mean(np.square(array, dtype=np.float64)):.4g}" if array.size else "")
                for name, array in self.items()]

    def _repr_html_(self) -> str:
        """A table for notebooks: name, shape, label, mean square."""
        def line(cell: str, row: tuple[str, ...]) -> str:
            return "<tr>" + "".join(f"<{cell}>{html.escape(t)}</{cell}>" for t in row) + "</tr>"
        head = line("th", ("name", "shape", "label", "mean square"))
        return f"<table>{head}{''.join(line('td', row) for row in self._rows())}</table>"
