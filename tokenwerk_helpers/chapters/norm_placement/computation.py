"""What 06b_norm_placement computes: settings in, arrays out."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ... import training
from ...apart import Seeded
from ...model import NORM_PLACEMENTS, Config, Decoder
from ...tokenizer import split
from ...trace import Replacement, ablate, running_with, trace

WEIGHTS = Path(__file__).parents[2] / "weights"
RECORDING = WEIGHTS / "norm_placement.json"
# 2000 stories as `corpus` once wrote them, one a line: kept, so that the recording can be reproduced whatever
# becomes of the grammar.
STORIES = WEIGHTS / "norm_placement_stories.txt"

WIDTH, HEADS, CONTEXT, BATCH, STEPS = 64, 4, 32, 16, 300
DEPTHS, RATES, WARM_UP = (2, 6, 12), (1e-3, 3e-3), 100  # of the trainings
GRADIENT_DEPTHS = (1, 2, 4, 6, 8, 12, 16, 24)  # of the gradients before the first step
INITIALIZATIONS = ("xavier", "small")
EVERY = 5  # steps that one recorded figure averages
LAST = 20  # steps that the loss "at the end" averages


@dataclass(frozen=True)
class Run:
    """One training: where the norm sits, how many blocks, the learning rate, and the steps of its warm-up."""

    norm: str
    blocks: int
    rate: float
    warm_up: int = 0
    residual: bool = True  # False: both direct paths of every block are cut

    def cut(self, model: Decoder) -> dict[str, Replacement]:
        """What to run the model with, as `trace.running_with` takes it."""
        return {} if self.residual else ablate(model, "residual")

    def rate_at(self, step: int) -> float:
        """The learning rate of a step, counted from 0: it rises in a straight line during the warm-up."""
        return self.rate * min(1.0, (step + 1) / self.warm_up) if self.warm_up else self.rate


# ---- the data: words of the stories, as one long row of ids ----


@cache
def story_ids() -> tuple[Tensor, int]:
    """The stories end to end as ids (one id a word or mark), and the number of different ids."""
    words = split(STORIES.read_text(encoding="utf-8"))
    ids = {word: id for id, word in enumerate(sorted(set(words)))}
    return torch.tensor([ids[word] for word in words]), len(ids)


def batches(seed: int, size: int = BATCH) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield inputs and targets without end: pieces from random places, the targets one word further on.

    Both (size, CONTEXT).
    """
    ids, _count = story_ids()
    generator = torch.Generator().manual_seed(seed)
    while True:
        starts = torch.randint(len(ids) - CONTEXT, (size, 1), generator=generator)
        pieces = ids[starts + torch.arange(CONTEXT + 1)]  # (size, CONTEXT + 1)
        yield pieces[:, :-1], pieces[:, 1:]


# ---- the start ----


def fresh_model(norm: str, blocks: int, initialization: str = "xavier", seed: int = 0) -> Decoder:
    """A new decoder; models of one depth and seed start with the same weights wherever their norm sits.

    initialization: "xavier" draws every linear layer so that values keep their spread (Glorot and Bengio
    2010), as the 2017 Transformer did; "small" draws all weights with spread 0.02, as GPT-2 did.
    """
    if initialization not in INITIALIZATIONS:
        raise ValueError(
            f"initialization must be one of {', '.join(INITIALIZATIONS)}, not {initialization!r}"
        )
    with Seeded(seed):
        model = Decoder(Config(story_ids()[1], CONTEXT, WIDTH, HEADS, blocks, norm=norm))
        for module in model.modules():
            if isinstance(module, nn.Embedding):
                nn.init.normal_(module.weight, std=WIDTH**-0.5 if initialization == "xavier" else 0.02)
        for linear in model.blocks.modules():  # the head is the token table
            if isinstance(linear, nn.Linear) and initialization == "xavier":
                nn.init.xavier_uniform_(linear.weight)
            elif isinstance(linear, nn.Linear):
                nn.init.normal_(linear.weight, std=0.02)
    return model


def loss_of(model: Decoder, inputs: Tensor, targets: Tensor) -> Tensor:
    """The mean cross-entropy of the next word, in nats."""
    return F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())


def gradients_at_start(
    norm: str, blocks: int, initialization: str = "xavier", seed: int = 0, residual: bool = True
) -> list[float]:
    """The length of the loss's gradient for W2 of each block, first to last, before any step of training.

    W2, the second matrix of the feed-forward network, is the one whose gradient Xiong et al. 2020 bound.
    residual=False cuts both direct paths of every block.
    """
    model = fresh_model(norm, blocks, initialization, seed)
    cut = {} if residual else ablate(model, "residual")
    with torch.enable_grad(), running_with(model, cut):
        loss_of(model, *next(batches(seed + 1))).backward()
    return [block.mlp.down.weight.grad.norm().item() for block in model.blocks]


