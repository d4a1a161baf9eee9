"""The pages of the book, one folder each: `from tokenwerk_helpers.chapters import residual as page`."""

from .book import you_are_here
