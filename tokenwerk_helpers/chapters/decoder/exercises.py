"""Exercises of 08_decoder: how what a reader writes is checked."""

import torch

from ...language import _
from ...live.attempt import Reader, number
from ...live.exercise import Exercise, Mistake
from ...live.feedback import Feedback, wrong


def next_id(logits):
    """The most probable next id after logits (1, T, V), one whole number."""
    return ...


def next_id_solution(logits):
    """The last position has read everything."""
    last = logits[0, -1]  # (V,)
    return last.argmax().item()


def _check(reader: Reader) -> Feedback:
    """Does the function return the most probable next id, from the last of logits (1, T, V)?"""
    logits = _logits()
    answer = _id(reader(logits))
    if isinstance(answer, Feedback):
        return answer
    if answer != logits[0, -1].argmax():
        return wrong(_wrong_id(answer, logits))
    longer = torch.cat([logits, logits[:, :2]], dim=1)
    if _id(reader(longer)) != longer[0, -1].argmax():
        return wrong(_only_four())
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
    wanted = _("One id is expected, a single whole number.")
    if isinstance(answer, torch.Tensor) and answer.numel() == 1:
        answer = answer.reshape(())
    answer = number(answer, wanted)
    if isinstance(answer, float):
        return wrong(_("An id is a whole number: the place of the largest logit, not its size."))
    return answer


def _wrong_id(answer: int, logits: torch.Tensor) -> str:
    said = (mistake.answer for mistake in _mistakes() if answer == mistake.function(logits))
    return next(said, _("Take the logits of the last position and find where the largest stands."))


def _only_four() -> str:
    return _("Right for four positions, wrong for six: which position is the last, however many there are?")


def _mistakes() -> list[Mistake]:
    middle = _("That is the answer of a position in the middle.")
    all_together = _("You let every position have a say. But only one of them has read everything.")
    return [
        Mistake(
            "first position",
            lambda logits: logits[0, 0].argmax(),
            _("That id has the largest logit at the first position. Which position has read everything?"),
        ),
        Mistake("second position", lambda logits: logits[0, 1].argmax(), middle),
        Mistake("last but one", lambda logits: logits[0, -2].argmax(), middle),
        Mistake("mean of all", lambda logits: logits.mean(dim=1).argmax(), all_together),
        Mistake("largest of all", lambda logits: logits.flatten().argmax(), all_together),
        Mistake(
            "smallest",
            lambda logits: logits[0, -1].argmin(),
            _("Take the logits of the last position and find where the largest stands."),
        ),
        Mistake("counted from the front", lambda logits: logits[0, 3].argmax(), _only_four()),
    ]


check_next_id = Exercise(
    stub=next_id,
    solution=next_id_solution,
    check=_check,
    hints=lambda: [
        _("There is one list of logits for each position. Which position has read the whole text?"),
        _(
            "The index -1 always means the last position, however long the text is. Then look for the place "
            "of the largest logit, not for its size."
        ),
    ],
    mistakes=_mistakes,
)
