"""What 10_sampling computes: settings in, arrays out."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ... import sampling

LOGITS = torch.tensor([3.2, 2.9, 2.3, 1.8, 1.0, 0.8, -0.3, -1.0, -2.0, -3.0], dtype=torch.float64)
ALL = len(LOGITS)  # as a value of top-k: keep all


def entropy(probabilities: Tensor) -> float:
    """The entropy of a distribution in nats: 0 if one outcome is certain, ln n if n are alike."""
    return float(torch.special.entr(probabilities).sum())


# ---- three filters in a row ----


@dataclass(frozen=True)
class Filtered:
    """The same ten tokens at four stages: softmax alone, then temperature, top-k and top-p."""

    probabilities: np.ndarray  # (4, ALL), 0 where dropped
    survives: np.ndarray  # (4, ALL) boolean
    entropies: list[float]


def filtered(temperature: float, top_k: int, top_p: float) -> Filtered:
    """Send LOGITS through the three filters, in the order of `sampling.stages`."""
    stages = sampling.stages(LOGITS, temperature, top_k, top_p)
    rows = [LOGITS.softmax(dim=-1), *(stage.probabilities for stage in stages)]
    survives = [torch.ones(ALL, dtype=torch.bool), *(stage.survives for stage in stages)]
    return Filtered(torch.stack(rows).numpy(), torch.stack(survives).numpy(), [entropy(row) for row in rows])


# ---- draws beside theory ----


@dataclass(frozen=True)
class Drawn:
    """Probabilities and the shares of `draws` draws from them.  # (ALL,)"""

    draws: int
    probabilities: np.ndarray
    shares: np.ndarray


def drawn(temperature: float, draws: int, seed: int) -> Drawn:
    """Draw `draws` tokens at this temperature and count them."""
    probabilities = sampling.probabilities(LOGITS, temperature)
    generator = torch.Generator().manual_seed(seed)
    ids = torch.multinomial(probabilities, draws, replacement=True, generator=generator)
    return Drawn(draws, probabilities.numpy(), (ids.bincount(minlength=ALL).float() / draws).numpy())


# ---- the loop ----

SHOWN = 12


@dataclass(frozen=True)
class Written:
    """A text, how far it has come, and what can be drawn next."""

    prompt: str
    text: str  # what was drawn
    count: int
    reason: str | None  # "end", "limit" or None
    candidates: list[tuple[str, float]]
    survivors: int
    window: int
    context: int
