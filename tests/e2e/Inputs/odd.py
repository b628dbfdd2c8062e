"""Command lines that people type by mistake, files that are none, outputs that cannot be written."""

import os
import pty
import shutil
import stat
import subprocess
import sys

from check import VETRO, equal, error, expect, object_of, quiet

MODEL, FOLDER = sys.argv[2:4]
RUN = ("run", MODEL, "-n", 1, "--ignore-eos")
DUMP = ("dump", MODEL, "-p", "the children", "--hooks")


def new_folder():
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(f"{FOLDER}/folder")
    open(f"{FOLDER}/empty", "wb").close()


def numbers():
    for option, value in (("--seed", "-1"), ("--seed", "9" * 20), ("--top-k", "-3"), ("-n", "-2"),
                          ("-n", "1e3"), ("--threads", "0"), ("--threads", ""), ("--ubatch", "0"),
                          ("-c", "-1"), ("--repeat-last-n", "x")):
        error(*RUN, "-p", "x", option, value, has=["expected a whole number from", "vetro run --help"])
    for option, value, low in (("--temp", "nan", "0"), ("--temp", "-1", "0"), ("--top-p", "2", "0"),
                               ("--repeat-penalty", "0", "0.001")):
        error(*RUN, "-p", "x", option, value, has=[option[2:], f"a number from {low} to"])
    error("passes", MODEL, "--layer", "-1", has=["--layer", "found -1", "from 0 to"])
    error("passes", MODEL, "--layer", "99", has=["0 to 1", "99"])
    error("inspect", MODEL, "-c", "-5", has=["--ctx", "found -5"])
    error("graph", MODEL, "--deadline", "-1", "-o", "x.svg", has=["--deadline", "found -1"])
    error("bench", MODEL, "--prompt", 0, "--gen", 0, has=["--prompt", "--gen"])
    equal(len(object_of(*RUN, "-p", "x", "--seed", 2**64 - 1)["ids"]), 1)
    for odd in (("--ubatch", 1), ("--ubatch", 1 << 20), ("-c", 10**9)):
        equal(len(object_of(*RUN, "-p", "x", *odd)["ids"]), 1)


def prompts():
    error(*RUN, has=["0 prompts", "-p TEXT"])
    error(*RUN, "-p", "x", "--ids", "1", has=["2 prompts"])
    error(*RUN, "-f", f"{FOLDER}/folder", has=["folder", "directory"])
    error(*RUN, "-f", f"{FOLDER}/none", has=["none", "No such file"])
    for ids in ("1 2", "1,,2", "1,", "a", "-1", "512", "9" * 20):
        error(*RUN, "--ids", ids, has=["--ids", "item", "expected"])
    equal(object_of(*RUN, "--ids", " [1, 2 ,3] ")["prompt_ids"], [1, 2, 3])
    error(*RUN, "-p", "the children " * 20, "-c", 10, has=["context of 10", "-c"])
    equal(quiet("tokenize", MODEL, "-p", "the"), quiet("tokenize", MODEL, stdin=b"the"))
    error("tokenize", MODEL, "-p", "a", "-f", "b", has=["2 prompts"])


def models():
    error("run", f"{FOLDER}/folder", "-p", "x", has=["is a folder", "name a file"])
    error("run", f"{FOLDER}/empty", "-p", "x", has=["0 bytes", "get it again"])
    error("run", f"{FOLDER}/none", "-p", "x", has=["No such file", "check the path"])
    error("run", "/dev/null", "-p", "x", has=["no regular file"])
    error("run", __file__, "-p", "x", has=["not a GGUF file", "convert"])
    error(*RUN, "-p", "x", "--disable", "fuse-none", has=["fuse-none", "fuse-qkv"])
    error(*RUN, "-p", "x", "--disable", "fuse-qkv@blk.99", "--cache-dir", "", has=["blk.99", "vetro graph"])
    equal(len(object_of(*RUN, "-p", "x", "--disable", "fuse-qkv@blk.1")["ids"]), 1)


def hooks():
    for text in ("none", "", "logits,none"):
        error(*DUMP, text, "-o", f"{FOLDER}/x", has=["--hooks", "docs/tensor-names.md"])
    error(*DUMP, "logits,none", "--reference", "-o", f"{FOLDER}/x", has=['"none"'])
    error(*DUMP, "[", "-o", f"{FOLDER}/x", has=["'['", "blk.*.l_out"])
    expect(not os.path.exists(f"{FOLDER}/x"), "a file was written")
    found = object_of(*DUMP, "logits,blk.1.l_out", "--positions", "last", "-o", f"{FOLDER}/x")
    equal([(t["name"], t["shape"][0], t["label"]) for t in found["tensors"]],
          [("blk.1.l_out", 1, "ran"), ("logits", 1, "ran")])


