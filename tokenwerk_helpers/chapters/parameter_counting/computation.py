"""What 09_parameter_counting computes: settings in, arrays out."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np
from torch import nn

from ...apart import Undrawn
from ...model import Block, Config
from ...parameters import (
    PARTS,
    PRESETS,
    Count,
    Reconciliation,
    Row,
    RuleOfThumb,
    count,
    count_config,
    reconcile,
    rule_of_thumb,
    table,
)

CHAPTER = Config(vocab_size=100, context_length=16, width=8, heads=2, blocks=2)  # the example of the chapter


# ---- the tables of one block, to scale ----


@dataclass(frozen=True)
class BlockParameters:
    """Every parameter of one block."""

    width: int
    heads: int
    rows: tuple[Row, ...]

    def sum(self, *parts: str) -> int:
        """How many numbers the rows of these parts hold together."""
        return sum(row.number for row in self.rows if row.part in parts)

    @property
    def total(self) -> int:
        """How many numbers the block holds in all."""
        return sum(row.number for row in self.rows)


def block_parameters(width: int, heads: int, bias: bool) -> BlockParameters:
    """List the parameters of a block of this width, as the model defines them."""
    config = Config(vocab_size=1, context_length=1, width=width, heads=heads, blocks=1, bias=bias)
    with Undrawn(device="meta"):
        return BlockParameters(width, heads, tuple(table(Block(config))))


class Strip(NamedTuple):
    """A rectangle of the picture, one unit a number: a parameter, or one head's strip of a table."""

    left: int
    top: int
    columns: int
    rows: int
    part: str
    head: int = 0


# Where each module's parameters begin in the picture; wide enough for the largest D.
PLACES = {
    "norm1": (0, 0),
    "attn.q": (9, 0),
    "attn.k": (32, 0),
    "attn.v": (55, 0),
    "attn.out": (78, 0),
    "norm2": (0, 24),
    "mlp.up": (103, 0),
    "mlp.down": (9, 24),
}
LARGEST = 16  # D


def strips(block: BlockParameters) -> Iterator[Strip]:
    """Yield where each parameter of a block stands; tables of attention are cut into a strip a head."""
    for name, part, shape, number in block.rows:
        module, kind = name.rsplit(".", 1)
        left, top = PLACES[module]
        if part == "norms":  # gamma and beta are columns side by side
            yield Strip(left + 2 * (kind == "bias"), top, 1, number, part)
        elif kind == "bias":  # a bias is one more column of its table
            columns = block.width * (4 if module == "mlp.down" else 1)
            yield Strip(left + columns + 1, top, 1, number, part)
        elif module == "attn.out":  # its columns take what the heads deliver
            rows, columns = shape[0], shape[1] // block.heads
            for head in range(block.heads):
                yield Strip(left + head * columns, top, columns, rows, part, head)
        else:
            heads = block.heads if part == "attention" else 1
            rows, columns = shape[0] // heads, shape[1]
            for head in range(heads):
                yield Strip(left, top + head * rows, columns, rows, part, head)


# ---- rule of thumb beside the exact count ----


@dataclass(frozen=True)
class Counted:
    """A decoder's parameters, by the rule of thumb and counted exactly."""

    config: Config
    rule: RuleOfThumb
    exact: Count


def counted(
    vocab_size: int, width: int, blocks: int, context: int, heads: int, tied: bool, bias: bool
) -> Counted:
    """Count the parameters of a decoder of these sizes, by the rule of thumb and exactly."""
    config = Config(vocab_size, context, width, heads, blocks, bias=bias, tie_head=tied)
    return Counted(config, rule_of_thumb(vocab_size, width, blocks, context), count_config(config))


def rule_parts(rule: RuleOfThumb) -> dict[str, int]:
    """The terms of the rule by part: of 12 D^2, a third is attention's and two thirds are the MLP's."""
    third = rule.blocks // 3
    return dict.fromkeys(PARTS, 0) | {
        "token_embedding": rule.embedding,
        "position_embedding": rule.positions,
        "attention": third,
        "mlp": 2 * third,
    }


def round_top(value: float) -> float:
    """The smallest end of an axis above `value` that can be divided into four round steps."""
    power = 10.0 ** np.floor(np.log10(value))
    return next(step * power for step in (1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10) if step * power >= value)


