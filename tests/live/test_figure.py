"""The live figure, the still twin and the style they share."""

import io
import time
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from PIL import Image

from tokenwerk_helpers.live import figure, style
from tokenwerk_helpers.live.figure import LiveFigure, Texts, changes
from tokenwerk_helpers.live.lock import LOCK
from tokenwerk_helpers.live.still import AREA, GAP, NEAR, encoded, stacked


def count(picture: np.ndarray, colour: str) -> int:
    """How many pixels have exactly this colour."""
    return int((picture[..., :3] == np.round(255 * np.array(to_rgb(colour)))).all(axis=-1).sum())


@pytest.fixture
def live():
    live = LiveFigure(4, 2, alt="a line")
    axes = live.figure.add_subplot()
    axes.set_ylim(0, 3)
    (live.line,) = axes.plot([0, 1], [1, 1], color=style.ROLES["mlp"])
    live.moving(live.line)
    return live


def test_a_moved_artist_looks_as_if_everything_had_been_drawn_anew(live):
    live.refresh()
    live.line.set_ydata([2, 2])
    live.refresh()
    moved = live.pixels
    live.redraw()
    assert np.array_equal(moved, live.pixels)


PICTURES = arrays(np.uint32, (4, 6), elements=st.integers(0, 3))


@given(PICTURES, PICTURES)
def test_a_picture_and_the_changes_to_it_give_the_next_one(before, after):
    edges, colours = changes(before, after)
    assert colours.size == (before != after).sum()  # not one pixel too many
    page, rest = before.ravel().copy(), list(colours)
    for begin, end in edges.reshape(-1, 2):
        assert begin < end
        page[begin:end], rest = rest[: end - begin], rest[end - begin :]
    assert not rest and np.array_equal(page.reshape(after.shape), after)


class Page:
    """What a page makes of a figure's messages."""

    def __init__(self, live: LiveFigure):
        self.picture, self.bytes = None, []
        live.send = self.hear

    def hear(self, content, buffers) -> None:
        self.bytes.append(sum(part.nbytes for part in buffers))
        if content["paper"] is not None:
            self.picture = np.full((content["height"], content["width"]), content["paper"], np.uint32)
        if self.picture is None:
            return
        edges, colours = buffers
        runs = [np.arange(begin, end) for begin, end in edges.reshape(-1, 2)]
        self.picture.flat[np.concatenate(runs)] = colours

    def shows(self, live: LiveFigure) -> bool:
        return np.array_equal(self.picture.view(np.uint8).reshape(live.pixels.shape), live.pixels)


def test_a_page_that_is_only_told_what_changed_shows_the_whole_picture(live):
    page = Page(live)
    live.refresh()
    assert page.shows(live)
    for height in (0.5, 2.5, 2.51):
        live.line.set_ydata([height, 1])
        live.refresh()
        assert page.shows(live)
    for change in ({"density": 2.0}, {"dark": True}, {"dark": False, "density": 1.0}):
        live.set_state(change)
        assert page.shows(live)


def test_a_small_move_sends_few_bytes_and_none_sends_nothing(live):
    page = Page(live)
    live.refresh()
    live.line.set_ydata([1.02, 1])
    live.refresh()
    whole, small = page.bytes
    assert whole < live.pixels.nbytes / 4  # plain paper costs nothing
    assert 0 < small < whole / 2 and small < live.pixels.nbytes / 40
    live.refresh()
    assert len(page.bytes) == 2


def test_a_move_that_a_reader_interrupts_does_not_leave_the_page_behind(live, monkeypatch):
    """The button that stops a cell may strike between the drawing and the sending."""
    page = Page(live)
    live.refresh()
    live.line.set_ydata([2, 2])
    with monkeypatch.context() as stopped, pytest.raises(KeyboardInterrupt):
        stopped.setattr(figure, "changes", Mock(side_effect=KeyboardInterrupt))
        live.refresh()
    live.line.set_ydata([2, 2.2])
    live.refresh()
    assert page.shows(live)


def test_a_page_that_loads_later_asks_for_the_whole_picture(live):
    early = Page(live)
    live._hear(live, "all", [])
    assert live.pixels is None and not early.bytes  # a figure that is still being made is not drawn
    live.refresh()
    late = Page(live)
    live.line.set_ydata([2, 1])
    live.refresh()
    assert late.picture is None
    live._handle_custom_msg("all", [])
    assert late.shows(live)


