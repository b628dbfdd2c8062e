"""What a forward pass of transformers' model computes, row by row of the table of values.

Outputs and inputs of modules come from PyTorch's hooks. What lies inside a function is computed there
once more, in the function's own order of operations, and the function's own result is what goes on.
"""

from __future__ import annotations

import contextlib
import functools
import re
import sys
from typing import Any, Callable, Iterator

import torch

from vetro.torch_models import CaptureError

Row = dict[str, Any]  # of vetro.alignment()


class Recorder:
    """Gives each wanted value to `keep(name, tensor)`, in the order of computation.

    What `keep` gets is the run's own memory: it copies, or writes at once.
    """

    def __init__(self, rows: list[Row], wanted: Callable[[str], bool],
                 keep: Callable[[str, torch.Tensor], None]) -> None:
        self.rows, self.wanted, self.keep = rows, wanted, keep
        self.found: dict[str, Row] = {}
        self.layer: int | None = None  # that runs now: a function has no module to ask

    def put(self, row: Row, value: torch.Tensor, layer: Any) -> None:
        name = row["name"].replace("*", str(layer))
        if not self.wanted(name):
            return
        if name in self.found:
            raise CaptureError(f"{name} was computed twice: is the model's cache off?")
        self.found[name] = row
        self.keep(name, value.detach())

    def of_function(self, function: str, port: str, value: torch.Tensor) -> None:
        for row in self.rows:
            if row.get("function") == function and row["port"] == port:
                self.put(row, value, self.layer)


class Modules:
    """The modules that a model's rows name."""

    def __init__(self, model: Any) -> None:
        self.all = dict(model.named_modules())
        # A multimodal checkpoint has a level more: model.language_model.layers.
        self._prefix = next((p for p in ("model.language_model", "model") if f"{p}.layers" in self.all), "")
        if not self._prefix:
            raise CaptureError(f"{type(model).__name__} has no model.layers, where decoders have theirs")
        self.layers = list(self.all[f"{self._prefix}.layers"])

    def pattern(self, path: str) -> str:
        """A regular expression of the paths that a row's "model.layers.*.mlp" means."""
        return re.escape(re.sub(r"^model\b", self._prefix, path)).replace(r"\*", r"(\d+)")

    def matching(self, path: str) -> Iterator[tuple[torch.nn.Module, str | None]]:
        """Each module and its layer."""
        pattern = self.pattern(path)
        for name, module in self.all.items():
            if match := re.fullmatch(pattern, name):
                yield module, match.group(1) if match.groups() else None

    def expected(self, rows: list[Row]) -> Iterator[str]:
        """The names that a capture of all layers has. A row's "when" is a module that a layer must
        have for the value, behind "!" one that it must not have."""
        for row in rows:
            if "*" not in row["name"]:
                yield row["name"]
                continue
            when = row.get("when", "")
            having = {int(layer) for _, layer in self.matching(when.removeprefix("!")) if layer}
            for layer in range(len(self.layers)):
                if not when or (layer in having) != when.startswith("!"):
                    yield row["name"].replace("*", str(layer))


def _part(output: Any, port: str) -> torch.Tensor:
    """"output" is the first of several, "output.2" the third."""
    number = int(port.removeprefix("output").removeprefix(".") or 0)
    return output[number] if isinstance(output, (tuple, list)) else output


def _router_part(output: Any, port: str) -> torch.Tensor:
    """Of a router that puts out logits, weights and choices what it keeps to itself."""
    logits, _, choices = output
    probabilities = torch.nn.functional.softmax(logits.float(), dim=-1)
    if port == "probs":
        return probabilities
    if port == "chosen":
        return probabilities.gather(-1, choices)
    raise CaptureError(f"no module has a port {port!r}: vetro.torch is older than the table of values")


