"""What 02_normalization computes: settings in, arrays out."""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from torch import Tensor

EPSILONS = (0.0, 1e-12, 1e-8, 1e-5, 1e-3, 0.1, 1.0)


@dataclass(frozen=True)
class Steps:
    """LayerNorm with every value on the way; x is (..., D), mean, variance and deviation are (..., 1)."""

    x: Tensor
    mean: Tensor
    deviations: Tensor  # (..., D)
    variance: Tensor
    deviation: Tensor  # the standard deviation, before epsilon
    standardized: Tensor  # (..., D)
    output: Tensor  # (..., D)


def steps(x: Tensor, gamma: Tensor | float = 1.0, beta: Tensor | float = 0.0, epsilon: float = 1e-5) -> Steps:
    """Normalize each position's list, keeping each step: (..., D) -> `Steps` (Ba et al. 2016).

    gamma and beta are numbers or (D,). ValueError for a negative epsilon. With epsilon 0 a list of equal
    numbers becomes nan, which is 0/0.
    """
    if not epsilon >= 0:
        raise ValueError(f"epsilon must not be negative, not {epsilon!r}")
    mean = x.mean(-1, keepdim=True)
    deviations = x - mean
    variance = deviations.square().mean(-1, keepdim=True)  # the mean: divided by n, not by n - 1
    standardized = deviations / (variance + epsilon).sqrt()
    output = gamma * standardized + beta
    return Steps(x, mean, deviations, variance, variance.sqrt(), standardized, output)


@dataclass(frozen=True)
class Norm:
    """The axes of (B, T, D) that a normalization takes its statistic over; does it subtract the mean?"""

    axes: tuple[int, ...]
    centred: bool = True


NORMS = {
    "layer": Norm((-1,)),  # Ba et al. 2016
    "batch": Norm((0, 1)),  # Ioffe and Szegedy 2015, in training
    "rms": Norm((-1,), centred=False),  # Zhang and Sennrich 2019
    "wide": Norm((-2, -1)),  # nn.LayerNorm((T, D)): a slip that mixes positions
}


def normalized(x: Tensor, norm: Norm) -> Tensor:
    """Normalize x over the axes of `norm`, gamma 1, beta 0, epsilon 1e-5: (B, T, D) -> (B, T, D)."""
    deviations = x - x.mean(norm.axes, keepdim=True) if norm.centred else x
    return deviations / (deviations.square().mean(norm.axes, keepdim=True) + 1e-5).sqrt()


# ---- one list as bars ----

MOST_NUMBERS, LARGEST = 12, 1e4


@dataclass(frozen=True)
class NormalizedList:
    """A list and its LayerNorm, with the settings that made it."""

    steps: Steps
    gamma: float
    beta: float
    which: str
    epsilon: float

    @property
    def defined(self) -> bool:
        """False where the result is 0/0."""
        return bool(self.steps.output.isfinite().all())

    @property
    def spread(self) -> float:
        """The standard deviation of the standardized list: 1 but for epsilon."""
        return float(self.steps.deviation / (self.steps.variance + self.epsilon).sqrt())


def normalized_list(
    x: Tensor, factor: float, shift: float, gamma: float, beta: float, which: str, epsilon: float
) -> NormalizedList:
    """LayerNorm of factor·x + shift; gamma and beta act on `which`: "all" components or the "first"."""
    x = factor * x + shift
    mine = torch.ones_like(x) if which == "all" else torch.eye(len(x), dtype=x.dtype)[0]
    return NormalizedList(steps(x, 1 + (gamma - 1) * mine, beta * mine, epsilon), gamma, beta, which, epsilon)


def reach(values, smallest: float) -> float:
    """How far the axis goes to one side: coarse steps (4, 10, 20, 40, ...), so that it rarely jumps."""
    largest = max((abs(float(value)) for value in values if math.isfinite(value)), default=0.0)
    heights = (digit * 10**power for power in range(8) for digit in (1, 2, 4, 6))
    return next(height for height in heights if height >= max(largest, smallest))


def limits(values: list[float], smallest: float) -> tuple[float, float]:
    """The axis for these bars, with room for their numbers and, at the top, for a note."""
    high = reach(values, smallest)
    return (-1.2 * high if min(values) < 0 else -0.15 * high), 1.4 * high


# ---- the place of epsilon ----

DEVIATIONS = tuple(10.0 ** (half / 2) for half in range(-16, 3))
CURVE = np.logspace(-8, 1, 181)


@dataclass(frozen=True)
class EpsilonPlace:
    """What is left of a standard deviation with epsilon under the root, and if it stood beside it."""

    epsilon: float
    deviation: float
    under: float
    beside: float
    curve_under: np.ndarray  # over CURVE
    curve_beside: np.ndarray


def epsilon_place(epsilon: float, deviation: float) -> EpsilonPlace:
    """Divide sigma by sqrt(sigma^2 + epsilon), and by sigma + epsilon for comparison."""

    def under(sigma):
        return sigma / np.sqrt(sigma**2 + epsilon)

    def beside(sigma):
        return sigma / (sigma + epsilon)

    both = (float(under(deviation)), float(beside(deviation)), under(CURVE), beside(CURVE))
    return EpsilonPlace(epsilon, deviation, *both)


