"""Test programs of the parts that read files and run threads, built and run under a sanitizer.

    python3 tests/tools/sanitized.py KIND FOLDER PROGRAM[=CASES] ...

KIND is `address,undefined` or `thread`; FOLDER is the build folder, kept between runs; PROGRAM is a
test program's target, CASES the Catch2 filter of what runs of it (else everything, also what only
--full runs). Exit code 77: the sanitizers' runtime is not installed.

These programs link nothing of LLVM but its support library, which is not built with sanitizers and
need not be: libstdc++'s containers carry no annotations that code built without would break.
"""

import os
import pathlib
import subprocess
import sys

import tree

# One test replaces operator new; another means the bus error that it causes.
OPTIONS = {"ASAN_OPTIONS": "alloc_dealloc_mismatch=0:handle_sigbus=0",
           "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
           "TSAN_OPTIONS": "halt_on_error=1:handle_sigbus=0"}
FLAWED = """
#include <thread>
int shared, list[4];
int main(int n, char **) {
  std::thread other([] { ++shared; });
  ++shared;
  other.join();
  int i = 3 + n;
  return list[i];
}
"""


def quietly(command):
    done = subprocess.run(command, cwd=tree.ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"sanitized: {' '.join(map(str, command))} failed:\n"
                 f"{(done.stdout + done.stderr)[-4000:]}")


def notices(kind, folder):
    """Whether a program with a race and an access past its array dies; None: it cannot be linked."""
    folder.mkdir(parents=True, exist_ok=True)
    source, program = folder / "flawed.cpp", folder / "flawed"
    source.write_text(FLAWED)
    built = subprocess.run(["clang++-22", f"-fsanitize={kind}", "-pthread", "-g", str(source), "-o",
                            str(program)], capture_output=True)
    if built.returncode != 0:
        return None
    ran = subprocess.run([str(program)], env=os.environ | OPTIONS, capture_output=True)
    return ran.returncode != 0 and b"Sanitizer" in ran.stderr


def run(folder, program, cases):
    # Cases of timing check nothing, or not under a sanitizer. "," is "or", nothing between is "and".
    untimed = "~[.speed]~[speed]"
    spec = ",".join(untimed + case for case in cases.split(",")) if cases else f"{untimed},[.full]"
    command = [str(folder / "tests" / program), spec]
    done = subprocess.run(command, env=os.environ | OPTIONS, capture_output=True, text=True,
                          errors="replace")
    print(done.stdout[-4000:] + done.stderr[-8000:], flush=True)
    if done.returncode != 0:
        sys.exit(f"sanitized: {program} failed with exit code {done.returncode}")
    if "No tests ran" in done.stdout:
        sys.exit(f"sanitized: {program} has no test case {cases!r}")


def main():
    kind, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    found = notices(kind, folder)
    if found is None:
        print("skipped: no runtime of the sanitizers; install libclang-rt-22-dev")
        sys.exit(77)
    if not found:
        sys.exit(f"sanitized: self-test: the {kind} sanitizer did not notice a flaw")
    programs = dict((item.split("=", 1) + [""])[:2] for item in sys.argv[3:])
    quietly(["cmake", "--preset", "sanitize", "-B", str(folder), f"-DVETRO_SANITIZE={kind}"])
    quietly(["ninja", "-C", str(folder), *programs])
    for program, cases in programs.items():
        print(f"sanitized: {program} {cases} under {kind}", flush=True)
        run(folder, program, cases)
    print(f"sanitized: {len(programs)} programs, no finding")


if __name__ == "__main__":
    main()
