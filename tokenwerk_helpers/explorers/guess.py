"""Guess: a question to commit to before moving anything, and its check."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as widgets

from ..checks.feedback import Feedback, not_attempted
from ..language import _
from ..views.text import LiveText
from ..views.twin import with_twin
from .base import ReaderMistake, in_words
from .cells import close_twins, close_widgets


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
        self.widget = widgets.VBox(
            [LiveText(value=question), self.answer, widgets.HBox([self.button]), self.reply]
        )
        self.widget.add_class("tokenwerk-guess")
        close_twins(self)

    def judge(self) -> Feedback:
        """Check the answer that is entered now and show what the check says."""
        try:
            answer = self._read()
            self.feedback = not_attempted() if answer is None else self._check(answer)
        except ReaderMistake as mistake:
            self.feedback = Feedback(None, str(mistake))
        except Exception as error:  # a callback of the button: what it raised would end in a log
            self.feedback = Feedback(None, in_words(error))
        self.reply.value = repr(self.feedback)
        return self.feedback

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
        return widgets.Text(placeholder=hint, layout=widgets.Layout(width="20em"))

    def _read(self) -> Any:
        if self.kind == "choice":
            return self.answer.value
        text = self.answer.value.strip().replace("−", "-")
        if not text:
            return None
        return read_number(text) if self.kind == "number" else read_vector(text)

    def _repr_mimebundle_(self, **_kwargs):
        lines = [self.question, *(f"({letter}) {text}" for letter, text in zip("abcdefgh", self.options))]
        return with_twin(self.widget._repr_mimebundle_(), {"text/plain": "\n".join(lines)})


def read_number(text: str) -> float:
    """The number a reader typed, with a decimal point or a decimal comma."""
    try:
        return float(text.replace(" ", "").replace(",", "."))
    except ValueError:
        raise ReaderMistake(_("“{text}” is not a number.").format(text=text)) from None


def read_vector(text: str) -> list[float]:
    """The list of numbers a reader typed: decimal points, separated by commas, semicolons or spaces."""
    inner = text.strip().strip("[]()").strip()
    try:
        return [float(part) for part in re.split(r"\s*[,;]\s*|\s+", inner) if part]
    except ValueError:
        raise ReaderMistake(
            _("“{text}” is not a list of numbers such as [1, -0.5].").format(text=text)
        ) from None
