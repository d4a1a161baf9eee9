"""Questions of 02_normalization: what is asked before moving, and how the answers are judged."""

from collections.abc import Sequence

import torch
from torch.nn import functional as F

from ...language import _
from ...live.feedback import Feedback, floats, nearest, right, wrong
from ...live.question import Guess


def guess_scale() -> Guess:
    """The chapter's second list, before it is computed."""
    return Guess(
        _("[1, 3] becomes [-1, 1]. What becomes of [10, 30], without epsilon?"),
        tenfold_list,
        kind="vector",
    )


def guess_deviation() -> Guess:
    """What PyTorch's own standard deviation returns."""
    return Guess(
        _(
            "The chapter finds the standard deviation 1 for [1, 3]. "
            "What does torch.tensor([1., 3.]).std() return?"
        ),
        torch_deviation,
        options=["1.0", "1.4142"],
    )


def guess_epsilon() -> Guess:
    """What an epsilon far below the standard deviation does all the same."""
    return Guess(
        _(
            "A list has the standard deviation σ = 0.001, a hundred times ε = 0.00001. LayerNorm is to "
            "bring it to 1. About how much really comes out?"
        ),
        spread_left_by_epsilon,
        options=[str(spread) for spread in SPREADS],
    )


def guess_largest() -> Guess:
    """An output beyond [0, 1]."""
    return Guess(
        _("[0, 0, 0, 0, 1] is normalized with γ = 1, β = 0 and without ε. What becomes of the 1?"),
        largest_output,
        kind="number",
    )


def guess_moving() -> Guess:
    """Who shares a statistic, asked as who moves."""
    options = {
        "component": _("only this one component of this one position"),
        "position": _("all components of this position, nothing else"),
        "text": _("all positions of this text"),
        "batch": _("everything in the batch"),
    }
    return Guess(
        _(
            "In a batch, one component of one position of one text changes. "
            "Which outputs of LayerNorm can move?"
        ),
        moving_outputs,
        options=[options[name] for name in NEIGHBOURHOODS],
    )


def guess_two_points() -> Guess:
    """How little is left of two numbers."""
    return Guess(
        _(
            "Two unequal numbers go into LayerNorm (γ = 1, β = 0, without ε). "
            "How many different lists can come out?"
        ),
        number_of_results,
        kind="number",
    )


def tenfold_list(answer: Sequence[float]) -> Feedback:
    """Is `answer` what [10, 30] becomes without epsilon?"""
    x, given = floats([10.0, 30.0]), floats(answer)
    if len(answer) != 2:
        return wrong(_("Two numbers go in: how many come out?"))
    if torch.allclose(given, F.layer_norm(x, (2,), eps=0.0), atol=1e-3):
        return right(_("Right: the same list as from [1, 3]. Level and scale are gone."))
    if torch.allclose(given, x - x.mean()):
        return wrong(_("The mean is subtracted. What are the deviations still to be divided by?"))
    return wrong(_("Step by step: first subtract the mean 20, then divide by the standard deviation."))


def torch_deviation(answer: int) -> Feedback:
    """Which option is what `torch.tensor([1., 3.]).std()` returns?"""
    x = torch.tensor([1.0, 3.0])
    options = (x.std(correction=0).item(), x.std().item())
    if options[answer] == x.std().item():
        return right(_("Right: by default PyTorch divides by n - 1 = 1 here; LayerNorm divides by n = 2."))
    return wrong(_("That is the value of the chapter. Try it in a cell and compare."))


def largest_output(answer: float) -> Feedback:
    """Is `answer` the last component of the normalized list [0, 0, 0, 0, 1]?"""
    outlier = floats([0.0, 0.0, 0.0, 0.0, 1.0])
    largest = F.layer_norm(outlier, (5,), eps=0.0)[-1].item()
    if abs(answer - largest) < 0.01:
        return right(_("Right: well outside of [0, 1]. Of D numbers, one can reach √(D − 1) and no more."))
    if abs(answer) <= 1:
        return wrong(_("LayerNorm does not confine its output to [0, 1]. Mean 0.2, variance 0.16: and now?"))
    return wrong(_("Mean 0.2, variance 0.16, standard deviation 0.4. What is (1 − 0.2) divided by it?"))


SPREADS = (0.99, 0.3, 0.09)  # the options of `spread_left_by_epsilon`


def spread_left_by_epsilon(answer: int) -> Feedback:
    """Which option is the standard deviation of a list with 0.001 behind LayerNorm with epsilon 0.00001?"""
    x = 0.001 * torch.tensor([-1.0, 1.0], dtype=torch.float64)
    left = float(F.layer_norm(x, (2,), eps=1e-5).std(correction=0))
    if answer == nearest(SPREADS, left):
        return right(_("Right: under the root ε meets σ² = 0.000001 and is ten times as large."))
    if SPREADS[answer] > left:
        return wrong(_("That would be so if ε were added to σ itself. But how large is σ²?"))
    return wrong(_("That is σ² / (σ² + ε). The root is still to be taken."))


def number_of_results(answer: float) -> Feedback:
    """Is `answer` how many different lists can come out when two unequal numbers go in?"""
    pairs = torch.randn(200, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    results = F.layer_norm(pairs, (2,), eps=0.0).round(decimals=6).unique(dim=0)
    if answer == len(results):
        return right(_("Right: only the order of the two numbers is left of them."))
    if answer == 1:
        return wrong(_("Think of [3, 1] as well."))
    return wrong(_("Of two numbers, each is as far from the mean as the other. What is left to tell?"))


NEIGHBOURHOODS = ("component", "position", "text", "batch")  # the options of `moving_outputs`, in order


def moving_outputs(answer: int) -> Feedback:
    """Which option tells what moves behind LayerNorm when one component of one position has changed?"""
    x = torch.randn(3, 4, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float32)
    changed = x.clone()
    changed[1, 2, 3] += 1
    moved = (F.layer_norm(x, (6,)) - F.layer_norm(changed, (6,))).abs() > 1e-6  # (B, T, D)
    sizes = {"component": 1, "position": 6, "text": 4 * 6, "batch": 3 * 4 * 6}
    truth = NEIGHBOURHOODS[list(sizes.values()).index(int(moved.sum()))]
    if NEIGHBOURHOODS[answer] == truth:
        return right(_("Right: mean and variance of this position change, and with them all its components."))
    if NEIGHBOURHOODS[answer] == "component":
        return wrong(_("The changed number also enters the mean and the variance. Who uses these?"))
    return wrong(_("Over which numbers does LayerNorm take its mean? Do they reach beyond one position?"))
