"""Checks of 11_training."""

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F

from .. import training
from ..language import _
from ..pretrained import load_checkpoints
from .feedback import Feedback, floats, nearest, right, wrong
from .running import Reader, close, named, number


def loss_at_the_start(answer: int) -> Feedback:
    """Which option is the loss of uniform guessing among 100 tokens?"""
    loss = F.cross_entropy(torch.zeros(1, 100), torch.tensor([7])).item()
    options = [0, 1, math.log(100), 100]
    if answer == nearest(options, loss):
        return right(_("Right: every token has the probability 1/100, and −ln(1/100) = ln 100."))
    if answer == 0:
        return wrong(_("A loss of 0 would mean: always certain, always right."))
    return wrong(_("Which probability does the right token get if all are alike? The loss is −ln of it."))


def predictions_of_a_text(answer: float) -> Feedback:
    """Is `answer` the number of predictions that 22 ids train?"""
    ids, targets = training.batch([list(range(22))])
    if answer == targets.numel() and ids.shape == targets.shape:
        return right(_("Right: every id but the last is a question, every id but the first an answer."))
    if answer == 1:
        return wrong(_("The model answers at every position at once, not just at the end."))
    return wrong(_("The answers are the ids, shifted by one. How many pairs are there?"))


def ten_stories(answer: int) -> Feedback:
    """Which option tells what training on very few examples does?"""
    if answer == 1:
        return right(_("Right: it learns the ten by heart. That is called overfitting. Try it above."))
    if answer == 0:
        return wrong(_("The floor holds for new stories. Ten known ones can be learned by heart."))
    return wrong(_("Ten stories are easily learned. Which of the two losses sees that?"))


def learned_last(answer: int) -> Feedback:
    """Which option is the ability that the shipped model learned last?"""
    checkpoints = load_checkpoints()
    first = [
        next(c.step for c in checkpoints if c.metrics[ability] > 0.9)
        for ability in ("pronoun", "giver", "copy")
    ]
    if answer == first.index(max(first)):
        return right(_("Right: two heads in a row have to work together for that. Watch when it appears."))
    if answer == 0:
        return wrong(
            _("That comes first: the article near the start tells the gender, and there are few pronouns.")
        )
    return wrong(_("A name has to be found once. What has to be found again with every word?"))


def shifted(function: Callable | None) -> Feedback:
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
