"""MatrixView in a real browser: painted, pointed at, clicked, themed, and gone without a trace."""

import io
import json
from itertools import product

import numpy as np
import pytest
from PIL import Image

from tests.single_view import add, mount, wire
from tokenwerk_helpers.live import matrix_sizes, matrix_still, style
from tokenwerk_helpers.live.matrix import MatrixView, colour_index, colour_limits, fixed, spoken

pytestmark = pytest.mark.browser

TOKENS = ["Der", "Bär", "gibt", "der", "der"]
CAUSAL = np.tril(np.ones((5, 5), bool))
WORDS = {"words": "{row} to {column} is {value}", "masked_words": "{row} may not see {column}"}


def weights(n: int = 1, size: int = 5) -> np.ndarray:
    """Some rows of weights that sum to 1.  # (n, size, size)"""
    raw = np.random.default_rng(0).random((n, size, size)).astype(np.float32)
    return raw / raw.sum(-1, keepdims=True)


class Shown:
    """A view on a page of its own, with what the page complained about."""

    def __init__(self, page, view: MatrixView):
        self.page, self.python = page, view
        mount(page, view, "matrix")
        self.canvas = page.locator("canvas")
        self.readout = page.locator(".tokenwerk-matrix-readout")
        self.voice = page.locator("[aria-live]")

    def update(self, **changes) -> None:
        """Change the view in Python and carry the news to the page."""
        self.python.update(**changes)
        names = [*changes, "rows", "columns"] if {"values", "rows"} & set(changes) else list(changes)
        self.page.evaluate("changes => model.update(changes)", wire(self.python.get_state(names)))
        self.settle()

    def settle(self) -> None:
        self.page.evaluate("() => nextFrame().then(nextFrame)")

    def get(self, name: str):
        return self.page.evaluate("name => model.get(name)", name)

    @property
    def painted(self) -> int:
        return int(self.canvas.get_attribute("data-painted"))

    def cell(self, row: int, column: float, panel: int = 0) -> tuple[float, float]:
        """The middle of a cell on the canvas, in page pixels."""
        size = float(self.canvas.get_attribute("data-cell"))
        place = json.loads(self.canvas.get_attribute("data-places"))[panel]
        return place["x"] + (column + 0.5) * size, place["y"] + (row + 0.5) * size

    def point(self, row: int, column: float, panel: int = 0) -> None:
        x, y = self.cell(row, column, panel)
        self.canvas.hover(position={"x": x, "y": y})
        self.settle()

    def click(self, row: int, column: float, panel: int = 0) -> None:
        x, y = self.cell(row, column, panel)
        self.canvas.click(position={"x": x, "y": y})
        self.settle()

    def tap(self, row: int, column: float) -> None:
        x, y = self.cell(row, column)
        self.canvas.tap(position={"x": x, "y": y})
        self.settle()

    def colours(self, cells, scale: float = 1) -> list[tuple[int, ...]]:
        """The colours in the middle of cells (row, column) or (row, column, panel) without print."""
        picture = self.picture()
        places = [self.cell(*cell) for cell in cells]
        return [tuple(picture[round(y * scale), round(x * scale)].tolist()) for x, y in places]

    def picture(self) -> np.ndarray:
        """The canvas in device pixels.  # (height, width, 3)"""
        return np.asarray(Image.open(io.BytesIO(self.canvas.screenshot())).convert("RGB"))

    def saved(self) -> list[dict]:
        """What the view sent to Python, bytes as lists."""
        return json.loads(
            self.page.evaluate(
                "() => JSON.stringify(model.saved, (_, v) => ArrayBuffer.isView(v) ? [...v] : v)"
            )
        )

    def sent(self) -> list[dict]:
        """The messages of the view's own to Python."""
        return self.page.evaluate("() => model.sent")

    def press(self, *keys: str) -> None:
        self.canvas.focus()
        for key in keys:
            self.page.keyboard.press(key)
        self.settle()

    def theme(self, dark: bool) -> None:
        self.page.evaluate("light => { document.body.dataset.jpThemeLight = light; }", str(not dark).lower())
        self.settle()


