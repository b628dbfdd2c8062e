"""Finds all five bugs by `vetro bisect` alone: solve.py VETRO"""

import json
import pathlib
import subprocess
import sys

# What a first bad value means, by the end of its name, and which of its keys or weights is behind it.
MEANINGS = {"embed": ("embedding-scale", "token_embd.weight"), "norm": ("norm-plus-one", "norm.weight"),
            "q_rope": ("rope-base", "rope.freq_base"), ".k": ("head-map", "attn_k.weight"),
            "ffn_gate": ("gate-up-swap", "ffn_gate.weight")}


def hunt(number):
    done = subprocess.run([sys.argv[1], "bisect", f"bug{number}.gguf", "right.safetensors", "--json"],
                          capture_output=True, text=True)
    if done.returncode != 1:
        sys.exit(f"bug{number}: exit code {done.returncode}: {done.stderr}")
    first = json.loads(done.stdout)["first"]
    word, behind = next(meaning for end, meaning in MEANINGS.items() if first["name"].endswith(end))
    cause = next(name for name in first["weights"] + first["keys"] if name.endswith(behind))
    return f"bug{number} = {word} {first['name']} {cause}\n"


pathlib.Path("answers.txt").write_text("".join(map(hunt, range(1, 6))), "utf-8")
