"""Every path that a page names exists: stale prose is found on the day it goes stale.

Looked at: words in `code` and in fenced blocks, and targets of links, of README.md files and docs/.
A path counts from the project's root, from the page's own folder, or, of a lab's page, from its
starter/ and from labs/. A file that the page itself shows, in
a block marked `python FILE` or `cpp FILE`, is there for its readers.
"""

import re

import tree

TOP = ("compiler", "passes", "frontends", "viz", "runtime", "labs", "tests", "docs")
# Made by the build, by ./bootstrap or by the reader, hence not in the tree.
MADE = ("build", "models", ".venv")
EXTENSIONS = ("md", "cpp", "h", "td", "py", "test", "def", "cu", "css", "js", "cmake")
SHOWN = re.compile(r"^```(?:python|cpp) (\S+)$", re.M)
FENCE = re.compile(r"^(```+|~~~+).*?^\1", re.M | re.S)
SPAN = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.S)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
IMAGE = re.compile(r'<img src="([^"]+)"')
PLACEHOLDER = re.compile(r"[*<>{}$|=%…]|\.\.\.|://|^[-~]|^/|^\.\w+$|\bNNN\b|\bNAME\b")


def is_page(path):
    return path.endswith(".md") and (path.startswith("docs/") or path.endswith("README.md"))


def words(text):
    """(word, must be a path) for what a page shows as code or links to."""
    fenced = [m.group(0) for m in FENCE.finditer(text)]
    prose = FENCE.sub("", text)
    for block in fenced + [m.group(2) for m in SPAN.finditer(prose)]:
        for word in block.split():
            yield re.sub(r"[,;:).\]]+$", "", word.strip("`\"'([")), False
    for target in LINK.findall(SPAN.sub("", prose)) + IMAGE.findall(prose):
        if not target.startswith(("#", "http", "mailto")):
            yield target.split("#")[0], True


def is_path(word):
    """Whether the word claims to be a path of the tree."""
    first, extension = word.split("/")[0], word.rsplit(".", 1)[-1]
    if first in MADE or PLACEHOLDER.search(word) or ".." in word.split("/"):
        return False
    if first in TOP:
        return "/" in word
    return word.startswith("./") or ("." in word and extension in EXTENSIONS)


def exists(word, page, known):
    word = re.sub(r":\d+(-\d+)?$", "", word).rstrip("/")
    word = word[2:] if word.startswith("./") else word
    folder = page.rsplit("/", 1)[0] + "/" if "/" in page else ""
    return (word in known or folder + word in known or resolved(folder + word) in known
            or (page.startswith("labs/") and (folder + "starter/" + word in known or "labs/" + word in known)))


def resolved(path):
    """`a/b/../c` as `a/c`."""
    parts = []
    for part in path.split("/"):
        parts = parts[:-1] if part == ".." else parts + [part]
    return "/".join(parts)


def with_folders(paths):
    known = set(paths)
    for path in paths:
        parts = path.split("/")
        known.update("/".join(parts[:n]) for n in range(1, len(parts)))
    return known


def check(files):
    known, problems = with_folders(files), []
    for page, text in files.items():
        if is_page(page):
            shown = SHOWN.findall(text)
            for word, sure in words(text):
                if word and word not in shown and (sure or is_path(word)) and not exists(word, page, known):
                    problems.append(f"{page}: names {word}, which does not exist")
    return sorted(set(problems))


def page(text, **more):
    return {"README.md": text, "viz/Dot.cpp": "", "viz/README.md": "`Dot.cpp`", **more}


GOOD = [
    page("`viz/Dot.cpp` and `viz/` and [it](viz/Dot.cpp) and `viz/Dot.cpp:12`, see `viz/*.cpp`"),
    page("```\n./bootstrap test\n```\n`a/b`, `blk.0.attn_q.weight`, `build/bin/vetro`", bootstrap=""),
    page("```python a.py\nx\n```\n```console\n$ python3 a.py\n```"),
    page("", **{"labs/01-x/README.md": "`a.py`", "labs/01-x/starter/a.py": ""}),
    page("[up](viz/README.md)", **{"docs/a.md": "[x](../viz/Dot.cpp)"}),
]
BAD = [
    page("`viz/Svg.cpp`"), page("`Svg.cpp`"), page("```python a.py\nx\n```\n`b.py`"), page("[it](viz/Svg.cpp)"), page("`frontends/arch/`"),
    page("```\n./bootstrap test\n```"), page("", **{"docs/a.md": "[x](../viz/Svg.cpp)"}),
    page("", **{"labs/01-x/README.md": "`b.py`", "labs/01-x/starter/a.py": ""}),
    page("run `cat viz/Svg.cpp` first"), page('<img src="viz/a.svg" width="9">'),
]

if __name__ == "__main__":
    tree.run("doc_paths", check, GOOD, BAD, lambda path: True)
