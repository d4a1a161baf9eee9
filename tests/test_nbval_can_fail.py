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

from tests.refresh import NOTEBOOKS, refresh

ROOT = Path(__file__).parents[1]
SHORTEST = min(NOTEBOOKS.glob("*.ipynb"), key=lambda path: path.stat().st_size, default=None)


def nbval(path: Path) -> subprocess.CompletedProcess:
    """Run nbval on one notebook, strictly and with the project's settings, in a process of its own."""
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "--color=no", f"--rootdir={path.parent}"]
    command += ["-c", str(ROOT / "pyproject.toml"), str(path)]
    return subprocess.run(command, cwd=path.parent, capture_output=True, text=True, timeout=600)


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


@pytest.mark.skipif(SHORTEST is None, reason="no notebook yet")
def test_one_changed_number_in_a_copy_of_a_notebook_makes_nbval_fail(tmp_path):
    notebook = nbformat.read(SHORTEST, as_version=4)
    copy = tmp_path / SHORTEST.name
    nbformat.write(notebook, copy)
    untouched = nbval(copy)
    assert untouched.returncode == 0, untouched.stdout

    change_one_number(notebook)
    nbformat.write(notebook, copy)
    changed = nbval(copy)
    assert changed.returncode == 1, changed.stdout
    assert re.search(r"\b1 failed", changed.stdout), changed.stdout


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    """A two-line notebook in canonical form."""
    path = tmp_path_factory.mktemp("small") / "small.ipynb"
    nbformat.write(
        new_notebook(cells=[new_code_cell("round(2 / 3, 3)"), new_code_cell("print('3 rows')")]), path
    )
    refresh(path)
    return path


MISCHIEF: dict[str, Callable[[NotebookNode], None]] = {
    "a number": change_one_number,
    "a forgotten output": forget_one_output,
    "a word": lambda n: n.cells[1].outputs[0].update(text="3 columns\n"),
    "a computation": lambda n: n.cells[0].update(source="round(2 / 3, 2)"),
    "a warning": lambda n: n.cells[1].update(source="import warnings\nwarnings.warn('x')\nprint('3 rows')"),
    "an exception": lambda n: n.cells[1].update(source="1 / 0"),
}


def test_nbval_accepts_what_refresh_stored(small):
    result = nbval(small)
    assert result.returncode == 0, result.stdout
    assert "2 passed" in result.stdout


@pytest.mark.parametrize("name", MISCHIEF)
def test_nbval_rejects(name, small, tmp_path):
    notebook = nbformat.read(small, as_version=4)
    MISCHIEF[name](notebook)
    path = tmp_path / "small.ipynb"
    nbformat.write(notebook, path)
    result = nbval(path)
    assert result.returncode == 1, result.stdout
