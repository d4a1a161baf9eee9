"""What 08_decoder computes: settings in, arrays out."""

from dataclasses import dataclass

import numpy as np
import torch

from ... import sampling
from ...trace import layer_logits, trace
from ..reading import Reading

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
    """Run the model on the text and look at one position (from 1), through the eyes of every layer."""
    ids = reading.ids(text)
    place = min(position, len(ids)) - 1
    seen = trace(reading.model, torch.tensor([ids]))
    logits = seen["logits"][0]  # (T, V)
    probabilities, best = logits[place].softmax(dim=-1).topk(min(TOP, logits.shape[-1]))
    layers = []
    for answer in layer_logits(reading.model, seen)[:, 0, place].softmax(dim=-1):  # (L+1, V)
        shares, tokens = answer.topk(min(LAYER_TOP, logits.shape[-1]))
        layers.append(list(zip(reading.labels(tokens.tolist()), shares.tolist())))
    return Prediction(
        reading.labels(ids), place, reading.labels(best.tolist()), logits[:, best].numpy(),
        probabilities.numpy(), layers, logits.shape[-1],
    )  # fmt: skip


def shown_layers(count: int) -> list[int]:
    """Which of the layers 0 to `count` - 1 have a panel: all, or the first, some evenly between, the last."""
    return [round(place) for place in np.linspace(0, count - 1, min(count, PANELS))]


# ---- generation, one token at a time ----

LIMIT = 40


@dataclass(frozen=True)
class Generated:
    """A text that was continued by `steps` tokens, each the most probable one."""

    prompt: str
    continuation: str
    steps: int  # really made
    reason: str | None  # "end", "limit" or None if it would go on
    candidates: list[tuple[str, float]]  # for the token after the last
    used: int  # tokens in the window
    context: int


def greedy(reading: Reading, text: str) -> tuple[tuple[int, ...], str | None]:
    """The ids that are appended one by one, and why it ended."""
    end = getattr(reading.tokenizer, "end", None)
    steps = list(sampling.generate(reading.model, reading.ids(text), LIMIT, temperature=0, eos=end))
    return tuple(step.id for step in steps), steps[-1].reason


def continued(reading: Reading, text: str, steps: int, found: tuple | None = None) -> Generated:
    """Append `steps` tokens to the text, at each step the most probable one, unless the end comes first.

    found: what `greedy` returned for this text, if it is at hand.
    """
    new, reason = found or greedy(reading, text)
    made = new[:steps]
    finished = len(made) == len(new)
    ended = finished and reason == "end"
    visible = made[:-1] if ended else made
    # After the end nothing comes: then what is shown is where the end token was chosen.
    window = sampling.window([*reading.ids(text), *visible], reading.context)
    with torch.no_grad():
        probabilities = reading.model(torch.tensor([window]))[0, -1].softmax(dim=-1)
    shares, best = probabilities.topk(min(TOP, len(probabilities)))
    return Generated(
        text, reading.tokenizer.decode(visible), len(made), reason if finished else None,
        list(zip(reading.labels(best.tolist()), shares.tolist())), len(window), reading.context,
    )  # fmt: skip


# ---- the ablation board ----

STORIES = 100
PARTS = ("attention", "mlp", "residual", "norms", "positions")


@dataclass(frozen=True)
class Ablated:
    """Loss on held-out stories with parts switched off, beside what it is to be compared with."""

    off: list[str]
    loss: float
    intact: float
    floor: float
    uniform: float  # ln V: every token alike
    text: str  # a continuation by the model as it is now
