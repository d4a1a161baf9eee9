"""The reader's function, run so that a check can judge it: an answer, or words on why there is none."""

import ctypes
import dis
import inspect
import random
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from copy import deepcopy
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np
import torch

from ..language import _
from .feedback import Feedback, not_attempted, right, wrong

SECONDS = 5.0  # what a function of an exercise may take; the right ones need a few thousandths
AGAIN = 0.005  # until a loop that swallows every exception is stopped once more


class Reader:
    """The reader's function in the hands of a check; each call returns its answer, or a Feedback.

    Each call hands over copies of the arguments; a function that changes a tensor it was given is told so.
    `borrowed`, names with functions, is what would do the whole work: `right` refuses an answer that has
    called one.
    """

    def __init__(self, function: Callable | None, borrowed: Mapping[str, Callable] | None = None):
        self._function: Any = function  # a reader may hand in whatever there is
        self._lookout = _Lookout(borrowed or {})

    def __call__(self, *arguments) -> Any:
        """What the function makes of the arguments; a Feedback if nothing can be judged."""
        unfit = self._unfit(*arguments)
        return unfit if unfit else self.run(*arguments).judged()

    @property
    def names(self) -> tuple[str, ...]:
        """What the function's own code asks for by name: functions, and methods such as softmax."""
        return getattr(getattr(self._function, "__code__", None), "co_names", ())

    def run(self, *arguments) -> "Run":
        """One call of the function and all that came of it."""
        given = deepcopy(arguments)
        answer, error = None, None
        ear = _Ear(sys.stdout)
        try:
            with _traceless(), _without_exit(self._function), redirect_stdout(ear), self._lookout:
                answer = _within(SECONDS, self._function, given)
        except BaseException as whatever:  # an exit and a stop too: it came out of the reader's code
            error = whatever
        changed = [i for i, (old, new) in enumerate(zip(arguments, given)) if _differs(old, new)]
        return Run(self._function, answer, error, ear.heard, changed)

    def right(self, text: str) -> Feedback:
        """Feedback for a right answer that the reader's own code has found."""
        if self._lookout.seen is None:
            return right(text)
        text = _("The result is right, but {name} did the work. Here you are to write it yourself.")
        return wrong(text.format(name=self._lookout.seen))

    def _unfit(self, *arguments) -> Feedback | None:
        """Feedback if there is no function, or one that cannot be called with the arguments."""
        if self._function is None or self._function is ...:
            return not_attempted()
        if not callable(self._function):
            return wrong(_("Hand the check the function itself: its name, without brackets after it."))
        try:
            signature = inspect.signature(self._function)
        except ValueError:  # some built-in functions do not tell
            return None
        try:
            signature.bind(*arguments)
        except TypeError:
            text = _("Your function takes {parameters}. Leave its first line as the exercise has it.")
            return wrong(text.format(parameters=signature))
        return None


@dataclass(frozen=True)
class Run:
    """What came of one call of the reader's function."""

    function: Callable
    answer: Any
    error: BaseException | None
    printed: bool
    changed: list[int]  # which arguments are not what they were

    def judged(self) -> Any:
        """The answer; a Feedback if there is none, or if the function changed what it was given."""
        if isinstance(self.error, NotImplementedError):
            return not_attempted()
        if self.error is not None:
            return wrong(stopped(self.function, self.error))
        if self.answer is None or self.answer is ...:
            return self._nothing()
        if self.changed:
            text = _(
                "Your function changes {name} itself (+=, a name with _ at its end, or x[...] = does that). "
                "Whoever still needs {name} now has a wrong one; make a new tensor."
            )
            return wrong(text.format(name=_parameter(self.function, self.changed[0])))
        return self.answer

    def _nothing(self) -> Feedback:
        if self.printed:
            return wrong(
                _(
                    "Nothing came back. print only shows a value on the page; return hands it to "
                    "whoever called the function."
                )
            )
        if self.answer is None and not _is_bare(self.function):
            return wrong(_("Nothing came back. Is there a return, and does your function always reach it?"))
        return not_attempted()


# --- what the function may not do to the page ----------------------------------------------------------


class _Ear:
    """A way to standard output that notices whether the thread it was made in writes."""

    def __init__(self, out):
        self.heard, self._out, self._thread = False, out, threading.get_ident()

    def write(self, text: str) -> int:
        self.heard = self.heard or threading.get_ident() == self._thread
        return self._out.write(text)

    def __getattr__(self, name: str):
        return getattr(self._out, name)


