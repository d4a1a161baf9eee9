"""What tests share: the same examples everywhere, one JupyterLab and one Chromium for each worker."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

# The same examples on every machine, however busy it is, and no files beside the tests.
settings.register_profile("everywhere", deadline=None, derandomize=True, database=None)
settings.load_profile("everywhere")

BROWSER_REQUIRED = os.environ.get("TOKENWERK_BROWSER") == "required"


@pytest.fixture(scope="session")
def server() -> Iterator:
    """A running JupyterLab as `make lab` starts it, over a copy of the notebooks."""
    from tests import browser

    with browser.lab() as lab:
        yield lab


# Not for the whole session: while Playwright is at work, no other test of its process may run an event loop.
@pytest.fixture(scope="module")
def chromium() -> Iterator:
    """A running Chromium; without one the test is skipped, or fails where TOKENWERK_BROWSER=required."""
    from tests import browser

    if browser.CHROMIUM is None and not BROWSER_REQUIRED:
        pytest.skip("no Chromium found (set TOKENWERK_BROWSER=required to fail instead)")
    with browser.chromium() as running:
        yield running
