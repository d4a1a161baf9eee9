"""Make the other editions from the German pages and their catalogues.

    python -m tokenwerk_helpers.tools.editions update    bring the catalogues in step with the German pages
    python -m tokenwerk_helpers.tools.editions make      write the pages of the other editions
    python -m tokenwerk_helpers.tools.editions missing   list what has no translation yet, or an outdated one

The German Markdown is the source. It is cut into blocks: a paragraph, a heading, a list, a table each. A
block is a message of `locale/<language>/LC_MESSAGES/pages.po`, as Poedit, Weblate or Lokalize edit it. A
block that changes makes its translation fuzzy, which counts as missing until somebody has looked at it.
"""

import argparse
import copy
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import nbformat
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po
from markdown_it import MarkdownIt
from nbformat import NotebookNode

from ..language import LANGUAGES
from .messages import LOCALE

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
SOURCE, *OTHERS = LANGUAGES
UNDATED = datetime(2026, 12, 1, tzinfo=UTC)
MARKDOWN = MarkdownIt("commonmark").enable("table")
# Blocks in which there is nothing to translate: a formula of its own, a comment, code.
WORDLESS = re.compile(r"\A\s*(\$\$(?!.*\\text).*\$\$|<!--.*-->|```.*```)\s*\Z", re.DOTALL)


# ---- cutting and joining ----


class Part(NamedTuple):
    """A piece of Markdown: a block with words in it, or what stands between such blocks."""

    text: str
    is_block: bool


def parts(markdown: str) -> list[Part]:
    """Cut Markdown into its blocks and what stands between them; joined again, they are the Markdown."""
    lines = markdown.splitlines(keepends=True)
    ends = [0]
    found: list[Part] = []
    for token in MARKDOWN.parse(markdown):
        if token.level or token.nesting < 0 or token.map is None:
            continue
        first, end = token.map
        text = "".join(lines[first:end])
        body = text.rstrip("\n")
        found.append(Part("".join(lines[ends[-1] : first]), False))
        found.append(Part(body, not WORDLESS.match(body)))
        found.append(Part(text[len(body) :], False))
        ends.append(end)
    found.append(Part("".join(lines[ends[-1] :]), False))
    return [part for part in found if part.text]


def blocks(markdown: str) -> list[str]:
    """The blocks of Markdown that have words in them."""
    return [part.text for part in parts(markdown) if part.is_block]


def translated(markdown: str, catalogue: Catalog) -> str:
    """The Markdown with every block that has a translation replaced by it."""
    return "".join(
        translation_of(part.text, catalogue) or part.text if part.is_block else part.text
        for part in parts(markdown)
    )


def translation_of(block: str, catalogue: Catalog) -> str:
    """The translation of a block; empty if there is none, or an outdated one."""
    message = catalogue.get(block)
    return "" if message is None or message.fuzzy else str(message.string)


# ---- pages ----


def pages(language: str = SOURCE) -> list[Path]:
    """The notebooks of an edition, in the order of the book."""
    sources = sorted((NOTEBOOKS / SOURCE).glob("*.ipynb"))
    return [NOTEBOOKS / language / path.name for path in sources]


def blocks_of(notebook: NotebookNode) -> list[str]:
    """The blocks of a page, one after the other."""
    return [block for cell in notebook.cells if cell.cell_type == "markdown" for block in blocks(cell.source)]


def source_blocks() -> Iterator[tuple[str, str]]:
    """The name of each German page, and its blocks one after the other."""
    for path in pages():
        yield from ((path.stem, block) for block in blocks_of(nbformat.read(path, 4)))


def edition(notebook: NotebookNode, language: str, catalogue: Catalog) -> NotebookNode:
    """A German page as a page of another edition, without outputs."""
    made = copy.deepcopy(notebook)
    for cell in made.cells:
        if cell.cell_type == "markdown":
            cell.source = translated(cell.source, catalogue)
        else:
            cell.source = cell.source.replace(*(f'set_language("{one}")' for one in (SOURCE, language)))
            cell.outputs, cell.execution_count = [], None
    return made


def keep_outputs(made: NotebookNode, stored: NotebookNode) -> None:
    """Take over what the stored page shows, where its code is the same."""
    before = {cell.id: cell for cell in stored.cells if cell.cell_type == "code"}
    for cell in made.cells:
        if cell.cell_type == "code" and cell.id in before and before[cell.id].source == cell.source:
            cell.outputs, cell.execution_count = before[cell.id].outputs, before[cell.id].execution_count


def make(language: str) -> None:
    """Write the pages of an edition; what they show is stored by `refresh`."""
    catalogue = read(language)
    (NOTEBOOKS / language).mkdir(exist_ok=True)
    for source, target in zip(pages(), pages(language), strict=True):
        made = edition(nbformat.read(source, 4), language, catalogue)
        if target.exists():
            keep_outputs(made, nbformat.read(target, 4))
        nbformat.write(made, target)


# ---- catalogues ----


def po_path(language: str) -> Path:
    """Where the catalogue of the pages lies."""
    return LOCALE / language / "LC_MESSAGES" / "pages.po"


def read(language: str) -> Catalog:
    """The catalogue of the pages as stored; an empty one if there is none."""
    if not po_path(language).exists():
        return Catalog(locale=language, project="Tokenwerk companion", charset="utf-8")
    with po_path(language).open("rb") as file:
        return read_po(file, locale=language)


def template() -> Catalog:
    """Every block of the German pages, in their order, with the pages it stands on."""
    catalogue = Catalog(project="Tokenwerk companion", charset="utf-8", fuzzy=False)
    for page, block in source_blocks():
        known = catalogue.get(block)
        places = [] if known is None else known.locations
        if (page, None) not in places:
            catalogue.add(block, locations=[*places, (page, None)] if known is None else [(page, None)])
    return catalogue


def update(language: str) -> None:
    """Bring the catalogue in step with the German pages; what has changed becomes fuzzy."""
    catalogue = read(language)
    catalogue.update(template(), update_header_comment=False)
    catalogue.obsolete.clear()
    write(language, catalogue)


def write(language: str, catalogue: Catalog) -> None:
    """Store the catalogue; without dates, so that another day changes nothing."""
    catalogue.header_comment = f"# The pages of the Tokenwerk companion, {language}: one message a block."
    catalogue.creation_date = catalogue.revision_date = UNDATED
    po_path(language).parent.mkdir(parents=True, exist_ok=True)
    with po_path(language).open("wb") as file:
        write_po(file, catalogue, width=110)


def missing(language: str) -> list[tuple[str, str]]:
    """Page and block of what has no translation, or an outdated one."""
    catalogue = read(language)
    return [(page, block) for page, block in source_blocks() if not translation_of(block, catalogue)]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tokenwerk_helpers.tools.editions", description=__doc__.splitlines()[0]
    )
    parser.add_argument("command", choices=["update", "make", "missing"])
    command = parser.parse_args().command
    for language in OTHERS:
        if command == "update":
            update(language)
        elif command == "make":
            make(language)
        for page, block in missing(language):
            print(f"{language}, {page}: {block.splitlines()[0][:80]}")


if __name__ == "__main__":
    main()
