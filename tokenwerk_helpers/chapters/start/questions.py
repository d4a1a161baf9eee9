"""Questions of 00_start: what is asked before moving, and how the answers are judged."""

import math

from ...language import _
from ...live.feedback import Feedback, right, wrong
from ...live.question import Guess


def guess_equal_logits() -> Guess:
    """A first question, to see how guessing works."""
    return Guess(
        _(
            "“barks” has the logit 2, “sleeps” the logit 1. Now “flies” gets the logit 2 as well. "
            "How probable is “flies” then?"
        ),
        equal_logits,
        options=[
            _("50 %, since two words share the first place"),
            _("As probable as “barks”, whatever that is"),
            _("2 %"),
        ],
    )


def equal_logits(answer: int) -> Feedback:
    """Which option tells how probable a word is that has the logit of another?"""
    barks, sleeps, flies = (math.exp(logit) for logit in (2.0, 1.0, 2.0))
    share = flies / (barks + sleeps + flies)
    if answer == 0:
        text = _(
            "Equal, yes, but “sleeps” takes its share too. Set the slider to 2 and read off how much is left."
        )
        return wrong(text) if share < 0.5 else right(text)
    if answer == 1 and math.isclose(flies, barks):
        return right(
            _("Right: equal logits, equal probabilities. How much that is depends on all the others.")
        )
    return wrong(_("A logit is not a percentage. Softmax compares it with the other logits."))
