"""What the tests share: the program beside the package, and small random models."""

import contextlib
import functools
import json
import os
import pathlib
import struct
import subprocess
import tempfile

import numpy as np

import vetro

program = symbol_lister = package = ""  # set by run.py
_folder = tempfile.TemporaryDirectory(prefix="vetro-python-")
folder = pathlib.Path(_folder.name)
cache = folder / "cache"  # of compiled plans: a random model takes more than a second each


def run(*arguments, code=0):
    """The program's stdout."""
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout


@functools.cache
def tiny():
    """The path of a random model whose context no memory holds."""
    path = folder / "tiny.gguf"
    run("make-tiny", "--arch", "llama", "--type", "Q4_K_M", "-o", path,
        "--override-kv", "llama.context_length=u32:1000000000")
    return path


@contextlib.contextmanager
def working_in(path):
    """A new folder as the one that relative paths start from."""
    before = os.getcwd()
    path.mkdir()
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)


def load(path, **options):
    """A model whose plan is compiled once."""
    return vetro.Model(path, cache_dir=cache, **options)


@functools.cache
def model():
    """A loaded random model; no test may leave it changed, and none can."""
    return load(tiny())


def tensors_of(path):
    """({name: array}, metadata) of a safetensors file."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    metadata = header.pop("__metadata__")
    arrays = {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        arrays[name] = np.frombuffer(data[begin:end], "<f4").reshape(entry["shape"])
    return arrays, metadata
