"""Questions of 03_mlp: what is asked before moving, and how the answers are judged."""

import torch
import torch.nn.functional as F

from ... import model
from ...apart import Seeded
from ...language import _
from ...live.feedback import Feedback, nearest, right, wrong
from ...live.question import Guess
from ..story import read


def guess_gelu() -> Guess:
    """GELU of a negative number."""
    return Guess(
        _("ReLU(-1) = 0. And GELU(-1)?"),
        gelu_of_minus_one,
        options=[_("0 as well"), _("a little below 0"), "-1"],
    )


def guess_without_activation() -> Guess:
    """Linear layers in a row."""
    return Guess(
        _("You leave the activation out and put ten linear layers in a row. What is the whole?"),
        ten_linear_layers,
        options=[_("Ten times as expressive"), _("A single linear layer"), _("A polynomial of degree ten")],
    )


def guess_swap() -> Guess:
    """Positions are not mixed."""
    return Guess(
        _("You swap the inputs of positions 1 and 3 and send them through the same MLP. What happens?"),
        swapped_positions,
        options=[
            _("All outputs change"),
            _("The outputs of positions 1 and 3 are swapped, the rest stays"),
            _("Nothing changes"),
        ],
    )


def guess_positive() -> Guess:
    """How many neurons of a trained model answer to a token."""
    return Guess(
        _(
            "A trained model reads a story. Behind GELU, about how many of its 256 neurons in a block have a "
            "value above zero at a token, on average?"
        ),
        share_of_positive_neurons,
        options=[_("three quarters"), _("half of them"), _("a quarter")],
    )


SHARES = (0.75, 0.5, 0.25)  # the options of `share_of_positive_neurons`


def gelu_of_minus_one(answer: int) -> Feedback:
    """Which option is GELU(-1)?"""
    value = F.gelu(torch.tensor(-1.0)).item()
    if answer == (1 if -0.5 < value < 0 else 0):
        return right(_("Right: about -0.16. GELU weighs negative values softly instead of cutting them."))
    if answer == 0:
        return wrong(_("That is what ReLU does. GELU multiplies x with a share between 0 and 1. Which x?"))
    return wrong(_("That would be no activation at all. GELU lets only a share of -1 through."))


def ten_linear_layers(answer: int) -> Feedback:
    """Which option are ten linear layers in a row?"""
    generator = torch.Generator().manual_seed(0)
    layers = torch.randn(10, 3, 3, generator=generator, dtype=torch.float32)
    x, y = torch.randn(2, 3, generator=generator, dtype=torch.float32)
    together = torch.linalg.multi_dot(list(layers))
    additive = torch.allclose(together @ (x + y), together @ x + together @ y, atol=1e-2)
    if answer == (1 if additive else 2):
        return right(_("Right: tables multiplied by tables are one table. Only the activation breaks that."))
    return wrong(_("Multiply two tables: what do you get? And ten?"))


def swapped_positions(answer: int) -> Feedback:
    """Which option tells what swapping two positions does?"""
    with Seeded(0) as apart:
        mlp, x = model.MLP(4), torch.randn(1, 5, 4, generator=apart.generator, dtype=torch.float32)
    swap = [2, 1, 0, 3, 4]
    with torch.no_grad():
        follows = torch.allclose(mlp(x[:, swap]), mlp(x)[:, swap], atol=1e-6)
    if answer == (1 if follows else 0):
        return right(_("Right: each position is processed by itself; its result goes where it goes."))
    return wrong(_("The MLP sees one position at a time. Does it know that others exist?"))


def share_of_positive_neurons(answer: int) -> Feedback:
    """Which option is the share of hidden values above zero, in the shipped model on a story?"""
    shipped, _ids, seen = read()
    blocks = range(shipped.model.config.blocks)
    hidden = torch.cat([seen[f"blocks.{block}.mlp.activation"] for block in blocks])  # (L, T, 4D)
    share = float((hidden > 0).float().mean())
    if answer == nearest(SHARES, share):
        return right(
            _("Right: most are below zero, where GELU lets hardly anything pass. The few others count.")
        )
    if SHARES[answer] == 0.5:
        return wrong(
            _("So it is before training, when the weights are random. What has training made of it?")
        )
    return wrong(_("If nearly all answered to every token, none would say much about this one."))
