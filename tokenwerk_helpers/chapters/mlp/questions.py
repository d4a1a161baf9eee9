"""Questions of 03_mlp: what is asked before moving, the truth, and what is said to each answer."""

from ...language import _
from ...live.question import Choice, Option
from .computation import activations, order_of_outputs, share_of_positive_neurons, whole_of_linear_layers


def guess_gelu() -> Choice:
    """GELU of a negative number."""
    return Choice(
        _("ReLU(-1) = 0. And GELU(-1)?"),
        truth=lambda: round(activations(-1.0).gelu, 2),
        options=[
            Option(
                0,
                _("0 as well"),
                _("That is what ReLU does. GELU multiplies x with a share between 0 and 1. Which x?"),
            ),
            Option(
                -0.16,
                _("a little below 0"),
                _("Right: about -0.16. GELU weighs negative values softly instead of cutting them."),
            ),
            Option(
                -1,
                "-1",
                _("That would be no activation at all. GELU lets only a share of -1 through."),
            ),
        ],
    )


def guess_without_activation() -> Choice:
    """Linear layers in a row."""
    multiply = _("Multiply two tables: what do you get? And ten?")
    return Choice(
        _("You leave the activation out and put ten linear layers in a row. What is the whole?"),
        truth=lambda: whole_of_linear_layers(10),
        options=[
            Option("richer", _("Ten times as expressive"), multiply),
            Option(
                "linear",
                _("A single linear layer"),
                _("Right: tables multiplied by tables are one table. Only the activation breaks that."),
            ),
            Option("polynomial", _("A polynomial of degree ten"), multiply),
        ],
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
            "A trained model reads a story. Behind GELU, about how many of its 256 neurons in a block have a "
            "value above zero at a token, on average?"
        ),
        truth=lambda: round(4 * share_of_positive_neurons()) / 4,
        options=[
            Option(
                0.75,
                _("three quarters"),
                _("If nearly all answered to every token, none would say much about this one."),
            ),
            Option(
                0.5,
                _("half of them"),
                _("So it is before training, when the weights are random. What has training made of it?"),
            ),
            Option(
                0.25,
                _("a quarter"),
                _("Right: most are below zero, where GELU lets hardly anything pass. The few others count."),
            ),
        ],
    )
