"""vetro run --reference: the interpreter answers in the same form."""

import sys

from check import equal, object_of

arguments = ("run", sys.argv[2], "-p", "The capital of France is", "-n", 2, "--kv", "f32")
found = object_of(*arguments, "--reference", "--threads", 2)
equal(found["text"], " Paris.")
equal(found["ids"], object_of(*arguments)["ids"])
print("reference: done")
