"""What a view brings to the page: its script and its style, as text."""

from functools import cache
from pathlib import Path


@cache
def asset(name: str) -> str:
    """The text of a file beside this one.

    Given a path, anywidget would watch the file for changes, and its watch keeps every view alive for ever.
    """
    return (Path(__file__).parent / name).read_text("utf-8")
