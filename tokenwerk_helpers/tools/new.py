"""Make a new page that passes at once, to be rewritten: python -m tokenwerk_helpers.tools.new 14_topic

It comes from the files in template/: a notebook and its translation, its room in chapters/, its test and the
German of its words. The book's list, the map in 00, the page before and the README learn of it, and it is
stored, in every edition, as `make refresh` stores it.
"""

import argparse
import re
import sys
from pathlib import Path
from string import Template

import nbformat
from babel.messages.pofile import read_po, write_po
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from ..chapters.book import CHAPTERS, number_of, title
from ..language import set_language
from . import editions, messages, minutes, refresh
from .refresh import NOTEBOOKS, canonical, unused_id, write

PACKAGE = Path(__file__).parents[1]
ROOT = PACKAGE.parent
TEMPLATE = Path(__file__).parent / "template"


class Form(Template):
    """A text with places to fill in: §topic. Formulas are full of dollar signs."""

    delimiter = "§"


def fields(name: str, heading: str) -> dict[str, str]:
    """What the places of the template are filled in with."""
    number, _, topic = name.partition("_")
    last = list(CHAPTERS)[-1]
    before = f"{number_of(last)} · {title(last)}"
    return {
        "name": name, "number": number, "topic": topic, "title": heading,
        "before": before, "before_file": f"{last}.ipynb",
    }  # fmt: skip


def notebook_of(text: str) -> NotebookNode:
    """The notebook that a Markdown text stands for: a cell for each block of Python, for all between."""
    pieces = re.split(r"^```python\n(.*?)^```\n", text, flags=re.MULTILINE | re.DOTALL)
    kinds = [new_markdown_cell, new_code_cell] * len(pieces)
    taken: set[str] = set()
    notebook = new_notebook()
    for kind, piece in zip(kinds, pieces):
        if piece.strip():
            cell = kind(piece.strip("\n"))
            cell.id = unused_id(cell, taken)  # nbformat draws one at random
            taken.add(cell.id)
            notebook.cells.append(cell)
    return canonical(notebook)


# ---- what is made ----


def make_files(name: str, heading: str) -> Path:
    """Write the room of the page, its test and its notebook, not run yet; return the notebook."""
    known = fields(name, heading)
    room = PACKAGE / "chapters" / known["topic"]
    room.mkdir()
    for form in TEMPLATE.glob("*.py.txt"):
        at = room / form.stem if form.stem != "test.py" else ROOT / f"tests/chapters/test_{known['topic']}.py"
        at.write_text(Form(form.read_text("utf-8")).substitute(known), "utf-8", newline="\n")
    path = NOTEBOOKS / f"{name}.ipynb"
    write(path, notebook_of(Form((TEMPLATE / "page.md").read_text("utf-8")).substitute(known)))
    return path


def tell_the_book(name: str, english: str) -> None:
    """Add the page's entry to the list of chapters."""
    path = PACKAGE / "chapters" / "book.py"
    head, tail = path.read_text("utf-8").split("\nCHAPTERS = {\n")
    entries, rest = tail.split("\n}\n", 1)
    entries += f'\n    "{name}": Chapter(lambda: _("{english}"), ("head",)),'
    path.write_text(f"{head}\nCHAPTERS = {{\n{entries}\n}}\n{rest}", "utf-8", newline="\n")


def tell_the_pages(name: str, heading: str) -> None:
    """Add the page to the map in 00, to the head and the end of the page before, and to the README."""
    link = f"[{number_of(name)} · {heading}]({name}.ipynb)"
    start = NOTEBOOKS / f"{next(iter(CHAPTERS))}.ipynb"
    last = NOTEBOOKS / f"{list(CHAPTERS)[-1]}.ipynb"
    row = rf"\g<0>| {link} | was du dort tust | {minutes.rounded(NOTEBOOKS / f'{name}.ipynb')} |\n"
    edit(start, {r"(?m)^\| \[\d\w+ · [^\n]*\n(?!\|)": row})
    overview = re.escape("[Übersicht](00_start.ipynb)")
    edit(last, {rf" · {overview}(?= · \[English\])": rf"\g<0> · {onward(link)}",
                rf"Zurück zur {overview}\Z": f"Weiter: {link}"})  # fmt: skip
    readme = ROOT / "README.md"
    row = rf"\g<0>| [{name}](notebooks/en/{name}.ipynb) | what it is about |\n"
    text = re.sub(r"(?m)^\| \[\d\d\w*\]\(notebooks/en/[^\n]*\n(?!\|)", row, readme.read_text("utf-8"))
    readme.write_text(text, "utf-8", newline="\n")


