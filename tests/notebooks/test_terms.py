"""No page uses a term before it is introduced, and whoever meets a tool for the first time is shown the way."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import nbformat

from tokenwerk_helpers.chapters.book import CHAPTERS
from tokenwerk_helpers.chapters.terms import TERMS, TOOLS

NOTEBOOKS = Path(__file__).parents[2] / "notebooks" / "de"
PAGES = list(CHAPTERS)
FIRST = "00_start"  # it says what is to come
TOOLBOX = "00_toolbox"
HOME = {term: page for page, found in TERMS.items() for term in found}
USES = {term: pattern for found in TERMS.values() for term, pattern in found.items()}
UNREAD = re.compile(r"\$\$.*?\$\$|\$[^$]*\$|<!--.*?-->|```.*?```", re.DOTALL)


class Passage(NamedTuple):
    """What is read in one go, a paragraph or what a cell has shown, and the pages of the book it links to."""

    text: str
    links: set[str]


def cells(page: str) -> list:
    return nbformat.read(NOTEBOOKS / f"{page}.ipynb", 4).cells


def passages(page: str) -> Iterator[Passage]:
    """Yield what a reader reads of a page, from top to bottom, without code, formulas and the way to other pages.

    The head of a page, which says what is to come and names its tools, is read in one go.
    """
    for at, cell in enumerate(cells(page)):
        if cell.cell_type == "markdown":
            prose = re.sub(r"^(\[← |Weiter: ).*", "", UNREAD.sub(" ", cell.source), flags=re.MULTILINE)
            yield from map(read, re.split(r"\n\s*\n", prose) if at else [prose])
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "text/plain" in data and "text/markdown" not in data:  # a source text is code
                yield Passage(data["text/plain"], set())


def read(paragraph: str) -> Passage:
    """A paragraph of Markdown as its reader sees it."""
    return Passage(re.sub(r"\]\([^)]*\)", "]", paragraph), set(re.findall(r"\]\(([^)\s]+)\)", paragraph)))


def uses(term: str, text: str) -> bool:
    return bool(re.search(rf"(?<![\w-])(?:{USES[term]})", text))


def used_too_early(page: str, home: dict[str, str], read: list[Passage]) -> list[str]:
    """The terms of later pages that are used in what is read of this one, where the first use has no link there."""
    early = []
    for term in [term for term in home if PAGES.index(home[term]) > PAGES.index(page)]:
        first = next((passage for passage in read if uses(term, passage.text)), None)
        if first and f"{home[term]}.ipynb" not in {link.partition("#")[0] for link in first.links}:
            early.append(f"{page}: {term!r}, of {home[term]}, in {first.text[:60]!r}")
    return early


def test_no_page_uses_a_term_before_it_is_introduced_unless_it_links_there():
    assert [early for page in PAGES if page != FIRST for early in used_too_early(page, HOME, [*passages(page)])] == []


def test_a_term_used_too_early_is_found():
    home = {"Entropie": "10_sampling"}
    bare, linked = Passage("Die Entropie ist 0.", set()), Passage("Zur Entropie siehe", {"10_sampling.ipynb"})
    assert used_too_early("04_self_attention", home, [bare]) != []
    assert used_too_early("04_self_attention", home, [linked, bare]) == []
    assert used_too_early("11_training", home, [bare]) == []


def pointed_out(page: str) -> list[str]:
    """What a page sets apart: headings, words in italics, what stands in a table before a colon."""
    lines = "\n".join(cell.source for cell in cells(page) if cell.cell_type == "markdown").splitlines()
    headings = [line for line in lines if line.startswith("#")]
    in_tables = [cell.partition(":")[0] for line in lines if line.startswith("|") for cell in line.split("|")]
    return [*headings, *in_tables, *re.findall(r"\*+([^*\n]+)\*+", "\n".join(lines))]


def test_a_page_points_out_the_terms_that_it_introduces():
    missing = [
        f"{page}: {term}"
        for page, found in TERMS.items()
        for term in found
        if not any(uses(term, text) for text in pointed_out(page))
    ]
    assert missing == []


# ---- the toolbox ----


def anchors() -> list[str]:
    """The headings of the toolbox as a link names them."""
    return [
        line.removeprefix("## ").replace(" ", "-")
        for cell in cells(TOOLBOX)
        if cell.cell_type == "markdown"
        for line in cell.source.splitlines()
        if line.startswith("## ")
    ]


def test_every_link_into_the_toolbox_leads_to_one_of_its_headings():
    links = {link for page in PAGES for passage in passages(page) for link in passage.links}
    led = {anchor for link in links for file, _, anchor in [link.partition("#")] if file == f"{TOOLBOX}.ipynb"} - {""}
    assert led and led <= {*anchors()} and {*TOOLS.values()} <= {*anchors()}


def test_the_toolbox_lists_its_tools_at_its_head():
    """A link from another page that opens the toolbox may well end there."""
    assert re.findall(r"\]\(#([^)]+)\)", cells(TOOLBOX)[0].source) == anchors()[:-1] and anchors()[-1] == "Zum-Merken"


def test_a_page_links_to_each_tool_no_later_than_where_it_first_uses_it():
    missing = []
    for page in PAGES[PAGES.index(TOOLBOX) + 1 :]:
        read = [*passages(page)]
        for term, tool in TOOLS.items():
            first = next((at for at, passage in enumerate(read) if uses(term, passage.text)), None)
            linked = {link for passage in read[: (first or 0) + 1] for link in passage.links}
            if first is not None and f"{TOOLBOX}.ipynb#{tool}" not in linked:
                missing.append(f"{page}: {term!r} without a link to {tool}")
    assert missing == []
