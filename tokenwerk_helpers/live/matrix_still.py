"""The still twin of MatrixView: the same arrays, labels, colours and words, drawn by matplotlib for print.

Everything is placed in page pixels on one pair of axes that fills the figure, y downwards as in the browser.
"""

import math
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.transforms import Bbox
from PIL import Image

from . import matrix_sizes as sizes
from . import style
from .matrix import colour_index, colour_limits, fixed, neutral_colours, table_with_ink
from .still import photograph

POINTS = 72 / 96  # points in a page pixel
# The font of stills is wider than that of pages, so its letters are smaller.
TITLE, LABEL, SMALL_LABEL = sizes.TITLE_SIZE - 0.5, sizes.LABEL_SIZE - 0.5, sizes.SMALL_LABEL_SIZE - 0.5
PRINT, LEAST_PRINT = sizes.PRINT_SIZE - 0.5, sizes.SMALLEST_PRINT - 0.5


@cache
def _font():
    return get_font(findfont(style.FONT))


@lru_cache(maxsize=4096)
def printable(text: str) -> str:
    """The text with a box for each letter the font lacks (Chinese, say), since matplotlib would warn."""
    known = _font().get_charmap()
    return "".join(letter if ord(letter) in known else "□" for letter in text)


@lru_cache(maxsize=4096)
def text_width(text: str, size: float, bold: bool = False) -> float:
    """Width of a text in page pixels."""
    font = get_font(findfont(FontProperties(family=style.FONT, weight="bold" if bold else "normal")))
    font.set_size(size, 72)
    font.set_text(printable(text))
    return font.get_width_height()[0] / 64


@lru_cache(maxsize=4096)
def cut(text: str, room: float) -> str:
    """The text as a label, or as much of it as fits and an ellipsis."""
    if text_width(text, LABEL) <= room:
        return text
    letters = text[:200]
    while len(letters) > 1 and text_width(letters + "…", LABEL) > room:
        letters = letters[:-1]
    return letters + "…"


@dataclass(frozen=True)
class ColumnLabels:
    """How the column labels stand over the cells: flat if they fit, else tilted, thinned when crowded."""

    size: float
    angle: float  # degrees
    step: int
    height: float
    overhang: float

    @classmethod
    def over(cls, texts: list[str], cell: float) -> "ColumnLabels":
        """The labels over cells of this size."""
        widest = max(text_width(text, LABEL) for text in texts)
        if widest <= cell - 4:
            return cls(LABEL, 0, 1, LABEL + 3, 0)
        roomy = LABEL * 1.1 / math.sin(math.radians(45)) <= cell
        size = LABEL if roomy else SMALL_LABEL
        if widest <= sizes.FLAT_LABELS:
            return cls(size, 0, math.ceil((widest * size / LABEL + 5) / cell), size + 3, 0)
        angle = 45 if roomy else 60
        sin, cos = math.sin(math.radians(angle)), math.cos(math.radians(angle))
        step = math.ceil(size * 1.1 / sin / cell)
        widths = [text_width(text, size) for text in texts[::step]]
        reach = [w * cos - (len(texts) - i * step - 0.5) * cell for i, w in enumerate(widths)]
        return cls(size, angle, step, max(widths) * sin + size * 0.7, max(0, *reach) + size * 0.4)


