"""In the other editions, too, no writing is cut off or lies over another, longer or shorter as words are."""

import pytest

from tests.chapters.test_pictures import at_the_ends, faults, live_views
from tokenwerk_helpers.language import LANGUAGES, set_language
from tokenwerk_helpers.live.figure import LiveFigure


@pytest.fixture(scope="module", params=LANGUAGES[1:])
def language(request):
    set_language(request.param)
    yield request.param
    set_language(LANGUAGES[0])


@pytest.mark.parametrize("view", live_views(), ids=lambda view: view.__name__)
def test_no_writing_is_cut_off_or_lies_over_another_at_the_ends_of_any_control(language, view):
    explorer = view()
    figures = [one for row in explorer.rows for one in row if isinstance(one, LiveFigure)]
    found = {fault for live in figures for fault in faults(live)}
    for where in at_the_ends(explorer) if figures else ():
        found |= {f"{where}: {fault}" for live in figures for fault in faults(live)}
    explorer.close()
    assert not found
