"""Checks of 05_causal_mask."""

from collections.abc import Callable

import torch

from .. import model
from ..language import _
from .feedback import Feedback, right, wrong
from .running import Reader, named, tensor


def ones_of_five(answer: float) -> Feedback:
    """Is `answer` the number of allowed looks among 5 tokens?"""
    if answer == model.causal_mask(5).sum().item():
        return right(_("Right: 1 + 2 + 3 + 4 + 5. Each token sees itself and all before it."))
    if answer == 10:
        return wrong(_("You left out the diagonal. May a token look at itself?"))
    if answer == 25:
        return wrong(_("That would be everybody at everybody, as in BERT."))
    return wrong(_("Go row by row: how many does token 1 see, how many token 2?"))


def outputs_that_move(answer: int) -> Feedback:
    """Which option names the outputs that depend on token 3 of 5 under a causal mask?"""
    moves = model.causal_mask(5)[:, 2].nonzero()[:, 0].tolist()  # who may look at position 3
    options = [[2], [0, 1, 2], [2, 3, 4], [0, 1, 2, 3, 4]]
    if answer == options.index(moves):
        return right(_("Right: it passes on to itself and to the later ones, never back."))
    if answer == 0:
        return wrong(_("Later tokens may look at token 3. Does that leave them cold?"))
    return wrong(_("Read the column of token 3 in the mask: who may look at it?"))


def weight_of_minus_infinity(answer: int) -> Feedback:
    """Which option is the weight of a score of minus infinity?"""
    weight = model.softmax(torch.tensor([[0.0, -torch.inf]]))[0, 1].item()
    if answer == (1 if weight == 0 else 0):
        return right(_("Right: e^(−∞) is 0. Hidden tokens get no weight at all."))
    if answer == 2:
        return wrong(_("That only threatens a row in which everything is hidden. Here there are others."))
    return wrong(_("With −1000 that would be so in theory. But what is e to the power of −∞?"))


def looks_in_a_window(answer: float) -> Feedback:
    """Is `answer` the number of looks a window of 3 allows among 5 tokens?"""
    causal = model.causal_mask(5)
    window = causal & ~causal.tril(-3)
    if answer == window.sum().item():
        return right(
            _("Right: 1 + 2 + 3 + 3 + 3. With a long text that is far less than under the causal mask.")
        )
    if answer == 15:
        return wrong(_("Every row with 3: but what stands before the first token, and before the second?"))
    if answer == (causal & ~causal.tril(-4)).sum().item():
        return wrong(_("A window of 3 counts the token itself: it looks at two before."))
    return wrong(_("Go row by row: token 1 sees itself, token 2 sees two, and from token 3 on?"))


def who_notices_the_hidden_score(answer: int) -> Feedback:
    """Which option tells where visible weights depend on a hidden score?"""
    scores = torch.tensor([[1.0, 2.0, 2.0], [1.0, 2.0, 4.0]])  # the hidden one grows
    allowed = torch.tensor([True, True, False])
    before = model.softmax(model.hide(scores, allowed))
    after = scores.softmax(dim=-1) * allowed
    moved = [not torch.allclose(weights[0], weights[1]) for weights in (before, after)]
    if answer == [[True, False], [False, True], [True, True]].index(moved):
        return right(_("Right: hidden afterwards, it already stands in the denominator of softmax."))
    if answer == 0:
        return wrong(_("Hidden before, the score is −∞, whatever it was. What is left of it to notice?"))
    return wrong(_("One of the two replaces the score before anybody reads it. Which?"))


def causal_mask(function: Callable | None) -> Feedback:
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
