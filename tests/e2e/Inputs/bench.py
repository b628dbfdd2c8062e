"""vetro bench: the object's keys and that its figures hang together."""

import sys

from check import equal, error, expect, object_of, quiet

MODEL = sys.argv[2]

found = object_of("bench", MODEL, "--threads", 1, "--prompt", 16, "--gen", 4, "--depth", 8,
                  "--repeat", 3)
for key in ("prefill_tps", "decode_tps", "weight_gb_per_s", "cpu_share"):
    expect(found[key] > 0, f"{key} is {found[key]}")
equal((found["threads"], found["prompt"], found["gen"], found["depth"]), (1, 16, 4, 8))
token = found["token_ms"]
expect(token["p10"] <= token["median"] <= token["p90"], f"percentiles out of order: {token}")
expect(abs(found["decode_tps"] * token["median"] / 1000 - 1) < 1e-6, "decode_tps is 1 / median")
# The embedding is the head here, so a token reads all weights: about the file's tensor bytes.
expect(90e6 < found["weight_bytes_per_token"] < 110e6, f"{found['weight_bytes_per_token']} bytes")
expect("prefill" in quiet("bench", MODEL, "--prompt", 4, "--gen", 2, "--repeat", 3).decode(), "no table")
error("bench", MODEL, "--depth", 8192, has=["positions", "8192", "--depth"])
error("bench", MODEL, "--repeat", 2, has=["--repeat"])
print("bench: done")
