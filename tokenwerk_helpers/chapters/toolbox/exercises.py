"""Exercises of 00_toolbox: how what a reader writes is checked."""

import torch
import torch.nn.functional as F

from ... import model
from ...language import _
from ...live.attempt import Reader, close, tensor
from ...live.exercise import Exercise, Mistake, named
from ...live.feedback import Feedback, floats, wrong

# ---- softmax ----


def softmax_by_hand(z):
    """e to each number, divided by the sum of all: (n,) -> (n,)."""
    return ...


def softmax_by_hand_solution(z):
    """Powers first, then shares of their sum; without its largest number z has the same shares."""
    powers = torch.exp(z - z.max())
    return powers / powers.sum()


def _check_softmax(reader: Reader) -> Feedback:
    """Does the function of z return e to the z, divided by the sum of all, for z of shape (n,)?"""
    for z in (floats([2.0, 1.0, 0.0]), floats([0.5, -1.0, 0.5, 3.0])):
        answer = tensor(reader(z), z.shape, _("The result is a tensor with a share for each number."))
        if isinstance(answer, Feedback):
            return answer
        if not close(answer, z.softmax(-1)):
            return wrong(
                named(answer, _mistakes_of_softmax(), z)
                or _(
                    "The shares differ. First e to the power of each number, then divide each by "
                    "the sum of all."
                )
            )
    return _verdict(reader)


def _verdict(reader: Reader) -> Feedback:
    """What is said to a softmax that is right, by how it bears large numbers and who has done the work."""
    large = reader.run(floats([1000.0, 1000.0])).answer
    if isinstance(large, torch.Tensor) and close(large, floats([0.5, 0.5])):
        verdict = reader.right(_("Right, and even for very large numbers."))
    else:
        verdict = reader.right(
            _(
                "Right. It fails only with numbers like 1000: e to the power of 1000 is too "
                "large for the computer. Subtracting the largest number from all of them first "
                "changes nothing, and then it fits."
            )
        )
    if verdict.correct and "softmax" in reader.names:
        # A lookout knows functions, but not the methods of a tensor.
        text = _("The result is right, but {name} did the work. Here you are to write it yourself.")
        return wrong(text.format(name="z.softmax"))
    return verdict


def _mistakes_of_softmax() -> list[Mistake]:
    return [
        Mistake(
            "powers alone",
            torch.exp,
            _("That is e to the power of each number. What is missing to make shares of one whole?"),
        ),
        Mistake(
            "no powers",
            lambda z: z / z.sum(),
            _("You divide the numbers themselves by their sum; first comes e to the power of each."),
        ),
        Mistake(
            "by the largest",
            lambda z: z.exp() / z.exp().max(),
            _("You divide by the largest one; shares come from dividing by the sum of all."),
        ),
        Mistake(
            "by the count",
            lambda z: z.exp() / len(z),
            _("You divide by how many there are; shares come from dividing by the sum of all."),
        ),
        Mistake(
            "sigmoid",
            torch.sigmoid,
            _("That looks at each number alone (sigmoid). Softmax divides by the sum of all."),
        ),
        Mistake(
            "powers of two",
            lambda z: (2**z) / (2**z).sum(),
            _("Those are shares of powers of 2. Softmax takes e, as torch.exp does."),
        ),
    ]


check_softmax = Exercise(
    stub=softmax_by_hand,
    solution=softmax_by_hand_solution,
    check=_check_softmax,
    hints=lambda: [
        _("Two lines: first turn each z into a positive number. How do positive numbers become shares?"),
        _("torch.exp(z) raises e to each number. A share is a number divided by the sum of all of them."),
    ],
    mistakes=_mistakes_of_softmax,
    borrowed=lambda: {"F.softmax": F.softmax, "torch.softmax": torch.softmax, "model.softmax": model.softmax},
)


# ---- a step downhill ----


def step(w, gradient, rate):
    """Where one step downhill leads from w: (n,), (n,) and a number -> (n,)."""
    return ...


def step_solution(w, gradient, rate):
    """Against the gradient, by rate times its length."""
    return w - rate * gradient


def _check_step(reader: Reader) -> Feedback:
    """Does the function of w, gradient and rate return w minus rate times gradient and leave w as it was?"""
    for rate in (0.1, 0.5):
        w, gradient = floats([3.0, -1.0]), floats([6.0, -2.5])
        answer = reader(w, gradient, rate)
        answer = tensor(answer, w.shape, _("The new place is a tensor of the shape of w."))
        if isinstance(answer, Feedback):
            return answer
        if not close(answer, w - rate * gradient):
            return wrong(
                named(answer, _mistakes_of_step(), w, gradient, rate)
                or _("That is another place: from w, go rate times gradient downhill.")
            )
    return reader.right(_("Right: one step downhill. Training is many thousands of them."))


def _mistakes_of_step() -> list[Mistake]:
    return [
        Mistake(
            "uphill",
            lambda w, gradient, rate: w + rate * gradient,
            _("That leads uphill: the gradient points to where the function rises."),
        ),
        Mistake(
            "no rate",
            lambda w, gradient, rate: w - gradient,
            _("The learning rate is missing: the step is rate times gradient."),
        ),
        Mistake(
            "step alone",
            lambda w, gradient, rate: rate * gradient,
            _("That is the step alone. Where does it lead from w?"),
        ),
        Mistake(
            "step downhill alone",
            lambda w, gradient, rate: -rate * gradient,
            _("That is the step downhill alone. Where does it lead from w?"),
        ),
        Mistake(
            "rate on both",
            lambda w, gradient, rate: rate * (w - gradient),
            _("The learning rate stretches the gradient alone, not w."),
        ),
        Mistake(
            "no gradient",
            lambda w, gradient, rate: w - rate,
            _("The learning rate alone says nothing of the slope: the step is rate times gradient."),
        ),
    ]


check_step = Exercise(
    stub=step,
    solution=step_solution,
    check=_check_step,
    hints=lambda: [
        _("The gradient points uphill. Which sign leads down, and who decides how far?"),
        _("The step is rate times gradient. Start at w and subtract it."),
    ],
    mistakes=_mistakes_of_step,
)
