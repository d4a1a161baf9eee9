"""Exercises of 07_embeddings: how what a reader writes is checked."""

from collections.abc import Callable
from functools import partial

import torch

from ...language import _
from ...live.exercise import Reader, close, named, tensor
from ...live.feedback import Feedback, wrong


def check_embed(function: Callable | None) -> Feedback:
    """Does `function(ids, token_table, position_table)` add token and position rows, (B, T) -> (B, T, D)?"""
    draw = partial(torch.randn, generator=torch.Generator().manual_seed(2), dtype=torch.float32)
    tokens, positions = draw(10, 3), draw(6, 3)
    ids = torch.tensor([[4, 4, 9, 0], [1, 4, 2, 9]])  # (B, T)
    reader = Reader(function)
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
        named(answer, _mistakes(ids, tokens, positions))
        or _("The numbers differ: row of the token plus row of the position 0 to T − 1.")
    )


def _mistakes(ids, tokens, positions) -> dict[str, torch.Tensor]:
    return {
        _("The position is missing: the same token has the same list everywhere."): tokens[ids],
        _("Positions are counted from 0; you begin with row 1."): tokens[ids] + positions[1:5],
        _("You look up the position row by the token's id."): tokens[ids] + positions[ids.clamp(max=5)],
        _("The lists are multiplied; they should be added."): tokens[ids] * positions[:4],
        _("The positions run backwards."): tokens[ids] + positions[:4].flip(0),
    }
