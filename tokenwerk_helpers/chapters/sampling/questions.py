"""Questions of 10_sampling: what is asked before moving."""

import math

from ...language import _
from ...live.question import Choice, Mistake, NumberQuestion, Option
from .computation import (
    draws_for_half_the_deviation,
    kept_by_temperature,
    kept_by_top_p,
    lead_at,
    text_under_a_limit,
)


def guess_zero() -> NumberQuestion:
    """What halving the temperature does to the lead of one token over another."""
    return NumberQuestion(
        _(
            "The logits of two tokens differ by 1. At temperature 1 the first one is therefore e ≈ 2.72 "
            "times as probable as the second. How many times at temperature 0.5?"
        ),
        truth=lambda: lead_at(0.5),
        right=_("Right: e² ≈ 7.39. Divided by a half, a lead of 1 becomes one of 2."),
        mistakes=[
            Mistake(
                lambda answer: abs(answer - 2 * math.e) < 0.1,
                _("The lead of the logits doubles: that to which e is raised. What becomes of e then?"),
            ),
            Mistake(
                lambda answer: abs(answer - math.sqrt(math.e)) < 0.1,
                _("That is temperature 2. Divide the difference by 0.5: does it get smaller or larger?"),
            ),
            Mistake(
                lambda answer: abs(answer - math.e) < 0.1,
                _("That is so at temperature 1. What becomes of the difference when it is divided by 0.5?"),
            ),
        ],
        otherwise=_("Divide the difference of the logits by 0.5. Then e to the power of that."),
        within=0.1,
    )


def guess_top_p() -> NumberQuestion:
    """How many tokens top-p keeps."""
    return NumberQuestion(
        _("Probabilities 0.5, 0.3, 0.15 and 0.05. How many tokens does top-p keep with p = 0.9?"),
        truth=kept_by_top_p,
        right=_("Right: 0.5 + 0.3 is 0.8, not enough; with 0.15 it is 0.95."),
        mistakes=[Mistake(2, _("0.5 + 0.3 is only 0.8. The set has to reach 0.9."))],
        otherwise=_("Add from the most probable on until you reach 0.9."),
        within=0,
    )


def guess_draws() -> Choice:
    """How many draws halve the deviation."""
    return Choice(
        _("You want the deviation to become half as large. How many draws does that take?"),
        truth=draws_for_half_the_deviation,
        options=[
            Option(
                2,
                _("twice as many"),
                _("Twice as many draws divide it only by √2, about 1.4. Look at the root."),
            ),
            Option(
                4,
                _("four times as many"),
                _("Right: n stands under the root. Four times as many draws, half the deviation."),
            ),
            Option(
                10,
                _("ten times as many"),
                _("That is more than enough: the deviation would shrink to less than a third."),
            ),
        ],
    )


def guess_order() -> Choice:
    """What temperature leaves as it is."""
    moves = _("That moves. Divide all logits by the same number: what cannot change?")
    return Choice(
        _("You raise the temperature from 0.5 to 1.5. What stays as it is?"),
        truth=kept_by_temperature,
        options=[
            Option("probabilities", _("the probabilities"), moves),
            Option(
                "order",
                _("the order of the tokens"),
                _("Right: dividing all logits by the same positive number changes no ranking."),
            ),
            Option("entropy", _("the entropy"), moves),
        ],
    )


def guess_limit() -> Choice:
    """What a lower limit does to the text."""
    return Choice(
        _(
            "The same seed, once with at most 40 tokens, once with at most 5. "
            "What becomes of the text under the lower limit?"
        ),
        truth=text_under_a_limit,
        options=[
            Option(
                "broken off",
                _("the same first five tokens, then it breaks off"),
                _("Right: the loop stops; the model knows nothing about it. The sentence breaks off."),
            ),
            Option(
                "shorter",
                _("a shorter text that comes to an end in five tokens"),
                _("For that the model would have to know the limit. What does it read at each step?"),
            ),
            Option(
                "another",
                _("another text from the first token on"),
                _("The same seed, the same text to read: why should the first draw differ?"),
            ),
        ],
    )
