"""Questions of 09_parameter_counting: what is asked before moving."""

from dataclasses import replace

from ...language import _
from ...live.question import Choice, Mistake, NumberQuestion, Option
from .computation import (
    CHAPTER,
    change_by_more_heads,
    cost_of_own_head,
    factor_of_double_width,
    preset_with_the_larger_token_table,
    share_left_out,
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


def guess_heads() -> Choice:
    """What more heads cost."""
    return Choice(
        _(
            "Instead of 2 heads, attention gets 4, at the same D = 8. "
            "How many parameters does the block have then?"
        ),
        truth=change_by_more_heads,
        options=[
            Option(
                "more",
                _("Twice as many in Q, K and V"),
                _("That would be so if each head had the full width D. It has only D/H of it."),
            ),
            Option(
                "as many",
                _("Exactly as many as before"),
                _("Right: the heads share the same tables; they only cut them into more, narrower strips."),
            ),
            Option(
                "fewer",
                _("Fewer, since each head is narrower"),
                _("Narrower, yes, but there are more of them. Multiply: H heads with D/H rows each."),
            ),
        ],
    )


def guess_left_out() -> Choice:
    """What becomes of the small groups in a wide model."""
    return Choice(
        _(
            "At D = 8 the rule of thumb leaves out 8.3 %. And if D alone grows to 768, the width of "
            "GPT-2 small?"
        ),
        truth=lambda: round(share_left_out(replace(CHAPTER, width=768)), 4),
        options=[
            Option(
                0.3,
                _("about 30 %"),
                _("There are more of them, yes: about 13 · D a block. But what are they compared with?"),
            ),
            Option(
                0.083,
                _("about 8 %, as before"),
                _("So it would be if both grew at the same rate. Which power of D stands in each?"),
            ),
            Option(0.0015, _("about 0.15 %"), _("Right: biases and norms grow like D, the tables like D².")),
        ],
    )


def guess_own_head() -> NumberQuestion:
    """What a head with its own table costs."""
    return NumberQuestion(
        _(
            "V = 100, D = 8: the head no longer shares the token table but gets one of its own. "
            "How many parameters come on top?"
        ),
        truth=cost_of_own_head,
        right=_("Right: a second table of V rows and D columns."),
        mistakes=[
            Mistake(100, _("100 logits come out, but each of them is computed from all D components."))
        ],
        otherwise=_(
            "The head turns D components into V logits. How many rows and columns does its table have?"
        ),
        within=1e-9,
    )


def guess_share() -> Choice:
    """In which model the tables weigh most."""
    with_d_only = _("The table grows, too, but with D only. How do the blocks grow?")
    return Choice(
        _(
            "GPT-2 small and GPT-3 have the same vocabulary. In which of them is the token table "
            "the larger share of all parameters?"
        ),
        truth=preset_with_the_larger_token_table,
        options=[
            Option("gpt2", "GPT-2 small", _("Right: the token table grows with D, the blocks with L · D².")),
            Option("gpt3", "GPT-3", with_d_only),
            Option("both", _("In both alike, the vocabulary is the same"), with_d_only),
        ],
    )
