"""Questions of 09_parameter_counting: what is asked before moving."""

from dataclasses import replace

from ...language import _
from ...live.question import Choice, Mistake, NumberQuestion, Option
from .computation import (
    CHAPTER,
    factor_of_double_width,
    growth_by_own_head,
    preset_with_the_larger_token_table,
    share_left_out,
    weights_of_full_width_heads,
)


def guess_double_width() -> NumberQuestion:
    """What doubling D does to a block's tables."""
    return NumberQuestion(
        _("D doubles from 8 to 16. By what factor do the weights in the six tables of a block grow?"),
        truth=factor_of_double_width,
        right=_("Right: every table has D in both of its sides."),
        mistakes=[
            Mistake(2, _("That would be true if only one side of each table grew. Which sides contain D?"))
        ],
        otherwise=_("Write down rows times columns of one table, for D = 8 and for D = 16."),
        within=1e-9,
    )


def guess_heads() -> NumberQuestion:
    """What heads would cost if each had the full width."""
    return NumberQuestion(
        _(
            "Suppose each of 4 heads had queries, keys and values of the full width D = 8. How many weights "
            "would the four tables of attention have together? As they are, they have 4 · 8 · 8 = 256."
        ),
        truth=lambda: weights_of_full_width_heads(8, 4),
        right=_("Right: four times as many. That is why heads share the width: each gets D/H of it."),
        mistakes=[
            Mistake(
                256, _("So it is with D/H for each head. How many rows does Q get with D for each of them?")
            ),
            Mistake(
                3 * 4 * 8 * 8 + 8 * 8,
                _("Q, K and V have grown. And the output: how wide is what all heads hand to it?"),
            ),
        ],
        otherwise=_("Q, K and V: four heads with D rows each. And the output has as many columns."),
        within=0,
    )


def guess_left_out() -> Choice:
    """What becomes of the small groups in a wide model."""
    return Choice(
        _(
            "At D = 8 the rule of thumb leaves out 8.3%. And if D alone grows to 768, the width"
            " of GPT-2 small?"
        ),
        truth=lambda: round(share_left_out(replace(CHAPTER, width=768)), 4),
        options=[
            Option(
                0.3,
                _("about 30%"),
                _("There are more of them, yes: about 13 · D per block. But what are they compared with?"),
            ),
            Option(
                0.083,
                _("about 8%, as before"),
                _("That would be so if both grew at the same rate. Which power of D stands in each?"),
            ),
            Option(0.0015, _("about 0.15%"), _("Right: biases and norms grow like D, the tables like D².")),
        ],
    )


def guess_own_head() -> Choice:
    """How much larger GPT-2 small would be with a table of its own for the head."""
    return Choice(
        _(
            "GPT-2 small has V = 50257, D = 768 and, with the shared table, 124 million "
            "parameters. How much larger would it be if its output head got a table of its own?"
        ),
        truth=lambda: round(growth_by_own_head("gpt2"), 2),
        options=[
            Option(
                0.03,
                _("by about 3%"),
                _("Multiply V by D: that is one row for each token. How many million numbers are that?"),
            ),
            Option(
                0.31,
                _("by about 31%"),
                _("Right: V · D is 38.6 million numbers, nearly a third of all there were."),
            ),
            Option(
                1.0,
                _("It would be twice as large"),
                _("Only one table is added, the blocks stay as they are. How many numbers does it have?"),
            ),
        ],
    )


def guess_share() -> Choice:
    """In which model the tables weigh most."""
    with_d_only = _("The table grows, too, but only with D. How do the blocks grow?")
    return Choice(
        _(
            "GPT-2 small and GPT-3 have the same vocabulary. In which of them is the token table "
            "the larger share of all parameters?"
        ),
        truth=preset_with_the_larger_token_table,
        options=[
            Option("gpt2", "GPT-2 small", _("Right: the token table grows with D, the blocks with L · D².")),
            Option("gpt3", "GPT-3", with_d_only),
            Option("both", _("The same in both: the vocabulary is the same"), with_d_only),
        ],
    )
