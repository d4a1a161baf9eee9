"""What 03_mlp computes: settings in, arrays out."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

import numpy as np
import torch
import torch.nn.functional as F

from ... import corpus, model
from ...apart import Seeded
from ...trace import Trace
from ..reading import Reading, example_story

# ---- activation functions ----

ACTIVATIONS = (F.relu, F.gelu, partial(F.gelu, approximate="tanh"))


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
    return Activations(x, *(function(place).item() for function in ACTIVATIONS))


def activation_curves() -> np.ndarray:
    """401 places from -4 to 4, and what ReLU, GELU and its tanh form make of them.  # (4, 401)"""
    x = torch.linspace(-4, 4, 401, dtype=torch.float64)
    return torch.stack([x, *(function(x) for function in ACTIVATIONS)]).numpy()


# ---- layers in a row ----


def weights_of_the_single_layer(width: int, hidden: int) -> int:
    """How many weights the product of two tables has, (hidden, width) and (width, hidden)."""
    up, down = torch.zeros(hidden, width), torch.zeros(width, hidden)
    return (down @ up).numel()


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
class Nudged:
    """The inputs of T positions, one of them nudged, and what the same MLP makes of each."""

    labels: list[str]
    inputs: np.ndarray  # (T, D)
    before: np.ndarray  # what the MLP makes of them when none is nudged  # (T, D)
    outputs: np.ndarray  # (T, D)
    changed: int  # the position that was nudged, from 0
    amount: float
    moved: list[int]  # the positions whose outputs this has moved, from 0


def nudged(position: int, amount: float) -> Nudged:
    """Add `amount` to every component of one position (from 1) and send all positions through one MLP."""
    with Seeded(5) as dice:
        x = torch.randn(T, D, generator=dice.generator, dtype=torch.float32)
        mlp = model.MLP(D)
    with torch.no_grad():
        before = mlp(x[None])[0]
        x[position - 1] += amount
        outputs = mlp(x[None])[0]
    moved = (~torch.isclose(before, outputs)).any(dim=1).nonzero().flatten().tolist()
    labels = [str(t + 1) for t in range(T)]
    return Nudged(labels, x.numpy(), before.numpy(), outputs.numpy(), position - 1, amount, moved)


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

FAVOURITES = 12  # tokens under the bars
SHOWN = 16  # neurons in the matrix: the most active ones on the text
STORIES = 150


@dataclass(frozen=True)
class Neurons:
    """The hidden values of one block on one text, and the tokens one neuron answers to in many stories."""

    labels: list[str]
    hidden: np.ndarray  # (T, 4D)
    shown: list[int]  # neurons, most active first
    block: int  # from 1
    neuron: int
    favourites: list[tuple[str, float]]  # token and mean value, largest first
    lowest: float  # how far down and up the mean values of any neuron of the block reach
    highest: float


@dataclass(frozen=True)
class Means:
    """The mean hidden values of one block for each token that occurs often enough in many stories."""

    labels: list[str]  # of n tokens
    values: np.ndarray  # (n, 4D)

    def favourites(self, neuron: int) -> list[tuple[str, float]]:
        """The FAVOURITES tokens to which a neuron answers most, with its mean value for each."""
        means = self.values[:, neuron]
        return [(self.labels[i], float(means[i])) for i in np.argsort(-means, kind="stable")[:FAVOURITES]]


def hidden_values(seen: Trace, block: int) -> np.ndarray:
    """The values of a block's neurons behind GELU, the block counted from 0.  # (T, 4D)"""
    return seen[f"blocks.{block}.mlp.activation"][0].numpy()


def neurons(reading: Reading, text: str, block: int, neuron: int, means: Means) -> Neurons:
    """The neurons of a block on one text, and what one of them prefers; both numbers from 1."""
    read = reading.read(text)
    hidden = hidden_values(read.seen, block - 1)
    shown = np.argsort(-hidden.max(axis=0), kind="stable")[:SHOWN].tolist()
    if neuron - 1 not in shown:
        shown[-1] = neuron - 1
    return Neurons(
        read.labels, hidden, shown, block, neuron - 1, means.favourites(neuron - 1),
        min(0.0, float(means.values.min())), max(0.01, float(means.values.max())),
    )  # fmt: skip


def mean_values(reading: Reading, block: int) -> Means:
    """Average the neurons of a block, counted from 1, for each token of STORIES stories."""
    rows: dict[int, list[np.ndarray]] = defaultdict(list)
    for story in islice(corpus.stories(seed=7), STORIES):
        read = reading.read(story.text)
        for token, values in zip(read.ids, hidden_values(read.seen, block - 1)):
            rows[token].append(values)
    often = {token: values for token, values in rows.items() if len(values) >= 3}
    means = np.stack([np.mean(values, axis=0) for values in often.values()])
    return Means(reading.labels(list(often)), means)


def liveliest(reading: Reading, text: str) -> int:
    """The neuron of the last block, counted from 1, with the largest value on the text."""
    hidden = hidden_values(reading.read(text).seen, reading.model.config.blocks - 1)
    return int(hidden.max(axis=0).argmax()) + 1


def share_of_positive_neurons() -> float:
    """Which share of the shipped model's hidden values is above zero behind GELU, on a story."""
    reading = Reading()
    seen = reading.read(example_story()).seen
    hidden = np.stack([hidden_values(seen, block) for block in range(reading.model.config.blocks)])
    return float((hidden > 0).mean())  # of (L, T, 4D)
