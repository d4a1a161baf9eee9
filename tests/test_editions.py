"""The editions: all say the same, with the same code, and none falls behind the German one unnoticed."""

import re
from pathlib import Path

import nbformat
import pytest
from babel.messages.catalog import Catalog
from hypothesis import given
from hypothesis import strategies as st

from tokenwerk_helpers.language import LANGUAGES
from tokenwerk_helpers.tools import editions

OTHERS = LANGUAGES[1:]
EVERY_OTHER = pytest.mark.parametrize("language", OTHERS)


def cells(path: Path, kind: str) -> list[str]:
    return [cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == kind]


def pairs(language: str) -> list[tuple[str, str]]:
    """Every German block and its translation."""
    catalogue = editions.read(language)
    return [(block, editions.translation_of(block, catalogue)) for _page, block in editions.source_blocks()]


# ---- cutting and joining ----


@given(st.text(alphabet="ab1 \n#-|*`$>\\", max_size=60))
def test_the_parts_of_any_markdown_are_the_markdown(markdown):
    assert "".join(part.text for part in editions.parts(markdown)) == markdown


def test_a_table_a_list_a_formula_and_a_comment_stay_whole():
    blocks = ["## Kopf", "Ein Satz\nüber zwei Zeilen.", "| a | b |\n|---|---|\n| 1 | 2 |", "- eins\n- zwei"]
    formula, comment, code = "$$\nx = 1\n\\quad y\n$$", "<!-- F01 -->", "```\nmake lab\n```"
    markdown = "\n\n".join([blocks[0], comment, blocks[1], formula, *blocks[2:], code]) + "\n"
    assert editions.blocks(markdown) == blocks


def test_a_formula_with_words_in_it_is_translated():
    assert editions.blocks("$$\\text{Verlust} = 1$$\n\n$$x = 1$$") == ["$$\\text{Verlust} = 1$$"]


# ---- nothing is missing, nothing has drifted apart ----


@EVERY_OTHER
def test_every_block_has_its_translation_and_none_is_outdated(language):
    assert editions.missing(language) == []


@EVERY_OTHER
def test_the_stored_pages_are_those_that_the_catalogue_makes(language):
    catalogue, stale = editions.read(language), []
    for source, target in zip(editions.pages(), editions.pages(language), strict=True):
        made = editions.edition(nbformat.read(source, 4), language, catalogue)
        stored = nbformat.read(target, 4)
        if [(cell.id, cell.source) for cell in made.cells] != [
            (cell.id, cell.source) for cell in stored.cells
        ]:
            stale.append(target.name)
    assert stale == []  # `make editions` brings them in step


@EVERY_OTHER
def test_the_catalogue_is_stored_as_the_tool_writes_it(language, tmp_path, monkeypatch):
    before = editions.po_path(language).read_bytes()
    catalogue = editions.read(language)
    monkeypatch.setattr(editions, "po_path", lambda language: tmp_path / "pages.po")
    editions.write(language, catalogue)
    editions.update(language)
    assert (tmp_path / "pages.po").read_bytes() == before


@EVERY_OTHER
def test_code_is_the_same_but_for_the_line_that_sets_the_language(language):
    line = 'language.set_language("{}")'
    for source, target in zip(editions.pages(), editions.pages(language), strict=True):
        german, other = ("\n".join(cells(path, "code")).splitlines() for path in (source, target))
        differing = [(one, two) for one, two in zip(german, other, strict=True) if one != two]
        assert differing == [(line.format("de"), line.format(language))], target.name


@pytest.mark.parametrize("language", LANGUAGES)
def test_links_stay_within_the_edition_but_for_the_one_to_the_sister_page(language):
    for path in editions.pages(language):
        markdown = "\n".join(cells(path, "markdown"))
        targets = [target for target in re.findall(r"\]\(([^)#\s]+)", markdown) if "://" not in target]
        sisters = [f"../{other}/{path.name}" for other in LANGUAGES if other != language]
        assert [target for target in targets if "/" in target] == sisters, path.name
        assert [target for target in targets if not (path.parent / target).exists()] == [], path.name


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_link_to_a_heading_leads_to_one(language):
    headings = {
        path.name: {
            re.sub(r"\s", "-", line.lstrip("#").strip())
            for source in cells(path, "markdown")
            for line in source.splitlines()
            if line.startswith("#")
        }
        for path in editions.pages(language)
    }
    for path in editions.pages(language):
        for file, anchor in re.findall(r"\]\(([\w.]*)#([^)\s]+)\)", "\n".join(cells(path, "markdown"))):
            if file != "13_words_and_sources.ipynb":  # those of the works come from its output
                assert anchor in headings[file or path.name], f"{path.name}: {file}#{anchor}"