class Layout:
    """Sizes and places in page pixels; the panels stand in the lines that leave them the largest cells."""

    def __init__(self, view, width: float):
        self.n, self.R, self.C = view.values.shape
        room = sizes.LONGEST_LABEL if self.n == 1 else sizes.LONGEST_SHARED_LABEL
        self.rows = [cut(text, room) for text in view.rows]
        self.columns = [cut(text, room) for text in view.columns]
        self.row_axis = f"{view.row_axis} ↓" if view.row_axis else ""
        self.column_axis = f"{view.column_axis} →" if view.column_axis else ""
        self.titles = view.titles
        self.max_cell, self.max_height = view.cell_size, view.max_height
        self.title_height = TITLE + 6 if any(self.titles) else 0
        self.captions = [caption for caption in (self.column_axis, self.row_axis) if caption]
        self.title_width = max((text_width(title, TITLE, bold=True) for title in self.titles), default=0)
        # Bold, since a selected row is.
        row_width = max(text_width(text, LABEL, bold=True) for text in [*self.rows, *self.captions])
        self.left = sizes.PADDING + row_width + 7
        # What fits best; of equal cells the fewest lines, of equal lines the fullest last one: 4 + 4.
        plans = [self._fit(per_line, width) for per_line in range(1, self.n + 1)]
        _, self.cell, _, _, self.per_line, self.columns_over = max(plans, key=lambda plan: plan[:4])
        self.header = self._header(self.columns_over)
        self.pitch = self._pitch(self.cell, self.columns_over)

    def _header(self, labels: ColumnLabels) -> float:
        return self.title_height + max(labels.height, sizes.CAPTION_LINE * len(self.captions)) + 6

    def _gap(self, labels: ColumnLabels) -> float:
        return max(sizes.GAP, labels.overhang + 4)

    def _pitch(self, cell: float, labels: ColumnLabels) -> float:
        return max(self.C * cell + self._gap(labels), self.title_width + sizes.GAP)

    def _fit(self, per_line: int, width: float):
        lines = math.ceil(self.n / per_line)
        labels = ColumnLabels(LABEL, 0, 1, LABEL, 0)
        # Cells depend on the room labels take, labels on the size of the cells: settle in a few rounds.
        for _ in range(4):
            across = width - self.left - sizes.PADDING - labels.overhang - (per_line - 1) * self._gap(labels)
            down = self.max_height - lines * (self._header(labels) + sizes.GAP)
            height = lines * (self._header(labels) + sizes.GAP + self.R * sizes.LABELLED_CELL)
            least = sizes.LABELLED_CELL if height <= sizes.STRETCH * self.max_height else 4
            cell = min(self.max_cell, across / (per_line * self.C), max(down / (lines * self.R), least))
            cell = max(sizes.SMALLEST_CELL, math.floor(cell * 2) / 2)
            labels = ColumnLabels.over(self.columns, cell)
        last = max(self.C * cell, self.title_width) + labels.overhang + sizes.PADDING
        right = self.left + (per_line - 1) * self._pitch(cell, labels) + last
        return -max(0, right - width), cell, -lines, -per_line, per_line, labels

    @property
    def panel_width(self) -> float:
        """Width of a panel's cells."""
        return self.C * self.cell

    @property
    def panel_height(self) -> float:
        """Height of a panel's cells."""
        return self.R * self.cell

    @property
    def row_size(self) -> float:
        """Type size of the row labels."""
        return LABEL if self.cell >= LABEL + 1 else SMALL_LABEL

    @property
    def row_step(self) -> int:
        """Every how many rows there is room for a label."""
        return math.ceil(self.row_size * 1.08 / self.cell)

    def place(self, panel: int) -> tuple[float, float]:
        """The upper left corner of a panel's cells."""
        line, index = divmod(panel, self.per_line)
        y = sizes.PADDING + self.header + line * (self.header + self.panel_height + sizes.GAP)
        return round(self.left + index * self.pitch), round(y)

    @property
    def bottom(self) -> float:
        """Lower edge of the last line of panels."""
        return self.place(self.n - 1)[1] + self.panel_height

    @property
    def right(self) -> float:
        """Right edge of everything but the legend."""
        last = round(self.left + (min(self.n, self.per_line) - 1) * self.pitch)
        return last + max(self.panel_width, self.title_width) + self.columns_over.overhang + sizes.PADDING


