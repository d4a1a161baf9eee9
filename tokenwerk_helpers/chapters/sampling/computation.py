"""What 10_sampling computes: settings in, arrays out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ... import sampling
from ..reading import Reading, example_gift

LOGITS = torch.tensor([3.2, 2.9, 2.3, 1.8, 1.0, 0.8, -0.3, -1.0, -2.0, -3.0], dtype=torch.float64)
ALL = len(LOGITS)  # as a value of top-k: keep all


def entropy(probabilities: Tensor) -> float:
    """The entropy of a distribution in nats: 0 if one outcome is certain, ln n if n are equally likely."""
    return float(torch.special.entr(probabilities).sum())


# ---- three filters in a row ----


@dataclass(frozen=True)
class Filtered:
    """The same ten tokens at four stages: softmax alone, then temperature, top-k and top-p."""

    probabilities: np.ndarray  # (4, ALL), 0 where dropped
    survives: np.ndarray  # (4, ALL) boolean
    entropies: list[float]


def filtered(temperature: float, top_k: int, top_p: float) -> Filtered:
    """Apply the three filters to LOGITS, one after the other as in `sampling.stages`."""
    stages = sampling.stages(LOGITS, temperature, top_k, top_p)
    rows = [LOGITS.softmax(dim=-1), *(stage.probabilities for stage in stages)]
    survives = [torch.ones(ALL, dtype=torch.bool), *(stage.survives for stage in stages)]
    return Filtered(torch.stack(rows).numpy(), torch.stack(survives).numpy(), [entropy(row) for row in rows])


# ---- draws beside theory ----


@dataclass(frozen=True)
class Drawn:
    """Probabilities, and how often each token came up in `draws` draws from them; each  # (ALL,)"""

    draws: int
    probabilities: np.ndarray
    shares: np.ndarray


def drawn(temperature: float, draws: int, seed: int) -> Drawn:
    """Draw `draws` tokens at this temperature and take the share of each."""
    probabilities = sampling.probabilities(LOGITS, temperature)
    generator = torch.Generator().manual_seed(seed)
    ids = torch.multinomial(probabilities, draws, replacement=True, generator=generator)
    return Drawn(draws, probabilities.numpy(), (ids.bincount(minlength=ALL).float() / draws).numpy())


def expected_deviation(p: float, draws: int) -> float:
    """The standard deviation of a token's share among this many draws, if its probability is p."""
    return math.sqrt(p * (1 - p) / draws)


# ---- the loop ----

SHOWN = 12


@dataclass(frozen=True)
class Written:
    """A text written so far, and what can be drawn next."""

    prompt: str
    text: str  # what was drawn
    count: int
    reason: str | None  # "end", "limit" or None
    candidates: list[tuple[str, float]]
    survivors: int
    window: int
    context: int


def written(
    reading: Reading,
    text: str,
    drawn: Sequence[sampling.Step],
    temperature: float,
    top_k: int,
    top_p: float,
) -> Written:
    """The text with the tokens drawn so far, and the candidates for the next one under these settings."""
    reason = drawn[-1].reason if drawn else None
    new = [step.id for step in drawn]
    visible = new[:-1] if reason == "end" else new
    so_far = [*reading.ids(text), *visible]
    stage = sampling.stages(reading.logits_after(so_far), temperature, top_k, top_p)[-1]
    return Written(
        text, reading.tokenizer.decode(visible), len(new), reason,
        reading.most_probable(stage.probabilities, SHOWN), int(stage.survives.sum()),
        min(len(so_far), reading.context), reading.context,
    )  # fmt: skip


# ---- what the questions ask ----


def lead_at(temperature: float) -> float:
    """How many times as probable as another a token is whose logit is larger by 1."""
    first, second = sampling.probabilities(torch.tensor([1.0, 0.0]), temperature)
    return float(first / second)


def kept_by_top_p() -> int:
    """How many tokens top-p keeps of 0.5, 0.3, 0.15 and 0.05 at p = 0.9."""
    logits = torch.tensor([0.5, 0.3, 0.15, 0.05]).log()
    return int(sampling.stages(logits, top_p=0.9)[-1].survives.sum())


def kept_by_temperature() -> str:
    """What is the same at temperatures 0.5 and 1.5: "probabilities", "order" of the tokens or "entropy"."""
    cold, warm = (sampling.probabilities(torch.tensor([0.3, -1.0, 2.0]), t) for t in (0.5, 1.5))
    same = {
        "probabilities": torch.allclose(cold, warm),
        "order": torch.equal(cold.argsort(), warm.argsort()),
        "entropy": math.isclose(entropy(cold), entropy(warm)),
    }
    (kept,) = (name for name, is_same in same.items() if is_same)
    return kept


def draws_for_half_the_deviation() -> int:
    """How many times as many draws halve the expected deviation."""
    half = expected_deviation(0.2, 100) / 2
    return next(n for n in range(1, 100) if math.isclose(expected_deviation(0.2, 100 * n), half))


def text_under_a_limit() -> str:
    """How a text with a limit of 5 compares to that with 40: "broken off", "shorter" or "another"."""
    reading = Reading()

    def drawn(limit: int) -> list[sampling.Step]:
        ids, dice = reading.ids(example_gift()), torch.Generator().manual_seed(1)
        return list(sampling.generate(reading.model, ids, limit, eos=reading.end, generator=dice))

    short, long = drawn(5), drawn(40)
    if [step.id for step in short] != [step.id for step in long[:5]]:
        return "another"
    return "broken off" if short[-1].reason == "limit" else "shorter"
