"""LongWork: an explorer with a Train and a Stop button, for work that takes more than one move."""

from collections.abc import Iterator
from typing import Any

import ipywidgets as widgets

from ..language import _
from .controls import button
from .explorer import Explorer
from .running import Runner


class LongWork(Explorer):
    """An explorer whose Train button begins work of the reader's own; the page stays usable, Stop ends it.

    A subclass says what the work is, what each item of it does, and what is to be forgotten of earlier work.
    """

    def __init__(self, controls: dict[str, widgets.Widget], rows: list[list[Any]]):
        self.runner = Runner(self.follow, self._ended, self.tell)
        self.start, self.stop = button(_("Train"), "play"), button(_("Stop"), "stop")
        self.stop.disabled = True
        self.forget()
        super().__init__(controls, rows, [self.start, self.stop])
        self.start.on_click(self.guarded(lambda _button: self.train()))
        self.stop.on_click(self.guarded(lambda _button: self.runner.stop()))

    # ---- what a subclass says ----

    def work(self) -> Iterator[Any]:
        """The work, as an iterator of slices."""
        raise NotImplementedError

    def follow(self, item: Any) -> None:
        """Show what a slice has brought."""
        raise NotImplementedError

    def forget(self) -> None:
        """Put away what earlier work has brought."""
        raise NotImplementedError

    # ---- what all share ----

    def train(self) -> None:
        """Begin the work anew; where that is refused, all stays as it is."""
        self.runner.start(self.work())
        self.forget()
        self.settle()
        self.start.disabled, self.stop.disabled = True, False

    def end(self) -> None:
        """Stop the work and put away what it has brought."""
        self.runner.stop()
        self.forget()

    def _ended(self) -> None:
        self.start.disabled, self.stop.disabled = False, True

    def close(self) -> None:
        """End the work and let go of the widgets."""
        self.runner.stop()
        super().close()
