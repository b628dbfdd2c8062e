"""Every C++ file is as clang-format leaves it. Skipped where clang-format 22 is not installed.

    python3 tests/tools/format.py CLANG_FORMAT          compares, exit code 1 where a file differs
    python3 tests/tools/format.py CLANG_FORMAT --write  formats them (ninja -C build format)
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import tree

SOURCES = (".h", ".cpp", ".cu", ".def")


def unformatted(clang_format, names, folder):
    """Names of the files in `folder` that clang-format would change."""
    command = [clang_format, "--dry-run", "-Werror", "--ferror-limit=1", *names]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode == 0:
        return []
    lines = [line for line in done.stderr.split("\n") if "error:" in line]
    return lines or [done.stderr.strip()]


def self_test(clang_format):
    """Proves that a badly and a well formatted file are told apart."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, ".clang-format").write_text((tree.ROOT / ".clang-format").read_text())
        Path(folder, "bad.cpp").write_text("int  f( ){return 1;}\n")
        Path(folder, "good.cpp").write_text("int f() { return 1; }\n")
        if not unformatted(clang_format, ["bad.cpp"], folder):
            sys.exit("format: self-test: a badly formatted file was accepted")
        if unformatted(clang_format, ["good.cpp"], folder):
            sys.exit("format: self-test: a well formatted file was refused")


def main():
    clang_format = sys.argv[1] if len(sys.argv) > 1 else ""
    if not clang_format or clang_format.endswith("NOTFOUND"):
        print("skipped: clang-format-22 is not installed (./bootstrap test installs it)")
        sys.exit(tree.SKIPPED)
    self_test(clang_format)
    names = [p for p in tree.paths() if p.endswith(SOURCES)]
    if "--write" in sys.argv[2:]:
        subprocess.run([clang_format, "-i", *names], cwd=tree.ROOT, check=True)
    problems = unformatted(clang_format, names, tree.ROOT)
    if problems:
        print("\n".join(problems), "\nninja -C build format formats them")
    print(f"format: {len(names)} files, {len(problems)} not as clang-format leaves them")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
