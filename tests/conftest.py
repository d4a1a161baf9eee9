"""Surroundings in which every test runs: the same language, threads and browser everywhere."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# Before torch or a kernel starts: German pages, pictures in the page, one thread for each of two workers.
for _name in ("TOKENWERK_LANG", "MPLBACKEND"):
    os.environ.pop(_name, None)
os.environ.setdefault("OMP_NUM_THREADS", "1")

# The same examples on every machine, however busy it is, and no files beside the tests.
settings.register_profile("everywhere", deadline=None, derandomize=True, database=None)
settings.load_profile("everywhere")

BROWSER_REQUIRED = os.environ.get("TOKENWERK_BROWSER") == "required"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Say what has to stay together on one worker: a file, or a browser test's notebook."""
    for item in items:
        notebook = getattr(item, "callspec", None) and item.callspec.params.get("notebook")
        together = f"browser {notebook}" if isinstance(notebook, Path) else str(item.path)
        item.add_marker(pytest.mark.xdist_group(together))


@pytest.fixture(scope="session")
def server() -> Iterator:
    """A running JupyterLab as `make lab` starts it, over a copy of the notebooks."""
    from tests import browser

    with browser.lab() as lab:
        yield lab


@pytest.fixture(scope="session")
def chromium() -> Iterator:
    """A running Chromium; without one the test is skipped, or fails where TOKENWERK_BROWSER=required."""
    from tests import browser

    if browser.CHROMIUM is None and not BROWSER_REQUIRED:
        pytest.skip("no Chromium found (set TOKENWERK_BROWSER=required to fail instead)")
    with browser.chromium() as running:
        yield running
