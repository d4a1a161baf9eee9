"""Estimate the minutes of a page: python -m tokenwerk_helpers.tools.minutes notebooks/04_self_attention.ipynb

An estimate from what a reader does there, for the map in 00; whoever lingers takes longer.
"""

import argparse
import re
import sys
from pathlib import Path

import nbformat

WORDS_A_MINUTE = 150  # slower than a novel: there are formulas and tables among them
QUESTION, VIEW, EXERCISE, CELL = 1, 2, 4, 0.5  # minutes each
ROUNDED_TO = 5


def minutes(page: Path) -> float:
    """The estimate for a notebook: its words, questions, live views, exercises and other code cells."""
    cells = nbformat.read(page, as_version=4).cells
    prose = " ".join(cell.source for cell in cells if cell.cell_type == "markdown")
    words = re.findall(r"\w+", re.sub(r"\]\([^)]*\)|<!--.*?-->", " ", prose))
    code = [cell.source for cell in cells if cell.cell_type == "code"][1:]  # the first one is the head
    return len(words) / WORDS_A_MINUTE + sum(map(minutes_of_cell, code))


def minutes_of_cell(source: str) -> float:
    """What a reader spends on a code cell and what it shows."""
    if "guess_" in source:
        return QUESTION
    if ".check_" in source:
        return EXERCISE
    shows_view = re.match(r"\w+\.[A-Z]\w+\(", source.strip().splitlines()[-1])
    return VIEW if shows_view else CELL


def rounded(page: Path) -> int:
    """The minutes as the map gives them, in steps of five."""
    return max(ROUNDED_TO, ROUNDED_TO * round(minutes(page) / ROUNDED_TO))


def main(arguments: list[str] | None = None) -> int:
    """Print the minutes of each page."""
    parser = argparse.ArgumentParser(
        prog="python -m tokenwerk_helpers.tools.minutes", description=__doc__.splitlines()[0]
    )
    parser.add_argument("pages", nargs="+", type=Path, help="notebooks")
    for page in parser.parse_args(arguments).pages:
        print(f"{page.stem}: {rounded(page)} ({minutes(page):.1f})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
