"""Checks of 10_sampling."""

import math
from collections.abc import Callable

import torch

from .. import pretrained, sampling
from ..language import _
from . import story
from .feedback import Feedback, attempt, right, wrong


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
    logits = torch.tensor([0.5, 3.0, -1.0, 2.0, 1.0])
    before = logits.clone()
    answer = attempt(function, logits, 2)
    if isinstance(answer, Feedback):
        return answer
    if not isinstance(answer, torch.Tensor) or answer.shape != before.shape:
        return wrong(_("The result must have the shape of the logits."))
    if not torch.equal(logits, before):
        return wrong(_("Your function changes the logits it was given; make a copy."))
    expected = sampling.keep_top_k(before, 2)
    suspects = {
        _("Set to 0, a logit is not out: e to the power of 0 is 1. It takes −∞."): before
        * (expected > -math.inf),
        _("You keep the smallest instead of the largest."): before.masked_fill(
            sampling.keep_top_k(-before, 2) == -math.inf, -math.inf
        ),
        _("These are probabilities; logits are wanted, with −∞ where a token is out."): expected.softmax(-1),
        _("One too few is kept."): sampling.keep_top_k(before, 1),
        _("One too many is kept."): sampling.keep_top_k(before, 3),
    }
    lowered = answer.masked_fill(answer == math.inf, -math.inf)  # the wrong infinity is a mistake of its own
    for text, suspect in suspects.items():
        if torch.equal(lowered, suspect):
            return wrong(text)
    if not torch.equal(answer, expected):
        return wrong(_("The two largest must stay as they are, all others become −∞."))
    try:
        large = function(before.clone(), 9)
    except Exception as error:
        text = _("For k = 2 it is right; with k larger than the vocabulary it stops: {text}")
        return wrong(text.format(text=error))
    if not isinstance(large, torch.Tensor) or not torch.equal(large, before):
        return wrong(_("If k is larger than the vocabulary, nothing may change."))
    return right(_("Right: the survivors keep their logits, the others have no chance any more."))