def test_a_page_that_asks_is_answered_when_nobody_is_drawing(live):
    page = Page(live)
    live.refresh()
    with ThreadPoolExecutor(1) as kernel:
        with LOCK:
            answer = kernel.submit(live._handle_custom_msg, "all", [])
            time.sleep(0.1)
            assert not answer.done() and len(page.bytes) == 1
        answer.result()
    assert len(page.bytes) == 2


def test_refresh_draws_only_what_moved(live, monkeypatch):
    live.refresh()
    monkeypatch.setattr(live.canvas, "draw", lambda: pytest.fail("everything was drawn"))
    live.line.set_ydata([2.5, 0.5])
    before = live.pixels
    live.refresh()
    assert not np.array_equal(live.pixels, before)


def test_the_still_is_on_light_paper_whatever_the_theme_of_the_page(live):
    live.refresh()
    light = live.still()
    live.dark = True
    assert live.still() == light and light.getpixel((0, 0)) == (255, 255, 255)


def test_the_dark_theme_changes_paper_and_roles_and_is_undone_by_the_light_one(live):
    live.refresh()
    before = live.pixels
    live.dark = True
    assert count(live.pixels, style.DARK.paper) > count(live.pixels, style.LIGHT.paper)
    assert count(live.pixels, style.DARK_ROLES["mlp"]) > 50
    assert count(live.pixels, style.ROLES["mlp"]) == 0
    live.dark = False
    assert np.array_equal(live.pixels, before)


def test_a_denser_screen_gets_more_pixels_and_the_still_stays(live):
    live.refresh()
    height, width, _ = live.pixels.shape
    assert (width, height) == (4 * 96, 2 * 96) and live.width == width
    still = live.still()
    for density, scale in ((2.0, 2), (7.0, 3), (0.5, 1)):  # beyond the limits nothing is gained
        live.density = density
        assert live.pixels.shape == (scale * height, scale * width, 4)
        assert live.still() == still
    assert live.width == width


@pytest.mark.parametrize("inches", [(7.6, 3.33), (8.2, 1.15), (4.6, 3.6)])
def test_no_part_of_a_pixel_is_cut_off_whatever_the_size_in_inches(inches):
    live = LiveFigure(*inches)
    live.figure.add_subplot()
    live.refresh()
    assert live.pixels.shape[:2] == (live.height, live.width)
    assert live.still().size == (2 * live.width, 2 * live.height)


def test_new_texts_move_without_drawing_the_rest(live, monkeypatch):
    texts = Texts(live, live.figure.axes[0])
    live.refresh()
    monkeypatch.setattr(live.canvas, "draw", lambda: pytest.fail("everything was drawn"))
    before = live.pixels
    texts.show([{"x": 0.5, "y": 2, "text": "new", "color": style.LIGHT.ink}])
    live.refresh()
    assert not np.array_equal(live.pixels, before)


def test_an_artist_that_moves_only_from_now_on_leaves_nothing_behind(live):
    (late,) = live.figure.axes[0].plot([0, 1], [2, 2], color="#ff0000")
    live.refresh()
    assert count(live.pixels, "#ff0000") > 50
    live.moving(late)
    late.set_visible(False)
    live.refresh()
    assert count(live.pixels, "#ff0000") == 0


def test_theme_and_density_told_together_are_drawn_once(live, monkeypatch):
    live.refresh()
    draw = Mock(wraps=live.canvas.draw)
    monkeypatch.setattr(live.canvas, "draw", draw)
    live.set_state({"dark": True, "density": 2.0})
    assert draw.call_count == 1
    assert count(live.pixels, style.DARK.paper) > 0 and live.pixels.shape[1] == 2 * live.width


def test_two_threads_draw_one_after_the_other(monkeypatch):
    """A kernel may draw for a message of the page in one thread while a cell draws in another."""
    busy, most, really = [], [], FigureCanvasAgg.draw

    def draw(canvas) -> None:
        busy.append(canvas)
        most.append(len(busy))
        time.sleep(0.02)
        really(canvas)
        busy.remove(canvas)

    monkeypatch.setattr(FigureCanvasAgg, "draw", draw)
    views = [LiveFigure(2, 1) for _ in range(4)]
    with ThreadPoolExecutor(len(views)) as pool:
        list(pool.map(lambda view: (view.redraw(), view.still()), views))
    assert len(most) == 2 * len(views) and max(most) == 1


@pytest.mark.parametrize("text", ["$x$", "$x$ and $y$", r"5 $ and $\alpha$ for $"])
def test_a_dollar_sign_is_a_dollar_sign(text):
    with style.building():
        live = LiveFigure(4, 2)
        axes = live.figure.add_subplot(title=text, xlabel=text)
        drawn = [axes.title, axes.xaxis.label, axes.text(0.5, 0.5, text)]
    live.redraw()
    shown = live.pixels
    for parse_math in (False, True):
        for one in drawn:
            one.set_parse_math(parse_math)
        live.redraw()
        assert np.array_equal(live.pixels, shown) is not parse_math


