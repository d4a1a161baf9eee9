"""Twins: what a page shows of a live view where no kernel answers, and how both go onto the page.

Beside the widget view stands a text, or a picture and its sentence. The mark says that they may take its
place: whoever stores or exports the page leaves the view out (tokenwerk_helpers/jupyter/stored.py), since
front ends prefer it even where nothing answers.
"""

import textwrap
from collections.abc import Callable
from typing import Any

LINE = 90  # letters: front ends that set texts in lines of their own break them inside of words and numbers
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
MARK = {"tokenwerk": "has a twin"}
# A view without a model, which front ends hide.
NO_VIEW = {"version_major": 2, "version_minor": 0, "model_id": ""}


def view_of(widget) -> dict[str, Any]:
    """What shows the widget, by its type; nothing if the widget is closed or has no view."""
    if widget.comm is None or widget._view_name is None:
        return {}
    return {WIDGET_VIEW: NO_VIEW | {"model_id": widget.model_id}}


def with_twin(view: dict, twin: dict, metadata: dict | None = None) -> tuple[dict, dict]:
    """Data and metadata of a view with its twin beside it, the text in lines of a page, and the mark."""
    text = in_lines(twin["text/plain"])
    return {**view, **twin, "text/plain": text}, {**dict.fromkeys(view, MARK), **(metadata or {})}


def in_lines(text: str) -> str:
    """The text with its long lines broken between words."""
    wrapper = textwrap.TextWrapper(LINE, break_long_words=False, break_on_hyphens=False)
    return "\n".join(wrapper.fill(line) for line in text.split("\n"))


class Captioned:
    """A live view that is shown as two outputs: the view with its picture, then its sentence.

    The sentence is an output of its own since every reader of notebooks shows only one part of an output, the
    picture. Beside it stands a view that hides: where the live view is, the sentence is seen there already.
    """

    _repr_mimebundle_: Callable[..., tuple[dict, dict]]  # a subclass's own

    def _ipython_display_(self) -> None:
        from IPython.display import display  # here, since a server that looks for the mark does without

        # The class's: a widget that is closed has None in its place.
        data, metadata = type(self)._repr_mimebundle_(self)
        sentence = data.pop("text/plain")
        display(data, metadata=metadata, raw=True)
        if sentence:
            hidden = {WIDGET_VIEW: NO_VIEW} if WIDGET_VIEW in data else {}
            data, metadata = with_twin(hidden, {"text/plain": sentence})
            display(data, metadata=metadata, raw=True)
