"""What 04_self_attention computes: settings in, arrays out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ... import model
from ...language import _
from ..reading import Reading, before_the_pronoun

# ---- two tokens by hand ----


def context_by_hand() -> list[list[float]]:
    """The context of the page's two tokens with two numbers each."""
    Q = torch.tensor([[1.0, 1.0], [0.0, 0.0]], dtype=torch.float64)  # (T, D)
    K = torch.tensor([[1.0, 1.0], [1.0, -1.0]], dtype=torch.float64)  # (T, D)
    V = torch.tensor([[10.0, 0.0], [0.0, 10.0]], dtype=torch.float64)  # (T, D)
    context, _weights = model.attention(Q, K, V)
    return context.tolist()


# ---- the five steps on the sentence of the guide ----

SENTENCE = ("Every", "␣moment", "␣is", "␣a", "␣beginning")
TOKEN_IDS = (15745, 4205, 382, 261, 10526)  # of the vocabulary o200k_base
TOKEN_EMBEDDINGS = torch.tensor(
    [
        [-0.5880, 0.3486, 0.6603],
        [-0.2196, -0.3792, 0.7671],
        [-1.1925, 0.6984, -1.4097],
        [0.1794, 1.8951, 1.3689],
        [-1.6033, -1.3250, 0.1784],
    ],
    dtype=torch.float32,
)  # (T, D)
POSITION_EMBEDDINGS = torch.tensor(
    [
        [-0.9178, 0.9045, -2.0975],
        [1.1558, -1.2157, 0.1295],
        [1.0937, 0.2066, 3.1815],
        [0.0967, 1.4086, 0.1915],
        [-0.1562, 0.2446, 4.0124],
    ],
    dtype=torch.float32,
)  # (T, D)


def projections() -> tuple[Tensor, Tensor, Tensor]:
    """Three D x D tables W_Q, W_K, W_V drawn at random: the guide names them without giving numbers."""
    generator = torch.Generator().manual_seed(4)
    drawn = torch.randn(3, 3, 3, generator=generator, dtype=torch.float32)
    W_q, W_k, W_v = (0.6 * drawn).round(decimals=2)
    return W_q, W_k, W_v


@dataclass(frozen=True)
class Steps:
    """Every matrix on the way from the embeddings X to the context, rows are positions."""

    x: Tensor  # (T, D)
    W_q: Tensor  # (D, D)
    W_k: Tensor  # (D, D)
    W_v: Tensor  # (D, D)
    q: Tensor  # (T, D)
    k: Tensor  # (T, D)
    v: Tensor  # (T, D)
    scores: Tensor  # (T, T) before scaling
    scaled: Tensor  # (T, T)
    weights: Tensor  # (T, T)
    context: Tensor  # (T, D)


def five_steps() -> Steps:
    """Self-attention without a mask, one head, step by step, on the guide's five sums."""
    x = TOKEN_EMBEDDINGS + POSITION_EMBEDDINGS
    W_q, W_k, W_v = projections()
    q, k, v = x @ W_q, x @ W_k, x @ W_v
    scores = q @ k.T
    scaled = scores / math.sqrt(k.shape[-1])
    weights = scaled.softmax(dim=-1)
    return Steps(x, W_q, W_k, W_v, q, k, v, scores, scaled, weights, weights @ v)


@dataclass(frozen=True)
class Equation:
    """The step that gives the matrix named `gives`, as left times right = result, seen from `query`."""

    gives: str  # a field of Steps
    query: int
    all: Steps


def equation(gives: str, query: int) -> Equation:
    """One of the five steps on the guide's sentence."""
    return Equation(gives, query, five_steps())


# ---- softmax ----


def signs_of_a_stretch(scores: Sequence[float], factor: float) -> tuple[int, ...]:
    """Which weights grow (1), shrink (-1) or stay (0) when every score of a row is multiplied by `factor`."""
    row = torch.tensor(scores, dtype=torch.float64)
    change = model.softmax(row * factor) - model.softmax(row)
    return tuple(change.round(decimals=6).sign().int().tolist())


