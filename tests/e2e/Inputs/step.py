"""vetro step from outside: what its screens show is what the trace and the dump hold, number by number;
walking changes nothing; edits change what comes after them, and are taken back whole.

    step.py VETRO MODEL FOLDER [PROMPT]
"""

import json
import os
import shutil
import struct
import subprocess
import sys

import tensors
from check import error, expect, quiet
from truth import record, softmax

VETRO, MODEL, FOLDER = sys.argv[1:4]
PROMPT = sys.argv[4] if len(sys.argv) > 4 else "Once upon a time there was"
RUN = ("-p", PROMPT, "-n", "4", "--temp", "0.9", "--top-k", "20", "--seed", "3")

# Every screen, every tab, into a fused op, the lens, two tokens of the prompt and two that came after.
WALK = """: 1
Space
Space
Down Down
Enter
]
]
: 4
: 5
: 6
: 7
: 8
: 9
Down
: 10
: 11
: 12
: 13
N N n
m
m
m
m
n n n n
Enter
Tab
Tab
Tab
: 13 blk.1.attn_ctx
Enter
Tab Tab Tab
t
: 14
Enter
: 15
Down Down Down
Space
T T
: 13 blk.2.l_out token 1
: 13 logits token 6
: 16 token 5
u
o
"""


def equal(found, expected, what=""):
    expect(found == expected, f"{what}: found {found!r}, expected {expected!r}")


def path(name):
    return f"{FOLDER}/{name}"


COMPARED = "--diff", path("diff.json")


def walk(*arguments, keys=WALK):
    """The objects that a script's keys give."""
    out = subprocess.run([VETRO, "step", *arguments, "--script", "-", "--json"], input=keys.encode(),
                         capture_output=True)
    equal((out.returncode, out.stderr), (0, b""))
    return [json.loads(line) for line in out.stdout.splitlines()]


def everything_is_true():
    truth, trace = record(MODEL, RUN, FOLDER), path("run")
    screens = walk(trace, "--model", MODEL, *COMPARED)
    for shown in screens:
        token = int(shown["place"].split()[-1])
        for datum in shown["data"]:
            truth.check(datum["name"], datum["index"], datum["value"], token)
    equal(sorted({s["screen"]["step"] for s in screens}), list(range(1, 17)))
    for kind, n in truth.seen.items():
        expect(n > (0 if kind != "numbers" else 500), f"nothing of kind {kind} was shown: {truth.seen}")
    blocks(screens)
    print(f"shown: {truth.seen}")
    return truth, screens


def blocks(screens):
    """scale * code + offset is the number, which is the embedding's."""
    shown = next(s for s in screens if s["screen"]["step"] == 11)
    data = {d["index"]: d["value"] for d in shown["data"] if d["name"].endswith(".weight")}
    row = {d["index"]: d["value"] for d in shown["data"] if d["name"] == "embed"}
    f32 = lambda x: struct.unpack("f", struct.pack("f", x))[0]
    numbers = [i for i in data if i.split(",")[-1].isdigit()]
    expect(len(numbers) >= 32, "no block is shown")
    for i in numbers:
        product = f32(data[i + ".scale"] * data[i + ".code"])
        equal(f32(product + data.get(i + ".offset", 0.0)), data[i], i)
        if i.split(",")[1] in row and not "gemma" in MODEL:  # scaled there
            equal(row[i.split(",")[1]], data[i], i)


def live_is_the_same(screens):
    """Stepping a model shows what stepping its trace shows, but for times."""
    own = walk(MODEL, *RUN, *COMPARED)
    for a, b in zip(own, screens):
        timed = lambda d: "step_us" in d["index"] or d["index"].endswith("/ms") or d["index"] == "/model/path"
        strip = lambda s: [d for d in s["data"] if not timed(d)]
        equal(strip(a), strip(b), a["keys"])


