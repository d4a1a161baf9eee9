"""One small net trained at many learning rates, without and with the direct path: the data of 01."""

import math
from functools import cache, partial

import numpy as np
import torch

RATES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
STEPS = 60
LAST = 10  # steps that the loss "at the end" averages


@cache
@torch.enable_grad()
def train_all_rates(depth: int, width: int = 16, seed: int = 3) -> np.ndarray:
    """Train one small net for every rate of RATES, without and with the direct path, all side by side.

    The task: 32 random inputs, each with a random sign to tell; f(h) = W tanh(h), plain gradient descent.
    -> squared error by path, rate and step  # (2, len(RATES), STEPS + 1)
    """
    generator = torch.Generator().manual_seed(seed)
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
