"""What a reader installs proves the book: nbval runs with what requirements.txt brings, and nothing else."""

import os
import re
import subprocess
import tomllib
import venv
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytestmark = pytest.mark.nbval

ROOT = Path(__file__).parents[2]


def asked_for(lines: list[str], extras: set[str]) -> list[Requirement]:
    """The requirements among the lines that hold on this machine and for these extras."""
    found = map(Requirement, lines)
    wanted = [{"extra": extra} for extra in extras | {""}]
    return [one for one in found if not one.marker or any(map(one.marker.evaluate, wanted))]


def closure(lines: list[str]) -> set[str]:
    """The names of all distributions that installing these lines brings, those they need included."""
    found, open_ends = set(), asked_for(lines, set())
    while open_ends:
        one = open_ends.pop()
        key = canonicalize_name(one.name), frozenset(one.extras)
        if key not in found:
            found.add(key)
            open_ends += asked_for(metadata.requires(one.name) or [], set(one.extras))
    return {name for name, _extras in found}


def readers_lines() -> list[str]:
    """The lines of requirements.txt; its last one, `-e .`, is this project with its own dependencies."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert "-e ." in lines
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [line for line in lines if line and line[0] not in "#-"] + project["dependencies"]


def environment(folder: Path, names: set[str]) -> Path:
    """A virtual environment with this project, these distributions and no others; its Python.

    Each is a link to where it lies here: made in a moment, and just as blind for the rest as a fresh one.
    """
    venv.create(folder, symlinks=os.name != "nt")
    (site,) = folder.glob("Lib/site-packages" if os.name == "nt" else "lib/python*/site-packages")
    for name in names:
        distribution = metadata.distribution(name)
        tops = {file.parts[0] for file in distribution.files} - {"..", "__pycache__"}
        for top in tops:
            if not (site / top).exists():
                (site / top).symlink_to(distribution.locate_file(top))
    (site / "project.pth").write_text(f"{ROOT}\n", encoding="utf-8")
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def nbval(python: Path, where: Path, argument: str) -> str:
    """What `pytest --nbval` says with that Python in that folder; it must end well."""
    outside = ("PYTHONPATH", "PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER")
    quiet = {name: value for name, value in os.environ.items() if name not in outside}
    command = [python, "-m", "pytest", "--nbval", "-q", "--color=no", argument]
    result = subprocess.run(command, cwd=where, env=quiet, capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def reader(tmp_path_factory) -> Path:
    """The Python of a reader who ran `pip install -r requirements.txt`."""
    return environment(tmp_path_factory.mktemp("reader"), closure(readers_lines()))


@pytest.fixture(scope="module")
def reader_with_xdist(tmp_path_factory) -> Path:
    """The Python of a reader who has pytest-xdist besides."""
    return environment(tmp_path_factory.mktemp("xdist"), closure([*readers_lines(), "pytest-xdist"]))


def test_nbval_proves_a_page_with_nothing_but_what_a_reader_installs(reader):
    missing = subprocess.run([reader, "-c", "import xdist"], capture_output=True, text=True)
    assert "No module named 'xdist'" in missing.stderr
    assert " passed" in nbval(reader, ROOT, "notebooks/en/00_start.ipynb")


def test_nbval_finds_all_pages_from_their_own_folder_with_and_without_xdist(reader, reader_with_xdist):
    pages = {f"{path.parent.name}/{path.name}" for path in (ROOT / "notebooks").glob("*/*.ipynb")}
    for python in (reader, reader_with_xdist):
        found = nbval(python, ROOT / "notebooks", "--collect-only")
        assert set(re.findall(r"(\w+/\w+\.ipynb)::", found)) == pages
