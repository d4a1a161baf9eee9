"""Questions of 02_normalization: what is asked before moving, the truth, and what is said to each answer."""

from ...language import _
from ...live.feedback import floats
from ...live.question import Choice, Mistake, NumberQuestion, Option, VectorQuestion
from .computation import (
    POSITIONS,
    TEXTS,
    WIDTH,
    epsilon_place,
    lists_left_of_two_numbers,
    sharing,
    steps,
)


def guess_scale() -> VectorQuestion:
    """The chapter's second list, before it is computed."""
    tenfold = steps(floats([10.0, 30.0]), epsilon=0.0)
    return VectorQuestion(
        _("[1, 3] becomes [-1, 1]. What becomes of [10, 30], without epsilon?"),
        truth=tenfold.output.tolist,
        right=_("Right: the same list as from [1, 3]. Level and scale are gone."),
        wrong_length=_("Two numbers go in: how many come out?"),
        mistakes=[
            Mistake(
                tenfold.deviations.tolist(),
                _("The mean is subtracted. What do the deviations still have to be divided by?"),
            )
        ],
        otherwise=_("Step by step: first subtract the mean 20, then divide by the standard deviation."),
        within=1e-3,
    )


def guess_deviation() -> NumberQuestion:
    """PyTorch's own standard deviation of the chapter's list."""
    return NumberQuestion(
        _(
            "The chapter finds the standard deviation 1 for [1, 3]. torch.tensor([1., 3.]).std() divides by "
            "n − 1 instead. What does it return?"
        ),
        truth=lambda: floats([1.0, 3.0]).std().item(),
        right=_("Right: the squares sum to 2, n − 1 is 1, and the root of 2 is 1.4142."),
        mistakes=[
            Mistake(1, _("That is with n = 2 in the denominator. What are the squares divided by here?")),
            Mistake(2, _("That is the variance. You still have to take the root.")),
        ],
        otherwise=_("The deviations are −1 and 1. Sum their squares, divide by n − 1, take the root."),
        within=0.02,
    )


def guess_epsilon() -> Choice:
    """What an epsilon far below the standard deviation does all the same."""
    return Choice(
        _(
            "A list has the standard deviation σ = 0.001, a hundred times ε = 0.00001. "
            "LayerNorm is meant to bring it to 1. About how much really comes out?"
        ),
        truth=lambda: round(epsilon_place(1e-5, 1e-3).under, 2),
        options=[
            Option(
                0.99,
                "0.99",
                _("That would be so if ε were added to σ itself. But how large is σ²?"),
            ),
            Option(
                0.3,
                "0.3",
                _("Right: under the root ε meets σ² = 0.000001 and is ten times as large."),
            ),
            Option(0.09, "0.09", _("That is σ² / (σ² + ε). You still have to take the root.")),
        ],
    )


def guess_largest() -> NumberQuestion:
    """An output beyond [0, 1]."""
    return NumberQuestion(
        _("[0, 0, 0, 0, 1] is normalized with γ = 1, β = 0 and without ε. What becomes of the 1?"),
        truth=lambda: steps(floats([0.0, 0.0, 0.0, 0.0, 1.0]), epsilon=0.0).output[-1].item(),
        right=_("Right: well outside [0, 1]. Among D numbers, one can reach √(D − 1) and no more."),
        mistakes=[
            Mistake(
                lambda answer: abs(answer) <= 1,
                _("LayerNorm does not confine its output to [0, 1]. Mean 0.2, variance 0.16: what now?"),
            )
        ],
        otherwise=_("Mean 0.2, variance 0.16, standard deviation 0.4. What is (1 − 0.2) divided by it?"),
        within=0.01,
    )


def guess_moving() -> Choice:
    """Who shares a statistic, asked as who moves: each option stands for so many outputs."""
    beyond = _("Over which numbers does LayerNorm take its mean? Do they reach beyond one position?")
    return Choice(
        _(
            "In a batch, one component of one position of one text changes. "
            "Which outputs of LayerNorm can move?"
        ),
        truth=lambda: int(sharing("layer", 2, 3, 4, 1.0).has_moved.sum()),
        options=[
            Option(
                1,
                _("only this one component of this one position"),
                _("The changed number also enters the mean and the variance. Who uses those?"),
            ),
            Option(
                WIDTH,
                _("all components of this position, nothing else"),
                _("Right: mean and variance of this position change, and with them all its components."),
            ),
            Option(POSITIONS * WIDTH, _("all positions of this text"), beyond),
            Option(TEXTS * POSITIONS * WIDTH, _("everything in the batch"), beyond),
        ],
    )


def guess_two_points() -> NumberQuestion:
    """How little is left of two numbers."""
    return NumberQuestion(
        _(
            "Two unequal numbers go into LayerNorm (γ = 1, β = 0, without ε). "
            "How many different lists can come out?"
        ),
        truth=lists_left_of_two_numbers,
        right=_("Right: all that is left of the two numbers is their order."),
        mistakes=[Mistake(1, _("Think of [3, 1] as well."))],
        otherwise=_(
            "Each of two numbers is as far from the mean as the other. What is left to tell them apart?"
        ),
    )
