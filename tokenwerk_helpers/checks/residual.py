"""Checks of 01_residual."""

from collections.abc import Callable, Sequence

import torch

from .. import learning_rates, model
from ..language import _
from .feedback import Feedback, attempt, right, wrong


def chapter_sum(answer: Sequence[float]) -> Feedback:
    """Is `answer` [2, 5] + [0.3, -0.2]?"""
    if len(answer) != 2:
        return wrong(_("A list of two components plus a list of two components: how many come out?"))
    x, fx = torch.tensor([2.0, 5.0]), torch.tensor([0.3, -0.2])
    given = torch.tensor(answer, dtype=torch.float32)
    if torch.allclose(given, model.residual(x, fx), atol=1e-4):
        return right(_("Right: component by component, and most of x is still there."))
    if torch.allclose(given, fx, atol=1e-4):
        return wrong(_("That is the contribution alone. A residual adds to x and does not replace it."))
    if torch.allclose(given, x - fx, atol=1e-4):
        return wrong(_("Look at the signs: the contribution is added."))
    return wrong(_("Add the first components, then the second ones."))


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


def deep_net_at_a_large_rate(answer: int) -> Feedback:
    """Which option tells what 24 layers with the direct path do at the learning rate 1?"""
    _without, with_path = learning_rates.trained(24, 1.0)
    if OUTCOMES[answer] == learning_rates.outcome(with_path):
        return right(_("Right: gradient arrives in every layer, and the step they take becomes too large."))
    if OUTCOMES[answer] == "learns":
        return wrong(_("The gradient does stay alive. But 24 layers take their step at once: how far?"))
    return wrong(_("That is what the net without the direct path does. With it, enough arrives. Too much?"))


def residual_step(function: Callable | None) -> Feedback:
    """Does `function(x, f)` return x + f(x), refuse unequal shapes and leave x as it was?"""
    x = torch.tensor([[2.0, 5.0], [1.0, -1.0], [0.5, 3.0]])
    before = x.clone()
    fx = torch.tensor([[0.3, -0.2], [1.0, 0.5], [-2.0, 0.25]])
    calls = []
    answer = attempt(function, x, lambda given: calls.append(given.clone()) or fx)
    if isinstance(answer, Feedback):
        return answer
    if not torch.equal(x, before):
        return wrong(
            _("Your function changes x itself. Whoever still needs x now has a wrong one; make a new tensor.")
        )
    problem = _problem_of_sum(answer, x, fx, calls)
    if problem:
        return wrong(problem)
    try:
        function(x, lambda given: given[:1])
    except Exception:
        return right(_("Right: x stays, f(x) is added, and a shape that does not fit is refused."))
    return wrong(
        _(
            "The sum is right. But f(x) of shape (1, 2) was accepted beside x of shape (3, 2): "
            "broadcasting hides the mistake."
        )
    )


def _problem_of_sum(answer, x, fx, calls) -> str | None:
    if not isinstance(answer, torch.Tensor) or answer.shape != x.shape:
        return _("The result must be a tensor of the shape of x.")
    answer = answer.float()
    if len(calls) != 1 or not torch.equal(calls[0], x):
        return _("Call f exactly once, with x as it came in.")
    if torch.equal(answer, fx):
        return _("That is f(x) alone: the direct path is missing.")
    if not torch.allclose(answer, x + fx):
        return _("The result is not the sum of x and f(x).")
    return None
