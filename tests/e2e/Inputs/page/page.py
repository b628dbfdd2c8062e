"""vetro view in a real browser: each view is opened and operated, every number that stands in the page is
the trace's or the dump's, hostile names stay text, the exported file shows the same offline.

    page.py VETRO MODEL FOLDER [measure]
"""

import atexit
import http.client
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import time

import browser

browser.require()

import tensors
from check import equal, error, expect, quiet
from truth import record

VETRO, MODEL, FOLDER = sys.argv[1:4]
TOKEN = 6  # the prompt's last one
RUN = ("-p", "Once upon a time there was", "-n", "4", "--temp", "0.9", "--top-k", "20", "--seed", "3")
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]\d+)?$")
# Each view, with what is to be in it.
VIEWS = {
    "step": ({"step": 13, "op": 9}, "#view table td"), "graph": ({"layer": 1}, "svg.graph g.node"),
    "tensor": ({"name": "blk.1.q_rope"}, "svg.heat rect"), "heads": ({"layer": 1}, "table.heads td.cell"),
    "lens": ({}, "table.lenses td.lens"), "sampler": ({}, "table.funnel tr.choice"),
    "passes": ({"layer": 1, "pass": 2}, "table.ir tr"), "diff": ({}, "table.diffs tbody tr"),
}
HOSTILE = "\x1b[31m<script>hit=1</script><img src=x onerror=hit=1>\n\"'&\u202e\u200b"


def path(name):
    return f"{FOLDER}/{name}"


