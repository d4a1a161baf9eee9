"""Exercises of 00_start: how what a reader writes is checked."""

import math
from collections.abc import Callable

from ...language import _
from ...live.attempt import Reader, numbers
from ...live.exercise import Exercise, Mistake
from ...live.feedback import Feedback, wrong

EXAMPLES = ([1.0, 3.0], [2.0, 5.0, 5.0], [-4.0], [0.5, 0.25, 0.0, 1.0])


def mean(numbers):
    """The mean of a list of numbers."""
    return ...


def mean_solution(numbers):
    """Add all of them, divide by how many there are."""
    return sum(numbers) / len(numbers)


def _check(reader: Reader) -> Feedback:
    """Does the function return the mean of a list of numbers?"""
    answers = numbers(reader, [(example,) for example in EXAMPLES], _("A mean is one number."))
    if isinstance(answers, Feedback):
        return answers
    if _fits(answers, mean_solution):
        return reader.right(
            _("Right, for lists of any length. This is how every exercise of the book is checked.")
        )
    return wrong(_what_went_wrong(answers))


def _what_went_wrong(answers: list[float]) -> str:
    for mistake in _mistakes():
        if _fits(answers, mistake.function):
            return mistake.answer
    if _fits(answers[:1], mean_solution):
        return _("Right for [1, 3], wrong for other lists. Try [2, 5, 5] by hand.")
    return _("The mean of [1, 3] is something else: add all numbers, divide by how many there are.")


def _fits(answers: list[float], rule: Callable) -> bool:
    """Whether the answers are what the rule makes of the examples; torch keeps seven digits."""
    return all(
        math.isclose(answer, rule(example), rel_tol=1e-6) for answer, example in zip(answers, EXAMPLES)
    )


def _mistakes() -> list[Mistake]:
    return [
        Mistake("sum", sum, _("That is the sum. What is missing to make it a mean?")),
        Mistake(
            "halved",
            lambda numbers: sum(numbers) / 2,
            _("Right for two numbers, wrong for three: the length of the list has to count."),
        ),
        Mistake(
            "whole division",
            lambda numbers: sum(numbers) // len(numbers),
            _("Your division drops what comes after the decimal point: // is not /."),
        ),
        Mistake(
            "middle of the ends",
            lambda numbers: (min(numbers) + max(numbers)) / 2,
            _("Right for [1, 3], wrong for other lists. Try [2, 5, 5] by hand."),
        ),
        Mistake(
            "largest",
            max,
            _("The mean of [1, 3] is something else: add all numbers, divide by how many there are."),
        ),
    ]


check_mean = Exercise(
    stub=mean,
    solution=mean_solution,
    check=_check,
    hints=lambda: [
        _("Work out the mean of 2, 5 and 5 on paper first. Which two steps did you take?"),
        _("Python has a word for each step: sum(numbers) adds them, len(numbers) counts them."),
    ],
    mistakes=_mistakes,
)
