"""00_start: the first slider, the self-test, the response time, and the map of the book."""

import re
import statistics
from pathlib import Path

import nbformat
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from jupyterlab.commands import get_app_dir
from packaging.specifiers import SpecifierSet

from tests.ways import Ways
from tokenwerk_helpers.chapters import book
from tokenwerk_helpers.chapters.start import computation, exercises, questions, views
from tokenwerk_helpers.tools import minutes

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "notebooks" / "de" / "00_start.ipynb"


@pytest.fixture(scope="module")
def prose() -> str:
    page = nbformat.read(NOTEBOOK, as_version=4)
    return "\n".join(cell.source for cell in page.cells if cell.cell_type == "markdown")


# ---- the first slider ----


@given(st.floats(-50, 50))
def test_the_probabilities_are_the_softmax_of_the_three_logits(logit):
    result = computation.next_word(logit)
    reference = torch.nn.functional.softmax(torch.tensor([2.0, 1.0, logit], dtype=torch.float64), dim=0)
    assert np.allclose(result.probabilities, reference.numpy(), atol=1e-12)


def test_the_first_slider_answers_over_its_whole_range():
    view = views.FirstSlider()
    slider = view.controls["logit"]
    seen = set()
    for logit in np.arange(slider.min, slider.max + 0.05, 0.5):
        view.set(logit=float(logit))
        assert view.error is None
        assert [bar.get_width() for bar in view.bars.bars] == pytest.approx(list(view.result.probabilities))
        seen.add((view.figure.pixels.tobytes(), view.caption.value))
    assert len(seen) == len(np.arange(slider.min, slider.max + 0.05, 0.5))
    view.set(logit=2.0)
    assert "denselben Logit wie „bellt“" in view.caption.value


# ---- the self-test ----


def part(version: str | None, needed: str = ">=2.13") -> views.Part:
    return views.Part("torch", version, SpecifierSet(needed))


def test_this_installation_is_complete_and_the_live_report_names_versions():
    report = views.Installation()
    assert report.complete
    assert f"torch {torch.__version__}" in report.widget.value
    assert {p.name for p in report.parts} >= {"Python", "torch", "jupyterlab", "ipywidgets", "anywidget"}


def test_the_stored_report_names_no_version_so_that_the_next_release_reads_the_same():
    now, later = (
        views.Installation([part(version)], computes=True)._repr_mimebundle_()[0]["text/plain"]
        for version in ("2.13.0+cpu", "2.99.1")
    )
    assert now == later and "✓ torch" in now and not re.search(r"\d", now)


@pytest.mark.parametrize("version", [None, "2.1.0"])
def test_a_missing_or_old_package_is_named_and_changes_the_stored_report(version):
    report = views.Installation([part(version)], computes=True)
    assert not report.complete
    for text in (report.report(exact=True), report.report(exact=False)):
        assert "✗ torch" in text and "requirements.txt" in text
    if version:
        assert "2.1.0" in report.report(exact=True) and ">=2.13" in report.report(exact=True)


def test_a_torch_that_computes_wrongly_is_not_called_complete():
    report = views.Installation([part("2.13.0")], computes=False)
    assert not report.complete and "✗ torch rechnet nicht richtig" in report.report(exact=True)


def test_the_versions_asked_for_are_those_of_the_package():
    needed = computation.needed_versions()
    assert not needed["torch"].contains("2.0") and needed["torch"].contains("2.13.0")


# ---- the response time ----


def test_the_kernel_answers_every_question_with_its_number():
    pulse = views.response_time()
    for number in (1, 2, 7):
        pulse.set_state({"question": number})
        assert pulse.answer == number
    assert "{median}" in pulse.report and "{slow}" in pulse.report
    data, _metadata = pulse._repr_mimebundle_()
    assert data["text/plain"] == pulse.still and not re.search(r"\d", data["text/plain"])


# ---- questions and the practice exercise ----


def test_the_first_guess_knows_right_from_wrong():
    guess = questions.guess_equal_logits()
    assert [guess.reply_to(option).correct for option in range(3)] == [False, True, False]
    assert guess.options[1].text.startswith("So wahrscheinlich wie")


