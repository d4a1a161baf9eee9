"""Questions of 01_residual: what is asked before moving, and how the answers are judged."""

from collections.abc import Sequence

import torch

from ... import model
from ...language import _
from ...live.feedback import Feedback, floats, gradients, right, wrong
from ...live.question import Guess
from .computation import outcome, trained


def guess_sum() -> Guess:
    """The chapter's sum, before it is computed."""
    return Guess(
        _("x = [2, 5], and the operation contributes f(x) = [0.3, -0.2]. What is y = x + f(x)?"),
        chapter_sum,
        kind="vector",
    )


def guess_slope() -> Guess:
    """What comes back where f is flat."""
    return Guess(
        _("At a place where f is flat, f′(x) = 0. How steep is y = x + f(x) there?"),
        slope_where_f_is_flat,
        options=[
            _("0: nothing comes back"),
            _("1: the direct path remains"),
            _("That depends on the value of f(x)"),
        ],
    )


def guess_depth() -> Guess:
    """How much of a gradient many layers leave over."""
    return Guess(
        _(
            "Each layer alone would halve the gradient. How much of it arrives behind 24 such layers "
            "in a row, without the direct path?"
        ),
        gradient_through_halving_layers,
        options=[_("about a half"), _("about a forty-eighth"), _("about a seventeen-millionth")],
    )


def guess_broadcast() -> Guess:
    """A shape that broadcasting would hide."""
    return Guess(
        _("x has the shape (3, 4), f(x) by mistake (1, 4). What does a bare x + f(x) do in PyTorch?"),
        silent_broadcast,
        options=[
            _("It stops with an error"),
            _("It adds the one row to all three positions and says nothing"),
            _("It adds to the first position only"),
        ],
    )


def guess_deep_rate() -> Guess:
    """Whether a deeper net with the direct path bears the same learning rate."""
    options = {
        "learns": _("Yes: the direct path keeps the gradient alive there as well"),
        "stands still": _("No, it stands still: no gradient arrives any more"),
        "fails": _("No, it fails: its loss grows without end"),
    }
    return Guess(
        _(
            "With the direct path, a net of 12 layers learns even at the learning rate 1. "
            "Does one of 24 layers, too?"
        ),
        deep_net_at_a_large_rate,
        options=[options[name] for name in OUTCOMES],
    )


def chapter_sum(answer: Sequence[float]) -> Feedback:
    """Is `answer` [2, 5] + [0.3, -0.2]?"""
    if len(answer) != 2:
        return wrong(_("A list of two components plus a list of two components: how many come out?"))
    x, fx, given = floats([2.0, 5.0]), floats([0.3, -0.2]), floats(answer)
    if torch.allclose(given, model.residual(x, fx), atol=1e-4):
        return right(_("Right: component by component, and most of x is still there."))
    if torch.allclose(given, fx, atol=1e-4):
        return wrong(_("That is the contribution alone. A residual adds to x and does not replace it."))
    if torch.allclose(given, x - fx, atol=1e-4):
        return wrong(_("Look at the signs: the contribution is added."))
    return wrong(_("Add the first components, then the second ones."))


@gradients()
def slope_where_f_is_flat(answer: int) -> Feedback:
    """Which option is the slope of x + f(x) where f'(x) = 0?"""
    x = torch.tensor(0.7, requires_grad=True)
    (slope,) = torch.autograd.grad(model.residual(x, 0.0 * x), x)
    if answer == round(slope.item()):
        return right(_("Right: the direct path always delivers its 1, whatever f does."))
    if answer == 0:
        return wrong(_("Through f nothing comes back. But is f the only way from y to x?"))
    return wrong(_("A slope says how much y changes when x moves. Does a constant f(x) matter for that?"))


def silent_broadcast(answer: int) -> Feedback:
    """Which option tells what a bare sum of (3, 4) and (1, 4) does?"""
    x, fx = torch.zeros(3, 4), torch.ones(1, 4)
    everywhere = bool(((x + fx) == 1).all())
    if answer == (1 if everywhere else 0):
        return right(_("Right, and that is why it is dangerous: the shape of y looks perfect."))
    return wrong(_("Try it in a cell: torch.zeros(3, 4) + torch.ones(1, 4)."))


@gradients()
def gradient_through_halving_layers(answer: int) -> Feedback:
    """Which option is the slope of 24 layers in a row that halve, without the direct path?"""
    h = x = torch.tensor(1.0, requires_grad=True)
    for _layer in range(24):
        h = 0.5 * h
    (slope,) = torch.autograd.grad(h, x)
    options = torch.tensor([1 / 2, 1 / 48, 2.0**-24])
    if answer == int((options - slope).abs().argmin()):
        return right(
            _("Right: 24 halvings multiply to 0.5²⁴, about 0.00000006. That is how a gradient vanishes.")
        )
    if answer == 0:
        return wrong(_("One layer halves it. The next one halves what the first has left over."))
    return wrong(_("The factors are not added up but multiplied: a half of a half of a half …"))


OUTCOMES = ("learns", "stands still", "fails")  # the options of `deep_net_at_a_large_rate`, in order


@gradients()
def deep_net_at_a_large_rate(answer: int) -> Feedback:
    """Which option tells what 24 layers with the direct path do at the learning rate 1?"""
    _without, with_path = trained(24, 1.0)
    if OUTCOMES[answer] == outcome(with_path):
        return right(_("Right: gradient arrives in every layer, and the step they take becomes too large."))
    if OUTCOMES[answer] == "learns":
        return wrong(_("The gradient does stay alive. But 24 layers take their step at once: how far?"))
    return wrong(_("That is what the net without the direct path does. With it, enough arrives. Too much?"))
