"""Exercises of 09_parameter_counting: how what a reader writes is checked."""

import math
from collections.abc import Callable

from ...language import _
from ...live.attempt import Reader, numbers
from ...live.exercise import Exercise, Mistake
from ...live.feedback import Feedback, wrong
from ...model import Config
from ...parameters import count_config
from .computation import block_count

TRIED_WIDTHS = (3, 8, 20)


def _borrowed() -> dict[str, Callable]:
    """Whoever has a real model counted, for which it takes a Config, has not found out what is in it."""
    return {_("the real model"): Config.__post_init__}


def block_parameters(D):
    """How many parameters a block of width D has, with all biases and two LayerNorms."""
    return ...


def block_parameters_solution(D):
    """Attention, MLP, two norms."""
    attention = 4 * (D * D + D)
    mlp = (D * 4 * D + 4 * D) + (4 * D * D + D)
    norms = 2 * (D + D)
    return attention + mlp + norms


def _check_block(reader: Reader) -> Feedback:
    """Does the function of D count every parameter of a block with biases and two LayerNorms?"""
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
        (4, 0): _("There are too few tables: either all of attention or one of the MLP's is missing."),
        (4, 13): _("There are too few tables: either all of attention or one of the MLP's is missing.")
        + " "
        + small,
        (8, 0): _("The tables of the MLP are missing."),
        (8, 13): _("The tables of the MLP are missing.") + " " + small,
    }


def _block_mistakes() -> list[Mistake]:
    def lacking(square: int, first: int) -> Callable:
        return lambda D: block_parameters_solution(D) - square * D**2 - first * D

    gaps = [
        Mistake(f"lacks {square} D^2 + {first} D", lacking(square, first), text)
        for (square, first), text in _known_gaps().items()
    ]
    return [
        *gaps,
        Mistake(
            "for D = 8 only",
            lambda D: block_parameters_solution(8),
            _("Right for D = 8, wrong for other widths. Compute with D, not with 8."),
        ),
        Mistake(
            "counted twice",
            lambda D: 2 * block_parameters_solution(D),
            _("Too many. Is something counted twice, or does something belong to the whole decoder?"),
        ),
    ]


check_block_parameters = Exercise(
    stub=block_parameters,
    solution=block_parameters_solution,
    check=_check_block,
    hints=lambda: [
        _("Draw the block and write beside each part which tables and which lists of numbers it holds."),
        _(
            "A linear layer from a to b numbers has a · b weights and b biases. Attention has four of them, "
            "the MLP two, of which one ends at 4D; a norm has two lists of length D."
        ),
    ],
    mistakes=_block_mistakes,
    borrowed=_borrowed,
)


# V, D, L, T, own head
DECODERS = ((100, 8, 2, 16, False), (50, 12, 1, 30, False), (70, 4, 5, 10, True), (90, 20, 3, 25, True))


def decoder_parameters(V, D, L, T, own_head):
    """How many parameters a decoder has: V tokens, width D, L blocks, T positions, own_head True or False."""
    return ...


def decoder_parameters_solution(V, D, L, T, own_head):
    """Two tables at the entrance, L blocks, the last norm, maybe a head."""
    tables = V * D + T * D
    blocks = L * (12 * D * D + 13 * D)
    last_norm = 2 * D
    head = V * D if own_head else 0
    return tables + blocks + last_norm + head


def _check_decoder(reader: Reader) -> Feedback:
    """Does the function of V, D, L, T, own_head count every parameter of a decoder?"""
    answers = numbers(reader, DECODERS, _("Your function has to return a number."))
    if isinstance(answers, Feedback):
        return answers
    exact = [
        count_config(Config(V, T, D, heads=1, blocks=L, tie_head=not own_head)).total
        for V, D, L, T, own_head in DECODERS
    ]
    gaps = [true - answer for true, answer in zip(exact, answers)]
    if not any(gaps):
        return reader.right(
            _("Right, with a shared output head and with one of its own. Now you can count GPT-3 as well.")
        )
    return wrong(_missing_in_decoder(answers, gaps))


def _missing_in_decoder(answers: list[float], gaps: list[float]) -> str:
    for mistake in _lacking_in_decoder():
        if all(answer == mistake.function(*sizes) for answer, sizes in zip(answers, DECODERS)):
            return mistake.answer
    return _only_one_block() if gaps[1] == 0 else _sum_up()


def _only_one_block() -> str:
    return _("Right with one block, wrong with several. What is there only once, what L times?")


def _sum_up() -> str:
    return _("Not yet. Add up: two tables at the entrance, L blocks, the last norm, perhaps an output head.")


def _lacking_in_decoder() -> list[Mistake]:
    """What is told by the difference to the right number, for every decoder that is tried."""

    def lacking(part: Callable) -> Callable:
        return lambda *sizes: decoder_parameters_solution(*sizes) - part(*sizes)

    return [
        Mistake(
            "no own head",
            lacking(lambda V, D, L, T, own: V * D * own),
            _("Right with a shared output head. One with a table of its own needs more."),
        ),
        Mistake(
            "always an own head",
            lacking(lambda V, D, L, T, own: -V * D * (not own)),
            _("Right if the output head has a table of its own. A shared table is counted once."),
        ),
        Mistake(
            "no last norm",
            lacking(lambda V, D, L, T, own: 2 * D),
            _("Almost. Between the last block and the output head sits one more norm."),
        ),
        Mistake(
            "no positions",
            lacking(lambda V, D, L, T, own: T * D),
            _("The positions have a table, too."),
        ),
        Mistake(
            "rule of thumb",
            lacking(lambda V, D, L, T, own: 13 * L * D + 2 * D),
            _("This is the rule of thumb. Here the small groups count as well."),
        ),
    ]


def _decoder_mistakes() -> list[Mistake]:
    return [
        *_lacking_in_decoder(),
        Mistake(
            "one block",
            lambda V, D, L, T, own: decoder_parameters_solution(V, D, 1, T, own),
            _only_one_block(),
        ),
        Mistake("only blocks", lambda V, D, L, T, own: L * block_parameters_solution(D), _sum_up()),
    ]


check_decoder_parameters = Exercise(
    stub=decoder_parameters,
    solution=decoder_parameters_solution,
    check=_check_decoder,
    hints=lambda: [
        _("Walk through the decoder from the ids to the logits and note each table that you pass."),
        _(
            "You have already counted one block: L of them count L times. Tables for tokens and positions, "
            "and the last norm, are there once; a shared output head costs nothing, one of its own V · D."
        ),
    ],
    mistakes=_decoder_mistakes,
    borrowed=_borrowed,
)
