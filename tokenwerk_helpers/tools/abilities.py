"""What a model can do, and which heads do it: measured where the grammar marks that earlier words decide.

    exam = Exam(stories(seed=1, count=500, split="held_out"), tokenizer)
    exam.measure(model)          # loss, and per ability the share of right answers
    exam.heads(model)            # per role, how much each head looks at the word that decides
    exam.without_heads(model)    # what is lost if a head is switched off

Attention is not importance: a head may look at the right word and not be needed, so both are measured.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import NamedTuple

import torch
from torch import Tensor

from ..corpus import Span, Story
from ..model import Decoder
from ..tokenizer import Tokenizer
from ..trace import Replacement, ablate, evaluating, running_with, trace
from ..training import Batch, batch, framed, loss

ABILITIES = ("pronoun", "possessive", "plural", "giver", "receiver", "copy", "quote")
ROLES = (*ABILITIES, "previous", "induction")


class Place(NamedTuple):
    """A mark of the grammar in tokens, counted in the row that begins with the start token.

    The word is predicted one token before it stands: `asked` is that position, there its attention can be
    seen. source: first and last position of the words that decide. rival: the id that must be less probable
    than `answer`; None if `answer` must be the most probable of all.
    """

    ability: str
    asked: int
    answer: int
    source: tuple[int, int]
    rival: int | None


def places(story: Story, tokenizer: Tokenizer) -> Iterator[Place]:
    """Find the marks of a story among its tokens. A word of several tokens is asked for by its first one."""
    row = framed(story.text, tokenizer)
    ends = list(accumulate(len(tokenizer.tokens[id]) for id in row))  # in bytes, as tokens are

    def positions(span: Span) -> tuple[int, int]:
        start, end = (len(story.text[:at].encode("utf-8")) for at in span)
        return bisect_right(ends, start), bisect_left(ends, end)

    for mark in story.marks:
        at, _ = positions(mark.span)
        rival = tokenizer.encode(" " + mark.rivals[0])[0] if mark.rivals else None
        yield Place(mark.ability, at - 1, row[at], positions(mark.source), rival)


class Measured(NamedTuple):
    """Mean loss in nats per token, and per ability the share of places answered rightly (0 to 1)."""

    loss: float
    right: dict[str, float]


class Exam:
    """Stories with their marked places, laid out so that many models can be measured on them.

    floor: what the stories cost, per token, a reader who knows the grammar: the sum of their nats over the
    sum of their tokens (end token included), as `tokenizer` cuts them.
    """

    def __init__(self, stories: Iterable[Story], tokenizer: Tokenizer):
        self.stories = list(stories)
        self.batch: Batch = batch([framed(story.text, tokenizer) for story in self.stories])
        found = [(row, place) for row, it in enumerate(self.stories) for place in places(it, tokenizer)]
        self.places = [place for _, place in found]
        self.row = torch.tensor([row for row, _ in found])  # (N,) for N places
        self.asked, self.answer, self.first, self.last, self.rival = torch.tensor(
            [(p.asked, p.answer, *p.source, -1 if p.rival is None else p.rival) for p in self.places]
        ).T
        tokens = int((self.batch.targets >= 0).sum())
        self.floor = sum(story.nats for story in self.stories) / tokens

    def measure(self, model: Decoder, replace: Mapping[str, Replacement] | None = None) -> Measured:
        """Measure loss and abilities; `replace` as in `trace.running_with`, to switch parts off."""
        kept = []

        def keep(logits: Tensor) -> Tensor:
            kept.append(logits[self.row, self.asked])  # (N, V)
            return logits

        with torch.no_grad(), evaluating(model), running_with(model, {**(replace or {}), "head": keep}):
            surprise = float(loss(model, self.batch))
        return Measured(surprise, self._shares(self._right(kept[0])))

    def _right(self, logits: Tensor) -> Tensor:
        """Whether each place is answered rightly: logits (N, V) -> (N,)."""
        answered = logits.gather(1, self.answer[:, None]).squeeze(1)
        rival = logits.gather(1, self.rival.clamp(min=0)[:, None]).squeeze(1)
        return torch.where(self.rival < 0, logits.argmax(dim=1) == self.answer, answered > rival)

    def _shares(self, values: Tensor) -> dict[str, float]:
        """The mean of a value per place, by ability."""
        by_ability = {name: [place.ability == name for place in self.places] for name in ABILITIES}
        return {name: float(values[torch.tensor(here)].float().mean()) for name, here in by_ability.items()}

    def heads(self, model: Decoder) -> dict[str, Tensor]:
        """How much each head looks where its role says, on average: role -> (L, H), each between 0 and 1.

        An ability: from the position that is asked to the words that decide. "previous": from a word of a
        spell to the word before it. "induction": from a repeated word to the one that followed it the first
        time (Olsson et al. 2022), which is the word to be copied.
        """
        seen = trace(model, self.batch.ids)
        layers = [seen[f"blocks.{i}.attn.weights"] for i in range(len(model.blocks))]
        weights = torch.stack(layers, dim=1)  # (B, L, H, T, T)
        looks = self._looks(weights)  # (N, L, H)
        ability = {name: torch.tensor([p.ability == name for p in self.places]) for name in ABILITIES}
        again = self.batch.ids[self.row, self.asked] == self.batch.ids[self.row, self.first - 1]
        copied = ability["copy"] & again
        previous = weights[self.row, :, :, self.first, self.first - 1]  # (N, L, H)
        roles = {name: looks[here].mean(dim=0) for name, here in ability.items()}
        return roles | {"previous": previous[copied].mean(dim=0), "induction": looks[copied].mean(dim=0)}

    def _looks(self, weights: Tensor) -> Tensor:
        """The weight that each head gives, from the asked position, to the words that decide: (N, L, H)."""
        T = weights.shape[-1]
        at = torch.arange(T)
        source = (at >= self.first[:, None]) & (at <= self.last[:, None])  # (N, T)
        rows = weights[self.row, :, :, self.asked]  # (N, L, H, T)
        return (rows * source[:, None, None]).sum(dim=-1)

    def without_heads(self, model: Decoder) -> dict[tuple[int, int], Measured]:
        """Measure the model with each head in turn switched off: (block, head) -> what is left."""
        heads = [(i, h) for i, block in enumerate(model.blocks) for h in range(block.attn.heads)]
        return {head: self.measure(model, ablate(model, heads=[head])) for head in heads}
