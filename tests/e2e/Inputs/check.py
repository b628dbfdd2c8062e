"""Runs vetro and checks what came out. A failed check ends the program with what was found."""

import json
import os
import subprocess
import sys

VETRO = sys.argv[1]


def require(model):
    """Ends the program as skipped where the model is missing."""
    if not os.path.isfile(model):
        print(f"skipped: {model} is missing; get it with ./bootstrap models")
        sys.exit(77)


def run(*arguments, code=0, stdin=b""):
    """The finished process; its exit code must be `code`, its stderr at most one line."""
    done = subprocess.run([VETRO, *map(str, arguments)], input=stdin, capture_output=True)
    shown = f"vetro {' '.join(map(str, arguments))}\nstderr: {done.stderr.decode(errors='replace')}"
    expect(done.returncode == code, f"exit code {done.returncode}, expected {code}: {shown}")
    expect(done.stderr.count(b"\n") <= 1, f"more than one line on stderr: {shown}")
    return done


def quiet(*arguments, stdin=b"", code=0):
    """What a run prints; nothing may be on stderr, which is no terminal here."""
    done = run(*arguments, code=code, stdin=stdin)
    expect(done.stderr == b"", f"not quiet: {arguments}: {done.stderr}")
    return done.stdout


def object_of(*arguments, stdin=b"", code=0):
    """The JSON object that a run prints, and nothing beside it."""
    output = quiet(*arguments, "--json", stdin=stdin, code=code)
    expect(output.endswith(b"}\n") and output.count(b"\n") == 1, f"not one line: {output[:200]}")
    return json.loads(output.decode("utf-8"))


def error(*arguments, has, stdin=b""):
    """An input error: exit code 2, one line "vetro: ..." that has these words, nothing on stdout."""
    done = run(*arguments, code=2, stdin=stdin)
    line = done.stderr.decode()
    expect(done.stdout == b"", f"an error printed a result: {arguments}: {done.stdout[:200]}")
    expect(line.startswith("vetro: ") and line.endswith("\n"), f"no error line: {line!r}")
    for word in has:
        expect(word in line, f"{word!r} is missing in {line!r}")


def expect(condition, message):
    if not condition:
        sys.exit(f"{sys.argv[0]}: {message}")


def equal(found, expected):
    expect(found == expected, f"found {found!r}, expected {expected!r}")
