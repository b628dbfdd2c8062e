"""vetro perplexity from outside: every figure once more from dumped logits, in plain Python."""

import json
import math
import os
import random
import shutil
import struct
import sys

from check import equal, error, expect, object_of, quiet

MODEL, OTHER, GEMMA, FOLDER = sys.argv[2:6]
CTX = 16
TEXT = [random.Random(7).randrange(3, 400) for _ in range(3 * CTX + 5)]


def path(name):
    return f"{FOLDER}/{name}"


def ids(tokens):
    return ("--ids", ",".join(map(str, tokens)))


def close(found, expected, tolerance=1e-9):
    expect(abs(found - expected) <= tolerance * max(1, abs(expected)),
           f"found {found}, expected {expected}")


def dumped_logits(model, tokens):
    """Rows of logits of a prompt, as the dump's F32."""
    quiet("dump", model, *ids(tokens), "--hooks", "logits", "-o", path("dump"))
    data = open(path("dump"), "rb").read()
    length = struct.unpack("<Q", data[:8])[0]
    rows, width = json.loads(data[8:8 + length])["logits"]["shape"]
    return [struct.unpack_from(f"<{width}f", data, 8 + length + 4 * width * row) for row in range(rows)]


def chunk_rows(model, text, begin, first, bos=1):
    """(logits, next token) of each position of a chunk that counts; BOS is its first token."""
    chunk = text[begin:begin + CTX]
    run = [chunk[0] if bos is None else bos, *chunk[1:]]
    rows = dumped_logits(model, run)
    return [(rows[i], chunk[i + 1]) for i in range(first, CTX - 1)]


def log_sum_exp(row):
    most = max(row)
    return most + math.log(math.fsum(math.exp(x - most) for x in row))


def mean_and_error(values):
    mean = math.fsum(values) / len(values)
    return mean, math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1) / len(values))


def check_perplexity(found, rows):
    mean, deviation = mean_and_error([log_sum_exp(row) - row[token] for row, token in rows])
    equal(found["predicted"], len(rows))
    close(found["nll"], mean)
    close(found["nll_error"], deviation, 1e-6)
    close(found["ppl"], math.exp(mean))
    close(found["ppl_error"], math.exp(mean) * deviation, 1e-6)
    equal(found["running"][-1], found["ppl"])