@pytest.fixture
def show(page_for):
    """Show a view on a page; afterwards the page must not have complained."""

    def open_view(view: MatrixView, scale: float = 1) -> Shown:
        page = page_for(scale)
        page.set_viewport_size({"width": 1000, "height": 900})
        page.mouse.move(990, 890)
        return Shown(page, view)

    return open_view


def attention(**traits) -> MatrixView:
    """A small attention map with a causal mask."""
    given = {"rows": TOKENS, "allowed": CAUSAL, "alt": "What looks at what.", "hint": "Point.", **WORDS}
    return MatrixView(**{"values": weights(), **given} | traits)


# ---- painting ----


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("kind", ["sequential", "diverging"])
def test_the_browser_paints_the_colours_of_pythons_tables(show, kind, dark):
    values = np.random.default_rng(1).normal(size=(2, 4, 6)).astype(np.float32)
    shown = show(MatrixView(values, kind=kind, digits=-1))
    shown.theme(dark)
    limits = colour_limits(None, kind, values, None)
    expected = style.table(kind, dark)[colour_index(values, limits)]
    cells = [(row, column, panel) for panel, row, column in np.ndindex(values.shape)]
    assert shown.colours(cells) == [tuple(colour) for colour in expected.reshape(-1, 3).tolist()]


def test_the_theme_is_followed_live(show):
    shown = show(attention())
    corner = lambda: shown.picture()[1, 1].tolist()  # noqa: E731
    assert corner() == [255, 255, 255]
    shown.theme(dark=True)
    assert max(corner()) < 60
    shown.theme(dark=False)
    assert corner() == [255, 255, 255]


def test_a_theme_that_changes_while_the_page_is_hidden_between_two_frames_is_not_missed(show):
    shown = show(attention())
    shown.page.evaluate("""async () => {
      document.body.style.display = "none";
      document.body.dataset.jpThemeLight = "false";
      for (let i = 0; i < 5; i++) await Promise.resolve();
      document.body.style.display = "";
    }""")
    shown.settle()
    assert max(shown.picture()[1, 1].tolist()) < 60


def test_new_values_change_the_picture_and_the_counter(show):
    shown = show(attention(digits=-1, limits=(0, 1)))
    before, painted = shown.colours([(4, 0)]), shown.painted
    values = weights()
    values[0, 4, 0] = 1
    shown.update(values=values)
    assert shown.colours([(4, 0)]) == [tuple(style.table("sequential")[255].tolist())] != before
    assert shown.painted == painted + 1


def test_however_much_arrives_a_frame_is_painted_at_most_once(show):
    shown = show(attention())
    frames, paints = shown.page.evaluate("""async () => {
      const canvas = document.querySelector("canvas");
      const before = Number(canvas.dataset.painted);
      let frames = 0;
      for (const start = performance.now(); performance.now() - start < 300; frames++) {
        for (let i = 0; i < 20; i++) {
          model.tell("values");
          await Promise.resolve();
        }
        await new Promise((resolve) => requestAnimationFrame(resolve));
      }
      await nextFrame();
      return [frames, Number(canvas.dataset.painted) - before];
    }""")
    assert 1 <= paints <= frames + 1


def test_a_masked_cell_is_hatched_and_hides_its_value(show):
    shown = show(attention(digits=-1))
    before = shown.picture()
    x, y = shown.cell(0, 4)
    patch = before[round(y) - 12 : round(y) + 12, round(x) - 12 : round(x) + 12]
    # Lines and paper everywhere: no row and no column of pixels is of one colour.
    assert (np.ptp(patch.astype(int), axis=0) > 30).all() and (np.ptp(patch.astype(int), axis=1) > 30).all()
    values = weights()
    values[0, 0, 4] = 0.01
    shown.update(values=values)
    assert (shown.picture() == before).all()


