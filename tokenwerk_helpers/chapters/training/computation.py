"""What 11_training computes: settings in, arrays out."""

import math
import statistics
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from ... import corpus, model, training
from ...language import _
from ...model import Decoder
from ...pretrained import Checkpoint, load_checkpoints
from ...tokenizer import Tokenizer
from ...trace import Replacement, ablate, trace
from ..reading import Reading

# ---- targets: the same row, shifted by one ----


@dataclass(frozen=True)
class Shifted:
    """A text as a training example: what is read at each position, and what should come next."""

    inputs: list[str]
    targets: list[str]
    position: int


def shifted(reading: Reading, text: str, position: int) -> Shifted:
    """Shift a text by one, seen from a position (from 0); ReaderMistake if it is too long for the model."""
    reading.ids(text)  # refuses a text that is too long
    batch = training.batch([training.framed(text, reading.tokenizer)])
    inputs, targets = (reading.labels(row[0].tolist()) for row in batch)
    return Shifted(inputs, targets, min(position, len(inputs) - 1))


# ---- training here ----

WIDTH, VALIDATION, STEPS, SEED = 32, 60, 600, 0


@dataclass
class Curve:
    """The losses of a training so far; stories: how many it reads again and again, 0 if always new ones."""

    stories: int
    rate: float
    steps: list[int] = field(default_factory=list)
    train: list[float] = field(default_factory=list)
    validation_steps: list[int] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)
    sample_step: int = 0
    sample: str = ""  # what the model wrote after that step

    def add(self, progress: training.Progress) -> None:
        """Add the losses of one step."""
        self.steps.append(progress.step)
        self.train.append(progress.train_loss)
        if progress.validation_loss is not None:
            self.validation_steps.append(progress.step)
            self.validation.append(progress.validation_loss)


def new_training(stories: int, rate: float, tokenizer: Tokenizer) -> training.Training:
    """A new training of a small decoder on `stories` fixed stories, or on ever new ones if 0."""
    config = model.Config(vocab_size=len(tokenizer), context_length=64, width=WIDTH, heads=4, blocks=2)
    if stories:
        rows = [training.framed(story.text, tokenizer) for story in corpus.stories(SEED, stories)]
        batches = training.batches(rows, min(16, stories), SEED)
    else:
        batches = training.fresh_batches(tokenizer, 16, SEED)
    held_out = [training.framed(s.text, tokenizer) for s in corpus.stories(2_000_000, VALIDATION)]
    return training.train(
        config, batches, held_out, seed=SEED, validate_every=25, steps=STEPS, learning_rate=rate
    )


# ---- through the stored checkpoints ----


@dataclass(frozen=True)
class Moment:
    """The shipped model at one checkpoint: its figures, one head's weights, and how it continues a text."""

    step: int
    metrics: dict[str, float]
    labels: list[str]
    weights: np.ndarray  # (T, T) of one head
    block: int
    head: int
    text: str


def moment(reading: Reading, checkpoint: Checkpoint, text: str, block: int, head: int) -> Moment:
    """Let the model of a checkpoint read a text and continue it; block and head are counted from 1."""
    _ids, labels, seen = reading.read(text, checkpoint.model)
    weights = seen[f"blocks.{block - 1}.attn.weights"][0, head - 1].numpy()  # (T, T)
    continuation = reading.continuation(text, 6, checkpoint.model)
    return Moment(checkpoint.step, checkpoint.metrics, labels, weights, block, head, continuation)


def short_text() -> str:
    """A sentence that is short enough to be seen whole as a training example."""
    # Translators: a text for the model: one short sentence
    return _("A queen laughs.")


def spell() -> str:
    """The five words of a spell."""
    # Translators: a text for the model: five different words of spells
    return _("bora tika zumi lomi rafu")


def echo() -> str:
    """The second and third word of the spell: its echo so far."""
    # Translators: a text for the model: the second and the third of the five words
    return _("tika zumi")


def spell_text() -> str:
    """A spell and the beginning of its echo: what comes next has to be copied."""
    # Translators: a text for the model: a spell and an echo that breaks off
    text = _("The witch murmurs: {spell}. The echo calls: {echo}")
    return text.format(spell=spell(), echo=echo())


# ---- two heads in a row ----


class Head(NamedTuple):
    """A head by its place, both counted from 0."""

    block: int
    head: int


CHANGES = ("none", "first_off", "second_off", "exchanged")
NEXT = 5  # so many of the most probable next tokens


@dataclass(frozen=True)
class Circuit:
    """A head that looks one word back, one that copies with its help, and what the model then says."""

    step: int
    change: str
    read: list[str]  # the tokens that the first head reads: of the other text, if that was exchanged
    labels: list[str]
    first: np.ndarray  # (T, T), its weights on what it reads
    second: np.ndarray  # (T, T)
    found: int  # where the second head looks most from the last position
    following: list[tuple[str, float]]  # the most probable next tokens


