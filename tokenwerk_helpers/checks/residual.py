"""Checks of 01_residual."""

import dis
from collections.abc import Callable, Sequence

import torch

from .. import learning_rates, model
from ..language import _
from .feedback import Feedback, floats, gradients, right, wrong
from .running import Reader, Run, close, stopped, tensor, why


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
    _without, with_path = learning_rates.trained(24, 1.0)
    if OUTCOMES[answer] == learning_rates.outcome(with_path):
        return right(_("Right: gradient arrives in every layer, and the step they take becomes too large."))
    if OUTCOMES[answer] == "learns":
        return wrong(_("The gradient does stay alive. But 24 layers take their step at once: how far?"))
    return wrong(_("That is what the net without the direct path does. With it, enough arrives. Too much?"))


def residual_step(function: Callable | None) -> Feedback:
    """Does `function(x, f)` return x + f(x), refuse unequal shapes and leave x as it was?"""
    x = floats([[2.0, 5.0], [1.0, -1.0], [0.5, 3.0]])
    fx = floats([[0.3, -0.2], [1.0, 0.5], [-2.0, 0.25]])
    calls = []
    reader = Reader(function, {"residual": model.residual})
    answer = reader(x, lambda given: calls.append(given.clone()) or fx.clone())
    answer = tensor(answer, x.shape, _("The result must be a tensor of the shape of x."))
    if isinstance(answer, Feedback):
        return answer
    problem = _problem_of_sum(answer, x, fx, calls)
    if problem:
        return wrong(problem)
    for shape, part in (((1, 2), lambda given: given[:1]), ((3, 1), lambda given: given[:, :1])):
        problem = _problem_of_refusal(reader.run(x, part), shape)
        if problem:
            return wrong(problem)
    return reader.right(_("Right: x stays, f(x) is added, and a shape that does not fit is refused."))


def _problem_of_sum(answer, x, fx, calls) -> str | None:
    if len(calls) != 1 or not torch.equal(calls[0], x):
        return _("Call f exactly once, with x as it came in.")
    if close(answer, x + fx):
        return None
    if close(answer, fx):
        return _("That is f(x) alone: the direct path is missing.")
    return _("The result is not the sum of x and f(x).")


def _problem_of_refusal(run: Run, shape: tuple[int, int]) -> str | None:
    """What is wrong with how the function meets an f(x) of the given shape beside x of shape (3, 2)."""
    if run.error is None and (run.answer is None or run.answer is ...):
        text = _(
            "The sum is right. But beside f(x) of shape {shape} nothing comes back, and nobody is warned."
        )
    elif run.error is None:
        text = _(
            "The sum is right. But f(x) of shape {shape} was accepted beside x of shape (3, 2): "
            "broadcasting hides the mistake."
        )
    elif not isinstance(run.error, Exception):
        return stopped(run.function, run.error)
    elif not _is_refusal(run.error):
        text = _(
            "The sum is right. But f(x) of shape {shape} is not refused; your function has a slip there: "
        )
        return text.format(shape=shape) + why(run.error) + "."
    else:
        return None
    return text.format(shape=shape)


def _is_refusal(error: Exception) -> bool:
    """Whether it was raised on purpose, or by a torch that was asked for equal shapes; no slip of the pen."""
    last = error.__traceback__
    while last.tb_next:
        last = last.tb_next
    on_purpose = dis.opname[last.tb_frame.f_code.co_code[last.tb_lasti]] == "RAISE_VARARGS"
    slip = isinstance(error, RecursionError | NotImplementedError)
    return on_purpose or (isinstance(error, ValueError | RuntimeError) and not slip)