def test_cells_without_a_number_look_unlike_each_other_and_unlike_numbers(show):
    for size in (1, 30):  # printed in large cells, drawn as a sign in small ones
        values = np.zeros((size, 4 * size))
        values[:, ::4], values[:, 1::4], values[:, 2::4] = np.nan, np.inf, -np.inf
        shown = show(MatrixView(values, digits=-1, cell_size=40 if size == 1 else 10))
        picture, half = shown.picture(), float(shown.canvas.get_attribute("data-cell")) / 2
        cells = []
        for column in range(4):
            x, y = (round(place - half) for place in shown.cell(0, column))
            cells.append(picture[y + 2 : y + int(2 * half) - 2, x + 2 : x + int(2 * half) - 2])
        for one in range(4):
            for other in range(one):
                assert (cells[one] != cells[other]).any()


def test_a_dense_screen_gets_all_its_pixels(show):
    values = weights(size=12)
    one, two = (show(MatrixView(values, digits=-1), scale) for scale in (1, 2))
    widths = [shown.canvas.evaluate("canvas => canvas.width") for shown in (one, two)]
    assert widths[1] == pytest.approx(2 * widths[0], abs=4)
    assert two.canvas.evaluate("canvas => canvas.width / canvas.getBoundingClientRect().width") == 2
    cells = [(3, 3), (0, 11), (11, 0)]
    assert two.colours(cells, scale=2) == one.colours(cells)


def test_a_window_dragged_to_a_denser_screen_is_painted_anew(show):
    shown = show(attention())
    shown.page.evaluate("() => { el.style.width = '600px'; }")
    shown.settle()
    session = shown.page.context.new_cdp_session(shown.page)
    # One pixel wider, or headless Chromium sees no reason for a new frame.
    metrics = {"width": 1001, "height": 900, "deviceScaleFactor": 3, "mobile": False}
    session.send("Emulation.setDeviceMetricsOverride", metrics)
    shown.page.wait_for_function("() => devicePixelRatio === 3")
    shown.settle()
    ratio = "canvas => canvas.width / canvas.getBoundingClientRect().width"
    assert shown.canvas.evaluate(ratio) == pytest.approx(3, abs=0.01)
    session.send("Emulation.clearDeviceMetricsOverride")


@pytest.mark.parametrize("width", [1000, 700, 500])
def test_panels_with_titles_wider_than_themselves_stay_on_the_page(show, width):
    view = MatrixView(np.zeros((12, 2, 2)), titles=[f"the head with number {h}" for h in range(12)])
    shown = show(view)
    shown.page.set_viewport_size({"width": width, "height": 900})
    shown.settle()
    assert shown.canvas.bounding_box()["width"] <= width
    places = json.loads(shown.canvas.get_attribute("data-places"))
    assert len({place["x"] for place in places}) > 1  # as many in a line as fit


def test_a_narrow_page_shrinks_the_cells(show):
    shown = show(attention())
    for n, size in [(1, 5), (1, 12), (1, 32), (1, 64), (4, 20), (8, 12)]:
        shown.update(values=weights(n, size), rows=[f"Wort {i}" for i in range(size)], allowed=None)
        cells = []
        for width in (1300, 700, 420):
            shown.page.set_viewport_size({"width": width, "height": 900})
            shown.settle()
            assert shown.canvas.bounding_box()["width"] <= width
            cells.append(float(shown.canvas.get_attribute("data-cell")))
        assert cells == sorted(cells, reverse=True)
        assert cells[0] > cells[2] or size == 5


def test_column_labels_are_never_tilted_beyond_reading_nor_crowded(show):
    shown = show(attention())
    plans = shown.page.evaluate("""() => {
      const plans = [];
      for (const columns of [1, 2, 5, 12, 20, 32, 64]) {
        for (const label of [5, 20, 40, 120]) {
          for (const panels of [1, 4, 8]) {
            for (const width of [330, 700, 1300]) {
              const sizes = Array(columns).fill(label);
              const spec = { panels, rows: sizes, columns: sizes, captions: [], titled: panels > 1,
                titleWidth: 40, maxCell: 44, maxHeight: 640 };
              const { cell, labels } = view.layout(spec, width, 1);
              plans.push({ label, cell, ...labels });
            }
          }
        }
      }
      return plans;
    }""")
    assert len(plans) == 7 * 4 * 3 * 3
    for plan in plans:
        assert plan["angle"] <= np.pi / 3 + 1e-9
        pitch = plan["step"] * plan["cell"]
        if plan["angle"]:
            assert pitch * np.sin(plan["angle"]) >= plan["size"]
        else:
            assert plan["label"] * plan["size"] / 12 <= pitch


