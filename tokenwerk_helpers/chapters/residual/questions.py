"""Questions of 01_residual: what is asked before moving, the truth, and what is said to each answer."""

import math

from ...language import _
from ...live.feedback import gradients
from ...live.question import Choice, Mistake, Option, VectorQuestion
from .computation import (
    outcome,
    positions_reached_by_one_row,
    slope_through_halving_layers,
    trained,
    two_paths,
    vector_sum,
)


def guess_sum() -> VectorQuestion:
    """The chapter's sum, before it is computed."""
    chapter = vector_sum(2.0, 5.0, 0.3, -0.2)
    return VectorQuestion(
        _("x = [2, 5], and the operation contributes f(x) = [0.3, -0.2]. What is y = x + f(x)?"),
        truth=lambda: chapter.y,
        right=_("Right: component by component, and most of x is still there."),
        wrong_length=_("A list of two components plus a list of two components: how many come out?"),
        mistakes=[
            Mistake(
                chapter.fx,
                _("That is the contribution alone. A residual adds to x and does not replace it."),
            ),
            Mistake(chapter.x - chapter.fx, _("Look at the signs: the contribution is added.")),
        ],
        otherwise=_("Add the first components, then the second ones."),
        within=1e-4,
    )


def guess_slope() -> Choice:
    """What comes back where f is flat."""
    return Choice(
        _("At a place where f is flat, f′(x) = 0. How steep is y = x + f(x) there?"),
        truth=gradients()(lambda: round(two_paths(math.pi / 4, 0.5).total, 6)),  # f(x) = sin(2x) / 2
        options=[
            Option(
                0,
                _("0: nothing comes back"),
                _("Through f nothing comes back. But is f the only way from y to x?"),
            ),
            Option(
                1,
                _("1: the direct path remains"),
                _("Right: the direct path always delivers its 1, whatever f does."),
            ),
            Option(
                "f(x)",
                _("That depends on the value of f(x)"),
                _("A slope says how much y changes when x moves. Does a constant f(x) matter for that?"),
            ),
        ],
    )


def guess_depth() -> Choice:
    """How much of a gradient many layers leave over."""
    return Choice(
        _(
            "Each layer alone would halve the gradient. How much of it arrives behind 24 such layers "
            "in a row, without the direct path?"
        ),
        truth=gradients()(lambda: slope_through_halving_layers(24)),
        options=[
            Option(
                1 / 2,
                _("about a half"),
                _("One layer halves it. The next one halves what the first has left."),
            ),
            Option(
                1 / 48,
                _("about a forty-eighth"),
                _("The factors are not added but multiplied: half of a half of a half …"),
            ),
            Option(
                0.5**24,
                _("about a seventeen-millionth"),
                _("Right: 24 halvings multiply to 0.5²⁴, about 0.00000006. That is how a gradient vanishes."),
            ),
        ],
    )


def guess_broadcast() -> Choice:
    """A shape that broadcasting would hide."""
    return Choice(
        _("x has the shape (3, 4), f(x) by mistake (1, 4). What does a bare x + f(x) do in PyTorch?"),
        truth=lambda: positions_reached_by_one_row(3),
        options=[
            Option(
                0,
                _("It stops with an error"),
                _("Try it in a cell: torch.zeros(3, 4) + torch.ones(1, 4)."),
            ),
            Option(
                3,
                _("It adds the one row to all three positions and says nothing"),
                _("Right, and that is why it is dangerous: the shape of y looks perfect."),
            ),
            Option(
                1,
                _("It adds to the first position only"),
                _("Try it in a cell: torch.zeros(3, 4) + torch.ones(1, 4)."),
            ),
        ],
    )


def guess_deep_rate() -> Choice:
    """Whether a deeper net with the direct path bears the same learning rate."""
    return Choice(
        _(
            "With the direct path, a net of 12 layers learns even at learning rate 1. Does one "
            "of 24 layers learn, too?"
        ),
        truth=gradients()(lambda: outcome(trained(24, 1.0)[1])),
        options=[
            Option(
                "learns",
                _("Yes: the direct path keeps the gradient alive there as well"),
                _("The gradient does stay alive. But 24 layers take their step at once: how far?"),
            ),
            Option(
                "stands still",
                _("No, it stands still: no gradient arrives any more"),
                _("That is what the net without the direct path does. With it, enough arrives. Too much?"),
            ),
            Option(
                "fails",
                _("No, it fails: its loss grows without bound"),
                _("Right: the gradient arrives in every layer, and the step they take becomes too large."),
            ),
        ],
    )
