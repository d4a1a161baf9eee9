"""Exercises of 10_sampling: how what a reader writes is checked."""

import math

from ... import sampling
from ...language import _
from ...live.attempt import Reader, close, tensor
from ...live.exercise import Exercise, Mistake, named
from ...live.feedback import Feedback, floats, wrong


def top_k(logits, k):
    """The logits (V,) with all but the k largest lowered to -inf; for k >= V they stay as they are."""
    return ...


def top_k_solution(logits, k):
    """Whatever lies below the k-th largest is out."""
    k = min(k, len(logits))
    smallest_kept = logits.topk(k).values[-1]
    return logits.masked_fill(logits < smallest_kept, -math.inf)  # (V,)


def _check(reader: Reader) -> Feedback:
    """Does the function of logits (V,) and k lower all but the k largest to -inf?"""
    logits = floats([0.5, 3.0, -1.0, 2.0, 1.0])
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
            named(lowered, _mistakes(), logits, 2)
            or _("The two largest must stay as they are, all others become −∞.")
        )
    large = tensor(reader(logits, 9), logits.shape, wanted)
    if isinstance(large, Feedback) or not close(large, logits):
        text = _("Right for k = 2. But if k is larger than the vocabulary, nothing may change.")
        return wrong(f"{text} {large.text}" if isinstance(large, Feedback) else text)
    return reader.right(_("Right: the survivors keep their logits, the others have no chance any more."))


def _mistakes() -> list[Mistake]:
    keep = sampling.keep_top_k
    return [
        Mistake(
            "set to 0",
            lambda logits, k: logits * (keep(logits, k) > -math.inf),
            _("Setting a logit to 0 does not rule it out: e to the power of 0 is 1. It takes −∞."),
        ),
        Mistake(
            "smallest",
            lambda logits, k: logits.masked_fill(keep(-logits, k) == -math.inf, -math.inf),
            _("You keep the smallest instead of the largest."),
        ),
        Mistake(
            "probabilities",
            lambda logits, k: keep(logits, k).softmax(-1),
            _("These are probabilities; logits are expected, with −∞ where a token is out."),
        ),
        Mistake("one too few", lambda logits, k: keep(logits, k - 1), _("One too few is kept.")),
        Mistake("one too many", lambda logits, k: keep(logits, k + 1), _("One too many is kept.")),
    ]


check_top_k = Exercise(
    stub=top_k,
    solution=top_k_solution,
    check=_check,
    hints=lambda: [
        _("Look for the border first: how large is the smallest logit that may stay?"),
        _(
            "logits.topk(k).values holds the k largest, the border at its end. Whatever is smaller becomes "
            "-math.inf (masked_fill or torch.where). And k may be larger than there are logits."
        ),
    ],
    mistakes=_mistakes,
    borrowed=lambda: {"sampling.keep_top_k": sampling.keep_top_k},
)
