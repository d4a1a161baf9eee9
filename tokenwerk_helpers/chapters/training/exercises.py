"""Exercises of 11_training: how what a reader writes is checked."""

from collections.abc import Callable

import torch
import torch.nn.functional as F

from ...language import _
from ...live.exercise import Reader, close, named, number
from ...live.feedback import Feedback, floats, wrong


def check_shifted(function: Callable | None) -> Feedback:
    """Does `function(logits, ids)` return the mean loss of predicting each next id? (B, T, V), (B, T)"""
    generator = torch.Generator().manual_seed(4)
    logits = torch.randn(2, 6, 5, generator=generator, dtype=torch.float32)
    ids = torch.randint(0, 5, (2, 6), generator=generator)
    reader = Reader(function)
    answer = reader(logits, ids)
    one = number(answer, _("One number is wanted, the mean over all predictions."))
    if isinstance(one, Feedback):
        return one
    answer = answer.detach() if isinstance(answer, torch.Tensor) else floats(one)
    if close(answer, F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())):
        return reader.right(_("Right: what was read up to t is compared with what stands at t + 1."))
    return wrong(
        named(answer, _mistakes(logits, ids))
        or _("The number differs. Logits of positions 0 to T − 2 go with ids 1 to T − 1.")
    )


def _mistakes(logits: torch.Tensor, ids: torch.Tensor) -> dict[str, torch.Tensor]:
    expected = F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    return {
        _("Not shifted: each position is asked for the token it has just read."): F.cross_entropy(
            logits.flatten(0, 1), ids.flatten()
        ),
        _("Shifted the wrong way: the model is asked for the token before."): F.cross_entropy(
            logits[:, 1:].flatten(0, 1), ids[:, :-1].flatten()
        ),
        _("That is the sum; the mean is wanted."): expected * ids[:, 1:].numel(),
        _("The sign is the wrong way round: the loss is −ln p."): -expected,
        _("Only the last position is counted."): F.cross_entropy(logits[:, -2], ids[:, -1]),
    }
