"""Writes the texts of the labs as C++: embed.py OUTPUT FOLDER FILE... (files named from the folder)"""

import pathlib
import sys

OUTPUT, FOLDER, FILES = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
END = "vetro_lab_text"


def literal(name):
    text = (FOLDER / name).read_text("utf-8")
    if f'){END}"' in text or "\0" in text:
        sys.exit(f"embed: {name}: holds {END} or a zero byte")
    return f'      {{"{name}", R"{END}({text}){END}"}},\n'


with open(OUTPUT, "w", encoding="utf-8") as out:
    out.write('// Made by labs/embed.py.\n#include "labs/Lab.h"\n\nstd::vector<vetro::labs::EmbeddedFile> '
              "vetro::labs::embeddedFiles() {\n  return {\n" + "".join(map(literal, FILES)) + "  };\n}\n")
