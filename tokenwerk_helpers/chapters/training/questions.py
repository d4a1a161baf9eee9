"""Questions of 11_training: what is asked before moving."""

from ...language import _
from ...live.question import Choice, Mistake, NumberQuestion, Option
from .computation import (
    copied,
    echo,
    learned_last,
    loss_at_the_start,
    predictions_of_a_text,
    rotated_spell,
    spell,
    ten_stories_by_heart,
)


def guess_first_loss() -> Choice:
    """The loss of an untrained model."""
    which_probability = _(
        "What probability does the right token get if all are equally likely? The loss is −ln of it."
    )
    return Choice(
        _("An untrained model knows nothing yet. About how large is its loss with V = 100 tokens?"),
        truth=loss_at_the_start,
        options=[
            Option(0, "0", _("A loss of 0 would mean: always certain, always right.")),
            Option(1, _("about 1"), which_probability),
            Option(
                4.6,
                _("about ln 100 = 4.6"),
                _("Right: every token has probability 1/100, and −ln(1/100) = ln 100."),
            ),
            Option(100, _("about 100"), which_probability),
        ],
    )


def guess_last() -> Choice:
    """Which ability comes last."""
    return Choice(
        _("Which of these did the model learn last?"),
        truth=learned_last,
        options=[
            Option(
                "pronoun",
                _("the pronoun that fits the noun"),
                _(
                    "That comes first: the article near the start tells the gender, and there are few "
                    "pronouns."
                ),
            ),
            Option(
                "giver",
                _("the name of whoever gave something"),
                _("A name has to be found once. What has to be found again with every word?"),
            ),
            Option(
                "copy",
                _("copying the spell, word by word"),
                _("Right: two heads in a row have to work together for that. Watch when it appears."),
            ),
        ],
    )


def guess_questions() -> NumberQuestion:
    """How many predictions one text trains."""
    return NumberQuestion(
        _("A text of 20 tokens (22 ids with the start and end tokens). How many predictions does it train?"),
        truth=predictions_of_a_text,
        right=_("Right: every id but the last is a question, every id but the first an answer."),
        mistakes=[Mistake(1, _("The model answers at every position at once, not just at the end."))],
        otherwise=_("The answers are the ids, shifted by one. How many pairs are there?"),
        within=0,
    )


def guess_ten_stories() -> Choice:
    """What happens with too few examples."""
    return Choice(
        _("You train on ten stories only, again and again. What happens to the two losses?"),
        truth=ten_stories_by_heart,
        options=[
            Option(
                "to",
                _("both fall towards the floor"),
                _("The floor holds for new stories. Ten known ones can be learned by heart."),
            ),
            Option(
                "below",
                _("training falls below the floor, unseen stories get worse"),
                _("Right: it learns the ten by heart. That is called overfitting. Try it above."),
            ),
            Option(
                "nowhere",
                _("neither falls"),
                _("Ten stories are easily learned. Which of the two losses shows it?"),
            ),
        ],
    )


def guess_exchanged() -> Choice:
    """What is copied by a head that is told wrong by the one before it."""
    *_before, last, fourth, fifth = spell().split()
    words = {"last": last, "fourth": fourth, "fifth": fifth}
    return Choice(
        _(
            "The spell is “{spell}”, the echo has come to “{echo}”. Now the copying head is given what the "
            "first head finds in another text, in which the spell is “{rotated}”. All else stays. Which "
            "word does the model write?"
        ).format(spell=spell(), echo=echo(), rotated=rotated_spell()),
        truth=lambda: copied("exchanged"),
        options=[
            Option(
                fourth,
                _("{fourth}: the spell that stands in the text has not changed").format(**words),
                _(
                    "The words are the same. But who tells the copying head which one stands after “{last}”?"
                ).format(**words),
            ),
            Option(
                fifth,
                _("{fifth}: the word at the fifth place").format(**words),
                _(
                    "Right: in the other text “{last}” stands before the fifth word. The copying head looks "
                    "there, and takes the word that stands there in its own text."
                ).format(**words),
            ),
            Option(
                ".",
                _("a full stop: it no longer finds anything"),
                _("That happens when the first head is switched off. Here it still finds something."),
            ),
        ],
    )
