"""The notebooks' own test must be able to say no: a changed number, word or warning makes nbval fail."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from tokenwerk_helpers.tools.refresh import NOTEBOOKS, refresh

pytestmark = pytest.mark.nbval

ROOT = Path(__file__).parents[2]


def nbval(*paths: Path) -> str:
    """Run nbval strictly on notebooks of one folder, with the project's settings, in its own process."""
    folder = paths[0].parent
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "--color=no", "-rpf", f"--rootdir={folder}"]
    command += ["-c", str(ROOT / "pyproject.toml"), *(path.name for path in paths)]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    assert result.returncode in (0, 1), result.stdout + result.stderr
    return result.stdout


def failures(report: str, path: Path) -> int:
    """How many cells of that notebook failed."""
    return len(re.findall(rf"^FAILED {re.escape(path.name)}::", report, re.MULTILINE))


def passes(report: str, path: Path) -> int:
    """How many cells of that notebook passed."""
    return len(re.findall(rf"^PASSED {re.escape(path.name)}::", report, re.MULTILINE))


def read(path: Path) -> NotebookNode:
    """The notebook as stored."""
    return nbformat.read(path, as_version=4)


def texts(notebook: NotebookNode) -> list[tuple[NotebookNode, str]]:
    """Where the notebook stores text that a run must reproduce: (holder, key)."""
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            found += [(output, "text")] if "text" in output else []
            found += [(output.data, "text/plain")] if "text/plain" in output.get("data", {}) else []
    return found


def change_one_number(notebook: NotebookNode) -> None:
    """Alter the last digit of the last stored number."""
    holder, key = next((h, k) for h, k in reversed(texts(notebook)) if re.search(r"\d", h[k]))
    place = [match.start() for match in re.finditer(r"\d", holder[key])][-1]
    other = str((int(holder[key][place]) + 1) % 10)
    holder[key] = holder[key][:place] + other + holder[key][place + 1 :]


def forget_one_output(notebook: NotebookNode) -> None:
    """Drop what the first speaking cell stored."""
    next(cell for cell in notebook.cells if cell.get("outputs")).outputs = []


MISCHIEF: dict[str, Callable[[NotebookNode], None]] = {
    "number": change_one_number,
    "forgotten_output": forget_one_output,
    "word": lambda n: n.cells[1].outputs[0].update(text="3 columns\n"),
    "computation": lambda n: n.cells[0].update(source="round(2 / 3, 2)"),
    "warning": lambda n: n.cells[1].update(source="import warnings\nwarnings.warn('x')\nprint('3 rows')"),
    "exception": lambda n: n.cells[1].update(source="1 / 0"),
}


def test_one_changed_number_in_a_copy_of_a_notebook_makes_nbval_fail(tmp_path):
    pages = sorted(NOTEBOOKS.glob("*.ipynb"), key=lambda path: path.stat().st_size)
    page = next(path for path in pages if any(re.search(r"\d", h[k]) for h, k in texts(read(path))))
    original, changed = tmp_path / "original.ipynb", tmp_path / "changed.ipynb"
    nbformat.write(read(page), original)
    notebook = read(page)
    change_one_number(notebook)
    nbformat.write(notebook, changed)

    report = nbval(original, changed)
    assert failures(report, original) == 0 and passes(report, original) > 0, report
    assert failures(report, changed) == 1 and passes(report, changed) > 0, report


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> tuple[str, Path]:
    """nbval's report on a small notebook and on a copy of it for each kind of mischief."""
    folder = tmp_path_factory.mktemp("small")
    good = folder / "good.ipynb"
    nbformat.write(
        new_notebook(cells=[new_code_cell("round(2 / 3, 3)"), new_code_cell("print('3 rows')")]), good
    )
    refresh(good)
    for name, do in MISCHIEF.items():
        notebook = read(good)
        do(notebook)
        nbformat.write(notebook, folder / f"{name}.ipynb")
    return nbval(*sorted(folder.glob("*.ipynb"))), folder


def test_nbval_accepts_what_refresh_stored(report):
    text, folder = report
    assert passes(text, folder / "good.ipynb") == 2, text


@pytest.mark.parametrize("name", MISCHIEF)
def test_nbval_rejects(name, report):
    text, folder = report
    assert failures(text, folder / f"{name}.ipynb") == 1, text
