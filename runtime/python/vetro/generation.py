"""What Model.generate() gives, and its progress bar."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Timings:
    """Milliseconds: prompt_ms from the first token run to the first logits; token_ms of each token after."""

    prompt_ms: float
    token_ms: list[float]


@dataclass(frozen=True)
class Generation:
    """ids: generated, int32 [n], with a final end-of-generation id. text: without that id; bytes that are
    no UTF-8 became U+FFFD. stop: "length", "eog" (end of generation) or "context" (it is full)."""

    ids: NDArray[np.int32]
    text: str
    stop: str
    timings: Timings

    def __str__(self) -> str:
        return self.text


@contextlib.contextmanager
def progress_bar(wanted: bool, total: int) -> Iterator[Callable[[bytes], object] | None]:
    """A function to call with each token's text; None where no bar is wanted or can be drawn: tqdm is
    missing, or stderr is no terminal."""
    tqdm = None
    if wanted and sys.stderr is not None and sys.stderr.isatty():
        with contextlib.suppress(ImportError):
            from tqdm.auto import tqdm
    if tqdm is None:
        yield None
        return
    with tqdm(total=total, unit="token", leave=False) as bar:
        yield lambda _text: bar.update(bar.n < bar.total)  # the text's end comes as one more
