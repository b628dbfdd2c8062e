"""What the tiny model has learned, measured on texts that it has not seen.

    python3 evaluate.py vetro-tiny.gguf --vetro ../../build/bin/vetro
    python3 evaluate.py vetro-tiny.gguf --vetro ../../build/bin/vetro --loss --peer    needs requirements.txt

Facts: the greedy answer is the right one, to the letter. Stories: the greedy (and the sampled)
continuation of an opening is a whole story by `grammar.py`. Exit code 1 below the shares of LEAST.
"""

import argparse
import json
import subprocess
import sys
import tempfile

import grammar
import story
import world as w

HELD_OUT = "held out"
# What a file may not fall below; the README has what this one reaches.
LEAST = {"facts": 0.95, "sums": 0.75, "questions": 0.85, "lookups": 0.85, "repeats": 0.85,
         "stories": 0.85, "sampled stories": 0.7}


def world_facts():
    """(prompt, answer) of what is true in every text."""
    for a, b in w.OPPOSITES:
        yield f"The opposite of {a} is", f" {b}."
        yield f"Q: What is the opposite of {b}?\nA:", f" It is {a}."
    for country, city in w.CAPITALS.items():
        yield f"The capital of {country} is", f" {city}."
    for what, colour in w.COLOUR_OF.items():
        yield f"{what} is", f" {colour}."
    for cause, effect in w.CAUSES:
        yield f"When {cause},", f" {effect}."
    for i, day in enumerate(w.DAYS):
        yield f"After {day} comes", f" {w.DAYS[(i + 1) % 7]}."
    for n in range(1, 10):
        yield f"After {w.NUMBERS[n]} comes", f" {w.NUMBERS[n + 1]}."
    for question, answer in w.MODEL_FACTS:
        yield f"Q: {question}\nA:", f" {answer}"
    yield "Ciao, come", " stai"


def sums():
    for a in range(1, 10):
        for b in range(1, 11 - a):
            yield f"{w.NUMBERS[a].capitalize()} and {w.NUMBERS[b]} make", f" {w.NUMBERS[a + b]}."


def answers(kind, n):
    """The last question of texts that have one."""
    found = 0
    for text in story.texts(HELD_OUT, 20 * n, kind):
        if found < n and "\nA:" in text:
            found += 1
            prompt, answer = text.rsplit("\nA:", 1)
            yield prompt + "\nA:", answer


def secrets(n):
    for text in story.texts(HELD_OUT, 20 * n, "repeats"):
        if n > 0 and text.startswith("The secret"):
            n -= 1
            prompt, answer = text.rsplit(":", 1)
            yield prompt + ":", answer


def openings(n):
    """The first two to five sentences of stories: who, where, what, and when."""
    for i, text in enumerate(story.texts(HELD_OUT, n, "story")):
        yield " ".join(grammar.SENTENCES.split(text)[:2 + i % 4])


class Engine:
    """Runs `vetro run` on one file."""

    def __init__(self, program, path):
        self.program, self.path = program, path

    def __call__(self, prompt, n, *options):
        """The text that follows a prompt, at most `n` tokens."""
        return self.answer(prompt, n, *options)["text"]

    def answer(self, prompt, n, *options):
        """What `vetro run --json` prints."""
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(prompt)
            file.flush()
            command = [self.program, "run", self.path, "-f", file.name, "-n", str(n), "--json", *options]
            done = subprocess.run(command, capture_output=True, check=True)
        return json.loads(done.stdout)


def share_of_facts(run, pairs, shown):
    right = total = 0
    for prompt, answer in pairs:
        found = run(prompt, 32)
        right, total = right + found.startswith(answer), total + 1
        if shown and not found.startswith(answer):
            print(f"  {prompt!r}: {found!r}, expected {answer!r}")
    return right, total


def share_of_stories(run, n, shown, *options):
    right = 0
    for i, opening in enumerate(openings(n)):
        answer = run.answer(opening, 220, *options, "--seed", str(i))
        text = opening + answer["text"]
        if answer["stop"] != "eog":  # within a sentence
            text = text[:max(text.rfind(". "), text.rfind(".\n")) + 1]
        wrong = grammar.fault(text)
        right += wrong is None
        if shown and wrong is not None:
            print(f"  {text!r}\n    stops fitting at {wrong!r}")
    return right, n


def held_out_loss(path):
    """In PyTorch, on the weights as the file has them."""
    import network
    import train

    model = network.Network(network.Shape())
    train.read(path, model)
    tokenizer = train.train_vocabulary(network.Shape().n_vocab)
    return train.held_out_loss(model, tokenizer)


def peers_agree(run, path, n=20, length=60, tie=0.1):
    """How many greedy texts llama.cpp would say as well, but for choices that the texts leave open: each token
    is its best one, or less than `tie` behind in the logits. And how many are the same to the letter."""
    import llama_cpp

    peer = llama_cpp.Llama(path, n_ctx=256, verbose=False, n_threads=2, logits_all=True)
    agree = same = 0
    for opening in openings(n):
        prompt = peer.tokenize(opening.encode(), add_bos=True)
        ids = run.answer(opening, length)["ids"]
        peer.reset()
        peer.eval(prompt + ids)
        behind = [row.max() - row[id] for row, id in zip(peer.scores[len(prompt) - 1:], ids)]
        agree, same = agree + (max(behind) < tie), same + (max(behind) == 0)
    return agree, same, n


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("path")
    parser.add_argument("--vetro", required=True, help="the program")
    parser.add_argument("-n", type=int, default=200, help="texts of each kind")
    parser.add_argument("--loss", action="store_true")
    parser.add_argument("--peer", action="store_true", help="compare with llama.cpp")
    parser.add_argument("--show", action="store_true", help="print what is wrong")
    options = parser.parse_args()
    run, n, failed = Engine(options.vetro, options.path), options.n, []
    pairs = {"facts": world_facts(), "sums": sums(), "questions": answers("story", n),
             "lookups": answers("lookups", n), "repeats": secrets(n // 4)}
    shares = {what: share_of_facts(run, list(some), options.show) for what, some in pairs.items()}
    shares["stories"] = share_of_stories(run, n, options.show)
    shares["sampled stories"] = share_of_stories(run, n, options.show, "--temp", "0.8")
    for what, (right, total) in shares.items():
        print(f"{what}: {right} of {total}")
        if right < LEAST[what] * total:
            failed.append(what)
    if options.loss:
        print(f"held-out loss: {held_out_loss(options.path):.4f}")
    if options.peer:
        print("llama.cpp agrees but for ties: {}, to the letter {} of {}".format(*peers_agree(run, options.path)))
    sys.exit(f"too few are right: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
