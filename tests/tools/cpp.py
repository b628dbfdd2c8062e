"""Just enough C++ to find functions: comments and strings blanked, braces matched."""

import re
from dataclasses import dataclass

TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^()\s\\]{0,16})\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'",
    re.S,
)
NOT_FUNCTIONS = {"if", "for", "while", "switch", "catch", "return", "sizeof", "alignas", "defined"}


@dataclass
class Function:
    name: str
    line: int  # of the opening brace's statement, from 1
    lines: int  # from its first line to the closing brace
    header: str  # text before the brace
    body: str


def blank(text, keep_strings=False):
    """`text` with comments and (unless kept) strings replaced by blanks of the same shape."""

    def replace(match):
        word = match.group(0)
        if keep_strings and not word.startswith("/"):
            return word
        return re.sub(r"[^\n]", " ", word)

    return TOKEN.sub(replace, text)


def without_macros(text):
    """Preprocessor lines blanked, so that both branches of an #if cannot unbalance braces."""
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group(0)),
                  text, flags=re.M)


def closing(text, start):
    """Index of the brace that closes the one at `start`, or the end of the text."""
    depth = 0
    for match in re.compile(r"[{}]").finditer(text, start):
        depth += 1 if match.group(0) == "{" else -1
        if depth == 0:
            return match.start()
    return len(text)


def header_before(text, brace):
    """The statement that ends in this brace: back to the last ; { or } outside parentheses."""
    depth, at = 0, brace - 1
    while at >= 0:
        c = text[at]
        if c in ")]":
            depth += 1
        elif c in "([":
            depth -= 1
        elif c in ";{}" and depth <= 0:
            break
        at -= 1
    return at + 1, text[at + 1:brace]


def name_of(header):
    """The function's name, or None where the header is no function's."""
    flat = re.sub(r"\s+", " ", header).strip()
    flat = re.sub(r"\) ?: ?[^:].*$", ")", flat)  # constructor initialisers
    call = re.search(r"([\w:~]+|operator ?[^\w\s(]+) ?\(", flat)
    if not call or ")" not in flat or re.match(r"(class|struct|enum|union|namespace)\b", flat):
        return None
    before = flat[: call.start()]
    if "=" in before and "operator" not in flat:
        return None
    name = call.group(1)
    return None if name in NOT_FUNCTIONS else name


def functions(text):
    """Outermost functions of a file (lambdas and local classes belong to their function)."""
    code = without_macros(blank(text))
    found, at = [], 0
    while (brace := code.find("{", at)) >= 0:
        start, header = header_before(code, brace)
        name = name_of(header)
        if name is None:
            at = brace + 1
            continue
        end = closing(code, brace)
        first = start + len(header) - len(header.lstrip())
        line = code.count("\n", 0, first) + 1
        found.append(Function(name, line, code.count("\n", first, end) + 1,
                              text[start:brace], text[brace:end]))
        at = end + 1
    return found
