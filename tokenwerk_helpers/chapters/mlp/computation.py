"""What 03_mlp computes: settings in, arrays out."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F

from ... import model
from ...apart import Seeded
from ..story import read

# ---- activation functions ----


@dataclass(frozen=True)
class Activations:
    """The three activations at one place."""

    x: float
    relu: float
    gelu: float
    gelu_tanh: float


def activations(x: float) -> Activations:
    """ReLU, GELU x Phi(x) and its tanh form at x (Hendrycks & Gimpel 2016)."""
    place = torch.tensor(x, dtype=torch.float64)
    return Activations(
        x, F.relu(place).item(), F.gelu(place).item(), F.gelu(place, approximate="tanh").item()
    )


# ---- layers in a row ----


def whole_of_linear_layers(count: int) -> str:
    """What linear layers in a row make: "linear" if f(x + y) = f(x) + f(y), else "curved"."""
    generator = torch.Generator().manual_seed(0)
    layers = torch.randn(count, 3, 3, generator=generator, dtype=torch.float64)
    x, y = torch.randn(2, 3, generator=generator, dtype=torch.float64)

    def whole(h):
        for layer in layers:
            h = layer @ h
        return h

    return "linear" if torch.allclose(whole(x + y), whole(x) + whole(y)) else "curved"


# ---- fitting a curve ----

POINTS = np.linspace(-3, 3, 241)
TARGETS = {
    "wave": lambda x: np.sin(2 * x),
    "hill": lambda x: 1.6 * np.exp(-2 * x**2) - 0.6,
    "stairs": lambda x: np.round(x * 0.8) * 0.5,
    "line": lambda x: 0.4 * x - 0.2,
}


@dataclass(frozen=True)
class Fit:
    """A target curve and the best that an MLP with these hidden units makes of it; each  # (241,)"""

    hidden: int
    activation: str
    target: np.ndarray
    fitted: np.ndarray
    error: float  # root mean squared error


def hidden_units(hidden: int, activation: str) -> np.ndarray:
    """What the first layer and the activation make of each point; bends spread evenly.  # (241, hidden)"""
    bends = (np.arange(hidden) + 0.5) / hidden * 6 - 3
    slopes = np.where(np.arange(hidden) % 2 == 0, 3.0, -3.0)
    before = torch.from_numpy(slopes * (POINTS[:, None] - bends))
    after = {"none": lambda h: h, "relu": F.relu, "gelu": F.gelu}[activation](before)
    return after.numpy()


def fit(target: str, hidden: int, activation: str) -> Fit:
    """Fit `target` with a fixed first layer and the best possible second layer (least squares)."""
    wanted = TARGETS[target](POINTS)
    features = np.column_stack([hidden_units(hidden, activation), np.ones_like(POINTS)])
    # The cut-off drops directions that differ by rounding alone: without activation all units are one line.
    second_layer, *_rest = np.linalg.lstsq(features, wanted, rcond=1e-9)
    fitted = features @ second_layer
    return Fit(hidden, activation, wanted, fitted, float(np.sqrt(np.mean((fitted - wanted) ** 2))))


# ---- each position by itself ----

T, D = 5, 4


@dataclass(frozen=True)
class Positions:
    """The inputs of T positions, in order and rearranged, and what the same MLP makes of them."""

    labels: list[str]
    inputs: np.ndarray  # (T, D)
    outputs: np.ndarray  # (T, D)
    changed: int  # the position that was nudged, from 0
    amount: float


def nudged(position: int, amount: float) -> Positions:
    """Add `amount` to every component of one position (from 1) and send all positions through one MLP."""
    with Seeded(5) as dice:
        x = torch.randn(T, D, generator=dice.generator, dtype=torch.float32)
        mlp = model.MLP(D)
    x[position - 1] += amount
    with torch.no_grad():
        outputs = mlp(x[None])[0]
    return Positions([str(t + 1) for t in range(T)], x.numpy(), outputs.numpy(), position - 1, amount)


def order_of_outputs(order: Sequence[int]) -> tuple[int, ...] | None:
    """Which position's output stands where once the T inputs stand in `order`; None if one is a new list."""
    with Seeded(0) as dice:
        x = torch.randn(T, D, generator=dice.generator, dtype=torch.float32)
        mlp = model.MLP(D)
    with torch.no_grad():
        before, after = mlp(x[None])[0], mlp(x[None, list(order)])[0]
    same = (after[:, None] - before).abs().amax(dim=-1) < 1e-6  # (T, T), row: after, column: before
    return tuple(same.int().argmax(dim=-1).tolist()) if same.any(dim=-1).all() else None


# ---- neurons of a trained model ----

FAVOURITES, ROOM = 12, 14  # tokens under the bars, and letters of each that fit there
SHOWN = 16  # neurons in the matrix: the most active ones on the text
STORIES = 150


@dataclass(frozen=True)
class Neurons:
    """The hidden values of one block on one text, and the tokens one neuron answers to in many stories."""

    labels: list[str]
    hidden: np.ndarray  # (T, 4D)
    shown: list[int]  # neurons, most active first
    neuron: int
    favourites: list[tuple[str, float]]  # token and mean value, largest first


def share_of_positive_neurons() -> float:
    """Which share of the shipped model's hidden values is above zero behind GELU, on a story."""
    shipped, _ids, seen = read()
    blocks = range(shipped.model.config.blocks)
    hidden = torch.cat([seen[f"blocks.{block}.mlp.activation"] for block in blocks])  # (L, T, 4D)
    return (hidden > 0).float().mean().item()
