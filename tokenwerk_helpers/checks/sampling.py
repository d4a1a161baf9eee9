"""Checks of 10_sampling."""

import math
from collections.abc import Callable

import torch

from .. import pretrained, sampling
from ..language import _
from . import story
from .feedback import Feedback, floats, right, wrong
from .running import Reader, close, named, tensor


def temperature_towards_zero(answer: int) -> Feedback:
    """Which option remains as the temperature goes to 0?"""
    logits = torch.tensor([1.0, 3.0, 2.0])
    certain = sampling.probabilities(logits, 1e-3)[logits.argmax()].item() > 0.999
    if answer == (1 if certain else 0):
        return right(_("Right: divided by something tiny, every lead becomes huge."))
    if answer == 0:
        return wrong(_("That is what a very high temperature does."))
    return wrong(_("Softmax always shares out one whole. Who gets it?"))


def kept_by_top_p(answer: float) -> Feedback:
    """Is `answer` the number of tokens that top-p keeps of 0.5, 0.3, 0.15, 0.05 at p = 0.9?"""
    logits = torch.tensor([0.5, 0.3, 0.15, 0.05]).log()
    kept = int(sampling.stages(logits, top_p=0.9)[-1].survives.sum())
    if answer == kept:
        return right(_("Right: 0.5 + 0.3 is 0.8, not enough; with 0.15 it is 0.95."))
    if answer == kept - 1:
        return wrong(_("0.5 + 0.3 is only 0.8. The set has to reach 0.9."))
    return wrong(_("Add from the most probable on until you reach 0.9."))


def what_temperature_keeps(answer: int) -> Feedback:
    """Which option does temperature leave as it is?"""
    logits = torch.tensor([0.3, -1.0, 2.0])
    cold, warm = (sampling.probabilities(logits, t).argsort() for t in (0.5, 1.5))
    if answer == (1 if torch.equal(cold, warm) else 0):
        return right(_("Right: dividing all logits by the same positive number changes no ranking."))
    return wrong(_("That moves. Divide all logits by the same number: what can not change by that?"))


def draws_for_half_the_deviation(answer: int) -> Feedback:
    """Which option says how many times as many draws halve the expected deviation?"""
    p = 0.2
    wanted = math.sqrt(p * (1 - p) / 100) / 2
    factors = [2, 4, 10]
    enough = [math.isclose(math.sqrt(p * (1 - p) / (100 * factor)), wanted) for factor in factors]
    if answer == enough.index(True):
        return right(_("Right: n stands under the root. Four times as many draws, half the deviation."))
    if answer == 0:
        return wrong(_("Twice as many draws divide it only by √2, about 1.4. Look at the root."))
    return wrong(_("That is more than enough: the deviation would shrink to less than a third."))


def text_under_a_limit(answer: int) -> Feedback:
    """Which option tells what a limit of 5 makes of the text that the same seed writes with a limit of 40?"""
    shipped = pretrained.load()
    prompt = story.prompt(shipped, "Mia schenkt Jan")
    runs = []
    for limit in (5, 40):
        dice = torch.Generator().manual_seed(1)
        steps = sampling.generate(shipped.model, prompt, limit, eos=shipped.tokenizer.end, generator=dice)
        runs.append(list(steps))
    short, long = runs
    same = [step.id for step in short] == [step.id for step in long[:5]]
    if answer == (2 if not same else 0 if short[-1].reason == "limit" else 1):
        return right(_("Right: the loop stops, the model knows nothing of it. The sentence breaks off."))
    if answer == 1:
        return wrong(_("For that the model would have to know the limit. What does it read at each step?"))
    return wrong(_("The same seed, the same text to read: why should the first draw differ?"))


def top_k(function: Callable | None) -> Feedback:
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