class _Lookout:
    """Notices, as a context, when this thread calls one of the functions; `seen` is the name of the first.

    Nothing is replaced: Python reports the calls of one thread to its profile function, so that other threads
    do not notice, and a function is known under every name that it was imported by.
    """

    def __init__(self, functions: Mapping[str, Callable]):
        self.seen: str | None = None
        self._names = {getattr(function, "__code__", function): name for name, function in functions.items()}

    def __enter__(self):
        self._before = sys.getprofile()
        if self._names:
            sys.setprofile(self._notice)

    def __exit__(self, *_error):
        sys.setprofile(self._before)

    def _notice(self, frame, event: str, argument) -> None:
        called = {"call": frame.f_code, "c_call": argument}.get(event)
        if called in self._names:
            self.seen = self.seen or self._names[called]


@contextmanager
def _traceless() -> Iterator[None]:
    """Random numbers and settings of torch as they were, whatever is done in between."""
    dtype, gradients = torch.get_default_dtype(), torch.is_grad_enabled()
    of_python, of_numpy = random.getstate(), np.random.get_state()
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        random.setstate(of_python)
        np.random.set_state(of_numpy)
        torch.set_default_dtype(dtype)
        torch.set_grad_enabled(gradients)


@contextmanager
def _without_exit(function: Callable) -> Iterator[None]:
    """`exit` and `quit` raise SystemExit, as in Python; IPython's own would end the kernel after the cell."""
    names = getattr(function, "__globals__", {})
    own = {name: names[name] for name in ("exit", "quit") if "IPython" in type(names.get(name)).__module__}
    names.update(dict.fromkeys(own, sys.exit))
    try:
        yield
    finally:
        names.update(own)


class TimeUp(BaseException):
    """The function took too long. Not an Exception, so that the reader's `except Exception` lets it pass."""


def _within(seconds: float, function: Callable, arguments: tuple) -> Any:
    """What the function returns; TimeUp if that takes longer. Works in every thread and on every system."""
    watch = _Watch()
    try:
        try:
            watch.start(seconds)
            return function(*arguments)
        finally:
            watch.end()
    except TimeUp:
        watch.end()  # it may have struck just before the first end
        raise


