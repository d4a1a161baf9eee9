"""Questions of 05_causal_mask: what is asked before moving, and how the answers are judged."""

import torch

from ... import model
from ...language import _
from ...live.feedback import Feedback, right, wrong
from ...live.question import Guess


def guess_ones() -> Guess:
    """How many looks a causal mask allows."""
    return Guess(_("How many ones are there in the causal mask of 5 tokens?"), ones_of_five, kind="number")


def guess_window() -> Guess:
    """How many looks a window leaves."""
    return Guess(
        _(
            "Five tokens, a window of 3: each sees itself and the two before. "
            "How many looks are allowed in all?"
        ),
        looks_in_a_window,
        kind="number",
    )


def guess_hidden_score() -> Guess:
    """Where a hidden score is noticed all the same."""
    return Guess(
        _("A hidden score grows. In which order do the visible weights notice?"),
        who_notices_the_hidden_score,
        options=[_("masked before softmax"), _("masked after softmax"), _("in both")],
    )


def guess_leak() -> Guess:
    """Whose outputs a changed token moves."""
    return Guess(
        _("Under a causal mask you change token 3 of 5. Which outputs can move?"),
        outputs_that_move,
        options=[_("only output 3"), _("outputs 1 to 3"), _("outputs 3 to 5"), _("all")],
    )


def guess_zero() -> Guess:
    """What -inf becomes."""
    return Guess(
        _("A score of −∞ goes through softmax beside ordinary scores. Its weight is …"),
        weight_of_minus_infinity,
        options=[_("very small, but above 0"), _("exactly 0"), _("not a number (NaN)")],
    )


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
