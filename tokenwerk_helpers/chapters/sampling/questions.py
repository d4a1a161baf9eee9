"""Questions of 10_sampling: what is asked before moving, and how the answers are judged."""

import math

import torch

from ... import pretrained, sampling
from ...language import _
from ...live.feedback import Feedback, right, wrong
from ...live.question import Guess
from ..story import prompt


def guess_zero() -> Guess:
    """What remains as the temperature goes to 0."""
    return Guess(
        _("The temperature goes towards 0. What remains of the choice?"),
        temperature_towards_zero,
        options=[
            _("every token becomes equally likely"),
            _("always the token with the largest logit"),
            _("no token at all"),
        ],
    )


def guess_top_p() -> Guess:
    """How many tokens top-p keeps."""
    return Guess(
        _("Probabilities 0.5, 0.3, 0.15 and 0.05. How many tokens does top-p keep with p = 0.9?"),
        kept_by_top_p,
        kind="number",
    )


def guess_draws() -> Guess:
    """How many draws halve the deviation."""
    return Guess(
        _("You want the deviation to become half as large. How many draws does that take?"),
        draws_for_half_the_deviation,
        options=[_("twice as many"), _("four times as many"), _("ten times as many")],
    )


def guess_order() -> Guess:
    """What temperature leaves as it is."""
    return Guess(
        _("You raise the temperature from 0.5 to 1.5. What stays as it is?"),
        what_temperature_keeps,
        options=[_("the probabilities"), _("the order of the tokens"), _("the entropy")],
    )


def guess_limit() -> Guess:
    """What a lower limit does to the text."""
    return Guess(
        _(
            "The same seed, once with at most 40 tokens, once with at most 5. "
            "What becomes of the text under the lower limit?"
        ),
        text_under_a_limit,
        options=[
            _("the same first five tokens, then it breaks off"),
            _("a shorter text that comes to an end in five tokens"),
            _("another text from the first token on"),
        ],
    )


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
    ids = prompt(shipped, "Mia schenkt Jan")
    runs = []
    for limit in (5, 40):
        dice = torch.Generator().manual_seed(1)
        steps = sampling.generate(shipped.model, ids, limit, eos=shipped.tokenizer.end, generator=dice)
        runs.append(list(steps))
    short, long = runs
    same = [step.id for step in short] == [step.id for step in long[:5]]
    if answer == (2 if not same else 0 if short[-1].reason == "limit" else 1):
        return right(_("Right: the loop stops, the model knows nothing of it. The sentence breaks off."))
    if answer == 1:
        return wrong(_("For that the model would have to know the limit. What does it read at each step?"))
    return wrong(_("The same seed, the same text to read: why should the first draw differ?"))
