"""Looks into a trace, with nothing but Python's own library.

    python3 look.py run                          what trace.json has
    python3 look.py run tokens.3.sampled.stages  a part of it: names and places, apart by dots
    python3 look.py run 00000 embed 3            row 3 of `embed` in values/00000.safetensors
"""

import json
import pathlib
import struct
import sys


def short(part, depth=2):
    """The part with lists cut to four items, and what lies deep left out."""
    if depth == 0 and isinstance(part, (dict, list)) and part:
        return f"... {len(part)} inside"
    if isinstance(part, dict):
        return {name: short(inner, depth - 1) for name, inner in part.items()}
    if isinstance(part, list):
        return [short(inner, depth - 1) for inner in part[:4]] + ([f"... {len(part)} in all"] if part[4:] else [])
    return part


def part_of(document, path):
    for name in path.split(".") if path else []:
        document = document[int(name)] if isinstance(document, list) else document[name]
    return document


def row_of(path, name, row):
    """One row of a tensor in a safetensors file: 8 bytes of length, a JSON header, the numbers."""
    data = path.read_bytes()
    length, = struct.unpack_from("<Q", data)
    entry = json.loads(data[8:8 + length])[name]
    width = entry["shape"][-1]
    start = 8 + length + entry["data_offsets"][0] + 4 * width * row
    return struct.unpack_from(f"<{width}f", data, start)


def main():
    folder, words = pathlib.Path(sys.argv[1]), sys.argv[2:]
    if len(words) == 3:
        row = row_of(folder / "values" / f"{words[0]}.safetensors", words[1], int(words[2]))
        print(len(row), "numbers:", *(f"{x:.6g}" for x in row[:4]), "...")
        return
    part = part_of(json.loads((folder / "trace.json").read_text("utf-8")), words[0] if words else "")
    print(len(part), "inside") if isinstance(part, list) else None
    print(json.dumps(short(part), indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
