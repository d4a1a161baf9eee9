"""Checks of 09_parameter_counting."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

from ..apart import Undrawn
from ..language import _
from ..model import Block, Config
from ..parameters import PRESETS, count, count_config, reconcile
from .feedback import Feedback, nearest, right, wrong
from .running import Reader, numbers

LEFT_OUT = (0.3, 0.08, 0.0015)  # the options of `left_out_at_large_width`
CHAPTER = Config(vocab_size=100, context=16, width=8, heads=2, blocks=2)


def block_count(width: int, heads: int = 1) -> Mapping[str, int]:
    """The exact count of one block by part."""
    with Undrawn(device="meta"):
        return count(Block(Config(vocab_size=1, context=1, width=width, heads=heads, blocks=1))).parts


def factor_of_double_width(answer: float) -> Feedback:
    """By what factor do a block's tables grow from D = 8 to D = 16?"""
    small, large = (block_count(width) for width in (8, 16))
    factor = (large["attention"] + large["mlp"]) / (small["attention"] + small["mlp"])
    if math.isclose(answer, factor):
        return right(_("Right: every table has D in both of its sides."))
    if math.isclose(answer, 2):
        return wrong(_("That would be true if only one side of each table grew. Which sides contain D?"))
    return wrong(_("Write down rows times columns of one table, for D = 8 and for D = 16."))


def cost_of_heads(answer: int) -> Feedback:
    """Which option tells what happens to the count from 2 to 4 heads?"""
    before, after = (sum(block_count(8, heads).values()) for heads in (2, 4))
    if answer == 1 and before == after:
        return right(
            _("Right: the heads share the same tables; they only cut them into more, narrower strips.")
        )
    if answer == 0:
        return wrong(_("That would be so if each head had the full width D. It has only D/H of it."))
    return wrong(_("Narrower, yes, but there are more of them. Multiply: H heads with D/H rows each."))


def left_out_at_large_width(answer: int) -> Feedback:
    """Which option is the share that the rule of thumb leaves out at D = 768?"""
    rule, _left_out, exact = reconcile(replace(CHAPTER, width=768))
    if answer == nearest(LEFT_OUT, 1 - rule.total / exact):
        return right(_("Right: biases and norms grow like D, the tables like D²."))
    if answer == 1:
        return wrong(_("So it would be if both grew at the same rate. Which power of D stands in each?"))
    return wrong(_("There are more of them, yes: about 13 · D a block. But what are they compared with?"))


def cost_of_own_head(answer: float) -> Feedback:
    """How many parameters does an untied head add to the chapter's decoder?"""
    tied, untied = (count_config(replace(CHAPTER, tie_head=tie)).total for tie in (True, False))
    if math.isclose(answer, untied - tied):
        return right(_("Right: a second table of V rows and D columns."))
    if math.isclose(answer, 100):
        return wrong(_("100 logits come out, but each of them is computed from all D components."))
    return wrong(
        _("The head turns D components into V logits. How many rows and columns does its table have?")
    )


def larger_share_of_token_table(answer: int) -> Feedback:
    """In which preset is the token table the larger share?"""
    counts = [count_config(PRESETS[name]) for name in ("gpt2", "gpt3")]
    shares = [counted.parts["token_embedding"] / counted.total for counted in counts]
    if answer == shares.index(max(shares)):
        return right(_("Right: the token table grows with D, the blocks with L · D²."))
    return wrong(_("The table grows, too, but with D only. How do the blocks grow?"))


WIDTHS = (3, 8, 20)


def _reader(function: Callable) -> Reader:
    """Whoever has a real model counted, for which it takes a Config, has not found out what is in it."""
    return Reader(function, {_("the real model"): Config.__post_init__})


def block_parameters(function: Callable) -> Feedback:
    """Does `function(D)` count every parameter of a block with biases and two LayerNorms?"""
    reader = _reader(function)
    answers = numbers(reader, [(width,) for width in WIDTHS], _("Your function has to return a number."))
    if isinstance(answers, Feedback):
        return answers
    counts = [block_count(width) for width in WIDTHS]
    exact = [sum(parts.values()) for parts in counts]
    if all(math.isclose(answer, true) for answer, true in zip(answers, exact)):
        return reader.right(_("Right, for every D: as many as PyTorch counts in the real block."))
    return wrong(_missing_group(answers, exact))


