"""What a check answers."""

from dataclasses import dataclass

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
