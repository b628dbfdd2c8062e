"""How fast the page of vetro view is on a real model: first paint, switching layers, the exported file.

    page_speed.py VETRO MODEL FOLDER
"""

import os
import shutil
import subprocess
import sys

import browser

MODEL, FOLDER = sys.argv[2:4]
if not os.path.isfile(MODEL):
    browser.skip(f"{MODEL} is missing; get it with ./bootstrap models", 77)
browser.require(77)

from check import VETRO, expect, quiet

PAINT = """performance.getEntriesByType('paint').find((e) => e.name === 'first-contentful-paint')?.startTime"""
# Presses a key and waits until all is drawn; milliseconds.
SWITCH = """const done = arguments[0], began = performance.now(); document.body.dataset.drawn = '';
document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'N', bubbles: true}));
const look = () => document.body.dataset.drawn ? requestAnimationFrame(() => done(performance.now() - began)) : setTimeout(look, 1);
look();"""


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(FOLDER)
    trace = f"{FOLDER}/run.vtrace"
    quiet("run", MODEL, "-p", "The capital of France is", "-n", "8", "--trace", trace)
    process = subprocess.Popen([VETRO, "view", trace, "--model", MODEL], stdout=subprocess.PIPE, text=True)
    url = process.stdout.readline().strip()
    page = browser.Browser(f"{FOLDER}/screenshots")
    try:
        page.open(url)
        page.settle()
        whole = page.run("return performance.now()")  # at most: it is asked every 20 ms
        paint = page.wait(PAINT, "first paint")
        worst = {}
        for view in ("step", "graph", "tensor", "heads", "passes"):
            page.go(view=view, step=13, op=3, layer=0, name="blk.0.q", token=4)
            times = [page.driver.execute_async_script(SWITCH) for _ in range(12)]
            worst[view] = round(max(times))
    finally:
        process.terminate()
        page.close()
    quiet("view", trace, "--model", MODEL, "--export", f"{FOLDER}/lab.html")
    size = os.path.getsize(f"{FOLDER}/lab.html")
    print(f"first paint {paint:.0f} ms, all drawn {whole:.0f} ms; slowest of 12 layers, ms: {worst}; one token exported: {size / 1e6:.1f} MB")
    expect(paint <= whole <= 1000, "the first page takes longer than 1 s")
    expect(max(worst.values()) <= 200, "switching layers takes longer than 200 ms")
    expect(size <= 10e6, "the exported page is larger than 10 MB")


main()
