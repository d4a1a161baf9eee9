"""Checks of 03_mlp."""

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F

from .. import model
from ..apart import Seeded
from ..language import _
from . import story
from .feedback import Feedback, nearest, right, wrong
from .running import Reader, close, named, tensor

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
    shipped, _ids, seen = story.read()
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


def mlp(function: Callable | None) -> Feedback:
    """Is `function(x, W1, b1, W2, b2)` GELU(x W1^T + b1) W2^T + b2, tables stored as in nn.Linear?"""
    draw = partial(torch.randn, generator=torch.Generator().manual_seed(1), dtype=torch.float32)
    D, hidden = 3, 12
    x = 2 * draw(2, 4, D)  # (B, T, D)
    W1, b1, W2, b2 = draw(hidden, D), draw(hidden), draw(D, hidden), draw(D)
    reader = Reader(function, {"model.MLP": model.MLP.forward})
    answer = tensor(
        reader(x, W1, b1, W2, b2),
        x.shape,
        _("The result must have the shape of x: (B, T, D) goes in, (B, T, D) comes out."),
    )
    if isinstance(answer, Feedback):
        return answer
    if close(answer, F.linear(F.gelu(F.linear(x, W1, b1)), W2, b2)):
        return reader.right(_("Right: widen, bend, narrow, at every position alike."))
    return wrong(
        named(answer, _mistakes(x, W1, b1, W2, b2))
        or _("The numbers differ. Check one step after the other: first layer, activation, second layer.")
    )


def _mistakes(x, W1, b1, W2, b2) -> dict[str, torch.Tensor]:
    before = F.linear(x, W1, b1)
    right = F.linear(F.gelu(before), W2, b2)
    return {
        _("You add x to it. The direct path goes around the MLP; the sum is the block's business."): x
        + right,
        _("The activation is missing: this is a single linear layer."): F.linear(before, W2, b2),
        _("That is the MLP with ReLU; wanted is GELU."): F.linear(F.relu(before), W2, b2),
        _("You use the tanh form of GELU; wanted is the exact one."): F.linear(
            F.gelu(before, approximate="tanh"), W2, b2
        ),
        _("b1 is missing."): F.linear(F.gelu(F.linear(x, W1)), W2, b2),
        _("b2 is missing."): F.linear(F.gelu(before), W2),
        _("Both biases are missing."): F.linear(F.gelu(F.linear(x, W1)), W2),
        _("After the second layer comes no activation."): F.gelu(right),
    }
