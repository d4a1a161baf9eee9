"""13_words_and_sources: each citation has its entry there, each term its page, each word one meaning."""

import re
from collections.abc import Iterator
from functools import cache

import nbformat
import pytest

from tokenwerk_helpers.chapters.book import CHAPTERS
from tokenwerk_helpers.chapters.terms import TERMS
from tokenwerk_helpers.chapters.words_and_sources import computation, views
from tokenwerk_helpers.chapters.words_and_sources.computation import WORKS
from tokenwerk_helpers.tools import messages
from tokenwerk_helpers.tools.refresh import NOTEBOOKS

HERE = "13_words_and_sources"
PAGES = [page for page in CHAPTERS if page != HERE]

NAMES = r"(?:[^\W\d_][\w-]+ et al\.|[A-ZÄÖÜŁ][\w-]+ und [A-ZÄÖÜŁ][\w-]+|[^\W\d_][\w-]+)"
CITATION = re.compile(rf"({NAMES})(?:, ((?:19|20)\d\d)\b| \(((?:19|20)\d\d)\))")
IN_DOCSTRINGS = re.compile(
    r"\b([A-Z][\w-]+ et al\.|[A-Z][\w-]+ and [A-Z][\w-]+|nostalgebraist|Gage) ((?:19|20)\d\d)\b"
)


@cache
def prose(page: str) -> str:
    """All Markdown of a page."""
    cells = nbformat.read(NOTEBOOKS / f"{page}.ipynb", as_version=4).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def read(markdown: str) -> str:
    """Markdown as it is read: a link is its text."""
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", markdown)


def citations(text: str) -> set[str]:
    """What a text cites, in one form: "Press und Wolf, 2017"."""
    return {f"{names}, {in_comma or in_brackets}" for names, in_comma, in_brackets in CITATION.findall(text)}


@cache
def german() -> dict[str, str]:
    """Every German message by the place in the code that it comes from; those of this page are left out."""
    found: dict[str, list[str]] = {}
    for message in messages.read("de"):
        texts = message.string if isinstance(message.string, tuple) else (message.string,)
        for place, _line in message.locations if message.id else []:
            if "words_and_sources" not in place:
                found.setdefault(place, []).extend(texts)
    return {place: "\n".join(texts) for place, texts in found.items()}


def in_code() -> Iterator[str]:
    """Yield what the docstrings and comments of the package cite, as a page would."""
    for path in messages.PACKAGE.rglob("*.py"):
        for names, year in IN_DOCSTRINGS.findall(re.sub(r"\s+(?:# )?", " ", path.read_text("utf-8"))):
            yield f"{names.replace(' and ', ' und ')}, {year}"


ENTRIES = {views.cited(work): work for work in WORKS}


# ---- the works ----


def test_every_citation_has_its_entry():
    said = {page: citations(read(prose(page))) for page in PAGES} | {
        place: citations(text) for place, text in german().items()
    }
    assert {where: cited - set(ENTRIES) for where, cited in said.items() if cited - set(ENTRIES)} == {}
    assert set(in_code()) - set(ENTRIES) == set()


def test_every_entry_is_cited():
    cited = set().union(*(citations(read(prose(page))) for page in PAGES), in_code())
    assert set(ENTRIES) - cited == set()


def test_works_are_cited_in_one_form():
    """Of three and more authors the first; the year behind a comma or in brackets."""
    bare = rf"(?:et al\.|\b[A-ZÄÖÜ][\w-]+ und (?:{'|'.join(computation.names(it)[-1] for it in WORKS)})\b)"
    texts = {page: read(prose(page)) for page in PAGES} | german()
    assert [
        (where, found[0])
        for where, text in texts.items()
        for found in re.finditer(
            rf"{bare}(?!,? \(?(?:19|20)\d\d\b).{{0,12}}|{bare} (?:19|20)\d\d.{{0,9}}", text
        )
    ] == []


def test_a_page_links_each_work_where_it_first_cites_it():
    wrong = []
    for page in PAGES:
        text = prose(page)
        for cited in citations(read(text)) & set(ENTRIES):
            names, year = cited.rsplit(", ", 1)
            first = re.search(rf"(?<!\w)({re.escape(names)})(, {year}| \({year}\))(\]\([^)]*\))?", text)
            if first[3] != f"]({HERE}.ipynb#{cited.replace(' ', '-')})":
                wrong.append(f"{page}: {cited}")
    assert wrong == []


def test_a_link_leads_to_the_heading_of_an_entry():
    """As JupyterLab and the printed book name it: the heading with hyphens for its blanks."""
    headings = re.findall(r"^### (.+)$", repr(views.works()), re.MULTILINE)
    anchors = {heading.replace(" ", "-") for heading in headings}
    links = {link for page in PAGES for link in re.findall(rf"\]\({HERE}\.ipynb#([^)]*)\)", prose(page))}
    assert links and links <= anchors and len(anchors) == len(WORKS)


def test_an_entry_says_who_what_where_and_leads_there():
    numbers = [work.link.removeprefix(computation.ARXIV) for work in WORKS if computation.ARXIV in work.link]
    assert all(re.fullmatch(r"\d{4}\.\d{4,5}", number) for number in numbers)
    assert len({work.title for work in WORKS}) == len(WORKS) == len(ENTRIES)
    for work in WORKS:
        assert work.authors and work.title and work.venue
        assert work.link.startswith("https://") or work.year < 2000  # what has no certain address is old
        if (
            computation.ARXIV in work.link
        ):  # its number begins with the year and the month of its first version
            first = 2000 + int(work.link.removeprefix(computation.ARXIV)[:2])
            assert 0 <= work.year - first <= 2, work.title
        shown = views.entry(work)
        assert work.title in shown and work.authors[0] in shown and work.link in shown