def chunks():
    rows = [row for i in range(3) for row in chunk_rows(MODEL, TEXT, i * CTX, CTX // 2)]
    found = object_of("perplexity", MODEL, *ids(TEXT), "-c", CTX)
    equal((found["ctx"], found["chunks"], len(found["running"])), (CTX, 3, 3))
    check_perplexity(found, rows)
    for other in (("--threads", 2), ("--ubatch", 3), ("--threads", 2, "--ubatch", 7)):
        equal(object_of("perplexity", MODEL, *ids(TEXT), "-c", CTX, *other), found)
    equal(object_of("perplexity", MODEL, *ids(TEXT), "-c", CTX, "--chunks", 2)["running"],
          found["running"][:2])
    text = quiet("perplexity", MODEL, *ids(TEXT), "-c", CTX).decode()
    equal(text, f"PPL = {found['ppl']:.4f} ± {found['ppl_error']:.4f}; 21 tokens predicted in 3 chunks of 16\n")
    close(object_of("perplexity", MODEL, *ids(TEXT), "-c", CTX, "--reference")["nll"], found["nll"], 0.01)
    return rows


def strides():
    rows = [row for begin in range(0, 3 * CTX + 5 - CTX, 6)
            for row in chunk_rows(MODEL, TEXT, begin, CTX - 6 - 1)]
    found = object_of("perplexity", MODEL, *ids(TEXT), "-c", CTX, "--stride", 6)
    equal(found["chunks"], 7)
    check_perplexity(found, rows)


def begin_of_sequence():
    """A chunk keeps its first token where the model adds no BOS."""
    rows = [row for i in range(3) for row in chunk_rows(MODEL, TEXT, i * CTX, CTX // 2, bos=None)]
    check_perplexity(object_of("perplexity", MODEL, *ids(TEXT), "-c", CTX, "--override-kv",
                               "tokenizer.ggml.add_bos_token=bool:false"), rows)
    bos = object_of("tokenize", GEMMA, stdin=b"a")["ids"][0]
    rows = [row for i in range(3) for row in chunk_rows(GEMMA, TEXT, i * CTX, CTX // 2, bos)]
    check_perplexity(object_of("perplexity", GEMMA, *ids(TEXT), "-c", CTX), rows)


def from_file():
    """A text as bytes, tokenised as a prompt is."""
    with open(path("text"), "wb") as file:
        file.write(b"Once upon a time there was a text. " * 20)
    tokens = json.loads(quiet("tokenize", MODEL, "-f", path("text"), "--json"))["ids"]
    equal(object_of("perplexity", MODEL, "-f", path("text"), "-c", CTX),
          object_of("perplexity", MODEL, *ids(tokens), "-c", CTX))
    error("perplexity", MODEL, "-f", path("text"), "-c", len(tokens) // 2 + 1,
          has=[f"has {len(tokens)} tokens", "two chunks"])


def saved(name, rows):
    """The file that --save-logits leaves, held against llama.cpp's arithmetic."""
    found = object_of("perplexity", MODEL, *ids(TEXT), "-c", CTX, "--save-logits", path(name))
    data, width = open(path(name), "rb").read(), len(rows[0][0])
    equal(data[:8], b"_logits_")
    equal(struct.unpack_from("<Iii", data, 8), (CTX, width, 3))
    equal(list(struct.unpack_from(f"<{3 * CTX}i", data, 20)), TEXT[:3 * CTX])
    at = 20 + 4 * 3 * CTX
    for row, _ in rows:
        best, least = max(row), max(min(row), max(row) - 16)
        scale, low = struct.unpack_from("<ff", data, at)
        close(scale, (best - least) / 65535, 1e-6)
        close(low, least - log_sum_exp(row), 1e-6)
        codes = struct.unpack_from(f"<{width}H", data, at + 8)
        expect(all(abs(c - (x - least) / scale) <= 0.51 for c, x in zip(codes, row)), "wrong codes")
        at += 8 + 2 * (width + width % 2)
    equal(at, len(data))
    return found, data


def stored_log_probs(data, width):
    at = 20 + 4 * 3 * CTX
    while at < len(data):
        scale, low = struct.unpack_from("<ff", data, at)
        yield [scale * code + low for code in struct.unpack_from(f"<{width}H", data, at + 8)]
        at += 8 + 2 * (width + width % 2)


def divergences(data):
    """Another model's run against the saved logits, every figure anew."""
    rows = [row for i in range(3) for row in chunk_rows(OTHER, TEXT, i * CTX, CTX // 2)]
    kls, deltas, same = [], [], 0
    for (row, token), base in zip(rows, stored_log_probs(data, len(rows[0][0]))):
        total = log_sum_exp(row)
        kls.append(math.fsum(math.exp(b) * (b - x + total) for b, x in zip(base, row) if b > -16))
        deltas.append(math.exp(row[token] - total) - math.exp(base[token]))
        same += row.index(max(row)) == base.index(max(base))
    found = object_of("perplexity", OTHER, "--kl-base", path("base"))
    check_perplexity(found, rows)
    d = found["divergence"]
    for name, values in (("kl", kls), ("delta_p", deltas)):
        mean, deviation = mean_and_error(values)
        close(d[name]["value"], mean, 1e-6)
        close(d[name]["error"], deviation, 1e-5)
        for key, value in (("max", max(values)), ("min", min(values)), ("median", sorted(values)[10]),
                           ("90", sorted(values)[18])): # of 21: 10, and 0.9 * 20
            close(d[name + "_at"][key], value, 1e-6)
    expect(d["kl"]["value"] > 0, "another model, no divergence")
    close(d["same_top"]["value"], same / 21)
    close(d["rms_delta_p"]["value"], math.sqrt(math.fsum(x * x for x in deltas) / 21), 1e-6)
    equal(object_of("perplexity", OTHER, "--kl-base", path("base"), *ids(TEXT), "--threads", 2), found)
    own = object_of("perplexity", MODEL, "--kl-base", path("base"), "--chunks", 2)["divergence"]
    expect(abs(own["kl"]["value"]) < 1e-5 and own["same_top"]["value"] == 1, f"not itself: {own}")


def refusals(data):
    base = ("perplexity", MODEL, "--kl-base")

    def edited(name, at, format_, value):
        copy = bytearray(data)
        struct.pack_into(format_, copy, at, value)
        open(path(name), "wb").write(copy)
        return path(name)

    open(path("cut"), "wb").write(data[:-7])
    error(*base, path("cut"), has=["cut", "is it whole?"])
    open(path("text"), "wb").write(b"no logits, but a text of some length")
    error(*base, path("text"), has=["does not begin with _logits_"])
    error(*base, path("none"), has=["none", "could not open"])
    error(*base, edited("vocabulary", 12, "<i", 1), has=["bytes after its last row"])
    width = struct.unpack_from("<i", data, 12)[0] # even: one token less makes a file as long
    error(*base, edited("narrow", 12, "<i", width - 1),
          has=[f"its vocabulary has {width - 1} tokens, the model's {width}"])
    other = TEXT[:20] + [TEXT[20] + 1] + TEXT[21:]
    error(*base, path("base"), *ids(other), has=["its token 20 is", "another text"])
    error(*base, path("base"), *ids(TEXT[:20]), has=["was made from 48 tokens, the text has 20"])
    error(*base, path("base"), "-c", 8, has=["chunks have 16 tokens", "leave --ctx out"])
    error(*base, path("base"), "--stride", 4, has=["--stride"])
    error(*base, edited("nan", 20 + 4 * 3 * CTX, "<f", math.nan), has=["its row 0 has the scale"])
    run = ("perplexity", MODEL, *ids(TEXT))
    error(*run, "-c", 2, has=["chunks of 2 tokens"])
    error(*run, "-c", CTX, "--stride", CTX, has=["a stride of 16"])
    error(*run, "-c", 40, has=["has 53 tokens", "two chunks of 40"])
    error(*run, "-c", 1 << 20, has=["the model holds", "smaller --ctx"])
    error(*run, "-c", CTX, "--save-logits", f"{FOLDER}/no/file", has=["folder is missing"])
    error("perplexity", MODEL, has=["found 0 prompts"])
    kept = path("kept")
    open(kept, "w").write("old")
    error(*run, "-c", 40, "--save-logits", kept, has=["two chunks"])
    error(*base, path("nan"), "--save-logits", kept, has=["row 0"])
    equal(open(kept).read(), "old")
    equal([name for name in os.listdir(FOLDER) if name.endswith(".part")], [])


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(FOLDER)
    rows = chunks()
    strides()
    begin_of_sequence()
    from_file()
    found, data = saved("base", rows)
    check_perplexity(found, rows)
    divergences(data)
    refusals(data)
    print("perplexity: done")


main()
