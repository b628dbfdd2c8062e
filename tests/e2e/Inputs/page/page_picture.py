"""The picture of all views of `vetro view` in README.md: screenshots of a real run on one sheet, with what
stands in each view kept as text inside the file.

    page_picture.py VETRO MODEL docs/views.png             draws
    page_picture.py VETRO MODEL docs/views.png --check     says whether the page still shows the same
"""

import base64
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib

import browser

browser.require()

from check import VETRO, expect
from truth import record

MODEL, TARGET = sys.argv[2:4]
RUN = ("-p", "The capital of France is", "-n", "4")
AT = {"token": 4, "layer": 18}
VIEWS = {
    "step": {"step": 13, "name": "blk.18.attn_ctx", "inside": 1}, "graph": {"beside": "time"},
    "tensor": {"name": "blk.18.q_rope"}, "heads": {"scale": "log"}, "lens": {}, "sampler": {}, "passes": {"pass": 2},
    "diff": {"metric": "diff"},
}
SHEET = """<style>body { margin: 0; background: #e4e7ec; font: 15px sans-serif; display: grid; gap: 14px; padding: 14px;
grid-template-columns: 1fr 1fr } img { width: 100%; border-radius: 4px; display: block }</style>"""


def places(document):
    """Each view with the op that it looks at."""
    for view, place in VIEWS.items():
        name = place.get("name", "blk.18.attn_ctx")
        op = next(i for i, step in enumerate(document["steps"]) if name in step["values"])
        yield view, {**AT, "op": op, "step": 13, **place}


def words(text):
    """What a view says, without what a CPU's speed or rounding may move: numbers, and pieces beside them."""
    return re.sub(r"[-+]?[0-9][0-9.e+\-]*|[▁▂▃▄▅▆▇█ ]{3,}", "0", text)


def look(page, document):
    """{view: (picture, words)}."""
    seen = {}
    for view, place in places(document):
        page.go(view=view, **place)
        expect(not page.text("#view [role=alert]"), f"{view}: {page.text()}")
        head = page.run("return [...document.querySelectorAll('#view h2, #view h3, #view th, #view button, #view .sentence')]"
                        ".map((e) => e.innerText)")
        seen[view] = page.driver.get_screenshot_as_png(), [words(text) for text in head]
    return seen


def sheet(page, pictures, folder):
    """All of them on one sheet, two beside each other."""
    images = "".join(f'<img src="data:image/png;base64,{base64.b64encode(p).decode()}">' for p in pictures)
    open(f"{folder}/sheet.html", "w").write(SHEET + images)
    page.driver.get(f"file://{folder}/sheet.html")
    height = page.run("return document.documentElement.scrollHeight")
    page.driver.set_window_size(1280, height + 200)
    clip = {"x": 0, "y": 0, "width": 1280, "height": height, "scale": 1}
    shot = page.driver.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})
    return base64.b64decode(shot["data"])


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def with_text(png, text):
    """A PNG with a compressed text before its end (zTXt, RFC 2083)."""
    end = png.rindex(b"IEND") - 4
    return png[:end] + chunk(b"zTXt", b"shown\0\0" + zlib.compress(text.encode())) + png[end:]


def text_of(png):
    at = png.rindex(b"zTXtshown\0\0")
    length = struct.unpack(">I", png[at - 4:at])[0]
    return zlib.decompress(png[at + 4 + 7:at + 4 + length]).decode()


def main():
    folder = tempfile.mkdtemp()
    truth = record(MODEL, RUN, folder)
    command = [os.path.abspath(VETRO), "view", "run", "--model", os.path.abspath(MODEL), "--diff", "diff.json"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    page = browser.Browser(folder)
    try:
        page.open(process.stdout.readline().strip())
        seen = look(page, truth.document)
        shown = {view: text for view, (_, text) in seen.items()}
        if sys.argv[4:] != ["--check"]:
            made = sheet(page, [picture for picture, _ in seen.values()], folder)
            return open(TARGET, "wb").write(with_text(made, json.dumps(shown)))
    finally:
        process.terminate()
        page.close()
    kept = json.loads(text_of(open(TARGET, "rb").read()))
    for view in VIEWS:
        expect(kept.get(view) == shown[view], f"{TARGET} shows another {view}: {kept.get(view)}, now {shown[view]}; draw it anew")
    print(f"page_picture: the same, {sum(map(len, shown.values()))} texts of {len(shown)} views")


main()