class Still:
    """One drawing: `view`'s numbers, placed by `Layout`."""

    def __init__(self, view, width: float):
        self.view = view
        self.layout = Layout(view, width)
        self.colours = neutral_colours(dark=False)
        self.table = style.table(view.kind)
        self.white = table_with_ink(view.kind, dark=False)["white"]
        self.visible = view.visible
        masked = view.allowed is not None or view.editable
        self.mask_text = view.masked_legend if masked else ""
        values, allowed = view.values, None if view.allowed is None else self.visible
        self.limits = colour_limits(view.limits, view.kind, values, allowed)

    @cached_property
    def size(self) -> tuple[int, int]:
        """Width and height in page pixels."""
        layout, width, height = self.layout, self.layout.right, self.layout.bottom + sizes.PADDING
        if self.view.legend:
            width, height = max(width, self.legend_right), layout.bottom + 16 + 14 + sizes.PADDING
        return math.ceil(width), math.ceil(height)

    @property
    def mask_x(self) -> float:
        """Left edge of the sample of hatching in the legend."""
        return self.layout.left + sizes.BAR_WIDTH + 90

    @property
    def legend_right(self) -> float:
        """Right edge of the legend."""
        text = (
            self.mask_x + 25 + text_width(self.mask_text, SMALL_LABEL) if self.mask_text else self.mask_x - 20
        )
        return text + sizes.PADDING

    def draw(self, scale: float) -> Figure:
        """The finished figure, `scale` image pixels a page pixel."""
        width, height = self.size
        self.figure = Figure((width / 96, height / 96), dpi=96 * scale, facecolor=self.colours["paper"])
        self.axes = self.figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0), autoscale_on=False)
        self.axes.set_axis_off()
        for panel in range(self.layout.n):
            self.draw_labels(panel)
            self.draw_cells(panel)
            self.draw_mask(panel)
            self.draw_lines(panel)
            self.draw_print(panel)
        if self.view.legend:
            self.draw_legend()
        return self.figure

    def write(self, text: str, x: float, y: float, size: float = LABEL, colour: str = "ink", **how) -> None:
        """Text at a place, letter by letter: no formulas, no warnings."""
        how = {"va": "baseline", "color": self.colours.get(colour, colour), **how}
        self.axes.text(x, y, printable(text), size=size * POINTS, family=style.FONT, parse_math=False, **how)

    def box(self, x: float, y: float, width: float, height: float, **how) -> None:
        """A rectangle."""
        how = {"facecolor": "none", "linewidth": 0.75, "snap": True, **how}
        self.axes.add_patch(Rectangle((x, y), width, height, **how))

    def draw_labels(self, panel: int) -> None:
        """Title, axes and labels of a panel; rows are labelled once a line."""
        layout, (x, y) = self.layout, self.layout.place(panel)
        first, top = panel % layout.per_line == 0, y - layout.header
        if layout.titles:
            self.write(layout.titles[panel], x, top + TITLE - 1, TITLE, weight="bold")
        for line, caption in enumerate(reversed(layout.captions if first else [])):
            self.write(caption, x - 7, y - 8 - line * sizes.CAPTION_LINE, colour="soft", ha="right")
        for row in range(0, layout.R if first else 0, layout.row_step):
            middle = y + (row + 0.5) * layout.cell + layout.row_size * 0.36
            weight = "bold" if row == self.view.selected else "normal"
            self.write(layout.rows[row], x - 7, middle, layout.row_size, ha="right", weight=weight)
        self.draw_column_labels(x, y - 7)

    def draw_column_labels(self, x: float, y: float) -> None:
        """Column labels, flat or tilted, with their foot at height y."""
        over, cell = self.layout.columns_over, self.layout.cell
        for column in range(0, self.layout.C, over.step):
            middle = x + (column + 0.5) * cell
            if over.angle:
                # The middle of the first letter stands over the middle of the cell.
                start = middle + over.size * 0.35 * math.sin(math.radians(over.angle))
                how = {"rotation": over.angle, "rotation_mode": "anchor"}
                self.write(self.layout.columns[column], start, y, over.size, **how)
            else:
                self.write(self.layout.columns[column], middle, y, over.size, ha="center")

    def draw_cells(self, panel: int) -> None:
        """The colours of a panel's cells."""
        layout, (x, y) = self.layout, self.layout.place(panel)
        values = self.view.values[panel]
        finite = np.isfinite(values)
        colours = self.table[colour_index(np.where(finite, values, 0), self.limits)]  # (R, C, 3)
        colours[~finite] = np.frombuffer(bytes.fromhex(self.colours["blank"][1:]), np.uint8)
        extent = (x, x + layout.panel_width, y + layout.panel_height, y)
        self.axes.imshow(colours, extent=extent, interpolation="nearest", aspect="auto", zorder=1)

    def draw_mask(self, panel: int) -> None:
        """Hidden cells as hatched paper, neighbours in a row at one stroke."""
        cell, (x, y) = self.layout.cell, self.layout.place(panel)
        runs = []
        for row, allowed in enumerate(self.visible[panel]):
            edges = np.flatnonzero(np.diff(np.concatenate(([0], ~allowed, [0]))))
            for start, end in edges.reshape(-1, 2):
                runs.append(Bbox.from_bounds(x + start * cell, y + row * cell, (end - start) * cell, cell))
        self.hatched(runs)

    def hatched(self, boxes: list[Bbox]) -> None:
        """Hatched paper without an outline; one shape for all, since hatching is slow."""
        corners = [box.corners()[[0, 1, 3, 2, 0]] for box in boxes]
        if corners:
            shape = Path.make_compound_path(*(Path(corner, closed=True) for corner in corners))
            colours = {"facecolor": self.colours["paper"], "hatchcolor": self.colours["masked"]}
            self.axes.add_patch(PathPatch(shape, hatch=style.MASK_HATCH, linewidth=0, zorder=2, **colours))

    def draw_lines(self, panel: int) -> None:
        """Lines between the cells, and the frames: of the panel, the selected row, the marked cell."""
        layout, (x, y) = self.layout, self.layout.place(panel)
        right, bottom = x + layout.panel_width, y + layout.panel_height
        if layout.cell >= sizes.GRID_FROM:
            thin: dict[str, Any] = {"colors": self.colours["grid"], "linewidth": 0.75, "zorder": 3}
            self.axes.hlines([y + row * layout.cell for row in range(1, layout.R)], x, right, **thin)
            self.axes.vlines([x + column * layout.cell for column in range(1, layout.C)], y, bottom, **thin)
        self.box(x, y, layout.panel_width, layout.panel_height, edgecolor=self.colours["frame"], zorder=4)
        if self.view.selected >= 0:
            place = (x, y + self.view.selected * layout.cell, layout.panel_width, layout.cell)
            self.box(*place, edgecolor=self.colours["ink"], linewidth=1.5, zorder=5)
        if self.view.marked[:1] == [panel]:
            _panel, row, column = self.view.marked
            place = (x + column * layout.cell, y + row * layout.cell, layout.cell, layout.cell)
            self.box(*place, edgecolor=self.colours["ink"], linewidth=1.5, zorder=5)

    @cached_property
    def print_size(self) -> float:
        """The type size at which the longest number fits into a cell; 0 if none is readable."""
        seen = self.view.values[np.isfinite(self.view.values) & self.visible]
        if self.view.digits < 0 or not seen.size:
            return 0
        longest = max((fixed(value, self.view.digits) for value in (seen.min(), seen.max())), key=len)
        wide = "".join("0" if letter.isdigit() else letter for letter in longest)
        size = min(PRINT, (self.layout.cell - 4) / text_width(wide, 100) * 100)
        return size if size >= LEAST_PRINT else 0

    def draw_print(self, panel: int) -> None:
        """The numbers in the visible cells."""
        layout, (x, y) = self.layout, self.layout.place(panel)
        values = self.view.values[panel]
        index = colour_index(np.where(np.isfinite(values), values, 0), self.limits)
        special_size = min(PRINT * 1.2, layout.cell * 0.36)
        type_sizes = np.where(np.isfinite(values), self.print_size, special_size if special_size >= 3 else 0)
        for row, column in np.argwhere(self.visible[panel] & (type_sizes > 0)):
            value, size = values[row, column], type_sizes[row, column]
            white = np.isfinite(value) and self.white[index[row, column]]
            colour = "#ffffff" if white else "#000000"
            middle, line = x + (column + 0.5) * layout.cell, y + (row + 0.5) * layout.cell + size * 0.36
            text = fixed(value, max(self.view.digits, 0))
            self.write(text, middle, line, size, colour, ha="center", zorder=6)

    def draw_legend(self) -> None:
        """The colour bar with its limits, and what hatching means."""
        x, y = self.layout.left, self.layout.bottom + 16
        low, high = (limit_text(limit, self.view.digits) for limit in self.limits)
        baseline, quiet = y + sizes.BAR_HEIGHT, (SMALL_LABEL, "soft")
        self.write(low, x, baseline, *quiet)
        bar = x + text_width(low, SMALL_LABEL) + 6
        extent = (bar, bar + sizes.BAR_WIDTH, y + sizes.BAR_HEIGHT, y)
        self.axes.imshow(self.table[None], extent=extent, interpolation="nearest", aspect="auto")
        self.box(bar, y, sizes.BAR_WIDTH, sizes.BAR_HEIGHT, edgecolor=self.colours["frame"])
        self.write(high, bar + sizes.BAR_WIDTH + 6, baseline, *quiet)
        if self.mask_text:
            self.hatched([Bbox.from_bounds(self.mask_x, y - 1, 18, sizes.BAR_HEIGHT + 2)])
            self.box(self.mask_x, y - 1, 18, sizes.BAR_HEIGHT + 2, edgecolor=self.colours["frame"], zorder=4)
            self.write(self.mask_text, self.mask_x + 25, baseline, *quiet)


def limit_text(value: float, digits: int) -> str:
    """A limit of the colours without trailing zeros."""
    text = fixed(value, max(digits, 2))
    return text.rstrip("0").rstrip(".") if "." in text else text


@style.building()
def draw(view, scale: float, width: float) -> Image.Image:
    """The view as a picture."""
    canvas = FigureCanvasAgg(Still(view, width).draw(scale))
    canvas.draw()
    return photograph(canvas)
