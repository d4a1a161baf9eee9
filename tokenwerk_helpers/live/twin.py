"""Twins: what a page shows of a live view where no kernel answers, and how both go onto the page.

Beside the widget view stands a text, or a picture and its sentence. The mark says that they may take its
place: whoever stores or exports the page leaves the view out (tokenwerk_helpers/jupyter/stored.py), since
front ends prefer it even where nothing answers.
"""

import textwrap
from collections.abc import Callable

LINE = 90  # letters: front ends that set texts in lines of their own break them inside of words and numbers
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
MARK = {"tokenwerk": "has a twin"}
# A view without a model, which front ends hide.
NO_VIEW = {"version_major": 2, "version_minor": 0, "model_id": ""}


def with_twin(bundle, twin: dict, metadata: dict | None = None) -> tuple[dict, dict]:
    """A widget's mime bundle with its twin beside it, the text in lines of a page, and the mark."""
    data, given = bundle if isinstance(bundle, tuple) else (bundle, {})
    text = in_lines(twin["text/plain"])
    return {**data, **twin, "text/plain": text}, {**given, WIDGET_VIEW: MARK, **(metadata or {})}


def in_lines(text: str) -> str:
    """The text with its long lines broken between words."""
    wrapper = textwrap.TextWrapper(LINE, break_long_words=False, break_on_hyphens=False)
    return "\n".join(wrapper.fill(line) for line in text.split("\n"))


class Captioned:
    """A live view that is shown as two outputs: the view with its picture, then its sentence.

    The sentence is an output of its own since every reader of notebooks shows only one part of an output, the
    picture. Beside it stands a view that hides: where the live view is, the sentence is seen there already.
    """

    _repr_mimebundle_: Callable[..., tuple[dict, dict]]  # the widget's, or a subclass's own

    def _ipython_display_(self) -> None:
        from IPython.display import display  # here, since a server that looks for the mark does without

        data, metadata = self._repr_mimebundle_()
        sentence = data.pop("text/plain")
        display(data, metadata=metadata, raw=True)
        if sentence:
            data, metadata = with_twin({WIDGET_VIEW: NO_VIEW}, {"text/plain": sentence})
            display(data, metadata=metadata, raw=True)
