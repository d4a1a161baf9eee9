"""Keep the gettext catalogues in step with the code: what pybabel does, with this project's options.

python -m tokenwerk_helpers.tools.messages update     extract from the code, merge, compile
python -m tokenwerk_helpers.tools.messages missing    list what has no German yet
"""

import argparse
import os
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from babel.messages.catalog import Catalog, Message
from babel.messages.frontend import CommandLineInterface
from babel.messages.pofile import read_po

PACKAGE = Path(__file__).parents[1]
LOCALE = PACKAGE / "locale"  # only German: English is the message itself
# Files, not lines, and no dates of today: neither a moved line nor another day changes a catalogue.
EXTRACT = ["--no-default-keywords", "-k", "_", "-k", "ngettext:1,2", "--add-location=file", "--sort-by-file"]
EXTRACT += ["--add-comments", "Translators:"]
UPDATE = ["--width=110", "--no-fuzzy-matching", "--ignore-obsolete", "--ignore-pot-creation-date"]


def pybabel(*arguments: str | os.PathLike) -> None:
    """Run babel's own command line; an error of babel's if it fails."""
    CommandLineInterface().run(["pybabel", "--quiet", *map(os.fspath, arguments)])


@contextmanager
def template() -> Iterator[Path]:
    """A .pot file with every message of the package's code, in the order of the files."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "tokenwerk.pot"
        with chdir(PACKAGE):
            pybabel("extract", *EXTRACT, "--output-file", path, ".")
        yield path


def po_path(language: str) -> Path:
    """Where the catalogue of `language` lies."""
    return LOCALE / language / "LC_MESSAGES" / "tokenwerk.po"


def read(language: str) -> Catalog:
    """The catalogue of `language` as stored."""
    with po_path(language).open("rb") as file:
        return read_po(file, locale=language)


def update() -> None:
    """Bring the catalogues in step with the code and compile them."""
    with template() as pot:
        pybabel("update", "-D", "tokenwerk", "-i", pot, "-d", LOCALE, *UPDATE)
    pybabel("compile", "-D", "tokenwerk", "-d", LOCALE)


def missing(language: str = "de") -> list[str]:
    """The messages of the code that have no translation in `language`."""
    stored = read(language)
    with template() as pot, pot.open("rb") as file:
        in_code = [message.id for message in read_po(file) if message.id]
    return [english for english in in_code if not _is_translated(stored.get(english))]


def _is_translated(message: Message | None) -> bool:
    texts = message.string if message else ""
    return all(texts) if isinstance(texts, tuple) else bool(texts)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tokenwerk_helpers.tools.messages", description=__doc__.splitlines()[0]
    )
    parser.add_argument("command", nargs="?", choices=["update", "missing"], default="update")
    if parser.parse_args().command == "update":
        update()
    else:
        for gap in missing():
            print(repr(gap))


if __name__ == "__main__":
    main()
