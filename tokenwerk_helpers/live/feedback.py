"""What a check answers."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from ..language import _


@contextmanager
def gradients() -> Iterator[None]:
    """A context, or decorator, for checks about gradients: the reader may have switched them off."""
    with torch.inference_mode(False), torch.enable_grad():
        yield


def floats(values: float | Sequence) -> torch.Tensor:
    """A tensor in the precision in which the checks compute, whatever the reader has made torch's default."""
    return torch.tensor(values, dtype=torch.float32)


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