def test_a_figure_that_moves_leaves_no_artists_behind(live):
    live.refresh()
    count = len(live.figure.findobj())
    for height in np.linspace(0, 3, 20):
        live.line.set_ydata([height, height])
        live.refresh()
    assert len(live.figure.findobj()) == count


def test_a_still_keeps_size_and_place_of_each_view(live):
    live.refresh()
    one = live.still()
    page = np.asarray(stacked([[one, one], [one]]))
    width, height = one.size
    assert page.shape == (2 * height + GAP, 2 * width + GAP, 3)
    assert np.array_equal(page[:height, width + GAP :], np.asarray(one))
    assert np.array_equal(page[height + GAP :, :width], np.asarray(one))


def stored(picture: Image.Image) -> tuple[Image.Image, np.ndarray]:
    """The picture as a notebook keeps it, and how far each pixel is from what it was.  # (H, W)"""
    file = encoded(picture)
    assert file == encoded(picture.copy())
    kept = Image.open(io.BytesIO(file))
    return kept, np.abs(np.asarray(kept.convert("RGB")).astype(int) - np.asarray(picture)).max(axis=-1)


def test_a_stored_picture_has_a_palette_and_looks_as_it_did(live):
    axes = live.figure.axes[0]
    for place, colour in enumerate(style.ROLES.values()):
        axes.text(0.1 * place, 2, "Ente", color=colour, rotation=30)
    axes.imshow(np.linspace(0, 1, 20).reshape(4, 5), extent=(0, 1, 0, 1), aspect="auto", cmap="RdBu_r")
    picture = live.still()
    assert len(picture.getcolors(1 << 16)) > 256
    kept, errors = stored(picture)
    assert kept.mode == "P" and 0 < errors.max() <= NEAR
    words = np.asarray(picture).astype(int) @ [1 << 16, 1 << 8, 1]
    common = [word for word, count in zip(*np.unique(words, return_counts=True)) if count >= AREA]
    assert not errors[np.isin(words, common)].any()
    whole = io.BytesIO()
    picture.save(whole, format="PNG", compress_level=6)
    assert len(encoded(picture)) < 0.6 * len(whole.getvalue())


def test_a_picture_of_few_colours_is_stored_exactly_and_one_of_too_many_too():
    few = Image.new("RGB", (40, 30), "#0072b2")
    many = Image.fromarray(np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8))
    areas = np.repeat(
        np.repeat(np.asarray(many)[:20, :20], 12, axis=0), 12, axis=1
    )  # 400 colours, all common
    for picture, mode in ((few, "P"), (many, "RGB"), (Image.fromarray(areas), "RGB")):
        kept, errors = stored(picture)
        assert kept.mode == mode and not errors.any()


@pytest.mark.parametrize("kind", ["sequential", "diverging"])
@pytest.mark.parametrize("dark", [False, True])
def test_colour_scales_rise_in_one_direction_or_from_the_middle(kind, dark):
    light = style.luminance(style.table(kind, dark))
    steps = np.diff(light)
    if kind == "sequential":
        assert (steps >= -1e-3).all() if dark else (steps <= 1e-3).all()
    else:
        middle = light[127]
        assert (middle <= light + 0.02).all() if dark else (middle >= light - 0.02).all()


@given(st.lists(st.integers(0, 255), min_size=3, max_size=3))
def test_printed_numbers_can_be_read_on_every_colour(rgb):
    ink = 0.0 if style.text_on(rgb) == "#000000" else 1.0
    bright, dim = sorted([style.luminance(rgb), ink], reverse=True)
    assert (bright + 0.05) / (dim + 0.05) >= 4.5  # WCAG 2, level AA


COLOURS = {False: style.ROLES | style.ACCENTS, True: style.DARK_ROLES | style.DARK_ACCENTS}


@pytest.mark.parametrize("name", list(COLOURS[False]))
def test_role_and_accent_colours_stand_out_from_both_papers(name):
    for dark, paper in ((False, style.LIGHT.paper), (True, style.DARK.paper)):
        one, other = (style.luminance(255 * np.array(to_rgb(c))) for c in (COLOURS[dark][name], paper))
        contrast = (max(one, other) + 0.05) / (min(one, other) + 0.05)
        # Graphics need 3:1; the head's sky is a filled area with dark letters on it.
        assert contrast >= (2.2 if name == "head" else 3.0), (name, dark, contrast)


