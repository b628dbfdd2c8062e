#!/usr/bin/env python3
"""Vetro against llama.cpp, side by side in one run: prefill and decode speed, as ratios.

Fair by construction: the same file, threads, prompt length, depth and F16 cache; fresh processes in
turn (A B, B A, ...), so that a machine that slows down slows both; a probe of clock and memory
before and after each pair; a pair whose probes differ by over 10 %, or in which a timed loop had
less than 96 % of its threads' time, is run again; the result is the median of the pairs' ratios.
llama.cpp loads its weights without mapping, which is faster for it. decode is 1 / median token
latency, prefill the median of its repetitions.

    python3 tests/bench/compare_llama_cpp.py MODEL [--threads 1] [--prompt 512] [--gen 64]
        [--depth 0] [--pairs 5] [--vetro build/bin/vetro] [--peer-lib DIR] [--peer-only] [--json]

Runs under the Python that has llama-cpp-python (tests/tools/requirements-golden.txt).
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PREFILL_REPEATS = 5
PROBE_TOLERANCE = 0.10
CPU_SHARE_AT_LEAST = 0.96
PAIRS_AT_MOST = 3  # times the pairs asked for, before giving up on a quiet machine


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def peer_sample(options):
    """llama.cpp's figures in this process; the same keys as `vetro bench --json` where shared."""
    sys.path.insert(0, str(ROOT / "tests" / "tools"))
    from llama_cpp_peer import LlamaCpp, system_info
    n_ctx = -(-(options.depth + options.prompt + options.gen) // 256) * 256
    peer = LlamaCpp(options.model, n_ctx=n_ctx, threads=options.threads)
    rng = random.Random(1)
    draw = lambda count: [rng.randrange(10, peer.n_vocab) for _ in range(count)]

    def at_depth():
        peer.clear()
        if options.depth:
            peer.decode(draw(options.depth), 0)

    cpu, wall, prefill = 0.0, 0.0, []
    for repeat in range(PREFILL_REPEATS + 1):
        at_depth()
        begin = time.process_time()
        seconds = peer.decode(draw(options.prompt), options.depth)
        if repeat:  # the first one warms up
            cpu, wall = cpu + time.process_time() - begin, wall + seconds
            prefill.append(seconds)
    at_depth()
    peer.decode(draw(1), options.depth)
    begin = time.process_time()
    tokens = [peer.decode(draw(1), options.depth + 1 + index) for index in range(options.gen - 1)]
    cpu, wall = cpu + time.process_time() - begin, wall + sum(tokens)
    return {"prefill_tps": options.prompt / statistics.median(prefill),
            "prefill_best_tps": options.prompt / min(prefill),
            "decode_tps": 1 / statistics.median(tokens),
            "decode_p10_tps": 1 / percentile(tokens, 0.9),
            "decode_p90_tps": 1 / percentile(tokens, 0.1),
            "cpu_share": cpu / (wall * options.threads), "features": system_info()}


def run_json(command, environment=None):
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    if result.returncode != 0:
        tail = "\n".join(result.stderr.splitlines()[-5:])
        hint = "; tests/bench/README.md names a known cause" if result.returncode == -11 else ""
        raise SystemExit(f"error: {' '.join(command)}: exit code {result.returncode}{hint}\n{tail}")
    return json.loads(result.stdout)


def sizes(options):
    return ["--threads", str(options.threads), "--prompt", str(options.prompt),
            "--gen", str(options.gen), "--depth", str(options.depth)]


def run_peer(options):
    environment = dict(os.environ)
    if options.peer_lib:
        environment["LLAMA_CPP_LIB_PATH"] = str(options.peer_lib)
    return run_json([sys.executable, __file__, str(options.model), "--sample", *sizes(options)],
                    environment)


def run_vetro(options):
    return run_json([str(options.vetro), "bench", str(options.model), *sizes(options), "--json"])


def probe():
    """(seconds of fixed arithmetic, GB/s of reading 256 MB): a clock and a memory reading."""
    import numpy
    block = numpy.ones(1 << 26, dtype=numpy.float32)

    def arithmetic():
        start, total = time.perf_counter(), 0
        for index in range(1_000_000):
            total += index * index
        return time.perf_counter() - start

    def reading():
        start = time.perf_counter()
        block.sum()
        return block.nbytes / (time.perf_counter() - start) / 1e9
    reading()
    return min(arithmetic() for _ in range(3)), max(reading() for _ in range(3))


def probes_agree(before, after):
    return all(abs(a - b) <= PROBE_TOLERANCE * max(a, b) for a, b in zip(before, after))


def disturbed(pair, before, after):
    """Why a pair does not count, or None. Vetro's share counts where its bench reports one."""
    if not probes_agree(before, after):
        return f"probes {before} and {after} differ"
    for name, sample in pair.items():
        if sample.get("cpu_share", 1.0) < CPU_SHARE_AT_LEAST:
            return f"{name} had {sample['cpu_share']:.0%} of its threads' time"
    return None


def run_pairs(options):
    """The kept pairs and the number dropped because the machine changed under them."""
    pairs, dropped = [], 0
    while len(pairs) < options.pairs and len(pairs) + dropped < PAIRS_AT_MOST * options.pairs:
        before = probe()
        order = [("vetro", run_vetro), ("llama.cpp", run_peer)]
        if (len(pairs) + dropped) % 2:
            order.reverse()
        pair = {name: run(options) for name, run in order}
        after = probe()
        if reason := disturbed(pair, before, after):
            dropped += 1
            print(f"pair dropped: {reason}", file=sys.stderr)
            continue
        pair["probe_gb_per_s"] = after[1]
        pairs.append(pair)
        print(f"pair {len(pairs)} of {options.pairs}", file=sys.stderr)
    return pairs, dropped


def summary(options, pairs, dropped):
    def median(engine, key):
        return statistics.median(pair[engine][key] for pair in pairs)

    def ratios(key):
        return [pair["vetro"][key] / pair["llama.cpp"][key] for pair in pairs]
    keys = ("prefill_tps", "decode_tps")
    return {"model": Path(options.model).name, "threads": options.threads,
            "prompt": options.prompt, "gen": options.gen, "depth": options.depth,
            "pairs": len(pairs), "pairs_dropped": dropped, "cpu": cpu_name(),
            "date": time.strftime("%Y-%m-%d"),
            "peer_features": pairs[0]["llama.cpp"]["features"],
            "vetro": {key: median("vetro", key) for key in keys},
            "llama.cpp": {key: median("llama.cpp", key) for key in keys},
            "ratio": {key: statistics.median(ratios(key)) for key in keys},
            "ratios": {key: ratios(key) for key in keys}}


def cpu_name():
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


def parse(arguments):
    parser = argparse.ArgumentParser(description="compare Vetro with llama.cpp in one run")
    parser.add_argument("model", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--prompt", type=int, default=512)
    parser.add_argument("--gen", type=int, default=64)
    parser.add_argument("--depth", type=int, default=0)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--vetro", type=Path, default=ROOT / "build" / "bin" / "vetro")
    parser.add_argument("--peer-lib", type=Path, help="folder of another build of llama.cpp")
    parser.add_argument("--peer-only", action="store_true", help="llama.cpp's figures alone, once")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--sample", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.gen < 2 or options.prompt < 1:
        parser.error("--gen must be at least 2 and --prompt at least 1")
    return options


def main():
    options = parse(sys.argv[1:])
    if options.sample or options.peer_only:
        print(json.dumps(peer_sample(options) if options.sample else run_peer(options)))
        return 0
    if not options.vetro.is_file():
        print(f"error: {options.vetro} is missing; run './bootstrap build'", file=sys.stderr)
        return 2
    pairs, dropped = run_pairs(options)
    if not pairs:
        print("error: no pair survived its probes; run again on a quiet machine", file=sys.stderr)
        return 1
    result = summary(options, pairs, dropped)
    if options.json:
        print(json.dumps(result))
        return 0
    for key, unit in (("prefill_tps", "prefill"), ("decode_tps", "decode")):
        print(f"{unit}: vetro {result['vetro'][key]:.1f} t/s, llama.cpp "
              f"{result['llama.cpp'][key]:.1f} t/s, ratio {result['ratio'][key]:.3f} "
              f"({min(result['ratios'][key]):.3f} to {max(result['ratios'][key]):.3f})")
    print(f"{result['pairs']} pairs, {dropped} dropped, {options.threads} thread(s), prompt "
          f"{options.prompt}, depth {options.depth}, {result['cpu']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
