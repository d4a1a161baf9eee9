"""Every notebook in a real JupyterLab and a real Chromium: it runs, it answers, and it stays by itself.

Notebooks are found, not listed: a new one is tested as soon as it lies in notebooks/.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, TimeoutError, expect

from tests.browser import NOTEBOOKS, Notebook, opened
from tokenwerk_helpers.language import _

pytestmark = pytest.mark.browser

PAGES = sorted(NOTEBOOKS.glob("*.ipynb"))
ANSWER = 20_000  # milliseconds a busy machine may need to answer one key
PRESSES = 60
LIVE = (".tokenwerk-explorer", ".tokenwerk-guess")
STOPS = (_("Stop"), _("stop"))


@pytest.fixture(scope="module", params=PAGES, ids=lambda path: path.stem)
def notebook(request, server, chromium) -> Iterator[Notebook]:
    """The notebook, opened and run from top to bottom once for all tests of this file."""
    path: Path = request.param
    with opened(chromium, server, path.name) as page:
        page.run_all()
        yield page


# ---- what a reader can see of an explorer, and do to it ----


def explorers(notebook: Notebook) -> Iterator[Locator]:
    """Yield each live view of the notebook, brought into sight: what is far away need not paint."""
    for explorer in notebook.explorers():
        explorer.scroll_into_view_if_needed()
        yield explorer


def state(explorer: Locator) -> dict[str, str]:
    """What is to be seen of the explorer: the pixels of its pictures, the words of its caption."""
    return explorer.evaluate("node => ({picture: look.picture(node), caption: look.caption(node)})")


def settled(notebook: Notebook, explorer: Locator) -> dict[str, str]:
    """The state once nothing changes any more."""
    before = None
    for _round in range(400):
        if notebook.ask("idle"):
            now = state(explorer)
            if now == before and now["picture"] is not None:
                return now
            before = now
        notebook.page.wait_for_timeout(50)
    raise AssertionError(f"the live view does not come to rest: {before}")


def comes_to_rest(explorer: Locator, still: int = 3000) -> bool:
    """Does the explorer stay as it is for some milliseconds, once the work under way has come to its end?"""
    before = state(explorer)
    for _round in range(ANSWER // still):
        explorer.page.wait_for_timeout(still)
        now = state(explorer)
        if now == before:
            return True
        before = now
    return False


def becomes_another(explorer: Locator, part: str, before: str) -> bool:
    """Wait until the explorer's picture or caption is another than before; False if it stays."""
    condition = f"([node, before]) => ![null, before].includes(look.{part}(node))"
    arguments = [explorer.element_handle(), before]
    try:
        explorer.page.wait_for_function(condition, arg=arguments, timeout=ANSWER, polling=50)
    except TimeoutError:
        return False
    return True


def unmoved(notebook: Notebook, explorer: Locator, before: dict[str, str], actions: list) -> set[str]:
    """Do one action after the other until picture and caption have both changed; name what has not."""
    still = dict(before)
    for act in actions:
        act()
        now = settled(notebook, explorer)
        still = {part: old for part, old in still.items() if now[part] == old}
        if not still:
            return set()
    # A busy machine may still be computing.
    return {part for part, old in still.items() if not becomes_another(explorer, part, old)}


def is_usable(handle: Locator) -> bool:
    """Can the slider of this handle be moved now?"""
    return handle.evaluate("node => !node.closest('[disabled]')")


def sliders(explorer: Locator) -> list[Locator]:
    """The handles of the sliders a reader can see and move."""
    return [one for one in explorer.locator(".noUi-handle").all() if one.is_visible() and is_usable(one)]


def asleep(explorer: Locator) -> list[Locator]:
    """The handles of the sliders that another control has to wake first."""
    return [one for one in explorer.locator(".noUi-handle").all() if one.is_visible() and not is_usable(one)]


def wake(notebook: Notebook, explorer: Locator, handle: Locator) -> bool:
    """Try every entry of every list until the slider can be moved."""
    for control in explorer.locator("select:visible:enabled").all():
        for index in range(control.locator("option").count()):
            control.select_option(index=index)
            settled(notebook, explorer)
            if is_usable(handle):
                return True
    return False