def gradient_beside_post_norm(norm: str, blocks: int) -> float:
    """How many times as long the gradient in the last block is as with post-norm, before the first step."""
    here, post = (gradients_at_start(placement, blocks)[-1] for placement in (norm, "post"))
    return here / post


@dataclass(frozen=True)
class AtStart:
    """Length of the gradient for W2 of every block; each  # (L,)

    By placement of the norm, and "cut": pre-norm without its direct paths.
    """

    blocks: int
    initialization: str
    gradients: Mapping[str, np.ndarray]


@cache
def at_start(blocks: int, initialization: str) -> AtStart:
    """Measure the gradients of an untrained decoder, for each placement of the norm."""
    gradients = {norm: np.array(gradients_at_start(norm, blocks, initialization)) for norm in NORM_PLACEMENTS}
    cut = gradients_at_start("pre", blocks, initialization, residual=False)
    return AtStart(blocks, initialization, gradients | {"cut": np.array(cut)})


# ---- the training ----


def _training(model: Decoder, run: Run, seed: int) -> Iterator[float]:
    cut = run.cut(model)
    # fused: one pass over all weights, half the time of a step where the model is deep.
    optimizer = torch.optim.Adam(model.parameters(), lr=run.rate, fused=True)
    for step, (inputs, targets) in zip(range(STEPS), batches(seed + 1)):
        optimizer.zero_grad()
        with torch.enable_grad(), running_with(model, cut):
            loss = loss_of(model, inputs, targets)
            loss.backward()
        optimizer.param_groups[0]["lr"] = run.rate_at(step)
        optimizer.step()
        yield loss.item()


def train(run: Run, seed: int = 0) -> Iterator[float]:
    """Train with Adam, without clipping or weight decay, and yield the loss of each step, STEPS in all."""
    yield from _training(fresh_model(run.norm, run.blocks, seed=seed), run, seed)


averaged = partial(training.averaged, count=EVERY)


# ---- a look inside ----

TABLES = {"W_Q": "attn.q", "W_K": "attn.k", "W2": "mlp.down"}


class Inside(NamedTuple):
    """A decoder looked into; each list has one number a block, first to last.

    alike: how alike the lists of different positions are as they leave the block (1: all in one direction).
    gradients: by table of TABLES, the length of the loss's gradient for it.
    """

    alike: list[float]
    gradients: dict[str, list[float]]


def alikeness(x: Tensor) -> float:
    """The mean cosine between the lists of two different positions of one text: (B, T, D) -> -1 to 1.

    Near 1 for all texts is what Dong et al. 2021 call rank collapse.
    """
    directions = F.normalize(x, dim=-1)
    cosines = directions @ directions.mT  # (B, T, T)
    T = x.shape[1]
    return cosines[:, ~torch.eye(T, dtype=torch.bool)].mean().item()


def look(model: Decoder, run: Run, seed: int = 0) -> Inside:
    """Look into the model on pieces drawn for this alone; its gradients are gone afterwards."""
    cut = run.cut(model)
    inputs, targets = next(batches(seed + 2))
    model.zero_grad()
    with torch.enable_grad(), running_with(model, cut):
        loss_of(model, inputs, targets).backward()
    gradients = {
        name: [block.get_submodule(part).weight.grad.norm().item() for block in model.blocks]
        for name, part in TABLES.items()
    }
    model.zero_grad()
    seen = trace(model, inputs, replace=cut)
    return Inside([alikeness(seen[f"blocks.{i}"]) for i in range(run.blocks)], gradients)


def looks_along(run: Run, seed: int = 0) -> Iterator[tuple[int, Inside | None]]:
    """Train up to the last of LOOKS and yield the steps made so far, with a look inside where one is due."""
    model = fresh_model(run.norm, run.blocks, seed=seed)
    yield 0, look(model, run, seed)
    for step, _loss in zip(range(1, LOOKS[-1] + 1), _training(model, run, seed)):
        yield step, look(model, run, seed) if step in LOOKS else None


def look_inside(run: Run, steps: int, seed: int = 0) -> Inside:
    """Train for so many steps, at most STEPS, then look into the model."""
    model = fresh_model(run.norm, run.blocks, seed=seed)
    for _loss in islice(_training(model, run, seed), steps):
        pass
    return look(model, run, seed)


LOOKS = (0, 5, 10, 20, 40, 60)  # after so many steps
LOOK_DEPTHS, LOOK_SEEDS, OWN_SEED = (6, 12), (0, 1, 2), 3
INSIDES = WEIGHTS / "norm_placement_inside.json"


