"""The exercises of all pages, and the ways to write each, which the tests of its page list."""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass

from tokenwerk_helpers import chapters
from tokenwerk_helpers.live.exercise import Exercise


@dataclass(frozen=True)
class Ways:
    """What a check has to accept and what it has to refuse, with its words."""

    right: list[Callable]
    wrong: list[tuple[Callable, str]]


def exercises() -> dict[str, Exercise]:
    """Every exercise that a page offers, by page and name."""
    found = {}
    for module in pkgutil.iter_modules(chapters.__path__):
        page = importlib.import_module(f"{chapters.__name__}.{module.name}")
        offered = {name: thing for name, thing in vars(page).items() if isinstance(thing, Exercise)}
        found |= {f"{module.name}.{name}": exercise for name, exercise in offered.items()}
    return found


def ways(exercise: str) -> Ways:
    """The right and wrong ways to write this exercise, such as `start.check_mean`."""
    page, name = exercise.split(".")
    return importlib.import_module(f"tests.chapters.test_{page}").WAYS[name]
