"""Every notebook in a real JupyterLab and a real Chromium: it runs, it answers, and it stays by itself.

Notebooks are found, not listed: a new one is tested as soon as it lies in notebooks/de/. Of the other editions, which
have the same code, test_other_editions_in_browser.py tests a sample.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, expect

from tests.browser import NOTEBOOKS, SOURCE, Notebook
from tests.notebooks.test_notebooks_read_as_a_book import LOOKED_UP
from tokenwerk_helpers.language import _

pytestmark = pytest.mark.browser

PAGES = sorted(SOURCE.glob("*.ipynb"))
ANSWER = 20_000  # milliseconds a busy machine may need to answer one key
STILL = 1000  # milliseconds without a word from the kernel, after which long work has ended
PRESSES = 12
SIDE_BAR = 252  # its width in pixels, when it is open
TALLEST_VIEW = 779  # pixels that JupyterLab leaves a page of a window of 900
KEYS = ("ArrowRight", "ArrowLeft", "End", "Home")
TYPED = ("Oma", "$x$ <b>und</b> 🦆", "")
LIVE = (".tokenwerk-explorer", ".tokenwerk-guess")
STOPS = (_("Stop"), _("stop"))


@pytest.fixture(scope="module", params=PAGES, ids=lambda path: path.stem)
def notebook(request, turn_to) -> Notebook:
    """The notebook, opened and run from top to bottom once for all tests of this file."""
    path: Path = request.param
    page = turn_to(str(path.relative_to(NOTEBOOKS)), keeps_kernel=True)  # nbval runs each page in a new one
    page.run_all()
    return page


# ---- what a reader can see of an explorer, and do to it ----


def explorers(notebook: Notebook) -> Iterator[Locator]:
    """Yield each live view of the notebook, brought into sight: what is far away need not paint."""
    for explorer in notebook.explorers():
        explorer.scroll_into_view_if_needed()
        yield explorer


def settled(explorer: Locator) -> dict[str, str]:
    """What is to be seen once nothing changes any more: the pixels of the pictures, the words of the caption."""
    now = explorer.evaluate("(node, patience) => look.settled(node, patience)", ANSWER)
    assert now is not None, f"the live view does not come to rest: {explorer.inner_text()}"
    return now


def becomes_another(explorer: Locator, before: dict[str, str]) -> bool:
    """Wait until the explorer looks or reads unlike before; False if it stays."""
    return explorer.evaluate(f"(node, before) => look.changes(node, before, {ANSWER})", before)


def comes_to_rest(notebook: Notebook) -> bool:
    """Wait until the work under way has come to its end; False if it goes on."""
    return notebook.ask("atRest", {"still": STILL, "patience": ANSWER})


class Moved(NamedTuple):
    """What has stayed as it was, of picture and caption, and what is to be seen now."""

    still: set[str]
    now: dict[str, str]


def moved(explorer: Locator, before: dict[str, str], actions: list[Callable]) -> Moved:
    """Do one action after the other until picture and caption have both changed."""
    still, now = set(before), before
    for act in actions:
        act()
        now = settled(explorer)
        still -= {part for part in still if now[part] != before[part]}
        if not still:
            break
    return Moved(still, now)


def handles(explorer: Locator, condition: str) -> list[Locator]:
    """The handles of the sliders that are "awake", or "asleep" until another control wakes them."""
    found = explorer.evaluate("node => look.handles(node)")
    every = explorer.locator(".noUi-handle")
    return [every.nth(place) for place, now in enumerate(found) if now == condition]


def wake(explorer: Locator, handle: Locator) -> bool:
    """Try every entry of every list until the slider can be moved."""
    for control in explorer.locator("select:visible:enabled").all():
        for index in range(control.locator("option").count()):
            control.select_option(index=index)
            settled(explorer)
            if handle.evaluate("node => !node.closest('[disabled]')"):
                return True
    return False


def choices(explorer: Locator) -> list[Locator]:
    """The lists and switches a reader can see and use."""
    return explorer.locator("select:visible:enabled, input[type=checkbox]:visible:enabled").all()


def buttons(explorer: Locator) -> list[Locator]:
    """The buttons that begin something: neither Reset nor Stop."""
    found = explorer.locator("button:visible:enabled").all()
    return [one for one in found if one.text_content().strip() not in (_("Reset"), *STOPS)]


def name_of(control: Locator) -> str:
    """The label a reader sees at a control."""
    box = control.locator("xpath=ancestor::div[contains(@class, 'widget-inline-hbox')]")
    return box.first.inner_text().splitlines()[0]


def press(control: Locator, key: str) -> None:
    """Press a key while the control has the focus."""
    control.focus()
    control.press(key)


def change_choice(control: Locator) -> None:
    """Take the next entry of a list, or turn a switch."""
    if control.evaluate("node => node.tagName") == "SELECT":
        current = control.evaluate("node => node.selectedIndex")
        control.select_option(index=(current + 1) % control.locator("option").count())
    else:
        press(control, "Space")


def move_the_others(explorer: Locator, but: Locator | None = None) -> None:
    """Move every slider away from where it began: some controls mean something only then."""
    explorer.evaluate("(node, but) => look.moveOthers(node, but)", but.element_handle() if but else None)


# ---- one walk through the page: each control is visited once, and everything is looked at in that visit ----


class Visit:
    """What one live view shows while each of its controls is used; it notes what is wrong.

    Afterwards `wrong` holds the complaints by what they are about. Reset is pressed after each kind of use; that it
    undoes each control alone is shown without a browser, in tests/chapters/test_pictures.py.
    """

    def __init__(self, notebook: Notebook, explorer: Locator, place: str, wrong: dict[str, list[str]]):
        self.notebook, self.explorer, self.place, self.wrong = notebook, explorer, place, wrong
        self.first = self.now = settled(explorer)

    def note(self, about: str, complaint: str) -> None:
        self.wrong[about].append(f"{self.place}: {complaint}")

    def all(self) -> None:
        """Look at the view and use everything a reader can use."""
        self.look()
        for handle in handles(self.explorer, "awake"):
            self.move(handle)
        self.reset("each slider was moved")
        for handle in handles(self.explorer, "asleep"):
            self.wake(handle)
        for control in choices(self.explorer):
            self.choose(control)
        for line in self.explorer.locator("input[type=text]:visible:enabled").all():
            self.type(line)
        for canvas in self.explorer.locator("canvas.tokenwerk-matrix-clickable:visible").all():
            self.click(canvas)
        for button in buttons(self.explorer):
            self.begin(button)
        move_the_others(self.explorer)
        settled(self.explorer)
        self.listen()
        self.reset("all sliders were moved")

    def reset(self, after: str) -> None:
        """Put everything back, and look whether it is."""
        self.explorer.get_by_role("button", name=_("Reset")).click()
        self.now = now = settled(self.explorer)
        self.wrong["reset"] += [
            f"{self.place}, after {after}: another {part}" for part in now if now[part] != self.first[part]
        ]

    def look(self) -> None:
        if self.explorer.evaluate("node => look.wordless(node)"):
            self.note("words", "a picture has none")
        if not self.first["caption"].strip():
            self.note("words", "no caption")
        self.listen()

    def listen(self) -> None:
        for said, read in self.explorer.evaluate("node => look.unlike(node)"):
            self.note("names", f"{said} is said where {read} is read")

    def move(self, handle: Locator) -> None:
        # One step may be too small to be seen in rounded words: then the slider's ends must do.
        steps = [partial(press, handle, key) for key in KEYS]
        still, self.now = moved(self.explorer, self.now, steps)
        if still:
            move_the_others(self.explorer, handle)
            again, self.now = moved(self.explorer, settled(self.explorer), steps)
            for part in sorted(still & again):
                self.note("sliders", f"{name_of(handle)!r}: the {part} stays")

    def wake(self, handle: Locator) -> None:
        steps = [partial(press, handle, key) for key in KEYS]
        if not wake(self.explorer, handle):
            self.note("sleepers", f"{name_of(handle)!r} does not wake")
        else:
            for part in sorted(moved(self.explorer, settled(self.explorer), steps).still):
                self.note("sleepers", f"{name_of(handle)!r}: the {part} stays")
        self.reset("a slider was woken")

    def choose(self, control: Locator) -> None:
        act = [partial(change_choice, control)]
        if len(moved(self.explorer, self.now, act).still) == 2:
            move_the_others(self.explorer)
            if len(moved(self.explorer, settled(self.explorer), act).still) == 2:
                self.note("choices", f"{name_of(control)!r} changes nothing")
        self.reset("a choice")

    def type(self, line: Locator) -> None:
        before = self.now
        for text in TYPED:
            line.fill(text)
            now = settled(self.explorer)
            said = self.explorer.locator(".tokenwerk-message").first.inner_text().strip()
            if now == before and not said:
                self.note("lines", f"{name_of(line)!r}: {text!r} is not answered")
            if self.explorer.locator(".tokenwerk-caption b, .tokenwerk-message b").count():
                self.note("lines", f"{name_of(line)!r}: {text!r} is read as HTML")
            before = now
        self.reset("a line was typed")

    def click(self, canvas: Locator) -> None:
        canvas.scroll_into_view_if_needed()
        size = canvas.bounding_box()
        middle = {"x": size["width"] / 2, "y": size["height"] / 2}
        canvas.hover(position=middle)  # which is to be seen too
        pointed = settled(self.explorer)
        canvas.click(position=middle)
        if settled(self.explorer)["picture"] == pointed["picture"]:
            self.note("cells", "a click on a cell leaves the picture")
        self.reset("a click on a cell")

    def begin(self, button: Locator) -> None:
        name = button.text_content().strip()
        button.click()
        if not becomes_another(self.explorer, self.now):
            self.note("buttons", f"{name!r} changes nothing")
        for stop in self.explorer.locator("button:visible:enabled").all():
            if stop.text_content().strip() in STOPS:
                stop.click()
        if not comes_to_rest(self.notebook):
            self.note("buttons", f"{name!r} goes on after Stop")
        self.reset(f"{name!r}")


@pytest.fixture(scope="module")
def wrong(notebook) -> dict[str, list[str]]:
    """What is wrong with the live views of the page, by what it is about: one walk for many tests."""
    found: dict[str, list[str]] = defaultdict(list)
    for number, explorer in enumerate(explorers(notebook)):
        Visit(notebook, explorer, f"{notebook.name}, live view {number}", found).all()
    return found


@pytest.fixture(scope="module")
def themed(notebook) -> dict[str, tuple[list[int | None], list[str]]]:
    """In each theme the brightness of every picture at its corner, and what axe finds; the light one stays."""
    found = {}
    for theme, (low, high) in {"dark": (0, 109), "light": (201, 255)}.items():
        notebook.set_theme(theme)
        papers = []
        for explorer in explorers(notebook):
            papers += explorer.evaluate(f"node => look.papers(node, [{low}, {high}], {ANSWER})")
        found[theme] = papers, violations(notebook, **(COLOURS if theme == "dark" else {}))
    return found


COLOURS = {"runOnly": ["color-contrast"]}  # of axe's rules, all that a theme can break


def violations(notebook: Notebook, **options: list[str]) -> list[str]:
    """What axe has to say of live views and questions."""
    parts = [selector for selector in LIVE if notebook.page.locator(selector).count()]
    if not parts:
        return []  # else axe would look at all of JupyterLab
    checked = Axe().run(notebook.page, {"include": [[selector] for selector in parts]}, {"resultTypes": ["violations"], **options})
    return [f"{one['id']} at {at['html'][:200]}" for one in checked.response["violations"] for at in one["nodes"]]


# ---- the tests ----


def test_it_runs_from_top_to_bottom_without_a_complaint(notebook):
    assert notebook.complaints() == []


def test_it_is_not_unsaved_as_soon_as_it_is_opened(notebook):
    assert not notebook.unsaved_when_opened


def test_each_slider_moved_by_keyboard_changes_its_picture_and_its_caption(wrong):
    assert wrong["sliders"] == []


def test_each_choice_and_switch_changes_its_picture_or_its_caption(wrong):
    assert wrong["choices"] == []


def test_a_slider_that_sleeps_at_first_wakes_and_then_changes_something(wrong):
    assert wrong["sleepers"] == []


def test_what_a_reader_types_is_read_as_text_and_answered(wrong):
    assert wrong["lines"] == []


def test_every_button_begins_something_and_stop_ends_it(wrong):
    assert wrong["buttons"] == []


def test_a_click_on_a_cell_of_an_editable_matrix_changes_it(wrong):
    assert wrong["cells"] == []


def test_reset_brings_back_what_was_shown_first_whatever_was_done(wrong):
    assert wrong["reset"] == []


def test_every_picture_has_words_for_those_who_do_not_see_it(wrong):
    assert wrong["words"] == []


def test_every_slider_says_its_name_and_its_value_as_they_are_read_also_when_moved(wrong):
    assert wrong["names"] == []


def test_no_slider_waits_for_an_echo_or_for_the_toolbar(notebook, wrong):
    """Both are switched off, a few milliseconds each; the rest of the toolbar stays."""
    assert (notebook.updates_sent > 0) == moves(notebook) and notebook.ask("echoes") == 0
    toolbar = set(notebook.ask("toolbar"))
    assert "executionProgress" not in toolbar and {"run", "interrupt", "restart"} <= toolbar


def moves(notebook: Notebook) -> bool:
    """Is there anything to move? Only a page to look things up in has nothing."""
    live = notebook.page.locator(".tokenwerk-explorer").count() > 0
    assert live or Path(notebook.name).stem in LOOKED_UP
    return live


def telling_slider(notebook: Notebook) -> tuple[Locator, Locator]:
    """An explorer and a slider of it whose two ends look different; it stands at its low end."""
    for explorer in explorers(notebook):
        for handle in handles(explorer, "awake"):
            press(handle, "End")
            high = settled(explorer)
            press(handle, "Home")
            if settled(explorer)["picture"] != high["picture"]:
                return explorer, handle
    raise AssertionError("no slider moves a picture")


def test_of_a_burst_of_keys_the_last_one_wins_and_few_are_computed(notebook):
    if not moves(notebook):
        return
    explorer, handle = telling_slider(notebook)
    sent_before = notebook.updates_sent
    burst = {"key": "ArrowRight", "presses": PRESSES, "pause": 4}
    handle.evaluate("(node, how) => look.burst(node, how)", burst)
    after_burst = settled(explorer)
    computed = notebook.updates_sent - sent_before
    position = handle.get_attribute("aria-valuetext")

    # The same place reached slowly shows the same picture and says the same words.
    press(handle, "Home")
    walk = {"key": "ArrowRight", "presses": PRESSES, "words": position, "patience": ANSWER}
    handle.evaluate("(node, how) => look.walk(node, how)", walk)
    assert settled(explorer) == after_burst
    assert 0 < computed < PRESSES
    explorer.get_by_role("button", name=_("Reset")).click()


def test_the_pictures_follow_the_theme(notebook, themed):
    (dark, _found), (light, _found) = themed["dark"], themed["light"]
    assert len(dark) == len(light) and (len(dark) > 0) == moves(notebook)
    assert None not in dark and max(dark, default=0) < 110
    assert None not in light and min(light, default=255) > 200


def test_axe_finds_nothing_in_live_views_and_questions_in_either_theme(themed):
    assert [f"{theme}: {one}" for theme, (_papers, found) in themed.items() for one in found] == []


def test_what_is_typed_beside_a_slider_is_read_with_its_comma_and_nonsense_is_told(notebook):
    if not moves(notebook):
        return
    explorer, slider = next(
        (explorer, slider)
        for explorer in explorers(notebook)
        for slider in explorer.locator(".widget-slider:visible").all()
        if slider.locator("[contenteditable=true]").count()
    )
    handle, readout = slider.locator(".noUi-handle"), slider.locator(".widget-readout")
    message = explorer.locator(".tokenwerk-message").first
    press(handle, "Home")
    low = readout.inner_text()
    press(handle, "End")
    settled(explorer)  # a late answer would write into what is typed
    expect(readout).not_to_have_text(low)
    readout.fill(low.replace(".", ","))
    readout.press("Enter")
    settled(explorer)
    expect(readout).to_have_text(low, timeout=ANSWER)
    expect(handle).to_have_attribute("aria-valuetext", low)
    readout.fill("Oma")
    readout.evaluate("node => node.blur()")
    settled(explorer)
    expect(message).to_contain_text("„Oma“", timeout=ANSWER)
    expect(readout).to_have_text("Oma")
    explorer.get_by_role("button", name=_("Reset")).click()
    settled(explorer)
    expect(message).to_have_text("", timeout=ANSWER)
    expect(readout).not_to_have_text("Oma")


def test_every_guess_can_be_made_by_keyboard_and_is_answered(notebook):
    ways_to_check = 2  # by Enter in the answer and on the button; at the first question both
    for guess in notebook.page.locator(".tokenwerk-guess").all():
        reply = guess.locator(".tokenwerk-caption").last
        fields = guess.locator("input")
        is_choice = fields.count() > 1
        check = guess.get_by_role("button", name=_("Check"))
        expect(reply).to_have_text("")
        for number, place in enumerate([fields.first, check][:ways_to_check]):
            if is_choice:
                press(fields.nth(number % 2), "Space")
            else:
                fields.first.fill(str(number + 1))
            notebook.ask("answered", ANSWER)
            expect(reply).to_have_text("", timeout=ANSWER)  # another answer takes the last verdict back
            press(place, "Enter")
            notebook.ask("answered", ANSWER)
            # Right or wrong, and not "not attempted yet" (○).
            expect(reply).to_have_text(re.compile("^[✓✗] "), timeout=ANSWER)
        ways_to_check = 1


def test_nothing_sticks_out_of_a_narrow_page(notebook):
    size = notebook.page.viewport_size
    try:
        notebook.page.set_viewport_size({"width": 700, "height": size["height"]})
        assert notebook.ask("sticksOut", ANSWER) == []
    finally:
        notebook.page.set_viewport_size(size)


def test_a_live_view_with_its_controls_and_its_sentence_fits_the_window_beside_the_side_bar(notebook):
    size = notebook.page.viewport_size
    try:
        notebook.page.set_viewport_size({"width": 1300 - SIDE_BAR, "height": 900})
        heights = {}
        for number, explorer in enumerate(explorers(notebook)):
            settled(explorer)
            heights[number] = explorer.bounding_box()["height"]
        assert {number: height for number, height in heights.items() if height > TALLEST_VIEW} == {}
    finally:
        notebook.page.set_viewport_size(size)


def test_after_all_this_nothing_has_gone_wrong_and_nothing_was_asked_of_the_network(notebook):
    assert notebook.complaints() == []
