"""The files of the project, and the frame that every check in this folder runs in.

A check is a function `check(files) -> problems` over {path: text}. Before it looks at the project
it must prove itself: every bad example has to be refused, every good one accepted.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = 77  # ctest's SKIP_RETURN_CODE for these checks
IGNORED_FOLDERS = {".git", ".venv", "models", "__pycache__"}
CPP = (".h", ".cpp", ".def", ".cu", ".cuh")


def paths():
    """Every file that is, or would be, under version control."""
    git = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listing = subprocess.run(git, capture_output=True, check=True).stdout.decode()
        found = [p for p in listing.split("\0") if p]
    except (OSError, subprocess.CalledProcessError):
        found = list(walk())
    return sorted(p for p in found if (ROOT / p).is_file())


def walk():
    """The same for a tree without git, as from an archive."""
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [f for f in folders if f not in IGNORED_FOLDERS and not f.startswith("build")]
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), ROOT)


def read(selected=lambda path: True):
    """{path: text} of the project's files that `selected` accepts; a binary file's text is ""."""
    files = {}
    for path in paths():
        if selected(path):
            try:
                files[path] = (ROOT / path).read_text(encoding="utf-8")
            except UnicodeDecodeError:
                files[path] = ""
            except FileNotFoundError:
                pass  # removed while we looked
    return files


def run(name, check, good, bad, selected, warnings=None):
    """Self-test on examples, then the project. Exits 1 where either fails."""
    for files in good:
        if problems := check(files):
            sys.exit(f"{name}: self-test: a good example was refused: {files}\n{problems}")
    for files in bad:
        if not check(files):
            sys.exit(f"{name}: self-test: a bad example was accepted: {files}")
    files = read(selected)
    if not files:
        sys.exit(f"{name}: no file to check")
    if warnings:
        for line in warnings(files):
            print("warning:", line)
    problems = check(files)
    for line in problems:
        print(line)
    print(f"{name}: {len(bad)} bad examples refused, {len(files)} files, {len(problems)} problems")
    sys.exit(1 if problems else 0)
