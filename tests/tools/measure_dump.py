"""What watching costs: a prompt of 512 tokens with all layer outputs dumped, against the same without.

    PYTHONPATH=build/python .venv/bin/python tests/tools/measure_dump.py MODEL...

Alternating, medians of the times and of their ratio, in this process; one line of JSON a model. Fails where
the ratio is above 1.3.
"""

import json
import statistics
import sys
import time

import vetro

TOKENS, ROUNDS, LIMIT = 512, 15, 1.3


def seconds(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def measure(path, threads):
    model = vetro.Model(path, threads=threads)
    ids = [5 + i * 37 % 4000 for i in range(TOKENS)]
    plain, dumped = [], []
    for _ in range(ROUNDS + 1):
        plain.append(seconds(lambda: model.session(n_ctx=TOKENS).run(ids)))
        dumped.append(seconds(lambda: model.dump(ids, ["blk.*.l_out"])))
    del plain[0], dumped[0]  # the first round touches all memory
    ratio = statistics.median(d / p for d, p in zip(dumped, plain))
    return {"model": path.rsplit("/", 1)[-1], "threads": threads, "plain_s": statistics.median(plain),
            "dumped_s": statistics.median(dumped), "ratio": ratio}


def main():
    worst = 0
    for path in sys.argv[1:]:
        for threads in (1, 2):
            row = measure(path, threads)
            worst = max(worst, row["ratio"])
            print(json.dumps(row))
    sys.exit(worst > LIMIT)


main()
