"""A test that cannot fail is a defect: this finds them.

Text tests: a RUN line whose output nobody checks, a CHECK-like word that FileCheck ignores (wrong
prefix, wrong suffix, no colon). Catch2: a TEST_CASE that reaches no assertion, or asserts `true`.
"""

import re

import cpp
import tree

TEXT_TESTS = (".mlir", ".test")
CHECKERS = re.compile(r"FileCheck|\bnot\b|\bdiff\b|\bcmp\b|\bgrep\b|verify-diagnostics|\btest -")
MAKES_A_FILE = re.compile(r"(-o|>|>>) *%t|^\s*(rm|mkdir|cp|split-file|cd|echo|printf)\b")
LIT_WORDS = {"RUN", "REQUIRES", "UNSUPPORTED", "NOTE", "DEFINE", "REDEFINE", "END"}
SUFFIX = r"(?:-(?:NEXT|SAME|NOT|DAG|LABEL|EMPTY|COUNT-\d+))"
COMMENT = re.compile(r"^\s*(?://|#|;)+\s*([A-Z][A-Z0-9]*(?:[-_][A-Z0-9]+)*)(\{LITERAL\})?(:?)")
ASSERTION = re.compile(r"\b(?:REQUIRE|CHECK|FAIL)(?:_\w+)?\s*\(")
ALWAYS_TRUE = re.compile(r"\b(?:REQUIRE|CHECK)\s*\(\s*(?:true|1)\s*\)")
TEST_CASE = re.compile(r"\b(?:TEMPLATE_)?(?:TEST_CASE|SCENARIO)(?:_\w+)?\s*\(")


def run_lines(text):
    """The RUN lines, continuations joined, as (line number, command)."""
    pending, started = "", 0
    for number, line in enumerate(text.split("\n"), 1):
        if match := re.match(r"^\s*(?://|#|;)+\s*RUN:\s*(.*)$", line):
            started = started or number
            pending += match.group(1)
            if pending.endswith("\\"):
                pending = pending[:-1] + " "
                continue
            yield started, pending
            pending, started = "", 0
    if pending:
        yield started, pending


def prefixes(commands):
    found = set()
    for command in commands:
        named = re.findall(r"--?check-prefix(?:es)?[= ]([\w,-]+)", command)
        for names in named:
            found.update(names.split(","))
        if "FileCheck" in command and not named:
            found.add("CHECK")
    return found


def distance(a, b):
    """Edit distance with swaps of neighbours: CHEKC is one away from CHECK."""
    table = [[i + j if i * j == 0 else 0 for j in range(len(b) + 1)] for i in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1,
                              table[i - 1][j - 1] + (a[i - 1] != b[j - 1]))
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                table[i][j] = min(table[i][j], table[i - 2][j - 2] + 1)
    return table[-1][-1]


def directive_problem(word, colon, known):
    """Why this word at the start of a comment is a check that checks nothing, or None."""
    base = re.sub(SUFFIX + "$", "", word)
    if word in LIT_WORDS:
        return None if colon else f"'{word}' without a colon"
    if base in known:
        return None if colon else f"'{word}' without a colon is ignored"
    near = next((p for p in known if word.startswith(p) or distance(re.split("[-_]", word)[0], p) < 2),
                None)
    if near:
        return f"'{word}' is ignored: FileCheck knows {near} with -NEXT, -SAME, -NOT, -DAG, -LABEL"
    if colon and (base != word or "CHECK" in word):
        return f"'{word}:' belongs to no --check-prefix of this file"
    return None


def text_problems(path, text):
    runs = list(run_lines(text))
    if not runs:
        yield f"{path}: no RUN line"
    checked = any(CHECKERS.search(command) for _, command in runs)
    for number, command in runs:
        if not CHECKERS.search(command) and not (checked and MAKES_A_FILE.search(command)):
            yield f"{path}:{number}: nothing checks this RUN line's output"
    known = prefixes(command for _, command in runs)
    for number, line in enumerate(text.split("\n"), 1):
        if match := COMMENT.match(line):
            if why := directive_problem(match.group(1), match.group(3), known):
                yield f"{path}:{number}: {why}"


