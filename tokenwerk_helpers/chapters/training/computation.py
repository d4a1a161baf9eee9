"""What 11_training computes: settings in, arrays out."""

import math
import statistics
from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn.functional as F

from ... import corpus, model, training
from ...pretrained import Checkpoint, load_checkpoints
from ...tokenizer import Tokenizer
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


def spell_text() -> str:
    """A spell and the beginning of its echo: what comes next has to be copied."""
    return "Die Hexe murmelt: bora tika zumi lomi rafu. Das Echo ruft: tika zumi"


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
