"""Makes the tiny model: vocabulary, training, the file in F32.

    python3 train.py -o tiny.f32.gguf             minutes on two cores
    python3 train.py -o t.gguf --lessons 1 --steps 30     a trial

Seeded: the same machine, PyTorch and number of threads give the same file.
"""

import argparse
import ctypes
import json
import math
import time
from dataclasses import dataclass

import gguf
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

import story
from network import Network, Shape

BOS, EOS = "<|bos|>", "<|eos|>"
HELD_OUT = "held out"  # seed of the texts that are only measured


@dataclass(frozen=True)
class Stage:
    """Steps over the texts of one lesson."""

    seed: str
    steps: int
    texts: int
    answers: float  # weight of answers in the loss


STAGES = {1: Stage("train", 900, 50000, 1), 2: Stage("train on", 2300, 110000, 5),
          3: Stage("train to copy", 600, 60000, 1), 4: Stage("train more", 1200, 65000, 5)}


def train_vocabulary(size, n_texts=20000):
    """Byte-pair pieces (GPT-2's cut into words): all bytes, BOS, EOS, and what occurs most."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=[BOS, EOS], show_progress=False,
                                  initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.train_from_iterator(story.texts("vocabulary", n_texts), trainer)
    return tokenizer


def rows(tokenizer, texts, n_ctx):
    """Texts one after the other, each between BOS and EOS, as ids [n, n_ctx + 1]."""
    ids = []
    for encoding in tokenizer.encode_batch([BOS + text + EOS for text in texts]):
        ids += encoding.ids
    n = (len(ids) - 1) // n_ctx
    return torch.tensor(ids[:n * n_ctx + 1]).unfold(0, n_ctx + 1, n_ctx)


def loss_of(network, batch, weights=None):
    """Mean of -ln p of each next token of ids [n, n_ctx + 1]; `weights` [n, n_ctx] of the tokens."""
    losses = F.cross_entropy(network(batch[:, :-1]).float().flatten(0, 1), batch[:, 1:].flatten(),
                             reduction="none")
    return losses.mean() if weights is None else (losses * weights.flatten()).sum() / weights.sum()


def answer_weights(batch, tokenizer, weight):
    """1 for each next token of ids [n, n_ctx + 1], `weight` for those of lines that begin with "A:"."""
    a, colon, line, end = (tokenizer.token_to_id(t) for t in ("A", ":", "Ċ", EOS))
    place = torch.arange(batch.shape[1] - 1)
    ids = batch[:, :-1]
    begins = torch.zeros_like(ids, dtype=torch.bool)
    begins[:, 1:] = (ids[:, :-1] == a) & (ids[:, 1:] == colon)
    last = lambda where: torch.where(where, place, -1).cummax(1).values
    return torch.where(last(begins) > last((ids == line) | (ids == end)), weight, 1.0)


@torch.no_grad()
def held_out_loss(network, tokenizer, n_texts=1000):
    batches = rows(tokenizer, story.texts(HELD_OUT, n_texts), network.shape.n_ctx).split(16)
    return sum(loss_of(network, b).item() * len(b) for b in batches) / sum(map(len, batches))


def optimizers(network, rate):
    """Matrices inside the layers by Muon (Jordan 2024), which needs half the steps; the rest by Adam."""
    inside = [p for p in network.blk.parameters() if p.dim() == 2]
    others = [p for p in network.parameters() if not any(p is q for q in inside)]
    return [torch.optim.Muon(inside, lr=rate, weight_decay=0.05, adjust_lr_fn="match_rms_adamw"),
            torch.optim.AdamW(others, lr=rate, betas=(0.9, 0.95), weight_decay=0)]


def schedule(step, steps, warmup=30, end=0.02):
    """Share of the learning rate: up in a line, flat, down in a line over the last two thirds."""
    down = end + (1 - end) * (steps - step) / (steps * 2 / 3)
    return min(1.0, (step + 1) / warmup, down)


def train(network, tokenizer, lesson, options):
    """Runs the steps of a lesson; prints the loss, the mean since the last line."""
    stage = STAGES[lesson]
    steps, parts = options.steps or stage.steps, optimizers(network, options.rate)
    texts = story.texts(stage.seed, options.texts or stage.texts, lesson=lesson)
    data = rows(tokenizer, texts, network.shape.n_ctx)
    order = torch.randperm(len(data))
    total, since = 0.0, time.time()
    for step in range(steps):
        batch = data[order[(step * options.batch + torch.arange(options.batch)) % len(data)]]
        with torch.autocast("cpu", torch.bfloat16, enabled=options.bf16):
            loss = loss_of(network, batch, answer_weights(batch, tokenizer, stage.answers))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        for part in parts:
            for group in part.param_groups:
                group["lr"] = options.rate * schedule(step, steps)
            part.step()
            part.zero_grad()
        total += loss.item()
        if (step + 1) % options.every == 0:
            print(f"lesson {lesson}, step {step + 1}: loss {total / options.every:.4f}, "
                  f"{time.time() - since:.0f} s", flush=True)
            total = 0.0
            if not math.isfinite(loss.item()):
                raise SystemExit("the loss is no number any more: lower --rate")


def write_vocabulary(writer, tokenizer):
    """The keys tokenizer.ggml.*: pieces in the order of their ids, merges in the order of training."""
    vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    types = gguf.TokenType
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([piece for piece, _ in vocabulary])
    writer.add_token_types([types.CONTROL if piece in (BOS, EOS) else types.NORMAL
                            for piece, _ in vocabulary])
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    writer.add_token_merges([" ".join(pair) for pair in merges])
    writer.add_bos_token_id(tokenizer.token_to_id(BOS))
    writer.add_eos_token_id(tokenizer.token_to_id(EOS))
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(False)


def write(path, network, tokenizer):
    """The file in F32, under GGUF's names."""
    shape, writer = network.shape, gguf.GGUFWriter(path, "llama")
    writer.add_name("Vetro tiny")
    writer.add_description("Speaks of a small world: labs/model of Vetro.")
    writer.add_license("mit")
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_context_length(shape.n_ctx)
    writer.add_embedding_length(shape.n_embd)
    writer.add_block_count(shape.n_layer)
    writer.add_feed_forward_length(shape.n_ff)
    writer.add_head_count(shape.n_head)
    writer.add_head_count_kv(shape.n_head_kv)
    writer.add_layer_norm_rms_eps(shape.epsilon)
    writer.add_rope_freq_base(shape.rope_base)
    writer.add_rope_dimension_count(shape.head_dim)
    writer.add_vocab_size(shape.n_vocab)
    write_vocabulary(writer, tokenizer)
    for name, tensor in network.state_dict().items():
        writer.add_tensor(name, tensor.float().numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def read(path, network):
    """Takes the weights of a file of any format."""
    network.load_state_dict({t.name: torch.from_numpy(gguf.dequantize(t.data, t.tensor_type).copy())
                             for t in gguf.GGUFReader(path).tensors})


def keep_memory():
    """Has glibc keep what is freed: each step needs the same again, and fresh pages cost half the time."""
    trim_threshold, mmap_max = -1, -4
    for option, value in ((trim_threshold, 2**31 - 1), (mmap_max, 0)):
        ctypes.CDLL(None).mallopt(option, value)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-o", "--output", required=True, help="the file to write, in F32")
    parser.add_argument("--start", help="a file to go on from")
    parser.add_argument("--lessons", type=int, nargs="+", default=list(STAGES), choices=STAGES)
    parser.add_argument("--steps", type=int, help="of each lesson, instead of its own")
    parser.add_argument("--batch", type=int, default=16, help="rows of 256 tokens")
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--texts", type=int, help="of each lesson, instead of its own")
    parser.add_argument("--every", type=int, default=50, help="steps between two lines")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--bf16", action="store_true", help="for processors with AMX")
    return parser.parse_args()


def main():
    options = parse_arguments()
    keep_memory()
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    shape = Shape()
    tokenizer = train_vocabulary(shape.n_vocab)
    network = Network(shape)
    if options.start:
        read(options.start, network)
    print(f"{sum(p.numel() for p in network.parameters())} weights", flush=True)
    for lesson in options.lessons:
        train(network, tokenizer, lesson, options)
    print(f"held-out loss {held_out_loss(network, tokenizer):.4f}")
    write(options.output, network, tokenizer)


if __name__ == "__main__":
    main()
