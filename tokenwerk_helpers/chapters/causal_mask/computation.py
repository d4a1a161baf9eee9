"""What 05_causal_mask computes: settings in, arrays out."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ... import model, training
from ...apart import Seeded
from ...pretrained import folder_of, load
from ...tokenizer import Tokenizer
from ...trace import trace
from ..reading import Reading, another_name, first_word

KINDS = ("causal", "none", "window", "prefix")
SIZED = ("window", "prefix")  # the kinds that have a width


def mask(kind: str, T: int, width: int) -> Tensor:
    """Who may look at whom: (T, T), boolean, True = may look.

    "causal": itself and everything before. "none": everywhere, as in BERT (Devlin et al. 2019). "window":
    itself and the `width` - 1 positions before (Child et al. 2019; that of Beltagy et al. 2020 looks to both
    sides unless it writes text). "prefix": the first `width` positions see each other, the rest is causal
    (Raffel et al. 2020).
    """
    causal = model.causal_mask(T)
    if kind == "causal":
        return causal
    if kind == "none":
        return torch.ones_like(causal)
    if kind == "window":
        return causal & ~causal.tril(-width)
    if kind == "prefix":
        allowed = causal.clone()
        allowed[:width, :width] = True
        return allowed
    raise ValueError(f"kind is one of {', '.join(KINDS)}, not {kind!r}")


def looks(kind: str, T: int, width: int = 1) -> int:
    """How many looks a mask allows among T tokens: the number of its ones."""
    return int(mask(kind, T, width).sum())


# ---- one head of a real model under a mask ----


@dataclass(frozen=True)
class MaskedHead:
    """Scores, masked scores and weights of one head on one text; each  # (T, T)"""

    labels: list[str]
    allowed: np.ndarray
    scores: np.ndarray
    masked: np.ndarray
    weights: np.ndarray
    kind: str
    block: int  # from 1, and so is the head
    head: int


def masked_head(
    reading: Reading, text: str, block: int, head: int, kind: str, allowed: Tensor, temperature: float
) -> MaskedHead:
    """Read the text under this mask and keep one head; block and head are counted from 1."""
    ids = reading.ids(text)
    seen = trace(reading.model, torch.tensor([ids]), allowed)
    scores = seen[f"blocks.{block - 1}.attn.scores"][0, head - 1] / temperature  # (T, T)
    masked = model.hide(scores, allowed)
    arrays = (each.numpy() for each in (allowed, scores, masked, model.softmax(masked)))
    return MaskedHead(reading.labels(ids), *arrays, kind, block, head)


# ---- what leaks ----


@dataclass(frozen=True)
class Leak:
    """How far each position's prediction moves when one token is exchanged.  # moved (T,)"""

    labels: list[str]
    changed: int
    new: str
    kind: str
    moved: np.ndarray  # total variation distance between the predictions before and after, 0 to 1


PLACE = 4  # of the exchange to begin with, counted from 1: who gets a gift
VISIBLE = 0.05  # a movement that a reader can see in the picture


def visibly(moved: np.ndarray) -> int:
    """How many of the predictions move by more than VISIBLE."""
    return int((moved > VISIBLE).sum())


def movement(decoder, ids: list[int], place: int, substitute: int, allowed: Tensor) -> np.ndarray:
    """How far every position's prediction moves if the id at `place` is exchanged: (T,), from 0 to 1.

    Measured as total variation distance: half the sum of the absolute differences of the probabilities.
    """
    both = torch.tensor([ids, ids])
    both[1, place] = substitute
    with torch.no_grad():
        before, after = decoder(both, allowed).softmax(dim=-1)  # (T, V) twice
    return (0.5 * (before - after).abs().sum(dim=-1)).numpy()


def spelled(reading: Reading, new: str, like: int) -> list[int]:
    """The ids of a word, after a space if the token it replaces has one and it is one token that way."""
    encode, word = reading.tokenizer.encode, new.strip()
    if reading.tokenizer.decode([like]).startswith(" ") and len(encode(" " + word)) == 1:
        return encode(" " + word)
    return encode(word)


def leak(reading: Reading, text: str, position: int, new: str, kind: str, width: int) -> Leak:
    """Exchange the token at a position, from 1, for `new` and measure whose predictions move."""
    ids = reading.ids(text)
    place = min(position, len(ids)) - 1
    (substitute,) = spelled(reading, new, ids[place])
    moved = movement(reading.model, ids, place, substitute, mask(kind, len(ids), width))
    return Leak(reading.labels(ids), place, new, kind, moved)


def first_substitute(reading: Reading, text: str) -> str:
    """A word to begin with: another name, or where that is several tokens, a later token of the text."""
    ids = reading.ids(text)
    like = ids[min(PLACE, len(ids)) - 1]
    later = [reading.tokenizer.decode([id]).strip() for id in ids[PLACE:] if id != like]
    fitting = (word for word in [another_name(), *later] if word and len(spelled(reading, word, like)) == 1)
    return next(fitting, "F")  # a single letter is a token of every byte pair encoding


