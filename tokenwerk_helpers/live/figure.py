"""LiveFigure: a matplotlib figure drawn once, of which only the moved artists are drawn again.

Two lines by hand:

    live = LiveFigure(6, 3)
    (line,) = live.figure.add_subplot().plot([0, 1], [0, 1]); live.moving(line)

then, as often as you like, `line.set_ydata([0, 2]); live.refresh()`.
"""

import math
from collections.abc import Callable, Iterable
from typing import Any

import anywidget
import numpy as np
import traitlets
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text
from matplotlib.transforms import Bbox, IdentityTransform
from PIL import Image

from . import style
from .assets import asset
from .lock import locked
from .night import ThemedCanvas
from .still import SCALE, photograph, with_still
from .text import Language
from .twin import Captioned, view_of

CSS_PIXELS_PER_INCH = 96
DENSITIES = (1.0, 3.0)  # what a live picture follows of a screen's density


class Stamps:
    """Pictures of texts drawn lately: to put one down again is far quicker than to draw its letters.

    A stamp stands on whole pixels. Stills are drawn without.
    """

    def __init__(self, most: int = 2000):
        self.most = most
        self._made: dict[tuple, tuple[np.ndarray, int, int]] = {}
        self._table: RendererAgg | None = None
        self._wanted: tuple | None = None  # theme, size and density of the table

    def draw(self, text: Text, renderer: RendererAgg) -> None:
        """Draw the text as its own `draw` would, to half a pixel."""
        if not text.get_visible() or not text.get_text().strip():
            return
        x, y = text.get_transform().transform(text.get_position())
        key = (
            text.get_text(), text.get_fontproperties(), text.get_color(),
            text.get_horizontalalignment(), text.get_verticalalignment(), text.get_rotation(),
            text.get_rotation_mode(), text.get_alpha(), renderer.dpi, type(renderer),
        )  # fmt: skip
        if key not in self._made:
            if len(self._made) == self.most:
                self._made.clear()
            # The text's font properties are changed in place, those of a key must stay.
            key = (key[0], key[1].copy(), *key[2:])
            self._made[key] = self._make(text, renderer, x, y)
        letters, left, bottom = self._made[key]
        renderer.draw_image(renderer.new_gc(), round(x) + left, round(y) + bottom, letters)

    def _make(self, text: Text, renderer: RendererAgg, x: float, y: float) -> tuple[np.ndarray, int, int]:
        """The letters on clear ground, and where they begin as seen from the text's anchor."""
        table = self._cleared(renderer)
        extent = text.get_window_extent(table)
        left, bottom = math.floor(extent.x0 - x) - 1, math.floor(extent.y0 - y) - 1
        width, height = math.ceil(extent.width) + 3, math.ceil(extent.height) + 3
        where, place = text.get_transform(), text.get_position()
        text.set(transform=IdentityTransform(), position=(-left, -bottom))
        text.draw(table)
        text.set(transform=where, position=place)
        return np.asarray(table.buffer_rgba())[-height:, :width][::-1].copy(), left, bottom

    def _cleared(self, renderer: RendererAgg) -> RendererAgg:
        # One for all, since matplotlib remembers by renderer how wide a text is.
        wanted = type(renderer), int(renderer.width), int(renderer.height), renderer.dpi
        if self._table is None or self._wanted != wanted:
            self._table, self._wanted = type(renderer)(*wanted[1:]), wanted
        self._table.clear()
        return self._table


class Layout(ConstrainedLayoutEngine):
    """matplotlib's constrained layout, followed to its end once for each density and then kept.

    matplotlib takes one step of it at every drawing, so that axes creep from picture to picture. Each density
    has places of its own, since the same letters are up to 7 % wider at one than at another.
    """

    AT_REST, STEPS = 0.1, 10  # pixels of a step after which there is none; so many steps at most

    def __init__(self):
        super().__init__()
        self._found: dict[float, dict[Axes, Bbox]] = {}

    def forget(self) -> None:
        """Find all places anew when they are needed next."""
        self._found.clear()

    def execute(self, fig: Figure) -> None:
        """Put the axes to their places at the figure's density."""
        if fig.dpi not in self._found:
            self._found[fig.dpi] = self._settled(fig)
        put(self._found[fig.dpi])

    def _settled(self, fig: Figure) -> dict[Axes, Bbox]:
        # Always from the same beginning: the same figure must look the same, whatever it was before.
        specs = {axes: axes.get_subplotspec() for axes in fig.axes}
        put({axes: spec.get_position(fig) for axes, spec in specs.items() if spec is not None})
        now = places(fig)
        super().execute(fig)
        break_long_labels(fig)
        for _step in range(self.STEPS):
            super().execute(fig)
            before, now = now, places(fig)
            step = max(np.abs(now[axes].get_points() - before[axes].get_points()).max() for axes in now)
            if step * fig.bbox.width < self.AT_REST:
                break
        return now


