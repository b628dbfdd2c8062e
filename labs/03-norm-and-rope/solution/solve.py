"""Makes the values, runs head.py, and writes the answers that are no files: solve.py VETRO"""

import pathlib
import subprocess
import sys

import head

subprocess.run([sys.argv[1], "dump", "tiny", "-p", "Once upon a time there was a", "--reference", "--kv", "f32", "--hooks",
                "embed,blk.0.q,blk.0.k", "-o", "values.safetensors"], check=True)
head.main()
m = head.inputs()
made = {name: compute() for name, compute in head.results(m).items()}
d = len(m["q"])
metadata = head.read("weights.safetensors")[1]
keys = head.read("values.safetensors")[0]["blk.0.k"]  # token 0's heads come first; it turns by 0
key = keys[1 * int(metadata["kv_heads"]) // int(metadata["heads"])]
scores = [sum(a * b for a, b in zip(made[name], key)) for name in ("rope_norm", "rope_neox")]
answers = {"partners": f"{head.pairs_norm(d)[0][1]} {head.pairs_neox(d)[0][1]}",
           "angle": m["position"] * m["base"] ** (-2 / d),
           "trap": head.snr(made["rope_neox"], made["rope_norm"]),
           "scores": f"{scores[0]} {scores[1]}"}
pathlib.Path("answers.txt").write_text("".join(f"{name} = {answer}\n" for name, answer in answers.items()),
                                       "utf-8")
