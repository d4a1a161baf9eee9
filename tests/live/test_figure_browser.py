"""LiveFigure in a real browser: the pixels Python drew, whole or as changes, in every view."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from tests.browser import CHROMIUM, CHROMIUM_OPTIONS
from tests.single_view import mount, wire
from tokenwerk_helpers.live import style
from tokenwerk_helpers.live.figure import CSS_PIXELS_PER_INCH, LiveFigure

pytestmark = pytest.mark.browser

PIXELS = """(canvas) => {
  const { width, height } = canvas;
  const copy = Object.assign(document.createElement("canvas"), { width, height });
  const pen = copy.getContext("2d", { willReadFrequently: true });
  pen.drawImage(canvas, 0, 0);
  const { data } = pen.getImageData(0, 0, width, height);
  let text = "";
  for (let i = 0; i < data.length; i += 8192) text += String.fromCharCode(...data.subarray(i, i + 8192));
  return [width, height, btoa(text)];
}"""


class Shown:
    """A figure on a page of its own: messages of either side are carried over by hand."""

    def __init__(self, page, live: LiveFigure, is_drawn: bool = True):
        self.page, self.live, self.under_way = page, live, []
        live.send = lambda content, buffers: self.under_way.append((content, buffers))
        if is_drawn:
            live.refresh()
            self.under_way.clear()  # nobody was there to hear it
        mount(page, live, "figure")
        self.carry()

    def carry(self) -> None:
        """Take over what the page and Python have to tell each other."""
        for content in self.page.evaluate("() => model.sent.splice(0)"):
            self.live._handle_custom_msg(content, [])
        for state in self.page.evaluate("() => model.saved.splice(0)"):
            self.live.set_state(state)
        for content, buffers in self.under_way:
            parts = [wire(part.tobytes()) for part in buffers]
            self.page.evaluate("([content, parts]) => model.hear(content, parts)", [content, parts])
        self.under_way.clear()

    def pixels(self, view: int = 0) -> np.ndarray:
        """What a view shows.  # (H, W, 4)"""
        width, height, data = self.page.locator("canvas").nth(view).evaluate(PIXELS)
        return np.frombuffer(base64.b64decode(data), np.uint8).reshape(height, width, 4)

    def is_true(self, view: int = 0) -> bool:
        """Does the view show exactly what Python drew?"""
        return np.array_equal(self.pixels(view), self.live.pixels)


@pytest.fixture
def show(page_for):
    """Show a figure on a page; afterwards the page must not have complained."""

    def open_figure(live: LiveFigure, density: float = 1, **options) -> Shown:
        page = page_for(density)
        page.set_viewport_size({"width": 1000, "height": 600})
        return Shown(page, live, **options)

    return open_figure


def plot() -> LiveFigure:
    """A line that can move over a filled area."""
    live = LiveFigure(4, 2, alt="a line")
    axes = live.figure.add_subplot()
    axes.set(xlim=(0, 1), ylim=(0, 3))
    axes.axhspan(0, 1, color=style.ROLES["attention"])
    (live.line,) = axes.plot([0, 1], [1, 1], color=style.ROLES["mlp"])
    live.moving(live.line)
    return live


@pytest.mark.parametrize("density", [1, 2])
def test_the_page_shows_exactly_what_python_drew_at_first_and_after_each_move(show, density):
    shown = show(plot(), density)
    assert shown.is_true() and shown.pixels().shape == (192 * density, 384 * density, 4)
    for heights in ([0.2, 2.9], [2.9, 0.2], [0.2, 2.9]):
        before = shown.pixels()
        shown.live.line.set_ydata(heights)
        shown.live.refresh()
        shown.carry()
        assert shown.is_true() and not np.array_equal(shown.pixels(), before)
    box = shown.page.locator("canvas").bounding_box()
    assert (box["width"], box["height"]) == (384, 192)  # page pixels, whatever the screen


@pytest.mark.parametrize("density", [1, 1.25, 1.5, 2])
def test_a_pixel_drawn_is_a_pixel_of_the_screen(chromium, density):
    """Nothing is scaled and so nothing blurred, however odd the figure's size and the screen's density."""
    live = LiveFigure(3.6, 1.73)
    live.figure.add_subplot()
    # A screen as it is: the density of Playwright's own pages rounds boxes to whole pixels of the page.
    options = [*CHROMIUM_OPTIONS, f"--force-device-scale-factor={density}", "--window-size=1000,700"]
    browser = chromium.browser_type.launch(executable_path=CHROMIUM, args=options)
    try:
        page = browser.new_page(no_viewport=True)
        Shown(page, live)
        page.evaluate("() => { document.body.style.paddingLeft = '10.3px'; }")
        box, (height, width) = page.locator("canvas").bounding_box(), live.pixels.shape[:2]
        screen = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))
    finally:
        browser.close()
    assert (width, height) == (int(346 * density), int(166 * density))
    assert [box["width"] * density, box["height"] * density] == pytest.approx([width, height], abs=0.1)
    left = round(box["x"] * density)
    assert np.array_equal(screen[:height, left : left + width], live.pixels[..., :3])


