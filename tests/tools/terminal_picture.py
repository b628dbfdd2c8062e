"""Draws what stands in a terminal as SVG: the pictures of `vetro step` in the docs.

    terminal_picture.py OUT.svg VETRO MODEL                   draws, in tmux, colours kept
    terminal_picture.py --check docs/step.svg VETRO MODEL     says whether it is still so
"""

import html
import os
import re
import shlex
import shutil
import subprocess
import sys
import time

WIDTH, HEIGHT = 100, 30
CELL, LINE, FONT = 8.4, 17, 14
BACK, TEXT = "#16161e", "#c8ccd8"
COLOURS = {1: "#f7768e", 2: "#9ece6a", 6: "#7dcfff"}


def tmux(socket, *arguments):
    return subprocess.run(["tmux", "-L", socket, *arguments], check=True, capture_output=True,
                          env={**os.environ, "LC_ALL": "C.UTF-8"}).stdout.decode()


def capture(vetro, arguments, keys):
    """The screen with its escape sequences, once it stands still."""
    socket = f"picture-{os.getpid()}"
    command = " ".join(["TERM=tmux-256color LC_ALL=C.UTF-8", vetro, "step", *map(shlex.quote, arguments)])
    tmux(socket, "-f", "/dev/null", "new-session", "-d", "-x", str(WIDTH), "-y", str(HEIGHT), command)
    try:
        started(socket)
        for key in keys:
            if key[0] == ":":
                tmux(socket, "send-keys", ":")
                tmux(socket, "send-keys", "-l", key[1:])
                tmux(socket, "send-keys", "Enter")
            else:
                tmux(socket, "send-keys", key)
            steady(socket)
        return tmux(socket, "capture-pane", "-p", "-e")
    finally:
        subprocess.run(["tmux", "-L", socket, "kill-server"], capture_output=True)


def started(socket):
    """The first screen is there: the model may have to be compiled before."""
    for _ in range(600):
        if "[1] machine" in tmux(socket, "capture-pane", "-p"):
            return
        time.sleep(0.2)
    sys.exit("terminal_picture: the walk does not begin: " + tmux(socket, "capture-pane", "-p"))


def steady(socket):
    last = None
    for _ in range(100):
        time.sleep(0.2)
        now = tmux(socket, "capture-pane", "-p")
        if now == last and now.strip() and "…" not in now.split("\n")[0][-4:]:
            return
        last = now
    sys.exit("terminal_picture: the screen does not come to rest")


def spans(line):
    """[(text, style)] of a line; a style is a set of SGR numbers."""
    style, found = frozenset(), []
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if part.startswith("\x1b["):
            for code in (int(c or 0) for c in part[2:-1].split(";")):
                style = frozenset() if code == 0 else style | {code}
                if code == 39:
                    style = frozenset(c for c in style if not 30 <= c <= 39)
        elif part:
            found.append((part, style))
    return found


def drawn(text):
    lines = text.rstrip("\n").split("\n")
    width, height = WIDTH * CELL + 24, HEIGHT * LINE + 24
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
           f'viewBox="0 0 {width:.0f} {height}" font-family="monospace" font-size="{FONT}">',
           f'<rect width="100%" height="100%" rx="8" fill="{BACK}"/>']
    for y, line in enumerate(lines):
        column, base = 0, 12 + (y + 1) * LINE - 4
        for part, style in spans(line):
            x = 12 + column * CELL
            column += len(part)
            if not part.strip() and 7 not in style:
                continue
            fill = next((COLOURS[c - 30] for c in style if c - 30 in COLOURS), TEXT)
            if 7 in style:
                out.append(f'<rect x="{x:.1f}" y="{base - LINE + 5}" width="{len(part) * CELL:.1f}" '
                           f'height="{LINE}" fill="{fill}"/>')
                fill = BACK
            weight = ' font-weight="bold"' if 1 in style else ""
            faint = ' opacity="0.6"' if 2 in style and 7 not in style else ""
            out.append(f'<text x="{x:.1f}" y="{base}" textLength="{len(part) * CELL:.1f}" xml:space="preserve" '
                       f'fill="{fill}"{weight}{faint}>{html.escape(part)}</text>')
    return "\n".join(out) + "\n</svg>\n"


def texts(svg):
    """What a picture says, without what a CPU's rounding may move."""
    words = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    return [re.sub(r"[░▒▓█·]", "#", re.sub(r"[-+.e]*[0-9]+", "0", word)) for word in words]


def main():
    check = sys.argv[1] == "--check"
    target, program, model = sys.argv[1 + check:4 + check]
    if check and not shutil.which("tmux"):
        return print("terminal_picture: skipped, tmux is missing; get it with ./bootstrap test")
    made = drawn(capture(program, [model, "-p", "The capital of France is", "-n", "4"],
                         [":13 blk.18.attn_ctx", "Tab"]))
    if not check:
        return open(target, "w").write(made)
    if texts(made) != texts(open(target).read()):
        sys.exit(f"terminal_picture: {target} shows something else; if that is meant: "
                 f"terminal_picture.py {target} {program} {model}")
    print("terminal_picture: the same")


if __name__ == "__main__":
    main()
