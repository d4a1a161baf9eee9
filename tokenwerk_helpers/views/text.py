"""LiveText: a line of text that a screen reader announces when it changes."""

import anywidget
import traitlets

from .assets import asset


class LiveText(anywidget.AnyWidget):
    """Text that may change, shown as text: HTML and formulas in it are shown letter by letter.

    `role` "status" is a caption, read out when the reader pauses; "alert" is a message, read out at once and
    hidden while empty.
    """

    _esm = asset("text.js")
    _css = asset("text.css")

    value = traitlets.Unicode(help="what is shown").tag(sync=True)
    role = traitlets.Enum(["status", "alert"], "status", help="caption or message").tag(sync=True)
