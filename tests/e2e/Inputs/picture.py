"""Whether two SVG drawings show the same: nodes, edges, classes and texts, whatever their places, which
depend on Graphviz' version and the fonts.

    python3 picture.py COMMITTED DRAWN
"""

import re
import sys


def content(path):
    """Sorted (kind, id, class) of groups and the texts of a drawing."""
    text = open(path, encoding="utf-8").read()
    groups = re.findall(r'<g id="([^"]*)" class="([^"]*)"', text)
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", text)
    edges = re.findall(r"<title>([^<]*(?:&#45;|-)&gt;[^<]*)</title>", text)
    return sorted(groups), sorted(texts), sorted(edges)


def main():
    committed, drawn = (content(path) for path in sys.argv[1:3])
    for kind, old, new in zip(("nodes", "texts", "edges"), committed, drawn):
        if old != new:
            lost, more = [x for x in old if x not in new], [x for x in new if x not in old]
            sys.exit(f"picture: {kind} differ: only committed {lost}, only drawn {more}; if that is meant: "
                     f"vetro graph models/SmolLM2-135M-Instruct.Q4_1.gguf --stage fused --layer 3 -o {sys.argv[1]}")
    nodes = [g for g in committed[0] if g[1].startswith("node")]
    print(f"picture: {len(nodes)} nodes, {len(committed[1])} texts, {len(committed[2])} edges")


main()
