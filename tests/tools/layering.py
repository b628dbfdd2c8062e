"""Who may include whom, and who may ask which architecture runs.

The table below is the architecture page's, by longest matching folder. Standard headers are free,
except in micro-kernels (freestanding, also through what they include) and for a few that are banned.
"""

import re

import cpp
import tree

EVERYTHING = ("",)
PROJECT = ("compiler", "passes", "frontends", "viz", "runtime", "labs", "tests")
LLVM_SUPPORT = ("llvm/Support/", "llvm/ADT/", "llvm/TargetParser/", "llvm/Config/")
MLIR = ("mlir/", "llvm/")

# folder: (project folders or single headers it may include beside itself, libraries it may include)
TABLE = {
    "runtime/abi": ((), ()),
    "runtime/kernels": (("runtime/abi",), ()),
    "compiler": (("runtime/abi",), MLIR),
    "passes": (("compiler/ir", "runtime/abi"), MLIR),
    "frontends": (("compiler/ir", "runtime/abi"), MLIR),
    "frontends/gguf": (("runtime/abi",), LLVM_SUPPORT),
    "viz": (("runtime/abi", "compiler/ir"), MLIR + ("nlohmann/",)),
    "runtime/jit": (("runtime/abi", "runtime/kernels/cpu/Bitcode.h"), ("llvm/",)),
    "runtime/builtin": (("frontends/gguf", "runtime/abi"), LLVM_SUPPORT),
    "runtime/cuda": (("runtime/abi",), LLVM_SUPPORT),
    "runtime/memory": (("runtime/abi",), LLVM_SUPPORT),
    "runtime/sched": (("runtime/abi",), LLVM_SUPPORT + ("hwloc",)),
    "runtime/tokenizer": (("runtime/abi",), LLVM_SUPPORT + ("utf8proc", "pcre2")),
    "runtime/sampling": (("runtime/abi",), LLVM_SUPPORT),
    "runtime/trace": (("runtime/abi",), LLVM_SUPPORT + ("nlohmann/", "zlib")),
    "runtime/engine": (EVERYTHING, EVERYTHING),
    "runtime/compare": (EVERYTHING, EVERYTHING),
    "runtime/screens": (("runtime/engine", "runtime/sampling", "runtime/abi", "frontends/gguf", "viz"),
                        LLVM_SUPPORT + ("nlohmann/", "utf8proc")),
    "runtime/terminal": (("runtime/screens", "runtime/memory/Signals.h"),
                         LLVM_SUPPORT + ("nlohmann/", "utf8proc", "curses")),
    "runtime/page": (("runtime/screens", "runtime/engine", "viz", "runtime/abi", "frontends/gguf"),
                     LLVM_SUPPORT + ("nlohmann/", "httplib")),
    "runtime/cli": (EVERYTHING, EVERYTHING),
    "runtime/python": (EVERYTHING, EVERYTHING),
    "labs": (EVERYTHING, EVERYTHING),
    "tests": (EVERYTHING, EVERYTHING),
}
LIBRARIES = ("mlir/", "llvm/", "clang/", "nlohmann/", "hwloc", "utf8proc", "pcre2", "CLI/", "fmt/",
             "catch2/", "graphviz/", "cblas", "benchmark/", "httplib", "zlib",
             "curses")
FREESTANDING = re.compile(r"(std(int|def|arg|bool)|float|limits|\w*intrin)\.h$")
BANNED = ("regex", "iostream", "ranges", "coroutine")
LIBRARY_FOLDERS = ("compiler/", "passes/", "frontends/", "viz/", "runtime/")
PROGRAM_FOLDERS = ("runtime/cli/", "runtime/python/")
ENVIRONMENT = re.compile(r"\b(secure_)?getenv\s*\(")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)

# Words that are architectures' names and something else besides, and where.
OTHER_MEANINGS = {("runtime/tokenizer/", "llama")}  # tokenizer.ggml.model


def starts(path, prefixes):
    return any(path.startswith(p) for p in prefixes)


def is_library(path):
    return starts(path, LIBRARY_FOLDERS) and not starts(path, PROGRAM_FOLDERS)


def in_folder(path, folders):
    return any(f == "" or path == f or path.startswith(f + "/") for f in folders)


def row_of(path):
    rows = [f for f in TABLE if path.startswith(f + "/")]
    return max(rows, key=len) if rows else None


def include_problem(path, row, quote, target):
    """Why `path` may not include `target`, or None."""
    projects, libraries = TABLE[row]
    if target.split("/")[0] in PROJECT and "/" in target:
        if not in_folder(target, projects + (row,)):
            return f"{row} may not include {target}"
    elif starts(target, LIBRARIES):
        if not starts(target, libraries):
            return f"{row} may not include the library header {target}"
    elif quote == '"' and not target.endswith(".inc"):
        return f"include {target} by its path from the project's root"
    elif target in BANNED and is_library(path):
        return f"<{target}> is not used in libraries"
    return None


def includes(text):
    return INCLUDE.findall(cpp.blank(text, keep_strings=True))


