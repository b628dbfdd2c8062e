"""The network: a Llama of four layers, in the order in which `frontends/arch/llama.cpp` builds it.

Attributes bear the names of the tensors in the file: `blk.0.attn_q.weight` is `blk[0].attn_q.weight`.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass(frozen=True)
class Shape:
    """Sizes; those of matrix rows are multiples of 256, the length of a Q4_K block."""

    n_vocab: int = 1024
    n_ctx: int = 256
    n_embd: int = 256
    n_layer: int = 4
    n_head: int = 8
    n_head_kv: int = 4
    n_ff: int = 512
    rope_base: float = 10000.0
    epsilon: float = 1e-5

    @property
    def head_dim(self):
        return self.n_embd // self.n_head


def rotations(shape):
    """cos and sin [n_ctx, head_dim / 2] of each position's turns (Su et al. 2021)."""
    turns = shape.rope_base ** -(torch.arange(0, shape.head_dim, 2) / shape.head_dim)
    angles = torch.arange(shape.n_ctx)[:, None] * turns[None, :]
    return angles.cos(), angles.sin()


def rope(x, cos, sin):
    """Turns neighbours (x[2i], x[2i+1]) of [.., n, head_dim]: the order of GGUF's llama."""
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(-2)


class Layer(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        kv = shape.n_head_kv * shape.head_dim
        self.attn_norm = nn.RMSNorm(shape.n_embd, shape.epsilon)
        self.attn_q = nn.Linear(shape.n_embd, shape.n_embd, bias=False)
        self.attn_k = nn.Linear(shape.n_embd, kv, bias=False)
        self.attn_v = nn.Linear(shape.n_embd, kv, bias=False)
        self.attn_output = nn.Linear(shape.n_embd, shape.n_embd, bias=False)
        self.ffn_norm = nn.RMSNorm(shape.n_embd, shape.epsilon)
        self.ffn_gate = nn.Linear(shape.n_embd, shape.n_ff, bias=False)
        self.ffn_up = nn.Linear(shape.n_embd, shape.n_ff, bias=False)
        self.ffn_down = nn.Linear(shape.n_ff, shape.n_embd, bias=False)

    def attention(self, x, cos, sin):
        """Of [batch, n, n_embd]; query heads share key heads: head 0 and 1 use key head 0."""
        batch, n, width = x.shape
        heads = lambda y: y.view(batch, n, -1, self.shape.head_dim).transpose(1, 2)
        q, k, v = (heads(part(x)) for part in (self.attn_q, self.attn_k, self.attn_v))
        q, k = rope(q, cos, sin), rope(k, cos, sin)
        k, v = (y.repeat_interleave(self.shape.n_head // self.shape.n_head_kv, 1) for y in (k, v))
        later = torch.full((n, n), float("-inf")).triu(1)
        scores = (q * self.shape.head_dim ** -0.5) @ k.transpose(-1, -2) + later
        context = scores.softmax(-1) @ v
        return self.attn_output(context.transpose(1, 2).reshape(batch, n, width))

    def forward(self, x, cos, sin):
        x = x + self.attention(self.attn_norm(x), cos, sin)
        y = self.ffn_norm(x)
        return x + self.ffn_down(F.silu(self.ffn_gate(y)) * self.ffn_up(y))


class Network(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        self.token_embd = nn.Embedding(shape.n_vocab, shape.n_embd)
        self.blk = nn.ModuleList(Layer(shape) for _ in range(shape.n_layer))
        self.output_norm = nn.RMSNorm(shape.n_embd, shape.epsilon)
        self.cos, self.sin = rotations(shape)
        for p in self.parameters():
            if p.dim() == 2:
                nn.init.normal_(p, std=0.02)
        for layer in self.blk:  # what is added to the stream starts small (GPT-2)
            for part in (layer.attn_output, layer.ffn_down):
                nn.init.normal_(part.weight, std=0.02 / (2 * shape.n_layer) ** 0.5)

    def forward(self, ids):
        """Logits [batch, n, n_vocab] of ids [batch, n]; the embedding is the head too."""
        n = ids.shape[1]
        x = self.token_embd(ids)
        for layer in self.blk:
            x = layer(x, self.cos[:n], self.sin[:n])
        return F.linear(self.output_norm(x), self.token_embd.weight)
