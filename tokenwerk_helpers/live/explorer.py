"""Explorer: controls, one computation and views, kept in step.

A page's live view is a subclass with four parts that read in the order of the data:

    class Doubling(Explorer):
        def __init__(self):
            self.figure = LiveFigure(6, 2)
            ...                                                     # draw once
            super().__init__({"x": slider(_("x"), -2, 2, 1)}, [[self.figure]])

        compute = staticmethod(double)                              # settings -> result, knows no widget
        def show(self, result): ...                                 # arrays into the views
        def sentence(self, result): ...                             # what the numbers say, in words

The base class adds what all of them share: layout, reset, the caption (which is the views' alternative text,
too), the message area and the still twin.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import ipywidgets as widgets
import torch
from PIL import Image

from ..language import ReaderMistake, _, in_words
from . import style
from .cells import close_earlier_runs, close_widgets
from .controls import readout, take_typed
from .form import Form
from .lifeline import Lifeline
from .lock import LOCK, locked
from .matrix import MatrixView
from .still import stacked, with_still
from .text import LiveText
from .twin import Captioned, view_of


@contextmanager
def making() -> Iterator[None]:
    """Within the `with`, figures get the style of the book and tensors the CPU, whatever the defaults."""
    with style.building(), torch.device("cpu"):
        yield


def lifeline() -> Lifeline:
    """What says of a view, and of all that stands in the same box, that its kernel is gone."""
    return Lifeline(words=_("This view is no longer connected. Run the page from the top."))


class Explorer(Captioned):
    """Controls that drive one computation and its views.

    `controls` maps the names of `compute`'s arguments to widgets with a `value`; `rows` holds the views from
    top to bottom, each row from left to right. A view is a widget with `.still() -> Image`.
    """

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "__init__" in vars(cls):
            cls.__init__ = making()(cls.__init__)  # type: ignore[method-assign]  # replaced on purpose

    def __init__(self, controls: dict[str, widgets.Widget], rows: list[list[Any]], buttons=()):
        self.controls = controls
        self.rows = rows
        self.result: Any = None
        self.error: Exception | None = None
        self._cause: Any = None  # what the message speaks of: an action, or a control
        self.caption = LiveText(role="status")
        self.message = LiveText(role="alert")
        self._initial = {name: control.value for name, control in controls.items()}
        self._waiting = self._showing = False
        self._ends: dict[str, Callable[[Any], int]] = {}  # sliders that end where the result ends
        self.form = Form(self.guarded(self._take_typed))
        self.widget = self._lay_out(buttons)
        for control in controls.values():
            control.observe(self._react, "value")
        close_earlier_runs(self)
        with LOCK:
            self.update()

    # ---- what a subclass says ----

    def compute(self, *args: Any, **settings: Any) -> Any:  # subclasses name their settings: `args` allows it
        """The result for these settings, as arrays and texts that `show` puts into the views.

        The same settings give the same result, unless a view holds more than its controls tell: a mask
        clicked by hand, or work too long for one move (a training, a text being written). Such work begins
        anew with other settings, and the result is what it has come to.
        """
        raise NotImplementedError

    def show(self, result: Any) -> None:
        """Put the result's arrays into the views."""
        raise NotImplementedError

    def sentence(self, result: Any) -> str:
        """What is to be seen, in words and with its numbers."""
        raise NotImplementedError

    def described(self) -> list:
        """The views that the sentence describes: all, unless `show` gives some of them words of their own."""
        return [view for row in self.rows for view in row]

    # ---- what all share ----

    @property
    def settings(self) -> dict[str, Any]:
        """The value of every control by name."""
        return {name: control.value for name, control in self.controls.items()}

    def update(self) -> None:
        """Compute from the controls as they stand and show the result."""
        with torch.device("cpu"), style.drawing():
            result = self.compute(**self.settings)
            sentence = self.sentence(result)
            self._showing = True
            try:
                self.show(result)
                self._end_sliders(result)
            finally:
                self._showing = False
        self.say(sentence)
        self.result = result

    def say(self, sentence: str) -> None:
        """Tell what is to be seen: as the caption, and as the alternative text of the views it describes."""
        self.caption.value = sentence
        for view in self.described():
            view.alt = self.caption.value

    @locked
    def set(self, **settings) -> None:
        """Move several controls at once and compute once."""
        self._waiting = True
        try:
            for name, value in settings.items():
                if name in self._ends:  # where it ends is known only when all is computed
                    self.controls[name].max = max(self.controls[name].max, value)
                self.controls[name].value = value
        finally:
            self._waiting = False
        self._react()

    def reset(self) -> None:
        """Put every control back to where it began."""
        self.set(**self._initial)

    def follow_clicks(self, matrix: MatrixView, name: str) -> None:
        """Let a click on a row of `matrix` move the control `name`, which counts the rows from 1."""

        def follow(change):
            # A row that `show` itself selects is no click: a text too short for the control leaves it be.
            if change.new >= 0 and not self._showing:
                self.controls[name].value = change.new + 1

        matrix.observe(self.guarded(follow), "selected")

    def follow_length(self, name: str, last: Callable[[Any], int]) -> None:
        """Let the slider `name` end at `last(result)`, now and whenever the result changes.

        A value that is then beyond the end becomes the end, without computing anew: `compute` has to take
        larger values for the last one.
        """
        self._ends[name] = last
        self._showing = True
        try:
            self._end_sliders(self.result)
        finally:
            self._showing = False

    def _end_sliders(self, result: Any) -> None:
        for name, last in self._ends.items():
            control = self.controls[name]
            with control.hold_sync():  # its value and its end in one message
                control.max = max(control.min, last(result))

    def guarded(self, action: Callable) -> Callable:
        """A callback around `action` whose errors appear in the message area, not in a log.

        What it told is taken back when it succeeds; what others told stays.
        """

        @locked
        def callback(*event):
            try:
                action(*event)
            except Exception as error:
                self.tell(error, action)
            else:
                if self._cause == action:
                    self.settle()

        return callback

    def tell(self, error: Exception, cause: Any = None) -> None:
        """Say in the message area what went wrong, until `cause` is put right."""
        self.error, self._cause = error, cause
        self.message.value = in_words(error)

    def settle(self) -> None:
        """Take the message back: what it speaks of was put right, or begins anew."""
        if self._cause in self.controls.values():
            self._write_readout(self._cause)  # in place of the text that waited there
        self.error = self._cause = None
        self.message.value = ""

    def still(self) -> Image.Image:
        """The still twin: the views as they stand, on light paper."""
        return stacked([[view.still() for view in row] for row in self.rows])

    def close(self) -> None:
        """Let go of the widgets and their callbacks."""
        for control in self.controls.values():
            control.unobserve_all()
        close_widgets(self.widget)

    @locked
    def _react(self, change=None) -> None:
        # The front end keeps at most one message under way and folds later moves of a control into the next,
        # so a drag never queues: computing at once, in the handler, is what lets the last position win.
        if not self._waiting and not self._showing:
            self.guarded(self._follow_controls)(change)

    def _follow_controls(self, change) -> None:
        self.update()
        # A text that waits beside another slider still waits.
        others = [one for one in self.controls.values() if change and one is not change.owner]
        if self._cause not in others:
            self.settle()

    def _take_typed(self, child: int, text: str) -> None:
        """Set the slider at that place in the row of controls to what was typed beside it."""
        control = [*self.controls.values()][child]
        try:
            take_typed(control, text)
        except ReaderMistake as mistake:
            self.tell(mistake, control)
            return
        if self._cause is control:
            self.settle()
        else:
            self._write_readout(control)

    def _write_readout(self, control: widgets.Widget) -> None:
        self.form.answer([*self.controls.values()].index(control), readout(control))

    def _lay_out(self, buttons) -> widgets.Widget:
        reset = widgets.Button(description=_("Reset"), icon="undo", layout=widgets.Layout(width="auto"))
        reset.on_click(self.guarded(lambda _button: self.reset()))
        wrap = widgets.Layout(flex_flow="row wrap", align_items="center", grid_gap="2px 18px")
        controls = widgets.HBox([*self.controls.values(), *buttons, reset, self.form], layout=wrap)
        gap = widgets.Layout(flex_flow="row wrap", align_items="flex-start", grid_gap="8px 20px")
        for row in self.rows:
            _share_width(row)
        views = [widgets.HBox(row, layout=gap) for row in self.rows]
        root = widgets.VBox([controls, lifeline(), self.message, *views, self.caption])
        root.add_class("tokenwerk-explorer")
        return root

    @locked
    def _repr_mimebundle_(self, **_kwargs) -> tuple[dict, dict]:
        return with_still(view_of(self.widget), self.still(), self.caption.value)


def _share_width(row: list) -> None:
    """Let matrices that stand in one row share its width, as long as each has room enough."""
    for view in row if len(row) > 1 else ():
        if isinstance(view, MatrixView) and view.layout.width is None:
            view.layout.flex = "1 1 330px" if len(row) < 3 else "1 1 270px"  # three fit beside a side bar
