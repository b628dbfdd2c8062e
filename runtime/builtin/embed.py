"""Writes files as read-only data of the program, in assembly: embed.py OUTPUT SYMBOL ROOT FILE...

SYMBOL becomes an array of {path, begin, end}, ended by zeros; a path is taken from the folder ROOT where
the file is inside it, else it is the file's name."""

import pathlib
import sys

OUTPUT, SYMBOL, ROOT, FILES = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), sys.argv[4:]


def name_of(file):
    return str(file.relative_to(ROOT) if file.is_relative_to(ROOT) else file.name)


data = table = ""
for i, file in enumerate(map(pathlib.Path, FILES)):
    data += f'name{i}: .asciz "{name_of(file)}"\n  .balign 64\nbegin{i}: .incbin "{file}"\nend{i}: .byte 0\n'
    table += f"  .quad name{i}, begin{i}, end{i}\n"
with open(OUTPUT, "w", encoding="utf-8") as out:
    out.write(f'  .section .rodata.{SYMBOL},"a",@progbits\n{data}'
              f'  .section .data.rel.ro.{SYMBOL},"aw",@progbits\n  .globl {SYMBOL}\n  .balign 8\n'
              f'{SYMBOL}:\n{table}  .quad 0, 0, 0\n  .section .note.GNU-stack,"",@progbits\n')
