"""Questions of 10_sampling: what is asked before moving."""

from ...language import _
from ...live.question import Choice, Mistake, NumberQuestion, Option
from .computation import (
    draws_for_half_the_deviation,
    kept_by_temperature,
    kept_by_top_p,
    share_of_the_largest_near_zero,
    text_under_a_limit,
)


def guess_zero() -> Choice:
    """What remains as the temperature goes to 0."""
    return Choice(
        _("The temperature goes towards 0. What remains of the choice?"),
        truth=share_of_the_largest_near_zero,
        options=[
            Option(
                0.33,
                _("every token becomes equally likely"),
                _("That is what a very high temperature does."),
            ),
            Option(
                1,
                _("always the token with the largest logit"),
                _("Right: divided by something tiny, every lead becomes huge."),
            ),
            Option(0, _("no token at all"), _("Softmax always shares out one whole. Who gets it?")),
        ],
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
    moves = _("That moves. Divide all logits by the same number: what can not change by that?")
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
                _("Right: the loop stops, the model knows nothing of it. The sentence breaks off."),
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