def seen_by(colours: dict[str, str]):
    """The colours as they look to usual and to red-green-blind eyes, one dictionary of RGB for each."""
    # Machado, Oliveira & Fernandes 2009, deuteranopia and protanopia at full severity.
    deutan = [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]
    protan = [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ]
    for matrix in (np.eye(3), deutan, protan):
        yield {name: np.array(matrix) @ np.array(to_rgb(colour)) for name, colour in colours.items()}


def test_role_colours_stay_apart_for_red_green_blind_eyes():
    names = [name for name in style.ROLES if name != "masked"]
    for seen in seen_by(style.ROLES):
        for i, one in enumerate(names):
            for other in names[i + 1 :]:
                assert np.linalg.norm(seen[one] - seen[other]) > 0.1, (one, other)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("accent", list(style.ACCENTS))
def test_accents_are_no_roles_and_stay_apart_for_red_green_blind_eyes(accent, dark):
    for seen in seen_by(COLOURS[dark]):
        for other in set(seen) - {accent, "masked"}:
            least = 0.3 if other in style.ACCENTS else 0.1  # accents stand in one picture
            assert np.linalg.norm(seen[accent] - seen[other]) > least, other


def test_every_colour_has_one_counterpart_on_a_dark_page():
    assert style.ACCENTS.keys() == style.DARK_ACCENTS.keys() and style.ROLES.keys() == style.DARK_ROLES.keys()
    assert len(style.NIGHT) == len(set(style.NIGHT.values())) == 4 + len(COLOURS[False])
    assert style.NIGHT.keys().isdisjoint(style.NIGHT.values()), "a pen set twice would change twice"


LIGHT, NIGHT = style.ROLES["masked"], style.DARK_ROLES["masked"]  # hatches have it as well
WAYS = {
    "line": lambda axes: axes.plot([0, 1], [1, 2], color=LIGHT, linewidth=4),
    "markers": lambda axes: axes.plot([0.5], [1], "s", color=LIGHT, markersize=20),
    "form": lambda axes: [axes.axvspan(0.2, 0.8, color=LIGHT)],
    "edge": lambda axes: [axes.axvspan(0.2, 0.8, facecolor="none", edgecolor=LIGHT, linewidth=4)],
    "hatch": lambda axes: [axes.axvspan(0.2, 0.8, facecolor="none", linewidth=0, hatch="-")],
    "points": lambda axes: [axes.scatter([0.3, 0.7], [1, 2], 300, [LIGHT, style.ACCENTS["first"]])],
    "one point": lambda axes: [axes.scatter([0.3], [1], 300, LIGHT)],
    "hatched points": lambda axes: [
        axes.scatter([0.3, 0.7], [1, 2], 900, "none", linewidths=[0, 0], hatch="--")
    ],
    "letters": lambda axes: [axes.text(0.2, 1, "████", color=LIGHT, fontsize=20)],
    "box": lambda axes: [axes.text(0.2, 1, "boxed", bbox={"facecolor": LIGHT, "linewidth": 0})],
}


@pytest.mark.parametrize("moves", [True, False], ids=["moves", "stands"])
@pytest.mark.parametrize("draw", WAYS.values(), ids=WAYS)
@style.building()
def test_what_is_coloured_light_on_a_dark_page_is_seen_in_its_dark_counterpart(live, draw, moves):
    live.dark, live.density = True, 3.0  # at which the lines of a hatch are as wide as a pixel
    artists = draw(live.figure.axes[0])
    live.moving(*artists if moves else ())
    live.redraw()
    assert count(live.pixels, NIGHT) > 20 and count(live.pixels, LIGHT) == 0
    live.dark = False
    assert count(live.pixels, LIGHT) > 20 and count(live.pixels, NIGHT) == 0


@style.building()
def test_a_moving_axis_makes_its_late_ticks_in_the_colours_of_a_dark_page():
    live = LiveFigure(4, 2)
    axes = live.figure.add_subplot()
    live.moving(axes.yaxis)
    live.dark = True
    axes.set_ylim(0, 7.5)
    live.refresh()
    beside = live.pixels[:, : round(axes.bbox.x0) - 1]
    assert count(beside, style.DARK.soft) > 5 and count(beside, style.LIGHT.soft) == 0


