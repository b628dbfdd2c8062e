"""A loaded model: Model."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vetro import _vetro
from vetro.arguments import cache_folder, ids_of, texts, utf8, whole
from vetro.dump import Dump
from vetro.edits import Edit, raw_edits
from vetro.errors import Error
from vetro.generation import Generation, Timings, progress_bar
from vetro.graph import Graph
from vetro.session import Session


class Model:
    """A GGUF file, compiled for this machine. Immutable; threads may share it, and compute in turn.

    path: the file, of a split model the first part; "tiny": the model inside Vetro. threads: this one included. kv: how keys and values
    are kept, "f16" or "f32". n_ctx: positions that generate() and dump() hold, and the default of
    session(); 0: the model's. disable: passes switched off, "fuse-qkv" or "fuse-qkv@blk.3".
    activations: REGEX=FORMAT, how inputs of quantised matmuls are rounded ("l_out=a8x2").
    cache_dir: folder of compiled plans; None: the program's, "": keep none. override_kv: metadata keys
    set, KEY=TYPE:VALUE. Error (file, model, system, input): see vetro.Error.
    """

    def __init__(self, path: str | os.PathLike[str], threads: int = 1, kv: str = "f16",
                 n_ctx: int = 4096, disable: Iterable[str] = (), activations: Iterable[str] = (),
                 cache_dir: str | os.PathLike[str] | None = None,
                 override_kv: Iterable[str] = ()) -> None:
        folder = cache_folder() if cache_dir is None else cache_dir
        self._n_ctx = whole("n_ctx", n_ctx)
        self._raw = _vetro.Model(
            os.fsencode(path), whole("threads", threads, 1, 1024), str(kv), self._n_ctx,
            texts("disable", disable), texts("activations", activations),
            os.fsencode(folder),
            texts("override_kv", override_kv))
        self.path = os.fspath(path)

    @cached_property
    def metadata(self) -> dict[str, Any]:
        """All keys of the file, overrides applied: numbers, bools, strings, and lists of those. Bytes
        that are no UTF-8 are surrogates (surrogateescape)."""
        return self._raw.metadata()

    @property
    def arch(self) -> str:
        """The architecture: general.architecture, as vetro.alignment() takes it."""
        return self.metadata["general.architecture"]

    @property
    def n_vocab(self) -> int:
        """Logits of a position."""
        return self._raw.n_vocab

    @property
    def n_ctx_train(self) -> int:
        """Positions that the model was trained on; 0: the file does not tell."""
        return self._raw.n_ctx_train

    def tokenize(self, text: str | bytes, add_special: bool = True,
                 parse_special: bool = False) -> NDArray[np.int32]:
        """The ids [n] of a text. add_special: with BOS and EOS as far as the file asks for them.
        parse_special: the text of a control token becomes that token."""
        return self._raw.tokenize(utf8(text), add_special, parse_special)

    def detokenize(self, ids: ArrayLike, special: bool = False) -> bytes:
        """The bytes that ids [n] print; special: control tokens too. A token may end inside a character,
        hence bytes. Ids outside the vocabulary print nothing."""
        return self._raw.detokenize(ids_of(ids), special)

    def hooks(self) -> list[str]:
        """Names of all values that dump() can give, in the order of computation."""
        return self._raw.hooks()

    def session(self, n_ctx: int | None = None, ubatch: int = 512, *,
                edits: Iterable[Edit] = ()) -> Session:
        """A new, empty sequence. n_ctx: positions that it holds, at most the model's; None: those that
        the model was loaded for. ubatch: tokens that are computed at once; the logits do not depend on
        it. edits: changes of values in all its runs, lines such as "blk.3.attn_ctx[:,2] *= 0" or
        (target, operator, array), docs/editing.md; negative places count from the end of the first run.
        Error (input): no edit, or one that changes nothing; (system): no memory."""
        return Session(self._raw, self._n_ctx if n_ctx is None else n_ctx, ubatch, edits)

    def _prompt(self, prompt: str | bytes | ArrayLike, parse_special: bool) -> NDArray[np.int32]:
        text = isinstance(prompt, (str, bytes))
        ids = self.tokenize(prompt, True, parse_special) if text else ids_of(prompt)
        if not len(ids):
            raise Error("the prompt has no tokens; give some text or ids")
        return ids

    def generate(self, prompt: str | bytes | ArrayLike, n: int = 128, temp: float = 0.0, *,
                 top_k: int = 0, top_p: float = 1.0, min_p: float = 0.0, repeat_penalty: float = 1.0,
                 frequency_penalty: float = 0.0, presence_penalty: float = 0.0,
                 repeat_last_n: int = 64, logit_bias: Mapping[int, float] | None = None,
                 seed: int = 0, ignore_eos: bool = False, parse_special: bool = False,
                 progress: bool = True, edits: Iterable[Edit] = ()) -> Generation:
        """Continues a prompt, text or ids [n], in a sequence of its own, by at most n tokens.

        temp 0 takes the best token each time; the other sampling options are off as they stand, as in
        `vetro run`. Equal arguments give equal text. progress: a bar, where tqdm is installed and stderr
        is a terminal. edits: as of session(). Error (input): an empty prompt, an option outside its range, ids that do not fit.
        """
        options = _vetro.GenerateOptions()
        options.n, options.ignore_eos = whole("n", n), ignore_eos
        options.temp, options.top_p, options.min_p = temp, top_p, min_p
        options.top_k, options.seed = whole("top_k", top_k), whole("seed", seed, high=2**64 - 1)
        options.repeat_penalty, options.frequency_penalty = repeat_penalty, frequency_penalty
        options.presence_penalty = presence_penalty
        options.repeat_last_n = whole("repeat_last_n", repeat_last_n, high=2**24)
        options.logit_bias = list((logit_bias or {}).items())
        with progress_bar(progress, n) as on_text:
            ids, text, stop, prompt_ms, token_ms = _vetro.generate(
                self._raw, self._prompt(prompt, parse_special), options, on_text,
                raw_edits(edits))
        return Generation(ids, text.decode("utf-8", "replace"), stop, Timings(prompt_ms, token_ms))

    def dump(self, prompt: str | bytes | ArrayLike, hooks: Iterable[str] = ("blk.*.l_out",),
             reference: bool = False, *, parse_special: bool = False,
             edits: Iterable[Edit] = ()) -> Dump:
        """Runs a prompt, text or ids [n], and keeps the values whose names match.

        hooks: names with * and ?, of docs/tensor-names.md. reference: the interpreter runs instead, on
        the file's weights in float32, nothing fused or rounded; slow. edits: as of session(). Looking changes no value.
        Error (input): a name that no value has, ids that do not fit.
        """
        values, metadata = _vetro.dump(self._raw, self._prompt(prompt, parse_special),
                                       texts("hooks", hooks), reference, raw_edits(edits))
        return Dump(values, metadata)

    def graph(self, stage: str = "planned", layer: int | str = "", around: str = "",
              hops: int = 2) -> Graph:
        """The model's graph as a drawing.

        stage: "frontend", as the papers have it; "fused"; "planned", as it runs. layer: one layer, or
        "all" (as it stands: an overview and each kind of layer once). around: the name of a value, to draw
        only what is at most `hops` operations from it. Error (input): a stage, layer or name that there is
        not.
        """
        return Graph(_vetro.graph(self._raw, stage, str(layer), around, whole("hops", hops)))

    def __repr__(self) -> str:
        return f"<vetro.Model {self.path!r}, {self.arch}>"
