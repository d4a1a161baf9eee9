"""A trained model reads a reader's own sentence: ids, labels, and words for what does not fit."""

from ..language import ReaderMistake, _
from ..pretrained import Pretrained, load
from .story import STORY

# The shipped model knows German only, so its examples are German in every language of the book.


def example_story() -> str:
    """A story in which a pronoun has to find its noun, past another noun."""
    return STORY


def example_gift() -> str:
    """The beginning of a story about a gift."""
    return "Mia schenkt Jan"


class Reading:
    """A model and its tokenizer, ready for whatever a reader types; the shipped model if none is given."""

    def __init__(self, pretrained: Pretrained | None = None):
        self.pretrained = pretrained or load()
        self.model, self.tokenizer = self.pretrained.model, self.pretrained.tokenizer
        self.context = self.model.config.context_length

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

    def labels(self, ids: list[int]) -> list[str]:
        """A printable label for each id."""
        return self.tokenizer.labels(ids)
