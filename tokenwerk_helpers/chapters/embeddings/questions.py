"""Questions of 07_embeddings: each with its truth and an answer for whatever is said."""

from ...language import _
from ...live.question import Choice, Mistake, NumberQuestion, Option, VectorQuestion
from ..reading import example_animal
from .computation import (
    added,
    as_alike,
    beyond_the_table,
    different_lists_without_order,
    first_merge,
    kinds_of_nearest,
    renumbered,
    words_to_merge,
)

TOKEN, POSITION = [0.2, 0.5], [0.1, -0.2]  # the lists of `guess_sum`


def guess_sum() -> VectorQuestion:
    """The chapter's sum of token and position."""
    return VectorQuestion(
        _("Token list [0.2, 0.5], position list [0.1, -0.2]. What does the first block receive?"),
        truth=lambda: added(TOKEN, POSITION),
        right=_("Right: component by component. From now on both pieces of information are in one list."),
        wrong_length=_("A list of two components plus a list of two components: how many come out?"),
        mistakes=[
            Mistake(
                lambda answer: len(answer) == len(TOKEN) + len(POSITION),
                _("The lists are added, not put one behind the other: the width stays the same."),
            )
        ],
        otherwise=_("Add the first components, then the second ones. Mind the sign."),
        within=1e-4,
    )


def guess_merge() -> Choice:
    """Which pair is merged first."""
    words = words_to_merge()
    first, second, third = words
    beginning, middle, other = (first[0], first[1]), (first[1], first[2]), (third[0], third[1])
    names = {"first": first, "second": second, "third": third, "pair": "".join(middle)}
    count = _("Count each pair in all words, as often as the word occurs: “{pair}” stands in two of them.")
    right = _("Right: 5 times in “{first}” and 3 times in “{second}”, that is 8. No pair is more frequent.")
    return Choice(
        _(
            "A text holds “{first}” five times, “{second}” three times and “{third}” twice. "
            "Which pair is merged first?"
        ).format(**names),
        truth=lambda: first_merge(words),
        options=[
            Option(beginning, " + ".join(beginning), count.format(**names)),
            Option(middle, " + ".join(middle), right.format(**names)),
            Option(other, " + ".join(other), count.format(**names)),
        ],
    )


def guess_neighbours() -> Choice:
    """Which words the training puts beside one."""
    return Choice(
        _(
            "Nobody has told the model what a queen is, or a gender. It has only learned to predict the "
            "next token. Which five words have the lists most like that of “{animal}” after the training?"
        ).format(animal=example_animal()),
        truth=lambda: kinds_of_nearest(example_animal()),
        options=[
            Option(
                {("animals", "")},
                _("“queens” and other words for several"),
                _("What is the same after “queen” and after “queens”: the verb, the pronoun?"),
            ),
            Option(
                {("animal", "f"), ("animal", "m"), ("animal", "n")},
                _("other heroes of a story, of whatever gender"),
                _("Close. But what does the model have to know to write “he”, “she” or “it” later?"),
            ),
            Option(
                {("animal", "f")},
                _("heroes who are “she”, too: princess, lady, fairy"),
                _("Right: what comes later in a story treats these words alike, and so they become alike."),
            ),
            Option(
                {("thing", "f")},
                _("words for things: nut, feather, pear"),
                _("They are much alike. But a nut neither lives in the forest nor does it sing."),
            ),
        ],
    )


def guess_likeness() -> Choice:
    """What the likeness of sine codes depends on."""
    pairs = double, closer, shifted = (10, 20), (5, 7), (25, 30)
    return Choice(
        _("Sine codes: which two positions are exactly as alike as 5 and 10?"),
        truth=lambda: as_alike((5, 10), pairs),
        options=[
            Option(
                double,
                _("10 and 20"),
                _("Twice as large, but also twice as far apart. Which of the two counts?"),
            ),
            Option(closer, _("5 and 7"), _("These are closer together than 5 and 10, and so more alike.")),
            Option(
                shifted,
                _("25 and 30"),
                _("Right: both pairs are 5 apart, and only the distance counts with sines and cosines."),
            ),
        ],
    )


def guess_missing_row() -> Choice:
    """A position beyond the table."""
    return Choice(
        _("The position table has 256 rows. What does the model do with position 10000?"),
        truth=beyond_the_table,
        options=[
            Option(
                "a new row",
                _("It computes the missing row"),
                _("A sine code could be computed. A learned row can only be looked up."),
            ),
            Option(
                "the last row",
                _("It takes the last row"),
                _("Then two positions would share a row, and nobody decided that."),
            ),
            Option(
                "refused",
                _("It cannot: there is no such row"),
                _("Right: a learned table has the rows that were learned and no others."),
            ),
        ],
    )


def guess_order() -> NumberQuestion:
    """Order without positions."""
    return NumberQuestion(
        _(
            "Self-attention without mask and without position embeddings reads “dog bites man” and “man "
            "bites dog”: six positions together. How many different lists come out at them?"
        ),
        truth=different_lists_without_order,
        right=_("Right: one for each word, wherever it stands. A weighted sum knows no order."),
        mistakes=[
            Mistake(
                6, _("Does “dog” compare itself with other words in the second sentence than in the first?")
            ),
            Mistake(1, _("The words have different queries. What does each look for?")),
            Mistake(
                5, _("“bites” stands in the middle twice. But what do the others notice of their place?")
            ),
        ],
        otherwise=_(
            "Take one word. With which words does it compare itself in the first sentence, and then?"
        ),
        within=0,
    )


def guess_renumbered() -> Choice:
    """For how many tokens the first list changes as the window slides."""
    return Choice(
        _(
            "A window of 5 tokens is full, and one more is appended. For how many of the 4 tokens that stay "
            "does the list change that the first block receives?"
        ),
        truth=lambda: renumbered(5),
        options=[
            Option(
                0,
                _("for none: only the oldest has dropped out"),
                _("The tokens are the same. But at which positions do they stand now?"),
            ),
            Option(
                1,
                _("for one: the one that is now at the front"),
                _("One stands at position 0 now. Where do the other three stand, and where before?"),
            ),
            Option(
                4,
                _("for all four"),
                _("Right: each has moved up by one and gets another row of the position table."),
            ),
        ],
    )
