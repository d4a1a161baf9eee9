"""Stored notebooks are in canonical form, and the check can tell when they are not."""

import base64
import io
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from tokenwerk_helpers.language import LANGUAGES
from tokenwerk_helpers.tools.refresh import (
    METADATA,
    BOOK,
    Refused,
    canonical,
    main,
    problems,
    problems_of_file,
    refresh,
    text_of,
)
from tokenwerk_helpers.live.twin import MARK, WIDGET_VIEW


def png(note: str | None = None) -> str:
    """A tiny picture as base64, with a dated note inside if one is given."""
    information = PngInfo()
    if note:
        information.add_text("Creation Time", note)
    file = io.BytesIO()
    Image.new("RGB", (2, 2)).save(file, "PNG", pnginfo=information)
    return base64.b64encode(file.getvalue()).decode("ascii")


def page() -> NotebookNode:
    """A small notebook in canonical form."""
    picture = {"image/png": png(), "text/plain": "Mittelwert 2.00"}
    size = {"image/png": {"width": 300}}
    cells = [
        new_markdown_cell("# Über den Mittelwert", id="aaaa"),
        new_code_cell(
            "print(1)",
            id="bbbb",
            execution_count=1,
            outputs=[new_output("stream", name="stdout", text="1\n")],
        ),
        new_code_cell(
            "mean",
            id="cccc",
            execution_count=2,
            outputs=[new_output("execute_result", picture, execution_count=2, metadata=size)],
        ),
    ]
    notebook = new_notebook(cells=cells, metadata=METADATA)
    notebook.nbformat_minor = 5
    return notebook


PAGES = sorted(BOOK.glob("*/*.ipynb"))


def test_every_notebook_is_stored_in_canonical_form():
    found = {f"{path.parent.name}/{path.name}": problems_of_file(path) for path in PAGES}
    assert found and {page: wrong for page, wrong in found.items() if wrong} == {}


def test_every_notebook_is_valid():
    wrong = []
    for path in PAGES:
        try:
            nbformat.validate(nbformat.read(path, as_version=nbformat.NO_CONVERT))
        except nbformat.ValidationError as error:
            wrong.append(f"{path.name}: {error}")
    assert wrong == []


def test_nothing_lies_beside_the_notebooks():
    beside = {path.name for path in BOOK.iterdir()} - {*LANGUAGES}
    strangers = {path.name for path in BOOK.glob("*/*") if path.suffix != ".ipynb" and path.parent.name in LANGUAGES}
    # The README's image, and what a JupyterLab started without our options leaves.
    assert beside | strangers <= {"images", ".ipynb_checkpoints"}


def test_a_tidy_page_has_no_problems():
    assert problems(page()) == []


def output(notebook: NotebookNode) -> NotebookNode:
    return notebook.cells[2].outputs[0]


def add_live_view(notebook: NotebookNode) -> None:
    """What a run leaves beside a picture: the live view and the mark that the picture may take its place."""
    output(notebook).data[WIDGET_VIEW] = {"model_id": "0f"}
    output(notebook).metadata[WIDGET_VIEW] = MARK


# What may go wrong, how it is done, and a word of the complaint.
MISCHIEF: dict[str, tuple[Callable[[NotebookNode], object], str]] = {
    "a count that was not reset": (lambda n: n.cells[1].update(execution_count=7), "execution count"),
    "a cell never run": (lambda n: n.cells[2].update(execution_count=None), "execution count"),
    "cells run out of order": (
        lambda n: (n.cells[1].update(execution_count=2), n.cells[2].update(execution_count=1)),
        "execution count",
    ),
    "a result with another count": (lambda n: output(n).update(execution_count=9), "outputs"),
    "a widget view": (add_live_view, "widget view"),
    "a view of others": (lambda n: output(n).data.update({WIDGET_VIEW: {"model_id": "0f"}}), "bare widget"),
    "a bare widget": (
        lambda n: output(n).update(data={WIDGET_VIEW: {}, "text/plain": "VBox(children=(IntSlider(),))"}),
        "bare widget",
    ),
    "the state of widgets": (lambda n: n.metadata.update(widgets={"state": {}}), "metadata.widgets"),
    "another kernel": (lambda n: n.metadata.kernelspec.update(name="conda-env"), "kernelspec"),
    "a version of Python": (lambda n: n.metadata.language_info.update(version="3.14"), "language_info"),
    "times of execution": (
        lambda n: n.cells[1].metadata.update(execution={"iopub.execute_input": "2026-01-01"}),
        "execution",
    ),
    "an id taken twice": (lambda n: n.cells[1].update(id="cccc"), "id"),
    "an old format": (lambda n: n.update(nbformat_minor=4), "4.5"),
    "a dated picture": (lambda n: output(n).data.update({"image/png": png("2026-01-01")}), "picture"),
    "a cut stream": (
        lambda n: n.cells[1].outputs.append(new_output("stream", name="stdout", text="2\n")),
        "stream",
    ),
    "a warning": (lambda n: n.cells[1].outputs[0].update(name="stderr"), "stderr"),
    "an error": (
        lambda n: n.cells[1].outputs.append(new_output("error", ename="ValueError", evalue="no")),
        "raises ValueError",
    ),
    "HTML": (lambda n: output(n).data.update({"text/html": "<b>2</b>"}), "text/html"),
    "metadata of an output": (lambda n: output(n).metadata.update(isolated=True), "metadata"),
}


