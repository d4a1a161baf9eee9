"""What a reader is told when something cannot be used or did not work."""

from ..language import _


class ReaderMistake(ValueError):
    """Something a reader entered cannot be used; the message says why in the reader's language."""


def in_words(error: Exception) -> str:
    """What a reader is told of an error: a mistake says it itself, others that nobody foresaw get a frame."""
    if isinstance(error, ReaderMistake):
        return str(error)
    return _("That did not work ({kind}): {text}").format(kind=type(error).__name__, text=error)
