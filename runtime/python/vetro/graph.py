"""Drawings of a model's graph: Model.graph()."""

from __future__ import annotations

from functools import cached_property

from vetro import _vetro


class Graph:
    """A drawing. dot: Graphviz's text, the same for the same graph."""

    def __init__(self, dot: str) -> None:
        self.dot = dot

    @cached_property
    def svg(self) -> str:
        """The drawing as SVG, by Graphviz's programs; a layout that takes more than 5 s is given up for a
        plainer one. Error (system): Graphviz is not installed."""
        return _vetro.svg(self.dot, 5)

    def _repr_svg_(self) -> str:
        """For notebooks."""
        return self.svg

    def __repr__(self) -> str:
        return f"<vetro.Graph, {len(self.dot)} bytes of DOT>"
