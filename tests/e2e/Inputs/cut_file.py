"""A model file that is cut while it is mapped, a cache entry that is damaged, Ctrl-C while loading.

    python3 cut_file.py VETRO MODEL FOLDER [CHECK ...]
"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from check import VETRO, equal, expect, require, run

MODEL, FOLDER = sys.argv[2], pathlib.Path(sys.argv[3])
CACHE = FOLDER / "cache"


def start(*arguments, model, cache=CACHE):
    command = [VETRO, "run", str(model), "--cache-dir", str(cache), "-p", "Once upon a time",
               *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def copy_of_model():
    copy = FOLDER / "copy.gguf"
    shutil.copyfile(MODEL, copy)
    return copy


def cut_at(delay_s):
    """Halves the file `delay_s` after the start: a clean error, or done before the cut was seen."""
    copy = copy_of_model()
    process = start("-n", 1, model=copy)
    time.sleep(delay_s)
    os.truncate(copy, copy.stat().st_size // 2)
    output, notes = process.communicate(timeout=120)
    expect(process.returncode in (0, 2), f"cut after {delay_s} s: exit code {process.returncode}")
    if process.returncode == 2:
        line = notes.decode()
        equal(output, b"")
        expect(line.startswith("vetro: ") and line.count("\n") == 1, f"no error line: {line!r}")
    return process.returncode


def cut_while_loading():
    """At some delay the load is under way: there the cut must be seen."""
    codes = [cut_at(delay / 100) for delay in range(0, 30, 3)]
    expect(2 in codes, f"no cut fell into a load: {codes}")


def cut_while_running():
    """The interpreter reads weights for as long as it runs, so it must notice after a token."""
    copy = copy_of_model()
    process = start("-n", -1, "--ignore-eos", "--reference", model=copy)
    expect(process.stdout.read(1), "nothing was written")
    os.truncate(copy, copy.stat().st_size // 2)
    _, notes = process.communicate(timeout=120)
    line = notes.decode()
    expect(process.returncode == 2 and line.startswith("vetro: ") and line.count("\n") == 1,
           f"exit code {process.returncode}, stderr {line!r}")


def damaged_cache():
    """Any damage to an entry: silently built anew, with the same text."""
    wanted = run("run", MODEL, "--cache-dir", CACHE, "-p", "Once upon a time", "-n", 4).stdout
    (entry,) = CACHE.glob("*.vobj")
    good = entry.read_bytes()
    middle = len(good) // 2
    for bad in (b"", good[:20], good[:-1], good[:middle], good + b"x",
                good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1:], b"\0" * len(good)):
        entry.write_bytes(bad)
        done = run("run", MODEL, "--cache-dir", CACHE, "-p", "Once upon a time", "-n", 4)
        equal((done.stdout, done.stderr), (wanted, b""))
        equal(entry.read_bytes(), good)


def interrupted_after(delay_s, *arguments, cache=CACHE):
    """Seconds from a Ctrl-C to the end, which must have exit code 130 and no word on stderr."""
    process = start("-n", -1, "--ignore-eos", *arguments, model=MODEL, cache=cache)
    time.sleep(delay_s)
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, notes = process.communicate(timeout=60)
    took = time.monotonic() - sent
    equal((process.returncode, notes), (130, b""))
    return took


def interrupts():
    """The handler is there after some 50 ms of start; before it, nobody could be at the keys."""
    for name, delays, cache, arguments in (("loading", (0.15, 0.3), CACHE, ()),
                                           ("compiling", (0.15, 0.6, 1.2), "", ()),
                                           ("reference", (0.3, 1.0, 3.0), CACHE, ("--reference",))):
        for delay in delays:
            took = interrupted_after(delay, *arguments, cache=cache)
            expect(took < 1, f"Ctrl-C after {delay} s while {name}: {took:.1f} s until the end")


require(MODEL)
shutil.rmtree(FOLDER, ignore_errors=True)  # another build leaves other entries
FOLDER.mkdir(parents=True, exist_ok=True)
CHECKS = {check.__name__: check
          for check in (damaged_cache, cut_while_loading, cut_while_running, interrupts)}
for name in sys.argv[4:] or CHECKS:
    CHECKS[name]()
    print(f"cut_file: {name}", flush=True)
