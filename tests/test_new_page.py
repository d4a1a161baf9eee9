"""`make new` makes a page that passes at once, in the checkout as it is."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.nbval

ROOT = Path(__file__).parents[1]
# What holds for every page, without what starts kernels of its own to test the tool that stores pages.
HELD = [
    "tests/test_layering.py",
    "tests/test_messages.py",
    "tests/notebooks/test_notebooks_read_as_a_book.py",
    "tests/notebooks/test_map_of_the_book.py",
    "tests/notebooks/test_terms.py",
    "tests/notebooks/test_canonical_form.py",
    "tests/chapters/test_start.py",
    "tests/chapters/test_exercises.py",
    "-k",
    "not refreshing and not stored_without and not progress_bar",
]


@pytest.fixture
def checkout(tmp_path) -> Path:
    """A copy of everything that is kept under version control; trained weights are not asked for."""
    ignored = shutil.ignore_patterns(".*", "__pycache__", "build", "*.egg-info", "*.safetensors")
    shutil.copytree(ROOT, tmp_path / "checkout", ignore=ignored)
    return tmp_path / "checkout"


def run(checkout: Path, *command: str) -> str:
    """What a command says that is run with the package of the copy; it must not fail."""
    surroundings = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    result = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=checkout,
        env=surroundings | {"PYTHONPATH": str(checkout)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_a_new_page_is_stored_listed_translated_and_passes_what_every_page_has_to(checkout):
    number = f"{max(int(path.name[:2]) for path in (checkout / 'notebooks' / 'de').glob('*.ipynb')) + 1:02}"
    name = f"{number}_quite_new"
    new = ("tokenwerk_helpers.tools.new", name, "--title", "Ganz neu")
    assert f"{name}.ipynb: stored" in run(checkout, *new)
    own = [
        f"notebooks/de/{name}.ipynb",
        f"notebooks/en/{name}.ipynb",
        "tests/test_editions.py",
        "tests/chapters/test_quite_new.py",
    ]
    said = run(checkout, "pytest", "-q", *own, *HELD)
    assert " passed" in said and "skipped" not in said
    run(checkout, "ruff", "check", ".")
    run(checkout, "ruff", "format", "--check", ".")