def test_the_canvas_and_the_still_place_panels_cells_and_labels_by_the_same_rules(show, monkeypatch):
    """As soon as both have the same letters: what a letter measures is the font's."""
    monkeypatch.setattr(matrix_still, "text_width", lambda text, size, bold=False: len(text) * size / 2)
    for name in ("TITLE", "LABEL", "SMALL_LABEL"):
        monkeypatch.setattr(matrix_still, name, getattr(matrix_sizes, f"{name}_SIZE"))
    page, seen = show(attention()).page, set()
    script = """([spec, width]) => {
      const { labels, ...rest } = view.layout(spec, width, 2);
      return { ...rest, ...labels };
    }"""
    for n, R, C, letters, width in product(
        (1, 2, 4, 8), (1, 5, 20), (1, 5, 12, 32, 64), (1, 4, 12), (330, 680)
    ):
        texts = {"rows": ["r" * letters] * R, "columns": ["c" * letters] * C}
        titled = MatrixView(
            np.zeros((n, R, C)), titles=["title"] * n, row_axis="from", column_axis="to", **texts
        )
        still = matrix_still.Layout(titled, width)
        spec = {
            "panels": n, "rows": [6 * letters] * R, "columns": [6 * letters] * C, "captions": [36, 24],
            "titled": True, "titleWidth": 32.5, "maxCell": titled.cell_size, "maxHeight": titled.max_height,
        }  # fmt: skip
        canvas = page.evaluate(script, [spec, width])
        over = still.columns_over
        assert (canvas["cell"], canvas["perLine"]) == (still.cell, still.per_line)
        assert (canvas["step"], canvas["size"], canvas["rowSize"]) == (over.step, over.size, still.row_size)
        assert (round(np.degrees(canvas["angle"])), canvas["rowStep"]) == (over.angle, still.row_step)
        places = [still.place(panel) for panel in range(n)]
        assert np.abs(np.array([(at["x"], at["y"]) for at in canvas["places"]]) - places).max() <= 0.5
        seen.add((over.angle, over.step > 1, still.per_line))
    assert len(seen) > 10, "hardly anything was compared"


def test_a_view_that_was_off_the_page_is_painted_when_it_comes_back(show):
    shown = show(attention(digits=-1, limits=(0, 1)))
    shown.page.evaluate("() => { el.style.display = 'none'; }")
    shown.update(values=np.ones((5, 5)))
    painted = shown.painted
    shown.page.evaluate("() => { el.style.display = ''; }")
    shown.settle()
    assert shown.painted > painted
    assert shown.colours([(4, 0)]) == [tuple(style.table("sequential")[255].tolist())]


# ---- words ----


def test_numbers_read_the_same_in_browser_and_python(show):
    shown = show(attention())
    rng = np.random.default_rng(2)
    values = [
        *rng.normal(size=300),
        *(rng.integers(-800, 800, 300) / 64),
        0.125,
        0.375,
        2.5,
        -0.001,
        1e-9,
        0.0,
    ]
    values = np.array([*values, -3e-6, 65536.5], np.float32).astype(float).tolist()
    for digits in range(-1, 5):
        script = "([values, digits]) => values.map((v) => view.spoken(v, digits))"
        assert shown.page.evaluate(script, [values, digits]) == [spoken(value, digits) for value in values]
        script = "([values, digits]) => values.map((v) => view.fixed(v, digits))"
        assert shown.page.evaluate(script, [values, digits + 1]) == [fixed(v, digits + 1) for v in values]


