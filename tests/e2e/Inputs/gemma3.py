"""vetro run on a vocabulary that adds BOS: to text, never to ids."""

import sys

from check import equal, error, object_of

MODEL = sys.argv[2]

found = object_of("run", MODEL, "-p", "The capital of France is", "-n", 3)
equal(found["prompt_ids"][0], 2)
equal(len(found["ids"]), 3)
given = object_of("run", MODEL, "--ids", ",".join(map(str, found["prompt_ids"])), "-n", 3)
equal((given["prompt_ids"], given["ids"]), (found["prompt_ids"], found["ids"]))
# BOS alone is a prompt where text is empty; no ids are none.
equal(object_of("run", MODEL, "-p", "", "-n", 1)["prompt_ids"], [2])
error("run", MODEL, "--ids", "", has=["no tokens"])
print("gemma3: done")
