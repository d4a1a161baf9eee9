"""What tests share: the same examples everywhere, one JupyterLab and one Chromium for each worker."""

import os
from collections.abc import Callable, Iterator

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


@pytest.fixture(scope="module")
def turn_to(server, chromium) -> Iterator[Callable]:
    """Open a notebook by its name; the JupyterLab in the browser is loaded once for all of a file."""
    from tests.browser import Notebook

    opened = []

    def notebook_of(name: str, keeps_kernel: bool = False) -> Notebook:
        if opened:
            opened[0].turn_to(name, keeps_kernel)
        else:
            opened.append(Notebook(chromium, server, name))
        return opened[0]

    yield notebook_of
    for notebook in opened:
        notebook.close()


@pytest.fixture(scope="module")
def pages(chromium):
    """A page for each density of the screen, with what it complained about."""
    opened = {}

    def page_of(scale: float):
        if scale not in opened:
            page = chromium.new_page(device_scale_factor=scale)
            complaints = []
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("console", lambda message: complaints.append(message.text))
            opened[scale] = page, complaints
        return opened[scale]

    yield page_of
    for page, _ in opened.values():
        page.close()


@pytest.fixture
def page_for(pages):
    """A page for a density of the screen, one for all of a file; the test must not make it complain."""
    used = []

    def page_of(density: float):
        page, complaints = pages(density)
        used.append(complaints)
        return page

    yield page_of
    for complaints in used:
        assert not complaints
