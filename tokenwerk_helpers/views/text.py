"""LiveText: a line of text that a screen reader announces when it changes."""

from pathlib import Path

import anywidget
import traitlets

HERE = Path(__file__).parent


class LiveText(anywidget.AnyWidget):
    """Text that may change, shown as text: HTML and formulas in it are shown letter by letter.

    `role` "status" is a caption, read out when the reader pauses; "alert" is a message, read out at once and
    hidden while empty.
    """

    _esm = HERE / "text.js"
    _css = HERE / "text.css"

    value = traitlets.Unicode(help="what is shown").tag(sync=True)
    role = traitlets.Enum(["status", "alert"], "status", help="caption or message").tag(sync=True)


def well_formed(text: str) -> str:
    """The text with a sign of replacement for each half of a surrogate pair: half an emoji is no UTF-8."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
