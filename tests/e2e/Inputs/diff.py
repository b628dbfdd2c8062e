"""vetro diff from outside: exit codes, what it names, and every way in which files do not fit."""

import json
import os
import shutil
import struct
import sys
from xml.etree import ElementTree

from check import equal, error, expect, object_of, quiet, run

MODEL, FOLDER = sys.argv[2:4]
IDS = ("--ids", "5,9,12,300,7,45,81,3")


def path(name):
    return f"{FOLDER}/{name}.safetensors"


def dump(name, *options, hooks="*", ids=IDS):
    quiet("dump", MODEL, *ids, "--hooks", hooks, "-o", path(name), *options)
    return path(name)


def edited(source, name, change):
    """A copy of a file whose header and data `change(header, data)` has edited."""
    data = open(source, "rb").read()
    length = struct.unpack("<Q", data[:8])[0]
    header, body = json.loads(data[8:8 + length]), bytearray(data[8 + length:])
    body = change(header, body) or body
    text = json.dumps(header).encode()
    with open(path(name), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + body)
    return path(name)


def without(name):
    """Removes a tensor and closes the gap."""
    def change(header, body):
        begin, end = header.pop(name)["data_offsets"]
        for key, tensor in header.items():
            if key != "__metadata__" and tensor["data_offsets"][0] >= end:
                tensor["data_offsets"] = [x - (end - begin) for x in tensor["data_offsets"]]
        return body[:begin] + body[end:]
    return change


def nan_in(name):
    def change(header, body):
        at = header[name]["data_offsets"][0]
        body[at + 8:at + 12] = struct.pack("<f", float("nan"))
    return change


def scaled(name, factor):
    def change(header, body):
        begin, end = header[name]["data_offsets"]
        values = struct.unpack(f"<{(end - begin) // 4}f", body[begin:end])
        body[begin:end] = struct.pack(f"<{len(values)}f", *(v * factor for v in values))
    return change


def first(ours, reference, *options):
    """The first bad value of a comparison that must find one."""
    done = run("diff", ours, reference, "--json", *options, code=1)
    return json.loads(done.stdout)["first"]


def verdicts(ours, reference):
    report = object_of("diff", ours, reference, "--model", MODEL)
    equal(report["first"], None)
    names = [row["name"] for row in report["rows"]]
    equal(names[0], "embed")
    expect("blk.2.attn_probs" in names and names[-1] == "logits", f"names: {names}")
    for row in report["rows"]:
        for kind in ("graph", "kernel"):
            if row[kind]:
                expect(row[kind]["passes"], f"{row['name']}: {row[kind]}")
        expect(row["graph"] is not None, f"{row['name']} has no graph error")
    expect(b"nothing passes its floor" in quiet("diff", ours, reference, "--model", MODEL), "no verdict")
    # Without a model only equality is judged.
    equal(object_of("diff", ours, ours)["first"], None)
    equal(first(ours, reference)["kind"], "accumulated")
    quiet("diff", ours, reference, "--snr", 10, "--common") # rope_table is of the plan alone


def blame(ours, reference):
    found = first(ours, edited(reference, "wrong", scaled("blk.1.ffn_up", 1.001)), "--model", MODEL)
    equal((found["name"], found["kind"], found["op"]), ("blk.1.ffn_up", "graph", "matmul"))
    equal(found["weights"], ["blk.1.ffn_up.weight"])
    found = first(edited(ours, "wrong", scaled("blk.1.k", 1.001)), reference, "--model", MODEL)
    equal((found["name"], found["kind"]), ("blk.1.k", "kernel"))
    base = ("--override-kv", "llama.rope.freq_base=f32:10500")
    found = first(dump("base", *base), reference, "--model", MODEL) # the file tells the override
    equal((found["name"], found["kind"], found["op"]), ("blk.0.q_rope", "graph", "rope"))
    # A reference of layer outputs only: the ops between them.
    few = dump("few", "--reference", "--kv", "f32", hooks="embed,blk.*.l_out,logits")
    found = first(dump("base", *base, hooks="embed,blk.*.l_out,logits"), few, "--model", MODEL)
    equal((found["name"], found["kind"]), ("blk.0.l_out", "graph"))
    expect("rope" in found["ops"] and "blk.0.attn_q.weight" in found["weights"], f"{found}")


def other_runs(reference):
    """However ours ran, it is run so again: nothing is blamed."""
    for name, options in (("f32", ("--kv", "f32")), ("scalar", ("--level", "scalar")),
                          ("unfused", ("--disable", "fuse-qkv@blk.1", "--disable", "fuse-attention")),
                          ("records", ("--activation", "l_out=a8x2")), ("small", ("--ubatch", 3))):
        equal(object_of("diff", dump(name, *options), reference, "--model", MODEL)["first"], None)
    error("diff", edited(reference, "odd", lambda h, b: h["__metadata__"].update(run="[1")), reference,
          "--model", MODEL, has=["odd", "metadata 'run'"])


