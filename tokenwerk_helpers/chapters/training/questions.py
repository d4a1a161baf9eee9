"""Questions of 11_training: what is asked before moving, and how the answers are judged."""

import math

import torch
import torch.nn.functional as F

from ... import training
from ...language import _
from ...live.feedback import Feedback, nearest, right, wrong
from ...live.question import Guess
from ...pretrained import load_checkpoints


def guess_first_loss() -> Guess:
    """The loss of an untrained model."""
    return Guess(
        _("An untrained model knows nothing yet. About how large is its loss with V = 100 tokens?"),
        loss_at_the_start,
        options=["0", _("about 1"), _("about ln 100 = 4.6"), _("about 100")],
    )


def guess_last() -> Guess:
    """Which ability comes last."""
    return Guess(
        _("Which of these did the model learn last?"),
        learned_last,
        options=[
            _("the pronoun that fits the noun"),
            _("the name of whoever gave something"),
            _("copying the spell, word by word"),
        ],
    )


def guess_questions() -> Guess:
    """How many predictions one text trains."""
    return Guess(
        _("A text of 20 tokens (with start and end token 22 ids). How many predictions does it train?"),
        predictions_of_a_text,
        kind="number",
    )


def guess_ten_stories() -> Guess:
    """What happens with too few examples."""
    return Guess(
        _("You train on ten stories only, again and again. What happens to the two losses?"),
        ten_stories,
        options=[
            _("both fall towards the floor"),
            _("training falls below the floor, unseen stories get worse"),
            _("neither falls"),
        ],
    )


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
