"""What all notebooks share: a head, a rhythm, an end, links that lead somewhere, code without prose."""

import io
import re
import tokenize
from pathlib import Path

import nbformat
import pytest

from tokenwerk_helpers.chapters.book import CHAPTERS

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


def cells(path: Path, kind: str) -> list[str]:
    return [cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == kind]


def without_code_and_formulas(markdown: str) -> str:
    for pattern in (r"```.*?```", r"`[^`]*`", r"\$\$.*?\$\$", r"\$[^$]*\$", r"<!--.*?-->", r"<[^>]*>"):
        markdown = re.sub(pattern, " ", markdown, flags=re.DOTALL)
    return markdown


def test_every_chapter_of_the_book_has_its_notebook():
    assert [path.stem for path in NOTEBOOKS] == list(CHAPTERS)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
class TestNotebook:
    def test_it_begins_with_its_title_and_the_drawn_decoder(self, path):
        assert cells(path, "markdown")[0].startswith(f"# {path.stem[:2]} · ")
        assert f'you_are_here("{path.stem}")' in cells(path, "code")[0]

    def test_its_end_sums_up_in_three_lines_and_leads_on(self, path):
        last = cells(path, "markdown")[-1]
        if path.stem != "00_start":
            assert "## Zum Merken" in last
            assert len(re.findall(r"^- ", last, flags=re.MULTILINE)) == 3
        assert re.search(r"\]\(\d\d_\w+\.ipynb\)", last)

    def test_every_link_to_a_page_of_the_book_leads_somewhere(self, path):
        for source in cells(path, "markdown"):
            for target in re.findall(r"\]\(([^)#\s]+)", source):
                if "://" not in target:
                    assert (path.parent / target).exists(), target

    def test_it_loads_nothing_from_the_network(self, path):
        for source in cells(path, "markdown"):
            assert not re.search(r"!\[[^\]]*\]\(https?:|<(img|script|iframe|link)\b", source)

    def test_code_cells_carry_no_prose(self, path):
        for source in cells(path, "code"):
            assert source.isascii(), source
            tokens = tokenize.generate_tokens(io.StringIO(source).readline)
            comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
            # A shape that trails its line is notation, not prose.
            assert all(re.fullmatch(r"# \([A-Z0-9, /]+\)", comment) for comment in comments), comments

    def test_code_cells_are_short(self, path):
        for source in cells(path, "code"):
            assert len(source.splitlines()) <= 24, source

    def test_quotation_marks_are_german(self, path):
        for source in cells(path, "markdown"):
            prose = without_code_and_formulas(source)
            assert '"' not in prose and "”" not in prose, prose
            assert prose.count("„") == prose.count("“"), prose

    def test_umlauts_are_written_out(self, path):
        words = r"\b(fuer|ueber|koennen|moeglich|waehl\w*|groess\w*|naech\w*|zurueck\w*|waere|muess\w*)\b"
        for source in cells(path, "markdown"):
            assert not re.search(words, without_code_and_formulas(source), flags=re.IGNORECASE)

    def test_it_asks_before_it_shows_and_checks_an_exercise(self, path):
        code = cells(path, "code")
        assert any(re.search(r"\bguess_\w+\(", source) for source in code), "no question to guess"
        # An exercise: a function left open, and the check that is called with it.
        exercises = [
            re.search(r"^def (\w+)\(.*\):\n    return \.\.\.\n.*\bpage\.check_\w+\(\1\)$", source, re.DOTALL)
            for source in code
        ]
        assert any(exercises), "no exercise"

    def test_every_live_view_comes_after_a_question_of_its_own(self, path):
        asked = path.stem == "00_start"  # its first view teaches the slider; the question after it goes back
        for source in cells(path, "code"):
            asked = asked or bool(re.search(r"\bguess_\w+\(", source))
            if view := re.match(r"\w+\.([A-Z]\w+)\(.*\)\Z", source.strip().splitlines()[-1]):
                assert asked, f"no question before {view[1]}"
                asked = False
