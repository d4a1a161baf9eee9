"""Helpers of the Tokenwerk companion: a decoder to take apart, and live views of its numbers.

The way of the data is the way of the book: text -> ids -> embeddings -> blocks -> logits -> probabilities
-> next id -> text. Importing this package alone is cheap: torch, matplotlib and the widgets come with the
modules that use them.
"""

from .language import set_language
from .source import show_source

__all__ = ["set_language", "show_source"]