class Served:
    """A running vetro view."""

    def __init__(self, *arguments, environment=None):
        self.process = subprocess.Popen([VETRO, "view", *arguments], stdout=subprocess.PIPE, text=True, env=environment)
        atexit.register(self.end)
        self.url = self.process.stdout.readline().strip()
        expect(re.fullmatch(r"http://127\.0\.0\.1:\d+/[0-9a-f]{32}/", self.url), f"no address: {self.url!r}")
        self.port, self.token = int(self.url.split("/")[2].split(":")[1]), self.url.split("/")[3]

    def ask(self, where, method="GET", body=None, **headers):
        """(status, JSON or text) of one request, with headers of one's own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        host = headers.pop("Host", f"127.0.0.1:{self.port}")
        connection.putrequest(method, where, skip_host=True)
        for name, value in {"Host": host, **headers}.items():
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response.status, text

    def view(self, words):
        return json.loads(self.ask(f"/{self.token}/view/{words}")[1])

    def end(self):
        self.process.terminate()
        self.process.wait()


def refusals(served):
    """Nobody but our page is answered, and nothing but what it asks."""
    good = f"/{served.token}/view/about"
    equal(served.ask(good)[0], 200)
    equal(served.ask(good, Origin=f"http://127.0.0.1:{served.port}")[0], 200)
    for where, status, headers in (
            ("/view/about", 403, {}), ("/", 403, {}), (f"/{'0' * 32}/view/about", 403, {}),
            (good, 403, {"Host": "evil.example"}), (good, 403, {"Host": f"evil.example:{served.port}"}),
            (good, 403, {"Origin": "http://evil.example"}), (f"/{served.token}", 403, {}),
            (f"/{served.token}/view/nothing", 422, {}), (f"/{served.token}/view/../../etc/passwd", 404, {}),
            (f"/{served.token}/view/screen?step=99", 422, {}), (f"/{served.token}/view/tensor?token=-1", 422, {}),
            (f"/{served.token}/view/tensor?token=0&pool=max&name=%00%3Cb%3E", 422, {})):
        found, text = served.ask(where, **headers)
        equal((where, found), (where, status))
        expect(served.token not in text, f"the token is given away: {text}")
    for method, where, body, status in (("PUT", good, b"", 405), ("DELETE", good, b"", 405), ("POST", good, b"", 404),
                                        ("POST", f"/{served.token}/patch", b"{", 400), ("POST", f"/{served.token}/patch", b"[]", 400),
                                        ("POST", f"/{served.token}/patch", b'{"undo": true}', 422),
                                        ("POST", f"/{served.token}/patch", b'{"token": 99, "edit": "embed = 0"}', 422),
                                        ("POST", f"/{served.token}/patch", b"x" * 100000, 413),
                                        ("POST", "/patch", b"{}", 403)):
        equal((method, body[:30], served.ask(where, method, body)[0]), (method, body[:30], status))


def check_data(page, truth, where):
    """Every element of the page that stands for something; how many there are."""
    data = page.data()
    for name, index, value, token, text in data:
        truth.check(name, index, value, None if token is None else int(token))
        if isinstance(value, (int, float)) and NUMBER.fullmatch(text):
            expect(abs(float(text) - value) <= 1e-4 * abs(value), f"{where}: {name} {index} is {value}, the page says {text}")
    complaints = page.complaints()
    expect(not complaints, f"{where}: {complaints}")
    return len(data)


def views(page, truth, token):
    """Opens each view at a token and reads it."""
    for view, (place, selector) in VIEWS.items():
        page.go(view=view, token=token, **place)
        expect(not page.text("#view [role=alert]"), f"{view}: {page.text()}")
        expect(page.run("return document.querySelectorAll(arguments[0]).length", selector) > 3, f"{view}: no {selector}")
        expect(page.run("return document.documentElement.scrollWidth <= innerWidth"), f"{view} is wider than the window")
        expect(check_data(page, truth, view) > 30, f"{view} shows nothing")
        page.shot(view)
    for step in range(1, 17):
        page.go(view="step", step=step, token=token)
        check_data(page, truth, f"step {step}")


def operates(page, truth):
    """Keys and clicks."""
    last = len(truth.document["prompt"]["ids"]) - 1
    page.go(view="step", step=15, token=last)
    for keys, key, value in ((" ", "step", "16"), (" ", "step", "11"), ("", "token", str(last + 1)), ("T", "token", str(last)),
                             ("N", "step", "13"), ("n", "op", None), ("2", "view", "graph"), ("]", "view", "passes"),
                             ("3", "view", "tensor"), ("m", "metric", "absmax")):
        page.press(*keys)
        if keys:
            page.settle()
        found = page.place(key)
        expect(found is not None and (value is None or found == value), f"after {keys!r}: {key} is {found}")
    for before in ("blk.0.q", "embed"):
        page.go(view="tensor", name=before, token=last, layer=0)
        page.press("N")
        page.settle()
        expect(page.place("name").startswith("blk.1.") and page.place("layer") == "1", page.place("name"))
        page.run("history.back()")
        page.wait(f"new URLSearchParams(location.hash.slice(1)).get('name') === '{before}'", "place before")
    page.go(view="step", step=13, op=9, token=last)
    page.press("u")
    page.settle()
    came = page.place("op")
    expect(came and int(came) < 9, f"u led to {came}")
    page.press("o")
    page.settle()
    expect(int(page.place("op")) > int(came) and "read by" in page.text("#said"), page.text("#said"))
    for beside, words in (("time", "µs"), ("bytes", "B")):
        page.go(view="graph", layer=1, beside=beside)
        drawn = page.run("return document.querySelector('svg.graph').textContent")
        expect(re.search(rf"\d {words}", drawn), f"no {words} in the graph: {drawn[:300]}")
    for view, (place, _) in VIEWS.items():  # the last token was drawn and did not run
        page.go(view=view, **place, token=len(truth.document["tokens"]) - 1)
        said = page.text("#view [role=alert]")
        expect(re.fullmatch("|did not run|.*did not run: .*|nothing was drawn.*|there is no.*", said), f"{view}: {said}")
    page.complaints()
    # The map, the search, the heads, the lens, why not.
    page.go(view="step", step=13, token=last)
    page.click('#map td[data-name="blk.0.l_out"]')
    page.settle()
    equal((page.place("view"), page.place("name")), ("tensor", "blk.0.l_out"))
    page.press("/")
    page.driver.switch_to.active_element.send_keys("attn_probs\n")
    page.settle()
    expect(page.place("name").endswith("attn_probs"), page.place("name"))
    page.go(view="heads", layer=0, token=last)
    page.click("table.heads tbody th")
    page.wait("document.querySelectorAll('table.heads').length === 2", "head at all tokens")
    check_data(page, truth, "head at all tokens")
    page.go(view="lens", token=last)
    page.click("#lens-all")
    page.wait(f"document.querySelectorAll('table.lenses tr:first-child td.lens').length === {last + 4}", "lens of all tokens")
    page.shot("lens-all")
    check_data(page, truth, "lens of all tokens")
    page.go(view="tensor", name="blk.0.q", op=3, token=last, weight="blk.0.attn_q.weight")
    expect(page.run("return document.querySelectorAll('.weight [data-index$=code]').length") >= 32, "no block")
    check_data(page, truth, "weight")
    block(page)
    why(page, truth, last)
    lights(page, truth)


def lights(page, truth):
    """Pointing at a value of the map lights it up in the graph, the IR and the machine code."""
    name = "blk.1.l_out"
    op = next(i for i, step in enumerate(truth.document["steps"]) if name in step["values"])
    for place, parts in (({"view": "graph"}, ["svg.graph g.node"]), ({"view": "passes", "pass": 2}, [".ir td", ".code section"]),
                         ({"view": "step", "step": 13, "tab": 2}, ["#view section.table"])):
        page.go(layer=1, op=op, name=name, token=TOKEN, **place)
        lit = page.run("""document.querySelector(`#map td[data-hook="${arguments[0]}"]`)
          .dispatchEvent(new MouseEvent("mouseover", {bubbles: true}));
          return arguments[1].map((part) => document.querySelectorAll(`${part}.lit`).length);""", name, ["#map td", *parts])
        expect(all(lit), f"{place}: of the map and {parts} are lit {lit}")


def block(page):
    """scale * code + offset is the number, for each element of the block that is shown."""
    data = {index: value for name, index, value, *_ in page.data() if name == "blk.0.attn_q.weight"}
    f32 = lambda x: struct.unpack("f", struct.pack("f", x))[0]
    numbers = [i for i in data if i.split(",")[-1].isdigit()]
    expect(len(numbers) >= 32, f"a block of {len(numbers)}")
    for i in numbers:
        equal(f32(f32(data[i + ".scale"] * data[i + ".code"]) + data.get(i + ".offset", 0.0)), data[i])


def why(page, truth, token):
    """Any piece, by what one types: one that a stage dropped, one that the draw left, none."""
    logits = truth.row("logits", token)
    order = sorted(range(len(logits)), key=lambda i: (-logits[i], i))
    sampled = truth.document["tokens"][token]["sampled"]
    loser = next(c for c in sampled["stages"][-2]["top"] if c["id"] != sampled["id"])
    page.go(view="sampler", token=token)
    for piece, words in ((loser["piece"], "draw took another"), (truth.pieces()[order[299]], "top-k at p"),
                         (truth.pieces()[order[299]], f"number 300 of {len(logits)}; it kept 20"),
                         ("<nothing>", "no piece of the vocabulary")):
        page.run("const box = document.getElementById('why'); box.value = arguments[0]; box.dispatchEvent(new Event('input'))", piece)
        page.wait(f"document.querySelector('.why output').innerText.includes({json.dumps(words)})", words)


def edits(page):
    """e asks for an edit and runs again; z gives the numbers back."""
    numbers = lambda: [d for d in page.data() if d[0] == "blk.1.l_out"]
    page.go(view="tensor", name="blk.1.l_out", token=TOKEN)
    before = numbers()
    page.press("e")
    page.driver.switch_to.alert.send_keys("blk.1.l_out[6,3] += 2")
    page.driver.switch_to.alert.accept()
    page.wait("document.querySelector('header .accent')?.innerText.includes('edit')", "edit")
    page.settle()
    expect(numbers() != before, "the edit changed nothing")
    page.press("z")
    page.wait("document.querySelector('#said')?.innerText.includes('taken back')", "undoing")
    page.settle()
    equal(numbers(), before)
    # An edit that changes nothing gives the run that was recorded: its sampler, its length.
    pieces = lambda: [d[:3] for d in page.data() if d[1].endswith(("/piece", "/id")) and d[1].count("/") == 3]
    recorded = pieces()
    page.press("e")
    page.driver.switch_to.alert.send_keys("blk.1.l_out *= 1")
    page.driver.switch_to.alert.accept()
    page.wait("document.querySelector('header .accent')?.innerText.includes('edit')", "edit")
    page.settle()
    equal(pieces(), recorded)
    page.press("z")
    page.wait("document.querySelector('#said')?.innerText.includes('taken back')", "undoing")
    page.settle()
    page.press("e")
    page.driver.switch_to.alert.send_keys("nonsense")
    page.driver.switch_to.alert.accept()
    page.wait("document.querySelector('#said.bad')", "refusal of an edit")
    page.complaints()


def exported(page, served, truth, token):
    """The file shows what the server showed, and asks nobody."""
    quiet("view", path("run"), "--model", MODEL, "--diff", path("diff.json"), "--token", token, "--export", path("lab.html"))
    expect(os.path.getsize(path("lab.html")) < 10e6, "the file is larger than 10 MB")
    shown = {}
    for url in (served.url, "file://" + os.path.abspath(path("lab.html"))):
        page.open(url)
        for view, (place, _) in VIEWS.items():
            page.go(view=view, token=token, **place)
            expect(not page.text("#view [role=alert]"), f"{view} of {url[:6]}: {page.text()}")
            strip = [d[:4] for d in page.data() if d[1] != "/model/path"]
            equal((view, shown.setdefault(view, strip)), (view, strip))
            check_data(page, truth, view)
    expect(page.run("return performance.getEntriesByType('resource').length") == 0, "the file asked somebody")
    page.scheme("dark")
    page.shot("exported-dark")
    page.scheme("light")
    page.go(view="tensor", name="blk.1.q_rope", token=token - 1)
    expect("not in this file" in page.text(), page.text())


def copy_of(trace, name, change):
    """A trace whose document was changed."""
    copy = path(name)
    shutil.copytree(trace, copy)
    document = json.load(open(f"{copy}/trace.json"))
    change(document, copy)
    json.dump(document, open(f"{copy}/trace.json", "w"))
    return copy


def spoil(document, copy):
    document["model"]["name"] = document["model"]["architecture"] = document["text"] = HOSTILE
    document["model"]["metadata"][0]["value"] = HOSTILE
    for token in document["tokens"]:
        token["piece"] = HOSTILE
        for stage in token.get("sampled", {}).get("stages", []):
            for candidate in stage["top"]:
                candidate["piece"] = HOSTILE
    document["steps"][3]["kernels"] = [HOSTILE]
    document["steps"][9]["values"] = document["steps"][9]["inside"] = [HOSTILE]
    for rewrite in document["passes"][2]["rewrites"]:
        rewrite["what"] = HOSTILE
    for name in document["graphs"].values():
        graph = json.load(open(f"{copy}/{name}"))
        for node in graph["nodes"]:
            node["drawn"]["lines"] = [HOSTILE]
        json.dump(graph, open(f"{copy}/{name}", "w"))


def hostile(page, trace):
    """Text of a file stays text: none of it becomes an element or runs."""
    served = Served(copy_of(trace, "hostile", spoil))
    page.open(served.url)
    for view, (place, _) in VIEWS.items():
        if view in ("diff", "lens"):
            continue
        page.go(view=view, token=TOKEN, **place)
        if view == "step":
            page.go(view="step", step=15, token=TOKEN)
        found = page.run("""return [window.hit, document.querySelectorAll("script").length, document.querySelectorAll("img").length,
          document.body.innerText + document.title]""")
        equal((view, found[:3]), (view, [None, 0, 0]))
        expect(not re.search("[\x00-\x08\x0b-\x1f\u200b\u202e]", found[3]), f"{view}: a control character is shown")
        expect("\\u{202e}" in found[3], f"{view}: the name is not shown")
    page.shot("hostile")
    page.complaints()
    served.end()


def perturbed(page, trace):
    """One changed number of a trace changes its cells and no others."""
    def change(document, copy):
        file = f"{copy}/{document['batches'][0]['values']}"
        values = tensors.read(file)
        shape, numbers = values["blk.1.q_rope"]
        numbers[TOKEN * (len(numbers) // shape[0]) + 7] += 0.5
        tensors.write(file, {**values, "blk.1.q_rope": (shape, numbers)})

    shown = []
    for of in (trace, copy_of(trace, "perturbed", change)):
        served = Served(of)
        page.open(served.url)
        found = []
        for place in ({"view": "tensor", "name": "blk.1.q_rope"}, {"view": "tensor", "name": "blk.0.l_out"},
                      {"view": "step", "step": 13, "op": 9}, {"view": "sampler"}):
            page.go(token=TOKEN, **place)
            found += [d[:4] for d in page.data()]
        shown.append(found)
        served.end()
    page.complaints()
    equal(len(shown[0]), len(shown[1]))
    changed = [(a, b) for a, b in zip(*shown) if a != b]
    expect({a[0] for a, _ in changed} == {"blk.1.q_rope"}, f"changed: {changed}")
    alone = [a for a, _ in changed if a[1].isdigit()]
    expect(alone and {a[1] for a in alone} == {"7"} and {a[3] for a, _ in changed} == {str(TOKEN)}, f"changed: {changed}")


def refused_files(trace):
    newer = copy_of(trace, "newer", lambda document, _: document.update(version=99))
    damaged = copy_of(trace, "damaged", lambda document, _: document.pop("steps"))
    for arguments, words in (((newer,), "newer"), ((damaged,), "steps"), (("nowhere.vtrace",), "nowhere.vtrace"),
                             ((trace, "--diff", f"{trace}/trace.json"), "vetro diff --json"),
                             ((trace, "--export", f"{FOLDER}/no/x.html"), "no/x.html"),
                             ((trace, "--export", path("x.html"), "--token", "99"), "there is no token 99")):
        error("view", *arguments, has=[words])
    unknown = copy_of(trace, "unknown", lambda document, _: document["sampler"].update(options={}))
    error("view", unknown, "--model", MODEL, has=["sampler.options"])
    quiet("make-tiny", "--arch", "llama", "--type", "Q8_0", "--layers", "2", "-o", path("other.gguf"))
    error("view", trace, "--model", path("other.gguf"), has=["is of another model"])


def damaged_parts(page, trace):
    """A trace that lost a part opens; the view that needs it says so."""
    def change(document, copy):
        open(f"{copy}/{document['graphs']['planned']}", "w").write('{"nodes": 3}')
        os.remove(f"{copy}/{document['passes'][2]['ir']}")
    served = Served(copy_of(trace, "parts", change))
    page.open(served.url)
    for view, words in (("graph", "graph.planned.json"), ("passes", "no file"), ("lens", "--model")):
        page.go(view=view, token=TOKEN, layer=1, **{"pass": 2})
        expect(words in page.text("#view [role=alert]") or view == "passes", page.text())
    page.complaints()
    served.end()


def opens(trace):
    """--open gives the address to the system's browser."""
    os.makedirs(path("bin"))
    with open(path("bin/xdg-open"), "w") as program:
        program.write(f"#!/bin/sh\nprintf %s \"$1\" > '{os.path.abspath(path('opened'))}'\n")
    os.chmod(path("bin/xdg-open"), 0o755)
    served = Served(trace, "--open", environment={**os.environ, "PATH": f"{os.path.abspath(path('bin'))}:{os.environ['PATH']}"})
    for _ in range(500):
        if os.path.exists(path("opened")) and open(path("opened")).read() == served.url:
            return served.end()
        time.sleep(0.02)
    sys.exit("--open: the browser was not called")


def main():
    truth, trace = record(MODEL, RUN, FOLDER), path("run")
    equal(len(truth.document["prompt"]["ids"]), TOKEN + 1)
    refused_files(trace)
    opens(trace)
    served = Served(trace, "--model", MODEL, "--diff", path("diff.json"))
    page = browser.Browser(path("screenshots"))
    try:
        refusals(served)
        page.open(served.url)
        views(page, truth, TOKEN)
        operates(page, truth)
        edits(page)
        exported(page, served, truth, TOKEN)
        hostile(page, trace)
        perturbed(page, trace)
        damaged_parts(page, trace)
    finally:
        served.end()
        page.close()
    for kind, n in truth.seen.items():
        expect(n > 0 or kind == "proofs", f"nothing of kind {kind} was shown: {truth.seen}")
    print(f"page: done, {truth.seen}")


os.makedirs(FOLDER, exist_ok=True)
main()
