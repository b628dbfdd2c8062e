"""A lab from outside, as a student meets it: started, checked, hinted, solved, and each answer made wrong.

    python3 check_lab.py VETRO LAB FOLDER [COMMAND ...]

LAB is its folder in the tree; in a copy of it under FOLDER its solution/ is handed in, COMMAND run (VETRO
stands for the program), and `vetro lab check` asked.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

VETRO, SOURCE, FOLDER = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
COMMAND = [VETRO if word == "VETRO" else word for word in sys.argv[4:]]
LAB = json.loads((SOURCE / "lab.json").read_text("utf-8"))
NUMBER = SOURCE.name.rstrip("abcdefghijklmnopqrstuvwxyz-")
WORK = FOLDER / SOURCE.name  # what `start` makes
ANSWERS = WORK / "answers.txt"
# Plans compiled for one lab serve the others too.
ENVIRONMENT = {**os.environ, "XDG_CACHE_HOME": str(FOLDER.resolve().parent / "cache")}


def expect(condition, *what):
    if not condition:
        sys.exit(f"lab {NUMBER}: {' '.join(map(str, what))}")


def vetro(*args, code=0, folder=FOLDER):
    """stdout of `vetro lab ...` in a folder; of an error its line."""
    done = subprocess.run([VETRO, "lab", *args], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True)
    expect(done.returncode == code, args, "exit code", done.returncode, done.stdout, done.stderr)
    if code == 2:
        expect(done.stderr.startswith("vetro: ") and done.stderr.count("\n") == 1, args, done.stderr)
        return done.stderr
    expect(not done.stderr, args, done.stderr)
    return done.stdout


def check(code):
    """{exercise: (status, text)}"""
    json_text = vetro("check", NUMBER, "--json", code=code)
    return {e["id"]: (e["status"], e["text"]) for e in json.loads(json_text)["exercises"]}


def not_right():
    """Exercises that are not right, with their status."""
    return {name: status for name, (status, _) in check(1).items() if status != "right"}


def started():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    expect(SOURCE.name in vetro("check", NUMBER, code=2), "a folder that is missing is named")
    expect("not started" in vetro("list"), "list tells what was not started")
    text = vetro("start", NUMBER, "--seed", "3")
    expect(f"vetro lab check {NUMBER}" in text, "start tells what comes next:", text)
    given = {f.relative_to(SOURCE / "starter") for f in (SOURCE / "starter").rglob("*") if f.is_file()}
    for file in given:
        expect((WORK / file).read_bytes() == (SOURCE / "starter" / file).read_bytes(), file, "differs")
    expect(not (WORK / "solution").exists() and (WORK / "README.md").exists(), "what start writes")
    before = ANSWERS.read_bytes()
    expect("is there already" in vetro("start", NUMBER, code=2), "a folder is not overwritten")
    expect(ANSWERS.read_bytes() == before, "a refused start changes nothing")
    expect(set(not_right().values()) == {"not answered yet"}, "a fresh lab is not answered:", not_right())


def hints():
    first = LAB["exercises"][0]
    text = vetro("hint", NUMBER, folder=WORK)
    expect(text == f"{first['id']}: {first['question']}\nhint 1 of {len(first['hints'])}: {first['hints'][0]}\n", text)
    for exercise in LAB["exercises"]:
        given = 1 if exercise is first else 0
        for i, hint in enumerate(exercise["hints"][given:], 1 + given):
            found = json.loads(vetro("hint", NUMBER, exercise["id"], "--json"))
            expect((found["number"], found["hint"]) == (i, hint), exercise["id"], found)
        expect(json.loads(vetro("hint", NUMBER, exercise["id"], "--json", code=1))["hint"] is None,
               "hints end")
    expect("has no exercise" in vetro("hint", NUMBER, "nothing", code=2), "an unknown exercise")


def solved():
    for file in (SOURCE / "solution").iterdir():
        shutil.copy(file, WORK / file.name)
    if COMMAND:
        done = subprocess.run(COMMAND, cwd=WORK, env=ENVIRONMENT, capture_output=True, text=True)
        expect(done.returncode == 0, COMMAND, done.stdout, done.stderr)
    states = check(0)
    expect({status for status, _ in states.values()} == {"right"}, states)
    expect(vetro("check", NUMBER, folder=WORK) == vetro("check", NUMBER, f"{SOURCE.name}/../{SOURCE.name}"),
           "check finds the folder that it is in, and the one that is named")
    count = len(states)
    expect(f"{count} of {count} right" in vetro("list"), "list tells what is done")
    expect("all was right" in vetro("hint", NUMBER, code=2), "no hint is needed")


def wrong_answer(exercise, answer):
    """Another answer of the same form."""
    words = answer.translate(str.maketrans("[](),", "     ")).split()
    if exercise["kind"] == "words":
        return " ".join([*words[:-1], words[-1] + "x"])
    return " ".join([str(float(words[0]) * 1.5 + 1), *words[1:]])


def wrong_file(exercise, text):
    if exercise["kind"] == "program":  # one that runs
        return text.replace("return %c", "%d = vetro.add %c, %c : (tensor<3x4xf32>, tensor<3x4xf32>) -> "
                                         "tensor<3x4xf32>\n  return %d")
    first, *rest = text.split()
    return "\n".join([str(float(first) + 1), *rest])


def made_wrong(exercise):
    """The file of an answer, and its text with that answer wrong."""
    if "file" in exercise:
        path = WORK / exercise["file"]
        return path, wrong_file(exercise, path.read_text("utf-8"))
    lines = ANSWERS.read_text("utf-8").splitlines()
    for i, line in enumerate(lines):
        name, _, answer = line.split("#")[0].partition("=")
        if name.strip() == exercise["id"]:
            lines[i] = f"{name}= {wrong_answer(exercise, answer)}"
    return ANSWERS, "\n".join(lines) + "\n"


def with_text(path, text, look):
    """What look() finds while a file has another text; None: while it is gone."""
    before = path.read_bytes()
    if text is None:
        path.unlink()
    else:
        path.write_text(text, "utf-8")
    found = look()
    path.write_bytes(before)
    return found


def one_wrong():
    for exercise in LAB["exercises"]:
        path, text = made_wrong(exercise)
        found = with_text(path, text, not_right)
        expect(found == {exercise["id"]: "wrong"}, "made wrong:", exercise["id"], "found:", found)
    for file in {e["file"] for e in LAB["exercises"] if "file" in e}:
        waiting = {e["id"]: "not answered yet" for e in LAB["exercises"] if e.get("file") == file}
        for text in (None, ""):
            expect(with_text(WORK / file, text, not_right) == waiting, file, "is", text)
        garbled = {name: "wrong" for name in waiting}
        expect(with_text(WORK / file, "{nonsense", not_right) == garbled, file, "is nonsense")


def damaged():
    """Files that no student should have, and one line about each."""
    def refused():
        return vetro("check", NUMBER, code=2)
    answered = {e["id"] for e in LAB["exercises"] if "file" not in e}
    expect(with_text(ANSWERS, "", not_right).keys() == answered, "an empty answers.txt")
    for text, has in ((None, "is missing"), ("{\"a\": 1}", "answers.txt:1: expected NAME = ANSWER"),
                      ("\nnothing = 1", "answers.txt:2: the lab has no answer named nothing"),
                      (f"{min(answered)} = 1\n" * 2, "is answered twice")):
        line = with_text(ANSWERS, text, refused)
        expect(has in line, text, line)
    state = WORK / ".lab.json"
    for text, has in ((None, "no lab was started"), ("{", "is damaged"), ("{}", "is damaged"),
                      (state.read_text("utf-8").replace(SOURCE.name, "other"), "is of lab other")):
        line = with_text(state, text, refused)
        expect(has in line, text, line)
        expect(has in with_text(state, text, lambda: vetro("list")), "list goes on, and tells that", has)
    expect("there is none" in vetro("check", "99", code=2), "an unknown lab")
    expect("which lab" in vetro("hint", code=2) and "takes no lab" in vetro("list", NUMBER, code=2), "usage")


def refused_start():
    """A folder that cannot be made is not left behind."""
    (FOLDER / "file").write_text("", "utf-8")
    expect("file" in vetro("start", NUMBER, "file/in", code=2), "a file is no folder")
    expect(json.loads(vetro("start", NUMBER, "other", "--json"))["folder"] == "other", "another folder")
    expect(set(status for status, _ in check(0).values()) == {"right"}, "labs do not disturb each other")


started()
hints()
solved()
one_wrong()
damaged()
refused_start()
print(f"lab {NUMBER}: {len(LAB['exercises'])} exercises")
