"""Questions of 03_mlp: what is asked before moving, the truth, and what is said to each answer."""

from ...language import _
from ...live.question import Choice, Mistake, NumberQuestion, Option
from .computation import activations, order_of_outputs, share_of_positive_neurons, weights_of_the_single_layer


def guess_gelu() -> Choice:
    """GELU of a number further below zero."""
    return Choice(
        _("GELU(−1) is about −0.16. And GELU(−3), three times as far below zero?"),
        truth=lambda: round(activations(-3.0).gelu, 3),
        options=[
            Option(
                -0.48,
                _("about −0.48, three times as much"),
                _("That would be so if GELU let the same share of −3 through as of −1. Does it?"),
            ),
            Option(
                -0.004,
                _("about −0.004, closer to zero again"),
                _("Right: of −3 only about a thousandth is let through. The curve comes up again."),
            ),
            Option(
                0,
                _("exactly 0, as with ReLU"),
                _("ReLU cuts, GELU weighs: the share gets small, but does it become 0?"),
            ),
        ],
    )


def guess_without_activation() -> NumberQuestion:
    """How many weights do the work of two layers without an activation."""
    return NumberQuestion(
        _(
            "D = 8: without the activation, the two layers of the MLP have 8 · 32 + 32 · 8 = 512 weights. "
            "How many weights does the single layer have that computes the same?"
        ),
        truth=lambda: weights_of_the_single_layer(8, 32),
        right=_("Right: 8 times 8. The other 448 would be there for nothing."),
        mistakes=[
            Mistake(512, _("The two tables become one when they are multiplied. Which shape does it have?")),
            Mistake(32 * 32, _("The wide list lies in between. What goes in, and what comes out?")),
            Mistake(8 * 32, _("From 8 to 32 is the first layer. How wide is the list at the very end?")),
        ],
        otherwise=_("One table, from the list that goes in to the list that comes out: rows times columns."),
        within=0,
    )


def guess_swap() -> Choice:
    """Positions are not mixed: each option stands for the order in which the outputs come out."""
    alone = _("The MLP sees one position at a time. Does it know that others exist?")
    swap = (2, 1, 0, 3, 4)
    return Choice(
        _("You swap the inputs of positions 1 and 3 and send them through the same MLP. What happens?"),
        truth=lambda: order_of_outputs(swap),
        options=[
            Option(None, _("All outputs change"), alone),
            Option(
                swap,
                _("The outputs of positions 1 and 3 are swapped, the rest stays"),
                _("Right: each position is processed by itself; its result goes where it goes."),
            ),
            Option((0, 1, 2, 3, 4), _("Nothing changes"), alone),
        ],
    )


def guess_positive() -> Choice:
    """How many neurons of a trained model answer to a token."""
    return Choice(
        _(
            "A trained model reads a story. After GELU, about how many of a block's 256 neurons"
            " are above zero at a token, on average?"
        ),
        truth=lambda: round(4 * share_of_positive_neurons()) / 4,
        options=[
            Option(
                0.75,
                _("three quarters"),
                _("If nearly all of them answered to every token, none would say much about this one."),
            ),
            Option(
                0.5,
                _("half of them"),
                _("That is so before training, when the weights are random. What has training made of it?"),
            ),
            Option(
                0.25,
                _("a quarter"),
                _(
                    "Right: most are below zero, where GELU lets hardly anything through. The few "
                    "others count."
                ),
            ),
        ],
    )
