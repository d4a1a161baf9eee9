"""What 01_residual computes: settings in, arrays out."""

import math
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import torch
from torch import Tensor

# ---- y = x + f(x) as arrows ----


@dataclass(frozen=True)
class VectorSum:
    """x, the contribution f(x), and y = x + f(x); each  # (2,)"""

    x: np.ndarray
    fx: np.ndarray
    y: np.ndarray


def vector_sum(x1: float, x2: float, f1: float, f2: float) -> VectorSum:
    """Add the contribution [f1, f2] to [x1, x2], component by component."""
    x, fx = np.array([x1, x2]), np.array([f1, f2])
    return VectorSum(x, fx, x + fx)


def positions_reached_by_one_row(positions: int) -> int:
    """To how many positions a bare sum adds a contribution of shape (1, 4); 0 if torch refuses the sum."""
    x, fx = torch.zeros(positions, 4), torch.ones(1, 4)
    try:
        y = x + fx
    except RuntimeError:
        return 0
    return int((y == 1).all(dim=-1).sum())


# ---- the two paths of the gradient ----


@dataclass(frozen=True)
class Paths:
    """Curves over `x`, and y and its slopes at `point`, as autograd finds them along each path."""

    point: float
    y: float
    x: np.ndarray
    fx: np.ndarray
    direct: float
    through_f: float
    total: float


def contribution(x: Tensor, strength: float) -> Tensor:
    """The example operation f(x) = strength * sin(2x): steep here, flat there, falling elsewhere."""
    return strength * torch.sin(2 * x)


@torch.enable_grad()
def two_paths(point: float, strength: float) -> Paths:
    """The slope of y = x + f(x) at `point`: along the direct path, through f, and of y as a whole."""
    x = torch.tensor(point, dtype=torch.float64, requires_grad=True)
    (direct,) = torch.autograd.grad(x + 0.0, x)
    (through_f,) = torch.autograd.grad(contribution(x, strength), x)
    y = x + contribution(x, strength)
    (total,) = torch.autograd.grad(y, x)
    grid = torch.linspace(-3, 3, 241, dtype=torch.float64)
    fx = contribution(grid, strength)
    slopes = (slope.item() for slope in (direct, through_f, total))
    return Paths(point, y.item(), grid.numpy(), fx.numpy(), *slopes)


# ---- depth ----


@dataclass(frozen=True)
class DepthCompared:
    """The gradient's length at every layer's input and at the output; each  # (depth + 1,)"""

    depth: int
    plain: np.ndarray
    residual: np.ndarray


@torch.enable_grad()
def gradient_by_layer(depth: int, gain: float, direct: bool) -> np.ndarray:
    """How long the gradient is at each height of a stack h -> f(h), or h -> h + f(h) if `direct`.

    f(h) = W tanh(h) with W (32, 32) drawn with spread gain / sqrt(32). The gradient starts with length 1 at
    the output, 16 inputs are averaged.  -> (depth + 1,), from the first layer's input to the output
    """
    generator, width = torch.Generator().manual_seed(1), 32
    weights = torch.randn(depth, width, width, generator=generator, dtype=torch.float64)
    h = torch.randn(16, width, generator=generator, dtype=torch.float64, requires_grad=True)
    start = torch.randn(16, width, generator=generator, dtype=torch.float64)
    heights = [h]
    for W in weights * gain / math.sqrt(width):
        fh = torch.tanh(h) @ W.T
        h = h + fh if direct else fh
        heights.append(h)
    gradients = torch.autograd.grad(h, heights, start / start.norm(dim=-1, keepdim=True))
    return np.array([gradient.norm(dim=-1).mean().item() for gradient in gradients])


def depth_compared(depth: int, gain: float) -> DepthCompared:
    """The gradient by layer of the same stack without and with the direct path."""
    plain, with_path = (gradient_by_layer(depth, gain, direct) for direct in (False, True))
    return DepthCompared(depth, plain, with_path)


@torch.enable_grad()
def slope_through_halving_layers(depth: int) -> float:
    """The slope of `depth` layers in a row that halve, without the direct path, as autograd finds it."""
    h = x = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
    for _layer in range(depth):
        h = 0.5 * h
    (slope,) = torch.autograd.grad(h, x)
    return slope.item()


# ---- learning rates ----

RATES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
STEPS = 60
LAST = 10  # steps that the loss "at the end" averages


@cache
@torch.enable_grad()
def train_all_rates(depth: int) -> np.ndarray:
    """Train one small net for every rate of RATES, without and with the direct path, all side by side.

    The task: 32 random inputs, each with a random sign to tell; f(h) = W tanh(h), plain gradient descent.
    -> squared error by path, rate and step  # (2, len(RATES), STEPS + 1)
    """
    generator, width = torch.Generator().manual_seed(3), 16
    normal = partial(torch.randn, generator=generator, dtype=torch.float32)
    inputs = normal(32, width)
    signs = normal(32).sign()
    first = normal(depth, width, width) * 0.6 / math.sqrt(width)
    reader = normal(width) / width
    nets = 2 * len(RATES)
    weights = first.repeat(nets, 1, 1, 1).requires_grad_()  # (nets, depth, D, D)
    direct = torch.tensor([0.0] * len(RATES) + [1.0] * len(RATES), dtype=torch.float32)[:, None, None]
    rates = torch.tensor(RATES * 2, dtype=torch.float32)[:, None, None, None]
    losses = []
    for _step in range(STEPS + 1):
        h = inputs.repeat(nets, 1, 1)  # (nets, 32, D)
        for layer in range(depth):
            h = direct * h + torch.tanh(h) @ weights[:, layer].transpose(1, 2)
        loss = ((h @ reader) - signs).square().mean(dim=1)  # (nets,)
        losses.append(loss.detach().clone())
        (gradient,) = torch.autograd.grad(loss.sum(), weights)
        weights = (weights.detach() - rates * gradient).requires_grad_()
    return torch.stack(losses, dim=1).view(2, len(RATES), STEPS + 1).numpy()


def trained(depth: int, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """The losses at one of RATES, without and with the direct path; each  # (STEPS + 1,)"""
    without, with_path = train_all_rates(depth)[:, RATES.index(rate)]
    return without, with_path


def outcome(losses: np.ndarray) -> str:
    """What a training did: "fails", "learns" (loss below a quarter), "learns a little" or "stands still"."""
    start, end = float(losses[0]), float(np.mean(losses[-LAST:]))
    if not np.isfinite(end) or end > 1.1 * start:
        return "fails"
    if end < 0.25 * start:
        return "learns"
    return "learns a little" if end < 0.9 * start else "stands still"


@dataclass(frozen=True)
class TrainingCompared:
    """Loss by step of the same net without and with the direct path; each  # (STEPS + 1,)"""

    depth: int
    rate: float
    plain: np.ndarray
    residual: np.ndarray


def training_compared(depth: int, rate: float) -> TrainingCompared:
    """The losses of both nets of this depth at this learning rate."""
    return TrainingCompared(depth, rate, *trained(depth, rate))
