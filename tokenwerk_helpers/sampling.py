"""Logits -> probabilities -> next id -> text.

The model does not choose. It gives one logit per token of the vocabulary; softmax makes probabilities of
them, and a strategy draws from these: temperature first, then top-k, then top-p, in the order of Hugging
Face's `generate`.
"""

import math
from collections.abc import Iterable, Iterator
from numbers import Integral, Real
from operator import index
from typing import NamedTuple

import torch
from torch import Tensor

from .model import Decoder
from .trace import evaluating

# Probabilities are sums of rounded numbers: 0.5 + 0.4 reaches p = 0.9 although it may read 0.8999999.
MASS_TOLERANCE = 1e-6


def check_number(name: str, value: object, kind: type = Real) -> None:
    """TypeError unless `value` is a number, a whole one if `kind` is Integral; True is none."""
    if isinstance(value, bool) or not isinstance(value, kind):
        wanted = "a whole number" if kind is Integral else "a number"
        raise TypeError(f"{name} must be {wanted}, not {value!r}")


def ranks(logits: Tensor) -> Tensor:
    """The place of each token, 0 for the largest logit, (..., V); of equal logits the smaller id is first."""
    order = logits.sort(dim=-1, descending=True, stable=True).indices
    return order.argsort(dim=-1)


def scale(logits: Tensor, temperature: float) -> Tensor:
    """Divide by the temperature: below 1 sharpens, above 1 flattens. (..., V)

    Temperature 0, the limit, keeps the largest logit alone (of equal ones the smallest id): argmax.
    """
    check_number("temperature", temperature)
    if not 0 <= temperature < math.inf:
        raise ValueError(f"temperature must be 0 or a positive number, not {temperature!r}")
    scaled = logits / temperature
    if scaled.amax(dim=-1).isfinite().all():
        return scaled
    # Divided by 0, or by a number so small that the quotient has no float.
    return logits.masked_fill(ranks(logits) > 0, -math.inf)


def keep_top_k(logits: Tensor, k: int | None) -> Tensor:
    """Lower every logit outside the k largest to -inf, of equal ones the larger ids first. (..., V)

    None, or a k of at least V, changes nothing. Fan et al. 2018.
    """
    if k is None:
        return logits
    check_number("top_k", k, Integral)
    if k < 1:
        raise ValueError(f"top_k must be at least 1, or None to keep all, not {k!r}")
    return logits.masked_fill(ranks(logits) >= k, -math.inf)


def keep_top_p(logits: Tensor, p: float | None) -> Tensor:
    """Lower every logit outside the smallest set whose probabilities sum to p or more to -inf. (..., V)

    The most probable token always stays, so p = 0 keeps one; None and p = 1 change nothing. Holtzman et al.
    2020.
    """
    if p is None:
        return logits
    check_number("top_p", p)
    if not 0 <= p <= 1:
        raise ValueError(f"top_p must be between 0 and 1, or None to keep all, not {p!r}")
    if p == 1:
        return logits
    rank = ranks(logits)
    probabilities = logits.softmax(dim=-1)
    ordered = torch.zeros_like(probabilities).scatter(-1, rank, probabilities)
    mass_before = (ordered.cumsum(dim=-1) - ordered).gather(-1, rank)  # of all tokens of a better rank
    return logits.masked_fill((mass_before > p - MASS_TOLERANCE) & (rank > 0), -math.inf)


class Stage(NamedTuple):
    """What is left after one filter: logits (..., V), -inf where a token was dropped."""

    name: str  # "temperature", "top_k" or "top_p"
    logits: Tensor

    @property
    def survives(self) -> Tensor:
        """Which tokens can still be drawn: (..., V), boolean."""
        return self.logits > -math.inf

    @property
    def probabilities(self) -> Tensor:
        """The probabilities of the survivors, summing to 1 again: (..., V)."""
        return self.logits.softmax(dim=-1)


def stages(
    logits: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> list[Stage]:
    """The way from logits (..., V) to the set to draw from: after temperature, after top-k, after top-p.

    Each filter works on what the one before left, with its probabilities renormalised. Computed in float64.
    ValueError for NaN or infinite logits (-inf is a token that cannot come) and for settings out of range,
    TypeError for settings that are no numbers.
    """
    logits = logits.double()
    if not logits.amax(dim=-1).isfinite().all():
        raise ValueError("logits must be numbers, at least one of them above -inf")
    scaled = scale(logits, temperature)
    after_k = keep_top_k(scaled, top_k)
    after_p = keep_top_p(after_k, top_p)
    return [Stage("temperature", scaled), Stage("top_k", after_k), Stage("top_p", after_p)]


def probabilities(
    logits: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> Tensor:
    """The probabilities to draw the next token from: softmax(logits / temperature), filtered. (..., V)

    Filters and errors as in `stages`. Returned in the dtype of the logits, at least float32.
    """
    last = stages(logits, temperature, top_k, top_p)[-1]
    return last.probabilities.to(torch.promote_types(logits.dtype, torch.float32))


# --- token by token -------------------------------------------------------------------------------


def window(ids: list[int], context: int) -> list[int]:
    """The last `context` ids, all the model can read. Its positions count from 0 in every window anew."""
    return ids[-context:]


class Step(NamedTuple):
    """One generated token: its id, and the probabilities (V,) it was drawn from.

    reason: "end" if it is the end token, "limit" if it is the last that was allowed, None if it goes on.
    """

    id: int
    probabilities: Tensor
    reason: str | None


def generate(
    model: Decoder,
    ids: Iterable[int],
    max_new_tokens: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    *,
    start: int | None = None,
    eos: int | None = None,
    generator: torch.Generator | None = None,
) -> Iterator[Step]:
    """Yield token after token: read the window, draw from the last position's probabilities, append, repeat.

    ids: the prompt, one text; an empty one begins with the token `start`. Ends after the token `eos` or after
    `max_new_tokens`, and the last step says which. `generator` makes the draws repeatable; at temperature 0
    nothing is drawn. The model is in eval mode only while it computes, so a loop that is abandoned midway
    leaves nothing switched. ValueError, at once, for an empty prompt without `start`, a negative limit or
    settings out of range (see `stages`); TypeError for an id or a limit that is no whole number.
    """
    ids = [index(id) for id in ids] or ([] if start is None else [start])
    check_number("max_new_tokens", max_new_tokens, Integral)
    if not ids:
        raise ValueError("an empty prompt needs a start token to begin with: pass start=tokenizer.start")
    if max_new_tokens < 0:
        raise ValueError(f"max_new_tokens must be 0 or more, not {max_new_tokens}")
    settings = temperature, top_k, top_p
    stages(torch.zeros(1), *settings)  # refuses wrong settings now, not at the first step
    return _generate(model, ids, max_new_tokens, settings, eos, generator)


def _generate(
    model: Decoder,
    ids: list[int],
    max_new_tokens: int,
    settings: tuple[float, int | None, float | None],
    eos: int | None,
    generator: torch.Generator | None,
) -> Iterator[Step]:
    temperature, _top_k, _top_p = settings
    certain = temperature == 0  # then nothing is drawn, and nobody's random numbers move on
    for left in reversed(range(max_new_tokens)):
        with torch.no_grad(), evaluating(model):
            logits = model(torch.tensor([window(ids, model.config.context_length)]))[0, -1]  # (V,)
        choice = probabilities(logits, *settings)  # (V,)
        id = int(choice.argmax()) if certain else int(torch.multinomial(choice, 1, generator=generator))
        ids.append(id)
        reason = "end" if id == eos else "limit" if left == 0 else None
        yield Step(id, choice, reason)
        if reason:
            return