def choices(explorer: Locator) -> list[Locator]:
    """The lists and switches a reader can see and use."""
    return explorer.locator("select:visible:enabled, input[type=checkbox]:visible:enabled").all()


def lines(explorer: Locator) -> list[Locator]:
    """The lines of text a reader can type in."""
    return explorer.locator("input[type=text]:visible:enabled").all()


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


def press_reset(explorer: Locator) -> None:
    """Click the button that puts everything back."""
    explorer.get_by_role("button", name=_("Reset")).click()


def change_choice(control: Locator) -> None:
    """Take the next entry of a list, or turn a switch."""
    if control.evaluate("node => node.tagName") == "SELECT":
        current = control.evaluate("node => node.selectedIndex")
        control.select_option(index=(current + 1) % control.locator("option").count())
    else:
        press(control, "Space")


def move_the_others(explorer: Locator, but: Locator | None = None) -> None:
    """Move every slider away from where it began: some controls mean something only then."""
    chosen = but.element_handle() if but else None
    for handle in sliders(explorer):
        if chosen is None or not handle.evaluate("(node, chosen) => node === chosen", chosen):
            press(handle, "ArrowLeft")
            press(handle, "PageUp")


# ---- the tests ----


def test_it_runs_from_top_to_bottom_without_a_complaint(notebook):
    assert notebook.complaints() == []


def test_it_is_not_unsaved_as_soon_as_it_is_opened(notebook):
    assert not notebook.unsaved_when_opened


def test_each_slider_moved_by_keyboard_changes_its_picture_and_its_caption(notebook):
    standing = []
    for number, explorer in enumerate(explorers(notebook)):
        for handle in sliders(explorer):
            # One step may be too small to be seen in rounded words: then the slider's ends must do.
            steps = [partial(press, handle, key) for key in ("ArrowRight", "ArrowLeft", "End", "Home")]
            still = unmoved(notebook, explorer, settled(notebook, explorer), steps)
            if still:
                move_the_others(explorer, handle)
                still &= unmoved(notebook, explorer, settled(notebook, explorer), steps)
            standing += [f"live view {number}, {name_of(handle)!r}: the {part} stays" for part in still]
            press_reset(explorer)
    assert standing == []


def test_no_slider_waits_for_an_echo_or_for_the_toolbar(notebook):
    """Both are switched off, a few milliseconds each; the rest of the toolbar stays."""
    explorer = next(explorers(notebook))
    press(sliders(explorer)[0], "ArrowRight")
    settled(notebook, explorer)
    press_reset(explorer)
    assert notebook.ask("echoes") == 0
    toolbar = set(notebook.ask("toolbar"))
    assert "executionProgress" not in toolbar and {"run", "interrupt", "restart"} <= toolbar


def test_each_choice_and_switch_changes_its_picture_or_its_caption(notebook):
    standing = []
    for number, explorer in enumerate(explorers(notebook)):
        for control in choices(explorer):
            act = [partial(change_choice, control)]
            before = settled(notebook, explorer)
            act[0]()
            if settled(notebook, explorer) == before:
                move_the_others(explorer)
                still = unmoved(notebook, explorer, settled(notebook, explorer), act)
                if still == {"picture", "caption"}:
                    standing.append(f"live view {number}: {name_of(control)!r} changes nothing")
            press_reset(explorer)
    assert standing == []


def test_a_slider_that_sleeps_at_first_wakes_and_then_changes_something(notebook):
    standing = []
    for number, explorer in enumerate(explorers(notebook)):
        for handle in asleep(explorer):
            steps = [partial(press, handle, key) for key in ("ArrowRight", "ArrowLeft", "End", "Home")]
            awake = wake(notebook, explorer, handle)
            if not awake or unmoved(notebook, explorer, settled(notebook, explorer), steps):
                standing.append(f"live view {number}: {name_of(handle)!r}")
            press_reset(explorer)
    assert standing == []