def outputs():
    """-o: asked for before the work; never takes the place of a pipe or device."""
    os.mkfifo(f"{FOLDER}/pipe.svg")
    writers = ((*DUMP, "logits"), ("make-tiny", "--arch", "llama", "--type", "Q8_0"), ("graph", MODEL))
    for command in writers:
        error(*command, "-o", "", has=["-o", "no name"])
        error(*command, "-o", f"{FOLDER}/folder", has=["folder", "is a folder"])
        error(*command, "-o", f"{FOLDER}/none/x.svg", has=["none/x.svg", "mkdir -p"])
        error(*command, "-o", f"{FOLDER}/pipe.svg", has=["pipe.svg", "no regular file"])
    os.symlink(os.path.abspath(MODEL), f"{FOLDER}/same.svg")
    for command in ((*DUMP, "logits"), ("graph", MODEL)):  # the model is not overwritten
        for path in (MODEL, f"{FOLDER}/same.svg"):
            error(*command, "-o", path, has=["is read by this command"])
    os.remove(f"{FOLDER}/same.svg")
    expect(stat.S_ISFIFO(os.stat(f"{FOLDER}/pipe.svg").st_mode), "the pipe was replaced")
    error("graph", MODEL, "-o", f"{FOLDER}/x.png", has=[".dot", ".svg"])
    error("graph", MODEL, "-o", "-", "--json", has=["--json", "-o"])
    for name, layout in (("a.svg", "dot"), ("a.dot", "none")):
        equal(object_of("graph", MODEL, "-o", f"{FOLDER}/{name}")["layout"], layout)
        expect(os.path.getsize(f"{FOLDER}/{name}") > 1000, f"{name} is empty")
    equal(sorted(os.listdir(FOLDER)), ["a.dot", "a.svg", "empty", "folder", "pipe.svg", "x"])


def full_disk():
    """A file that may not grow ends the command with one line and leaves nothing."""
    limits = "trap '' XFSZ; ulimit -f 8; exec \"$@\""  # 8 kB
    for command in ((*DUMP, "*", "-o", f"{FOLDER}/big"), ("graph", MODEL, "--layer", "all", "-o", f"{FOLDER}/big.dot"),
                    ("make-tiny", "--arch", "llama", "--type", "F32", "-o", f"{FOLDER}/big.gguf")):
        done = subprocess.run(["bash", "-c", limits, "bash", VETRO, *map(str, command)], capture_output=True)
        equal((done.returncode, done.stdout, done.stderr.count(b"\n")), (2, b"", 1))
        expect(b"big" in done.stderr and b"File too large" in done.stderr, str(done.stderr))
    equal([name for name in os.listdir(FOLDER) if "big" in name], [])


def closed_streams():
    """A closed stdin is not the model that is opened next."""
    for streams, words in (("<&-", b"stdin"), (">&-", b"could not write")):
        done = subprocess.run(["bash", "-c", f'"$@" {streams}', "bash", VETRO, "tokenize", MODEL,
                               *(["-p", "the"] if ">" in streams else [])], capture_output=True)
        equal((done.returncode, done.stdout), (2, b""))
        expect(words in done.stderr, str(done.stderr))


def folders_of_plans():
    """Where no plan can be kept, the model runs all the same."""
    ids = object_of(*RUN, "-p", "the")["ids"]
    bare = {"PATH": os.environ["PATH"]}
    for more in (["--cache-dir", f"{FOLDER}/empty"], []):
        done = subprocess.run([VETRO, *map(str, RUN), "-p", "the", "--json", *more], env=bare,
                              capture_output=True)
        expect(done.returncode == 0 and str(ids).replace(" ", "").encode() in done.stdout, str(done))


def on_terminal(*command):
    """(stdout, what a terminal on stderr shows) of a successful run."""
    terminal, end = pty.openpty()
    process = subprocess.Popen([VETRO, *map(str, command)], stdout=subprocess.PIPE, stderr=end)
    os.close(end)
    shown = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    output = process.stdout.read()
    equal(process.wait(), 0)
    return output, shown


def progress():
    """Bars are on the terminal only, and gone at the end; results are the same bytes."""
    run = (*RUN, "-p", "the children", "--ubatch", 1)
    dump = (*DUMP, "logits", "--ubatch", 1, "-o", f"{FOLDER}/p")
    for command, more, stages in ((run, ("--cache-dir", ""), (b"compiling", b"repacking weights")),
                                  (dump, (), (b"repacking weights",))):
        output, shown = on_terminal(*command, *more)
        for stage in (*stages, b"reading the prompt"):
            expect(b"% " + stage in shown, f"no {stage} in {shown}")
        expect(b"#" not in shown.split(b"\x1b[K")[-1], f"a bar is left: {shown[-200:]}")
        equal(output, quiet(*command))
    os.remove(f"{FOLDER}/p")


new_folder()
for test in (progress, numbers, prompts, models, hooks, outputs, full_disk, closed_streams, folders_of_plans):
    test()
print("odd: done")