def test_pointing_at_a_cell_says_row_column_and_value(show):
    shown = show(attention())
    assert shown.readout.text_content() == "Point."
    for row, column in [(2, 1), (4, 3), (0, 4)]:
        shown.point(row, column)
        assert shown.readout.text_content() == shown.python.describe(row, column)
    assert shown.readout.text_content() == "Der may not see der"
    shown.page.mouse.move(990, 890)
    shown.settle()
    assert shown.readout.text_content() == "Point."


def test_the_words_under_the_cursor_follow_the_numbers(show):
    shown = show(attention())
    shown.point(3, 2)
    shown.update(values=weights() / 3)
    assert shown.readout.text_content() == shown.python.describe(3, 2)


def test_heads_are_told_apart(show):
    shown = show(attention(values=weights(3), titles=["A", "B", "C"], words="{panel} {row} {column} {value}"))
    for panel in range(3):
        shown.point(4, 2, panel)
        assert shown.readout.text_content() == shown.python.describe(4, 2, panel)


def test_labels_are_text_and_nothing_else(show):
    rows = ["<img src=x onerror=alert(1)>", "$x^2$", "{value}", "&amp;", "x" * 500]
    shown = show(attention(rows=rows, allowed=None))
    for row in range(5):
        shown.point(row, 0)
        assert shown.readout.text_content() == shown.python.describe(row, 0)
        assert rows[row] in shown.readout.text_content()
    assert shown.page.locator("img").count() == 0
    assert shown.canvas.bounding_box()["width"] < 1000


def test_the_picture_has_a_name_and_a_way_in_by_keyboard(show):
    shown = show(attention())
    assert shown.canvas.get_attribute("role") == "img"
    assert shown.canvas.get_attribute("aria-label") == "What looks at what."
    shown.page.keyboard.press("Tab")
    assert shown.page.evaluate("() => document.activeElement === document.querySelector('canvas')")
    help_id = shown.canvas.get_attribute("aria-describedby")
    assert shown.page.locator(f"#{help_id}").text_content() == "Point."
    shown.update(alt="Something else.")
    assert shown.canvas.get_attribute("aria-label") == "Something else."


# ---- keyboard ----


def test_arrow_keys_walk_from_cell_to_cell_and_are_announced(show):
    shown = show(attention())
    walk = [
        (("ArrowDown",), 0, 0),
        (("ArrowDown",), 1, 0),
        (("End",), 1, 4),
        (("ArrowLeft", "ArrowDown"), 2, 3),
    ]
    walk += [
        (("Control+Home",), 0, 0),
        (("ArrowUp", "ArrowLeft"), 0, 0),
        (("Control+End", "ArrowRight"), 4, 4),
    ]
    for keys, row, column in walk:
        shown.press(*keys)
        assert shown.voice.text_content() == shown.python.describe(row, column)
        assert shown.readout.text_content() == shown.python.describe(row, column)


def test_the_cursor_walks_over_into_the_next_head(show):
    words = {"words": "{panel} {row} {column}", "allowed": None, "columns": list("12345")}
    shown = show(attention(values=weights(2), titles=["A", "B"], **words))
    for keys, said in [
        (("End", "End"), "A Der 5"),
        (("ArrowRight",), "B Der 1"),
        (("ArrowLeft",), "A Der 5"),
    ]:
        shown.press(*keys)
        assert shown.voice.text_content() == said
    shown.press("PageDown", "ArrowDown")
    assert shown.voice.text_content() == "B Bär 5"


def test_keys_that_mean_something_here_never_reach_the_notebook(show):
    shown = show(attention(editable=True))
    shown.page.evaluate(
        "() => { window.heard = []; addEventListener('keydown', (event) => heard.push(event.key)); }"
    )
    shown.page.evaluate("() => document.addEventListener('keydown', (event) => heard.push(event.key), true)")
    shown.press("ArrowDown", "ArrowRight", "Home", "Enter", " ", "Escape")
    assert shown.page.evaluate("() => heard") == []
    shown.press("a", "Shift+Enter", "Escape", "PageDown")
    heard = shown.page.evaluate("() => heard")
    assert {"a", "Enter", "Escape", "PageDown"} <= set(heard)