# ---- what the rule leaves out ----

WIDTHS = (8, 16, 32, 64, 128, 256, 512, 768, 1024, 1600, 4096, 12288)
LEFT_OUT = ("attention_bias", "mlp_bias", "norms", "head")


def share_left_out(config: Config) -> float:
    """The share of a decoder's exact count that the rule leaves out."""
    rule = rule_of_thumb(config.vocab_size, config.width, config.blocks, config.context_length)
    # Every further block adds what the second one did: two counts, which are kept, serve for all depths.
    one, two = (count_config(replace(config, blocks=blocks)).total for blocks in (1, 2))
    return 1 - rule.total / (one + (config.blocks - 1) * (two - one))


@dataclass(frozen=True)
class Gap:
    """What the rule leaves out for one decoder, and which share that would be at each of WIDTHS."""

    config: Config
    reconciliation: Reconciliation
    shares: np.ndarray  # (len(WIDTHS),)

    @property
    def share(self) -> float:
        """What the rule leaves out, as a share of the exact count."""
        return share_left_out(self.config)


def gap(width: int, blocks: int, tied: bool, bias: bool) -> Gap:
    """Reconcile the chapter's decoder, at this width and depth, with the rule of thumb."""
    config = replace(CHAPTER, width=width, blocks=blocks, tie_head=tied, bias=bias)
    shares = np.array([share_left_out(replace(config, width=other)) for other in WIDTHS])
    return Gap(config, reconcile(config), shares)


# ---- the sizes of real models ----

FORMATS = {"float32": 4, "bfloat16": 2, "training": 16}  # bytes a parameter
SIZES = {"chapter": CHAPTER, **PRESETS}


@dataclass(frozen=True)
class Sizes:
    """The exact counts of the models of SIZES, the chosen one, and the format its numbers are stored in."""

    chosen: str
    tied: bool
    stored: str
    counts: dict[str, Count]

    @property
    def bytes(self) -> int:
        """Memory of the chosen model's parameters, in bytes."""
        return FORMATS[self.stored] * self.counts[self.chosen].total


@cache
def sizes(chosen: str, tied: bool, stored: str) -> Sizes:
    """Count every model of SIZES with a tied or an untied head."""
    counts = {name: count_config(replace(config, tie_head=tied)) for name, config in SIZES.items()}
    return Sizes(chosen, tied, stored, counts)


def table_share(count: Count) -> float:
    """The share of all parameters that sits in the tables of tokens, positions and head."""
    parts = ("token_embedding", "position_embedding", "head")
    return sum(count.parts[part] for part in parts) / count.total


# ---- what the questions ask ----


def block_count(width: int, heads: int = 1) -> Mapping[str, int]:
    """The exact count of one block by part."""
    with Undrawn(device="meta"):
        return count(Block(Config(vocab_size=1, context_length=1, width=width, heads=heads, blocks=1))).parts


def factor_of_double_width() -> float:
    """The factor by which the tables of a block grow from D = 8 to D = 16."""
    small, large = (block_count(width) for width in (CHAPTER.width, 2 * CHAPTER.width))
    return (large["attention"] + large["mlp"]) / (small["attention"] + small["mlp"])


def weights_of_full_width_heads(width: int, heads: int) -> int:
    """How many weights Q, K, V and the output have if each head is as wide as the list."""
    with Undrawn(device="meta"):
        into = [nn.Linear(width, heads * width, bias=False) for _table in range(3)]
        tables = [*into, nn.Linear(heads * width, width, bias=False)]
    return sum(table.weight.numel() for table in tables)


def growth_by_own_head(preset: str) -> float:
    """By which share of its parameters a model grows when its head gets a table of its own."""
    tied, untied = (count_config(replace(PRESETS[preset], tie_head=tie)).total for tie in (True, False))
    return untied / tied - 1


def preset_with_the_larger_token_table() -> str:
    """Of "gpt2" and "gpt3", the one whose token table is the larger share of its parameters."""
    counts = {name: count_config(PRESETS[name]) for name in ("gpt2", "gpt3")}
    return max(counts, key=lambda name: counts[name].parts["token_embedding"] / counts[name].total)
