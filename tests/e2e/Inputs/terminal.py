"""vetro step in a real terminal (tmux): what stands there is what a script prints, at any size, without
colours, without UTF-8, with wide characters.

    terminal.py VETRO TRACE FOLDER
"""

import json
import os
import shutil
import subprocess
import sys
import time
import zipfile

VETRO, TRACE, FOLDER = sys.argv[1:4]
KEYS = ["Space", "Space", ":13 blk.1.q_rope", "Down", "Enter", "Tab", "]", "Escape", "u", "t", "N", ":15", "Down", "?"]
NAMES = {"Down": "Down", "Enter": "Enter", "Tab": "Tab", "Escape": "Escape", "Space": "Space"}


def fail(message):
    sys.exit(f"terminal.py: {message}")


class Terminal:
    """A tmux of its own with one window."""

    opened = 0  # each has its own server: one that ends would still answer for a moment

    def __init__(self, width, height, trace, environment):
        Terminal.opened += 1
        self.socket = f"vetro-{os.getpid()}-{Terminal.opened}"
        command = " ".join(f"{k}={v}" for k, v in environment.items()) + f" {VETRO} step {trace}; echo ended $?; sleep 60"
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height), command)

    def tmux(self, *arguments):
        environment = {**os.environ, "LC_ALL": "C.UTF-8"}
        environment.pop("TMUX", None)
        return subprocess.run(["tmux", "-L", self.socket, *arguments], check=True, capture_output=True,
                              env=environment).stdout.decode()

    def press(self, key):
        if key[0] == ":":
            self.tmux("send-keys", ":")
            self.tmux("send-keys", "-l", key[1:])
            self.tmux("send-keys", "Enter")
        else:
            self.tmux("send-keys", key if key in NAMES or len(key) == 1 else fail(key))

    def wait_for(self, expected, what):
        """Until the terminal shows these lines; a second is plenty, a loaded machine gets ten."""
        until = time.time() + 10
        while time.time() < until:
            shown = [line.rstrip() for line in self.tmux("capture-pane", "-p").split("\n")]
            if shown[:len(expected)] == expected:
                return
            time.sleep(0.05)
        for a, b in zip(shown, expected):
            if a != b:
                fail(f"{what}: the terminal shows\n{a!r}\nexpected\n{b!r}")
        fail(f"{what}: the terminal shows {len(shown)} lines, expected {len(expected)}")

    def close(self):
        subprocess.run(["tmux", "-L", self.socket, "kill-server"], capture_output=True)


def printed(trace, keys, width, height, *options):
    """What a script prints last after these keys."""
    lines = [f": {key[1:]}" if key[0] == ":" else key for key in keys]
    out = subprocess.run([VETRO, "step", trace, "--script", "-", "--size", f"{width}x{height}", *options],
                         input="\n".join(lines).encode(), capture_output=True, check=True).stdout.decode()
    shown = out.split("\n== ")[-1].split("\n")[1:]
    return shown[:height]


def same(trace, width, height, environment, *options, resized=None):
    terminal = Terminal(width, height, trace, environment)
    try:
        for i in range(len(KEYS)):
            terminal.press(KEYS[i])
            terminal.wait_for(printed(trace, KEYS[:i + 1], width, height, *options), f"{width}x{height} {KEYS[i]}")
        if resized:
            terminal.tmux("resize-window", "-x", str(resized[0]), "-y", str(resized[1]))
            terminal.wait_for(printed(trace, KEYS, *resized, *options), f"resized to {resized}")
        terminal.press("q")  # closes the help
        terminal.tmux("send-keys", ":")
        terminal.tmux("send-keys", "-l", "nothing")
        terminal.tmux("send-keys", "Escape")  # takes the line back
        terminal.press("q")
        until = time.time() + 10
        while "ended 0" not in terminal.tmux("capture-pane", "-p"):
            if time.time() > until:
                fail("q did not end it: " + terminal.tmux("capture-pane", "-p"))
            time.sleep(0.05)
    finally:
        terminal.close()


def wide():
    """A trace whose pieces are wide and combining characters."""
    target = f"{FOLDER}/wide"
    shutil.rmtree(target, ignore_errors=True)
    with zipfile.ZipFile(TRACE) as archive:
        archive.extractall(target)
    document = json.load(open(f"{target}/trace.json"))
    for token, piece in zip(document["tokens"], ("日本語", "e\u0301tude", "한국", "Ω≈", "🙂")):
        token["piece"] = piece
    document["prompt"]["pieces"] = [t["piece"] for t in document["tokens"][:3]]
    json.dump(document, open(f"{target}/trace.json", "w"))
    return target


def main():
    os.makedirs(FOLDER, exist_ok=True)
    if not shutil.which("tmux"):
        print("skipped: tmux is missing; get it with ./bootstrap test")
        return
    same(TRACE, 80, 24, {"TERM": "tmux-256color", "LC_ALL": "C.UTF-8"}, resized=(113, 41))
    same(TRACE, 60, 12, {"TERM": "vt100", "LC_ALL": "C.UTF-8"}, resized=(40, 10))
    same(TRACE, 80, 24, {"TERM": "vt100", "LC_ALL": "C"}, "--ascii")
    same(wide(), 80, 24, {"TERM": "tmux-256color", "LC_ALL": "C.UTF-8"})
    print("terminal: done")


main()