# ---- clicks ----


def test_a_click_selects_a_row_and_a_second_click_or_escape_lets_it_go(show):
    shown = show(attention())
    shown.click(3, 1)
    assert shown.get("selected") == 3
    shown.click(1, 0)
    assert shown.get("selected") == 1
    shown.click(1, 4)
    assert shown.get("selected") == -1
    shown.click(2, 0)
    shown.press("Escape")
    assert shown.get("selected") == -1
    assert [change["selected"] for change in shown.saved()] == [3, 1, -1, 2, -1]


def test_enter_selects_the_row_of_the_cursor(show):
    shown = show(attention())
    shown.press("ArrowDown", "ArrowDown", "Enter")
    assert shown.get("selected") == 1


def test_the_selected_row_is_framed_and_the_frame_leaves_no_trace(show):
    shown = show(attention())
    plain = shown.picture()
    shown.update(selected=2)
    framed = shown.picture()
    assert (framed != plain).any()
    shown.update(selected=-1)
    assert (shown.picture() == plain).all()


def test_the_marked_cell_is_framed_and_the_frame_leaves_no_trace(show):
    shown = show(attention())
    plain = shown.picture()
    shown.update(marked=[0, 2, 1])
    assert (shown.picture() != plain).any()
    shown.update(marked=[])
    assert (shown.picture() == plain).all()


def test_a_click_on_an_editable_cell_sends_python_the_whole_new_mask(show):
    shown = show(attention(editable=True))
    shown.click(0, 4)
    shown.click(4, 0)
    first, second = (change["allowed"] for change in shown.saved())
    expected = CAUSAL.copy()
    expected[0, 4] = True
    assert first == {"shape": [5, 5], "data": expected.astype(int).ravel().tolist()}
    expected[4, 0] = False
    assert second["data"] == expected.astype(int).ravel().tolist()
    told = []
    shown.python.on_edit(told.append)
    shown.python.set_state({"allowed": {"shape": second["shape"], "data": bytes(second["data"])}})
    np.testing.assert_array_equal(told[0], expected)
    assert shown.get("selected") == -1


def test_an_edit_is_seen_and_said_at_once(show):
    shown = show(attention(editable=True, digits=-1))
    before = shown.picture()
    shown.click(0, 4)
    shown.page.mouse.move(990, 890)
    shown.settle()
    assert (shown.picture() != before).any()
    assert "may not" not in shown.voice.text_content()
    shown.click(0, 4)
    assert shown.voice.text_content() == "Der may not see der"
    shown.click(0, 4)
    values = weights()
    values[0, 0, 4] = 0.5  # Python answers the click with new numbers
    shown.update(values=values)
    assert shown.voice.text_content() == "Der to der is 0.5000"
    shown.point(1, 0)
    assert shown.voice.text_content() == "Der to der is 0.5000"


def test_enter_and_space_toggle_the_cell_of_the_cursor(show):
    shown = show(attention(editable=True, allowed=None))
    shown.press("ArrowDown", "Enter", "ArrowRight", " ")
    masks = [np.reshape(change["allowed"]["data"], (5, 5)) for change in shown.saved()]
    assert np.argwhere(masks[0] == 0).tolist() == [[0, 0]]
    assert np.argwhere(masks[1] == 0).tolist() == [[0, 0], [0, 1]]


def test_rows_can_be_selected_by_their_label_or_shift_and_space_while_cells_are_editable(show):
    shown = show(attention(editable=True))
    shown.click(3, -1)
    assert shown.get("selected") == 3
    shown.press("ArrowDown", "Shift+ ")
    assert shown.get("selected") == 0
    assert all("allowed" not in change for change in shown.saved())


def test_a_mask_for_each_head_is_edited_in_its_head(show):
    mask = np.ones((2, 5, 5), bool)
    shown = show(attention(values=weights(2), allowed=mask, editable=True))
    shown.click(1, 2, panel=1)
    change = shown.saved()[0]["allowed"]
    assert change["shape"] == [2, 5, 5]
    assert np.argwhere(np.reshape(change["data"], (2, 5, 5)) == 0).tolist() == [[1, 1, 2]]


