"""Question: something to commit to before moving anything, with its truth and an answer for whatever is said.

A question is one object, so that the order of its options and the right one cannot drift apart:

    Choice(
        _("How steep is y = x + f(x) where f′(x) = 0?"),
        truth=slope_where_f_is_flat,                       # computed when it is judged
        options=[
            Option(0, _("0: nothing comes back"), _("But is f the only way from y to x?")),
            Option(1, _("1: the direct path remains"), _("Right: the direct path delivers its 1.")),
        ],
    )
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ipywidgets as widgets

from ..language import _, in_words
from .cells import close_earlier_runs, close_widgets
from .controls import Line
from .explorer import lifeline
from .feedback import Feedback, not_attempted, right, wrong
from .form import Form
from .numbers import read_number, read_vector
from .text import LiveText
from .twin import view_of, with_twin


@dataclass(frozen=True)
class Option:
    """An answer to choose: what it stands for, how it reads, and what is said to whoever takes it."""

    value: Any
    text: str
    answer: str


@dataclass(frozen=True)
class Mistake:
    """A wrong number or list that a reader may well come to, and what is said to it."""

    value: Any  # or a function that says whether an answer is this mistake
    answer: str


class Question:
    """A question, its field, the button that checks, and the reply; subclasses read and judge the answer."""

    def __init__(self, text: str, truth: Callable[[], Any]):
        self.text, self.truth = text, truth
        self.feedback: Feedback | None = None
        self.answer = self._field()
        self.button = widgets.Button(
            description=_("Check"), button_style="primary", layout=widgets.Layout(width="auto")
        )
        self.reply = LiveText(role="status")
        self.button.on_click(lambda _button: self.judge())
        self.answer.observe(self._forget, "value")
        form = Form(self._enter, fields=True)
        self.widget = widgets.VBox(
            [LiveText(value=text), self.answer, widgets.HBox([self.button]), lifeline(), self.reply, form]
        )
        self.widget.add_class("tokenwerk-guess")
        close_earlier_runs(self)

    # ---- what a subclass says ----

    def reply_to(self, answer: Any) -> Feedback:
        """What is said to this answer; pure, so that a test can ask without widgets."""
        raise NotImplementedError

    def _field(self) -> widgets.Widget:
        raise NotImplementedError

    def _read(self) -> Any:
        """The answer that is entered now, None if there is none."""
        raise NotImplementedError

    def _lines(self) -> list[str]:
        return [self.text]

    # ---- what all share ----

    def judge(self) -> Feedback:
        """Check the answer that is entered now and show what there is to say of it."""
        try:
            answer = self._read()
            self.feedback = not_attempted() if answer is None else self.reply_to(answer)
        except Exception as error:  # a callback of the button: what it raised would end in a log
            self.feedback = Feedback(None, in_words(error))
        self.reply.value = repr(self.feedback)
        return self.feedback

    def close(self) -> None:
        """Let go of the widgets."""
        close_widgets(self.widget)

    def _forget(self, _change) -> None:
        """Another answer: what was said of the last one no longer holds."""
        self.feedback, self.reply.value = None, ""

    def _enter(self, _child: int, text: str) -> None:
        """Judge when Enter is pressed; what was typed last may still be on its way."""
        if isinstance(self.answer, widgets.Text):
            self.answer.value = text
        self.judge()

    def _repr_mimebundle_(self, **_kwargs) -> tuple[dict, dict]:
        return with_twin(view_of(self.widget), {"text/plain": "\n".join(self._lines())})


class Choice(Question):
    """A question with options to choose from; right is the one whose value is the truth."""

    def __init__(self, text: str, truth: Callable[[], Any], options: Sequence[Option]):
        self.options = list(options)
        super().__init__(text, truth)

    def reply_to(self, answer: int) -> Feedback:
        """What is said to the option of this index."""
        option = self.options[answer]
        return (right if option.value == self.truth() else wrong)(option.answer)

    def _field(self) -> widgets.Widget:
        return widgets.RadioButtons(
            options=[(option.text, index) for index, option in enumerate(self.options)],
            value=None,
            layout=widgets.Layout(width="100%"),
        )

    def _read(self) -> int | None:
        return self.answer.value

    def _lines(self) -> list[str]:
        lettered = zip("abcdefgh", self.options)
        return [self.text, *(f"({letter}) {option.text}" for letter, option in lettered)]


class NumberQuestion(Question):
    """A question for a number: `right` is said to the truth, to a mistake its own words, else `otherwise`.

    `within` is how far from the truth, or from a mistake, a number may lie.
    """

    HINT = staticmethod(lambda: _("a number, e.g. 0.5"))
    READ: Callable[[str], Any] = staticmethod(read_number)

    def __init__(
        self,
        text: str,
        truth: Callable[[], Any],
        right: str,
        mistakes: Sequence[Mistake] = (),
        otherwise: str = "",
        within: float = 1e-6,
    ):
        self.right, self.mistakes, self.otherwise, self.within = right, list(mistakes), otherwise, within
        super().__init__(text, truth)

    def reply_to(self, answer: Any) -> Feedback:
        """What is said to this number."""
        if self._is(answer, self.truth()):
            return right(self.right)
        said = (mistake.answer for mistake in self.mistakes if self._is_mistake(answer, mistake.value))
        return wrong(next(said, self._otherwise(answer)))

    def _otherwise(self, _answer: Any) -> str:
        return self.otherwise

    def _is_mistake(self, answer: Any, value: Any) -> bool:
        return bool(value(answer)) if callable(value) else self._is(answer, value)

    def _is(self, answer: Any, other: Any) -> bool:
        return math.isclose(answer, other, rel_tol=1e-9, abs_tol=self.within)

    def _field(self) -> widgets.Widget:
        return Line(placeholder=self.HINT(), layout=widgets.Layout(width="20em"))

    def _read(self) -> Any:
        text = self.answer.value.strip()
        return self.READ(text) if text else None


class VectorQuestion(NumberQuestion):
    """A question for a list of numbers; to one of another length, `wrong_length` is said."""

    HINT = staticmethod(lambda: _("a list, e.g. [1, -0.5]"))
    READ = staticmethod(read_vector)

    def __init__(self, text: str, truth: Callable[[], Any], right: str, wrong_length: str, **rest):
        self.wrong_length = wrong_length
        super().__init__(text, truth, right, **rest)

    def _otherwise(self, answer: Sequence[float]) -> str:
        return self.otherwise if len(answer) == len(self.truth()) else self.wrong_length

    def _is(self, answer: Any, other: Any) -> bool:
        return len(answer) == len(other) and all(map(super()._is, answer, other))
