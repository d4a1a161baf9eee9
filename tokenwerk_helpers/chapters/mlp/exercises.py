"""Exercises of 03_mlp: how what a reader writes is checked."""

from functools import partial

import torch
import torch.nn.functional as F

from ... import model
from ...language import _
from ...live.attempt import Reader, close, tensor
from ...live.exercise import Exercise, Mistake, named
from ...live.feedback import Feedback, wrong


def mlp_by_hand(x, W1, b1, W2, b2):
    """GELU(x W1^T + b1) W2^T + b2 with x (B, T, D), W1 (4D, D) and W2 (D, 4D), stored as in nn.Linear."""
    return ...


def mlp_by_hand_solution(x, W1, b1, W2, b2):
    """Widen, bend, narrow."""
    wide = x @ W1.T + b1  # (B, T, 4D)
    bent = F.gelu(wide)  # (B, T, 4D)
    return bent @ W2.T + b2  # (B, T, D)


def _check(reader: Reader) -> Feedback:
    """Is the function of x, W1, b1, W2, b2 GELU(x W1^T + b1) W2^T + b2, tables stored as in nn.Linear?"""
    draw = partial(torch.randn, generator=torch.Generator().manual_seed(1), dtype=torch.float32)
    D, hidden = 3, 12
    x = 2 * draw(2, 4, D)  # (B, T, D)
    W1, b1, W2, b2 = draw(hidden, D), draw(hidden), draw(D, hidden), draw(D)
    answer = tensor(
        reader(x, W1, b1, W2, b2),
        x.shape,
        _("The result must have the shape of x: (B, T, D) goes in, (B, T, D) comes out."),
    )
    if isinstance(answer, Feedback):
        return answer
    if close(answer, F.linear(F.gelu(F.linear(x, W1, b1)), W2, b2)):
        return reader.right(_("Right: widen, bend, narrow, in the same way at every position."))
    return wrong(
        named(answer, _mistakes(), x, W1, b1, W2, b2)
        or _("The numbers differ. Check one step after the other: first layer, activation, second layer.")
    )


def _mistakes() -> list[Mistake]:
    linear, gelu = F.linear, F.gelu

    def right(x, W1, b1, W2, b2):
        return linear(gelu(linear(x, W1, b1)), W2, b2)

    def with_another(bend):
        return lambda x, W1, b1, W2, b2: linear(bend(linear(x, W1, b1)), W2, b2)

    return [
        Mistake(
            "direct path",
            lambda x, *tables: x + right(x, *tables),
            _("You add x to it. The direct path runs around the MLP; the sum is the block's job."),
        ),
        Mistake(
            "no activation",
            with_another(lambda hidden: hidden),
            _("The activation is missing: this is a single linear layer."),
        ),
        Mistake("ReLU", with_another(F.relu), _("That is the MLP with ReLU; GELU is asked for.")),
        Mistake(
            "tanh form",
            with_another(partial(gelu, approximate="tanh")),
            _("You use the tanh form of GELU; the exact one is asked for."),
        ),
        Mistake("no b1", lambda x, W1, b1, W2, b2: right(x, W1, None, W2, b2), _("b1 is missing.")),
        Mistake("no b2", lambda x, W1, b1, W2, b2: right(x, W1, b1, W2, None), _("b2 is missing.")),
        Mistake(
            "no biases",
            lambda x, W1, b1, W2, b2: right(x, W1, None, W2, None),
            _("Both biases are missing."),
        ),
        Mistake(
            "bent twice",
            lambda x, *tables: gelu(right(x, *tables)),
            _("After the second layer comes no activation."),
        ),
    ]


check_mlp = Exercise(
    stub=mlp_by_hand,
    solution=mlp_by_hand_solution,
    check=_check,
    hints=lambda: [
        _("There are three steps: the first layer, the activation, the second layer. Give each a name."),
        _(
            "A layer is @ with the transposed table (.T), plus its bias. Between the two layers"
            " goes torch.nn.functional.gelu, just as it is."
        ),
    ],
    mistakes=_mistakes,
    borrowed=lambda: {"model.MLP": model.MLP.forward},
)
