"""What a check answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ..language import _

# A decorator for checks that draw: the reader's own random numbers go on as if nothing had been drawn.
draws_aside = torch.random.fork_rng(devices=[])


@dataclass(frozen=True)
class Feedback:
    """The answer of a check: right (True), wrong (False) or not attempted yet (None), and why."""

    correct: bool | None
    text: str

    def __repr__(self) -> str:
        mark = {True: "✓", False: "✗", None: "○"}[self.correct]
        return f"{mark} {self.text}"


def not_attempted() -> Feedback:
    """The answer to a stub, `...` or an empty field."""
    return Feedback(None, _("Not attempted yet."))


def right(text: str) -> Feedback:
    """Feedback for a right answer."""
    return Feedback(True, text)


def wrong(text: str) -> Feedback:
    """Feedback for a wrong answer: which property is broken."""
    return Feedback(False, text)


def nearest(options: Sequence[float], value: float) -> int:
    """Which option, counted from 0, comes closest to the measured value."""
    return min(range(len(options)), key=lambda option: abs(options[option] - value))


def attempt(function: Callable, *arguments) -> Any:
    """What the reader's function returns; a Feedback if nothing can be judged: it stops, or is a stub."""
    try:
        answer = function(*arguments)
    except Exception as error:
        text = _("Your function stops with {kind}: {text}.")
        said = str(error).split("\n")[0].rstrip(".")
        return wrong(text.format(kind=type(error).__name__, text=said))
    return not_attempted() if answer is None or answer is ... else answer


def attempt_each(function: Callable, *examples: tuple) -> list | Feedback:
    """The answers to several examples; a Feedback if the function stops at one, or is a stub at the first."""
    answers: list = []
    for arguments in examples:
        answer = attempt(function, *arguments)
        if isinstance(answer, Feedback) and (answer.correct is False or not answers):
            return answer
        answers.append(answer)
    return answers
