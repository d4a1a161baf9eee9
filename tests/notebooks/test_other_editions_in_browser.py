"""The other editions in a real JupyterLab: each page runs, and answers a slider and a question in its own language.

The code is that of the German pages, which test_notebooks_in_browser.py tests in full.
"""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser import NOTEBOOKS, Notebook
from tests.notebooks.test_notebooks_in_browser import (
    ANSWER,
    SIDE_BAR,
    TALLEST_VIEW,
    explorers,
    handles,
    moved,
    partial,
    press,
    settled,
)
from tokenwerk_helpers.language import LANGUAGES, set_language
from tokenwerk_helpers.language import _ as in_the_language_shown

pytestmark = pytest.mark.browser

PAGES = [path for language in LANGUAGES[1:] for path in sorted((NOTEBOOKS / language).glob("*.ipynb"))]


@pytest.fixture(scope="module", params=PAGES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def notebook(request, turn_to) -> Notebook:
    """The notebook, opened and run from top to bottom; texts are looked for in its language."""
    path: Path = request.param
    set_language(path.parent.name)
    page = turn_to(str(path.relative_to(NOTEBOOKS)), keeps_kernel=True)  # nbval runs each page in a new one
    page.run_all()
    yield page
    set_language(LANGUAGES[0])


def test_it_runs_from_top_to_bottom_without_a_complaint(notebook):
    assert notebook.complaints() == []


def test_what_is_said_is_told_to_be_in_the_language_of_the_page(notebook):
    told = notebook.page.evaluate("""() => [...document.querySelectorAll(
      ".tokenwerk-caption, .tokenwerk-figure, .tokenwerk-matrix-canvas")].map((it) => it.closest("[lang]").lang)""")
    assert told and {*told} == {Path(notebook.name).parent.name}


def test_a_slider_moves_its_picture_and_its_caption(notebook):
    awake = ((explorer, handle) for explorer in explorers(notebook) for handle in handles(explorer, "awake"))
    for explorer, handle in awake:
        steps = [partial(press, handle, key) for key in ("End", "Home")]
        if not moved(explorer, settled(explorer), steps).still:
            return
    assert notebook.page.locator(".noUi-handle:visible").count() == 0


def test_a_question_is_answered_in_the_language_of_the_page(notebook):
    guesses = notebook.page.locator(".tokenwerk-guess")
    if guesses.count() == 0:
        return
    guess = guesses.first
    field = guess.locator("input").first
    if guess.locator("input").count() > 1:
        press(field, "Space")
    else:
        field.fill("1")
    guess.get_by_role("button", name=in_the_language_shown("Check"), exact=True).click()
    expect(guess.locator(".tokenwerk-caption").last).to_have_text(re.compile("^[✓✗] "), timeout=ANSWER)


def test_a_live_view_fits_the_window_beside_the_side_bar(notebook):
    size = notebook.page.viewport_size
    try:
        notebook.page.set_viewport_size({"width": 1300 - SIDE_BAR, "height": 900})
        heights = [settled(one) and one.bounding_box()["height"] for one in explorers(notebook)]
        assert max(heights, default=0) <= TALLEST_VIEW
    finally:
        notebook.page.set_viewport_size(size)
