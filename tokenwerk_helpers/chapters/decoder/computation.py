"""What 08_decoder computes: settings in, arrays out."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
import torch

from ... import corpus, model, parameters, sampling, training
from ...apart import Seeded
from ...trace import Replacement, Trace, ablate, layer_logits, running_with
from ..reading import Reading, example_gift

# ---- the way of the data, place by place ----

OUTER = ("ids", "embedding", "final_norm", "head", "sampling", "next")  # the parts outside the blocks
INNER = ("norm1", "attention", "sum1", "norm2", "mlp", "sum2")  # those of a block
TAPS = {
    "embedding": "embedded",
    "norm1": "blocks.{block}.norm1",
    "attention": "blocks.{block}.attn",
    "sum1": "blocks.{block}.after_attention",
    "norm2": "blocks.{block}.norm2",
    "mlp": "blocks.{block}.mlp",
    "sum2": "blocks.{block}.after_mlp",
    "final_norm": "final_norm",
    "head": "logits",
    "sampling": "logits",
    "next": "logits",
}
OF_CANDIDATES = ("head", "sampling", "next")  # the parts that have a number for each next token
CANDIDATES = 10  # next tokens that are shown


class Stop(NamedTuple):
    """A place on the way from text to probability: a part, and the block it belongs to, from 0."""

    part: str
    block: int | None = None


def stops(blocks: int) -> list[Stop]:
    """All places in the order of the data."""
    inside = [Stop(part, block) for block in range(blocks) for part in INNER]
    return [*map(Stop, OUTER[:2]), *inside, *map(Stop, OUTER[2:])]


@dataclass(frozen=True)
class Run:
    """One run of a model on a text: its ids, their labels, and every inner value."""

    ids: list[int]
    labels: list[str]  # (T,)
    seen: Trace
    best: list[int]  # ids of the most probable next tokens after the last position
    candidates: list[str]  # their labels


def run(reading: Reading, text: str) -> Run:
    """Run the model once on a text."""
    ids, labels, seen = reading.read(text)
    logits = seen["logits"][0, -1]  # (V,)
    best = logits.topk(min(CANDIDATES, len(logits))).indices.tolist()
    return Run(ids, labels, seen, best, reading.labels(best))


@dataclass(frozen=True)
class Station:
    """What stands at one place: `values` (T, C), one row a token, and the shape of all there is."""

    stop: Stop
    labels: list[str]
    columns: list[str]
    values: np.ndarray
    shape: tuple[int, ...]
    position: int  # the row looked at, from 0


def station(run: Run, stop: Stop, position: int) -> Station:
    """The values at a place of a run; of the logits and probabilities, the columns of the best candidates."""
    place = min(position, len(run.ids)) - 1
    if stop.part == "ids":
        ids = np.array(run.ids, dtype=np.float32)[:, None]
        return Station(stop, run.labels, [], ids, (1, len(run.ids)), place)
    values = run.seen[TAPS[stop.part].format(block=stop.block)]  # (1, T, D) or (1, T, V)
    shape = tuple(values.shape)
    if stop.part in ("sampling", "next"):
        values = values.softmax(dim=-1)
    if stop.part in OF_CANDIDATES:
        return Station(stop, run.labels, run.candidates, values[0][:, run.best].numpy(), shape, place)
    columns = [str(i + 1) for i in range(shape[-1])]
    return Station(stop, run.labels, columns, values[0].numpy(), shape, place)


def where_the_shape_changes() -> str:
    """The first part after the embedding whose output is not shaped like its input, in the shipped model."""
    reading = Reading()
    made = run(reading, example_gift())
    shapes = [(stop.part, station(made, stop, 1).shape) for stop in stops(reading.model.config.blocks)]
    return next(part for (part, shape), (_before, last) in zip(shapes[2:], shapes[1:]) if shape != last)


# ---- logits at each position, and what each layer would answer ----

TOP, LAYER_TOP = 10, 6
PANELS = 4  # side by side; more would be too narrow for a word


@dataclass(frozen=True)
class Prediction:
    """What a model makes of a text, seen from one position."""

    labels: list[str]  # of the T tokens
    position: int  # from 0
    candidates: list[str]  # the TOP most probable next tokens at the position
    logits: np.ndarray  # (T, TOP) of these candidates at every position
    probabilities: np.ndarray  # (TOP,) at the position
    layers: list[list[tuple[str, float]]]  # per layer the LAYER_TOP most probable tokens
    vocab_size: int


def predict(reading: Reading, text: str, position: int) -> Prediction:
    """Run the model on the text and keep what it predicts at one position (from 1), layer by layer."""
    ids, labels, seen = reading.read(text)
    place = min(position, len(ids)) - 1
    logits = seen["logits"][0]  # (T, V)
    vocab_size = logits.shape[-1]
    probabilities, best = logits[place].softmax(dim=-1).topk(min(TOP, vocab_size))
    answers = layer_logits(reading.model, seen)[:, 0, place].softmax(dim=-1)  # (L+1, V)
    layers = [reading.most_probable(answer, LAYER_TOP) for answer in answers]
    candidates = reading.labels(best.tolist())
    return Prediction(
        labels, place, candidates, logits[:, best].numpy(), probabilities.numpy(), layers, vocab_size
    )


def shown_layers(count: int) -> list[int]:
    """Which of the layers 0 to `count` - 1 get a panel: at most PANELS, the first and the last among them."""
    return [round(place) for place in np.linspace(0, count - 1, min(count, PANELS))]


# ---- generation, one token at a time ----

LIMIT = 40


@dataclass(frozen=True)
class Continued:
    """A text continued by `steps` tokens, each the most probable one."""

    prompt: str
    continuation: str
    steps: int  # really made
    reason: str | None  # "end", "limit" or None if it would go on
    candidates: list[tuple[str, float]]  # for the token after the last
    used: int  # tokens in the window
    context: int


def greedy(reading: Reading, text: str) -> tuple[tuple[int, ...], str | None]:
    """The ids behind the text, each the most probable one, and why they end: "end" or "limit" (LIMIT)."""
    steps = list(sampling.generate(reading.model, reading.ids(text), LIMIT, temperature=0, eos=reading.end))
    return tuple(step.id for step in steps), steps[-1].reason


def continued(reading: Reading, text: str, steps: int, found: tuple | None = None) -> Continued:
    """Append `steps` tokens to the text, at each step the most probable one, unless the end comes first.

    found: what `greedy` returned for this text, if it is at hand.
    """
    new, reason = found or greedy(reading, text)
    made = new[:steps]
    finished = len(made) == len(new)
    ended = finished and reason == "end"
    visible = made[:-1] if ended else made
    # After the end nothing comes: then what is shown is where the end token was chosen.
    so_far = [*reading.ids(text), *visible]
    candidates = reading.most_probable(reading.logits_after(so_far).softmax(dim=-1), TOP)
    return Continued(
        text, reading.tokenizer.decode(visible), len(made), reason if finished else None, candidates,
        min(len(so_far), reading.context), reading.context,
    )  # fmt: skip


# ---- the ablation board ----

STORIES = 100
PARTS = ("attention", "mlp", "residual", "norms", "positions")
WRITTEN = 14  # tokens of a continuation


@dataclass(frozen=True)
class HeldOut:
    """Held-out stories that a model can read, and the losses to compare others with, in nats per token."""

    batch: training.Batch
    floor: float  # what the stories cost a reader who knows the grammar
    intact: float
    uniform: float  # ln V: every token alike


@dataclass(frozen=True)
class Ablated:
    """A model with parts and heads switched off: its loss on held-out stories, and how it goes on."""

    parts: list[str]  # of PARTS
    head: tuple[int, int] | None  # block and head, from 0
    loss: float
    text: str


@torch.no_grad()
def loss_with(decoder: model.Decoder, batch: training.Batch, replace: Mapping[str, Replacement]) -> float:
    """The loss of a model that runs with these replacements."""
    with running_with(decoder, replace):
        return float(training.loss(decoder, batch))


def held_out(reading: Reading) -> HeldOut:
    """The first STORIES held-out stories, without those that are too long for the model."""
    stories = islice(corpus.stories(seed=1_000_000, split="held_out"), STORIES)
    rows = [(training.framed(story.text, reading.tokenizer), story.nats) for story in stories]
    fitting = [(row, nats) for row, nats in rows if len(row) <= reading.context + 1]
    # Padding is cheap here and one batch is one run of the model.
    batch = training.batch([row for row, _nats in fitting])
    floor = sum(nats for _row, nats in fitting) / sum(len(row) - 1 for row, _nats in fitting)
    uniform = math.log(reading.model.config.vocab_size)
    return HeldOut(batch, floor, loss_with(reading.model, batch, {}), uniform)


def ablated(
    reading: Reading, batch: training.Batch, prompt: str, parts: list[str], head: tuple[int, int] | None
) -> Ablated:
    """Switch parts and a head off, measure the loss on the batch and continue the prompt."""
    replace = ablate(reading.model, *parts, heads=[head] if head else [])
    with running_with(reading.model, replace):
        text = prompt + reading.continuation(prompt, WRITTEN)
    return Ablated(parts, head, loss_with(reading.model, batch, replace), text)


# ---- what the questions ask ----


def _small(tie_head: bool = True) -> model.Decoder:
    config = model.Config(vocab_size=100, context_length=16, width=8, heads=2, blocks=1, tie_head=tie_head)
    with Seeded(0):
        return model.Decoder(config)


def number_of_logits() -> int:
    """How many logits come out for two texts of seven tokens at V = 100."""
    with torch.no_grad():
        return _small()(torch.zeros(2, 7, dtype=torch.long)).numel()


def saved_by_tying() -> int:
    """How many parameters a tied head saves at V = 100, D = 8."""
    untied, tied = (parameters.count(_small(tie_head)).total for tie_head in (False, True))
    return untied - tied


def deciding_row(tokens: int) -> int:
    """The row of logits, counted from 0, whose position sees all the tokens."""
    return int(model.causal_mask(tokens).all(dim=1).nonzero())


OWN_WORDS = 3  # tokens that the loop appends and the reader then types


def own_words() -> str:
    """The words that the loop appends first to the beginning of a gift."""
    return Reading().continuation(example_gift(), OWN_WORDS)


def after_own_words() -> str:
    """How generation goes on once its own words are typed in: "on", "again" or "differently"."""
    reading, text = Reading(), example_gift()
    alone, _reason = greedy(reading, text)
    helped, _reason = greedy(reading, text + own_words())
    if helped[:OWN_WORDS] == alone[:OWN_WORDS]:
        return "again"
    return "on" if helped[:9] == alone[OWN_WORDS:][:9] else "differently"


def part_missed_most() -> str:
    """The part whose absence raises the held-out loss most: one "head", every "mlp" or every "residual"."""
    reading = Reading()
    rows = [training.framed(s.text, reading.tokenizer) for s in corpus.stories(1, 20, split="held_out")]
    batch = training.batch(rows)
    off = {part: ablate(reading.model, part) for part in ("mlp", "residual")}
    off["head"] = ablate(reading.model, heads=[(0, 1)])
    return max(off, key=lambda part: loss_with(reading.model, batch, off[part]))
