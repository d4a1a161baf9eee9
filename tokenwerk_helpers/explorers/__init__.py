"""Live views with controls, one module a notebook: `from tokenwerk_helpers.explorers import residual`."""

from .base import Explorer, ReaderMistake
from .book import you_are_here
from .guess import Guess

__all__ = ["Explorer", "Guess", "ReaderMistake", "you_are_here"]
