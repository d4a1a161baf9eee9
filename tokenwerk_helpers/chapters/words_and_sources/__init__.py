"""13_words_and_sources: what its notebook uses."""

from .views import glossary, meanings, works

__all__ = ["glossary", "meanings", "works"]