def test_what_a_reader_types_is_read_as_text_and_answered(notebook):
    for explorer in explorers(notebook):
        for line in lines(explorer):
            first = settled(notebook, explorer)
            for text in ("Oma", "$x$ <b>und</b> 🦆", ""):
                before = settled(notebook, explorer)
                line.fill(text)
                now = settled(notebook, explorer)
                said = explorer.locator(".tokenwerk-message").first.inner_text().strip()
                assert now != before or said, f"{name_of(line)!r}: {text!r} is not answered"
                assert explorer.locator(".tokenwerk-caption b, .tokenwerk-message b").count() == 0
            press_reset(explorer)
            assert settled(notebook, explorer) == first


def test_every_button_begins_something_and_stop_ends_it(notebook):
    for explorer in explorers(notebook):
        for start in buttons(explorer):
            before = settled(notebook, explorer)
            name = start.text_content()
            start.click()
            changed = any(becomes_another(explorer, part, before[part]) for part in ("caption", "picture"))
            assert changed, f"{name!r} changes nothing"
            for stop in explorer.locator("button:visible:enabled").all():
                if stop.text_content().strip() in STOPS:
                    stop.click()
            assert comes_to_rest(explorer), f"{name!r} goes on after Stop"
            press_reset(explorer)
            settled(notebook, explorer)


def test_a_click_on_a_cell_that_can_be_clicked_changes_the_picture(notebook):
    for explorer in explorers(notebook):
        for canvas in explorer.locator("canvas.tokenwerk-matrix-clickable:visible").all():
            before = settled(notebook, explorer)
            canvas.scroll_into_view_if_needed()
            size = canvas.bounding_box()
            canvas.click(position={"x": size["width"] / 2, "y": size["height"] / 2})
            now = settled(notebook, explorer)
            assert now["picture"] != before["picture"]
            press_reset(explorer)
            assert settled(notebook, explorer) == before


def test_reset_brings_back_what_was_shown_first(notebook):
    strayed = []
    for number, explorer in enumerate(explorers(notebook)):
        press_reset(explorer)
        first = settled(notebook, explorer)
        move_the_others(explorer)
        settled(notebook, explorer)
        press_reset(explorer)
        if settled(notebook, explorer) != first:
            strayed.append(number)
    assert strayed == []


def telling_slider(notebook: Notebook) -> tuple[Locator, Locator]:
    """An explorer and a slider of it whose two ends look different."""
    for explorer in explorers(notebook):
        for handle in sliders(explorer):
            press(handle, "Home")
            low = settled(notebook, explorer)
            press(handle, "End")
            if becomes_another(explorer, "picture", low["picture"]):
                return explorer, handle
    raise AssertionError("no slider moves a picture")


def test_of_a_burst_of_keys_the_last_one_wins_and_few_are_computed(notebook):
    explorer, handle = telling_slider(notebook)
    press(handle, "Home")
    settled(notebook, explorer)
    sent_before = notebook.updates_sent
    burst = {"key": "ArrowRight", "presses": PRESSES, "pause": 4}
    handle.evaluate("(node, how) => look.burst(node, how)", burst)
    after_burst = settled(notebook, explorer)
    computed = notebook.updates_sent - sent_before
    position = handle.get_attribute("aria-valuetext")

    # The same place reached slowly shows the same picture and says the same words.
    press(handle, "Home")
    settled(notebook, explorer)
    for _press in range(PRESSES):
        if handle.get_attribute("aria-valuetext") == position:
            break
        press(handle, "ArrowRight")
    assert settled(notebook, explorer) == after_burst
    assert 0 < computed < PRESSES
    press_reset(explorer)


def papers(notebook: Notebook, is_right: Callable[[int], bool]) -> list[int]:
    """The brightness of every picture at its corner, as soon as all are right or time is up."""
    found: list[int] = []
    for explorer in explorers(notebook):
        for _round in range(80):
            here = explorer.evaluate("node => look.papers(node)")
            if all(paper is not None and is_right(paper) for paper in here):
                break
            notebook.page.wait_for_timeout(250)
        found += here
    return found


