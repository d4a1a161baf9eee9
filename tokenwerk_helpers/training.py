"""Where the weights come from: a short loop that predicts each next token, and yields its progress.

    training = train(config, batches(rows, 32), steps=300)
    for progress in training:
        print(progress.step, progress.train_loss)

Leave the loop at any time; a second `for` over the same `training` goes on where the first one stopped.

For a given seed and number of threads the weights come out bit for bit the same. With another number of
threads sums are added in another order, and after some hundred steps the second decimal of the loss
differs.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from random import Random
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from .apart import Seeded
from .corpus import stories
from .model import Config, Decoder
from .tokenizer import Tokenizer

IGNORED = -100  # target of a padded position: `cross_entropy` leaves it out

# --- Batches --------------------------------------------------------------------------------------

Row = Sequence[int]  # the ids of a whole text: start token, text, end token


class Batch(NamedTuple):
    """Several texts side by side: ids (B, T) and at each position the id that comes next, targets (B, T)."""

    ids: Tensor
    targets: Tensor


def framed(text: str, tokenizer: Tokenizer) -> list[int]:
    """The ids of a text between start and end token: the model is to learn how to begin and when to stop."""
    return [tokenizer.start, *tokenizer.encode(text), tokenizer.end]


def batch(rows: Sequence[Row]) -> Batch:
    """Lay rows side by side, shifted by one: what is read at a position, and what comes next.

    Each text stands alone in its row, so that no text sees another one. Shorter rows are padded on the
    right with their last id; no earlier position can look there, and the targets there are ignored.
    ValueError without a row, or for an empty one.
    """
    if not rows or not all(map(len, rows)):
        raise ValueError("a batch needs at least one row, and in each row at least one id")
    longest = max(map(len, rows))
    ids = torch.tensor([[*row, *[row[-1]] * (longest - len(row))] for row in rows])
    padding = torch.arange(1, longest) >= torch.tensor([[len(row)] for row in rows])  # (B, T)
    return Batch(ids[:, :-1], ids[:, 1:].masked_fill(padding, IGNORED))


def alike(rows: Sequence[Row], size: int, random: Random) -> Iterator[list[Row]]:
    """Cut rows into groups of one size and similar length, in random order; a remainder is left out.

    Padded to the longest of 32 stories at random, a third of all positions would be padding.
    """
    ordered = sorted(rows, key=len)
    firsts = list(range(len(rows) % size, len(rows), size))
    random.shuffle(firsts)
    for first in firsts:
        yield ordered[first : first + size]


def batches(rows: Sequence[Row], size: int, seed: int = 0) -> Iterator[Batch]:
    """Yield batches from a fixed set of rows without end, each row once before any comes again."""
    if not rows:
        raise ValueError("there are no rows to make batches of")
    random = Random(seed)
    waiting: list[Row] = []
    while True:
        while len(waiting) < size:
            waiting += random.sample(rows, len(rows))
        yield batch(waiting[:size])
        del waiting[:size]


def fresh_batches(
    tokenizer: Tokenizer, size: int, seed: int = 0, pool: int = 8, language: str | None = None
) -> Iterator[Batch]:
    """Yield batches of training stories that the grammar has just written, `pool` batches at a time.

    language: as in `corpus.stories`, which must be that of the tokenizer.
    """
    random, written = Random(seed), stories(seed, language=language)
    while True:
        rows = [framed(story.text, tokenizer) for story in islice(written, size * pool)]
        for group in alike(rows, size, random):
            yield batch(group)


# --- Loss -----------------------------------------------------------------------------------------


def loss(model: Decoder, batch: Batch) -> Tensor:
    """Mean surprise -ln p(next token) over all tokens of a batch, in nats."""
    logits = model(batch.ids)  # (B, T, V)
    return F.cross_entropy(logits.flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORED)


@torch.no_grad()
def loss_on(model: Decoder, rows: Sequence[Row], size: int = 256) -> float:
    """Mean surprise over all tokens of all rows, in nats, in eval mode; the model's own mode comes back.

    ValueError if the rows hold nothing to predict.
    """
    was_training = model.training
    model.eval()
    try:
        total, tokens = 0.0, 0
        for first in range(0, len(rows), size):
            part = batch(rows[first : first + size])
            count = int((part.targets != IGNORED).sum())
            total, tokens = total + float(loss(model, part)) * count, tokens + count
    finally:
        model.train(was_training)
    if not tokens:
        raise ValueError("these rows hold nothing to predict: there is no loss on them")
    return total / tokens


def averaged(losses: Iterable[float], count: int) -> list[float]:
    """The means of `count` losses each, one after the other; an unfinished rest is left out."""
    losses = list(losses)
    return [sum(losses[i : i + count]) / count for i in range(0, len(losses) - count + 1, count)]


# --- The loop -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recipe:
    """How the weights are moved. AdamW: Loshchilov and Hutter 2019."""

    steps: int = 4000
    learning_rate: float = 2e-3  # with 5e-3 copying is hardly learned in this time
    warm_up: int = 50  # steps from 0 to the full rate, while Adam's averages are still guesses
    final_share: float = 0.05  # of the learning rate, at the end of the cosine
    betas: tuple[float, float] = (0.9, 0.98)
    weight_decay: float = 0.05  # on matrices only: biases and norms are few and harmless
    clip: float = 1.0  # longest gradient; longer ones are shortened to it

    def rate(self, step: int) -> float:
        """The learning rate of a step, counted from 0: a straight line up, then half a cosine down."""
        if step < self.warm_up:
            return self.learning_rate * (step + 1) / self.warm_up
        progress = min(1.0, (step - self.warm_up) / max(1, self.steps - self.warm_up))
        share = self.final_share + (1 - self.final_share) * (1 + math.cos(math.pi * progress)) / 2
        return self.learning_rate * share


class Progress(NamedTuple):
    """What a step did: the loss of its batch before it, and, if measured, the validation loss after it."""

    step: int  # steps made so far, this one included
    train_loss: float
    validation_loss: float | None
    learning_rate: float


class Training:
    """A training under way: an iterator that makes one step each time it is asked and says how it went.

    RuntimeError, naming the step, if the batches run out before the recipe's last step.
    The state is all here (`model`, `optimizer`, `step`, the batches), so stopping is not asking, and going
    on is asking again.
    """

    def __init__(
        self,
        model: Decoder,
        batches: Iterable[Batch],
        recipe: Recipe | None = None,
        validation: Sequence[Row] = (),
        validate_every: int = 100,
    ):
        self.model, self.recipe = model, recipe or Recipe()
        self.batches = iter(batches)
        self.validation, self.validate_every = validation, validate_every
        self.step = 0

    @cached_property
    def optimizer(self) -> torch.optim.AdamW:
        """Made for the first step: torch imports its compiler for an optimizer, which takes seconds."""
        return optimizer(self.model, self.recipe)

    def __iter__(self) -> "Training":
        return self

    def __next__(self) -> Progress:
        if self.step >= self.recipe.steps:
            raise StopIteration
        batch = next(self.batches, None)
        if batch is None:
            raise RuntimeError(
                f"the batches ran out after step {self.step} of {self.recipe.steps}: pass more of them, or "
                "some without end, as batches(rows, size) makes them"
            )
        rate = self.recipe.rate(self.step)
        train_loss = self._move(batch, rate)
        self.step += 1
        return Progress(self.step, train_loss, self._validate(), rate)

    def _move(self, batch: Batch, rate: float) -> float:
        """Move the weights one step against the gradient of this batch; return its loss before."""
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.model.train()
        self.optimizer.zero_grad()
        with torch.enable_grad():
            surprise = loss(self.model, batch)
            surprise.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.recipe.clip)
        self.optimizer.step()
        return surprise.item()

    def _validate(self) -> float | None:
        due = self.step % self.validate_every == 0 or self.step == self.recipe.steps
        return loss_on(self.model, self.validation) if due and self.validation else None


def optimizer(model: Decoder, recipe: Recipe) -> torch.optim.AdamW:
    """AdamW with weight decay on matrices only."""
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    vectors = [p for p in model.parameters() if p.dim() < 2]
    groups = [
        {"params": matrices, "weight_decay": recipe.weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=recipe.learning_rate, betas=recipe.betas, fused=True)


def new_model(config: Config, seed: int = 0) -> Decoder:
    """A decoder in float32 with random weights from a seed; no global random number is drawn for it."""
    with Seeded(seed):
        return Decoder(config)


def train(
    config: Config,
    batches: Iterable[Batch],
    validation: Sequence[Row] = (),
    seed: int = 0,
    validate_every: int = 100,
    **recipe,
) -> Training:
    """Begin to train a new decoder; iterate over the result to make the steps.

    batches: `batches(rows, size)`, `fresh_batches(tokenizer, size)` or any other iterable of `Batch`.
    validation: rows that are never trained on; their loss is measured every `validate_every` steps and at
    the end. recipe: steps, learning_rate and the other fields of `Recipe`.
    """
    return Training(new_model(config, seed), batches, Recipe(**recipe), validation, validate_every)
