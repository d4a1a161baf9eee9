"""A page that was run and saved is whole the next day: pictures and sentences, and alive when run again."""

import shutil

import nbformat
import pytest

from tests.browser import SOURCE, Notebook
from tokenwerk_helpers.tools.refresh import problems_of_file

pytestmark = pytest.mark.browser

STORED = SOURCE / "05_causal_mask.ipynb"


def shown(notebook: Notebook) -> tuple[int, str]:
    """How many pictures the outputs show, and all that they say."""
    notebook.show_everything()
    outputs = notebook.page.locator(".jp-OutputArea-output:visible")
    pictures = notebook.page.locator(".jp-OutputArea-output img:visible")
    assert pictures.evaluate_all("all => all.every(one => one.complete && one.naturalWidth > 0)")
    return pictures.count(), "\n".join(outputs.all_inner_texts())


def sentences() -> list[str]:
    """What the stored page says of its pictures."""
    stored = [output for cell in nbformat.read(STORED, 4).cells for output in cell.get("outputs", [])]
    return [o.metadata["image/png"]["alt"] for o in stored if "image/png" in o.get("data", {})]


def test_a_page_run_and_saved_shows_every_picture_the_next_day_and_lives_when_run_again(server, turn_to):
    saved = server.notebooks / "05_saved.ipynb"
    shutil.copy(STORED, saved)
    notebook = turn_to(saved.name)
    notebook.run_all()
    before = shown(notebook)
    notebook.ask("save")
    # The page itself has lost nothing: its views are live.
    assert len(notebook.explorers()) > 0 and notebook.complaints() == []
    assert shown(notebook) == before
    assert problems_of_file(saved) == []  # as the maintainer stores it

    notebook = turn_to(saved.name)  # read anew, with another kernel
    assert not notebook.unsaved_when_opened
    pictures, text = shown(notebook)
    told = sentences()
    assert pictures == len(told) > 0 and notebook.complaints() == []
    assert "Error displaying widget" not in text
    said = " ".join(text.split())
    assert all(said.count(" ".join(sentence.split())) == 1 for sentence in told)
    notebook.run_all()
    assert len(notebook.explorers()) > 0 and notebook.complaints() == []
