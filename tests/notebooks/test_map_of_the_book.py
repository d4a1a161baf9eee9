"""Whoever looks for a page finds it: from 00's map, from the README, and from the pages beside it."""

import re
from pathlib import Path

import nbformat

from tokenwerk_helpers.chapters.book import CHAPTERS

ROOT = Path(__file__).parents[2]
PAGES = list(CHAPTERS)


def markdown(page: str) -> list[str]:
    notebook = nbformat.read(ROOT / "notebooks" / "de" / f"{page}.ipynb", 4)
    return [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]


def test_the_map_in_00_and_the_readme_list_every_page_in_the_order_of_the_book():
    prose = "\n".join(markdown(PAGES[0]))
    assert re.findall(r"^\| \[\d\w+ · [^]]+\]\((\w+)\.ipynb\) \|", prose, re.MULTILINE) == PAGES[1:]
    readme = (ROOT / "README.md").read_text("utf-8")
    assert re.findall(r"^\| \[(\w+)\]\(notebooks/en/\1\.ipynb\) \|", readme, re.MULTILINE) == PAGES


def test_the_head_of_a_page_leads_to_the_pages_before_and_behind_it():
    missing = [
        f"{page} does not lead to {neighbour}"
        for at, page in enumerate(PAGES)
        for neighbour in PAGES[max(at - 1, 0) : at] + PAGES[at + 1 : at + 2]
        if f"]({neighbour}.ipynb)" not in markdown(page)[0]
    ]
    assert missing == []
