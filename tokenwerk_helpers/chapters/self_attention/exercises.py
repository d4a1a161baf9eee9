"""Exercises of 04_self_attention: how what a reader writes is checked."""

import math
from functools import partial

import torch
import torch.nn.functional as F

from ... import model
from ...language import _
from ...live.attempt import Reader, close, tensor
from ...live.exercise import Exercise, Mistake, named
from ...live.feedback import Feedback, wrong

BORROWED = {
    "model.attention": model.attention,
    "F.scaled_dot_product_attention": F.scaled_dot_product_attention,
}


def attention(q, k, v):
    """softmax(q k^T / sqrt(d_k)) v with q and k (T, d_k) and v (T, d_v): the context (T, d_v)."""
    return ...


def attention_solution(q, k, v):
    """Compare, scale, share out, mix."""
    scores = q @ k.T  # (T, T)
    scaled = scores / math.sqrt(q.shape[-1])  # (T, T)
    weights = scaled.softmax(dim=-1)  # (T, T)
    return weights @ v  # (T, d_v)


def _check(reader: Reader) -> Feedback:
    """Does the function of q, k, v return softmax(q k^T / sqrt(d_k)) v?"""
    draw = partial(torch.randn, generator=torch.Generator().manual_seed(0), dtype=torch.float32)
    q, k = draw(2, 5, 4)  # (T, d_k) twice
    v = draw(5, 3)  # (T, d_v): its own width, so that d_k is really q's
    answer = tensor(
        reader(q, k, v),
        v.shape,
        _("The context has one row for each query and is as wide as v: here (5, 3)."),
    )
    if isinstance(answer, Feedback):
        return answer
    expected, _weights = model.attention(q, k, v)
    if close(answer, expected):
        return reader.right(_("Right: compare, scale, share out, mix."))
    return wrong(
        named(answer, _mistakes(), q, k, v)
        or _("The numbers differ. Check the five steps one by one with the table above.")
    )


def _mistakes() -> list[Mistake]:
    return [
        Mistake(
            "not scaled",
            lambda q, k, v: (q @ k.T).softmax(-1) @ v,
            _("The division by √d_k is missing."),
        ),
        Mistake(
            "no root",
            lambda q, k, v: (q @ k.T / q.shape[-1]).softmax(-1) @ v,
            _("You divide by d_k; it should be its root."),
        ),
        Mistake(
            "width of v",
            lambda q, k, v: (q @ k.T / math.sqrt(v.shape[-1])).softmax(-1) @ v,
            _("You divide by the root of another width: d_k is the width of q and k."),
        ),
        Mistake(
            "number of positions",
            lambda q, k, v: (q @ k.T / math.sqrt(q.shape[0])).softmax(-1) @ v,
            _("You divide by the root of the number of positions: d_k is the width of q and k."),
        ),
        Mistake(
            "wrong axis",
            lambda q, k, v: (q @ k.T / math.sqrt(q.shape[-1])).softmax(0) @ v,
            _("Softmax runs over the wrong axis: each query shares out its own weights (dim=-1)."),
        ),
        Mistake(
            "no softmax",
            lambda q, k, v: q @ k.T / math.sqrt(q.shape[-1]) @ v,
            _("Softmax is missing: scores are not weights yet."),
        ),
        Mistake(
            "swapped",
            lambda q, k, v: (k @ q.T / math.sqrt(q.shape[-1])).softmax(-1) @ v,
            _("Queries and keys are swapped."),
        ),
    ]


check_attention = Exercise(
    stub=attention,
    solution=attention_solution,
    check=_check,
    hints=lambda: [
        _("Write one line for each step of the table: scores, scaled, weights, context."),
        _(
            "Every query meets every key in one product of two matrices, once the keys stand as columns. d_k "
            "is the width of a query. And the weights of one row add up to 1: along which axis is that?"
        ),
    ],
    mistakes=_mistakes,
    borrowed=lambda: BORROWED,
)
