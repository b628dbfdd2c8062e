"""vetro tokenize and detokenize on files that hold only a vocabulary."""

import sys

from check import equal, error, expect, object_of, quiet

VOCAB = sys.argv[2]
BPE, SPM = f"{VOCAB}/ggml-vocab-gpt-2.gguf", f"{VOCAB}/ggml-vocab-llama-spm.gguf"
TEXTS = [b"Hello world", b"  two  spaces\n\n\ttab\r\n", "Gr\u00fc\u00dfe \U0001f600 \u4f60\u597d".encode(),
         b"no utf-8: \x00 \xff", b"", b"1234567890" * 100]


def round_trips(model):
    for text in TEXTS:
        found = object_of("tokenize", model, "--no-add-special", stdin=text)
        equal(list(found), ["ids", "pieces"])
        equal(len(found["ids"]), len(found["pieces"]))
        ids = ",".join(map(str, found["ids"]))
        equal(quiet("detokenize", model, "--ids", ids), text)
        equal(quiet("detokenize", model, "--ids", "-", stdin=ids.encode()), text)


def pieces_are_the_vocabularys():
    equal(object_of("tokenize", BPE, stdin=b"Hello world")["pieces"], ["Hello", "\u0120world"])
    found = object_of("tokenize", SPM, stdin=b"Hello world")
    equal(found["ids"][0], 1)
    equal(found["pieces"], ["<s>", "\u2581Hello", "\u2581world"])
    equal(object_of("tokenize", SPM, "--no-add-special", stdin=b"Hello world")["ids"], found["ids"][1:])
    equal(quiet("detokenize", SPM, "--ids", ",".join(map(str, found["ids"]))), b"Hello world")


def special():
    plain = object_of("tokenize", SPM, "--no-add-special", stdin=b"</s>")["ids"]
    equal(object_of("tokenize", SPM, "--no-add-special", "--parse-special", stdin=b"</s>")["ids"], [2])
    expect(2 not in plain, f"special text was parsed: {plain}")
    equal(quiet("detokenize", SPM, "--ids", "2"), b"")
    equal(quiet("detokenize", SPM, "--ids", "2", "--special"), b"</s>")


def explains():
    found = object_of("tokenize", BPE, "--explain", stdin=b"Hello world")
    words = found["explain"]["words"]
    equal([word["text"] for word in words], ["Hello", " world"])
    equal(sum((word["ids"] for word in words), []), found["ids"])
    equal(words[1]["merges"][-1]["result"], "\u0120world")
    for word in words:
        expect(all("rank" in merge for merge in word["merges"]), "a merge without its rank")
    text = quiet("tokenize", BPE, "--explain", stdin=b"Hello world").decode()
    for part in ("2 words", '"Hello"', "rank", '15496  "Hello"  48 65 6c 6c 6f'):
        expect(part in text, f"{part!r} is missing in {text!r}")
    merges = object_of("tokenize", SPM, "--explain", stdin=b"Hello")["explain"]["words"][0]["merges"]
    expect(merges and all("score" in merge for merge in merges), "a merge without its score")


def errors():
    error("detokenize", BPE, "--ids", "50257", has=["50257", "0 to 50256"])
    error("detokenize", BPE, "--ids", "1;2", has=["item 1"])
    error("detokenize", BPE, has=["--ids"])
    error("tokenize", f"{VOCAB}/no-such.gguf", has=["no-such.gguf", "No such file"])


for model in (BPE, SPM):
    round_trips(model)
for test in (pieces_are_the_vocabularys, special, explains, errors):
    test()
print("tokenize: done")
