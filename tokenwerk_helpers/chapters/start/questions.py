"""Questions of 00_start: what is asked before moving, the truth, and what is said to each answer."""

from ...language import _
from ...live.question import Choice, Option
from .computation import next_word


def guess_equal_logits() -> Choice:
    """A first question, to see how guessing works: how probable is a word that has the logit of another?"""
    barks, _sleeps, _flies = next_word(2.0).probabilities
    return Choice(
        _(
            "“barks” has the logit 2, “sleeps” the logit 1. Now “flies” gets the logit 2 as well. "
            "How probable is “flies” then?"
        ),
        truth=lambda: next_word(2.0).probabilities[2],
        options=[
            Option(
                0.5,
                _("50%, since two words share the first place"),
                _(
                    "Equal, yes, but “sleeps” takes its share too. "
                    "Set the slider to 2 and read off how much is left."
                ),
            ),
            Option(
                barks,
                _("As probable as “barks”, whatever that is"),
                _("Right: equal logits, equal probabilities. How much that is depends on all the others."),
            ),
            Option(
                0.02, _("2%"), _("A logit is not a percentage. Softmax compares it with the other logits.")
            ),
        ],
    )
