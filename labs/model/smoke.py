"""The training in small: a minute of steps, the loss falls, the file is quantised and speaks.

    smoke.py VETRO FOLDER     exit code 77 where PyTorch is missing in .venv
"""

import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = HERE.parents[1] / ".venv/bin/python"


def output(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout


def main():
    vetro, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    needs = [PYTHON, "-c", "import torch, tokenizers, gguf"]
    if not PYTHON.exists() or subprocess.run(needs, capture_output=True).returncode != 0:
        print("skipped: training the tiny model: .venv lacks what labs/model/requirements.txt names")
        sys.exit(77)
    folder.mkdir(parents=True, exist_ok=True)
    text = output(PYTHON, HERE / "train.py", "-o", folder / "f32.gguf", "--lessons", 1, "--steps", 30,
                  "--every", 10, "--batch", 4, "--texts", 1000)
    losses = [float(loss) for loss in re.findall(r"loss (\d+\.\d+)", text)]
    if len(losses) != 4 or not losses[0] > losses[1] > losses[2] or losses[3] > 6:
        sys.exit(f"smoke: the loss does not fall:\n{text}")
    output(vetro, "quantize", folder / "f32.gguf", "--type", "Q4_K_M", "-o", folder / "q4.gguf")
    if not output(vetro, "run", folder / "q4.gguf", "-p", "Once", "-n", 8, "--ignore-eos").strip():
        sys.exit("smoke: the model says nothing")
    print(f"smoke: losses {losses}")


if __name__ == "__main__":
    main()