def _hook(module: torch.nn.Module, row: Row, layer: str | None, record: Recorder) -> Any:
    """The handle of a hook for a row's module; none where the value lies inside the module."""
    port = row["port"]
    if port == "input":
        return module.register_forward_pre_hook(lambda _m, inputs: record.put(row, inputs[0], layer))
    if port.startswith("output"):
        return module.register_forward_hook(
            lambda _m, _i, out: record.put(row, _part(out, port), layer))
    return module.register_forward_hook(
        lambda _m, _i, out: record.put(row, _router_part(out, port), layer))


@contextlib.contextmanager
def _watched_modules(modules: Modules, record: Recorder) -> Iterator[None]:
    handles = []
    for index, layer in enumerate(modules.layers):
        handles.append(layer.register_forward_pre_hook(
            lambda _m, _i, index=index: setattr(record, "layer", index)))
    for row in record.rows:
        if "module" in row:
            handles += [_hook(module, row, layer, record)
                        for module, layer in modules.matching(row["module"])]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _watched_rope(record: Recorder, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def rope(*args: Any, **kwargs: Any) -> Any:
        q, k = original(*args, **kwargs)
        record.of_function("rope", "q", q)
        record.of_function("rope", "k", k)
        return q, k
    return rope


def _watched_attention(record: Recorder, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def attention(module: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor,
                  attention_mask: Any, scaling: float, softcap: float | None = None,
                  **kwargs: Any) -> Any:
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


def _inside_experts(module: Any, rows: torch.Tensor, choices: torch.Tensor,
                    weights: torch.Tensor) -> dict[str, torch.Tensor]:
    """{port: [tokens, choices, width]} of a mixture, expert by expert as its eager forward goes."""
    parts: dict[str, torch.Tensor] = {}
    for expert in choices.unique().tolist():
        # Choice by choice, then token by token: the order of the eager forward.
        choice, token = torch.where(choices.T == expert)
        gate, up = torch.nn.functional.linear(rows[token], module.gate_up_proj[expert]).chunk(2, dim=-1)
        act = module.act_fn(gate) * up
        down = torch.nn.functional.linear(act, module.down_proj[expert])
        weighted = down * weights[token, choice, None]
        for port, value in (("gate", gate), ("up", up), ("act", act), ("down", down),
                            ("weighted", weighted)):
            if port not in parts:
                parts[port] = value.new_empty(*choices.shape, value.shape[-1])
            parts[port][token, choice] = value
    return parts


@contextlib.contextmanager
def _watched_experts(model: Any, record: Recorder) -> Iterator[None]:
    """transformers looks the function of a mixture up by the name that the configuration has."""
    from transformers.integrations.moe import ALL_EXPERTS_FUNCTIONS
    if not has_experts(model):
        yield
        return

    def experts(module: Any, rows: torch.Tensor, choices: torch.Tensor, weights: torch.Tensor) -> Any:
        for port, value in _inside_experts(module, rows, choices, weights).items():
            record.of_function("experts", port, value)
        return type(module).forward.__wrapped__(module, rows, choices, weights)

    config = model.config.get_text_config()
    kind = config._experts_implementation
    ALL_EXPERTS_FUNCTIONS["vetro_watched"] = experts
    config._experts_implementation = "vetro_watched"
    try:
        yield
    finally:
        config._experts_implementation = kind
        del ALL_EXPERTS_FUNCTIONS["vetro_watched"]


def has_experts(model: Any) -> bool:
    """Whether there is a mixture as transformers 5 has them: one module with all experts' weights."""
    return any(hasattr(m, "gate_up_proj") and hasattr(m, "num_experts") for m in model.modules())


@contextlib.contextmanager
def _watched_functions(model: Any, record: Recorder) -> Iterator[None]:
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


@torch.no_grad()
def run(model: Any, ids: list[int], modules: Modules, record: Recorder) -> None:
    """Runs one prompt once; the recorder gets its values."""
    device = model.get_input_embeddings().weight.device
    device = "cpu" if device.type == "meta" else device  # brought when it runs
    with (_watched_modules(modules, record), _watched_functions(model, record),
          _watched_experts(model, record)):
        logits = model(torch.tensor([ids], device=device), use_cache=False).logits
    record.of_function("model", "logits", logits)
