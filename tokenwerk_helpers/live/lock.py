"""One at a time: a kernel may handle what the page sends in a thread of its own while a cell still runs.

JupyterLab sends the messages of widgets to a subshell of the kernel. What a slider moves and what a cell
draws would then change the same arrays and figures at once, and matplotlib draws in one thread only.
"""

import threading
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

LOCK = threading.RLock()
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def locked(method: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """A function that waits until no other thread is at work on the views."""

    @wraps(method)
    def waiting(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        with LOCK:
            return method(*args, **kwargs)

    return waiting
