"""Exercises of 01_residual: how what a reader writes is checked."""

import dis

import torch

from ... import model
from ...language import _
from ...live.attempt import Reader, Run, close, stopped, tensor, why
from ...live.exercise import Exercise, Mistake
from ...live.feedback import Feedback, floats, wrong


def residual_step(x, f):
    """x + f(x); refuses an f(x) of another shape than x, and leaves x as it was."""
    return ...


def residual_step_solution(x, f):
    """Look at the shapes first, then add."""
    fx = f(x)
    if fx.shape != x.shape:
        raise ValueError(f"f(x) has shape {tuple(fx.shape)}, x has shape {tuple(x.shape)}")
    return x + fx


def _check(reader: Reader) -> Feedback:
    """Does the function of x and f return x + f(x), refuse unequal shapes and leave x as it was?"""
    x = floats([[2.0, 5.0], [1.0, -1.0], [0.5, 3.0]])
    fx = floats([[0.3, -0.2], [1.0, 0.5], [-2.0, 0.25]])
    calls = []
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
            "The sum is right. But when f(x) has shape {shape}, nothing comes back, and nobody is warned."
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


def _mistakes() -> list[Mistake]:
    def in_place(x, f):
        x += f(x)
        return x

    def f_called_twice(x, f):
        return x + f(x) + 0 * f(x)

    broadcast = _(
        "The sum is right. But f(x) of shape {shape} was accepted beside x of shape (3, 2): "
        "broadcasting hides the mistake."
    )
    changed = _(
        "Your function changes {name} itself (+=, a name with _ at its end, or x[...] = does that). "
        "Whoever still needs {name} now has a wrong one; make a new tensor."
    )
    return [
        Mistake("no direct path", lambda x, f: f(x), _("That is f(x) alone: the direct path is missing.")),
        Mistake("product", lambda x, f: x * f(x), _("The result is not the sum of x and f(x).")),
        Mistake("f called twice", f_called_twice, _("Call f exactly once, with x as it came in.")),
        Mistake("shapes not compared", lambda x, f: x + f(x), broadcast.format(shape=(1, 2))),
        Mistake("x changed", in_place, changed.format(name="x")),
    ]


check_residual_step = Exercise(
    stub=residual_step,
    solution=residual_step_solution,
    check=_check,
    hints=lambda: [
        _("First work out f(x) and give it a name. Before you add: which shapes do x and f(x) have?"),
        _(
            "Tensors know their .shape. If the two differ, stop with raise ValueError(...); if not, return "
            "the sum of x and what you have named."
        ),
    ],
    mistakes=_mistakes,
    borrowed=lambda: {"residual": model.residual},
)