def test_cases(text):
    """(line, body) of each TEST_CASE."""
    code = cpp.without_macros(cpp.blank(text))
    for match in TEST_CASE.finditer(code):
        brace = code.find("{", code.find(")", match.end()))
        if brace >= 0:
            yield code.count("\n", 0, match.start()) + 1, code[brace:cpp.closing(code, brace)]


def asserting_functions(files):
    """Names of the tests' helpers that assert, directly or through another helper."""
    helpers = {}
    for path, text in files.items():
        if path.endswith((".cpp", ".h")):
            for f in cpp.functions(text):
                helpers.setdefault(f.name.split("::")[-1], "")
                helpers[f.name.split("::")[-1]] += cpp.blank(f.body)
    helpers = {name: body for name, body in helpers.items() if not TEST_CASE.match(name + "(")}
    asserting, grew = set(), True
    while grew:
        more = {n for n, body in helpers.items() if n not in asserting and asserts(body, asserting)}
        grew = bool(more)
        asserting |= more
    return asserting


def asserts(body, helpers):
    if ASSERTION.search(body):
        return True
    return any(name in helpers for name in re.findall(r"\b(\w+)\s*(?:<[^;{}()]*>)?\s*\(", body))


def check(files):
    problems, helpers = [], asserting_functions(files)
    for path, text in files.items():
        if path.endswith(TEXT_TESTS):
            problems += text_problems(path, text)
        elif path.endswith(".cpp"):
            for line, body in test_cases(text):
                if not asserts(body, helpers):
                    problems.append(f"{path}:{line}: this TEST_CASE reaches no assertion")
                if ALWAYS_TRUE.search(body):
                    problems.append(f"{path}:{line}: asserting true asserts nothing")
    return problems


RUN = "// RUN: vetro opt %s | FileCheck %s\n"
GOOD = [
    {"a.mlir": RUN + "// CHECK-LABEL: func\n// CHECK: x\n// A comment. CHECK.\n// BOS: is a word\n"},
    {"a.mlir": "// RUN: vetro opt %s \\\n// RUN:   | FileCheck %s --check-prefix=ON\n// ON-NEXT: x\n"},
    {"a.test": "# RUN: vetro make-tiny -o %t.gguf\n# RUN: not vetro run %t.gguf\n"},
    {"a.cpp": "void same(int a) { REQUIRE(a == 1); }\n"
              "template <class T> void both(T t) { same(t); }\n"
              'TEST_CASE("a", "[x]") { both(1); }\nTEST_CASE("b (c)") { CHECK_FALSE(f()); }\n'},
]
BAD = [
    {"a.mlir": "func.func @f()\n"},
    {"a.mlir": "// RUN: vetro opt %s\n// CHECK: x\n"},
    {"a.mlir": "// RUN vetro opt %s | FileCheck %s\n" + RUN},
    {"a.mlir": RUN + "// CHECK-NEXT foo\n"},
    {"a.mlir": RUN + "// CHEKC: foo\n"},
    {"a.mlir": RUN + "// CHECK_NEXT: foo\n"},
    {"a.mlir": RUN + "// CHECK-NXT: foo\n"},
    {"a.mlir": RUN + "// CHECKS: foo\n"},
    {"a.mlir": RUN + "// OFF-NEXT: foo\n"},
    {"a.mlir": RUN.replace("%s\n", "%s --check-prefix=ON\n") + "// CHECK: foo\n"},
    {"a.test": "# RUN: vetro make-tiny -o %t.gguf\n"},
    {"a.cpp": 'TEST_CASE("a", "[x]") { int x = 1; }\n'},
    {"a.cpp": 'void f() { int y; }\nTEST_CASE("a") { f(); /* REQUIRE(x) */ }\n'},
    {"a.cpp": 'TEST_CASE("a") { REQUIRE(true); }\n'},
]


def selected(path):
    return path.startswith("tests/") and path.endswith(TEXT_TESTS + (".cpp", ".h"))


if __name__ == "__main__":
    tree.run("lint_tests", check, GOOD, BAD, selected)