@pytest.mark.parametrize("name", MISCHIEF)
def test_the_check_notices(name):
    do, complaint = MISCHIEF[name]
    notebook = page()
    do(notebook)
    assert any(complaint in problem for problem in problems(notebook)), problems(notebook)


@pytest.mark.parametrize(
    "change",
    [lambda text: text + "\n", lambda text: text.rstrip("\n"), lambda text: text.replace("\n ", "\n  ")],
    ids=["a line too many", "no last newline", "another indent"],
)
def test_the_check_notices_another_layout_of_the_file(change, tmp_path):
    path = tmp_path / "page.ipynb"
    path.write_text(text_of(page()), encoding="utf-8")
    assert problems_of_file(path) == []
    path.write_text(change(text_of(page())), encoding="utf-8")
    assert len(problems_of_file(path)) == 1


def test_tidying_mends_what_can_be_mended_and_keeps_what_a_reader_sees():
    notebook = page()
    for name in (
        "a widget view",
        "the state of widgets",
        "an id taken twice",
        "a dated picture",
        "a cut stream",
    ):
        MISCHIEF[name][0](notebook)
    tidy = canonical(notebook)
    assert problems(tidy) == []
    assert tidy.cells[1].outputs[0].text == "1\n2\n"
    assert tidy.cells[2].outputs[0].data["text/plain"] == "Mittelwert 2.00"
    assert tidy.cells[2].outputs[0].metadata == {"image/png": {"width": 300}}
    assert [cell.id for cell in tidy.cells[:2]] == ["aaaa", "cccc"]
    assert tidy.cells[2].id not in ("aaaa", "cccc")


def test_tidying_twice_changes_nothing():
    once = canonical(page())
    assert text_of(canonical(once)) == text_of(once)


def raw(path: Path, *sources: str) -> Path:
    """A notebook nobody has run yet."""
    nbformat.write(new_notebook(cells=[new_code_cell(source) for source in sources]), path)
    return path


@pytest.mark.parametrize("name", ["TOKENWERK_LANG", "TOKENWERK_GPT2", "MPLBACKEND"])
def test_pages_are_stored_without_what_their_maker_has_set(name, tmp_path, monkeypatch):
    monkeypatch.setenv(name, "en")
    path = raw(tmp_path / "01_surroundings.ipynb", f"import os\nprint(os.environ.get({name!r}) == 'en')")
    assert main([str(path)]) == 0
    assert nbformat.read(path, 4).cells[0].outputs[0].text == "False\n"


def test_a_progress_bar_leaves_nothing_on_the_page_and_is_no_warning(tmp_path):
    source = "from tqdm.auto import tqdm\nfor _ in tqdm(range(3)):\n    pass\nprint('done')"
    path = raw(tmp_path / "page.ipynb", source)
    assert refresh(path) is True
    (output,) = nbformat.read(path, as_version=4).cells[0].outputs
    assert (output.name, output.text) == ("stdout", "done\n") and problems_of_file(path) == []


def test_refreshing_runs_the_notebook_in_its_folder_and_a_second_time_changes_nothing(tmp_path):
    path = raw(tmp_path / "page.ipynb", "from pathlib import Path\nprint(Path.cwd().name)", "", "'ü' * 2")
    assert refresh(path) is True
    stored = path.read_bytes()
    cells = nbformat.read(path, as_version=4).cells
    assert cells[0].outputs[0].text == f"{tmp_path.name}\n"
    assert cells[2].outputs[0].data == {"text/plain": "'üü'"}
    assert problems_of_file(path) == []
    assert refresh(path) is False
    assert path.read_bytes() == stored


@pytest.mark.parametrize("source", ["1 / 0", "import warnings; warnings.warn('old')"])
def test_refreshing_refuses_a_cell_that_fails_or_warns_and_writes_nothing(source, tmp_path):
    path = raw(tmp_path / "page.ipynb", "print(1)", source)
    before = path.read_bytes()
    with pytest.raises(Refused, match=r"page\.ipynb"):
        refresh(path)
    assert path.read_bytes() == before
