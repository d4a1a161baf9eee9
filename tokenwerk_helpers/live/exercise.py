"""Exercise: a function that the reader writes, with all that belongs to it in one object.

Its stub, check, hints, solution and known mistakes cannot drift apart; one test goes over all exercises:

    check_mean = Exercise(
        stub=mean,                                          # stands in the notebook, word for word
        solution=mean_solution,
        check=_check,                                       # what is said to the reader's function
        hints=lambda: [_("What is a mean?"), _("...")],     # the first gentle, the second stronger
        mistakes=lambda: [Mistake("the sum", sum, _("That is the sum. ..."))],
    )

A notebook calls it: `page.check_mean(mean)`. Words are looked up when they are shown, never at import.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from .attempt import Reader, close
from .feedback import Feedback


@dataclass(frozen=True)
class Mistake:
    """A wrong function that a reader may well write, and what is said to it."""

    name: str  # for maintainers, English
    function: Callable
    answer: str


@dataclass(frozen=True)
class Exercise:
    """A function to write; called with the reader's one, it says what is right or wrong with it."""

    stub: Callable
    solution: Callable
    check: Callable[[Reader], Feedback]
    hints: Callable[[], list[str]]
    mistakes: Callable[[], list[Mistake]]
    borrowed: Callable[[], Mapping[str, Callable]] = dict  # what would do the whole work

    def __call__(self, function: Any) -> Feedback:
        """What the check says to the reader's function."""
        return self.check(Reader(function, self.borrowed()))


def named(answer: torch.Tensor, mistakes: Iterable[Mistake], *arguments) -> str | None:
    """What to say of the first known mistake that makes this answer of the arguments; None if none does."""
    fitting = (mistake for mistake in mistakes if close(answer, mistake.function(*arguments)))
    return next((mistake.answer for mistake in fitting), None)
