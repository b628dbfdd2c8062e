"""The pages of docs/generated are what mlir-tblgen makes of today's definitions.

    python3 tests/tools/generated_docs.py MLIR_TBLGEN INCLUDE          compares, exit code 1 if stale
    python3 tests/tools/generated_docs.py MLIR_TBLGEN INCLUDE --write  writes them anew
"""

import difflib
import subprocess
import sys

import tree

# (definitions, generator, page); a page is due as soon as its definitions exist.
PAGES = [
    ("compiler/ir/VetroFusedOps.td", ["-gen-dialect-doc", "-dialect=vetro"],
     "docs/generated/dialect.md"),
    ("passes/Passes.td", ["-gen-pass-doc"], "docs/generated/passes.md"),
    ("compiler/lowering/Passes.td", ["-gen-pass-doc"], "docs/generated/lowering.md"),
]


def generate(tblgen, include, definitions, generator):
    command = [tblgen, *generator, "-I", str(tree.ROOT), "-I", include, str(tree.ROOT / definitions)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"generated_docs: {definitions}: mlir-tblgen failed:\n{done.stderr}")
    lines = [line.rstrip() for line in done.stdout.split("\n")]
    return "\n".join(lines).rstrip("\n") + "\n"


def stale(page, wanted, committed):
    """The first lines of the difference, or nothing."""
    diff = difflib.unified_diff(committed.split("\n"), wanted.split("\n"), page, "generated now",
                                lineterm="", n=1)
    return list(diff)[:20]


def self_test():
    if not stale("p", "# a\nb\n", "# a\nc\n") or not stale("p", "# a\n", ""):
        sys.exit("generated_docs: self-test: a stale page was accepted")
    if stale("p", "# a\n", "# a\n"):
        sys.exit("generated_docs: self-test: a fresh page was refused")


def main():
    tblgen, include, write = sys.argv[1], sys.argv[2], "--write" in sys.argv[3:]
    self_test()
    problems, compared = 0, 0
    for definitions, generator, page in PAGES:
        path = tree.ROOT / page
        if not (tree.ROOT / definitions).exists():
            if path.exists():
                print(f"{page}: its definitions {definitions} are gone")
                problems += 1
            continue
        wanted, compared = generate(tblgen, include, definitions, generator), compared + 1
        if write:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(wanted, encoding="utf-8")
        elif diff := stale(page, wanted, path.read_text(encoding="utf-8") if path.exists() else ""):
            problems += 1
            print(f"{page} is stale: ninja -C build docs writes it anew")
            print("\n".join(diff))
    print(f"generated_docs: {compared} pages, {problems} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