def not_freestanding(path, files, seen):
    """The first chain from a micro-kernel to a header that needs a library, or None."""
    for _, target in includes(files[path]):
        if target in files:
            if target not in seen:
                seen.add(target)
                if chain := not_freestanding(target, files, seen):
                    return f"{path} -> {chain}"
        elif target.split("/")[0] not in PROJECT and not FREESTANDING.search(target):
            return f"{path} -> <{target}>"
    return None


def architecture_names(files):
    """Values of general.architecture that some file of frontends/arch defines."""
    names = {"llama"}
    for path, text in files.items():
        if path.startswith("frontends/arch/"):
            names.update(re.findall(r'\bArchitecture \w+ *=? *\{ *"([^"]+)"', text))
    return names


def architecture_problems(path, text, names):
    """Comparisons with an architecture's name outside frontends/arch."""
    if path.startswith(("frontends/arch/", "tests/", "labs/")):
        return
    word = "|".join(re.escape(n) for n in sorted(names))
    compared = re.compile(rf'[=!]= *"({word})"|"({word})" *[=!]=|'
                          rf'(?:equals|Case|Cases|starts_with|compare|strcmp) *\([^;\n]*"({word})"')
    for number, line in enumerate(cpp.blank(text, keep_strings=True).split("\n"), 1):
        for match in compared.finditer(line):
            name = next(g for g in match.groups() if g)
            if not any(path.startswith(p) and name == n for p, n in OTHER_MEANINGS):
                yield f'{path}:{number}: asks for the architecture "{name}": make it a field of it'
        if re.search(r"[=!]=", line) and re.search(r"general\.architecture|getArchitecture\(", line):
            yield f"{path}:{number}: compares general.architecture outside frontends/arch"


def check(files):
    problems, names = [], architecture_names(files)
    for path, text in files.items():
        row = row_of(path)
        if row is None:
            problems.append(f"{path}: its folder has no row in tests/tools/layering.py")
            continue
        for quote, target in includes(text):
            if why := include_problem(path, row, quote, target):
                problems.append(f"{path}: {why}")
        if path.startswith("runtime/kernels/"):
            if chain := not_freestanding(path, files, {path}):
                problems.append(f"{path}: micro-kernels are freestanding: {chain}")
        if is_library(path) and ENVIRONMENT.search(cpp.blank(text)):
            problems.append(f"{path}: libraries do not read the environment")
        problems += architecture_problems(path, text, names)
    return problems


def one(path, line):
    return {path: line + "\n"}


GOOD = [
    one("passes/FuseGlu.cpp", '#include "compiler/ir/Vetro.h"\n#include <mlir/IR/Builders.h>'),
    one("runtime/cli/Run.cpp", '#include "passes/Passes.h"\n#include <iostream>\ngetenv("HOME");'),
    one("runtime/tokenizer/Spm.cpp", 'if (model == "llama") return;'),
    one("frontends/arch/llama.cpp", 'if (name == "llama") return;'),
    one("passes/FuseGlu.cpp", '// #include "frontends/Import.h"\nauto s = "getenv(x)";'),
]
BAD = [
    one("passes/FuseGlu.cpp", '#include "frontends/Blocks.h"'),
    one("passes/FuseGlu.cpp", '#include "compiler/lowering/Passes.h"'),
    one("compiler/ir/Vetro.cpp", '#include "runtime/jit/Jit.h"'),
    one("frontends/gguf/Gguf.cpp", "#include <mlir/IR/Builders.h>"),
    one("runtime/sampling/Chain.cpp", '#include "llvm/IR/Module.h"'),
    one("runtime/jit/Jit.cpp", '#include "runtime/kernels/cpu/Math.h"'),
    one("runtime/memory/Arena.cpp", "#include <mlir/IR/Builders.h>"),
    one("viz/Dot.cpp", '#include "passes/Passes.h"'),
    one("viz/Dot.cpp", "#include <iostream>"),
    one("viz/Dot.cpp", "#include <zlib.h>"),
    one("compiler/ir/Vetro.cpp", '#include "Names.h"'),
    one("runtime/abi/Plan.h", '#include "runtime/jit/Jit.h"'),
    one("runtime/kernels/cpu/Dot.cpp", "#include <vector>"),
    {"runtime/kernels/cpu/Dot.cpp": '#include "runtime/abi/P.h"', "runtime/abi/P.h": "#include <string>"},
    one("runtime/sched/Pool.cpp", 'if (std::getenv("N")) return;'),
    one("runtime/engine/Engine.cpp", 'if (arch == "llama") scale = 2;'),
    {"frontends/arch/gemma3.cpp": 'extern const Architecture gemma3{"gemma3", build};',
     "runtime/engine/Engine.cpp": '.Case("gemma3", 1)'},
    one("passes/SelectKernels.cpp", 'if (get("general.architecture") == name) return;'),
    one("utils/Misc.h", "#pragma once"),
]

if __name__ == "__main__":
    tree.run("layering", check, GOOD, BAD, lambda p: p.endswith(tree.CPP))
