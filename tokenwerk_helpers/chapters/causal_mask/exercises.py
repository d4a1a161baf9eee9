"""Exercises of 05_causal_mask: how what a reader writes is checked."""

import torch

from ... import model
from ...language import _
from ...live.attempt import Reader, tensor
from ...live.exercise import Exercise, Mistake, named
from ...live.feedback import Feedback, wrong


def my_causal_mask(T):
    """The boolean mask (T, T): row t is True at the positions that t may look at."""
    return ...


def my_causal_mask_solution(T):
    """True on and below the diagonal."""
    positions = torch.arange(T)
    return positions[None, :] <= positions[:, None]  # (T, T)


def _check(reader: Reader) -> Feedback:
    """Does the function of T return the boolean (T, T) mask with True on and below the diagonal?"""
    wanted = _("For T = 5 a tensor of shape (5, 5) is wanted.")
    answer = tensor(reader(5), (5, 5), wanted)
    if isinstance(answer, Feedback):
        return answer
    if answer.dtype != torch.bool:
        return wrong(_not_boolean(answer))
    expected = model.causal_mask(5)
    if not torch.equal(answer, expected):
        return wrong(named(answer, _mistakes(), 5) or _("Row t must be True exactly from 1 to t."))
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


def _mistakes() -> list[Mistake]:
    mask = model.causal_mask
    return [
        Mistake(
            "upside down",
            lambda T: ~mask(T),
            _("Upside down: here True means that a token may look, not that it is hidden."),
        ),
        Mistake(
            "transposed",
            lambda T: mask(T).T,
            _("Each token may look at the later ones instead of the earlier ones."),
        ),
        Mistake(
            "no diagonal",
            lambda T: mask(T).tril(-1),
            _("The diagonal is missing: a token may look at itself."),
        ),
        Mistake(
            "one too many",
            lambda T: torch.ones_like(mask(T)).tril(1),
            _("One too many: each token also sees the next one."),
        ),
    ]


check_causal_mask = Exercise(
    stub=my_causal_mask,
    solution=my_causal_mask_solution,
    check=_check,
    hints=lambda: [
        _("Take T = 3 and write the three rows down by hand: which positions may each token look at?"),
        _(
            "Position j is allowed for position t if j is not larger than t. torch.arange(T) gives all "
            "positions; compare it once as a row and once as a column."
        ),
    ],
    mistakes=_mistakes,
    borrowed=lambda: {"model.causal_mask": model.causal_mask},
)
