"""Exercises of 11_training: how what a reader writes is checked."""

import torch
import torch.nn.functional as F

from ...language import _
from ...live.attempt import Reader, close, number
from ...live.exercise import Exercise, Mistake, named
from ...live.feedback import Feedback, floats, wrong


def next_token_loss(logits, ids):
    """The mean loss, -ln p, of predicting each next id: logits (B, T, V), ids (B, T), one number."""
    return ...


def next_token_loss_solution(logits, ids):
    """What was read up to t is compared with what stands at t + 1."""
    predictions = logits[:, :-1]  # (B, T-1, V)
    targets = ids[:, 1:]  # (B, T-1)
    return F.cross_entropy(predictions.flatten(0, 1), targets.flatten())


def _check(reader: Reader) -> Feedback:
    """Does the function of logits (B, T, V), ids (B, T) return the mean loss of predicting each next id?"""
    generator = torch.Generator().manual_seed(4)
    logits = torch.randn(2, 6, 5, generator=generator, dtype=torch.float32)
    ids = torch.randint(0, 5, (2, 6), generator=generator)
    answer = reader(logits, ids)
    one = number(answer, _("One number is expected, the mean over all predictions."))
    if isinstance(one, Feedback):
        return one
    answer = answer.detach() if isinstance(answer, torch.Tensor) else floats(one)
    if close(answer, F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())):
        return reader.right(_("Right: what was read up to t is compared with what stands at t + 1."))
    return wrong(
        named(answer, _mistakes(), logits, ids)
        or _("The number differs. Logits of positions 0 to T − 2 go with ids 1 to T − 1.")
    )


def _mistakes() -> list[Mistake]:
    def loss(logits, ids):
        return F.cross_entropy(logits.flatten(0, -2), ids.flatten())

    def right(logits, ids):
        return loss(logits[:, :-1], ids[:, 1:])

    return [
        Mistake(
            "not shifted",
            loss,
            _("Not shifted: each position is asked for the token it has just read."),
        ),
        Mistake(
            "shifted backwards",
            lambda logits, ids: loss(logits[:, 1:], ids[:, :-1]),
            _("Shifted the wrong way: the model is asked for the token before."),
        ),
        Mistake(
            "sum",
            lambda logits, ids: right(logits, ids) * ids[:, 1:].numel(),
            _("That is the sum; the mean is asked for."),
        ),
        Mistake(
            "sign",
            lambda logits, ids: -right(logits, ids),
            _("The sign is wrong: the loss is −ln p."),
        ),
        Mistake(
            "last position",
            lambda logits, ids: loss(logits[:, -2], ids[:, -1]),
            _("Only the last position is counted."),
        ),
    ]


check_shifted = Exercise(
    stub=next_token_loss,
    solution=next_token_loss_solution,
    check=_check,
    hints=lambda: [
        _("Which token should the model name after it has read the first one? And after the last one?"),
        _(
            "Leave out the last position of the logits and the first of the ids: then they belong "
            "together. F.cross_entropy wants (N, V) and (N,), so flatten texts and positions into one axis."
        ),
    ],
    mistakes=_mistakes,
)
