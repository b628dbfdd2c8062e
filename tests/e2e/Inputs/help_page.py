"""docs/command-line.md holds the help texts of the program as it is.

    python3 help_page.py VETRO PAGE           compares, exit code 1 if they differ
    python3 help_page.py VETRO PAGE --write   writes the page anew
"""

import difflib
import re
import subprocess
import sys

VETRO, PAGE = sys.argv[1:3]
MARK = "<!-- help texts, made by tests/e2e/Inputs/help_page.py -->\n"


def help_text(*command):
    done = subprocess.run([VETRO, *command, "--help"], capture_output=True, text=True, check=True)
    return "\n".join(line.rstrip() for line in done.stdout.strip().split("\n"))


def page_of(texts):
    return "".join(f"\n## {name}\n\n```\n{text}\n```\n" for name, text in texts)


def main():
    program = help_text()
    names = re.findall(r"^  ([a-z-]+) {2,}", program[program.index("Subcommands:"):], re.MULTILINE)
    if len(names) < 6:
        sys.exit(f"help_page: found only the subcommands {names}")
    texts = [("vetro", program)]
    texts += [(f"vetro {name}", help_text(name)) for name in names if name != "opt"]
    old = open(PAGE, encoding="utf-8").read()
    head = old.split(MARK)[0]
    new = head + MARK + page_of(texts)
    if "--write" in sys.argv:
        open(PAGE, "w", encoding="utf-8").write(new)
    elif new != old:
        print("\n".join(difflib.unified_diff(old.split("\n"), new.split("\n"), "the page", "the help",
                                             lineterm="", n=1)))
        sys.exit("help_page: docs/command-line.md is stale: --write makes it anew")
    print(f"help page: {len(texts)} texts")


main()
