"""Guess: a question to commit to before moving anything, and its check."""

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as widgets

from ..language import _, in_words
from .cells import close_earlier_runs, close_widgets
from .controls import Line
from .explorer import lifeline
from .feedback import Feedback, not_attempted
from .form import Form
from .numbers import read_number, read_vector
from .text import LiveText
from .twin import with_twin


class Guess:
    """A question with options to choose from, or a field for a number or a list of numbers.

    `check(answer) -> Feedback` judges: the index of the chosen option, a float (`kind="number"`) or a list of
    floats (`kind="vector"`).
    """

    def __init__(
        self,
        question: str,
        check: Callable[[Any], Feedback],
        options: Sequence[str] = (),
        kind: str = "choice",
    ):
        self.question, self.options, self.kind, self._check = question, list(options), kind, check
        self.feedback: Feedback | None = None
        self.answer = self._input()
        self.button = widgets.Button(
            description=_("Check"), button_style="primary", layout=widgets.Layout(width="auto")
        )
        self.reply = LiveText(role="status")
        self.button.on_click(lambda _button: self.judge())
        self.answer.observe(self._forget, "value")
        form = Form(self._enter, fields=True)
        self.widget = widgets.VBox(
            [LiveText(value=question), self.answer, widgets.HBox([self.button]), lifeline(), self.reply, form]
        )
        self.widget.add_class("tokenwerk-guess")
        close_earlier_runs(self)

    def judge(self) -> Feedback:
        """Check the answer that is entered now and show what the check says."""
        try:
            answer = self._read()
            self.feedback = not_attempted() if answer is None else self._check(answer)
        except Exception as error:  # a callback of the button: what it raised would end in a log
            self.feedback = Feedback(None, in_words(error))
        self.reply.value = repr(self.feedback)
        return self.feedback

    def _forget(self, _change) -> None:
        """Another answer: what was said of the last one no longer holds."""
        self.feedback, self.reply.value = None, ""

    def _enter(self, _child: int, text: str) -> None:
        """Judge when Enter is pressed; what was typed last may still be on its way."""
        if self.kind != "choice":
            self.answer.value = text
        self.judge()

    def close(self) -> None:
        """Let go of the widgets."""
        close_widgets(self.widget)

    def _input(self) -> widgets.Widget:
        if self.kind == "choice":
            return widgets.RadioButtons(
                options=[(text, index) for index, text in enumerate(self.options)],
                value=None,
                layout=widgets.Layout(width="100%"),
            )
        hint = _("a number, e.g. 0.5") if self.kind == "number" else _("a list, e.g. [1, -0.5]")
        return Line(placeholder=hint, layout=widgets.Layout(width="20em"))

    def _read(self) -> Any:
        if self.kind == "choice":
            return self.answer.value
        text = self.answer.value.strip()
        if not text:
            return None
        return read_number(text) if self.kind == "number" else read_vector(text)

    def _repr_mimebundle_(self, **_kwargs):
        lines = [self.question, *(f"({letter}) {text}" for letter, text in zip("abcdefgh", self.options))]
        return with_twin(self.widget._repr_mimebundle_(), {"text/plain": "\n".join(lines)})
