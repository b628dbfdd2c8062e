"""Ctrl-C ends a run cleanly with exit code 130; a reader that goes away ends it quietly."""

import json
import signal
import subprocess
import sys
import time

from check import VETRO, equal, expect

MODEL = sys.argv[2]
FOREVER = [VETRO, "run", MODEL, "-p", "Once upon a time", "-n", "-1", "--ignore-eos"]


def text_until_interrupted():
    process = subprocess.Popen(FOREVER, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    first = process.stdout.read(1)  # it has begun
    process.send_signal(signal.SIGINT)
    rest, notes = process.communicate(timeout=60)
    equal(process.returncode, 130)
    expect(first + rest, "nothing was written")
    equal(notes, b"")


def object_of_an_interrupted_run():
    process = subprocess.Popen(FOREVER + ["--json"], stdout=subprocess.PIPE)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    equal(process.returncode, 130)
    equal(json.loads(output)["stop"], "interrupt")


def reader_goes_away():
    process = subprocess.Popen(FOREVER, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.read(1)
    process.stdout.close()
    notes = process.stderr.read()
    process.wait(timeout=60)
    equal(notes, b"")
    equal(process.returncode, -signal.SIGPIPE)


text_until_interrupted()
object_of_an_interrupted_run()
reader_goes_away()
print("interrupt: done")
