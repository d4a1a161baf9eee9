"""Exercises of 02_normalization: how what a reader writes is checked."""

from dataclasses import dataclass, fields, replace
from functools import cache, partial
from itertools import product

import torch
from torch import Tensor
from torch.nn import functional as F

from ...language import _
from ...live.attempt import Reader, agreeing, close, tensor
from ...live.exercise import Exercise, Mistake
from ...live.feedback import Feedback, floats, wrong

EPSILON = 0.3  # large, so that its place makes a visible difference


@dataclass(frozen=True)
class Recipe:
    """One way to write a LayerNorm; the first value of each choice in CHOICES is the right one."""

    axes: tuple[int, ...] = (-1,)
    centred: str = "everywhere"
    correction: int = 0
    epsilon: str = "inside"
    rooted: bool = True
    gamma: bool = True
    beta: str = "last"

    def __call__(self, x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
        """Normalize x (B, T, D) by this recipe."""
        mean = x.mean(self.axes, keepdim=True)
        squares = (x if self.centred == "nowhere" else x - mean).square().sum(self.axes, keepdim=True)
        variance = squares / (x.numel() / mean.numel() - self.correction)
        eps = 1e-5 if self.epsilon == "fixed" else eps
        below = variance + eps if self.epsilon in ("inside", "fixed") else variance
        below = below.sqrt() if self.rooted else below
        below = below + eps if self.epsilon == "outside" else below
        result = (x - mean if self.centred == "everywhere" else x) / below
        result = result + beta if self.beta == "first" else result
        result = result * gamma if self.gamma else result
        return result + beta if self.beta == "last" else result


CHOICES = {
    "axes": ((-1,), (-2,), (0,), (0, 1), (-2, -1), (0, 1, 2)),
    "centred": ("everywhere", "below", "nowhere"),
    "correction": (0, 1),
    "epsilon": ("inside", "outside", "missing", "fixed"),
    "rooted": (True, False),
    "gamma": (True, False),
    "beta": ("last", "first", "missing"),
}


def mistakes(recipe: Recipe) -> list[str]:
    """The choices in which this recipe is not a LayerNorm."""
    return [f.name for f in fields(Recipe) if getattr(recipe, f.name) != CHOICES[f.name][0]]


def recipes() -> list[Recipe]:
    """Every recipe, those with few mistakes first."""
    return sorted((Recipe(*choice) for choice in product(*CHOICES.values())), key=lambda r: len(mistakes(r)))


def hint(recipe: Recipe, mistake: str) -> str:
    """What to look at, without the answer."""
    return {
        "axes": _("The statistics run over the wrong axis: each position needs its own mean and variance."),
        "centred": _("The mean is not subtracted in the numerator."),
        "correction": _("The variance is divided by n − 1; it should be the mean of the squared deviations."),
        "epsilon": {
            "outside": _("Epsilon is added beside the root instead of under it."),
            "missing": _("Epsilon is missing: what becomes of [2, 2]?"),
            "fixed": _("Epsilon is fixed; use the value that is passed in."),
        }.get(recipe.epsilon, ""),
        "rooted": _("You divide by the variance, not by its root."),
        "gamma": _("Gamma is missing."),
        "beta": {
            "first": _("Beta is added before gamma multiplies."),
            "missing": _("Beta is missing."),
        }.get(recipe.beta, ""),
    }[mistake]  # fmt: skip


def example() -> tuple[Tensor, Tensor, Tensor]:
    """x (2, 3, 5), gamma (5,) and beta (5,) on which every wrong recipe shows."""
    draw = partial(torch.randn, generator=torch.Generator().manual_seed(2), dtype=torch.float32)
    x = draw(2, 3, 5) * 2 + 1
    x[0, 0] = 0.003 * draw(5)  # tells a missing epsilon from a tiny one
    gamma, beta = draw(2, 5)
    return x, gamma, beta


BORROWED = {
    "F.layer_norm": F.layer_norm,
    "torch.layer_norm": torch.layer_norm,
    "torch.native_layer_norm": torch.native_layer_norm,
}


def layer_norm(x, gamma, beta, eps):
    """LayerNorm over the last axis of x (..., D), with gamma and beta (D,) and epsilon under the root."""
    return ...


def layer_norm_solution(x, gamma, beta, eps):
    """Mean to 0, spread to 1, then stretch and shift."""
    mean = x.mean(dim=-1, keepdim=True)  # (..., 1)
    deviation = x - mean  # (..., D)
    variance = (deviation**2).mean(dim=-1, keepdim=True)  # (..., 1)
    normalized = deviation / torch.sqrt(variance + eps)  # (..., D)
    return gamma * normalized + beta  # (..., D)


def _check(reader: Reader) -> Feedback:
    """Is the function of x, gamma, beta, eps a LayerNorm over the last axis? If not, name what is broken."""
    x, gamma, beta = example()
    given = reader(x, gamma, beta, EPSILON)
    if isinstance(given, Feedback):
        return _explained(given)
    given = tensor(given, x.shape, _("The result must be a tensor of the shape of x, here (2, 3, 5)."))
    if isinstance(given, Feedback):
        return given
    if not close(given, F.layer_norm(x, (5,), gamma, beta, EPSILON)):
        return wrong(_diagnosis(given))
    return _single_list(reader)


@cache
def _results() -> Tensor:
    """What each recipe makes of the example, in the order of `recipes`."""
    x, gamma, beta = example()
    return torch.stack([recipe(x, gamma, beta, EPSILON) for recipe in recipes()])


def _diagnosis(given: Tensor) -> str:
    if not given.isfinite().all():
        return _("Some results are not numbers (nan or inf).")
    fitting = agreeing(given, _results())
    if fitting.any():
        recipe = recipes()[int(fitting.nonzero()[0])]
        return " ".join(hint(recipe, mistake) for mistake in mistakes(recipe))
    return _("The numbers differ from the formula. Compare each step with [1, 3]: 2, [-1, 1], 1, 1, [-1, 1].")


def _single_list(reader: Reader) -> Feedback:
    """The chapter's own lists: one position alone, and one without any spread."""
    ones, zeros = torch.ones(2, dtype=torch.float32), torch.zeros(2, dtype=torch.float32)
    for x in (floats([1.0, 3.0]), floats([2.0, 2.0])):
        answer = reader(x, ones, zeros, 1e-5)
        if isinstance(answer, Feedback):
            text = _("Right for (B, T, D), but not for a single list. {why}")
            return wrong(text.format(why=_explained(answer).text))
        text = _("Right for (B, T, D), but {x} comes out wrong: name the last axis as -1.").format(
            x=x.tolist()
        )
        answer = tensor(answer, x.shape, text)
        if isinstance(answer, Feedback):
            return answer
        if not close(answer, F.layer_norm(x, (2,))):
            return wrong(text)
    return reader.right(
        _("Right: mean, variance, epsilon under the root, gamma, beta, each position by itself.")
    )


def _explained(stopped: Feedback) -> Feedback:
    """A word more on the mistake that torch tells of as unequal sizes."""
    if "size of tensor" not in stopped.text:
        return stopped
    hint = _("Does the mean keep its axis (keepdim=True), so that it fits x?")
    return replace(stopped, text=f"{stopped.text} {hint}")


def _mistakes() -> list[Mistake]:
    """Every recipe with a single mistake."""
    return [
        Mistake(f"{name}: {getattr(recipe, name)}", recipe, hint(recipe, name))
        for recipe in recipes()
        for name in mistakes(recipe)
        if len(mistakes(recipe)) == 1
    ]


check_layer_norm = Exercise(
    stub=layer_norm,
    solution=layer_norm_solution,
    check=_check,
    hints=lambda: [
        _("Go step by step, as with [1, 3]: mean, deviations, variance, root, gamma and beta."),
        _(
            "Each position has its own mean: average over the last axis, and keep that axis (keepdim=True), "
            "so that it can be subtracted. The variance is the mean of the squared deviations; where does "
            "epsilon belong, before the root or behind it?"
        ),
    ],
    mistakes=_mistakes,
    borrowed=lambda: BORROWED,
)
