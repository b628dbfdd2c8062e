#!/usr/bin/env python3
"""Writes tests/unit/encode/vectors.gguf: values, and their blocks as gguf-py encodes them.

One tensor "f32" of 16 rows of 256 values, and one tensor per format that gguf-py (0.19.0) encodes,
named like it. The rows: normal values, one far outlier per block, very small and very large ones,
exact halves between two codes, equal values, zeros, all positive, all negative.

    python3 tests/tools/make_encode_vectors.py
"""

from pathlib import Path

import gguf
import numpy as np

OUT = Path(__file__).resolve().parents[1] / "unit" / "encode" / "vectors.gguf"
FORMATS = ("F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1")


def rows():
    rng = np.random.default_rng(1)
    normal = rng.standard_normal((16, 256)).astype(np.float32)
    normal[4, ::32] *= 50
    normal[5] *= 1e-3
    normal[6] *= 1e-6  # the steps are denormal in f16
    normal[7] *= 3000
    normal[8] = np.tile(np.arange(32) - 16, 8) / 2
    normal[9] = np.tile(np.arange(32), 8) + 0.5
    normal[10] = 1.25
    normal[11] = 0
    normal[12] = np.abs(normal[12])
    normal[13] = -np.abs(normal[13])
    normal[14] = np.round(normal[14] * 4) / 4
    normal[15, ::2] = -normal[15, 1::2]  # both signs of the largest magnitude
    return normal


def main():
    values = rows()
    writer = gguf.GGUFWriter(str(OUT), "none")
    writer.add_tensor("f32", values)
    for name in FORMATS:
        kind = gguf.GGMLQuantizationType[name]
        blocks = gguf.quants.quantize(values, kind)
        writer.add_tensor(name.lower(), blocks, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