def hostile_names(reference):
    """Names from files are shown escaped, in tables, lists and errors."""
    evil = "\x1b[31mred\n"

    def renamed(header, body):
        header[evil] = header.pop("blk.1.k")

    one = edited(reference, "evil", renamed)
    for arguments, code in ((("diff", one, reference, "--common"), 0), (("diff", one, one), 0),
                            (("diff", one, one, "--all"), 0), (("diff", one, reference), 2)):
        done = run(*arguments, code=code)
        shown = done.stdout + done.stderr
        expect(b"\x1b" not in shown and b"[31mred" in shown, f"{arguments}: {shown}")
    error("diff", edited(one, "evilnan", nan_in(evil)), edited(one, "evilnan2", nan_in(evil)),
          has=["holds NaN", "\\x1b[31m"])


def misfits(ours, reference):
    diff = ("diff", ours)
    error(*diff, dump("other", "--reference", ids=("--ids", "5,9,13,300")),
          has=["the tokens differ", "token 2 is 12", "13", "--ids"])
    error(*diff, dump("short", "--reference", ids=("--ids", "5,9,12")), has=["the tokens differ", "has 8", "has 3"])
    lacking = edited(reference, "lacking", without("blk.1.q_rope"))
    done = run(*diff, lacking, "--model", MODEL, code=2)
    expect(b"lacks 1 value" in done.stderr and b"blk.1.q_rope" in done.stderr, f"{done.stderr}")
    equal(run(*diff, lacking, "--model", MODEL, "--common").stderr, b"")
    error(*diff, edited(reference, "nan", nan_in("blk.1.k")), has=["blk.1.k", "holds NaN", "element 2"])
    error(*diff, edited(reference, "shape", lambda h, b: h["blk.1.k"].update(shape=[8, 128, 1])),
          has=["blk.1.k", "shape is [8,128,1]", "ours is [8,"])
    whole = open(reference, "rb").read()
    for name, bytes_ in (("cut", whole[:-100]), ("head", whole[:50]), ("empty", b""),
                         ("huge", struct.pack("<Q", 10**9) + whole[8:])):
        open(path(name), "wb").write(bytes_)
    error(*diff, path("cut"), has=["cut", "is it whole?"])
    error(*diff, path("head"), has=["head", "does not fit"])
    error(*diff, path("empty"), has=["is 0 bytes"])
    error(*diff, path("huge"), has=["1000000000", "is it a safetensors file?"])
    error(*diff, "/dev/null", has=["no regular file"])
    os.makedirs(f"{FOLDER}/empty")
    error(*diff, f"{FOLDER}/empty", has=["is a folder without .npy files"])
    error(*diff, path("none"), has=["could not open", "No such file"])
    error(*diff, MODEL, has=["is it a safetensors file?"])
    error(*diff, reference, "--ids", "1", has=["--ids needs --model"])
    last = dump("last", "--positions", "last")
    equal(object_of("diff", last, reference, "--model", MODEL)["rows"][0]["transforms"], ["last_row"])


def pictures(ours, reference):
    """--svg and --html beside --json; a name from a file stays text in both."""
    evil = "<script>alert(1)</script>"
    one = edited(reference, "script", lambda h, b: h.update({evil: h.pop("blk.1.k")}))
    svg, page = f"{FOLDER}/curve.svg", f"{FOLDER}/report.html"
    done = run("diff", one, edited(one, "changed", scaled(evil, 1.5)), "--svg", svg, "--html", page, "--json", code=1)
    equal(json.loads(done.stdout)["first"]["name"], evil)
    drawing, text = (open(name, encoding="utf-8").read() for name in (svg, page))
    names = [title.text for title in ElementTree.fromstring(drawing).iter("{http://www.w3.org/2000/svg}title")]
    expect(any(name.startswith(evil + ": accumulated ") for name in names), f"tooltips: {names}")
    expect("alert(1)" in text and "<script>alert" not in text and text.count("<script>") == 1, "the page's scripts")
    for part in ("is wrong first", drawing, f" --json --svg {svg} --html {page}</pre>", "<td class=\"name\">blk.1.q_rope</td>"):
        expect(part in text, f"the page lacks {part[:80]}")
    expect("://" not in text.replace("http://www.w3.org/2000/svg", ""), "the page refers to another")
    quiet("diff", ours, reference, "--model", MODEL, "--html", page)
    text = open(page, encoding="utf-8").read()
    expect("Nothing passes its floor" in text and "kernel error, isolated" in text, "the page of a good run")
    error("diff", ours, reference, "--svg", FOLDER, has=["is a folder"])
    for option, file in (("--svg", ours), ("--html", reference), ("--html", MODEL)):
        error("diff", ours, reference, "--model", MODEL, option, file, has=[option, "is read by this command"])
    error("diff", ours, reference, "--html", "", has=["--html: found no name"])
    error("diff", ours, reference, "--svg", page, "--html", page, has=["--svg and --html name the same file"])


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(FOLDER)
    ours, reference = dump("ours"), dump("reference", "--reference", "--kv", "f32")
    verdicts(ours, reference)
    blame(ours, reference)
    other_runs(reference)
    hostile_names(reference)
    pictures(ours, reference)
    misfits(ours, reference)
    print("diff: done")


main()
