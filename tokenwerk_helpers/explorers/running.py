"""Long work in a notebook that leaves the page usable: one slice at a time, with a Stop that works."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

from ..views.turns import TURN

END = object()


class Runner:
    """Works through an iterator in slices on the kernel's own event loop.

    Between two slices the kernel handles messages, so sliders answer and Stop is heard. `on_step` gets every
    item, `on_end` is called once when the work has ended or was stopped (not when other work takes over);
    `on_error` gets an exception of either or of the work.
    """

    def __init__(
        self,
        on_step: Callable[[Any], None],
        on_end: Callable[[], None] = lambda: None,
        on_error: Callable[[Exception], None] | None = None,
    ):
        self.on_step, self.on_end, self.on_error = on_step, on_end, on_error
        self._run: asyncio.Task | None = None  # under way; a run that is no longer this one ends by itself

    @property
    def running(self) -> bool:
        """Is work under way?"""
        return self._run is not None

    def start(self, work: Iterator[Any]) -> None:
        """Begin (or go on with) `work`; work already under way is stopped first."""
        loop = asyncio.get_running_loop()
        self._run = loop.create_task(self._slices(iter(work)))

    def stop(self) -> None:
        """End after the slice under way; the iterator keeps its place and can be started again."""
        self._run = None

    async def _slices(self, work: Iterator[Any]) -> None:
        run = asyncio.current_task()
        try:
            while self._run is run and (item := next(work, END)) is not END:
                with TURN:
                    self.on_step(item)
                await asyncio.sleep(0.001)  # long enough for the loop to look at its sockets
        except Exception as error:
            self._tell(error)
        if self._run not in (run, None):
            return  # other work has taken over
        self._run = None
        try:
            with TURN:
                self.on_end()
        except Exception as error:
            self._tell(error)

    def _tell(self, error: Exception) -> None:
        if self.on_error is None:
            raise error
        self.on_error(error)
