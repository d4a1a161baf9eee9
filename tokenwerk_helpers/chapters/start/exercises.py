"""Exercises of 00_start: how what a reader writes is checked."""

import math
from collections.abc import Callable

from ...language import _
from ...live.exercise import Reader, numbers
from ...live.feedback import Feedback, wrong

EXAMPLES = ([1.0, 3.0], [2.0, 5.0, 5.0], [-4.0], [0.5, 0.25, 0.0, 1.0])


def check_mean(function: Callable) -> Feedback:
    """Does `function(numbers)` return the mean of a list of numbers?"""
    reader = Reader(function)
    answers = numbers(reader, [(example,) for example in EXAMPLES], _("A mean is one number."))
    if isinstance(answers, Feedback):
        return answers
    if _fits(answers, lambda numbers: sum(numbers) / len(numbers)):
        return reader.right(
            _("Right, for lists of any length. This is how every exercise of the book is checked.")
        )
    return wrong(_what_went_wrong(answers))


def _what_went_wrong(answers: list[float]) -> str:
    if _fits(answers, sum):
        return _("That is the sum. What is missing to make it a mean?")
    if _fits(answers, lambda numbers: sum(numbers) / 2):
        return _("Right for two numbers, wrong for three: the length of the list has to count.")
    if _fits(answers, lambda numbers: sum(numbers) // len(numbers)):
        return _("Your division drops what comes after the decimal point: // is not /.")
    if _fits(answers[:1], lambda numbers: sum(numbers) / len(numbers)):
        return _("Right for [1, 3], wrong for other lists. Try [2, 5, 5] by hand.")
    return _("The mean of [1, 3] is something else: add all numbers, divide by how many there are.")


def _fits(answers: list[float], rule: Callable) -> bool:
    """Whether the answers are what the rule makes of the examples; torch keeps seven digits."""
    return all(
        math.isclose(answer, rule(example), rel_tol=1e-6) for answer, example in zip(answers, EXAMPLES)
    )