def break_long_labels(figure: Figure) -> None:
    """Break the names of axes and the titles that are longer than the figure: not every language is short."""
    renderer = figure.canvas.get_renderer()
    for axes in figure.axes:
        for label in (axes.xaxis.label, axes.yaxis.label, axes.title, axes._left_title):
            box = label.get_window_extent(renderer)
            too_long = box.width > 0 and not (box.x0 >= 0 and box.x1 <= figure.bbox.x1)
            too_high = box.height > 0 and not (box.y0 >= 0 and box.y1 <= figure.bbox.y1)
            if label.get_text() and (too_high if label is axes.yaxis.label else too_long):
                label.set_text(broken(label.get_text()))


def broken(text: str) -> str:
    """The text with its longest line broken at the space nearest to its middle."""
    lines = text.split("\n")
    longest = max(lines, key=len)
    spaces = [place for place, letter in enumerate(longest) if letter == " "]
    if not spaces:
        return text
    at = min(spaces, key=lambda place: abs(place - len(longest) / 2))
    lines[lines.index(longest)] = f"{longest[:at]}\n{longest[at + 1 :]}"
    return "\n".join(lines)


def places(figure: Figure) -> dict[Axes, Bbox]:
    """Where the axes of a figure are, in parts of its size."""
    return {axes: axes.get_position(original=True) for axes in figure.axes}


def put(where: dict[Axes, Bbox]) -> None:
    """Put axes back to the places they had."""
    for axes, place in where.items():
        is_laid_out = axes.get_in_layout()
        axes.set_position(place)  # which takes them out of the layout
        axes.set_in_layout(is_laid_out)
        axes.apply_aspect()