def test_the_practice_exercise_names_the_mistake():
    assert exercises.check_mean(lambda numbers: ...).correct is None
    assert exercises.check_mean(lambda numbers: None).correct is None
    assert exercises.check_mean(lambda numbers: sum(numbers) / len(numbers)).correct
    assert exercises.check_mean(lambda numbers: float(np.mean(numbers))).correct
    assert "Summe" in exercises.check_mean(sum).text
    assert "drei" in exercises.check_mean(lambda numbers: sum(numbers) / 2).text
    assert "//" in exercises.check_mean(lambda numbers: sum(numbers) // len(numbers)).text
    assert "[2, 5, 5]" in exercises.check_mean(lambda numbers: sorted(numbers)[len(numbers) // 2] - 1.0).text
    assert exercises.check_mean(max).correct is False
    assert "eine Liste" in exercises.check_mean(lambda numbers: numbers).text


# ---- the map of the book ----


def test_the_map_leads_to_every_chapter_by_its_name(prose):
    for notebook in book.CHAPTERS:
        if notebook != "00_start":
            link = f"[{book.number_of(notebook)} · {book.title(notebook)}]({notebook}.ipynb)"
            assert f"| {link} |" in prose, link


def test_the_map_gives_the_minutes_that_a_page_takes(prose):
    """As estimated from its words, questions, views and exercises; an author may differ by five."""
    said = dict(
        re.findall(r"^\| \[\d\d\w? · .*\]\((\w+)\.ipynb\) \| .*\| (\d+) \|$", prose, flags=re.MULTILINE)
    )
    assert len(said) == len(book.CHAPTERS) - 1
    taken = {page: minutes.minutes(NOTEBOOK.parent / f"{page}.ipynb") for page in said}
    assert {page: taken[page] for page in said if abs(taken[page] - int(said[page])) > 5} == {}
    assert all(int(one) % minutes.ROUNDED_TO == 0 for one in said.values())


def test_minutes_are_counted_for_words_questions_views_exercises_and_cells(tmp_path):
    code = [
        "import torch",
        "page.guess_it()",
        "page.View()",
        "def f(x):\n    return ...\n\n\npage.check_it(f)",
        "1 + 1",
    ]
    cells = [
        nbformat.v4.new_markdown_cell("Wort [Link](nicht.ipynb) " * 150),
        *map(nbformat.v4.new_code_cell, code),
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "page.ipynb")
    assert minutes.minutes(tmp_path / "page.ipynb") == 2 + 1 + 2 + 4 + 0.5
    assert minutes.rounded(tmp_path / "page.ipynb") == 10


def test_every_link_of_the_page_leads_to_a_file_beside_it(prose):
    names = {name.partition("#")[0] for name in re.findall(r"\]\(([^)]+)\)", prose)}
    assert names <= {f"{notebook}.ipynb" for notebook in book.CHAPTERS} | {"../en/00_start.ipynb"}


def test_the_option_for_a_reader_s_own_jupyterlab_names_a_class_that_exists(prose):
    from tokenwerk_helpers.jupyter import server

    option = re.search(r"kernel_websocket_connection_class=([\w.]+)", prose).group(1)
    module, name = option.rsplit(".", 1)
    assert module == server.__name__ and hasattr(server, name)


def test_the_commands_of_the_page_name_files_that_exist(prose):
    for name in ("requirements.txt", "tokenwerk_helpers/jupyter/jupyter_lab_config.py"):
        assert name in prose and (ROOT / name).is_file()
    assert re.search(r"^lab:", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)


# ---- the table of help ----

MET = ("Error displaying widget", "NameError", "SyntaxError", "[*]", "No module named", "nichts geht mehr")


def test_every_menu_that_the_page_names_is_one_of_jupyterlab_s(prose):
    """Its labels stand in its code, some with three dots behind them: "Restart Kernel…"."""
    static = Path(get_app_dir()) / "static"
    code = "".join(path.read_text(encoding="utf-8") for path in static.glob("jlab_core.*.js"))
    labels = {label for _menu, label in re.findall(r"\*\*(Run|Kernel) → ([^*]+)\*\*", prose)}
    assert {"Interrupt Kernel", "Restart Kernel", "Run All Above Selected Cell"} <= labels
    for label in labels:
        assert f'"{label}"' in code or f'"{label}…"' in code, label


def test_the_table_names_what_a_beginner_meets_and_leads_nobody_into_the_same_loop_again(prose):
    table = prose.partition("## Wenn etwas klemmt")[2]
    remedies = dict(re.findall(r"^\| (.+) \| .* \| (.+) \|$", table, re.MULTILINE))
    for one in MET:
        assert any(one in seen for seen in remedies), one
    for stuck in ("hört nicht auf", "nichts geht mehr"):
        (remedy,) = (helps for seen, helps in remedies.items() if stuck in seen)
        assert "Ändere" in remedy and "Run All Cells" not in remedy


# ---- ways in which a reader may write the exercise, right and wrong ----


WAYS = {
    "check_mean": Ways(
        [
            lambda numbers: sum(numbers) / len(numbers),
            statistics.fmean,
            lambda numbers: torch.tensor(numbers).mean(),
            np.mean,
        ],
        [(lambda numbers: numbers, "eine Liste"), (lambda numbers: len(numbers) > 1, "True oder False")],
    ),
}