@EVERY_OTHER
def test_every_citation_leads_to_a_work(language):
    entries = nbformat.read(editions.NOTEBOOKS / language / "13_words_and_sources.ipynb", 4)
    shown = "\n".join(
        output.data.get("text/markdown", "")
        for cell in entries.cells
        for output in cell.get("outputs", [])
        if "data" in output
    )
    works = {
        re.sub(r"\s", "-", line.lstrip("#").strip()) for line in shown.splitlines() if line.startswith("#")
    }
    cited = {
        anchor
        for path in editions.pages(language)
        for source in cells(path, "markdown")
        for anchor in re.findall(r"13_words_and_sources\.ipynb#([^)\s]+)", source)
    }
    assert len(cited) > 20 and cited <= works


def test_a_german_block_that_changes_by_one_word_makes_its_translation_outdated(monkeypatch, tmp_path):
    language, told = OTHERS[0], list(editions.source_blocks())
    catalogue = editions.read(language)
    monkeypatch.setattr(editions, "po_path", lambda language: tmp_path / "pages.po")
    editions.write(language, catalogue)
    before = next(block for _page, block in told if len(block) > 200)
    after = before.replace(" ", " ganz ", 1)
    changed = [(page, after if block == before else block) for page, block in told]
    monkeypatch.setattr(editions, "source_blocks", lambda: iter(changed))
    for _again in range(2):
        assert {block for _page, block in editions.missing(language)} == {after}
        editions.update(language)
    message = editions.read(language).get(after)
    assert message.fuzzy and message.string == editions.translation_of(before, catalogue)


def test_an_untranslated_block_shows_its_german():
    assert editions.translated("Ein Satz.\n\n- und\n", Catalog()) == "Ein Satz.\n\n- und\n"


# ---- a block and its translation say the same ----

# Blocks on what the model of a language does, or on how a language writes: what they say differs.
OF_ITS_OWN = re.compile(
    r"872 Token|Kopf 2 in Block|Kopf 2 schaut|97\.4|Bei Schritt 800|Am schlimmsten ist es|Neuron 67"
    r"|Bei Seed 2|letzten acht Zeilen|mit 200 gewürfelten|Dezimal|„as“ steht|schenkt|/pfad/zu"
)


def figures(text: str) -> list[str]:
    """The numbers of a text, without the signs that group thousands, sorted."""
    text = re.sub(r"(?<=\d)[,\u202f\u00a0](?=\d{3}\b)", "", re.sub(r"\]\([^)]*\)", "]", text))
    return sorted(re.findall(r"\d+(?:\.\d+)?", text))


def formulas(text: str) -> list[str]:
    """The formulas of a text, without the words in them."""
    return sorted(re.sub(r"\\text\{[^}]*\}", "", formula) for formula in re.findall(r"\$[^$]+\$", text))


@EVERY_OTHER
def test_numbers_and_formulas_of_a_block_and_its_translation_agree(language):
    told = [(german, other) for german, other in pairs(language) if not OF_ITS_OWN.search(german)]
    assert len(told) > 500
    assert [german[:60] for german, other in told if figures(german) != figures(other)] == []
    assert [german[:60] for german, other in told if formulas(german) != formulas(other)] == []


@EVERY_OTHER
def test_links_citations_and_inline_code_agree(language):
    sister = re.compile(rf"\.\./({'|'.join(LANGUAGES)})/")

    def links(text: str) -> list[str]:
        targets = re.findall(r"\]\(([^)\s]+)\)", sister.sub("", text))
        return sorted(target.partition("#")[0] for target in targets)

    def years(text: str) -> list[str]:
        return sorted(re.findall(r"13_words_and_sources\.ipynb#[^)]*?(\d{4})", text))

    said = pairs(language)
    assert [german[:60] for german, other in said if links(german) != links(other)] == []
    assert [german[:60] for german, other in said if years(german) != years(other)] == []
    plain = [pair for pair in said if not OF_ITS_OWN.search(pair[0])]
    code = [[sorted(re.findall(r"`([^`]+)`", text)) for text in pair] for pair in plain]
    assert [one for one in code if one[0] != one[1]] == []


@EVERY_OTHER
def test_no_german_is_left(language):
    german = re.compile(r"\b(der|die|das|und|nicht|mit|eine|ist|wird|für|über)\b|[äöüß„]")
    left = [other for _german, other in pairs(language) if german.search(other)]
    assert [
        text for text in left if "LLM-Lehrbuch" not in text
    ] == []  # the titles of source texts are German
