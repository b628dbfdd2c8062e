"""Lab 03: one head by hand. Reads weights.safetensors and values.safetensors, writes the four files."""

import json
import math
import pathlib
import struct


def read(path):
    """({name: rows of numbers}, metadata) of a safetensors file; a row is the last axis."""
    data = pathlib.Path(path).read_bytes()
    length, = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        numbers = struct.unpack_from(f"<{(end - begin) // 4}f", data, 8 + length + begin)
        width = entry["shape"][-1]
        tensors[name] = [numbers[i:i + width] for i in range(0, len(numbers), width)]
    return tensors, metadata


def snr(ours, theirs):
    """Signal to noise in dB: 10 log10 of the sum of squares of `theirs` over that of the difference."""
    noise = sum((a - b) ** 2 for a, b in zip(ours, theirs))
    return math.inf if noise == 0 else 10 * math.log10(sum(b * b for b in theirs) / noise)


def rms_norm(x, weight, eps):
    """x / sqrt(mean of squares + eps), times the weight, number by number."""
    scale = 1 / math.sqrt(sum(v * v for v in x) / len(x) + eps)
    return [v * scale * w for v, w in zip(x, weight)]


def pairs_norm(d):
    """[(first, second)]: neighbours."""
    return [(2 * i, 2 * i + 1) for i in range(d // 2)]


def pairs_neox(d):
    """[(first, second)]: the same place in both halves."""
    return [(i, i + d // 2) for i in range(d // 2)]


def rope(x, position, base, pairs):
    """Turns pair i of x by position * base^(-2i / d): (a, b) -> (a cos - b sin, a sin + b cos)."""
    y = list(x)
    for i, (first, second) in enumerate(pairs):
        angle = position * base ** (-2 * i / len(x))
        a, b = x[first], x[second]
        y[first] = a * math.cos(angle) - b * math.sin(angle)
        y[second] = a * math.sin(angle) + b * math.cos(angle)
    return y


def to_halves(x):
    """From the file's order to PyTorch's: ours[2i + r] = theirs[r * d/2 + i]."""
    d = len(x)
    return [x[2 * i + r] for r in range(2) for i in range(d // 2)]


def inputs():
    """The last token's embedding and query head 1, the norm's weight, and what the model says of both."""
    values, _ = read("values.safetensors")
    weights, metadata = read("weights.safetensors")
    heads, position = int(metadata["heads"]), len(values["embed"]) - 1
    return {"embed": values["embed"][-1], "weight": weights["blk.0.attn_norm.weight"][0],
            "q": values["blk.0.q"][position * heads + 1], "position": position,
            "eps": float(metadata["eps"]), "base": float(metadata["rope_base"])}


def results(m):
    """{file: what computes its numbers}"""
    q, position, base = m["q"], m["position"], m["base"]
    return {"norm": lambda: rms_norm(m["embed"], m["weight"], m["eps"]),
            "rope_norm": lambda: rope(q, position, base, pairs_norm(len(q))),
            "rope_neox": lambda: rope(q, position, base, pairs_neox(len(q))),
            "halves": lambda: rope(to_halves(q), position, base, pairs_neox(len(q)))}


def main():
    for name, compute in results(inputs()).items():
        try:
            numbers = compute()
        except NotImplementedError as missing:
            print(f"{name}.txt: {missing} is not written yet")
            continue
        pathlib.Path(f"{name}.txt").write_text("\n".join(map(repr, numbers)) + "\n", "utf-8")
        print(f"{name}.txt: {len(numbers)} numbers")


if __name__ == "__main__":
    main()
