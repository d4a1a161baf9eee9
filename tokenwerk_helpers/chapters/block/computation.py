"""What 06_block computes: settings in, arrays out."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ...apart import Seeded, Undrawn
from ...model import Block, Config
from ...parameters import count
from ...trace import Replacement, Trace, running_with
from ..reading import Read, Reading, example_story

# ---- the small example ----

# The block of the example: D = 2, one position, weights small enough to follow by hand. With one position
# Attention can only look at itself, with weight 1: it is one matrix. The MLP has a single hidden value, with
# ReLU. Both norms have gamma 1, beta 0.
ATTENTION = [[-0.3, 0.0], [0.0, -0.2]]
UP, DOWN = [[-1.0, 1.0]], [[0.2], [-0.3]]


@dataclass(frozen=True)
class Example:
    """The seven values of the small block by name, each  # (2,); `second` is what the second sum takes."""

    values: Mapping[str, np.ndarray]
    second: str
    right_y: np.ndarray


def small_block(x1: float, x2: float, second: str = "u") -> Example:
    """Walk x = [x1, x2] through the small block; `second` is "u", or "x" for the mistake."""
    x = torch.tensor([x1, x2], dtype=torch.float32)
    attention, up, down = (x.new_tensor(weights) for weights in (ATTENTION, UP, DOWN))
    n1 = F.layer_norm(x, (2,))
    a = attention @ n1
    u = x + a
    n2 = F.layer_norm(u, (2,))
    m = down @ F.relu(up @ n2)
    y = (u if second == "u" else x) + m
    values = {"x": x, "norm1": n1, "attention": a, "u": u, "norm2": n2, "mlp": m, "y": y}
    return Example({name: value.numpy() for name, value in values.items()}, second, (u + m).numpy())


def lost_where_second_sum_takes_x(x1: float, x2: float) -> str | None:
    """The name of the value that y of the small block lacks if the second sum takes x; None if nothing."""
    walk = small_block(x1, x2, second="x")
    lacking = walk.right_y - walk.values["y"]
    if np.allclose(lacking, 0, atol=1e-6):
        return None
    parts = ("x", "attention", "mlp")
    return next(part for part in parts if np.allclose(lacking, walk.values[part], atol=1e-6))


def norm_parameters(width: int) -> int:
    """How many trainable numbers the two norms of a block of this width have together."""
    with Undrawn("meta"):
        block = Block(Config(vocab_size=1, context_length=1, width=width, heads=1, blocks=1))
    return count(block).parts["norms"]


# ---- a walk through a real block ----

# step -> the name of its value within a block; x is what came in
STEPS = {
    "pre": {
        "x": None, "norm1": "norm1", "attention": "attn", "u": "after_attention",
        "norm2": "norm2", "mlp": "mlp", "y": "after_mlp",
    },
    "post": {
        "x": None, "attention": "attn", "sum1": "after_attention", "u": "norm1",
        "mlp": "mlp", "sum2": "after_mlp", "y": "norm2",
    },
    "none": {"x": None, "attention": "attn", "u": "after_attention", "mlp": "mlp", "y": "after_mlp"},
}  # fmt: skip
STRONGEST = 0.95  # share of the cells whose colour is not the last of its scale
SHOWN = 32  # components that are drawn: more would leave no room to read the tokens


def stream_into(seen: Trace, block: int) -> Tensor:
    """What enters a block, counted from 0.  # (T, D)"""
    return seen["embedded" if block == 0 else f"blocks.{block - 1}"][0]


def values_of_steps(seen: Trace, block: int, norm: str) -> dict[str, np.ndarray]:
    """The value of each step of a block, counted from 0, by the step's name; each  # (T, D)"""
    named = {
        step: stream_into(seen, block) if name is None else seen[f"blocks.{block}.{name}"][0]
        for step, name in STEPS[norm].items()
    }
    return {step: value.numpy() for step, value in named.items()}


@dataclass(frozen=True)
class Walk:
    """One step of a block for a whole text: `values` by step, each  # (T, D)"""

    labels: list[str]
    norm: str
    block: int  # counted from 1
    step: str
    position: int  # counted from 1
    values: Mapping[str, np.ndarray]

    @property
    def is_normed(self) -> bool:
        """Does a norm come out of this step?"""
        return STEPS[self.norm][self.step] in ("norm1", "norm2")

    @property
    def direct(self) -> str:
        """The step whose list the direct path carries past this one: "x" up to the first sum, then "u"."""
        steps, first_sum = list(self.values), "sum1" if self.norm == "post" else "u"
        return "x" if steps.index(self.step) <= steps.index(first_sum) else "u"

    def row(self, step: str) -> np.ndarray:
        """The list of the chosen position at a step.  # (D,)"""
        return self.values[step][self.position - 1]

    def length(self, step: str) -> float:
        """How long that list is: the root of the sum of its squares."""
        return float(np.linalg.norm(self.row(step)))