def test_the_works_are_ordered_as_a_reader_looks_for_them():
    headings = re.findall(r"^### (.+), (\d+)$", repr(views.works()), re.MULTILINE)
    assert headings == sorted(headings, key=lambda it: (it[0].replace(" und ", " ").casefold(), it[1]))
    assert [it for it in headings if it[0].startswith("Shazeer")] == [
        ("Shazeer", "2020"),
        ("Shazeer et al.", "2017"),
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("nach Ba et al. (2016) und", {"Ba et al., 2016"}),
        ("(RoPE, Su et al., 2021)", {"Su et al., 2021"}),
        ("(Press und Wolf, 2017)", {"Press und Wolf, 2017"}),
        ("(nostalgebraist, 2020, nennt", {"nostalgebraist, 2020"}),
        ("(SwiGLU, Shazeer, 2020)", {"Shazeer, 2020"}),
        ("GPT-2 von 2019, und 1000 Listen", set()),
    ],
)
def test_a_citation_is_recognized(text, found):
    assert citations(text) == found


# ---- the words ----


def test_each_term_stands_on_the_page_that_is_said_to_introduce_it():
    missing = []
    for page, introduced in views.terms().items():
        assert page in CHAPTERS
        for term in introduced:
            word = re.sub(r" \(.*\)|,.*", "", term.word)  # the first of several, without what explains it
            stems = [part[:-2] if len(part) > 6 else part for part in word.split(" und ")[0].split()]
            if not all(re.search(rf"\b{re.escape(stem)}", prose(page), re.IGNORECASE) for stem in stems):
                missing.append(f"{page}: {term.word}")
    assert missing == []


# A first look elsewhere, the section that explains it here.
EXPLAINED_LATER = {"Block", "Dropout", "Fenster", "Temperatur"}


def test_the_glossary_sends_readers_where_the_book_introduces_a_term():
    introduced = {term.casefold(): page for page, found in TERMS.items() for term in found}
    glossary = {term.word: page for page, found in views.terms().items() for term in found}
    both = {
        word: (page, introduced[word.casefold()])
        for word, page in glossary.items()
        if word.casefold() in introduced
    }
    elsewhere = {word for word, (here, there) in both.items() if here != there}
    assert len(both) > 30 and elsewhere == EXPLAINED_LATER
    assert all(PAGES.index(here) >= PAGES.index(there) for here, there in both.values())


def test_the_glossary_has_each_term_once_in_the_order_of_the_alphabet_with_its_page():
    rows = re.findall(
        r"^\| \*\*(.+?)\*\* \| (.+) \| \[\d\d\w? · .+\]\((\w+)\.ipynb\) \|$", repr(views.glossary()), re.M
    )
    assert len(rows) == sum(map(len, views.terms().values())) == len({word for word, *_ in rows})
    plain = str.maketrans("äöüÄÖÜ", "aouAOU")
    assert [word for word, *_ in rows] == sorted(
        (word for word, *_ in rows), key=lambda it: it.translate(plain).lower()
    )
    assert {page for *_, page in rows} <= set(PAGES)
    assert all(meaning.endswith(".") and "|" not in meaning for _word, meaning, _page in rows)


def places_of(pattern: str) -> set[str]:
    """The pages and places in the code whose German has this."""
    texts = {page: read(prose(page)) for page in PAGES} | german()
    return {where for where, text in texts.items() if re.search(pattern, text)}


@pytest.mark.parametrize(
    ("given_up", "instead"),
    [
        ("Anfangsgewicht", "Startgewichte"),
        ("Embedding-Tabelle", "Token-Tabelle"),
        ("verdeckte[sn]? (Wort|Wörter)", "fehlende Wörter: verdeckt ist ein Score"),
        (r"Temperatur \$T\$(?!\.)", "τ: T sind die Positionen; der dritte Ausgangstext wird nur zitiert"),
    ],
)  # fmt: skip
def test_a_word_that_was_given_up_is_not_used(given_up, instead):
    assert places_of(given_up) == set(), instead


def test_context_is_the_result_of_attention_alone():
    """The length of text that a model sees is called window."""
    assert places_of(r"\bKontext\b") <= {"00_start", "04_self_attention"} | {
        place for place in german() if "self_attention" in place
    }


def test_the_way_of_addition_is_said_only_where_the_chapter_is_quoted():
    paragraphs = "\n\n".join(map(prose, PAGES)).split("\n\n")
    quoting = [paragraph for paragraph in paragraphs if "Additionsweg" in paragraph]
    assert quoting and all("Das Kapitel" in paragraph for paragraph in quoting)
    assert not any("Additionsweg" in text for text in german().values())


def test_the_decisions_name_each_word_with_two_meanings():
    decided = " ".join(term.word for term in views.decisions())
    for word in ("V", "T", "p", "Kopf", "Kontext", "Fenster", "verdeckt", "Residualpfad", "Strom", "Matrix",
                 "Gewichtstabelle", "Streuung", "Startgewichte"):  # fmt: skip
        assert re.search(rf"\b{word}\b", decided), word


def test_a_link_to_a_page_is_named_by_the_number_of_its_file():
    links = re.findall(r"\[(\w+) · [^\]]*\]\((\w+)\.ipynb\)", repr(views.glossary()))
    assert len(links) > 50 and {number for number, _file in links} >= {"06b", "11"}
    assert [link for link in links if not link[1].startswith(f"{link[0]}_")] == []