def test_nothing_can_be_edited_unless_allowed(show):
    shown = show(attention())
    shown.click(0, 4)
    shown.press("ArrowDown", "Enter")
    assert all("allowed" not in change for change in shown.saved())


def test_a_click_enter_or_space_on_a_cell_is_told_to_python_and_selects_no_row(show):
    told = []
    view = attention(values=weights(2))
    view.on_click(lambda *cell: told.append(cell))
    shown = show(view)
    shown.click(1, 2, panel=1)
    shown.click(0, 4)  # masked
    shown.press("ArrowDown", "ArrowDown", "Enter", " ")
    for message in shown.sent():
        view._handle_custom_msg(message, [])
    assert told == [(1, 1, 2), (0, 0, 4), (0, 2, 4), (0, 2, 4)]
    assert shown.get("selected") == -1 and shown.saved() == []
    shown.click(3, -1)
    shown.press("ArrowDown", "Shift+ ")
    assert len(shown.sent()) == 4 and [set(change) for change in shown.saved()] == [{"selected"}] * 2


def test_what_becomes_of_a_clicked_cell_is_read_out(show):
    view = attention(digits=-1)
    view.on_click(lambda *_cell: None)
    shown = show(view)
    shown.click(1, 0)
    values = weights()
    values[0, 1, 0] = 0.5  # Python answers the click with new numbers
    shown.update(values=values)
    assert shown.voice.text_content() == "Bär to Der is 0.5000"


# ---- touch ----


@pytest.fixture
def touch(chromium):
    """Show a view on a page that is touched."""
    context = chromium.new_context(has_touch=True, viewport={"width": 700, "height": 500})
    yield lambda view: Shown(context.new_page(), view)
    context.close()


def test_a_tap_says_the_number_of_a_cell_and_selects_its_row(touch):
    shown = touch(attention(digits=-1))
    for row, column in [(3, 1), (3, 2), (4, 0)]:  # the second in the same row
        shown.tap(row, column)
        assert (
            shown.readout.text_content() == shown.voice.text_content() == shown.python.describe(row, column)
        )
        assert shown.get("selected") == row
    shown.tap(4, 0)
    assert shown.get("selected") == -1


def test_a_tap_on_an_editable_cell_changes_it_once(touch):
    shown = touch(attention(editable=True))
    shown.tap(0, 4)
    (change,) = shown.saved()
    assert np.argwhere(np.reshape(change["allowed"]["data"], (5, 5)) != CAUSAL).tolist() == [[0, 4]]
    assert shown.readout.text_content() == f"Der to der is {spoken(weights()[0, 0, 4], 2)}"


def test_a_tap_on_a_cell_is_told_once(touch):
    view = attention()
    view.on_click(lambda *_cell: None)
    shown = touch(view)
    for row, column in [(3, 1), (3, 2), (3, 2)]:
        shown.tap(row, column)
    assert shown.sent() == [{"click": [0, 3, 1]}, {"click": [0, 3, 2]}, {"click": [0, 3, 2]}]
    assert shown.readout.text_content() == view.describe(3, 2) and shown.saved() == []


def test_a_finger_on_a_matrix_scrolls_the_page_and_says_nothing(touch):
    shown = touch(attention())
    shown.page.evaluate("() => { document.body.style.height = '3000px'; }")
    shown.settle()
    x, y = shown.cell(4, 2)
    finger = shown.page.context.new_cdp_session(shown.page)
    way = [("touchStart", 0), *(("touchMove", up) for up in range(10, 150, 10)), ("touchEnd", None)]
    for kind, up in 2 * way:  # a Chromium without a window lets the first on a fresh page go by
        points = [] if up is None else [{"x": x, "y": y - up}]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    shown.page.wait_for_function("() => scrollY > 50", timeout=10_000)
    assert shown.readout.text_content() == "Point."
    assert shown.get("selected") == -1


# ---- several, and as many cells as there may be ----


