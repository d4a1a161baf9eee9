"""Questions of 05_causal_mask: each with its truth and an answer for whatever is said."""

from ...language import _
from ...live.numbers import number, percent
from ...live.question import Choice, Mistake, NumberQuestion, Option
from ...pretrained import load
from ..reading import first_word
from .computation import (
    STEPS,
    UNMASKED,
    future_after,
    looks,
    mask,
    masked_before_and_after,
    outputs_that_move,
    weight_where_zero_is_added,
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
            "Five tokens, a window mask of width 3: each sees itself and the two before. "
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
                _("A window mask of width 3 counts the token itself: it looks at two before."),
            ),
        ],
        otherwise=_("Go row by row: token 1 sees itself, token 2 sees two, and from token 3 on?"),
        within=0,
    )


def guess_hidden_score() -> NumberQuestion:
    """What is left of the weights where the mask comes too late."""
    return NumberQuestion(
        _(
            "Three scores are equal, the third is hidden, and it is masked only after softmax. What do the "
            "two visible weights sum to?"
        ),
        truth=lambda: float(masked_before_and_after(1.0, visible=(1.0, 1.0)).after.sum()),
        right=_("Right: two of three equal shares. The third is gone, and nobody has got it."),
        mistakes=[
            Mistake(
                1, _("So it is when the mask comes first. Here softmax has already shared out to three.")
            ),
            Mistake(1 / 3, _("That is one share. How many stay visible?")),
        ],
        otherwise=_("Softmax gives three equal scores three equal shares. Which of them is set to zero?"),
        within=0.01,
    )


def guess_leak() -> Choice:
    """How far a changed token reaches through two layers that each look back by one."""
    return Choice(
        _(
            "Each token sees itself and the one before (a window mask of width 2). Two such layers follow "
            "one another, and you change token 3 of 6. Which outputs can move?"
        ),
        truth=lambda: outputs_that_move(3, mask("window", 6, width=2), layers=2),
        options=[
            Option([3], _("only output 3"), _("Token 4 looks at token 3. Does that leave it cold?")),
            Option(
                [3, 4],
                _("outputs 3 and 4"),
                _("That is what one layer does. In the second, token 5 looks at what token 4 has become."),
            ),
            Option(
                [3, 4, 5],
                _("outputs 3 to 5"),
                _("Right: each layer carries it on by one position, always towards the end, never back."),
            ),
            Option(
                [3, 4, 5, 6],
                _("outputs 3 to 6"),
                _("For token 6 it would take a third layer: each carries it on by one position only."),
            ),
        ],
    )


def guess_added_mask() -> Choice:
    """What comes of adding the mask itself, ones and zeros: nothing is hidden, and nothing complains."""
    return Choice(
        _(
            "Somebody forgets M and adds the mask itself to the scores: 1 where one may look, 0 where not. "
            "Three scores are 0, the third place is forbidden. Its weight is …"
        ),
        truth=weight_where_zero_is_added,
        options=[
            Option(
                0.0,
                _("exactly 0"),
                _("That takes a score of −∞. Here 0 + 0 = 0 goes into softmax. And what is e⁰?"),
            ),
            Option(
                weight_where_zero_is_added(),
                _("smaller than the others, but not 0"),
                _(
                    "Right: 1 / (e + e + 1), about {share}. Nothing is forbidden, and no error says so. "
                    "That is why 0 and −∞ are added."
                ).format(share=percent(weight_where_zero_is_added())),
            ),
            Option(
                1 / 3,
                _("one third, like the others"),
                _("So it was before. What does softmax do with [1, 1, 0]?"),
            ),
        ],
    )


def guess_below_the_floor() -> Choice:
    """What a model writes that was trained without a mask."""
    return Choice(
        _(
            "A small model is trained without a mask. Its loss falls to {loss}; whoever only knows the "
            "grammar comes down to {floor} at best. Now it shall go on after “{beginning}”. What do you "
            "expect?"
        ).format(
            loss=number(future_after(STEPS).loss(UNMASKED)),
            floor=number(load().about["validation"]["floor"]),
            beginning=first_word(),
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
                _("No model gets below the floor by knowing the grammar well. What else does this one know?"),
            ),
            Option(
                "worse",
                _("nonsense"),
                _(
                    "Right: it has learned to look one token ahead and to copy. When it writes, "
                    "there is nothing ahead."
                ),
            ),
        ],
    )
