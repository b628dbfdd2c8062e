"""Small or split: lengths of functions, files, folder READMEs (a lab's is its lesson and as long as that
takes), and of all CMake together.

Functions: a warning over 40 lines, an error over 100. Files: a warning over 400, an error over 800.
Tables (.def, .inc), generated docs and data are no code and are not measured.
"""

import ast
import re

import cpp
import tree

WARN_FUNCTION, MAX_FUNCTION = 40, 100
WARN_FILE, MAX_FILE = 400, 800
MAX_README, MAX_CMAKE = 30, 600
LESSON = re.compile(r"labs/\d[^/]*/README\.md$")
CODE = (".h", ".cpp", ".cu", ".td", ".py", ".js", ".css", ".html", ".mlir", ".test")


def is_cmake(path):
    return path.endswith(("CMakeLists.txt", ".cmake"))


def is_folder_readme(path):
    return path.endswith("/README.md") and not LESSON.match(path)


def is_measured(path):
    return path.endswith(CODE) or is_cmake(path) or is_folder_readme(path) or path == "bootstrap"


def functions(path, text):
    """(name, line, lines) of each function."""
    if path.endswith((".h", ".cpp", ".cu")):
        return [(f.name, f.line, f.lines) for f in cpp.functions(text)]
    if path.endswith(".py"):
        return [(node.name, node.lineno, node.end_lineno - node.lineno + 1)
                for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    return []


def longer_than(files, function_limit, file_limit):
    for path, text in files.items():
        lines = text.count("\n")
        if not is_folder_readme(path) and lines > file_limit:
            yield f"{path}: {lines} lines, more than {file_limit}: split it by family"
        for name, line, length in functions(path, text):
            if length > function_limit:
                yield f"{path}:{line}: {name} has {length} lines, more than {function_limit}"


def check(files):
    problems = list(longer_than(files, MAX_FUNCTION, MAX_FILE))
    for path, text in files.items():
        if is_folder_readme(path) and text.count("\n") > MAX_README:
            problems.append(f"{path}: {text.count(chr(10))} lines, a folder's page has {MAX_README}")
    cmake = sum(text.count("\n") for path, text in files.items() if is_cmake(path))
    if cmake > MAX_CMAKE:
        problems.append(f"CMake files: {cmake} lines in all, more than {MAX_CMAKE}")
    return problems


def warnings(files):
    return longer_than(files, WARN_FUNCTION, WARN_FILE)


def function_of(lines):
    return "int f(int x) {\n" + "  x += 1; // {\n" * (lines - 2) + "}\n"


GOOD = [
    {"a.cpp": function_of(100)},
    {"a.cpp": "const char *table[] = {\n" + '  "x",\n' * 300 + "};\n"},
    {"a.h": "namespace a {\nstruct S {\n" + "  int f() { return 1; }\n" * 200 + "};\n}\n"},
    {"x/README.md": "line\n" * 30},
    {"labs/01-x/README.md": "line\n" * 200},
]
BAD = [
    {"a.cpp": function_of(101)},
    {"a.cpp": "namespace n {\nS::S(int a) : x(a) {\n" + "  f({1, 2});\n" * 120 + "}\n}\n"},
    {"a.cpp": "template <class T> auto f(T t) -> int {\n" + '  g("}");\n' * 120 + "}\n"},
    {"a.h": "// x\n" * 801},
    {"a.py": "def f():\n" + "    pass\n" * 101},
    {"x/README.md": "line\n" * 31},
    {"labs/README.md": "line\n" * 31},
    {"CMakeLists.txt": "# x\n" * 601},
]

if __name__ == "__main__":
    tree.run("size", check, GOOD, BAD, is_measured, warnings)