def changes(before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where two pictures differ: begin and end of each run of new pixels, and the pixels of all runs.

    A pixel is one word of 32 bits.  # (height, width) twice -> (2 * runs,), (changed pixels,)
    """
    is_new = (before != after).ravel()
    edges = np.flatnonzero(np.diff(is_new, prepend=False, append=False))
    return edges.astype(np.uint32), after.ravel()[is_new]


class LiveFigure(Captioned, anywidget.AnyWidget):
    """A figure of `width` x `height` inches (96 page pixels each) that follows the page's theme and density.

    Draw into `.figure` (no pyplot; in the book's style: `with style.building()`), name the artists that will
    move with `.moving(...)`, then call `.refresh()` after changing them. Whatever else changes (limits,
    ticks, titles) needs `.redraw()`.
    The page is sent only the pixels that have changed: to pack and unpack a PNG takes ten times as long.
    """

    _esm = asset("figure.js")
    _css = asset("figure.css")

    width = traitlets.Int(help="width on the page in pixels").tag(sync=True)
    height = traitlets.Int(help="height on the page in pixels").tag(sync=True)
    alt = traitlets.Unicode(help="what is to be seen, in words").tag(sync=True)
    lang = Language(help="of the words").tag(sync=True)
    dark = traitlets.Bool(False, help="does the page have a dark theme?").tag(sync=True)
    density = traitlets.Float(1.0, help="screen pixels for each pixel of the page").tag(sync=True)
    clickable = traitlets.Bool(False, help="is a click told?").tag(sync=True)

    def __init__(self, width: float = 6.5, height: float = 3.0, alt: str = ""):
        # In whole pixels: matplotlib cuts off part of one.
        on_page = [round(length * CSS_PIXELS_PER_INCH) for length in (width, height)]
        inches = on_page[0] / CSS_PIXELS_PER_INCH, on_page[1] / CSS_PIXELS_PER_INCH
        super().__init__(width=on_page[0], height=on_page[1], alt=alt)
        self.pixels: np.ndarray | None = None  # as drawn last: red, green, blue, alpha  # (H, W, 4)
        self._told: np.ndarray | None = None  # the pixels that pages know of; None: they need all
        self._layout = Layout()
        self.figure = Figure(inches, dpi=CSS_PIXELS_PER_INCH, layout=self._layout)
        self.figure.add_axobserver(style.settle_ticks)
        self.canvas = ThemedCanvas(self.figure)
        self._moving: list[Artist] = []
        self._stamps = Stamps()
        self._page = (False, 1.0)  # theme and density the figure is drawn for
        self._background = None  # everything but the moving artists, as drawn last
        self._click_callbacks: list[Callable] = []
        self.on_msg(self._hear)

    @locked
    def moving(self, *artists: Artist) -> None:
        """Name the artists that `refresh` draws again; all others stand still."""
        if not all(artist.get_animated() for artist in artists):
            self._forget()
        for artist in artists:
            artist.set_animated(True)
        self._moving.extend(artists)

    @locked
    def clear(self) -> None:
        """Empty the figure, to draw it anew."""
        self.figure.clear(keep_observers=True)
        self._moving.clear()
        self._forget()

    @locked
    def refresh(self) -> None:
        """Show the moving artists where they are now; draw the rest only if that has not happened yet."""
        with style.drawing():
            if self._background is None:
                self.canvas.draw()
                self._background = self.canvas.copy_from_bbox(self.figure.bbox)
            self.canvas.restore_region(self._background)
            self._draw_moving(self._stamps)
        self.pixels = np.array(self.canvas.buffer_rgba())
        self._send_pixels(self.pixels)

    @locked
    def redraw(self) -> None:
        """Draw everything again, since more than the moving artists has changed."""
        self._forget()
        self.refresh()

    def _forget(self) -> None:
        self._background = None
        self._layout.forget()

    def _send_pixels(self, pixels: np.ndarray) -> None:
        """Send those that are new since the last time, or all as seen from a page of the paper's colour."""
        # Whoever stops a cell may strike before the pixels are on their way: then the next ones are all sent.
        before, self._told = self._told, None
        after, paper = _words(pixels), None
        if before is None or before.shape != pixels.shape:
            paper = int(after[0, 0])
            edges, colours = changes(np.full_like(after, paper), after)
        else:
            edges, colours = changes(_words(before), after)
        if edges.size or paper is not None:
            height, width = after.shape
            size = {"width": width, "height": height, "density": self._page[1]}
            self.send(size | {"paper": paper}, [edges, colours])
        self._told = pixels

    def on_click(self, callback: Callable[[float, float], None]) -> None:
        """Call `callback(x, y)` when the reader clicks or taps: parts of width and height, from below left.

        Whoever cannot click needs a control that does the same.
        """
        self._click_callbacks.append(callback)
        self.clickable = True

    @locked
    def _hear(self, _widget, content, _buffers) -> None:
        if isinstance(content, dict) and "click" in content:
            x, y = content["click"]
            for callback in tuple(self._click_callbacks):
                callback(x, y)
        # A page that has just loaded this figure; before the first drawing there is nothing to tell it.
        elif self.pixels is not None:
            self._told = None
            self._send_pixels(self.pixels)

    @locked
    def still(self, scale: float = SCALE) -> Image.Image:
        """The still twin: the figure as it is now, on light paper, `scale` image pixels a page pixel."""
        live_dpi, live_places = self.figure.dpi, places(self.figure)
        try:
            self.figure.set_dpi(CSS_PIXELS_PER_INCH * scale)
            # A canvas of its own: the page's keeps its background, and the next move is as quick as any.
            canvas = FigureCanvasAgg(self.figure)
            with style.drawing():
                canvas.draw()
                self._draw_moving()
            return photograph(canvas)
        finally:
            self.figure.set_canvas(self.canvas)
            self.figure.set_dpi(live_dpi)
            put(live_places)

    def _draw_moving(self, stamps: "Stamps | None" = None) -> None:
        # In their stacking order; animated artists are skipped by the figure's own draw.
        for artist in sorted(self._moving, key=lambda artist: artist.get_zorder()):
            if stamps and type(artist) is Text and artist.get_bbox_patch() is None:
                stamps.draw(artist, self.canvas.get_renderer())
            elif artist.axes is not None:
                artist.axes.draw_artist(artist)
            else:
                self.figure.draw_artist(artist)

    @traitlets.observe("dark", "density")
    @locked
    def _follow_page(self, _change) -> None:
        low, high = DENSITIES
        page = self.dark, min(max(self.density, low), high)
        if page == self._page:
            return  # both have changed at once, and the first has drawn already
        self.canvas.dark = self.dark
        self.figure.set_dpi(CSS_PIXELS_PER_INCH * page[1])
        self._page = page
        self._background = None
        self.refresh()

    def _repr_mimebundle_(self, **_kwargs) -> tuple[dict, dict]:
        if self.pixels is None:
            self.refresh()
        return with_still(view_of(self), self.still(), self.alt)


class Texts:
    """As many moving texts in one axes as a picture needs: made when first needed, then moved or hidden."""

    def __init__(self, live: LiveFigure, axes: Axes, **look):
        self.live, self.axes, self.look = live, axes, look
        self.made: list[Text] = []

    def show(self, entries: Iterable[dict]) -> None:
        """Show a text for each entry: its x, y, text, color (of the light theme) and other properties."""
        entries = list(entries)
        # Animated from the beginning: no background to be drawn without them.
        look: dict[str, Any] = style.LETTERS | self.look | {"animated": True}
        missing = [self.axes.text(0, 0, "", **look) for _text in entries[len(self.made) :]]
        if missing:
            self.live.moving(*missing)
            self.made += missing
        for text, entry in zip(self.made, entries):
            text.set(visible=True, **entry)
        for text in self.made[len(entries) :]:
            text.set_visible(False)


def _words(pixels: np.ndarray) -> np.ndarray:
    """Each pixel's four bytes as one word.  # (H, W, 4) -> (H, W)"""
    return pixels.view(np.uint32)[..., 0]
