"""Exercises of 07_embeddings: how what a reader writes is checked."""

from functools import partial

import torch

from ...language import _
from ...live.attempt import Reader, close, tensor
from ...live.exercise import Exercise, Mistake, named
from ...live.feedback import Feedback, wrong


def embed(ids, token_table, position_table):
    """For each id its row of the token table plus the row of its position: (B, T) -> (B, T, D)."""
    return ...


def embed_solution(ids, token_table, position_table):
    """Look up both tables and add."""
    T = ids.shape[1]
    tokens = token_table[ids]  # (B, T, D)
    positions = position_table[:T]  # (T, D)
    return tokens + positions  # (B, T, D)


def _check(reader: Reader) -> Feedback:
    """Does the function of ids and the two tables add token and position rows, (B, T) -> (B, T, D)?"""
    draw = partial(torch.randn, generator=torch.Generator().manual_seed(2), dtype=torch.float32)
    tokens, positions = draw(10, 3), draw(6, 3)
    ids = torch.tensor([[4, 4, 9, 0], [1, 4, 2, 9]])  # (B, T)
    answer = tensor(
        reader(ids, tokens, positions),
        (2, 4, 3),
        _("For ids (2, 4) and tables of width 3 the result has the shape (2, 4, 3)."),
    )
    if isinstance(answer, Feedback):
        return answer
    if close(answer, tokens[ids] + positions[:4]):
        return reader.right(_("Right: what it is plus where it stands."))
    return wrong(
        named(answer, _mistakes(), ids, tokens, positions)
        or _("The numbers differ: row of the token plus row of the position 0 to T − 1.")
    )


def _mistakes() -> list[Mistake]:
    return [
        Mistake(
            "no position",
            lambda ids, tokens, positions: tokens[ids],
            _("The position is missing: the same token has the same list everywhere."),
        ),
        Mistake(
            "counted from 1",
            lambda ids, tokens, positions: tokens[ids] + positions[1 : 1 + ids.shape[1]],
            _("Positions are counted from 0; you begin with row 1."),
        ),
        Mistake(
            "position by id",
            lambda ids, tokens, positions: tokens[ids] + positions[ids.clamp(max=len(positions) - 1)],
            _("You look up the position row by the token's id."),
        ),
        Mistake(
            "product",
            lambda ids, tokens, positions: tokens[ids] * positions[: ids.shape[1]],
            _("The lists are multiplied; they should be added."),
        ),
        Mistake(
            "backwards",
            lambda ids, tokens, positions: tokens[ids] + positions[: ids.shape[1]].flip(0),
            _("The positions run backwards."),
        ),
    ]


check_embed = Exercise(
    stub=embed,
    solution=embed_solution,
    check=_check,
    hints=lambda: [
        _("Each place needs two lists: one says what stands there, the other one where it stands."),
        _(
            "table[ids] picks a row for every id at once. The positions are the same in every text: the "
            "first T rows of their table. T is the last number in ids.shape."
        ),
    ],
    mistakes=_mistakes,
)
