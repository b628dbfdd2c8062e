"""Edited models from outside: a process for each edit, which must end by itself with 0 or 2.

    python3 edited_models.py VETRO MODEL FOLDER EDITS [SEED]

The file has the model's size but only its head: the data is a hole, so that a copy costs nothing.
An edit changes up to four numbers near the keys and tensor records, cuts the file, or both, and runs
`vetro inspect` or `vetro run -n 1` on it.
"""

import os
import pathlib
import random
import resource
import struct
import subprocess
import sys

from check import VETRO, expect, require

MODEL, FOLDER, EDITS = sys.argv[2], pathlib.Path(sys.argv[3]), int(sys.argv[4])
SEED = int(sys.argv[5]) if len(sys.argv) > 5 else 0
CPU_S = 5  # of processor time; a good `run -n 1` takes about two, most of it for compiling
MORE_BYTES = 256 << 20  # that inspect, which reads no tensor, may take beside the file's size
WIDTHS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
STRING, ARRAY = 8, 9


class Head:
    """Where a GGUF file's records are, where the numbers of its keys are, where its data begins."""

    def __init__(self, data):
        self.data, self.at, self.records, self.values = data, 24, [], []
        n_tensors, n_keys = struct.unpack_from("<QQ", data, 8)
        for _ in range(n_keys):
            self.records.append(self.at)
            self.skip_text()
            kind = self.number("<I")
            if kind in WIDTHS:
                self.values.append((self.at, WIDTHS[kind]))
            self.skip_value(kind)
        for _ in range(n_tensors):
            self.records.append(self.at)
            self.skip_text()
            dimensions = self.number("<I")
            self.at += 8 * dimensions + 12
        self.end = (self.at + 31) // 32 * 32

    def number(self, form):
        value, = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return value

    def skip_text(self):
        length = self.number("<Q")
        self.at += length

    def skip_value(self, kind):
        if kind == ARRAY:
            kind, count = self.number("<I"), self.number("<Q")
            for _ in range(count):
                self.skip_value(kind)
        elif kind == STRING:
            self.skip_text()
        else:
            self.at += WIDTHS[kind]


def edited(head, size, rng):
    """[(offset, bytes)] to write and the length to cut to."""
    numbers = (0, 1, 2, 3, 255, 65535, 1 << 31, (1 << 32) - 1, 1 << 62, (1 << 64) - 1)
    writes = []
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at, width = rng.choice(head.records) + rng.randrange(64), rng.choice((1, 2, 4, 8))
        if rng.random() < 0.5:
            at, width = rng.choice(head.values)
        number = rng.choice(numbers) if rng.random() < 0.5 else rng.getrandbits(rng.choice((3, 8, 64)))
        writes.append((at, number.to_bytes(8, "little")[:width]))
    cut = rng.randrange(rng.choice((head.end, size))) if rng.random() < 0.1 else size
    return writes, cut


def limit_time():
    """A process that computes for longer is killed, which the exit code shows."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))


def try_edit(head, size, seed):
    """The exit code of one edit; what is wrong ends the program."""
    rng = random.Random(seed)
    path = FOLDER / "edited.gguf"
    writes, cut = edited(head, size, rng)
    with open(path, "wb") as file:
        file.write(head.data[:head.end])
        for at, what in writes:
            file.seek(at)
            file.write(what)
        file.truncate(cut)
    command = ["inspect"] if seed % 3 else ["run", "--ids", "1,2,3", "-n", "1", "--cache-dir", ""]
    process = subprocess.Popen([VETRO, command[0], str(path), *command[1:]],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=limit_time)
    notes = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    shown = f"edit {seed}: {command}: exit {process.returncode}: {writes} {cut}: {notes[-500:]}"
    expect(process.returncode in (0, 2), shown)
    expect(usage.ru_maxrss * 1024 < size + MORE_BYTES, f"{usage.ru_maxrss} KiB were used: {shown}")
    expect(notes.count(b"\n") <= 1 and b"\x1b" not in notes, shown)
    return process.returncode


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    require(MODEL)
    size = os.path.getsize(MODEL)
    with open(MODEL, "rb") as file:
        head = Head(file.read(16 << 20))
    head.data = head.data[:head.end]
    codes = [try_edit(head, size, seed) for seed in range(SEED, SEED + EDITS)]
    expect(0 in codes and 2 in codes, f"{codes.count(0)} of {len(codes)} edits were accepted")
    print(f"edited models: {len(codes)} edits, {codes.count(0)} accepted")


main()
