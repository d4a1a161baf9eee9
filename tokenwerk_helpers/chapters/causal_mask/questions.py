"""Questions of 05_causal_mask: each with its truth and an answer for whatever is said."""

import math

from ...language import _
from ...live.numbers import number
from ...live.question import Choice, Mistake, NumberQuestion, Option
from ...pretrained import load
from .computation import (
    STEPS,
    UNMASKED,
    future_after,
    looks,
    noticing,
    outputs_that_move,
    weight_of_minus_infinity,
    writing_without_a_mask,
)


def guess_ones() -> NumberQuestion:
    """How many looks a causal mask allows."""
    return NumberQuestion(
        _("How many ones are there in the causal mask of 5 tokens?"),
        truth=lambda: looks("causal", 5),
        right=_("Right: 1 + 2 + 3 + 4 + 5. Each token sees itself and all before it."),
        mistakes=[
            Mistake(0 + 1 + 2 + 3 + 4, _("You left out the diagonal. May a token look at itself?")),
            Mistake(5 * 5, _("That would be everybody at everybody, as in BERT.")),
        ],
        otherwise=_("Go row by row: how many does token 1 see, how many token 2?"),
        within=0,
    )


def guess_window() -> NumberQuestion:
    """How many looks a window leaves."""
    return NumberQuestion(
        _(
            "Five tokens, a window of 3: each sees itself and the two before. "
            "How many looks are allowed in all?"
        ),
        truth=lambda: looks("window", 5, width=3),
        right=_("Right: 1 + 2 + 3 + 3 + 3. With a long text that is far less than under the causal mask."),
        mistakes=[
            Mistake(
                5 * 3,
                _("Every row with 3: but what stands before the first token, and before the second?"),
            ),
            Mistake(
                1 + 2 + 3 + 4 + 4,
                _("A window of 3 counts the token itself: it looks at two before."),
            ),
        ],
        otherwise=_("Go row by row: token 1 sees itself, token 2 sees two, and from token 3 on?"),
        within=0,
    )


def guess_hidden_score() -> Choice:
    """Where a hidden score is noticed all the same."""
    return Choice(
        _("A hidden score grows. In which order do the visible weights notice?"),
        truth=lambda: noticing(hidden=2.0, grown=4.0),
        options=[
            Option(
                ["before"],
                _("masked before softmax"),
                _("Hidden before, the score is −∞, whatever it was. What is left of it to notice?"),
            ),
            Option(
                ["after"],
                _("masked after softmax"),
                _("Right: hidden afterwards, it already stands in the denominator of softmax."),
            ),
            Option(
                ["before", "after"],
                _("in both"),
                _("One of the two replaces the score before anybody reads it. Which?"),
            ),
        ],
    )


def guess_leak() -> Choice:
    """Whose outputs a changed token moves."""
    read_the_column = _("Read the column of token 3 in the mask: who may look at it?")
    return Choice(
        _("Under a causal mask you change token 3 of 5. Which outputs can move?"),
        truth=lambda: outputs_that_move(3, T=5),
        options=[
            Option(
                [3],
                _("only output 3"),
                _("Later tokens may look at token 3. Does that leave them cold?"),
            ),
            Option([1, 2, 3], _("outputs 1 to 3"), read_the_column),
            Option(
                [3, 4, 5],
                _("outputs 3 to 5"),
                _("Right: it passes on to itself and to the later ones, never back."),
            ),
            Option([1, 2, 3, 4, 5], _("all"), read_the_column),
        ],
    )


def guess_zero() -> Choice:
    """What -inf becomes."""
    return Choice(
        _("A score of −∞ goes through softmax beside ordinary scores. Its weight is …"),
        truth=weight_of_minus_infinity,
        options=[
            Option(
                math.ulp(0),
                _("very small, but above 0"),
                _("With −1000 that would be so in theory. But what is e to the power of −∞?"),
            ),
            Option(0, _("exactly 0"), _("Right: e^(−∞) is 0. Hidden tokens get no weight at all.")),
            Option(
                math.nan,
                _("not a number (NaN)"),
                _("That only threatens a row in which everything is hidden. Here there are others."),
            ),
        ],
    )


def guess_below_the_floor() -> Choice:
    """What a model writes that was trained without a mask."""
    return Choice(
        _(
            "A small model is trained without a mask. Its loss falls to {loss}; whoever only knows the "
            "grammar comes down to {floor} at best. Now it shall go on after “Eine”. What do you expect?"
        ).format(
            loss=number(future_after(STEPS).loss(UNMASKED)), floor=number(load().about["validation"]["floor"])
        ),
        truth=writing_without_a_mask,
        options=[
            Option(
                "better",
                _("better stories than those of the model with the mask: its loss is lower"),
                _("The loss measures the next token in texts that are there. Where does it find it?"),
            ),
            Option(
                "alike",
                _("stories about as good: the floor is the floor"),
                _("Nobody comes below the floor by knowing the grammar well. What else does it know?"),
            ),
            Option(
                "worse",
                _("nonsense"),
                _(
                    "Right: it has learned to look one token ahead and to copy. When it writes, nothing "
                    "stands ahead."
                ),
            ),
        ],
    )
