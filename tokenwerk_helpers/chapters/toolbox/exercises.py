"""Exercises of 00_toolbox: how what a reader writes is checked."""

from collections.abc import Callable

import torch
import torch.nn.functional as F

from ... import model
from ...language import _
from ...live.exercise import Reader, close, named, tensor
from ...live.feedback import Feedback, floats, wrong

BORROWED = {"F.softmax": F.softmax, "torch.softmax": torch.softmax, "model.softmax": model.softmax}


def check_softmax(function: Callable | None) -> Feedback:
    """Does `function(z)` return e to the z, divided by the sum of all, for z of shape (n,)?"""
    reader = Reader(function, BORROWED)
    for z in (floats([2.0, 1.0, 0.0]), floats([0.5, -1.0, 0.5, 3.0])):
        answer = tensor(reader(z), z.shape, _("The result is a tensor with a share for each number."))
        if isinstance(answer, Feedback):
            return answer
        if not close(answer, z.softmax(-1)):
            return wrong(
                named(answer, _mistakes_of_softmax(z))
                or _("The shares differ. First e to each number, then divide each by the sum of all.")
            )
    large = reader.run(floats([1000.0, 1000.0])).answer
    if isinstance(large, torch.Tensor) and close(large, floats([0.5, 0.5])):
        verdict = reader.right(_("Right, and even for very large numbers."))
    else:
        verdict = reader.right(
            _(
                "Right. Only with numbers like 1000 it fails: e to the 1000 is too large for the computer. "
                "Whoever first subtracts the largest number from all changes nothing, and it fits again."
            )
        )
    return (_borrowed_method(function) or verdict) if verdict.correct else verdict


def _borrowed_method(function: Callable | None) -> Feedback | None:
    """Feedback if the code names softmax: a lookout knows functions, but not the methods of a tensor."""
    if "softmax" not in getattr(getattr(function, "__code__", None), "co_names", ()):
        return None
    text = _("The result is right, but {name} has done the work. Here you are to write it yourself.")
    return wrong(text.format(name="z.softmax"))


def _mistakes_of_softmax(z: torch.Tensor) -> dict[str, torch.Tensor]:
    powers = z.exp()
    return {
        _("That is e to each number. What is missing to make shares of one whole?"): powers,
        _("You divide the numbers themselves by their sum; first comes e to each of them."): z / z.sum(),
        _("You divide by the largest one; shares come from the sum of all."): powers / powers.max(),
        _("You divide by how many there are; shares come from the sum of all."): powers / len(z),
        _("That looks at each number alone (sigmoid). Softmax divides by the sum of all."): z.sigmoid(),
        _("Those are shares of powers of 2. Softmax takes e, as torch.exp does."): (2**z) / (2**z).sum(),
    }


def check_step(function: Callable | None) -> Feedback:
    """Does `function(w, gradient, rate)` return w minus rate times gradient and leave w as it was?"""
    reader = Reader(function)
    for rate in (0.1, 0.5):
        w, gradient = floats([3.0, -1.0]), floats([6.0, -2.5])
        answer = reader(w, gradient, rate)
        answer = tensor(answer, w.shape, _("The new place is a tensor of the shape of w."))
        if isinstance(answer, Feedback):
            return answer
        if not close(answer, w - rate * gradient):
            return wrong(
                named(answer, _mistakes_of_step(w, gradient, rate))
                or _("That is another place: from w, go rate times gradient downhill.")
            )
    return reader.right(_("Right: one step downhill. A training is many thousands of them."))


def _mistakes_of_step(w: torch.Tensor, gradient: torch.Tensor, rate: float) -> dict[str, torch.Tensor]:
    return {
        _("That leads uphill: the gradient points to where it rises."): w + rate * gradient,
        _("The learning rate is missing: the step is rate times gradient."): w - gradient,
        _("That is the step alone. Where does it lead from w?"): rate * gradient,
        _("That is the step downhill alone. Where does it lead from w?"): -rate * gradient,
        _("The learning rate stretches the gradient alone, not w."): rate * (w - gradient),
        _("The learning rate alone says nothing of the slope: the step is rate times gradient."): w - rate,
    }
