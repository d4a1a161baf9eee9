"""Exercises of 03_mlp: how what a reader writes is checked."""

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F

from ... import model
from ...language import _
from ...live.exercise import Reader, close, named, tensor
from ...live.feedback import Feedback, wrong


def check_mlp(function: Callable | None) -> Feedback:
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