def arrangements(blocks: int) -> dict[str, Run]:
    """What is looked into at one depth: each placement, and "cut", pre-norm without direct paths."""
    runs = {norm: Run(norm, blocks, RATES[0]) for norm in NORM_PLACEMENTS}
    return runs | {"cut": Run("pre", blocks, RATES[0], residual=False)}


@cache
def recorded_insides() -> dict[tuple[int, str, int], dict[int, Inside]]:
    """The recorded looks: (blocks, arrangement, seed) -> steps -> Inside."""
    content = json.loads(INSIDES.read_text(encoding="utf-8"))
    return {
        (entry["blocks"], entry["arrangement"], entry["seed"]): {
            int(step): Inside(**inside) for step, inside in entry["looks"].items()
        }
        for entry in content
    }


@dataclass(frozen=True)
class Looks:
    """One arrangement after so many steps, from every recorded seed, and the others beside it.

    alike: by arrangement  # (S, L); gradients: by table of TABLES, of the chosen arrangement  # (S, L)
    """

    blocks: int
    arrangement: str
    steps: int
    alike: Mapping[str, np.ndarray]
    gradients: Mapping[str, np.ndarray]


def geometric_mean(lengths: np.ndarray) -> np.ndarray:
    """The mean over the seeds on a logarithmic scale: (S, L) -> (L,)."""
    return np.exp(np.log(lengths).mean(axis=0))


def recorded_looks(blocks: int, arrangement: str, steps: int) -> Looks:
    """What was recorded at this depth, for this arrangement, after these steps."""
    found = recorded_insides()

    def all_seeds(name: str) -> list[Inside]:
        return [found[blocks, name, seed][steps] for seed in LOOK_SEEDS]

    alike = {name: np.array([one.alike for one in all_seeds(name)]) for name in arrangements(blocks)}
    chosen = all_seeds(arrangement)
    gradients = {table: np.array([one.gradients[table] for one in chosen]) for table in TABLES}
    return Looks(blocks, arrangement, steps, alike, gradients)


# ---- the recording ----


def runs_at(blocks: int, rate: float) -> list[Run]:
    """The runs to compare at one depth and learning rate."""
    return [
        Run("pre", blocks, rate),
        Run("post", blocks, rate),
        Run("post", blocks, rate, warm_up=WARM_UP),
        Run("none", blocks, rate),
        Run("pre", blocks, rate, residual=False),
    ]


def all_runs() -> list[Run]:
    """Every run that is recorded."""
    return [run for blocks in DEPTHS for rate in RATES for run in runs_at(blocks, rate)]


@cache
def recorded() -> dict[Run, tuple[float, ...]]:
    """The recorded losses of every run, each the mean of EVERY steps.  # (STEPS / EVERY,)"""
    content = json.loads(RECORDING.read_text(encoding="utf-8"))
    return {Run(**entry["run"]): tuple(entry["losses"]) for entry in content["runs"]}


def final_loss(losses: Iterable[float], every: int = EVERY) -> float:
    """The mean loss of the last LAST steps, from losses that average `every` steps each."""
    last = list(losses)[-LAST // every :]
    return sum(last) / len(last)


@cache
def frequency_loss() -> float:
    """The loss, in nats, of always answering with the frequencies of the words: their entropy."""
    ids, count = story_ids()
    shares = torch.bincount(ids, minlength=count).double() / len(ids)
    return -(shares * shares.log()).sum().item()


def has_learned(losses: Iterable[float]) -> bool:
    """Did the loss at the end fall below that of knowing how often each word occurs, and nothing else?

    Two thirds of it are asked for: runs that fail end near it, runs that learn far below.
    """
    return final_loss(losses) < 2 / 3 * frequency_loss()


def who_learns(blocks: int, rate: float) -> list[str]:
    """Which of pre-norm and post-norm learns at this depth and rate without a warm-up, as recorded."""
    return [norm for norm in ("pre", "post") if has_learned(recorded()[Run(norm, blocks, rate)])]


@dataclass(frozen=True)
class Trainings:
    """Recorded losses of the runs at one depth and learning rate, each the mean of a few steps."""

    blocks: int
    rate: float
    curves: list[np.ndarray]  # in the order of `variant_names`
    chosen: int  # the variant the reader may train beside them


def recorded_trainings(blocks: int, rate: float, variant: int = 0) -> Trainings:
    """The recorded curves of all variants at one depth and learning rate."""
    curves = recorded()
    runs = runs_at(blocks, rate)
    return Trainings(blocks, rate, [np.array(curves[run]) for run in runs], variant)


def middles(averages) -> np.ndarray:
    """The steps in the middle of what each recorded figure averages."""
    return (np.arange(len(averages)) + 0.5) * EVERY