def test_each_of_several_matrices_is_described_by_its_own_hint(show):
    shown = show(attention(hint="first"))
    for hint in ("second", "third"):
        add(shown.page, attention(hint=hint))
    hints = shown.page.evaluate(
        "() => [...document.querySelectorAll('canvas')].map((canvas) => "
        "document.getElementById(canvas.getAttribute('aria-describedby')).textContent)"
    )
    assert hints == ["first", "second", "third"]


@pytest.mark.parametrize("shape", [(512, 512), (64, 64, 64), (64, 1, 512)])
def test_the_largest_values_are_drawn_without_making_a_page_wait(show, shape):
    view = MatrixView(np.random.default_rng(0).normal(size=shape), allowed=np.eye(*shape[-2:], dtype=bool))
    shown = show(view)
    milliseconds = shown.page.evaluate("""async () => {
      const begin = performance.now();
      model.tell("values");
      await nextFrame();
      await nextFrame();
      return performance.now() - begin;
    }""")
    assert shown.painted == 2
    assert shown.page.evaluate("() => el.querySelector('canvas').getBoundingClientRect().width") < 2000
    assert milliseconds < 2000  # a busy machine's; a quiet one takes a twentieth
    assert view.still().width < 4000


# ---- shape and end ----


def test_a_new_shape_moves_the_cursor_out_of_the_way(show):
    shown = show(attention())
    shown.press("Control+End", "Control+End")
    assert shown.readout.text_content() == shown.python.describe(4, 4)
    shown.update(values=weights(3, 3), rows=["a", "b", "c"], allowed=None)
    assert shown.readout.text_content() == "Point."
    shown.point(2, 1, panel=2)
    assert shown.readout.text_content() == shown.python.describe(2, 1, 2)


def test_the_end_leaves_no_listener_behind(show):
    shown = show(attention())
    assert shown.page.evaluate("() => model.listening") > 0
    counts = shown.page.evaluate("""async () => {
      // A second view of the same model, with every listener counted from its first to its last moment.
      const open = new Set();
      const { addEventListener: add, removeEventListener: remove } = EventTarget.prototype;
      EventTarget.prototype.addEventListener = function (name, handler, ...rest) {
        open.add(handler);
        return add.call(this, name, handler, ...rest);
      };
      EventTarget.prototype.removeEventListener = function (name, handler, ...rest) {
        open.delete(handler);
        return remove.call(this, name, handler, ...rest);
      };
      for (const { prototype } of [MutationObserver, ResizeObserver]) {
        const { observe, disconnect } = prototype;
        prototype.observe = function (...what) {
          open.add(this);
          return observe.apply(this, what);
        };
        prototype.disconnect = function () {
          open.delete(this);
          return disconnect.call(this);
        };
      }
      const before = model.listening;
      const second = document.createElement("div");
      document.body.append(second);
      const end = await view.default.render({ model, el: second });
      await nextFrame();
      const [during, opened] = [model.listening, open.size];
      end();
      const painted = second.querySelector("canvas").dataset.painted;
      document.body.dataset.jpThemeLight = "false";
      second.style.width = "300px";
      model.tell("values");
      await nextFrame();
      await nextFrame();
      const after = second.querySelector("canvas").dataset.painted;
      return { before, during, ended: model.listening, opened, left: open.size, painted, after };
    }""")
    assert counts["during"] == 2 * counts["before"]
    assert counts["ended"] == counts["before"]
    assert counts["opened"] > 0 and counts["left"] == 0
    assert counts["painted"] == counts["after"] != "0"


def test_two_views_of_one_model_show_the_same(show):
    shown = show(attention(digits=-1))
    shown.page.evaluate("""async () => {
      const second = document.createElement("div");
      document.body.append(second);
      await view.default.render({ model, el: second });
      await nextFrame();
    }""")
    shown.page.locator("canvas").first.evaluate("canvas => { canvas.id = 'first'; }")
    first, second = (
        shown.page.evaluate("i => document.querySelectorAll('canvas')[i].toDataURL()", index)
        for index in (0, 1)
    )
    assert first == second
