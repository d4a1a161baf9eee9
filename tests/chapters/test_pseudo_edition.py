"""A pseudo edition, every message marked and longer by 40 %: a third language is only words and a grammar.

What a view shows without the mark is no message: a token of the model, a formula, a name, a unit.
"""

import gettext
import re

import pytest

from tests.chapters.test_pictures import drawn, faults, live_views
from tokenwerk_helpers import language
from tokenwerk_helpers.live.explorer import Explorer
from tokenwerk_helpers.live.figure import LiveFigure
from tokenwerk_helpers.pretrained import load
from tokenwerk_helpers.tools import messages

BEGIN, END, LONGER = "⟦", "⟧", 0.4
WORD = re.compile(r"[A-Za-z]{2,}")
# The same in every language.
NAMES = {"ReLU", "GELU", "GPT", "XL", "small", "medium", "large", "kB", "MB", "GB", "start", "end"}


def for_the_model() -> set[str]:
    """The messages that a model reads, and how numbers are written: they have no words to be marked."""
    read = {
        message.id
        for message in messages.read("de")
        if any("Translators" in it for it in message.auto_comments)
    }
    return read | {"{percentage}%", "1,000"}


class Pseudo(gettext.NullTranslations):
    """Marks every message that has words in it and makes it longer."""

    def __init__(self):
        super().__init__()
        self.kept = for_the_model()

    def gettext(self, message):
        if message in self.kept or not WORD.search(message):
            return message
        return BEGIN + message + "~" * max(0, round(LONGER * len(message)) - 2) + END

    def ngettext(self, singular, plural, number):
        return self.gettext(singular if number == 1 else plural)


@pytest.fixture(scope="module")
def pseudo():
    """The pseudo edition, over the English model."""
    language.set_language("en")
    language._catalogue = Pseudo()
    yield
    language.set_language(language.LANGUAGES[0])


@pytest.fixture(scope="module", params=live_views(), ids=lambda view: view.__name__)
def view(request, pseudo) -> Explorer:
    explorer = request.param()
    yield explorer
    explorer.close()


@pytest.fixture(scope="module")
def tokens(pseudo) -> set[str]:
    """What the English model writes with."""
    tokenizer = load().tokenizer
    return {tokenizer.decode([id]) for id in range(len(tokenizer))}


def figures(view: Explorer) -> list[LiveFigure]:
    return [one for row in view.rows for one in row if isinstance(one, LiveFigure)]


def unmarked(text: str, tokens: set[str]) -> bool:
    """Does the text have a word that is neither marked nor of a token of the model nor a name?"""
    while (rest := re.sub(f"{BEGIN}[^{BEGIN}{END}]*{END}", " ", text)) != text:  # one may hold another
        text = rest
    words = {*WORD.findall(text)} - NAMES
    return any(not any(word in token for token in tokens) for word in words)


def test_no_view_shows_an_unmarked_word(view, tokens):
    said = [view.caption.value, *(control.description for control in view.controls.values())]
    said += [text.get_text() for live in figures(view) for text, _box in drawn(live)]
    assert [text for text in said if unmarked(text, tokens)] == []


def test_longer_labels_are_neither_cut_off_nor_lie_over_one_another(view):
    found = [fault for live in figures(view) for fault in faults(live)]
    assert found == []
