"""Long work in a notebook that leaves the page usable: one slice at a time, with a Stop that works."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any


class Runner:
    """Works through an iterator in slices on the kernel's own event loop.

    Between two slices the kernel handles messages, so sliders answer and Stop is heard. `on_step` gets every
    item, `on_end` is called once when the work has ended or was stopped; `on_error` gets an exception.
    """

    def __init__(
        self,
        on_step: Callable[[Any], None],
        on_end: Callable[[], None] = lambda: None,
        on_error: Callable[[Exception], None] | None = None,
    ):
        self.on_step, self.on_end, self.on_error = on_step, on_end, on_error
        self._task: asyncio.Task | None = None

    @property
    def running(self) -> bool:
        """Is work under way?"""
        return self._task is not None and not self._task.done()

    def start(self, work: Iterator[Any]) -> None:
        """Begin (or go on with) `work`; work already under way is stopped first."""
        self.stop()
        self._task = asyncio.get_running_loop().create_task(self._run(work))

    def stop(self) -> None:
        """End after the slice under way; the iterator keeps its place and can be started again."""
        if self.running:
            self._task.cancel()
        self._task = None

    async def _run(self, work: Iterator[Any]) -> None:
        try:
            for item in work:
                self.on_step(item)
                await asyncio.sleep(0.001)  # long enough for the loop to look at its sockets
        except Exception as error:
            if self.on_error is None:
                raise
            self.on_error(error)
        finally:
            self.on_end()
