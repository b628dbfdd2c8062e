"""Runs the lesson's command and fills the blanks from the trace: solve.py VETRO"""

import json
import pathlib
import subprocess
import sys

from look import row_of

subprocess.run([sys.argv[1], "run", "tiny", "-p", "Ciao, come", "-n", "4", "--ubatch", "3", "--temp", "0.8",
                "--top-k", "5", "--seed", "3", "--trace-hooks", "embed", "--trace", "run"],
               check=True, stdout=subprocess.DEVNULL)
trace = json.load(open("run/trace.json", encoding="utf-8"))
model, batch = trace["model"], trace["batches"][0]
last = trace["tokens"][len(trace["prompt"]["ids"]) - 1]
stages = {stage["name"]: stage for stage in last["sampled"]["stages"]}
answers = {
    "level": trace["machine"]["level"],
    "file_bytes": model["bytes"],
    "architecture": model["architecture"],
    "head_dim": trace["kv"]["states"][0]["head_dim"],
    "vocabulary": next(t["shape"][0] for t in model["tensors"] if t["name"] == "token_embd.weight"),
    "tensors": len(model["tensors"]),
    "kv_bytes": trace["kv"]["bytes"],
    "words": len(trace["prompt"]["encoding"]["words"]),
    "ids": trace["prompt"]["ids"],
    "batch": (batch["tokens"], batch["outputs"]),
    "embed": row_of(pathlib.Path("run") / batch["values"], "embed", last["row"])[0],
    "micro": batch["micro_batches"],
    "fused": next(step["op"] for step in trace["steps"] if "blk.0.ffn_act" in step["inside"]),
    "logit": stages["logits"]["top"][0]["logit"],
    "drawn": (stages["top-k"]["out"], last["sampled"]["id"]),
    "text": f"{trace['tokens'][last['position'] + 1]['bytes']} {trace['stop']}",
}
pathlib.Path("answers.txt").write_text("".join(f"{name} = {answer}\n" for name, answer in answers.items()),
                                       "utf-8")
