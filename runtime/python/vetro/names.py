"""Where the Hugging Face model of an architecture has each value: alignment()."""

from __future__ import annotations

import json
from typing import Any

from vetro import _vetro


def alignment(arch: str) -> list[dict[str, Any]]:
    """Rows of an architecture, as `vetro names ARCH --json` prints them.

    arch: general.architecture of a file, or model_type of a Hugging Face model.

    name: ours, "*" is the layer. module or function: Hugging Face's. port: which of its values.
    transforms: the steps from its layout to ours (docs/comparing-with-pytorch.md). when, where not all
    layers have the value: those that have this module, behind "!" those that do not. Error (input):
    an architecture that nobody knows.
    """
    return json.loads(_vetro.alignment(arch))["names"]
