"""Exercises of 08_decoder: how what a reader writes is checked."""

from collections.abc import Callable

import torch

from ...language import _
from ...live.exercise import Reader, number
from ...live.feedback import Feedback, wrong


def check_next_id(function: Callable | None) -> Feedback:
    """Does `function(logits)` return the most probable next id, from the last of (1, T, V)?"""
    logits, reader = _logits(), Reader(function)
    answer = _id(reader(logits))
    if isinstance(answer, Feedback):
        return answer
    if answer != logits[0, -1].argmax():
        return wrong(_wrong_id(answer, logits))
    longer = torch.cat([logits, logits[:, :2]], dim=1)
    if _id(reader(longer)) != longer[0, -1].argmax():
        return wrong(
            _("Right for four positions, wrong for six: which one is the last, however many there are?")
        )
    return reader.right(_("Right: last position, largest logit. Softmax would not change which one it is."))


def _logits() -> torch.Tensor:
    """Logits (1, 4, 12) in which each position, their mean, and all positions together name another id."""
    logits = torch.zeros(1, 4, 12, dtype=torch.float32)
    logits[0, :3, 7] = 0.8  # largest on the whole, but at no position by itself
    for position, id in enumerate((5, 1, 2, 3)):
        logits[0, position, id] = 0.9
    logits[0, 1, 1] = 0.95  # largest of all
    logits[0, -1, 8] = -0.5
    return logits


def _id(answer) -> int | Feedback:
    wanted = _("One id is wanted, a single whole number.")
    if isinstance(answer, torch.Tensor) and answer.numel() == 1:
        answer = answer.reshape(())
    answer = number(answer, wanted)
    if isinstance(answer, float):
        return wrong(_("An id is a whole number: where the largest logit stands, not how large it is."))
    return answer


def _wrong_id(answer: int, logits: torch.Tensor) -> str:
    ids = logits[0].argmax(dim=-1).tolist()
    if answer == ids[0]:
        return _("That id has the largest logit at the first position. Which position has read everything?")
    if answer in ids:
        return _("That is the answer of a position in the middle.")
    if answer in (logits.mean(dim=1).argmax(), logits.flatten().argmax()):
        return _("You let all positions have a say. But only one of them has read everything.")
    return _("Take the logits of the last position and find where the largest stands.")
