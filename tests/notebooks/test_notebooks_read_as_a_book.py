"""What all notebooks share: a head, a rhythm, an end, links that lead somewhere, code without prose."""

import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import nbformat
import pytest

from tokenwerk_helpers.chapters.book import CHAPTERS
from tokenwerk_helpers.tools import messages

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks" / "de").glob("*.ipynb"))
LOOKED_UP = {"13_words_and_sources"}  # not read from top to bottom: there is nothing to guess or to write


@cache
def cells(path: Path, kind: str) -> list[str]:
    """The sources of a page's "markdown" or "code" cells."""
    return [cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == kind]


def every_cell(kind: str) -> Iterator[tuple[str, str]]:
    """Yield the page and the source of every cell of that kind, of all pages."""
    for path in NOTEBOOKS:
        yield from ((path.stem, source) for source in cells(path, kind))


def lines(kind: str) -> Iterator[tuple[str, str]]:
    """Yield the page and each line of its cells of that kind."""
    for page, source in every_cell(kind):
        yield from ((page, line) for line in source.splitlines())


def without_code_and_formulas(markdown: str) -> str:
    for pattern in (r"```.*?```", r"`[^`]*`", r"\$\$.*?\$\$", r"\$[^$]*\$", r"<!--.*?-->", r"<[^>]*>"):
        markdown = re.sub(pattern, " ", markdown, flags=re.DOTALL)
    return markdown


def test_every_chapter_of_the_book_has_its_notebook():
    assert [path.stem for path in NOTEBOOKS] == list(CHAPTERS)


def test_it_begins_with_its_title_and_the_drawn_decoder():
    assert [
        path.stem
        for path in NOTEBOOKS
        if not cells(path, "markdown")[0].startswith(f"# {path.stem.partition('_')[0]} · ")
        or f'you_are_here("{path.stem}")' not in cells(path, "code")[0]
    ] == []


def test_its_end_sums_up_in_three_lines_and_leads_on():
    ends = {path.stem: cells(path, "markdown")[-1] for path in NOTEBOOKS}
    wrong = [f"{page}: leads nowhere" for page, end in ends.items() if not re.search(r"\]\(\d\d\w+\.ipynb\)", end)]
    del ends["00_start"]
    wrong += [f"{page}: no sum" for page, end in ends.items() if "## Zum Merken" not in end]
    wrong += [f"{page}: not three lines" for page, end in ends.items() if len(re.findall("^- ", end, re.M)) != 3]
    assert wrong == []


def test_every_link_to_a_page_of_the_book_leads_somewhere():
    linked = [
        (page, target)
        for page, source in every_cell("markdown")
        for target in re.findall(r"\]\(([^)#\s]+)", source)
        if "://" not in target
    ]
    assert linked and [one for one in linked if not (NOTEBOOKS[0].parent / one[1]).exists()] == []


def test_it_loads_nothing_from_the_network():
    loading = r"!\[[^\]]*\]\(https?:|<(img|script|iframe|link)\b"
    assert [one for one in every_cell("markdown") if re.search(loading, one[1])] == []


def test_code_cells_carry_no_prose():
    assert [one for one in lines("code") if not one[1].isascii()] == []
    tokens = (
        (page, token)
        for page, source in every_cell("code")
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
    )
    comments = [(page, token.string) for page, token in tokens if token.type == tokenize.COMMENT]
    # A shape that trails its line is notation, not prose.
    assert [one for one in comments if not re.fullmatch(r"# \([A-Z0-9, /]+\)", one[1])] == []


def test_code_cells_are_short():
    assert [one for one in every_cell("code") if len(one[1].splitlines()) > 24] == []


def test_a_page_that_goes_backwards_switches_gradients_on_at_its_head():
    """A reader may have switched them off: where gradients are the subject, the page asks for them."""
    backwards = {page for page, source in every_cell("code") if "backward()" in source}
    heads = {path.stem: cells(path, "code")[0] for path in NOTEBOOKS}
    assert {page for page, head in heads.items() if "torch.set_grad_enabled(True)" in head} == backwards != set()


