"""The two real models as the golden scripts know them, and how golden JSON is written."""

import json
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden"


@dataclass(frozen=True)
class GoldenModel:
    key: str  # first part of every golden file's name
    file: str
    sha256: str
    bos: int
    window: int  # sliding window of the local layers, 0: none


MODELS = (
    GoldenModel("smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf",
                "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
                bos=1, window=0),
    GoldenModel("gemma3", "gemma-3-270m.Q4_K_M.gguf",
                "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
                bos=2, window=512),
)


def chosen(key):
    """The models a command works on: one by its key, or all when key is None."""
    return [model for model in MODELS if key in (None, model.key)]


def model_path(models_dir, model):
    """The model's file; an error that names the command that obtains it where it is missing."""
    path = Path(models_dir) / model.file
    if not path.is_file():
        raise SystemExit(f"error: {path} is missing; run 'python3 tests/tools/fetch_models.py'")
    return path


def add_out_option(parser):
    """Where golden files are read from and written to: the committed ones, or a folder aside."""
    parser.add_argument("--out", type=Path, metavar="DIR", default=GOLDEN,
                        help="folder of the golden files; default: tests/golden")


def write_json(path, value):
    """One entry a line where the entries are many, so that a change is readable in a diff."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for key, entry in value.items():
        if isinstance(entry, list) and entry and isinstance(entry[0], dict):
            rows = ",\n".join("  " + json.dumps(row, ensure_ascii=True) for row in entry)
            lines.append(f" {json.dumps(key)}: [\n{rows}\n ]")
        else:
            lines.append(f" {json.dumps(key)}: {json.dumps(entry, ensure_ascii=True)}")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="ascii")
    print(f"{path.name}: {path.stat().st_size} bytes", flush=True)
