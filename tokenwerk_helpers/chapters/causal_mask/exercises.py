"""Exercises of 05_causal_mask: how what a reader writes is checked."""

from collections.abc import Callable

import torch

from ... import model
from ...language import _
from ...live.exercise import Reader, named, tensor
from ...live.feedback import Feedback, wrong


def check_causal_mask(function: Callable | None) -> Feedback:
    """Does `function(T)` return the boolean (T, T) mask with True on and below the diagonal?"""
    reader = Reader(function, {"model.causal_mask": model.causal_mask})
    wanted = _("For T = 5 a tensor of shape (5, 5) is wanted.")
    answer = tensor(reader(5), (5, 5), wanted)
    if isinstance(answer, Feedback):
        return answer
    if answer.dtype != torch.bool:
        return wrong(_not_boolean(answer))
    expected = model.causal_mask(5)
    if not torch.equal(answer, expected):
        return wrong(named(answer, _mistakes(expected)) or _("Row t must be True exactly from 1 to t."))
    for T in (1, 2, 9):
        other = tensor(reader(T), (T, T), "")
        if isinstance(other, Feedback) or not torch.equal(other, model.causal_mask(T)):
            return wrong(_("For T = 5 it is right, for other lengths it is not."))
    return reader.right(_("Right, for every length."))


def _not_boolean(answer: torch.Tensor) -> str:
    if (answer == -torch.inf).any():
        return _(
            "With 0 and −∞ it is a mask to be added. Wanted is the boolean one: who may look, yes or no?"
        )
    return _("The mask must be boolean. Added to the scores, 0 and 1 would hide nothing.")


def _mistakes(expected: torch.Tensor) -> dict[str, torch.Tensor]:
    return {
        _("Upside down: here True means that a token may look, not that it is hidden."): ~expected,
        _("Each token may look at the later ones instead of the earlier ones."): expected.T,
        _("The diagonal is missing: a token may look at itself."): expected.tril(-1),
        _("One too many: each token also sees the next one."): torch.ones_like(expected).tril(1),
    }
