"""Questions of 09_parameter_counting: what is asked before moving, and how the answers are judged."""

import math
from dataclasses import replace

from ...language import _
from ...live.feedback import Feedback, nearest, right, wrong
from ...live.question import Guess
from ...parameters import PRESETS, count_config, reconcile
from .computation import CHAPTER, block_count


def guess_double_width() -> Guess:
    """What doubling D does to a block's tables."""
    return Guess(
        _("D doubles from 8 to 16. By what factor do the weights in the six tables of a block grow?"),
        factor_of_double_width,
        kind="number",
    )


def guess_heads() -> Guess:
    """What more heads cost."""
    question = _(
        "Instead of 2 heads, attention gets 4, at the same D = 8. "
        "How many parameters does the block have then?"
    )
    options = [
        _("Twice as many in Q, K and V"),
        _("Exactly as many as before"),
        _("Fewer, since each head is narrower"),
    ]
    return Guess(question, cost_of_heads, options)


def guess_left_out() -> Guess:
    """What becomes of the small groups in a wide model."""
    return Guess(
        _(
            "At D = 8 the rule of thumb leaves out 8.3 %. And if D alone grows to 768, the width of "
            "GPT-2 small?"
        ),
        left_out_at_large_width,
        options=[_("about 30 %"), _("about 8 %, as before"), _("about 0.15 %")],
    )


def guess_own_head() -> Guess:
    """What a head with its own table costs."""
    question = _(
        "V = 100, D = 8: the head no longer shares the token table but gets one of its own. "
        "How many parameters come on top?"
    )
    return Guess(question, cost_of_own_head, kind="number")


def guess_share() -> Guess:
    """In which model the tables weigh most."""
    question = _(
        "GPT-2 small and GPT-3 have the same vocabulary. In which of them is the token table "
        "the larger share of all parameters?"
    )
    same = _("In both alike, the vocabulary is the same")
    return Guess(question, larger_share_of_token_table, options=["GPT-2 small", "GPT-3", same])


SHARES_LEFT_OUT = (0.3, 0.08, 0.0015)  # the options of `left_out_at_large_width`


def factor_of_double_width(answer: float) -> Feedback:
    """By what factor do a block's tables grow from D = 8 to D = 16?"""
    small, large = (block_count(width) for width in (8, 16))
    factor = (large["attention"] + large["mlp"]) / (small["attention"] + small["mlp"])
    if math.isclose(answer, factor):
        return right(_("Right: every table has D in both of its sides."))
    if math.isclose(answer, 2):
        return wrong(_("That would be true if only one side of each table grew. Which sides contain D?"))
    return wrong(_("Write down rows times columns of one table, for D = 8 and for D = 16."))


def cost_of_heads(answer: int) -> Feedback:
    """Which option tells what happens to the count from 2 to 4 heads?"""
    before, after = (sum(block_count(8, heads).values()) for heads in (2, 4))
    if answer == 1 and before == after:
        return right(
            _("Right: the heads share the same tables; they only cut them into more, narrower strips.")
        )
    if answer == 0:
        return wrong(_("That would be so if each head had the full width D. It has only D/H of it."))
    return wrong(_("Narrower, yes, but there are more of them. Multiply: H heads with D/H rows each."))


def left_out_at_large_width(answer: int) -> Feedback:
    """Which option is the share that the rule of thumb leaves out at D = 768?"""
    rule, _left_out, exact = reconcile(replace(CHAPTER, width=768))
    if answer == nearest(SHARES_LEFT_OUT, 1 - rule.total / exact):
        return right(_("Right: biases and norms grow like D, the tables like D²."))
    if answer == 1:
        return wrong(_("So it would be if both grew at the same rate. Which power of D stands in each?"))
    return wrong(_("There are more of them, yes: about 13 · D a block. But what are they compared with?"))


def cost_of_own_head(answer: float) -> Feedback:
    """How many parameters does an untied head add to the chapter's decoder?"""
    tied, untied = (count_config(replace(CHAPTER, tie_head=tie)).total for tie in (True, False))
    if math.isclose(answer, untied - tied):
        return right(_("Right: a second table of V rows and D columns."))
    if math.isclose(answer, 100):
        return wrong(_("100 logits come out, but each of them is computed from all D components."))
    return wrong(
        _("The head turns D components into V logits. How many rows and columns does its table have?")
    )


def larger_share_of_token_table(answer: int) -> Feedback:
    """In which preset is the token table the larger share?"""
    counts = [count_config(PRESETS[name]) for name in ("gpt2", "gpt3")]
    shares = [counted.parts["token_embedding"] / counted.total for counted in counts]
    if answer == shares.index(max(shares)):
        return right(_("Right: the token table grows with D, the blocks with L · D²."))
    return wrong(_("The table grows, too, but with D only. How do the blocks grow?"))