def test_quotation_marks_are_german():
    prose = [(page, without_code_and_formulas(source)) for page, source in every_cell("markdown")]
    assert [one for one in prose if '"' in one[1] or "”" in one[1]] == []
    assert [one for one in prose if one[1].count("„") != one[1].count("“")] == []


# What stands together: a number and its unit, the parts of an abbreviation. A plain space breaks there.
APART = re.compile(r"[\d}] (?:%|(?:[kMGT]?B|ms|px)\b)|\b[zdui]\. ?[BhaÄä]\.|(?<![\w.=-])-(?=\d)")
UNREAD = re.compile(r"\]\([^)]*\)|(?:Index|Achse) -\d")  # where links lead, and what is typed in Python


def test_numbers_keep_their_unit_and_their_minus_is_one():
    """A narrow space that no line breaks at, and "−", in all that is read."""
    texts = {**{f"{page}: {text[:30]}": text for page, text in every_cell("markdown")}, **german()}
    found = {place: APART.findall(UNREAD.sub(" ", without_code_and_formulas(text))) for place, text in texts.items()}
    assert {place: wrong for place, wrong in found.items() if wrong} == {}


def german() -> dict[str, str]:
    """The German messages by what they translate."""
    found = {}
    for message in messages.read("de"):
        string = message.string if isinstance(message.string, tuple) else (message.string,)
        found[str(message.id)[:60]] = " ".join(string) if message.id else ""
    return found


# What page 13 decides has one meaning here: these would say something else in its place.
OTHER_WORDS = {
    "Ausgabekopf": r"\b(?:geteilte[nrm]?|eigene[nrm]?) Kopf\b|\b[Dd]er Kopf (?:macht|liefert|antwortet|wählt|teilt)",
    "Fenstermaske": r"Fenster der Breite|Maske „Fenster“|„Fenster“ leckt",
    "Neuron": r"verdeckte[nrs]? (?:Einheit|Schicht)|\binnere[nr]? Wert",
    "direkte Wege": r"ohne Residualpfade|Residualpfade fehlen",
    "Gewichtstabelle": r"Gewichtsmatri",
    "Startgewichte": r"Anfangsgewicht|Initialgewicht",
}


@pytest.mark.parametrize("word", OTHER_WORDS)
def test_one_thing_has_one_word(word):
    texts = {**{f"{page}: {text[:30]}": text for page, text in every_cell("markdown")}, **german()}
    assert [place for place, text in texts.items() if re.search(OTHER_WORDS[word], text)] == []


def test_umlauts_are_written_out():
    words = r"\b(fuer|ueber|koennen|moeglich|waehl\w*|groess\w*|naech\w*|zurueck\w*|waere|muess\w*)\b"
    prose = [(page, without_code_and_formulas(source)) for page, source in every_cell("markdown")]
    assert [one for one in prose if re.search(words, one[1], flags=re.IGNORECASE)] == []


def test_it_asks_before_it_shows_and_checks_an_exercise():
    # An exercise: a function left open, and the check that is called with it.
    exercise = r"^def (\w+)\(.*\):\n    return \.\.\.\n.*\bpage\.check_\w+\(\1\)$"
    for path in [path for path in NOTEBOOKS if path.stem not in LOOKED_UP]:
        code = cells(path, "code")
        assert any(re.search(r"\bguess_\w+\(", source) for source in code), f"{path.stem}: no question"
        assert any(re.search(exercise, source, re.DOTALL) for source in code), f"{path.stem}: no exercise"


def test_every_live_view_comes_after_a_question_of_its_own():
    unasked = []
    for path in NOTEBOOKS:
        asked = path.stem == "00_start"  # its first view teaches the slider; the question after it goes back
        for source in cells(path, "code"):
            asked = asked or bool(re.search(r"\bguess_\w+\(", source))
            if view := re.match(r"\w+\.([A-Z]\w+)\(.*\)\Z", source.strip().splitlines()[-1]):
                unasked += [] if asked else [f"{path.stem}: no question before {view[1]}"]
                asked = False
    assert unasked == []