def onward(link: str) -> str:
    """A link as it leads on from the head of a page: with an arrow."""
    return link.replace("]", " →]", 1)


def edit(path: Path, changes: dict[str, str]) -> None:
    """Replace patterns in the Markdown of a notebook; what it has stored stays."""
    notebook = nbformat.read(path, as_version=nbformat.NO_CONVERT)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = replaced(cell.source, changes)
    write(path, notebook)


def replaced(text: str, changes: dict[str, str]) -> str:
    """The text with each pattern replaced."""
    for pattern, new in changes.items():
        text = re.sub(pattern, new, text)
    return text


def tell_the_catalogue(english: str, heading: str) -> None:
    """Give the words of the template and the page's name their German."""
    messages.update()
    with (TEMPLATE / "german.po").open("rb") as file:
        german = {message.id: message.string for message in read_po(file, locale="de") if message.id}
    catalogue = messages.read("de")
    for message_id, text in (german | {english: heading}).items():
        known = catalogue.get(message_id)
        known.string = known.string or text
    with messages.po_path("de").open("wb") as file:
        write_po(file, catalogue)
    messages.update()


def translated(name: str, heading: str, english: str) -> dict[str, str]:
    """The blocks of the template's page under its German heading, and their English."""
    set_language("de")
    german = Form((TEMPLATE / "page.md").read_text("utf-8")).substitute(fields(name, heading))
    set_language("en")
    other = Form((TEMPLATE / "page.en.md").read_text("utf-8")).substitute(fields(name, english))
    set_language("de")
    pairs = [editions.blocks_of(notebook_of(text)) for text in (german, other)]
    return dict(zip(*pairs, strict=True))


def tell_the_english_edition(name: str, english: str, texts: dict[str, str], before: dict) -> None:
    """Translate the new page, and what has changed in 00 and on the page before; then write the edition.

    texts: the blocks of the new page and their English. before: the blocks of the other pages as they were.
    """
    link = f"[{number_of(name)} · {english}]({name}.ipynb)"
    overview = re.escape("[Overview](00_start.ipynb)")
    row = rf"\g<0>\n| {link} | what you do there | {minutes.rounded(NOTEBOOKS / f'{name}.ipynb')} |"
    changes = {
        r"(?m)^\| \[\d\w+ · [^\n]*\Z": row,
        rf" · {overview}(?= · \[Deutsch\])": rf"\g<0> · {onward(link)}",
        r"Back to the \[overview\]\(00_start\.ipynb\)\Z": f"Next: {link}",
    }
    known = editions.read("en")
    for path, old in before.items():
        for was, now in zip(old, editions.blocks_of(nbformat.read(path, 4)), strict=True):
            if was != now:
                texts[now] = replaced(editions.translation_of(was, known), changes)
    editions.update("en")
    catalogue = editions.read("en")
    for block, text in texts.items():
        catalogue.get(block).string = text
        catalogue.get(block).flags.discard("fuzzy")
    editions.write("en", catalogue)
    editions.make("en")


def main(arguments: list[str] | None = None) -> int:
    """Make the page, tell everyone of it, store it."""
    parser = argparse.ArgumentParser(
        prog="python -m tokenwerk_helpers.tools.new", description=__doc__.splitlines()[0]
    )
    parser.add_argument("name", help="of the notebook: the next number and a topic, e.g. 14_topic")
    parser.add_argument("--title", help="its German name; the topic, if none is given")
    given = parser.parse_args(arguments)
    name, number = given.name, f"{int(list(CHAPTERS)[-1][:2]) + 1:02}"
    if not re.fullmatch(rf"{number}(_[a-z][a-z0-9]*)+", name):
        parser.error(f"the next page is called {number}_ and a topic in small letters, not {name!r}")
    if (PACKAGE / "chapters" / name[3:]).exists():
        parser.error(f"there is already a page on {name[3:]!r}")
    english = name[3:].replace("_", " ").capitalize()
    heading = given.title or english
    texts = translated(name, heading, english)
    before = {path: editions.blocks_of(nbformat.read(path, 4)) for path in editions.pages()}
    path = make_files(name, heading)
    tell_the_pages(name, heading)
    tell_the_english_edition(name, english, texts, before)
    tell_the_book(name, english)
    tell_the_catalogue(english, heading)
    print(
        f"{name} is made. Rewrite its notebook, its room in chapters/{name[3:]}/, its test, its rows in "
        "00 and in the README."
    )
    return refresh.main([str(path), str(editions.NOTEBOOKS / "en" / path.name)])


if __name__ == "__main__":
    sys.exit(main())