def test_the_pictures_follow_the_theme(notebook):
    notebook.set_theme("dark")
    dark = papers(notebook, lambda paper: paper < 110)
    notebook.set_theme("light")
    light = papers(notebook, lambda paper: paper > 200)
    assert len(dark) == len(light) > 0
    assert max(dark) < 110
    assert min(light) > 200


def test_every_picture_has_words_for_those_who_do_not_see_it(notebook):
    for explorer in explorers(notebook):
        assert explorer.evaluate("node => look.wordless(node)") == 0
        assert explorer.evaluate("node => look.caption(node)").strip()


def test_every_slider_says_its_name_and_its_value_as_they_are_read(notebook):
    unlike = []
    for explorer in explorers(notebook):
        for slider in explorer.locator(".widget-slider").all():
            label, readout = (
                slider.locator(part).text_content() for part in (".widget-label", ".widget-readout")
            )
            handle = slider.locator(".noUi-handle")
            said = [handle.get_attribute(name) for name in ("role", "aria-label", "aria-valuetext")]
            if said != ["slider", label, readout]:
                unlike.append(said)
    assert unlike == []


def test_axe_finds_nothing_in_live_views_and_questions_in_either_theme(notebook):
    found = []
    parts = [selector for selector in LIVE if notebook.page.locator(selector).count()]
    for theme in ("dark", "light"):
        notebook.set_theme(theme)
        checked = Axe().run(notebook.page, {"include": [[selector] for selector in parts]})
        for violation in checked.response["violations"]:
            found += [f"{theme}: {violation['id']} at {node['html'][:200]}" for node in violation["nodes"]]
    assert found == []


def test_what_is_typed_beside_a_slider_is_read_with_its_comma_and_nonsense_is_told(notebook):
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
    expect(readout).not_to_have_text(low)
    readout.fill(low.replace(".", ","))
    readout.press("Enter")
    expect(readout).to_have_text(low, timeout=ANSWER)
    expect(handle).to_have_attribute("aria-valuetext", low)
    readout.fill("Oma")
    readout.evaluate("node => node.blur()")
    expect(message).to_contain_text("„Oma“", timeout=ANSWER)
    expect(readout).to_have_text("Oma")
    press_reset(explorer)
    expect(message).to_have_text("", timeout=ANSWER)
    expect(readout).not_to_have_text("Oma")
    settled(notebook, explorer)


def test_every_guess_can_be_made_by_keyboard_and_is_answered(notebook):
    for guess in notebook.page.locator(".tokenwerk-guess").all():
        reply = guess.locator(".tokenwerk-caption").last
        fields = guess.locator("input")
        is_choice = fields.count() > 1
        check = guess.get_by_role("button", name=_("Check"))
        expect(reply).to_have_text("")
        for number, place in enumerate([fields.first, check]):
            if is_choice:
                press(fields.nth(number % 2), "Space")
            else:
                fields.first.fill(str(number + 1))
            expect(reply).to_have_text("", timeout=ANSWER)  # another answer takes the last verdict back
            press(place, "Enter")
            # Right or wrong, and not "not attempted yet" (○).
            expect(reply).to_have_text(re.compile("^[✓✗] "), timeout=ANSWER)


def test_nothing_sticks_out_of_a_narrow_page(notebook):
    size = notebook.page.viewport_size
    wide = []
    try:
        notebook.page.set_viewport_size({"width": 700, "height": size["height"]})
        for number in notebook.ask("withOutput"):
            notebook.cell(number).scroll_into_view_if_needed()  # cells out of sight are not laid out
            notebook.page.wait_for_timeout(150)
            wide += [f"cell {number}: {text}" for text in notebook.ask("sticksOut", number)]
    finally:
        notebook.page.set_viewport_size(size)
    assert wide == []


def test_after_all_this_nothing_has_gone_wrong_and_nothing_was_asked_of_the_network(notebook):
    assert notebook.complaints() == []
