"""What 00_toolbox computes: settings in, arrays out."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from ...apart import Undrawn
from ...language import _
from ...model import softmax

# ---- tokens ----


def vocabulary() -> list[str]:
    """Four tokens; the number of each is its place."""
    # Translators: article, animal, verb: a sentence; then a verb that can stand between two animals
    return _("the queen laughs finds").split()


def ids_of(text: str) -> list[int]:
    """The number of each word in the small vocabulary; ValueError for a word that is not in it."""
    return [vocabulary().index(word) for word in text.split()]


# ---- two lists in the plane ----


@dataclass(frozen=True)
class Pair:
    """Two lists x and y, their products component by component, and what follows from them."""

    x: np.ndarray  # (2,)
    y: np.ndarray  # (2,)
    products: np.ndarray  # (2,)
    dot: float
    lengths: tuple[float, float]
    cosine: float | None  # None where a list has the length 0
    angle: float | None  # in degrees, from 0 to 180


def pair(x1: float, x2: float, y1: float, y2: float) -> Pair:
    """The dot product of [x1, x2] and [y1, y2], their lengths, and the angle between them."""
    x, y = np.array([x1, x2]), np.array([y1, y2])
    products = x * y
    dot = float(products.sum())
    lengths = float(np.sqrt((x * x).sum())), float(np.sqrt((y * y).sum()))
    cosine = float(np.clip(dot / (lengths[0] * lengths[1]), -1, 1)) if all(lengths) else None
    angle = None if cosine is None else math.degrees(math.acos(cosine))
    return Pair(x, y, products, dot, lengths, cosine, angle)


# ---- a matrix times a list ----

MATRIX = ((1.0, 0.0, 2.0), (-1.0, 3.0, 1.0))  # two outputs, three inputs
BIAS = (0.5, -1.0)


@dataclass(frozen=True)
class Product:
    """W times x, read by rows or by columns up to `which`, counted from 1."""

    W: np.ndarray  # (2, 3)
    x: np.ndarray  # (3,)
    parts: np.ndarray  # (2, 3), W[i, j] x[j]
    taken: np.ndarray  # (2, 3), boolean: what has been added up so far
    y: np.ndarray  # (2,), the sum of what is taken
    by_rows: bool
    which: int


def product(x1: float, x2: float, x3: float, by_rows: bool, which: int) -> Product:
    """Multiply the page's matrix by [x1, x2, x3].

    By rows, all of y is there and `which` names the row to look at; by columns, the first `which` columns
    have been added up. A `which` beyond the last row or column stands for the last.
    """
    W, x = np.array(MATRIX), np.array([x1, x2, x3])
    which = min(which, W.shape[0 if by_rows else 1])
    parts = W * x
    taken = np.ones_like(W, dtype=bool)
    if not by_rows:
        taken[:, which:] = False
    return Product(W, x, parts, taken, np.where(taken, parts, 0).sum(axis=1), by_rows, which)


def shape_of_all_comparisons(positions: int, width: int) -> tuple[int, ...]:
    """The shape of X Xᵀ for X of shape (positions, width)."""
    X = torch.zeros(positions, width)
    return tuple((X @ X.T).shape)


def shape_of_row_sums(rows: int, columns: int) -> tuple[int, ...]:
    """The shape of the sum over the last axis of a tensor of shape (rows, columns)."""
    return tuple(torch.zeros(rows, columns).sum(dim=-1).shape)


# ---- softmax ----


@dataclass(frozen=True)
class Shares:
    """Three numbers z and what softmax makes of them, step by step."""

    z: np.ndarray  # (3,)
    powers: np.ndarray  # (3,), e to the z
    shares: np.ndarray  # (3,), each power divided by the sum of all


def shares(z1: float, z2: float, z3: float, shift: float, hidden: bool) -> Shares:
    """Softmax of z1, z2 and z3, each plus `shift`; with `hidden` the third one is minus infinity."""
    z = np.array([z1, z2, -math.inf if hidden else z3]) + shift
    return Shares(z, np.exp(z), softmax(torch.from_numpy(z)).numpy())


# ---- slope and gradient ----


def valley(w: Tensor) -> Tensor:
    """f(w) = w₁² + w₂² + ...: the sum of the squares.  (D,) -> ()"""
    return (w * w).sum()


@torch.enable_grad()
def gradient_of_valley(w: tuple[float, ...]) -> list[float]:
    """The slope of `valley` along each of its numbers, as autograd finds it."""
    at = torch.tensor(w, dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(valley(at), at)
    return gradient.tolist()


# ---- downhill ----

RATES = (0.01, 0.03, 0.1, 0.3, 0.5, 0.8, 0.95, 1.0, 1.05)
MOST_STEPS = 20


@dataclass(frozen=True)
class Descent:
    """The places w of a walk down f(w) = w², and the height at each; both  # (steps + 1,)"""

    rate: float
    places: np.ndarray
    heights: np.ndarray


def descent(rate: float, steps: int, start: float) -> Descent:
    """Take `steps` steps w - rate · f′(w) down f(w) = w², whose slope f′(w) is 2w."""
    places = [start]
    for _step in range(steps):
        w = places[-1]
        places.append(w - rate * 2 * w)
    walked = np.array(places)
    return Descent(rate, walked, walked**2)


def manner(rate: float) -> str:
    """What a step at this rate does to the distance from the bottom: what is left of it is |1 - 2 rate|.

    "climbs", "swings" forever, "overshoots" but arrives, "lands" at once, is "good", or is "slow" (over nine
    tenths are left).
    """
    left = 1 - 2 * rate
    if left < -1:
        return "climbs"
    if left == -1:
        return "swings"
    if left < 0:
        return "overshoots"
    if left == 0:
        return "lands"
    return "slow" if left > 0.9 else "good"


# ---- training and evaluation ----


def what_eval_changes() -> str:
    """What `eval()` changes in a dropout and a linear layer: "dropout", "gradients", "weights" or nothing."""
    with Undrawn():
        layer, drop = nn.Linear(2, 2), nn.Dropout(0.5)
    nn.init.ones_(layer.weight)
    before = layer.weight.detach().clone()
    for module in (layer, drop):
        module.eval()
    if not layer.weight.requires_grad:
        return "gradients"
    if not torch.equal(layer.weight, before):
        return "weights"
    ones = torch.ones(1000)
    return "dropout" if torch.equal(drop(ones), ones) else ""
