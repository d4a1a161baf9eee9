"""LiveText: a line of text that a screen reader announces when it changes."""

import anywidget
import traitlets

from ..characters import unturned
from .assets import asset


class Line(traitlets.Unicode):
    """Text in which nothing that a reader typed turns the direction of the rest."""

    def validate(self, obj, value):
        return unturned(super().validate(obj, value))


class LiveText(anywidget.AnyWidget):
    """Text that may change, shown as text: HTML and formulas in it are shown letter by letter.

    `role` "status" is a caption, read out when the reader pauses; "alert" is a message, read out at once and
    hidden while empty.
    """

    _esm = asset("text.js")
    _css = asset("text.css")

    value = Line(help="what is shown").tag(sync=True)
    role = traitlets.Enum(["status", "alert"], "status", help="caption or message").tag(sync=True)


def well_formed(text: str) -> str:
    """The text with a sign of replacement for each half of a surrogate pair: half an emoji is no UTF-8."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
