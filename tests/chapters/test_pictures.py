"""Figures as a printer looks at them: whatever is chosen, no writing is cut off or lies over another.

And as a reader does: nothing jumps that nobody has moved, and the first move is as quick as the tenth. Global
settings belong to the reader: whatever they are, views look and compute the same, and set none.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from unittest.mock import Mock

import ipywidgets as widgets
import numpy as np
import pytest
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from tests.chapters.surroundings import asked_from_the_page, foreign, page_thread, settings
from tokenwerk_helpers import chapters
from tokenwerk_helpers.chapters import book
from tokenwerk_helpers.chapters.book import you_are_here
from tokenwerk_helpers.chapters.norm_placement.computation import at_start
from tokenwerk_helpers.chapters.residual.computation import train_all_rates
from tokenwerk_helpers.live import style
from tokenwerk_helpers.live.explorer import Explorer
from tokenwerk_helpers.live.figure import LiveFigure

CACHES = (train_all_rates, at_start)  # else they answer from the reader's usual settings
TOUCH = 3  # pixels that boxes may share: they hold more than the ink


def live_views() -> list[type[Explorer]]:
    """Every live view that a page can show as it is."""
    modules = [
        importlib.import_module(module.name)
        for module in pkgutil.walk_packages(chapters.__path__, f"{chapters.__name__}.")
        if module.name.endswith(".views")
    ]
    found = [one for module in modules for one in vars(module).values() if inspect.isclass(one)]
    own = {one for one in found if issubclass(one, Explorer) and one.sentence is not Explorer.sentence}
    complete = [one for one in own if all(p.default is not p.empty for p in parameters(one))]
    return sorted(complete, key=lambda one: (one.__module__, one.__name__))


def parameters(one: type) -> list[inspect.Parameter]:
    """What has to be named to make one, without *args and **kwargs."""
    named = inspect.signature(one).parameters.values()
    return [p for p in named if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def extremes(control: widgets.Widget) -> list:
    """The ends of a slider, every entry of a list, both sides of a switch."""
    if isinstance(control, widgets.IntSlider | widgets.FloatSlider):
        return [control.min, control.max]
    if isinstance(control, widgets.SelectionSlider | widgets.Dropdown):
        values = [option[1] if isinstance(option, tuple) else option for option in control.options]
        return values if isinstance(control, widgets.Dropdown) else [values[0], values[-1]]
    return [True, False] if isinstance(control, widgets.Checkbox) else []


def at_the_ends(explorer: Explorer, back: Callable[[str], object] = str) -> Iterator[str]:
    """Move each control alone to its ends, and yield where it stands; `back` is told its name after Reset."""
    for name, control in explorer.controls.items():
        for value in extremes(control):
            control.value = value
            yield f"{name} = {value}"
        explorer.reset()
        back(name)


def drawn(live: LiveFigure) -> Iterator[tuple[Text, Bbox]]:
    """Yield every writing of the figure that is to be seen, and the pixels it takes."""
    renderer = live.canvas.get_renderer()
    hidden = {id(label) for label in unused_ticks(live)}
    for text in live.figure.findobj(Text):
        axes = text.axes
        is_shown = text.get_visible() and text.get_text().strip() and id(text) not in hidden
        if not is_shown or (axes is not None and not axes.get_visible()):
            continue
        box = text.get_window_extent(renderer)
        is_clipped = axes is not None and text.get_clip_on() and not box.overlaps(axes.bbox)
        if box.width and not is_clipped:
            yield text, box


def unused_ticks(live: LiveFigure) -> Iterator[Text]:
    """Yield labels that matplotlib keeps but leaves out: beyond an axis' end, or of an axis that is off."""
    for axes in live.figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            scaled = axis.get_transform().transform
            low, high = sorted(scaled(axis.get_view_interval()))
            slack = 1e-6 * (high - low)
            is_off = not (axes.axison and axis.get_visible())
            for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
                if is_off or not low - slack <= scaled([tick.get_loc()])[0] <= high + slack:
                    yield from (tick.label1, tick.label2)


def faults(live: LiveFigure) -> list[str]:
    """What a printer would send back."""
    page, writings = live.figure.bbox, list(drawn(live))
    inside = page.expanded(1 + TOUCH / page.width, 1 + TOUCH / page.height)
    cut = [text for text, box in writings if not inside.contains(*box.min) or not inside.contains(*box.max)]
    # The boxes of slanted writing overlap, the letters do not.
    level = [(text, box.padded(-TOUCH / 2)) for text, box in writings if text.get_rotation() % 90 == 0]
    over = [(one, other) for (one, a), (other, b) in combinations(level, 2) if a.overlaps(b)]
    small = [text for text, _box in writings if text.get_fontsize() < style.SMALL_SIZE]
    return (
        [f"{text.get_text()!r} is cut off" for text in cut]
        + [f"{text.get_text()!r} is small print" for text in small]
        + [f"{one.get_text()!r} and {other.get_text()!r} lie over each other" for one, other in over]
    )


def is_stale(live: LiveFigure) -> bool:
    """Does the figure look different when all of it is drawn anew, the layout left as it is?"""
    moved, engine = live.pixels, live.figure.get_layout_engine()
    live.figure.set_layout_engine("none")
    live.redraw()
    live.figure.set_layout_engine(engine)
    return not np.array_equal(moved, live.pixels)


def axes_and_names(figures: list[LiveFigure]) -> dict[tuple, tuple]:
    """For each axis that is shown: where it begins and ends, and all it says of that in words and numbers."""
    return {
        (id(axes), axis.axis_name): (
            tuple(axis.get_view_interval()),
            (
                axes.get_title(loc="left"),
                axis.label.get_text(),
                *(t.get_text() for t in axis.get_ticklabels()),
            ),
        )
        for live in figures
        for axes in live.figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        if axes.axison and axis.get_visible()
    }


