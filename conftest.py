"""Surroundings of every test, also of notebooks/ alone: language, threads, and what stays together.

Needs nothing but pytest: a reader who proves the book with nbval has neither pytest-xdist nor hypothesis.
"""

import os

import pytest

# Before torch or a kernel starts: German pages as they are stored, without a GPT-2 of the maker's; pictures
# in the page; one thread for each of two workers.
for _name in ("TOKENWERK_LANG", "TOKENWERK_GPT2", "MPLBACKEND"):
    os.environ.pop(_name, None)
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log):
    """Spread the tests over the workers; the mark `xdist_group` would say it, but needs an older pytest."""
    from tests.spread import ByFileOrPage

    return ByFileOrPage(config, log)
