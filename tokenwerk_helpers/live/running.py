"""Long work in a notebook that leaves the page usable: one slice at a time, with a Stop that works."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

from .lock import locked

END = object()


class Runner:
    """Works through an iterator in slices on the event loop of the thread that starts it.

    Between two slices the kernel handles messages, so sliders answer and Stop is heard. `on_step` gets every
    item, `on_end` is called once when the work has ended or was stopped (not when other work takes over);
    `on_error` gets an exception of either or of the work.

    A slice, with the `on_step` that shows it, is one turn, and so is each start, stop and end: whatever
    another thread does to the work or its views comes before or after a slice, never within.
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

    @locked
    def start(self, work: Iterator[Any]) -> None:
        """Begin (or go on with) `work`; work already under way is stopped first.

        RuntimeError, and nothing has changed, in a thread without a running event loop.
        """
        loop = asyncio.get_running_loop()
        self._run = loop.create_task(self._slices(iter(work)))

    @locked
    def stop(self) -> None:
        """End after the slice under way; the iterator keeps its place and can be started again."""
        # Ended here and not by the run: the loop it waits on may have gone, with the page that started it.
        if self._run is not None:
            self._end()

    async def _slices(self, work: Iterator[Any]) -> None:
        run = asyncio.current_task()
        assert run is not None  # whatever awaits is a task's
        while self._slice(run, work):
            await asyncio.sleep(0.001)  # long enough for the loop to look at its sockets

    @locked
    def _slice(self, run: asyncio.Task, work: Iterator[Any]) -> bool:
        """Do one slice of `run`, if it is still the one; is there more to do?"""
        if self._run is not run:
            return False
        goes_on = False
        try:
            item = next(work, END)
            if item is not END:
                self.on_step(item)
                goes_on = True
        except Exception as error:
            self._tell(error)
        finally:  # also when the kernel was interrupted
            if not goes_on and self._run is run:
                self._end()
        return goes_on

    def _end(self) -> None:
        self._run = None
        try:
            self.on_end()
        except Exception as error:
            self._tell(error)

    def _tell(self, error: Exception) -> None:
        if self.on_error is None:
            raise error
        self.on_error(error)
