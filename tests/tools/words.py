"""The project speaks of itself alone, and leaves nothing for later.

Refused: marks of unfinished work, numbers of a tracker's tickets, paths of somebody's machine, and
hosts of package registries (what is needed is named; the system's own clients know where from).
"""

import re

import tree

PATTERNS = [
    (r"\b(TO" r"DO|FIX" r"ME|X{3})\b", "a mark of unfinished work"),
    (r"\b(?:[Ii]ssues?|tickets?|[Pp]ull requests?)\s+#?\d+|\bGH-\d+", "a ticket's number"),
    (r"(?<![\w.$}/>*~])/(?:work|home|root|Users|t" r"mp)/", "a path of one machine"),
    (r"\.\./shared/(?!data\b)|\bshared/(?:reference|design|style)", "a page outside of the project"),
    (r"\b(?:pypi\.org|pythonhosted\.org|deb\.debian\.org|registry\.npmjs|crates\.io|"
     r"download\.pytorch\.org|apt\.llvm\.org|archive\.ubuntu)", "a package registry's host"),
    (r"\bas an AI\b|\bAI[- ](?:generated|assistant|agent)", "a word about how it was written"),
]
COMPILED = [(re.compile(pattern), why) for pattern, why in PATTERNS]
EXEMPT = ("LICENSE", "tests/tools/words.py")
DATA = (".json", ".jsonl", ".txt", ".svg", ".safetensors")


def selected(path):
    return path not in EXEMPT and not (path.startswith("tests/golden/") and path.endswith(DATA))


def check(files):
    problems = []
    for path, text in files.items():
        for number, line in enumerate(text.split("\n"), 1):
            for pattern, why in COMPILED:
                if match := pattern.search(line):
                    problems.append(f"{path}:{number}: '{match.group(0)}' is {why}")
    return problems


GOOD = [{"a.md": text} for text in (
    "a session is used by one thread at a time", "frontends/gguf", "${root}/work/x", "#0 and %1#2",
    "the address of ../shared/data", "an issue of bandwidth", "build/work/x")]
BAD = [{"a.md": text} for text in (
    "// TO" "DO: later", "FIX" "ME", "see issue 12", "Issue #3", "cd /work/main", "in /t" "mp/x",
    "see ../shared/reference/ops.md", "shared/design.md", "from https://pypi.org/x", "/home/me/x")]

if __name__ == "__main__":
    tree.run("words", check, GOOD, BAD, selected)
