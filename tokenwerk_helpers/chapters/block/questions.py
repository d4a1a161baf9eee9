"""Questions of 06_block: each with its truth and an answer for whatever is said."""

from ...language import _
from ...live.feedback import nearest
from ...live.question import Choice, Mistake, NumberQuestion, Option, VectorQuestion
from .computation import in_eval_mode, lost_where_second_sum_takes_x, mean_share, norm_parameters, small_block

SHARES = (0.1, 0.5, 1.5)  # what the options of `guess_contribution` stand for


def guess_ten_times() -> VectorQuestion:
    """What the small block makes of a list ten times as long."""
    return VectorQuestion(
        _("The example's block makes [2.7, 4.2] of x = [2, 5]. What does it make of x = [20, 50]?"),
        truth=lambda: small_block(20, 50).values["y"].tolist(),
        right=_(
            "Right. Norm₁ and Norm₂ pass on the same lists as before, so both contributions "
            "stay as they were."
        ),
        wrong_length=_("The block gives back a list as long as the one it received: two numbers."),
        mistakes=[
            Mistake(
                [27, 42],
                _("That would be ten times y. What does Norm₁ make of a list that is ten times as large?"),
            ),
            Mistake([20.4, 49.4], _("The MLP's contribution is there. What became of Attention's?")),
        ],
        otherwise=_("Work out Norm₁([20, 50]) first. Then follow the four steps of the example."),
        within=0.01,
    )


def guess_second_sum() -> Choice:
    """What is lost when the second sum takes x."""
    subtract = _("Write both outputs one below the other and subtract: y − y′ = u − x. What is u − x?")
    return Choice(
        _(
            "Suppose the second sum took x instead of u: y′ = x + MLP(Norm₂(u)). What does y′ "
            "lack, compared with y?"
        ),
        truth=lambda: lost_where_second_sum_takes_x(2, 5),
        options=[
            Option(None, _("Nothing: u is in the MLP's contribution anyway"), subtract),
            Option(
                "attention",
                _("Attention's contribution"),
                _(
                    "Right: u differs from x by Attention's contribution, and that no longer reaches y "
                    "directly."
                ),
            ),
            Option("mlp", _("The MLP's contribution"), subtract),
            Option("x", _("The input x"), subtract),
        ],
    )


def guess_norm_parameters() -> NumberQuestion:
    """How many numbers the two norms of GPT-2 small's block have."""
    return NumberQuestion(
        _(
            "GPT-2 small has the width D = 768. How many trainable numbers do the two norms of "
            "one of its blocks have together?"
        ),
        truth=lambda: norm_parameters(768),
        right=_("Right: two norms, each with a γ and a β of 768 numbers."),
        mistakes=[
            Mistake(2 * 768, _("That is one norm. The block has two, each with numbers of its own.")),
            Mistake(768, _("γ alone has 768 numbers. What else is trained, and how often?")),
        ],
        otherwise=_("Each norm has a γ and a β, each as long as a position's list."),
        within=0,
    )


def guess_contribution() -> Choice:
    """How long a contribution is beside the stream."""
    sounds_like_little = _("“Residual” sounds like a remainder. But nothing in x + f(x) keeps f(x) small.")
    tenth, half, longer = SHARES
    return Choice(
        _(
            "A trained model reads a story. How long, on average, is what Attention or MLP contributes, "
            "compared with the stream it is added to?"
        ),
        truth=lambda: SHARES[nearest(SHARES, mean_share())],
        options=[
            Option(tenth, _("about a tenth"), sounds_like_little),
            Option(half, _("about a half"), sounds_like_little),
            Option(
                longer,
                _("longer than the stream itself"),
                _("Right: on average a contribution is even longer than what it is added to."),
            ),
        ],
    )


def guess_dropout() -> Choice:
    """What dropout does in eval mode."""
    look = _("Look at the two runs after block.eval(). Do they differ?")
    return Choice(
        _(
            "You call block.eval() and send the same text through the block twice, with dropout "
            "= 0.5. What happens?"
        ),
        truth=lambda: in_eval_mode(0.5),
        options=[
            Option({"equal": False, "whole": False}, _("The two results differ a little"), look),
            Option(
                {"equal": True, "whole": True},
                _("The two results are equal: nothing is dropped"),
                _("Right: nothing is dropped and nothing is scaled. The same text gives the same numbers."),
            ),
            Option(
                {"equal": True, "whole": False},
                _("The two results are equal: the same half is dropped both times"),
                look,
            ),
        ],
    )
