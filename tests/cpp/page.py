"""docs/cpp.md: its program does what `vetro run` and `vetro dump` do, and the page names every header of
runtime/engine, as public or as internal. page.py PROGRAM EXAMPLE PAGE FOLDER"""

import json
import pathlib
import re
import subprocess
import sys

program, example, page, folder = sys.argv[1:5]


def run(*command):
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"cpp page: exit code {done.returncode}: {command}: {done.stderr}")
    return done.stdout


def unnamed(text, headers):
    """Headers that the text does not name exactly once."""
    return [header for header in headers
            if len(re.findall(rf"`runtime/engine/{re.escape(header)}`", text)) != 1]


def main():
    if unnamed("`runtime/engine/A.h`, `runtime/engine/B.h`, `runtime/engine/B.h`",
               ["A.h", "B.h", "C.h"]) != ["B.h", "C.h"]:
        sys.exit("cpp page: a missing header is not seen")
    engine = pathlib.Path(page).resolve().parents[1] / "runtime" / "engine"
    if missing := unnamed(pathlib.Path(page).read_text("utf-8"), [h.name for h in engine.glob("*.h")]):
        sys.exit(f"cpp page: not named once as public or internal: {', '.join(missing)}")
    model = f"{folder}/tiny.gguf"
    run(program, "make-tiny", "--arch", "llama", "--type", "Q4_1", "-o", model)
    text = run(program, "run", model, "-p", "Hello", "-n", "16", "--cache-dir", folder)
    count = len(json.loads(run(program, "tokenize", model, "-p", "Hello", "--json"))["ids"])
    wanted = text + b"blk.0.l_out [%d, 256], ran\n" % count
    if (told := run(example, model, "Hello")) != wanted:
        sys.exit(f"cpp page: {told!r}, expected {wanted!r}")
    print("cpp page: as the program")


main()
