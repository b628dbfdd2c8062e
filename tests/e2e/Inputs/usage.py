"""Wrong command lines are one line with exit code 2; output that cannot be written is an error."""

import os
import shutil
import subprocess
import sys

from check import VETRO, equal, error, expect, quiet

error(has=["expected a subcommand", "run", "tokenize"])
error("rnu", has=['"rnu"', "run"])
error("tokenise", has=["did you mean tokenize?"])
error("--verison", has=["--version"])
error("help", has=["did you mean --help?"])
error("run", has=["MODEL is required", "vetro run --help"])
error("run", "--tmp", "0", "m.gguf", "-p", "x", has=['"--tmp"', "did you mean --temp?"])
error("run", "m.gguf", "-p", "x", "--temp", "warm", has=["--temp", "warm"])
error("run", "m.gguf", "-p", "x", "--kv", "q9", has=["--kv", "f16"])
error("run", "m.gguf", "other.gguf", "-p", "x", has=["other.gguf"])
error("run", "/no/such.gguf", "-p", "x", has=["/no/such.gguf", "No such file"])
error("completion", "tcsh", has=["tcsh", "bash"])

expect(quiet("--version").startswith(b"vetro "), "no version")
expect(b"Exit codes" in quiet("--help"), "exit codes are not in the help")
for name in ("run", "tokenize", "detokenize", "dump", "bench", "inspect", "graph", "passes", "make-tiny",
             "completion"):
    expect(b"Example" in quiet(name, "--help"), f"vetro {name} --help has no examples")

bash = quiet("completion", "bash")
equal(subprocess.run(["bash", "-n"], input=bash).returncode, 0)
script = bash.decode() + 'COMP_WORDS=(vetro run --te); COMP_CWORD=2; _vetro; echo "${COMPREPLY[@]}"\n'
script += 'COMP_WORDS=(vetro run --kv ""); COMP_CWORD=3; _vetro; echo "${COMPREPLY[@]}"\n'
script += 'COMP_WORDS=(vetro to); COMP_CWORD=1; _vetro; echo "${COMPREPLY[@]}"\n'
script += 'COMP_WORDS=(vetro lab ""); COMP_CWORD=2; _vetro; echo "${COMPREPLY[@]}"\n'
done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
equal(done.stdout.split("\n")[0:4], ["--temp", "f16 f32", "tokenize", "list start check hint"])
expect(b"_arguments" in quiet("completion", "zsh"), "zsh")
expect(b"complete -c vetro" in quiet("completion", "fish"), "fish")
for shell in ("zsh", "fish"):
    if shutil.which(shell):
        equal(subprocess.run([shell, "-n", "/dev/stdin"], input=quiet("completion", shell)).returncode, 0)

if os.path.exists("/dev/full"):
    with open("/dev/full", "wb") as full:
        for command in (["completion", "bash"], ["run", "--help"], ["--version"]):
            done = subprocess.run([VETRO, *command], stdout=full, stderr=subprocess.PIPE)
            equal(done.returncode, 2)
            expect(b"could not write" in done.stderr, str(done.stderr))
print("usage: done")
