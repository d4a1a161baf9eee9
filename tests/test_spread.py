"""The order in which the workers are given the tests."""

from collections import OrderedDict
from pathlib import Path
from unittest.mock import Mock

from tests.spread import BROWSER_PAGES, LONG, ByFileOrPage

ROOT = Path(__file__).parents[1]


def test_what_is_named_as_long_is_there():
    assert [name for name in LONG if not (ROOT / f"{name}.py").exists()] == []


def test_a_worker_takes_the_decoder_then_the_longest_and_a_page_in_the_browser_as_a_whole():
    pages = [f"{BROWSER_PAGES}.py::test_{what}[{page}]" for what in "ab" for page in ("01", "02")]
    tests = [
        "notebooks/01.ipynb::Cell 0",
        "tests/test_server.py::test",
        *pages,
        "tests/test_new_page.py::test",
    ]
    tests += ["tests/decoder/test_trace.py::test"]
    scheduler, worker = ByFileOrPage.__new__(ByFileOrPage), Mock()
    scheduler.assigned_work, scheduler.registered_collections = {}, {worker: tests}
    scheduler.workqueue = OrderedDict()
    for test in tests:
        scheduler.workqueue.setdefault(scheduler._split_scope(test), {})[test] = False
    while scheduler.workqueue:
        scheduler._assign_work_unit(worker)
    given = [[tests[place] for place in call.args[0]] for call in worker.send_runtest_some.call_args_list]
    assert given == [[tests[-1]], [tests[-2]], pages[::2], pages[1::2], [tests[1]], [tests[0]]]