def outputs_that_move(place: int, allowed: Tensor, layers: int = 1) -> list[int]:
    """The outputs that can move when token `place`, counted from 1, changes under a mask (T, T)."""
    moved = torch.arange(len(allowed)) == place - 1  # (T,)
    for _layer in range(layers):
        moved = (allowed & moved).any(dim=1)
    return (moved.nonzero()[:, 0] + 1).tolist()


# ---- copying the future ----

RECORDING = "copying_the_future.json"  # beside the weights of a language, whose stories it read
MASKED, UNMASKED = "masked", "unmasked"
KINDS_OF_TRAINING = (MASKED, UNMASKED)
STEPS, EVERY = 600, 10  # steps of a training, and how many of them one recorded figure averages
MOST_TOKENS = 18  # that the models write behind the first word of the example's story


class Unmasked(model.Decoder):
    """A decoder whose every position looks everywhere, into the future too."""

    def forward(self, ids: Tensor, allowed: Tensor | None = None) -> Tensor:
        """Logits for ids (B, T): (B, T, V)."""
        T = ids.shape[1]
        return super().forward(ids, torch.ones(T, T, dtype=torch.bool))


def train(kind: str, tokenizer: Tokenizer, seed: int = 0) -> training.Training:
    """Begin to train a small decoder on new stories, with the causal mask or without any.

    Both begin with the same weights and read the same stories.
    """
    config = model.Config(len(tokenizer), context_length=64, width=32, heads=4, blocks=2)
    with Seeded(seed):
        decoder = {MASKED: model.Decoder, UNMASKED: Unmasked}[kind](config)
    recipe = training.Recipe(steps=STEPS, learning_rate=5e-3)
    return training.Training(decoder, training.fresh_batches(tokenizer, 16, seed), recipe)


class Both(NamedTuple):
    """The losses of one step of both trainings, and what each model then writes where that was due."""

    losses: dict[str, float]
    texts: dict[str, str] | None


def train_both(reading: Reading, seed: int = 0) -> Iterator[Both]:
    """Train with and without the mask side by side; after every EVERY steps both write."""
    trainings = {kind: train(kind, reading.tokenizer, seed) for kind in KINDS_OF_TRAINING}

    def written(decoder: model.Decoder) -> str:
        return first_word() + reading.continuation(first_word(), MOST_TOKENS, decoder)

    for step in range(1, STEPS + 1):
        losses = {kind: next(one).train_loss for kind, one in trainings.items()}
        due = step % EVERY == 0
        texts = {kind: written(one.model) for kind, one in trainings.items()} if due else None
        yield Both(losses, texts)


averaged = partial(training.averaged, count=EVERY)


def recorded() -> dict[str, dict[str, list]]:
    """The recorded trainings: kind -> "losses", means of EVERY steps, and the "texts" written after them."""
    return _read(folder_of(None) / RECORDING)


@cache
def _read(path: Path) -> dict[str, dict[str, list]]:
    return json.loads(path.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Future:
    """Both trainings, and where each of them stands after `step` steps.  # losses: (STEPS / EVERY,)"""

    step: int
    losses: dict[str, np.ndarray]
    texts: dict[str, str]

    def loss(self, kind: str) -> float:
        """The mean loss of the EVERY steps up to this one."""
        return float(self.losses[kind][self.step // EVERY - 1])


def future_after(step: int) -> Future:
    """The recording at a step, a multiple of EVERY."""
    found = recorded()
    losses = {kind: np.array(found[kind]["losses"]) for kind in KINDS_OF_TRAINING}
    return Future(step, losses, {kind: found[kind]["texts"][step // EVERY - 1] for kind in found})


def surprise(text: str) -> float:
    """How much a text surprises the shipped model, in nats per token: no story comes to much more than 1."""
    shipped = load()
    return training.loss_on(shipped.model, [training.framed(text, shipped.tokenizer)])


def writing_without_a_mask() -> str:
    """What the model trained without a mask writes, beside the one with it: "better", "alike" or "worse"."""
    texts = future_after(STEPS).texts
    ratio = surprise(texts[UNMASKED]) / surprise(texts[MASKED])
    return "worse" if ratio > 2 else "better" if ratio < 1 / 2 else "alike"


# ---- in the right place: before softmax ----


@dataclass(frozen=True)
class Places:
    """One row of three scores, the last hidden: weights if masked before, or after softmax.  # (3,)"""

    hidden: float
    before: np.ndarray
    after: np.ndarray


def masked_before_and_after(hidden: float, visible: tuple[float, float] = (1.0, 2.0)) -> Places:
    """Weights of two visible scores and a hidden one, masked before softmax and, wrongly, after it."""
    scores = torch.tensor([*visible, hidden], dtype=torch.float32)
    allowed = torch.tensor([True, True, False])
    before = model.softmax(model.hide(scores[None], allowed[None]))[0]
    after = scores.softmax(dim=-1) * allowed
    return Places(hidden, before.numpy(), after.numpy())


def weight_where_zero_is_added() -> float:
    """The weight of a forbidden place where a mask of 1 (allowed) and 0 is added to three equal scores."""
    scores = torch.zeros(3, dtype=torch.float64)
    return model.softmax(scores + torch.tensor([1.0, 1.0, 0.0], dtype=torch.float64))[2].item()
