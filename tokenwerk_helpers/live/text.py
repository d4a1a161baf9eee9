"""LiveText: a line of text that a screen reader announces when it changes."""

from typing import Any

import anywidget
import traitlets

from ..characters import unturned
from ..language import shown
from .assets import asset


class Line(traitlets.Unicode):
    """Text in which nothing that a reader typed turns the direction of the rest."""

    def validate(self, obj, value):
        return unturned(super().validate(obj, value))


class Language(traitlets.Unicode):
    """The language shown when the view is made: a screen reader speaks its words in it."""

    default_value: Any = traitlets.Undefined

    def make_dynamic_default(self) -> str:
        return shown()


class LiveText(anywidget.AnyWidget):
    """Text that may change, shown as text: HTML and formulas in it are shown letter by letter.

    `role` "status" is a caption, read out when the reader pauses; "alert" is a message, read out at once and
    hidden while empty.
    """

    _esm = asset("text.js")
    _css = asset("text.css")

    value = Line(help="what is shown").tag(sync=True)
    lang = Language(help="of the text").tag(sync=True)
    role = traitlets.Enum(["status", "alert"], "status", help="caption or message").tag(sync=True)


def well_formed(text: str) -> str:
    """The text with a sign of replacement for each half of a surrogate pair: half an emoji is no UTF-8."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