def copying_heads(reading: Reading) -> tuple[Head, Head]:
    """The head that looks at the word before, and the one that copies, as they were measured."""
    return Head(*reading.known_head("previous")), Head(*reading.known_head("induction"))


def keys_after(model: Decoder, ids: Tensor, other: Tensor, first: Head, second: Head) -> Tensor:
    """The keys of the second head on `ids`, had the first head read `other`: ids (1, T) twice -> (1, T, D/H).

    All else that the first head feeds stays as it is (path patching; Wang et al. 2023).
    """
    at = f"blocks.{first.block}.attn.context"
    elsewhere = trace(model, other)[at][:, first.head]  # (1, T, D/H)

    def exchange(context: Tensor) -> Tensor:
        context[:, first.head] = elsewhere
        return context  # (1, H, T, D/H)

    keys = trace(model, ids, replace={at: exchange})[f"blocks.{second.block}.attn.k"]  # (1, T, D)
    return keys[..., _components(model, second)]


def _components(model: Decoder, head: Head) -> slice:
    width = model.config.width // model.config.heads
    return slice(head.head * width, (head.head + 1) * width)


def changed(
    model: Decoder, ids: Tensor, other: Tensor, change: str, first: Head, second: Head
) -> dict[str, Replacement]:
    """The replacements for one of CHANGES: ids and other (1, T)."""
    if change == "first_off":
        return ablate(model, heads=[first])
    if change == "second_off":
        return ablate(model, heads=[second])
    if change == "none":
        return {}
    keys, place = keys_after(model, ids, other, first, second), _components(model, second)

    def exchange(k: Tensor) -> Tensor:
        k[..., place] = keys
        return k  # (1, T, D)

    return {f"blocks.{second.block}.attn.k": exchange}


def circuit(
    checkpoint: Checkpoint, reading: Reading, ids: list[int], other: list[int], change: str,
    heads: tuple[Head, Head],
) -> Circuit:  # fmt: skip
    """Run the model at a step of its training with one of CHANGES; `other` as long as `ids` if exchanged."""
    first, second = heads
    own, read = torch.tensor([ids]), torch.tensor([other if change == "exchanged" else ids])  # (1, T)
    replace = changed(checkpoint.model, own, read, change, first, second)
    seen = trace(checkpoint.model, own, replace=replace)
    # Only where the texts differ does the first head look otherwise than in this run.
    looked = trace(checkpoint.model, read) if change == "exchanged" else seen
    looks = looked[f"blocks.{first.block}.attn.weights"][0, first.head]  # (T, T)
    copies = seen[f"blocks.{second.block}.attn.weights"][0, second.head]  # (T, T)
    following = reading.most_probable(seen["logits"][0, -1].softmax(dim=-1), NEXT)
    return Circuit(
        checkpoint.step, change, reading.labels(read[0].tolist()), reading.labels(ids), looks.numpy(),
        copies.numpy(), int(copies[-1].argmax()), following,
    )  # fmt: skip


def rotated_spell() -> str:
    """The spell with its last word moved to its front."""
    *words, last = spell().split()
    return " ".join([last, *words])


def rotated_spell_text() -> str:
    """The text of `spell_text` with the rotated spell, and the same echo."""
    return spell_text().replace(spell(), rotated_spell())


def copied(change: str) -> str:
    """What the shipped model writes after `spell_text` under one of CHANGES."""
    reading = Reading()
    ids, other = map(reading.ids, (spell_text(), rotated_spell_text()))
    last = Checkpoint(0, reading.model, {})
    found = circuit(last, reading, ids, other, change, copying_heads(reading))
    return found.following[0][0].strip("␣")


# ---- what the questions ask ----


def loss_at_the_start() -> float:
    """The loss, to one place, of guessing blindly among 100 tokens."""
    return round(F.cross_entropy(torch.zeros(1, 100), torch.tensor([7])).item(), 1)


def predictions_of_a_text() -> int:
    """How many predictions 22 ids train."""
    return training.batch([list(range(22))]).targets.numel()


def ten_stories_by_heart() -> str:
    """Whether the loss on ten stories can fall "below" the floor of the grammar, or only "to" it.

    Whoever knows them by heart needs no more than to be told which of the ten it is.
    """
    floor = statistics.fmean(story.nats for story in corpus.stories(0, 10))  # a story
    return "below" if math.log(10) < floor else "to"


ABILITIES = ("pronoun", "giver", "copy")


def learned_last() -> str:
    """The one of ABILITIES that the shipped model was the last to learn."""
    checkpoints = load_checkpoints()
    learned = {name: next(c.step for c in checkpoints if c.metrics[name] > 0.9) for name in ABILITIES}
    return max(learned, key=learned.get)
