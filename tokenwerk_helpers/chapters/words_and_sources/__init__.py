"""13_words_and_sources: what its notebook uses."""

from .views import glossary, meanings, works
