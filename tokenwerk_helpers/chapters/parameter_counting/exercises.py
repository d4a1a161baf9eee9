"""Exercises of 09_parameter_counting: how what a reader writes is checked."""

import math
from collections.abc import Callable

from ...language import _
from ...live.exercise import Reader, numbers
from ...live.feedback import Feedback, wrong
from ...model import Config
from ...parameters import count_config
from .computation import block_count

TRIED_WIDTHS = (3, 8, 20)


def _reader(function: Callable) -> Reader:
    """Whoever has a real model counted, for which it takes a Config, has not found out what is in it."""
    return Reader(function, {_("the real model"): Config.__post_init__})


def check_block_parameters(function: Callable) -> Feedback:
    """Does `function(D)` count every parameter of a block with biases and two LayerNorms?"""
    reader = _reader(function)
    answers = numbers(
        reader, [(width,) for width in TRIED_WIDTHS], _("Your function has to return a number.")
    )
    if isinstance(answers, Feedback):
        return answers
    counts = [block_count(width) for width in TRIED_WIDTHS]
    exact = [sum(parts.values()) for parts in counts]
    if all(math.isclose(answer, true) for answer, true in zip(answers, exact)):
        return reader.right(_("Right, for every D: as many as PyTorch counts in the real block."))
    return wrong(_missing_group(answers, exact))


def _missing_group(answers: list[float], exact: list[int]) -> str:
    for powers, message in _known_gaps().items():
        square, first = powers
        if all(
            math.isclose(true - answer, square * width**2 + first * width)
            for answer, true, width in zip(answers, exact, TRIED_WIDTHS)
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


def check_decoder_parameters(function: Callable) -> Feedback:
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