def perturbed(trace):
    """One changed value of a trace changes its cells and no others."""
    before = walk(trace)
    copy = path("perturbed")
    shutil.copytree(trace, copy)
    document = json.load(open(f"{copy}/trace.json"))
    document["tokens"][7]["sampled"]["stages"][0]["top"][1]["p"] += 0.125
    json.dump(document, open(f"{copy}/trace.json", "w"))
    compare(before, walk(copy), lambda d: d["index"].endswith("/7/sampled/stages/0/top/1/p"))
    shutil.copy(f"{trace}/trace.json", f"{copy}/trace.json")
    file = document["batches"][0]["values"]
    values = tensors.read(f"{copy}/{file}")
    shape, numbers = values["blk.1.q_rope"]
    numbers[6 * (len(numbers) // shape[0]) + 1] += 0.5
    values["blk.1.q_rope"] = shape, numbers
    tensors.write(f"{copy}/{file}", values)
    keys = ": 13 blk.1.q_rope token 6\n: 13 blk.1.l_out token 6\n: 13 blk.1.q_rope token 5\n"
    same = lambda d: d["name"] == "blk.1.q_rope" and (d["index"] == "1" or not d["index"].isdigit())
    compare(walk(trace, keys=keys), walk(copy, keys=keys), same, only=1)


def compare(before, after, may_differ, only=None):
    changed = 0
    for i, (a, b) in enumerate(zip(before, after)):
        equal(len(a["data"]), len(b["data"]))
        for x, y in zip(a["data"], b["data"]):
            equal((x["name"], x["index"]), (y["name"], y["index"]))
            if x["value"] != y["value"]:
                expect(may_differ(x), f"{x} became {y}")
                changed += 1
    expect(changed > 0, "the changed value is shown nowhere")


def flow():
    """u and o walk along the graph's edges, past what only reshapes."""
    shown = walk(MODEL, *RUN, keys=": 13 blk.1.attn_ctx\nu\no\n: 13 blk.1.l_out\no\nu\n: 13 embed\nu\n")
    equal([s["place"].split()[1] for s in shown],
          ["blk.1.attn_ctx", "blk.1.q_rope", "blk.1.attn_ctx", "blk.1.l_out", "blk.2.attn_norm", "blk.1.l_out", "embed", "embed"])
    equal(shown[1]["message"], "from blk.1.q_rope")
    expect("read by blk.2.attn_norm; also blk.2.resid_mid" == shown[4]["message"], shown[4]["message"])
    expect("only" in shown[7]["message"], shown[7]["message"])


def edits():
    """An edit at blk.1.l_out changes what comes after it and nothing before; z gives the bits back."""
    keys = [": 13 blk.1.ffn_norm token 5", ": 13 blk.1.l_out token 6", ": 13 blk.1.resid_mid token 6",
            ": 13 blk.2.l_out token 6", ": 14 token 6"]
    looks = "".join(key + "\n" for key in keys)
    shown = walk(MODEL, *RUN, keys=looks + "e blk.1.l_out[6,3] += 2\n" + looks + "z\n" + looks)
    n = len(keys)
    before, edited, undone = shown[:n], shown[n + 1:2 * n + 1], shown[2 * n + 2:]
    numbers = lambda s: [d for d in s["data"] if d["name"] != "trace.json" and not in_map(s, d)]
    for i, differs in enumerate((False, True, False, True, True)):
        key = numbers if i < 4 else (lambda s: s["data"])
        expect((key(before[i]) != key(edited[i])) == differs, f"{keys[i]}: differs is not {differs}")
        timeless = lambda s: [d for d in s["data"] if "step_us" not in d["index"]]
        equal(timeless(undone[i]), timeless(before[i]), "undo: " + keys[i])
    expect("e " in shown[n]["keys"] and shown[n]["message"].startswith("edited"), shown[n]["message"])


def in_map(shown, datum):
    """The map shows all layers, also those after the edit."""
    return datum["index"] == "rms" and shown["screen"]["map"]["rows"] != []


def breakpoints():
    document = json.load(open(path("run/trace.json")))
    printed = [bytes.fromhex(t["bytes"]).decode(errors="replace").strip() for t in document["tokens"]]
    stages = document["tokens"][6]["sampled"]["stages"]
    loser = next(c for c in stages[-2]["top"] if c["id"] != document["tokens"][6]["sampled"]["id"])
    nowhere = "nothing after here stops at a breakpoint"
    off = {row["name"] for row in json.load(open(path("diff.json")))["rows"] if row["snr_db"] is not None and row["snr_db"] < 90}
    first = next(step["name"] for step in document["steps"] if off & set(step["values"]))
    cases = (("13 token 6", "blk.2.*", "c", "13 blk.2.attn_norm token 6"),
             ("13 token 6", "op:glu", "c", "13 blk.0.ffn_act token 6"),
             ("13 token 6", "layer:1", "c", "13 blk.1.attn_norm token 6"),
             ("14 token 7", "layer:0", "C", "13 blk.0.attn_norm token 7"),
             ("13 token 6", "absmax>1e30", "c", nowhere),
             ("13 token 6", "absmax>0.5", "c", "stopped at absmax>0.5"),
             ("13 token 6", "nan", "c", nowhere),
             ("13 token 6", "diff.snr<90", "c", f"13 {first} token 6"),
             ("13 token 6", "diff.snr<-900", "c", nowhere),
             ("1", "pass:fuse-qkv", "c", "stopped at pass:fuse-qkv"),
             ("1", "rewrite:qkv", "c", "3 token"),
             ("1", "token:" + printed[7], "c", f" token {printed.index(printed[7])}"),
             ("13 token 6", "drop:logit-bias:" + loser["piece"], "c", nowhere),
             ("13 token 6", "drop:dist:" + loser["piece"], "c", "15 token 6"))
    keys = "".join(f": rope_table token 6\n: {start}\nb {text}\n{key}\nb -1\n" for start, text, key, _ in cases)
    shown = walk(MODEL, *RUN, *COMPARED, keys=keys)
    for i, (start, text, _, expected) in enumerate(cases):
        place, message = shown[5 * i + 3]["place"], shown[5 * i + 3]["message"]
        expect(place.startswith(expected) or place.endswith(expected) or message == expected, f"{text} from {start}: {place}, {message}")


def why(truth):
    """What became of a piece is what the logits say, for any piece of the vocabulary: with --top-k 20."""
    logits = truth.row("logits", 6)
    order = sorted(range(len(logits)), key=lambda i: (-logits[i], i))
    p, drawn = softmax(logits), truth.document["tokens"][6]["sampled"]["id"]
    ranks = (1, 2, 20, 21, 60, 500)
    ids = [order[rank - 1] for rank in ranks]
    spelled = [truth.pieces()[i] for i in ids]
    shown = walk(MODEL, *RUN, "--at", "15 token 6", keys="".join(f"w {piece}\n" for piece in spelled) + "w <nothing>\n")
    for rank, i, s in zip(ranks, ids, shown):
        words = ("was drawn" if i == drawn else "the draw took another" if rank <= 20 else
                 f"dropped by top-k at p {p[i]:.5g}, number {rank} of {len(logits)}; it kept 20")
        expect(words in s["message"], f"{words}: {s['message']}")
    expect("no piece of the vocabulary" in shown[-1]["message"], shown[-1]["message"])
    greedy = walk(MODEL, *RUN[:4], "--at", "15 token 6", keys=f"w {spelled[1]}\n")
    expect("dropped by greedy" in greedy[0]["message"], greedy[0]["message"])
    # A bias that moves a piece far back drops nothing; a trace alone lists the likeliest only.
    moved = ("--logit-bias", f"{ids[1]}:-30")
    quiet("run", MODEL, *RUN, *moved, "--trace", path("moved"))
    for source, words in (((MODEL, *RUN, *moved), "dropped by top-k"),
                          ((path("moved"),), "behind the candidates that the trace lists after logit-bias")):
        found = walk(*source, "--at", "15 token 6", keys=f"w {spelled[1]}\n")[0]["message"]
        expect(words in found, f"{words}: {found}")
    alone = walk(path("run"), "--at", "15 token 6", keys=f"w {spelled[4]}\nw {spelled[2]}\n")
    for s in alone:
        expect("--model" in s["message"], s["message"])


def refusals(trace):
    for arguments, words in (((MODEL, "-p", "x", "--script", "-", "--at", "17"), "there is no place 17"),
                             ((MODEL, "-p", "x", "--script", "-", "--size", "3x3"), "no size"),
                             ((MODEL, "-p", "x"), "no terminal"),
                             ((trace, "--model", "tiny" if MODEL != "tiny" else path("other.gguf"), "--script", "-"),
                              "is of another model"),
                             ((MODEL, "-p", "x", "--model", "tiny", "--script", "-"), "goes with a trace"),
                             ((trace, "--script", "-", "--diff", f"{trace}/trace.json"), "not what vetro diff --json prints"),
                             ((trace, "--script", "-", "--diff", "nowhere.json"), "nowhere.json")):
        error("step", *arguments, has=[words])
    shown = walk(trace, keys="e blk.0.l_out = 0\n: token 99\n: nonsense\nb absmax>x\n/ nothing_like_it\nb\nb diff.snr<9\nc\n: 15 token 6\nw\n")
    for s, words in zip(shown, ("--model", "there is no token 99", "no place nonsense", "expected a number", "no value has",
                                "no breakpoints", "breakpoint 1", "--diff", "", "name a piece")):
        expect(words in s["message"], s["message"])


def damaged(trace):
    """A trace that lost a file still opens; the screen that needs it says so."""
    copy = path("damaged")
    shutil.copytree(trace, copy)
    document = json.load(open(f"{copy}/trace.json"))
    os.remove(f"{copy}/{document['assembly']}")
    open(f"{copy}/{document['graphs']['planned']}", "w").write('{"nodes": 3}')
    shown = walk(copy, keys=": 13 blk.0.l_out\nTab Tab\nu\n")
    expect(document["assembly"] in shown[1]["screen"]["sentence"][0]["text"], shown[1]["screen"]["sentence"])
    expect("planned graph is damaged" in shown[2]["message"], shown[2]["message"])


def hostile(trace):
    """What would act on a terminal is written out."""
    copy = path("hostile")
    shutil.copytree(trace, copy)
    document = json.load(open(f"{copy}/trace.json"))
    bad = "\x1b[31m<script>alert(1)</script>\n\"'&\u202e\u200b\ufeff"
    document["model"]["name"] = document["model"]["path"] = bad
    document["model"]["metadata"][0]["value"] = document["tokens"][6]["piece"] = bad
    document["steps"][3]["kernels"] = [bad]
    document["passes"][0]["rewrites"][0]["what"] = bad
    json.dump(document, open(f"{copy}/trace.json", "w"))
    out = subprocess.run([VETRO, "step", copy, "--script", "-"], input=WALK.encode(), capture_output=True)
    equal((out.returncode, out.stderr), (0, b""))
    text = out.stdout.decode()
    for character in "\x1b\u202e\u200b\ufeff\r\t":
        expect(character not in text, f"{character!r} reached the terminal")
    expect("\\u{1b}[31m" in text, "the name is not shown")


def main():
    if MODEL == "tiny":
        quiet("make-tiny", "--arch", "llama", "--type", "Q8_0", "--layers", "2", "-o", path("other.gguf"))
    truth, screens = everything_is_true()
    trace = path("run")
    live_is_the_same(screens)
    perturbed(trace)
    flow()
    edits()
    breakpoints()
    why(truth)
    refusals(trace)
    damaged(trace)
    hostile(trace)
    print("step: done")


os.makedirs(FOLDER, exist_ok=True)
main()
