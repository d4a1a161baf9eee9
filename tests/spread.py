"""What stays together when pytest-xdist spreads the tests over workers."""

from xdist.scheduler import LoadFileScheduling


class ByFileOrPage(LoadFileScheduling):
    """A worker takes a whole file (of a notebook: its kernel), of the browser tests all those of one page."""

    def _split_scope(self, nodeid: str) -> str:
        file, _, test = nodeid.partition("::")
        page = test.partition("[")[2]
        return f"{file} {page}" if file.startswith("tests/notebooks/test_notebooks_in_browser") else file
