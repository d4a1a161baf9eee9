"""Checks of 04_self_attention."""

import math
from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F

from .. import model
from ..language import _
from . import story
from .feedback import Feedback, right, wrong
from .running import Reader, close, named, tensor

ANTECEDENTS = ("Ente", "Wald", "Eine")  # the options of `what_the_pronoun_is_read_from`


def row_sum(answer: float) -> Feedback:
    """Is `answer` the sum of a row of weights?"""
    weights = model.softmax(torch.tensor([[0.3, -2.0, 5.0]]))
    if abs(answer - weights.sum().item()) < 1e-3:
        return right(
            _("Right: the weights share out one whole. A position that looks more here looks less there.")
        )
    if abs(answer - 100) < 1e-3:
        return wrong(_("In per cent, yes. As plain numbers?"))
    return wrong(_("Softmax turns a row into shares. What do all shares together make?"))


def shift_of_all_scores(answer: int) -> Feedback:
    """Which option tells what a common shift of all scores does to the weights?"""
    scores = torch.tensor([[1.0, 0.0, 2.5]])
    same = torch.allclose(model.softmax(scores), model.softmax(scores + 5))
    if answer == (1 if same else 0):
        return right(_("Right: e⁵ stands above and below the fraction line. Softmax sees differences only."))
    return wrong(_("Write the fraction down: each e^(s + 5) is e^s · e⁵. What happens to e⁵?"))


def spread_of_scores(answer: float) -> Feedback:
    """Is `answer` the factor by which scores spread more with d_k = 64 than with d_k = 4?"""
    factor = math.sqrt(64) / math.sqrt(4)
    if abs(answer - factor) < 0.05:
        return right(_("Right: a sum of d_k such products spreads like √d_k, and √64 / √4 = 4."))
    if abs(answer - 16) < 0.5:
        return wrong(_("That would be the variance. The spread is its root."))
    return wrong(_("The variances of independent products add up. So how does the root of their sum grow?"))


def heads_merged_without_transpose(answer: int) -> Feedback:
    """Which option tells what merging the heads without a transpose does?"""
    x = torch.arange(24.0).view(4, 6)  # (T, D)
    heads = model.split_heads(x[None], 3)  # (1, H, T, D/H)
    try:
        merged = heads.reshape(1, 4, 6)[0]
        found = 2 if torch.equal(merged, x) else 1
    except RuntimeError:
        found = 0
    if answer == found:
        return right(_("Right, and nothing warns you: as many numbers, the right shape, the wrong places."))
    if answer == 0:
        return wrong(_("As many numbers come out as went in. Does PyTorch ask for more?"))
    return wrong(_("The numbers of one head lie side by side now. Do those of one position, too?"))


def what_the_pronoun_is_read_from(answer: int) -> Feedback:
    """Which option is the token that a head of the shipped model looks at most before a pronoun?"""
    shipped, ids, seen = story.read(story.STORY.partition(" sie ")[0])
    found = shipped.about["heads"]["pronoun"]
    weights = seen[f"blocks.{found['block']}.attn.weights"]
    best = int(weights[0, found["head"], -1].argmax())
    if ANTECEDENTS[answer] == shipped.tokenizer.decode([ids[best]]).strip():
        return right(_("Right: the article tells the gender as well as the noun does. Measure it below."))
    if ANTECEDENTS[answer] == "Wald":
        return wrong(_("That is the nearest noun. But the pronoun would have to be “er” then."))
    return wrong(_("A person would look there. Which other word gives the gender away already?"))


BORROWED = {
    "model.attention": model.attention,
    "F.scaled_dot_product_attention": F.scaled_dot_product_attention,
}


def attention(function: Callable | None) -> Feedback:
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
