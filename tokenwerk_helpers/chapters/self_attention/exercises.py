"""Exercises of 04_self_attention: how what a reader writes is checked."""

import math
from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F

from ... import model
from ...language import _
from ...live.exercise import Reader, close, named, tensor
from ...live.feedback import Feedback, wrong

BORROWED = {
    "model.attention": model.attention,
    "F.scaled_dot_product_attention": F.scaled_dot_product_attention,
}


def check_attention(function: Callable | None) -> Feedback:
    """Does `function(q, k, v)` return softmax(q k^T / sqrt(d_k)) v?"""
    draw = partial(torch.randn, generator=torch.Generator().manual_seed(0), dtype=torch.float32)
    q, k = draw(2, 5, 4)  # (T, d_k) twice
    v = draw(5, 3)  # (T, d_v): its own width, so that d_k is really q's
    reader = Reader(function, BORROWED)
    answer = tensor(
        reader(q, k, v),
        v.shape,
        _("The context has one row for each query and the width of v: here (5, 3)."),
    )
    if isinstance(answer, Feedback):
        return answer
    expected, _weights = model.attention(q, k, v)
    if close(answer, expected):
        return reader.right(_("Right: compare, scale, share out, mix."))
    return wrong(
        named(answer, _mistakes(q, k, v))
        or _("The numbers differ. Check the five steps one by one with the table above.")
    )


def _mistakes(q, k, v) -> dict[str, torch.Tensor]:
    scores = q @ k.T
    d_k = q.shape[-1]
    return {
        _("The division by √d_k is missing."): scores.softmax(-1) @ v,
        _("You divide by d_k; it should be its root."): (scores / d_k).softmax(-1) @ v,
        _("You divide by the root of another width: d_k is the width of q and k."): (
            scores / math.sqrt(v.shape[-1])
        ).softmax(-1)
        @ v,
        _("You divide by the root of the number of positions: d_k is the width of q and k."): (
            scores / math.sqrt(q.shape[0])
        ).softmax(-1)
        @ v,
        _("Softmax runs over the wrong axis: each query shares out its own weights (dim=-1)."): (
            scores / math.sqrt(d_k)
        ).softmax(0)
        @ v,
        _("Softmax is missing: scores are not weights yet."): scores / math.sqrt(d_k) @ v,
        _("Queries and keys are swapped."): (scores.T / math.sqrt(d_k)).softmax(-1) @ v,
    }
