"""Form: what ipywidgets' controls lack in the page."""

from collections.abc import Callable
from pathlib import Path

import anywidget
import traitlets

from .text import well_formed

HERE = Path(__file__).parent


class Form(anywidget.AnyWidget):
    """The invisible last child of a box of controls.

    Sliders get their label as a name and their readout as a value that screen readers say. What is typed into
    a readout reaches `typed(child, text)`: the child's place in the box and the text as it stands, well
    formed. With `fields`, so does Enter in any field ("" where it has no text).
    """

    _esm = (HERE / "form.js").read_text("utf-8")

    fields = traitlets.Bool(help="does Enter in a field count?").tag(sync=True)

    def __init__(self, typed: Callable[[int, str], None], fields: bool = False):
        super().__init__(fields=fields, layout={"display": "none"})
        self._typed = typed
        self._numbers: dict[int, int] = {}  # of what was typed last into each child
        self.on_msg(self._hear)

    def answer(self, child: int, text: str) -> None:
        """Put a text in place of what was typed into that child's readout, if it still stands there."""
        self.send({"child": child, "text": text, "number": self._numbers.get(child)})

    def _hear(self, _form, said: dict, _buffers) -> None:
        self._numbers[said["child"]] = said["number"]
        self._typed(said["child"], well_formed(said["text"]))