class _Watch:
    """Raises TimeUp in the thread that made it, from the given seconds on until the end."""

    def __init__(self):
        self._watched, self._over = threading.get_ident(), threading.Event()

    def start(self, seconds: float) -> None:
        """Begin to count."""
        self._thread = threading.Thread(target=self._keep, args=(seconds,), daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Nothing is raised from here on."""
        while True:
            try:
                self._over.set()
                self._thread.join()
                for _moment in range(2):  # what was raised but has not arrived arrives where a loop turns
                    pass
                return
            except TimeUp:
                continue

    def _keep(self, seconds: float) -> None:
        while not self._over.wait(seconds):
            thread, kind = ctypes.c_ulong(self._watched), ctypes.py_object(TimeUp)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, kind)
            seconds = AGAIN


def _differs(before: Any, after: Any) -> bool:
    return isinstance(before, torch.Tensor) and not torch.equal(before, after)


# --- what is said of it --------------------------------------------------------------------------------


def stopped(function: Callable, error: BaseException) -> str:
    """One sentence on what ended the reader's function, with the line of it."""
    if isinstance(error, KeyboardInterrupt):
        return _("You stopped it before your function was done.")
    if isinstance(error, SystemExit):
        return _("Your function ends the whole program (exit or quit). A function ends with return.")
    if isinstance(error, TimeUp):
        text = _(
            "Your function was not done after {seconds} seconds and has been stopped. Is there a loop in it "
            "that never ends?"
        )
        return text.format(seconds=f"{SECONDS:g}")
    line = _line(function, error.__traceback__)
    if line is None:
        return _("Your function stops: {why}.").format(why=why(error))
    return _("Your function stops, in line {line}: {why}.").format(line=line, why=why(error))


def why(error: BaseException) -> str:
    """What the exception says, in words a beginner can act on; no full stop at the end."""
    kind, said = type(error).__name__, str(error).split("\n")[0].rstrip(".")
    full = f"{kind}: {said}" if said else kind
    if isinstance(error, UnboundLocalError):
        text = _("“{name}” is read before it has a value (UnboundLocalError)")
        return text.format(name=said.split("'")[1])  # the exception itself has no field for the name
    name = getattr(error, "name", None)
    if isinstance(error, NameError) and name:
        text = _(
            "there is no “{name}” (NameError); perhaps it is misspelt, or comes from a cell that has not run"
        )
        return text.format(name=name)
    if isinstance(error, AttributeError) and name:
        text = _("{owner} has no “{name}” (AttributeError)")
        return text.format(owner=_owner(error.obj), name=name)
    for kinds, pattern, text in _readings():
        if isinstance(error, kinds) and re.search(pattern, said):
            return f"{text} ({full})"
    return full


def _readings() -> list[tuple[type | tuple, str, str]]:
    """Kinds of exceptions, what they say, and what that means."""
    return [
        (
            (RuntimeError, ValueError),
            "size of tensor|cannot be multiplied|sizes? .*match|match.* size|broadcast|inconsistent tensor "
            "size|batch_size|invalid for input of size|Expected size|same size",
            _("the shapes do not fit each other"),
        ),
        (RuntimeError, "dtype|scalar type", _("the tensors hold different kinds of numbers")),
        (IndexError, "Dimension out of range", _("there is no such axis")),
        (IndexError, "", _("an index lies beyond the end")),
        (KeyError, "", _("there is no such entry")),
        (ZeroDivisionError, "", _("division by zero")),
        (RecursionError, "", _("it calls itself without end")),
        (TypeError, "", _("a value is of a kind that this cannot be done with")),
    ]


def _owner(thing: Any) -> str:
    return thing.__name__ if inspect.ismodule(thing) or inspect.isclass(thing) else type(thing).__name__


def _line(function: Callable, traceback: TracebackType | None) -> int | None:
    """The last line that ran in the file, or cell, in which the reader's function stands."""
    code, line = getattr(function, "__code__", None), None
    while traceback and code:
        if traceback.tb_frame.f_code.co_filename == code.co_filename:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line


def _parameter(function: Callable, index: int) -> str:
    """What the reader's function calls its argument."""
    names = list(inspect.signature(function).parameters)
    return names[min(index, len(names) - 1)]


def _is_bare(function: Callable) -> bool:
    """Whether the body does nothing at all: `...`, `pass`, `return None`."""
    nothing = {"RESUME", "NOP", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST", "COPY_FREE_VARS", "MAKE_CELL"}
    code = getattr(function, "__code__", None)
    return code is not None and {step.opname for step in dis.get_instructions(code)} <= nothing


# --- what kind of thing an answer is -------------------------------------------------------------------


def tensor(answer: Any, shape: tuple[int, ...], wanted: str) -> torch.Tensor | Feedback:
    """The answer, cut off from gradients, if it is a tensor of this shape; else a Feedback.

    A Feedback passes through; `wanted` is the sentence that says what is wanted.
    """
    if isinstance(answer, Feedback):
        return answer
    if isinstance(answer, torch.Tensor) and answer.shape == shape and not answer.is_complex():
        return answer.detach()
    if isinstance(answer, np.ndarray):
        return wrong(_("Your function returns a NumPy array, not a tensor. Stay with the tools of torch."))
    return wrong(f"{wanted} {_came_back(answer)}")


def number(answer: Any, wanted: str) -> int | float | Feedback:
    """The answer as a plain number if it is one, in a tensor or array without axes too; else a Feedback.

    A Feedback passes through; `wanted` is the sentence that says what is wanted.
    """
    if isinstance(answer, Feedback):
        return answer
    if isinstance(answer, torch.Tensor | np.ndarray | np.generic) and answer.ndim == 0:
        answer = answer.item()
    if isinstance(answer, int | float) and not isinstance(answer, bool):
        return answer
    return wrong(f"{wanted} {_came_back(answer)}")


def numbers(reader: Reader, examples: Iterable[tuple], wanted: str) -> list[int | float] | Feedback:
    """The answers to several examples, each a plain number; the first Feedback if one is none."""
    answers = []
    for arguments in examples:
        answer = number(reader(*arguments), wanted)
        if isinstance(answer, Feedback):
            return answer
        answers.append(answer)
    return answers


def _came_back(answer: Any) -> str:
    """A sentence on the kind of thing that the function returned."""
    if isinstance(answer, torch.Tensor):
        if answer.is_complex():
            return _("Your function returns complex numbers.")
        if answer.dim() == 0:
            return _("Your function returns a tensor without axes, a single number.")
        return _("Your function returns a tensor of shape {shape}.").format(shape=tuple(answer.shape))
    if isinstance(answer, tuple):
        text = _("Your function returns a tuple of {count} parts; is there a comma too many after return?")
        return text.format(count=len(answer))
    if isinstance(answer, bool | np.bool_):
        return _("Your function returns True or False.")
    if isinstance(answer, int | float | np.number):
        return _("Your function returns a single number.")
    names = {str: _("a text"), list: _("a list"), np.ndarray: _("a NumPy array")}
    name = names.get(type(answer), type(answer).__name__)
    return _("Your function returns {kind}.").format(kind=name)


def agreeing(answer: torch.Tensor, candidates: torch.Tensor) -> torch.Tensor:
    """With which candidates (N, ...) the answer agrees, as far as its precision allows: (N,), boolean."""
    rounding = 4 * torch.finfo(answer.dtype).eps if answer.is_floating_point() else 0.0
    tolerance = max(1e-5, rounding)
    same = torch.isclose(answer.float(), candidates.float(), rtol=tolerance, atol=tolerance)
    return same.reshape(len(candidates), -1).all(dim=1)


def close(answer: torch.Tensor, expected: torch.Tensor) -> bool:
    """Whether the answer agrees with what is expected; the shapes are equal."""
    return bool(agreeing(answer, expected[None]))
