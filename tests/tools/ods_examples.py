"""Every op's documentation has an example, and each example parses, verifies and prints again.

    python3 tests/tools/ods_examples.py MLIR_TBLGEN INCLUDE VETRO

The examples are the ```mlir blocks of the definitions. Values that an example only reads become the
arguments of a function around it, with the types that the example names.
"""

import re
import subprocess
import sys

import tree

DEFINITIONS = "compiler/ir/VetroFusedOps.td"  # includes all others
SECTION = re.compile(r"^### `(vetro\.\w+)` \(", re.M)
EXAMPLE = re.compile(r"^```mlir\n(.*?)^```", re.M | re.S)
SYMBOLS = ("vetro.weight", "vetro.state")


def documentation(tblgen, include):
    command = [tblgen, "-gen-dialect-doc", "-dialect=vetro", "-I", str(tree.ROOT), "-I", include,
               str(tree.ROOT / DEFINITIONS)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"ods_examples: mlir-tblgen failed:\n{done.stderr}")
    return done.stdout


def examples(doc):
    """{op: [example]} of a dialect's page; an op without an example has an empty list."""
    starts = [(m.group(1), m.start()) for m in SECTION.finditer(doc)]
    ends = [start for _, start in starts[1:]] + [len(doc)]
    return {op: EXAMPLE.findall(doc[start:end]) for (op, start), end in zip(starts, ends)}


def split_types(text):
    """"tensor<2x3xf32>, !vetro.state<2, 4, f16>" as a list: only commas outside brackets divide."""
    parts, depth, part = [], 0, ""
    for c in text:
        depth += c in "<([{"
        depth -= c in ">)]}"
        if c == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += c
    return [p for p in parts + [part.strip()] if p]


def wrapped(example):
    """The example inside a function whose arguments are the values that it reads."""
    if example.strip().startswith(SYMBOLS):
        return example
    operation = example.split("=", 1)[1] if re.match(r"\s*%[^({]*=", example) else example
    operands = re.findall(r"%[\w.]+", re.split(r"[{:]", operation, maxsplit=1)[0])
    types = re.search(r":\s*\((.*?)\)\s*->", operation, re.S)
    types = split_types(types.group(1)) if types else []
    if len(operands) != len(types):
        raise ValueError(f"{len(operands)} operands, {len(types)} types")
    arguments = dict(zip(operands, types))
    signature = ", ".join(f"{name}: {kind}" for name, kind in arguments.items())
    return f"func.func @example({signature}) {{\n{example}\n  return\n}}\n"


def refused(vetro, example):
    """Why `vetro opt` does not accept the example twice (as written, as printed), or None."""
    try:
        text = wrapped(example)
    except ValueError as error:
        return str(error)
    for _ in range(2):
        done = subprocess.run([vetro, "opt", "-"], input=text, capture_output=True, text=True)
        if done.returncode != 0:
            return done.stderr.strip().split("\n")[0] or f"exit code {done.returncode}"
        text = done.stdout
    return None


def problems(vetro, op, blocks):
    if not blocks:
        yield f"{op}: no example; write a ```mlir block into its description"
    for example in blocks:
        if op not in example:
            yield f"{op}: this example does not show it: {example.strip()}"
        elif why := refused(vetro, example):
            yield f"{op}: its example is refused: {why}"


GOOD = "%y = vetro.scale %x {s = 2.0 : f32} : (tensor<?x4xf32>) -> tensor<?x4xf32>\n"
BAD = [
    [],
    [GOOD.replace("vetro.scale", "vetro.softmax")],
    [GOOD.replace("{s = 2.0 : f32} ", "")],
    [GOOD.replace("-> tensor<?x4xf32>", "-> tensor<?x4xf32")],
    [GOOD.replace("%x", "%x, %z")],
]


def self_test(vetro):
    if found := list(problems(vetro, "vetro.scale", [GOOD])):
        sys.exit(f"ods_examples: self-test: a good example was refused: {found}")
    for blocks in BAD:
        if not list(problems(vetro, "vetro.scale", blocks)):
            sys.exit(f"ods_examples: self-test: a bad example was accepted: {blocks}")


def main():
    tblgen, include, vetro = sys.argv[1:4]
    self_test(vetro)
    found, count = [], 0
    for op, blocks in examples(documentation(tblgen, include)).items():
        count += len(blocks)
        found += problems(vetro, op, blocks)
    print("\n".join(found))
    print(f"ods_examples: {len(BAD)} bad examples refused, {count} examples, {len(found)} problems")
    sys.exit(1 if found or not count else 0)


if __name__ == "__main__":
    main()