# ---- why divide by the root of d_k ----

WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
QUERIES, KEYS = 400, 8  # each query has keys of its own


@dataclass(frozen=True)
class Scaling:
    """Scores of random queries against KEYS random keys, without and with division by the root of d_k."""

    width: int
    spread_raw: float
    spread_scaled: float
    weights_raw: np.ndarray  # (KEYS,) one query's weights, largest first
    weights_scaled: np.ndarray  # (KEYS,)
    slope_raw: float  # mean over queries of the largest derivative of softmax, at most 1/4
    slope_scaled: float


def scaling(width: int, seed: int = 2) -> Scaling:
    """Draw queries and keys with independent standard normal components and compare the two scores."""
    generator = torch.Generator().manual_seed(seed)
    q = torch.randn(QUERIES, width, generator=generator, dtype=torch.float64)
    k = torch.randn(QUERIES, KEYS, width, generator=generator, dtype=torch.float64)
    raw = (k @ q[:, :, None]).squeeze(-1)  # (QUERIES, KEYS)
    scaled = raw / math.sqrt(width)
    weights = [scores.softmax(dim=-1) for scores in (raw, scaled)]
    slopes = [(w * (1 - w)).amax(dim=-1).mean().item() for w in weights]
    largest = [w.sort(dim=-1, descending=True).values.mean(dim=0).numpy() for w in weights]
    return Scaling(width, raw.std().item(), scaled.std().item(), *largest, *slopes)


# ---- split into heads and merged again ----

T_SPLIT, D_SPLIT = 4, 12


@dataclass(frozen=True)
class Split:
    """An array (T, D) shared out to the heads and put together again."""

    x: Tensor  # (T, D), the entry of position t, component d is 100 t + d
    heads: Tensor  # (H, T, D/H)
    merged: Tensor  # (T, D)
    transposed: bool


def split_and_merge(heads: int, transposed: bool) -> Split:
    """Split (T, D) into heads and merge them, with the transpose or, wrongly, without it."""
    x = 100 * torch.arange(1, T_SPLIT + 1)[:, None] + torch.arange(1, D_SPLIT + 1)  # (T, D)
    x = x.float()
    split = model.split_heads(x[None], heads)  # (1, H, T, D/H)
    merged = model.merge_heads(split) if transposed else split.flatten().view(1, T_SPLIT, D_SPLIT)
    return Split(x, split[0], merged[0], transposed)


def without_transpose(heads: int) -> str:
    """What merging without the transpose does: an "error", the "same" array, or its numbers "misplaced"."""
    try:
        split = split_and_merge(heads, transposed=False)
    except RuntimeError:
        return "error"
    return "same" if torch.equal(split.merged, split.x) else "misplaced"


# ---- all heads of a real model ----


@dataclass(frozen=True)
class AllHeads:
    """The weights of every head of one block on one text."""

    labels: list[str]
    weights: np.ndarray  # (H, T, T)
    block: int  # from 1
    query: int


def all_heads(reading: Reading, text: str, block: int, query: int) -> AllHeads:
    """Read the text and keep the weights of one block; block and query are counted from 1."""
    read = reading.read(text)
    weights = read.seen[f"blocks.{block - 1}.attn.weights"][0]  # (H, T, T)
    return AllHeads(read.labels, weights.numpy(), block, min(query, len(read.ids)) - 1)


def nearest_noun() -> str:
    """The noun of the example's story that stands nearest to its pronoun."""
    # Translators: a text for the model: the second noun of the queen's story, as it stands there
    return _("forest")


def most_looked_at_before_the_pronoun() -> str:
    """The word to which the shipped model's head for pronouns gives most weight just before one."""
    reading = Reading()
    block, head = reading.known_head("pronoun")
    ids, _labels, seen = reading.read(before_the_pronoun())
    weights = seen[f"blocks.{block}.attn.weights"][0, head, -1]  # (T,)
    return reading.tokenizer.decode([ids[int(weights.argmax())]]).strip()