def walk(read: Read, norm: str, block: int, step: str, position: int) -> Walk:
    """One step of a block for a text that was read; block and position are counted from 1."""
    values = values_of_steps(read.seen, block - 1, norm)
    return Walk(read.labels, norm, block, step, min(position, len(read.ids)), values)


# ---- how much each part adds ----


def contributions(seen: Trace, blocks: int) -> tuple[np.ndarray, np.ndarray]:
    """Lengths of the stream and of the contributions  -> (2L + 1, T), (2L, T)."""
    stream, added = [stream_into(seen, 0)], []
    for block in range(blocks):
        for part, total in (("attn", "after_attention"), ("mlp", "after_mlp")):
            added.append(seen[f"blocks.{block}.{part}"][0])
            stream.append(seen[f"blocks.{block}.{total}"][0])
    return tuple(torch.stack(values).norm(dim=-1).numpy() for values in (stream, added))


@dataclass(frozen=True)
class Stream:
    """The residual stream of a text: its length along the way, and the length of what each part adds."""

    labels: list[str]
    position: int  # counted from 1
    stream: np.ndarray  # after the embedding and after each sum  # (2L + 1, T)
    added: np.ndarray  # by Attention and MLP of each block in turn  # (2L, T)

    @property
    def shares(self) -> np.ndarray:
        """Each contribution relative to the stream it is added to.  # (T, 2L)"""
        return (self.added / np.maximum(self.stream[:-1], 1e-12)).T


def residual_stream(read: Read, blocks: int, position: int) -> Stream:
    """The residual stream of a text that was read, seen from a position, counted from 1."""
    return Stream(read.labels, min(position, len(read.ids)), *contributions(read.seen, blocks))


def mean_share() -> float:
    """The mean share over all positions, blocks and parts of the shipped model as it reads the story."""
    reading = Reading()
    return float(residual_stream(reading.read(example_story()), reading.model.config.blocks, 1).shares.mean())


# ---- dropout ----

DROPOUT_WIDTH = 8


@dataclass(frozen=True)
class Dropped:
    """The MLP's contribution before and after dropout, and y of this run and in eval mode; each  # (8,)"""

    p: float
    run: int
    training: bool
    before: np.ndarray
    after: np.ndarray
    y: np.ndarray
    quiet_y: np.ndarray


@cache
def dropout_example(p: float) -> tuple[Block, Tensor]:
    """A small block that drops with probability p, and its input: the same for every p.  # (1, 3, 8)"""
    with Seeded(1) as dice:
        block = Block(
            Config(vocab_size=1, context_length=3, width=DROPOUT_WIDTH, heads=2, blocks=1, dropout=p)
        )
        return block, torch.randn(1, 3, DROPOUT_WIDTH, generator=dice.generator, dtype=torch.float32)


def thinned_out(block: Block, p: float, run: int) -> dict[str, Replacement]:
    """What every `nn.Dropout` of the block does in train mode, by chances of our own: for `running_with`."""
    dice = torch.Generator().manual_seed(run)

    def thin_out(values: Tensor) -> Tensor:
        return values * (torch.empty_like(values).bernoulli_(1 - p, generator=dice) / (1 - p))

    return {name: thin_out for name, module in block.named_modules() if isinstance(module, nn.Dropout)}


@torch.no_grad()
def drop(p: float, run: int, training: bool) -> Dropped:
    """Send the same input through the block once, the chances of `run` decide what is dropped."""
    block, x = dropout_example(p)
    replace = thinned_out(block, p, run) if training else {}
    quiet_y = block.eval()(x)
    with running_with(block, replace):
        u = x + block.attn(block.norm1(x))
        before = block.mlp.down(block.mlp.activation(block.mlp.up(block.norm2(u))))
        after = block.mlp.dropout(before)
    values = (value[0, -1].numpy() for value in (before, after, u + after, quiet_y))
    return Dropped(p, run, training, *values)


@torch.no_grad()
def in_eval_mode(p: float) -> dict[str, bool]:
    """Of two runs in eval mode of a block that drops with p: are they "equal", and "whole", as with p = 0?"""
    (block, x), (whole, _x) = dropout_example(p), dropout_example(0.0)
    first, second = block.eval()(x), block(x)
    return {"equal": torch.equal(first, second), "whole": torch.equal(first, whole.eval()(x))}
