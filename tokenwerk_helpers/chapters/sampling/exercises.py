"""Exercises of 10_sampling: how what a reader writes is checked."""

import math
from collections.abc import Callable

import torch

from ... import sampling
from ...language import _
from ...live.exercise import Reader, close, named, tensor
from ...live.feedback import Feedback, floats, wrong


def check_top_k(function: Callable | None) -> Feedback:
    """Does `function(logits, k)` lower all but the k largest of logits (V,) to -inf?"""
    logits = floats([0.5, 3.0, -1.0, 2.0, 1.0])
    reader = Reader(function, {"sampling.keep_top_k": sampling.keep_top_k})
    wanted = _("The result must have the shape of the logits.")
    answer = tensor(reader(logits, 2), logits.shape, wanted)
    if isinstance(answer, Feedback):
        return answer
    expected = sampling.keep_top_k(logits, 2)
    if not close(answer, expected):
        lowered = answer.masked_fill(
            answer == math.inf, -math.inf
        )  # the wrong infinity: a mistake of its own
        return wrong(
            named(lowered, _mistakes(logits))
            or _("The two largest must stay as they are, all others become −∞.")
        )
    large = tensor(reader(logits, 9), logits.shape, wanted)
    if isinstance(large, Feedback) or not close(large, logits):
        text = _("For k = 2 it is right. But if k is larger than the vocabulary, nothing may change.")
        return wrong(f"{text} {large.text}" if isinstance(large, Feedback) else text)
    return reader.right(_("Right: the survivors keep their logits, the others have no chance any more."))


def _mistakes(logits: torch.Tensor) -> dict[str, torch.Tensor]:
    expected = sampling.keep_top_k(logits, 2)
    return {
        _("Set to 0, a logit is not out: e to the power of 0 is 1. It takes −∞."): logits
        * (expected > -math.inf),
        _("You keep the smallest instead of the largest."): logits.masked_fill(
            sampling.keep_top_k(-logits, 2) == -math.inf, -math.inf
        ),
        _("These are probabilities; logits are wanted, with −∞ where a token is out."): expected.softmax(-1),
        _("One too few is kept."): sampling.keep_top_k(logits, 1),
        _("One too many is kept."): sampling.keep_top_k(logits, 3),
    }
