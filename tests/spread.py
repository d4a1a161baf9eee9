"""What stays together when pytest-xdist spreads the tests over workers, and what goes first."""

from xdist.scheduler import LoadFileScheduling

BROWSER_PAGES = "tests/notebooks/test_notebooks_in_browser"
OTHER_EDITIONS = "tests/notebooks/test_other_editions_in_browser"
# Seconds of a worker, roughly; of the pages in the browser those of one. What is not named takes a few.
LONG = {
    "tests/chapters/test_pictures": 60,
    "tests/test_new_page": 40,
    BROWSER_PAGES: 35,
    OTHER_EDITIONS: 34,
    "tests/chapters/test_traceless": 30,
    "tests/live/test_matrix_browser": 30,
    "tests/notebooks/test_saved_page_in_browser": 25,
    "tests/notebooks/test_after_the_kernel": 25,
    "tests/notebooks/test_stored_and_printed": 20,
    "tests/notebooks/test_nbval_can_fail": 20,
    "tests/notebooks/test_reader_environment": 15,
    "tests/chapters/test_foreign_settings": 15,
    "tests/chapters/test_block": 12,
    "tests/live/test_figure_browser": 10,
    "tests/test_server": 8,
}


class ByFileOrPage(LoadFileScheduling):
    """A worker takes a whole file (of a notebook: its kernel), of the browser tests all those of one page.

    The decoder's go first, to be heard soon; then the longest, so that at the end no worker waits.
    """

    def _split_scope(self, nodeid: str) -> str:
        file, _, test = nodeid.partition("::")
        page = test.partition("[")[2]
        return f"{file} {page}" if file.startswith((BROWSER_PAGES, OTHER_EDITIONS)) else file

    def _assign_work_unit(self, node) -> None:
        self.workqueue.move_to_end(max(self.workqueue, key=urgency), last=False)
        super()._assign_work_unit(node)


def urgency(scope: str) -> tuple[bool, float]:
    """The greatest is next: is it the decoder's, and for how many seconds will a worker be busy?"""
    return scope.startswith("tests/decoder/"), LONG.get(scope.partition(".py")[0], 4)
