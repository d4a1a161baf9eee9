"""How many parameters a decoder has, where each sits, and what the rule of thumb leaves out.

Letters as in `model.py`: V vocabulary, D width, L blocks, T positions.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from torch import nn

from .apart import Undrawn
from .model import Config, Decoder

# The parts in the order in which the data meets them. Biases stand apart: the rule of thumb leaves them out.
PARTS = (
    "token_embedding",
    "position_embedding",
    "attention",
    "attention_bias",
    "mlp",
    "mlp_bias",
    "norms",
    "head",  # nothing, if it shares the token table
)

# Every module of a decoder that holds parameters, and the part it belongs to.
PART_OF = {
    "token_embedding": "token_embedding",
    "position_embedding": "position_embedding",
    "attn": "attention",
    "mlp": "mlp",
    "norm1": "norms",
    "norm2": "norms",
    "final_norm": "norms",
    "head": "head",
}


class RuleOfThumb(NamedTuple):
    """The three terms of N = VD + 12 L D^2 + TD."""

    embedding: int  # VD
    blocks: int  # 12 L D^2
    positions: int  # TD

    @property
    def total(self) -> int:
        """N, the sum of the three."""
        return sum(self)


def rule_of_thumb(V: int, D: int, L: int, T: int) -> RuleOfThumb:
    """Roughly count a decoder's parameters: N = VD + 12 L D^2 + TD.

    A block has four tables of D x D for attention and two of D x 4D for the MLP, 12 D^2 together. Biases and
    norms are left out, and the head shares the token table.
    """
    return RuleOfThumb(embedding=V * D, blocks=12 * L * D**2, positions=T * D)


class Row(NamedTuple):
    """One parameter: its name in the model, the part it belongs to, its shape, how many numbers it holds."""

    name: str
    part: str
    shape: tuple[int, ...]
    number: int


def table(model: nn.Module) -> Iterator[Row]:
    """Every parameter of a decoder or of one of its blocks; a shared table, as that of a tied head, once.

    ValueError for a module with other parameters.
    """
    for name, parameter in model.named_parameters():  # names a shared tensor only where it is met first
        part = next((PART_OF[word] for word in name.split(".") if word in PART_OF), None)
        if part is None:
            raise ValueError(f"{name} is no parameter of a decoder or a block")
        if part in ("attention", "mlp") and name.endswith(".bias"):
            part += "_bias"
        yield Row(name, part, tuple(parameter.shape), parameter.numel())


@dataclass(frozen=True)
class Count:
    """The exact number of parameters, per part (all of `PARTS`, in that order) and in total."""

    parts: Mapping[str, int]

    def __post_init__(self):
        # Counts are cached and shared: nobody may change them for the others.
        object.__setattr__(self, "parts", MappingProxyType(dict(self.parts)))

    def __repr__(self) -> str:
        return f"Count(parts={dict(self.parts)})"

    @property
    def total(self) -> int:
        """How many parameters there are."""
        return sum(self.parts.values())


def count(model: nn.Module) -> Count:
    """Count a model's parameters exactly, each shared tensor once, as sum(p.numel() for p in ...) does."""
    parts = dict.fromkeys(PARTS, 0)
    for row in table(model):
        parts[row.part] += row.number
    return Count(parts)


@lru_cache(maxsize=256)
def count_config(config: Config) -> Count:
    """Count the decoder that a config describes, without memory for its numbers or time to draw them.

    All blocks have the same parameters: one is built, on the meta device, and counted L times.
    """
    with Undrawn(device="meta"):
        model = Decoder(replace(config, blocks=1))
    one, block = count(model).parts, count(model.blocks[0]).parts
    return Count({part: one[part] + (config.blocks - 1) * block[part] for part in PARTS})


class Reconciliation(NamedTuple):
    """From the rule of thumb to the exact count: rule.total + sum(left_out.values()) == exact."""

    rule: RuleOfThumb
    left_out: dict[str, int]  # part -> how many
    exact: int


def reconcile(config: Config) -> Reconciliation:
    """Name what the rule of thumb leaves out: biases, norms, an untied head; with these it is exact."""
    rule = rule_of_thumb(config.vocab_size, config.width, config.blocks, config.context_length)
    counted = count_config(config)
    left_out = {part: counted.parts[part] for part in ("attention_bias", "mlp_bias", "norms", "head")}
    return Reconciliation(rule, left_out, counted.total)


def _gpt(blocks: int, width: int, heads: int, context: int) -> Config:
    return Config(50257, context, width, heads, blocks, activation="gelu_tanh")


# Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", table 2;
# Brown et al. 2020, "Language Models are Few-Shot Learners", table 2.1.
PRESETS = {
    "gpt2": _gpt(blocks=12, width=768, heads=12, context=1024),
    "gpt2-medium": _gpt(blocks=24, width=1024, heads=16, context=1024),
    "gpt2-large": _gpt(blocks=36, width=1280, heads=20, context=1024),
    "gpt2-xl": _gpt(blocks=48, width=1600, heads=25, context=1024),
    "gpt3": _gpt(blocks=96, width=12288, heads=96, context=2048),
}
