"""vetro run: the forms of prompts, the JSON object, stops, sampling."""

import sys
import tempfile

from check import equal, error, expect, object_of, quiet

MODEL = sys.argv[2]
PROMPT = "The capital of France is"


def the_object():
    whole = object_of("run", MODEL, "-p", PROMPT, "-n", 8)
    equal(list(whole), ["prompt_ids", "ids", "text", "stop", "timings"])
    equal(len(whole["prompt_ids"]), 5)
    equal(len(whole["ids"]), 8)
    equal(whole["stop"], "length")
    expect(whole["text"].startswith(" Paris"), f"unlikely text {whole['text']!r}")
    expect(whole["timings"]["prompt_ms"] > 0, "no time passed")
    return whole


def prompts_agree(whole):
    """Text, file and ids are one prompt; threads and micro-batches change no bit."""
    ids = ",".join(map(str, whole["prompt_ids"]))
    with tempfile.NamedTemporaryFile() as file:
        file.write(PROMPT.encode())
        file.flush()
        equal(object_of("run", MODEL, "-f", file.name, "-n", 8)["ids"], whole["ids"])
    other = object_of("run", MODEL, "--ids", ids, "-n", 8, "--threads", 2, "--ubatch", 2)
    equal(other["ids"], whole["ids"])
    equal(other["prompt_ids"], whole["prompt_ids"])
    equal(quiet("run", MODEL, "-p", PROMPT, "-n", 8).decode(), whole["text"] + "\n")


def file_bytes_are_kept():
    """A trailing newline and bytes that are no UTF-8 are part of the prompt."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"a\xc3\r\n\x00\n")
        file.flush()
        found = object_of("run", MODEL, "-f", file.name, "-n", 0)
    equal((found["ids"], found["text"], found["stop"]), ([], "", "length"))
    ids = ",".join(map(str, found["prompt_ids"]))
    equal(quiet("detokenize", MODEL, "--ids", ids), b"a\xc3\r\n\x00\n")


def stops():
    equal(object_of("run", MODEL, "-p", PROMPT, "-c", 8, "-n", 50)["stop"], "context")
    # A bias makes the end of generation the best token.
    ended = object_of("run", MODEL, "-p", PROMPT, "--logit-bias", "2:+100", "-n", 5)
    equal((ended["ids"], ended["text"], ended["stop"]), ([2], "", "eog"))
    on = object_of("run", MODEL, "-p", PROMPT, "--logit-bias", "2:+100", "-n", 5, "--ignore-eos")
    equal((on["ids"], on["text"], on["stop"]), ([2] * 5, "", "length"))
    equal(object_of("run", MODEL, "-p", PROMPT, "-n", 2, "--logit-bias", "7042:-inf")["ids"][0] == 7042,
          False)


def no_utf8():
    """A byte token alone is no character: U+FFFD in JSON, the byte itself as text."""
    ids = object_of("tokenize", MODEL, "--no-add-special", stdin=b"\xc3")["ids"]
    equal(len(ids), 1)
    forced = ("run", MODEL, "-p", PROMPT, "-n", 1, "--logit-bias", f"{ids[0]}:+100")
    equal(object_of(*forced)["text"], "\ufffd")
    equal(quiet(*forced), b"\xc3\n")


def sampling():
    def sampled(seed):
        return object_of("run", MODEL, "-p", PROMPT, "-n", 8, "--temp", 1.5, "--seed", seed)["ids"]
    equal(sampled(7), sampled(7))
    expect(len({tuple(sampled(seed)) for seed in (1, 2, 3)}) > 1, "seeds change nothing")
    equal(object_of("run", MODEL, "-p", PROMPT, "-n", 4, "--temp", 2, "--top-k", 1)["ids"],
          object_of("run", MODEL, "-p", PROMPT, "-n", 4)["ids"])


def special_text():
    plain = object_of("run", MODEL, "-p", "<|im_end|>", "-n", 0)["prompt_ids"]
    expect(len(plain) > 1, "special text was parsed")
    equal(object_of("run", MODEL, "-p", "<|im_end|>", "-n", 0, "--parse-special")["prompt_ids"], [2])


def errors():
    error("run", MODEL, has=["exactly one", "-p"])
    error("run", MODEL, "-p", "a", "--ids", "1", has=["found 2 prompts"])
    error("run", MODEL, "-p", "", has=["no tokens"])
    error("run", MODEL, "--ids", "", has=["no tokens"])
    error("run", MODEL, "--ids", "1,x", has=["item 2", '"x"'])
    error("run", MODEL, "--ids", "1,-5", has=["item 2", "-5"])
    error("run", MODEL, "--ids", "49152", has=["49152", "0 to 49151"])
    error("run", MODEL, "-f", "/no/such\n\x1bfile", has=["\\n", "could not read"])
    error("run", MODEL, "-p", "a b c d e f", "-c", 2, has=["context", "-c"])
    error("run", MODEL, "-p", "a", "--temp", -1, has=["temp", "-1"])
    error("run", MODEL, "-p", "a", "--logit-bias", "x", has=["--logit-bias", "ID:+X"])
    error("run", MODEL, "-p", "a", "--logit-bias", "99999:+1", has=["99999"])


prompts_agree(the_object())
for test in (file_bytes_are_kept, stops, no_utf8, sampling, special_text, errors):
    test()
print("run: done")
