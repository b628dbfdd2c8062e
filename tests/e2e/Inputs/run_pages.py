"""README.md, docs/*.md and the labs' lessons show what the program does: each block marked `console` is run.

In a block, a line "$ COMMAND" is run by bash and the lines after it are its output; "..." stands for
any text within a line, and alone for any lines; "cd FOLDER" holds for the rest of the page. A block marked `python FILE` is saved under that name
first. Commands run in an empty folder where `vetro` is the program, and build/bin/vetro, build/python, bootstrap, models/ and docs/ are
those of the project, and python3 is that of .venv, if there is one. A page whose needs are missing is skipped, with the reason.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

VETRO, ROOT, FOLDER = sys.argv[1:4]
ENVIRONMENT = {**os.environ, "PYTHONPATH": "build/python",
               "PATH": os.pathsep.join((f"{os.path.abspath(ROOT)}/.venv/bin", f"{os.path.abspath(FOLDER)}/build/bin",
                                        os.environ["PATH"]))}
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def pages():
    names = sorted(n for n in os.listdir(f"{ROOT}/docs") if n.endswith(".md"))
    lessons = sorted(str(p.relative_to(ROOT)) for p in pathlib.Path(ROOT).glob("labs/[0-9]*/README.md"))
    return ["README.md"] + [f"docs/{name}" for name in names] + lessons


def prepare():
    shutil.rmtree(FOLDER, ignore_errors=True)
    for folder in (FOLDER, f"{FOLDER}/build", f"{FOLDER}/build/bin"):
        os.makedirs(folder, exist_ok=True)
    links = {"build/bin/vetro": VETRO, "build/python": f"{os.path.dirname(VETRO)}/../python", "models": f"{ROOT}/models", "docs": f"{ROOT}/docs",
             "bootstrap": f"{ROOT}/bootstrap", "tests": f"{ROOT}/tests"}
    for name, target in links.items():
        if os.path.lexists(f"{FOLDER}/{name}"):
            os.remove(f"{FOLDER}/{name}")
        os.symlink(os.path.abspath(target), f"{FOLDER}/{name}")


def commands(block):
    """[(command, [expected line])]"""
    found = []
    for line in block.rstrip("\n").split("\n"):
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found and found[-1][0].endswith("\\"):
            found[-1] = (found[-1][0] + "\n" + line, [])
        elif found:
            found[-1][1].append(line)
        else:
            sys.exit(f"pages: a console block starts without a command: {line}")
    return found


def matches(lines, output):
    parts = [".*" if line == "..." else re.escape(line).replace(r"\.\.\.", "[^\n]*") for line in lines]
    return re.fullmatch("\n".join(parts), output.rstrip("\n"), re.DOTALL) is not None


def missing(text):
    """Why the commands of a page cannot run here, or None."""
    for model in sorted(set(re.findall(r"models/[\w.-]+\.gguf", text))):
        if not os.path.exists(f"{ROOT}/{model}"):
            return f"{model} is missing: ./bootstrap models"
    python = shutil.which("python3", path=ENVIRONMENT["PATH"])
    for needed in ("numpy", "vetro"):
        if re.search(rf"^import {needed}\b", text, re.MULTILINE):
            load = f"import {needed}" + ("; vetro.Model" if needed == "vetro" else "")
            if subprocess.run([python, "-c", load], cwd=FOLDER, env=ENVIRONMENT,
                              capture_output=True).returncode:
                return f"python3 has no {needed}: ./bootstrap test"
    return None


def run_block(page, block, folder):
    """Runs a block in a folder; returns the one that it ends in."""
    for command, expected in commands(block):
        if command.startswith("cd "):
            folder = os.path.join(folder, command[3:])
            continue
        done = subprocess.run(["bash", "-c", command], cwd=folder, env=ENVIRONMENT,
                              capture_output=True, text=True)
        output = done.stdout + done.stderr
        if done.returncode or not matches(expected, output):
            sys.exit(f"{page}: $ {command}\nexit code {done.returncode}, output:\n{output}"
                     f"the page says:\n" + "\n".join(expected))
    return folder


def check_bootstrap(page, text):
    """Commands that build or fetch are not run here, but they exist."""
    usage = subprocess.run(["bash", f"{ROOT}/bootstrap", "--help"], capture_output=True, text=True).stdout
    known = re.findall(r"^  ((?:[a-z]+)(?: --[a-z]+)?)  ", usage, re.MULTILINE)
    for words in re.findall(r"\./bootstrap ([a-z]+(?: --[a-z]+)?|--help)", text):
        if words not in known + ["--help"]:
            sys.exit(f"{page}: ./bootstrap {words} does not exist; it knows {known}")


def check_kind(page, kind, block):
    """A command with its output must be marked, or it would not be run."""
    if kind == "console" or kind.startswith("python "):
        return
    if re.search(r"^(\$ |build/bin/vetro )", block, re.MULTILINE):
        sys.exit(f"{page}: a block shows commands but is not marked console:\n{block}")


def main():
    # First the check itself: wrong output is seen, and blocks are found.
    if BLOCK.findall("x\n```a\nb\n```\n\n```\nc\n```\n") != [("a", "b\n"), ("", "c\n")]:
        sys.exit("pages: blocks are not found")
    for lines, output in ((["a"], "b"), (["a...c"], "abd"), (["a", "..."], "b\na")):
        if matches(lines, output):
            sys.exit(f"pages: {output!r} was taken for {lines}")
    prepare()
    count = 0
    for page in pages():
        text = open(f"{ROOT}/{page}", encoding="utf-8").read()
        blocks = BLOCK.findall(text)
        check_bootstrap(page, text)
        why = missing(text)
        shown = [block for kind, block in blocks if kind == "console"]
        if why and shown:
            print(f"skipped: {page}: {why}")
            continue
        folder = FOLDER
        for kind, block in blocks:
            check_kind(page, kind, block)
            if kind.startswith("python "):
                open(f"{FOLDER}/{kind.split()[1]}", "w", encoding="utf-8").write(block)
            if kind == "console":
                folder = run_block(page, block, folder)
                count += len(commands(block))
    print(f"pages: {count} commands run")


main()
