"""Questions of 04_self_attention: what is asked before moving, the truth, and what is said to each answer."""

import math

from ...language import _
from ...live.feedback import floats
from ...live.question import Choice, Mistake, NumberQuestion, Option, VectorQuestion
from ...model import softmax
from ..reading import before_the_pronoun, example_animal, first_word
from .computation import (
    context_by_hand,
    most_looked_at_before_the_pronoun,
    nearest_noun,
    signs_of_a_stretch,
    without_transpose,
)


def guess_row_sum() -> NumberQuestion:
    """What the weights of a row sum to."""
    return NumberQuestion(
        _("After softmax: what do the weights of one row sum to?"),
        truth=lambda: softmax(floats([0.3, -2.0, 5.0])).sum().item(),
        right=_("Right: the weights share out one whole. A position that looks more here looks less there."),
        mistakes=[Mistake(100, _("In per cent, yes. As plain numbers?"))],
        otherwise=_("Softmax turns a row into shares. What do all shares together make?"),
        within=1e-3,
    )


def guess_empty_query() -> VectorQuestion:
    """What a query of zeros brings back, in the example by hand."""
    return VectorQuestion(
        _("The query [0, 0], the values [10, 0] and [0, 10]: which context does the second token get?"),
        truth=lambda: context_by_hand()[1],
        right=_(
            "Right: both scores are 0, both weights 0.5. A query that asks for nothing gets the mean of all."
        ),
        wrong_length=_("Each value has two components. How many has a mixture of them?"),
        mistakes=[
            Mistake([0, 0], _("The scores are 0, yes. But e⁰ is 1: what does softmax make of [0, 0]?")),
            Mistake([10, 10], _("That is the sum of the values. The weights of a row sum to 1.")),
            Mistake([0.5, 0.5], _("Those are the weights. The values still have to be mixed with them.")),
        ],
        otherwise=_("First the two scores, then softmax of them, then the mixture of the values."),
        within=0.05,
    )


def guess_stretch() -> Choice:
    """What larger scores do to the weights: each option stands for the signs of three changes."""
    return Choice(
        _("You double all scores of a row: [1, 0, 2.5] becomes [2, 0, 5]. What happens to its weights?"),
        truth=lambda: signs_of_a_stretch([1.0, 0.0, 2.5], 2.0),
        options=[
            Option(
                (1, 1, 1),
                _("They all double"),
                _("Together they would make 2 then. What does softmax do at the end?"),
            ),
            Option(
                (0, 0, 0),
                _("They stay as they are"),
                _("So it is when you add the same number to all. Here the distances double, too."),
            ),
            Option(
                (-1, -1, 1),
                _("The largest one grows, the others shrink"),
                _("Right: the distances have doubled, and softmax sees distances. It gets harder."),
            ),
        ],
    )


def guess_spread() -> NumberQuestion:
    """How much more the scores spread in a wider head."""
    return NumberQuestion(
        _(
            "The components of q and k are independent with spread 1. How many times as wide is"
            " the spread of the scores q · k with d_k = 64 as with d_k = 4?"
        ),
        truth=lambda: math.sqrt(64) / math.sqrt(4),
        right=_("Right: a sum of d_k such products has spread √d_k, and √64 / √4 = 4."),
        mistakes=[
            Mistake(
                lambda answer: abs(answer - 64 / 4) < 0.5,
                _("That would be the variance. The spread is its root."),
            )
        ],
        otherwise=_("The variances of independent products add up. So how does the root of their sum grow?"),
        within=0.05,
    )


def guess_transpose() -> Choice:
    """What forgetting the transpose does."""
    return Choice(
        _("Each head has done its part, but the transpose before merging is forgotten. What happens?"),
        truth=lambda: without_transpose(heads=3),
        options=[
            Option(
                "error",
                _("An error: the shape does not fit"),
                _("As many numbers come out as go in. Does PyTorch ask for more?"),
            ),
            Option(
                "misplaced",
                _("The shape fits, but most numbers stand in the wrong place"),
                _("Right, and nothing warns you: as many numbers, the right shape, the wrong places."),
            ),
            Option(
                "same",
                _("Nothing: the order does not matter"),
                _("The numbers of one head now lie side by side. Do those of one position, too?"),
            ),
        ],
    )


def guess_pronoun() -> Choice:
    """What a head looks at before a pronoun."""
    animal, nearest, article = example_animal(), nearest_noun(), first_word()
    if most_looked_at_before_the_pronoun() == article:
        to_animal = _("A person would look there. Which other word gives the gender away already?")
        to_article = _("Right: the article tells the gender as well as the noun does. Measure it below.")
    else:
        to_animal = _("Right: the noun alone tells which pronoun comes. Measure it below.")
        to_article = _("This word stands before heroes of every kind. Does it tell which pronoun comes?")
    return Choice(
        _(
            "“{beginning} …”: a pronoun comes next. In block 1 one head looks back most clearly at article "
            "and noun. Which word gets most of its weight?"
        ).format(beginning=before_the_pronoun()),
        truth=most_looked_at_before_the_pronoun,
        options=[
            Option(animal, animal, to_animal),
            Option(
                nearest,
                nearest,
                _("That is the nearest noun. But the pronoun would have to be “it” then."),
            ),
            Option(article, article, to_article),
        ],
    )
