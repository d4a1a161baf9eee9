"""A trained model reads a reader's own sentence and goes on with it; words for what does not fit."""

from typing import NamedTuple

import torch
from torch import Tensor

from .. import sampling
from ..language import ReaderMistake, _
from ..model import Decoder
from ..pretrained import Pretrained, load
from ..trace import Trace, trace

# ---- what the pages begin with ----

# Each language has a model of its own, and each model a grammar. So what a model reads is a message like any
# other text. The translators' comments mark these messages, so that a test finds them in the catalogue.


def example_story() -> str:
    """A story in which a pronoun has to find its noun, past another noun."""
    # Translators: a text for the model: a pronoun has to find its noun, past another noun
    return _("A small queen lives in the forest. Today she finds a ball.")


def before_the_pronoun() -> str:
    """The example's story up to where its pronoun has to come."""
    # Translators: a text for the model: the queen's story, up to its pronoun
    return _("A small queen lives in the forest. Today")


def example_animal() -> str:
    """The animal of the example's story."""
    # Translators: a text for the model: the animal of the queen's story, as it stands there
    return _("queen")


def first_sentence() -> str:
    """The first sentence of the example's story."""
    # Translators: a text for the model: the first sentence of the queen's story
    return _("A small queen lives in the forest.")


def first_word() -> str:
    """The word with which the example's story begins."""
    # Translators: a text for the model: the first word of the queen's story
    return _("A")


def example_giver() -> str:
    """The beginning of a story about a gift: who gives."""
    # Translators: a text for the model: a gift begins, up to the verb
    return _("Mia gives")


def example_gift() -> str:
    """The beginning of a story about a gift: who gives to whom."""
    # Translators: a text for the model: the gift, up to the name of who gets it
    return _("Mia gives Jack")


def example_joy() -> str:
    """A story about a gift, up to where the name of who got it has to come again."""
    # Translators: a text for the model: the gift, up to where the name of who got it comes again
    return _("Mia gives Jack a nut. That makes")


def another_name() -> str:
    """A name that could stand in the place of who gets the gift."""
    # Translators: a text for the model: a name that is neither of the two in the gift's story
    return _("Ida")


class Read(NamedTuple):
    """A text as a model reads it: its T ids with the start token first, their labels, every inner value."""

    ids: list[int]
    labels: list[str]
    seen: Trace


class Reading:
    """A model and its tokenizer, ready for whatever a reader types; the shipped model if none is given."""

    def __init__(self, pretrained: Pretrained | None = None):
        self.pretrained = pretrained or load()
        self.model, self.tokenizer = self.pretrained.model, self.pretrained.tokenizer
        self.context = self.model.config.context_length

    # ---- read ----

    def ids(self, text: str) -> list[int]:
        """The start token and the ids of the text; ReaderMistake if there are more than positions."""
        ids = [*self.start, *self.tokenizer.encode(text)]
        if not ids:
            raise ReaderMistake(_("This model has no start token: type at least one word."))
        if len(ids) > self.context:
            raise ReaderMistake(
                _("{count} tokens, but the model has positions for {context}: shorten the text.").format(
                    count=len(ids), context=self.context
                )
            )
        return ids

    @property
    def start(self) -> list[int]:
        """The start token as a list, empty for a model that has none."""
        start = getattr(self.tokenizer, "start", None)
        return [] if start is None else [start]

    @property
    def end(self) -> int | None:
        """The token that ends a text, None for a model that has none."""
        return getattr(self.tokenizer, "end", None)

    def labels(self, ids: list[int]) -> list[str]:
        """A printable label for each id."""
        return self.tokenizer.labels(ids)

    def read(self, text: str, model: Decoder | None = None) -> Read:
        """Run the model (or another one with its vocabulary) on the text; ReaderMistake if it is too long."""
        ids = self.ids(text)
        return Read(ids, self.labels(ids), trace(model or self.model, torch.tensor([ids])))

    def known_head(self, role: str) -> tuple[int, int]:
        """Block and head, from 0, that are known for this role; the first of all where none is known."""
        found = self.pretrained.about.get("heads", {}).get(role, {})
        return found.get("block", 0), found.get("head", 0)

    # ---- go on ----

    @torch.no_grad()
    def logits_after(self, ids: list[int]) -> Tensor:
        """The logits of the next token, after as many of these ids as fit the window.  # (V,)"""
        return self.model(torch.tensor([sampling.window(ids, self.context)]))[0, -1]

    def most_probable(self, probabilities: Tensor, count: int) -> list[tuple[str, float]]:
        """The `count` most probable tokens, by label, with their probabilities: (V,) -> largest first."""
        shares, ids = probabilities.topk(min(count, len(probabilities)))
        return list(zip(self.labels(ids.tolist()), shares.tolist()))

    def continuation(self, text: str, count: int, model: Decoder | None = None) -> str:
        """At most `count` tokens behind the text, each the most probable one; the end token is not shown."""
        steps = sampling.generate(model or self.model, self.ids(text), count, temperature=0, eos=self.end)
        return self.tokenizer.decode(step.id for step in steps if step.id != self.end)
