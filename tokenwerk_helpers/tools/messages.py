"""Keep the gettext catalogues in step with the code.

python -m tokenwerk_helpers.tools.messages update     extract from the code, merge, compile
python -m tokenwerk_helpers.tools.messages missing    list what has no German yet
"""

import argparse
import io
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

PACKAGE = Path(__file__).parents[1]
LOCALE = PACKAGE / "locale"
CATALOGUES = ("de",)  # English is the message itself


def po_path(language: str) -> Path:
    """Where the catalogue of `language` lies."""
    return LOCALE / language / "LC_MESSAGES" / "tokenwerk.po"


def extracted() -> Catalog:
    """Every message of the package's code, in the order of the files."""
    catalogue = Catalog(project="tokenwerk", charset="utf-8")
    found = extract_from_dir(PACKAGE, [("**.py", "python")], keywords={"_": None, "ngettext": (1, 2)})
    for filename, _line, message, comments, context in sorted(found, key=lambda item: item[:2]):
        # Files, not lines: a moved line would otherwise change the catalogue.
        catalogue.add(message, locations=[(filename, 0)], auto_comments=comments, context=context)
    return catalogue


def read(language: str) -> Catalog:
    """The catalogue of `language` as stored, empty if there is none yet."""
    path = po_path(language)
    return (
        read_po(io.BytesIO(path.read_bytes()), locale=language) if path.exists() else Catalog(locale=language)
    )


def po_bytes(catalogue: Catalog) -> bytes:
    """The catalogue as the text of a .po file, without dates or line numbers."""
    buffer = io.BytesIO()
    write_po(buffer, catalogue, width=110, omit_header=False, include_lineno=False, ignore_obsolete=True)
    dated = (
        "POT-Creation-Date",
        "PO-Revision-Date",
        "Generated-By",
        "Report-Msgid-Bugs-To",
        "Last-Translator",
        "Language-Team",
    )
    lines = buffer.getvalue().decode("utf-8").splitlines(keepends=True)
    return "".join(
        line for line in lines if not line.startswith(tuple(f'"{name}' for name in dated))
    ).encode()


def mo_bytes(catalogue: Catalog) -> bytes:
    """The catalogue compiled, without dates."""
    buffer = io.BytesIO()
    undated = read_po(io.BytesIO(po_bytes(catalogue)), locale=catalogue.locale)
    # The compiled header always carries dates: the same ones every day.
    undated.creation_date = undated.revision_date = datetime(2000, 1, 1, tzinfo=UTC)
    write_mo(buffer, undated)
    return buffer.getvalue()


def merged(language: str) -> Catalog:
    """The stored catalogue brought to the messages of the code."""
    catalogue = read(language)
    catalogue.update(extracted(), no_fuzzy_matching=True)
    catalogue.fuzzy = False
    catalogue.header_comment = f"# What a reader of the Tokenwerk companion sees, {language}."
    catalogue.obsolete.clear()
    return catalogue


def write(catalogue: Catalog, path: Path) -> None:
    """Store the catalogue as .po and, beside it, compiled as .mo."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(po_bytes(catalogue))
    path.with_suffix(".mo").write_bytes(mo_bytes(catalogue))


def update() -> None:
    """Bring the catalogues in step with the code."""
    for language in CATALOGUES:
        write(merged(language), po_path(language))


def missing(language: str = "de") -> list[str]:
    """The messages of the code that have no translation in `language`."""
    stored = read(language)
    gaps = []
    for message in extracted():
        if not message.id:
            continue
        known = stored.get(message.id[0] if message.pluralizable else message.id)
        texts = (
            known.string if known and isinstance(known.string, tuple) else (known.string if known else "",)
        )
        if not all(texts):
            gaps.append(message.id)
    return gaps


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
