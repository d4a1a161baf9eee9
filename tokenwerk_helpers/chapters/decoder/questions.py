"""Questions of 08_decoder: what is asked before moving."""

from ...language import _
from ...live.question import Choice, Mistake, NumberQuestion, Option
from ..reading import example_gift
from .computation import (
    after_own_words,
    deciding_row,
    number_of_logits,
    own_words,
    part_missed_most,
    saved_by_tying,
    where_the_shape_changes,
)


def guess_shape() -> NumberQuestion:
    """The shape of the logits."""
    return NumberQuestion(
        _("Two texts of seven tokens each go in, the vocabulary has 100 entries. How many logits come out?"),
        truth=number_of_logits,
        right=_("Right: 2 texts, 7 positions, 100 logits at each: the shape is (2, 7, 100)."),
        mistakes=[
            Mistake(
                lambda answer: answer in (100, 200),
                _("The output head answers at every position, not just at the last."),
            ),
            Mistake(700, _("That is one of the two texts.")),
        ],
        otherwise=_("Texts times positions times vocabulary."),
        within=0,
    )


def guess_change_of_shape() -> Choice:
    """Where lists of D numbers become something else."""
    return Choice(
        _(
            "From the embedding on, each position is a list of D numbers. After which part does"
            " that length change?"
        ),
        truth=where_the_shape_changes,
        options=[
            Option(
                "attention",
                _("after attention"),
                _("Each head computes with D/H components, and all heads together have D again."),
            ),
            Option(
                "mlp",
                _("after the MLP"),
                _("Inside it there are 4D. But what it returns is added to a list of D numbers."),
            ),
            Option(
                "head",
                _("after the output head"),
                _(
                    "Right: until then everything fits the direct path. "
                    "The output head makes V logits of D numbers."
                ),
            ),
            Option(
                "sampling",
                _("after softmax"),
                _("Softmax makes as many probabilities as there are logits. How many come in?"),
            ),
        ],
    )


def guess_position() -> Choice:
    """Which position decides."""
    return Choice(
        _("The model has read five tokens. Which of the five rows of logits decides on the sixth token?"),
        truth=lambda: deciding_row(tokens=5),
        options=[
            Option(
                0,
                _("the first"),
                _("The first position has seen one token only. What does the mask allow it?"),
            ),
            Option(
                "mean",
                _("the mean of all"),
                _("The rows answer different questions: each predicts what follows its own position."),
            ),
            Option(4, _("the last"), _("Right: only the last position has read all five tokens.")),
        ],
    )


def guess_own_words() -> Choice:
    """Whether the model tells its own words from a reader's."""
    return Choice(
        _(
            "The loop has appended the words “{words}” to “{beginning}”. Now you type them yourself and "
            "start it behind them. How does it go on?"
        ).format(words=own_words().strip(), beginning=example_gift()),
        truth=after_own_words,
        options=[
            Option(
                "on",
                _("just as it would have without you"),
                _("Right: it reads the text and nothing else. Who wrote it is not in there."),
            ),
            Option(
                "differently",
                _("differently: these are not its own words"),
                _("How would it know? At each step it begins anew, with the text alone."),
            ),
            Option(
                "again",
                _("with the same words once more"),
                _("These words stand in the text already. What came after them before?"),
            ),
        ],
    )


def guess_missing_part() -> Choice:
    """What the trained model misses most."""
    return Choice(
        _("What hits the trained model hardest?"),
        truth=part_missed_most,
        options=[
            Option(
                "head",
                _("one of its eight heads is missing"),
                _("That costs something, but seven other heads are still there."),
            ),
            Option(
                "mlp",
                _("all MLPs are missing"),
                _("Without the MLPs each position still carries its list on. What if not even that happens?"),
            ),
            Option(
                "residual",
                _("the direct paths are missing"),
                _(
                    "Right: without them every part gets only what the part before it has left over. "
                    "Measure it."
                ),
            ),
        ],
    )


def guess_tied() -> NumberQuestion:
    """What a tied head saves."""
    return NumberQuestion(
        _("V = 100, D = 8. How many parameters does a tied output head save?"),
        truth=saved_by_tying,
        right=_("Right: V · D = 800 numbers, a whole second table."),
        otherwise=_(
            "The output head is a table with a row of D numbers for each of the V entries. "
            "It is not needed twice."
        ),
        within=0,
    )
