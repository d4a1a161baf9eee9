"""Make a new page that passes at once, to be rewritten: python -m tokenwerk_helpers.tools.new 14_topic

It comes from the files in template/: a notebook, its room in chapters/, its test and the German of its words.
The book's list, the map in 00, the page before and the README learn of it, and it is stored as `make refresh`
stores it.
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
from . import messages, minutes, refresh
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
    edit(last, {rf" · {overview}\Z": rf"\g<0> · {link[:-1].replace(']', ' →]', 1)})",
                rf"Zurück zur {overview}\Z": f"Weiter: {link}"})  # fmt: skip
    readme = ROOT / "README.md"
    row = rf"\g<0>| [{name}](notebooks/{name}.ipynb) | what it is about |\n"
    text = re.sub(r"(?m)^\| \[\d\d\w*\]\(notebooks/[^\n]*\n(?!\|)", row, readme.read_text("utf-8"))
    readme.write_text(text, "utf-8", newline="\n")


def edit(path: Path, changes: dict[str, str]) -> None:
    """Replace patterns in the Markdown of a notebook; what it has stored stays."""
    notebook = nbformat.read(path, as_version=nbformat.NO_CONVERT)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for pattern, text in changes.items():
                cell.source = re.sub(pattern, text, cell.source)
    write(path, notebook)


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
    set_language("de")
    path = make_files(name, heading)
    tell_the_pages(name, heading)
    tell_the_book(name, english)
    tell_the_catalogue(english, heading)
    print(
        f"{name} is made. Rewrite its notebook, its room in chapters/{name[3:]}/, its test, its rows in "
        "00 and in the README."
    )
    return refresh.main([str(path)])


if __name__ == "__main__":
    sys.exit(main())
