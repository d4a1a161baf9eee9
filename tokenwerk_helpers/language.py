"""The language of everything a reader sees: gettext catalogues, German by default.

Messages are written in English where they are used and translated at the moment they are shown, so a page
can switch its language with one call. English is the message itself and needs no catalogue. Python exceptions
stay English.
"""

import gettext
import os
import re
from collections.abc import Mapping
from pathlib import Path

DOMAIN = "tokenwerk"
LOCALE = Path(__file__).parent / "locale"
LANGUAGES = ("de", "en")  # the first one is the default

_catalogue: gettext.NullTranslations  # of the language shown now; it, too, has every method
_shown: str


def set_language(language: str) -> None:
    """Show every text from now on in `language`, "de" or "en"; ValueError for any other."""
    global _catalogue, _shown
    if language not in LANGUAGES:
        raise ValueError(f"no catalogue for language {language!r}: choose one of {', '.join(LANGUAGES)}")
    _catalogue = (
        gettext.NullTranslations()
        if language == "en"
        else gettext.translation(DOMAIN, LOCALE, languages=[language])
    )
    _shown = language


def shown() -> str:
    """The language in which texts are shown now."""
    return _shown


def _(message: str) -> str:
    """The message in the reader's language."""
    return _catalogue.gettext(message)


def ngettext(singular: str, plural: str, number: int) -> str:
    """The message in the reader's language, in the form that fits `number`."""
    return _catalogue.ngettext(singular, plural, number)


def wished_for(setting: str) -> str:
    """The language that a setting such as "de", "en_GB" or "de_DE.UTF-8" names; the default for any other.

    A setting comes from outside and may be anything: it must not keep a page from opening.
    """
    return _named(setting) if _named(setting) in LANGUAGES else LANGUAGES[0]


def _named(setting: str) -> str:
    """The language of a locale's name: "de" of "de_DE.UTF-8"."""
    return re.split(r"[-_.@]", setting.strip().lower())[0]


def edition_for(environment: Mapping[str, str]) -> str:
    """The edition that a reader wants: that of TOKENWERK_LANG where it is set to one, else by their locale.

    German for a German locale, English for any other, for "C" and for none.
    """
    wish = environment.get("TOKENWERK_LANG", "")
    if _named(wish) in LANGUAGES:
        return _named(wish)
    setting = next(filter(None, (environment.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    return "de" if _named(setting) == "de" else "en"


set_language(wished_for(os.environ.get("TOKENWERK_LANG", "")))


class ReaderMistake(ValueError):
    """Something a reader entered cannot be used; the message says why in the reader's language."""


def in_words(error: Exception) -> str:
    """What a reader is told of an error: a mistake says it itself, others that nobody foresaw get a frame."""
    if isinstance(error, ReaderMistake):
        return str(error)
    return _("That did not work ({kind}): {text}").format(kind=type(error).__name__, text=error)