def test_texts_are_made_once_moved_and_hidden(live):
    texts = Texts(live, live.figure.axes[0], ha="center")
    texts.show({"x": 0.3 * i, "y": 1, "text": str(i), "color": style.LIGHT.ink} for i in range(3))
    live.refresh()
    made, three = list(texts.made), live.pixels
    texts.show([{"x": 0.5, "y": 2, "text": "$x$", "color": style.LIGHT.ink}])
    assert texts.made == made and [text.get_visible() for text in made] == [True, False, False]
    assert not made[0].get_parse_math()
    texts.show({"x": 0.3 * i, "y": 1, "text": str(i), "color": style.LIGHT.ink} for i in range(3))
    live.refresh()
    assert np.array_equal(live.pixels, three)


def ink(picture: np.ndarray) -> np.ndarray:
    """How much ink there is on the paper, and where its middle is: (amount, row, column)."""
    dark = 255.0 - picture.mean(axis=-1)
    rows, columns = np.indices(dark.shape)
    return np.array([dark.sum(), (dark * rows).sum() / dark.sum(), (dark * columns).sum() / dark.sum()])


@pytest.mark.parametrize("density", [1.0, 2.0])
@pytest.mark.parametrize(
    "look",
    [
        {"text": "␣Hexe  12.3 %"},
        {"text": "two\nlines", "ha": "center", "va": "bottom"},
        {"text": "slanted", "rotation": 30, "ha": "right", "va": "top", "rotation_mode": "anchor"},
        {"text": "$x$ bold", "fontweight": "bold", "color": "#d55e00"},
        {"text": "small", "fontsize": 6, "va": "center"},
    ],
    ids=lambda look: look["text"].partition("\n")[0],
)
def test_a_stamped_text_looks_as_if_drawn_and_stands_within_a_pixel_of_it(look, density):
    live = LiveFigure(3, 1)
    text = live.figure.text(0, 0, "")
    live.moving(text)
    live.density = density
    for place in ((0.503, 0.511), (0.307, 0.402)):  # the second time it has its stamp already
        text.set(position=place, **look)
        live.refresh()
        stamped = ink(live.pixels[..., :3])
        live.canvas.restore_region(live._background)
        live.figure.draw_artist(text)
        drawn = ink(np.asarray(live.canvas.buffer_rgba())[..., :3])
        assert drawn[0] > 1000 and stamped[0] == pytest.approx(drawn[0], rel=0.04)
        assert np.abs(stamped - drawn)[1:].max() <= 0.8
    assert len(live._stamps._made) == 1


@pytest.mark.parametrize(
    "change",
    [{"text": "b"}, {"color": "#ff0000"}, {"fontsize": 20}, {"fontweight": "bold"}, {"rotation": 90}],
    ids=str,
)
def test_a_text_that_has_changed_gets_a_new_stamp_and_its_old_one_back(change):
    live = LiveFigure(2, 1)
    text = live.figure.text(0.5, 0.5, "a", color="#000000", fontsize=9)
    live.moving(text)
    live.refresh()
    before, was = live.pixels, {name: getattr(text, f"get_{name}")() for name in change}
    text.set(**change)
    live.refresh()
    assert not np.array_equal(live.pixels, before) and len(live._stamps._made) == 2
    text.set(**was)
    live.refresh()
    assert np.array_equal(live.pixels, before) and len(live._stamps._made) == 2


def test_stamps_do_not_pile_up():
    live = LiveFigure(2, 1)
    live._stamps.most = 5
    text = live.figure.text(0.5, 0.5, "")
    live.moving(text)
    for number in range(20):
        text.set_text(str(number))
        live.refresh()
    assert len(live._stamps._made) <= 5


def test_a_row_too_long_for_the_page_goes_on_below(live):
    live.refresh()
    one = live.still()
    width, height = one.size
    page = np.asarray(stacked([[one, one, one]]))  # three of 768 pixels
    assert page.shape == (2 * height + GAP, 2 * width + GAP, 3)
    assert np.array_equal(page[height + GAP :, :width], np.asarray(one))


def test_labels_longer_than_the_figure_are_broken_and_others_stay():
    live = LiveFigure(4, 2)
    axes = live.figure.add_subplot()
    axes.set(xlabel="short", ylabel="a name that is far too long for this figure", title="a title " * 12)
    live.refresh()
    assert axes.get_xlabel() == "short"
    assert axes.get_ylabel() == "a name that is far too\nlong for this figure"
    renderer = live.canvas.get_renderer()
    for label in (axes.yaxis.label, axes.title):
        box = label.get_window_extent(renderer)
        assert "\n" in label.get_text() and box.x0 >= 0 and box.y0 >= 0 and box.y1 <= live.figure.bbox.y1
    live.close()
