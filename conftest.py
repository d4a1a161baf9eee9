"""Surroundings of every test, also of notebooks/ alone: language, threads, and what stays together."""

import os

import pytest
from xdist.scheduler import LoadFileScheduling

# Before torch or a kernel starts: German pages as they are stored, without a GPT-2 of the maker's; pictures
# in the page; one thread for each of two workers.
for _name in ("TOKENWERK_LANG", "TOKENWERK_GPT2", "MPLBACKEND"):
    os.environ.pop(_name, None)
os.environ.setdefault("OMP_NUM_THREADS", "1")


class ByFileOrPage(LoadFileScheduling):
    """A worker takes a whole file (of a notebook: its kernel), of the browser tests all those of one page."""

    def _split_scope(self, nodeid: str) -> str:
        file, _, test = nodeid.partition("::")
        page = test.partition("[")[2]
        return f"{file} {page}" if file.startswith("tests/test_notebooks_in_browser") else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log) -> LoadFileScheduling:
    """Spread the tests over the workers; the mark `xdist_group` would say it, but needs an older pytest."""
    return ByFileOrPage(config, log)