def _missing_group(answers: list[float], exact: list[int]) -> str:
    for powers, message in _known_gaps().items():
        square, first = powers
        if all(
            math.isclose(true - answer, square * width**2 + first * width)
            for answer, true, width in zip(answers, exact, WIDTHS)
        ):
            return message
    if math.isclose(answers[1], exact[1]):
        return _("Right for D = 8, wrong for other widths. Compute with D, not with 8.")
    if all(answer > true for answer, true in zip(answers, exact)):
        return _("Too many. Is something counted twice, or does something belong to the whole decoder?")
    return _(
        "Too few, and not just one group is missing. Go through the picture of the tables piece by piece."
    )


def _known_gaps() -> dict[tuple[int, int], str]:
    """What an answer lacks, as multiples of D^2 and of D, and what to say about it without giving numbers."""
    tables_of_attention = _("Q, K and V are three tables of attention. There is a fourth one.")
    small = _("The small groups are missing as well.")
    return {
        (0, 13): _("The six tables are complete. Two groups of small parameters are missing."),
        (0, 9): _("The tables are right. The biases are missing."),
        (0, 5): _("The biases of the MLP are missing. How long is that of its first layer?"),
        (0, 4): _("One small group is missing: either the norms or the biases of attention."),
        (0, 3): _("The bias of the MLP's first layer is longer than D."),
        (0, 2): _("There are two norms in a block, and each has a multiplier and a shift."),
        (1, 0): tables_of_attention,
        (1, 13): tables_of_attention + " " + small,
        (4, 0): _("The tables are too few: either all of attention or one of the MLP is missing."),
        (4, 13): _("The tables are too few: either all of attention or one of the MLP is missing.")
        + " "
        + small,
        (8, 0): _("The tables of the MLP are missing."),
        (8, 13): _("The tables of the MLP are missing.") + " " + small,
    }


# V, D, L, T, own head
DECODERS = ((100, 8, 2, 16, False), (50, 12, 1, 30, False), (70, 4, 5, 10, True), (90, 20, 3, 25, True))


def decoder_parameters(function: Callable) -> Feedback:
    """Does `function(V, D, L, T, own_head)` count every parameter of a decoder?"""
    reader = _reader(function)
    answers = numbers(reader, DECODERS, _("Your function has to return a number."))
    if isinstance(answers, Feedback):
        return answers
    exact = [
        count_config(Config(V, T, D, heads=1, blocks=L, tie_head=not own_head)).total
        for V, D, L, T, own_head in DECODERS
    ]
    gaps = [true - answer for true, answer in zip(exact, answers)]
    if not any(gaps):
        return reader.right(_("Right, with a shared head and with an own one. You can count GPT-3 now."))
    return wrong(_missing_in_decoder(gaps))


def _missing_in_decoder(gaps: list[float]) -> str:
    def lacks(part: Callable) -> bool:
        return all(gap == part(*sizes) for gap, sizes in zip(gaps, DECODERS))

    if lacks(lambda V, D, L, T, own: V * D * own):
        return _("Right with a shared head. One with a table of its own needs more.")
    if lacks(lambda V, D, L, T, own: -V * D * (not own)):
        return _("Right with an own head. A shared table is counted once.")
    if lacks(lambda V, D, L, T, own: 2 * D):
        return _("Almost. Between the last block and the head sits one more norm.")
    if lacks(lambda V, D, L, T, own: T * D):
        return _("The positions have a table, too.")
    if lacks(lambda V, D, L, T, own: 13 * L * D + 2 * D):
        return _("This is the rule of thumb. Here the small groups count as well.")
    if gaps[1] == 0:
        return _("Right with one block, wrong with several. What is there only once, what L times?")
    return _("Not yet. Add up: two tables at the entrance, L blocks, the last norm, maybe a head.")