# ---- who shares a statistic ----

TEXTS, POSITIONS, WIDTH = 3, 4, 5


@cache
def example_batch() -> Tensor:
    """Three texts of four positions with five components each, rounded to print.  # (B, T, D)"""
    generator = torch.Generator().manual_seed(4)
    return (torch.randn(TEXTS, POSITIONS, WIDTH, generator=generator, dtype=torch.float64) * 1.5).round(
        decimals=1
    )


@dataclass(frozen=True)
class Sharing:
    """Which cells enter the statistic of one cell, and how far each output moves when that cell changes."""

    norm: str
    cell: tuple[int, int, int]
    change: float
    x: Tensor  # with the change  (B, T, D)
    shares: Tensor  # boolean  (B, T, D)
    mean: float
    scale: float  # the variance; of RMSNorm the mean square
    moved: Tensor  # |output after − output before|  (B, T, D)

    @property
    def has_moved(self) -> Tensor:
        """Which outputs moved by more than rounding.  # boolean (B, T, D)"""
        return self.moved > 1e-9


def sharing(norm: str, text: int, position: int, component: int, change: float) -> Sharing:
    """Follow one cell of the example batch, numbered from 1, through a norm of NORMS, and change it."""
    cell = (text - 1, position - 1, component - 1)
    before, kind = example_batch(), NORMS[norm]
    x = before.clone()
    x[cell] += change
    axes = [axis % 3 for axis in kind.axes]
    along = tuple(slice(None) if axis in axes else index for axis, index in enumerate(cell))
    shares = torch.zeros_like(x, dtype=torch.bool)
    shares[along] = True
    mean = float(x[shares].mean()) if kind.centred else 0.0
    moved = (normalized(x, kind) - normalized(before, kind)).abs()
    return Sharing(norm, cell, change, x, shares, mean, float((x[shares] - mean).square().mean()), moved)


# ---- the sphere ----

LISTS = 60


@dataclass(frozen=True)
class Sphere:
    """Lists on their way through a norm, seen from one side."""

    width: int
    norm: str
    stage: float  # 0 = x, 1 = mean subtracted, 2 = divided
    turn: float  # degrees between the line of sight and the axis of equal components
    start: np.ndarray  # (LISTS, D)
    points: np.ndarray  # where they are at this stage  (LISTS, D)

    @property
    def lengths(self) -> np.ndarray:
        """How far each list is from the origin.  # (LISTS,)"""
        return np.linalg.norm(self.points, axis=1)

    @property
    def largest_mean(self) -> float:
        """The mean that is farthest from zero, without its sign."""
        return float(np.abs(self.points.mean(axis=1)).max())


def sphere(width: int, norm: str, stage: float, turn: float) -> Sphere:
    """Move random lists of `width` 2 or 3 through "layer" or "rms" up to `stage`, each step a straight way.

    Subtracting the mean is the projection onto the plane orthogonal to [1, ..., 1]; dividing by the standard
    deviation gives all the length sqrt(D), but for epsilon (Brody et al. 2023).
    """
    generator = torch.Generator().manual_seed(1)
    start = torch.randn(LISTS, width, generator=generator, dtype=torch.float64) + 0.5
    middle = start - start.mean(-1, keepdim=True) if NORMS[norm].centred else start
    end = normalized(start, NORMS[norm])
    points = start.lerp(middle, stage) if stage <= 1 else middle.lerp(end, stage - 1)
    return Sphere(width, norm, stage, turn, start.numpy(), points.numpy())


def screen(width: int, turn: float) -> np.ndarray:
    """Where each component points on the screen: (D, 2), to be multiplied from the right.

    In two dimensions the plane itself. In three a parallel projection along a line of sight that is `turn`
    degrees away from [1, 1, 1]; at 90 degrees that axis points up.
    """
    if width == 2:
        return np.eye(2)
    axis, aside = np.ones(3) / math.sqrt(3), np.array([1, 1, -2]) / math.sqrt(6)
    right = np.array([1, -1, 0]) / math.sqrt(2)
    angle = math.radians(turn)
    return np.stack([right, math.sin(angle) * axis - math.cos(angle) * aside], axis=1)


def plane_circle(width: int, radius: float) -> np.ndarray:
    """The lists of mean 0 and length `radius`: a circle in three dimensions, two points in two.  # (n, D)"""
    if width == 2:
        return radius / math.sqrt(2) * np.array([[1, -1], [-1, 1]])
    angles = np.linspace(0, 2 * math.pi, 121)[:, None]
    return radius * (np.cos(angles) * [1, -1, 0] / math.sqrt(2) + np.sin(angles) * [1, 1, -2] / math.sqrt(6))


def lists_left_of_two_numbers() -> int:
    """How many different lists come out of LayerNorm without epsilon, of 200 random pairs."""
    generator = torch.Generator().manual_seed(0)
    pairs = torch.randn(200, 2, generator=generator, dtype=torch.float64)
    return len(steps(pairs, epsilon=0.0).output.round(decimals=6).unique(dim=0))