def silent_axes(explorer: Explorer, figures: list[LiveFigure]) -> Iterator[str]:
    """Yield where a slider moves the ends of an axis whose label, title and ticks stay as they were."""
    explorer.reset()
    at_first = axes_and_names(figures)
    sliders = widgets.IntSlider | widgets.FloatSlider | widgets.SelectionSlider
    for name, control in explorer.controls.items():
        for value in extremes(control) if isinstance(control, sliders) else ():
            control.value = value
            for which, (ends, words) in axes_and_names(figures).items():
                before, said = at_first.get(which, (ends, words))
                if ends != before and words == said:
                    yield f"{name} = {value}: axis {which[1]}"
        explorer.reset()


def jumps(explorer: Explorer, figures: list[LiveFigure]) -> Iterator[str]:
    """Yield what looks different although nothing has moved, and where a move has drawn everything."""
    at_first, stills = pictures(figures), [live.still() for live in figures]
    for page in ({"dark": False, "density": 1.0}, {"dark": True, "density": 1.25}):
        for live in figures:
            live.set_state(page)
        shown = pictures(figures)
        if page["dark"] and [live.still() for live in figures] != stills:
            yield f"{page}: another still"
        for live in figures:
            live.canvas.draw = Mock(wraps=live.canvas.draw)
        explorer.update()
        if any(live.canvas.draw.called for live in figures):
            yield f"{page}: a move after the still draws everything"
        if pictures(figures) != shown:
            yield f"{page}: a move that moves nothing"
        for live in figures:
            live.redraw()
        if pictures(figures) != shown:
            yield f"{page}: all drawn anew"
    for live in figures:
        live.set_state({"dark": False, "density": 1.0})
    if pictures(figures) != at_first:
        yield "back on the first page"


def pictures(figures: list[LiveFigure]) -> list[bytes]:
    """The pixels of every figure."""
    return [live.pixels.tobytes() for live in figures]


def shown(explorer: Explorer) -> list:
    """What a view shows now: its sentences, and its pixels or arrays."""
    views = [view for row in explorer.rows for view in row]
    arrays = [view.pixels if isinstance(view, LiveFigure) else view.values for view in views]
    return [explorer.caption.value, explorer.message.value, *(hash(array.tobytes()) for array in arrays)]


def all_shown(explorer: Explorer) -> list:
    """What a view shows at first, at the ends of its controls, and as a still."""
    seen = shown(explorer)
    for _where in at_the_ends(explorer):
        seen += shown(explorer)
    return [*seen, hash(explorer.still().tobytes())]


@dataclass
class Seen:
    """What one walk has found: at first, when nothing moves, and at the ends of every control."""

    view: type[Explorer]
    faults: set[str] = field(default_factory=set)
    stale: set[str] = field(default_factory=set)
    jumps: set[str] = field(default_factory=set)
    silent: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)
    traces: list[str] = field(default_factory=list)
    shown: list = field(default_factory=list)


@pytest.fixture(scope="module", params=live_views(), ids=lambda one: one.__name__)
def seen(request) -> Seen:
    """Each control moved alone, from the thread of the page."""
    before = settings()
    explorer = request.param()
    figures = [view for row in explorer.rows for view in row if isinstance(view, LiveFigure)]
    found = Seen(request.param, {fault for live in figures for fault in faults(live)})
    found.traces += ["making it changes a global setting"] if settings() != before else []
    found.shown += shown(explorer)
    found.jumps |= set(jumps(explorer, figures))
    first = shown(explorer)
    moves = at_the_ends(explorer, lambda name: shown(explorer) == first or found.changed.add(name))
    with asked_from_the_page() as (page, wrong):
        while where := page_thread(page, lambda: next(moves, None)):
            found.shown += shown(explorer)
            found.faults |= {f"{where}: {fault}" for live in figures for fault in faults(live)}
            found.stale |= {where for live in figures if is_stale(live)}
    found.traces += wrong
    found.shown.append(hash(explorer.still().tobytes()))
    found.silent = set(silent_axes(explorer, figures))
    explorer.close()
    return found


def test_no_writing_is_cut_off_or_lies_over_another_at_the_ends_of_any_control(seen):
    assert not seen.faults


def test_reset_after_any_control_brings_back_what_was_shown_first(seen):
    assert not seen.changed


def test_what_has_moved_looks_as_if_all_had_been_drawn_anew(seen):
    assert not seen.stale


def test_what_nobody_has_moved_stays_and_a_first_move_draws_only_what_has_moved(seen):
    """After the still, a move that moves nothing, all drawn anew; on a dark and denser page, and back."""
    assert not seen.jumps


def test_a_view_leaves_the_readers_settings_and_random_numbers_alone(seen):
    """The page's thread draws no random number and never sets, not even for a moment, a global setting."""
    assert not seen.traces


def test_no_setting_of_the_reader_changes_what_a_view_shows(seen):
    for cached in CACHES:
        cached.cache_clear()
    with foreign():
        explorer = seen.view()
        try:
            assert all_shown(explorer) == seen.shown
        finally:
            explorer.close()
            for cached in CACHES:
                cached.cache_clear()


def test_no_slider_moves_an_axis_that_does_not_say_so(seen):
    assert not seen.silent


@pytest.mark.parametrize("notebook", book.CHAPTERS)
def test_nor_in_the_drawn_decoder_at_the_head_of_a_page(notebook):
    here = you_are_here(notebook)
    here.refresh()
    assert not faults(here)
