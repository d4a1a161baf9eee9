"""Exercises of 01_residual: how what a reader writes is checked."""

import dis
from collections.abc import Callable

import torch

from ... import model
from ...language import _
from ...live.exercise import Reader, Run, close, stopped, tensor, why
from ...live.feedback import Feedback, floats, wrong


def check_residual_step(function: Callable | None) -> Feedback:
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