def test_a_figure_drawn_only_later_keeps_its_place_free(show):
    shown = show(plot(), is_drawn=False)
    canvas = shown.page.locator("canvas")
    assert canvas.bounding_box() | {"x": 0, "y": 0} == {"x": 0, "y": 0, "width": 384, "height": 192}
    assert canvas.get_attribute("data-painted") == "0"
    shown.live.refresh()
    shown.carry()
    assert shown.is_true() and canvas.get_attribute("data-painted") == "1"


def test_a_figure_in_which_nothing_is_drawn_is_plain_paper(show):
    """Then there is not one changed pixel to send."""
    shown = show(LiveFigure(2, 1))
    assert shown.is_true() and shown.pixels().min() == 255


def test_changes_that_come_before_the_whole_picture_do_no_harm(show):
    shown = show(plot(), is_drawn=False)
    shown.live.refresh()
    shown.under_way.clear()  # lost on the way
    shown.live.line.set_ydata([2, 2])
    shown.live.refresh()
    shown.carry()
    assert shown.page.locator("canvas").get_attribute("data-painted") == "0"
    shown.live._handle_custom_msg("all", [])
    shown.carry()
    assert shown.is_true()


def test_the_theme_of_the_page_is_told_to_python_and_answered(show):
    shown = show(plot())
    bright = shown.pixels()[0, 0, :3].mean()
    for light, is_dark in (("false", True), ("true", False)):
        shown.page.evaluate("async (light) => { document.body.dataset.jpThemeLight = light; }", light)
        shown.page.evaluate("() => nextFrame()")
        shown.carry()
        assert shown.live.dark is is_dark and shown.is_true()
        assert bool(shown.pixels()[0, 0, :3].mean() < bright) is is_dark


def test_every_view_shows_the_same_and_one_that_is_gone_is_left_alone(show):
    shown = show(plot())
    shown.page.evaluate("""async () => {
      const second = document.createElement("div");
      document.body.append(second);
      window.end = await widget.render({ model, el: second });
    }""")
    assert shown.is_true(0) and shown.is_true(1)  # a late view needs no message
    shown.live.line.set_ydata([2, 0])
    shown.live.refresh()
    shown.carry()
    assert shown.is_true(0) and shown.is_true(1)
    shown.page.evaluate("() => end()")
    shown.live.line.set_ydata([0, 2])
    shown.live.refresh()
    shown.carry()
    assert shown.is_true(0) and not shown.is_true(1)
    shown.page.evaluate("() => { cleanup(); forget(); }")
    assert shown.page.evaluate("() => model.listening") == 0


def test_the_picture_is_told_in_words_and_never_sticks_out_of_its_place(show):
    shown = show(plot())
    canvas = shown.page.locator("canvas")
    assert canvas.get_attribute("role") == "img" and canvas.get_attribute("aria-label") == "a line"
    shown.page.evaluate("() => model.update({ alt: '<b>a steeper line</b>' })")
    assert canvas.get_attribute("aria-label") == "<b>a steeper line</b>"
    shown.page.set_viewport_size({"width": 200, "height": 600})
    place = canvas.evaluate(
        "(canvas) => [canvas.parentElement.clientWidth, canvas.parentElement.scrollWidth]"
    )
    box = canvas.bounding_box()
    whole = shown.live.width
    assert place == [200, pytest.approx(box["width"], abs=1)]
    assert box["width"] == pytest.approx(0.85 * whole, abs=1)
    assert box["height"] == pytest.approx(box["width"] / 2, abs=1)
    smallest = style.SMALL_SIZE / 72 * CSS_PIXELS_PER_INCH
    assert smallest * box["width"] / whole >= 9


def test_a_page_a_little_too_narrow_shrinks_the_picture_and_no_more(show):
    shown = show(plot())
    wide = int(0.9 * shown.live.width)
    shown.page.set_viewport_size({"width": wide, "height": 600})
    assert shown.page.locator("canvas").bounding_box()["width"] == wide


def test_a_click_is_told_in_parts_of_the_picture_however_large_it_is_shown(show):
    live, told = plot(), []
    quiet = show(plot())
    quiet.page.locator("canvas").first.click(position={"x": 40, "y": 40})
    assert quiet.page.evaluate("() => model.sent") == []
    live.on_click(lambda x, y: told.append((x, y)))
    shown = show(live)
    canvas = shown.page.locator("canvas").first
    assert canvas.evaluate("(canvas) => getComputedStyle(canvas).cursor") == "pointer"
    for width in (384, 192):  # the second as on a narrow page
        canvas.evaluate(
            "(canvas, width) => { canvas.style.width = canvas.style.minWidth = `${width}px`; }", width
        )
        canvas.click(position={"x": width / 4, "y": width / 8})
        shown.carry()
        assert told.pop() == pytest.approx((0.25, 0.75), abs=0.02)
    assert not told and shown.is_true()
