"""A canvas that draws the colours of the light theme as those of the dark one.

Artists keep their light colours, whenever they are made or coloured; only what reaches the paper differs.
"""

from typing import Any

import numpy as np
from matplotlib.backend_bases import GraphicsContextBase
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.colors import to_rgb

from .style import NIGHT

_NIGHT = {to_rgb(light): to_rgb(night) for light, night in NIGHT.items()}


def by_night(colour: Any) -> Any:
    """What this colour (red, green, blue, perhaps alpha) is in the dark theme; None stays None."""
    if colour is None:
        return None
    red, green, blue, *alpha = colour
    night = _NIGHT.get((red, green, blue))
    return colour if night is None else (*night, *alpha)


class _Pen(GraphicsContextBase):
    """Lines, letters and hatches."""

    _rgb: Any
    _hatch_color: Any

    def set_foreground(self, fg, isRGBA=False):
        super().set_foreground(fg, isRGBA)
        self._rgb = by_night(self._rgb)

    def set_hatch_color(self, hatch_color):
        super().set_hatch_color(hatch_color)
        self._hatch_color = by_night(self._hatch_color)


class NightRenderer(RendererAgg):
    """Agg with dark pens and dark fillings."""

    def __init__(self, *size):
        super().__init__(*size)
        # Agg sets functions of its own before methods of these names.
        self._markers = vars(self).pop("draw_markers")
        self._collection = vars(self).pop("draw_path_collection")

    def new_gc(self) -> GraphicsContextBase:
        """A pen that starts with nothing set."""
        return _Pen()

    def draw_path(self, gc, path, transform, rgbFace=None):
        """Draw a line or a filled form."""
        super().draw_path(gc, path, transform, by_night(rgbFace))

    def draw_markers(self, gc, marker_path, marker_trans, path, trans, rgbFace=None):
        """Draw the same form at many places."""
        self._markers(gc, marker_path, marker_trans, path, trans, by_night(rgbFace))

    def draw_path_collection(self, *args, **hatches):
        """Draw many forms, the colours of their faces and edges in rows."""
        *forms, faces, edges = args[:8]
        hatches = {name: _rows_by_night(colours) for name, colours in hatches.items()}
        self._collection(*forms, _rows_by_night(faces), _rows_by_night(edges), *args[8:], **hatches)


def _rows_by_night(colours: Any) -> np.ndarray:
    return np.array([by_night(tuple(colour)) for colour in colours], float).reshape(-1, 4)


class ThemedCanvas(FigureCanvasAgg):
    """A canvas for a page that is light, or `dark`."""

    def __init__(self, figure):
        super().__init__(figure)
        self.dark = False
        self._made: tuple | None = None  # theme and size of the renderer

    def get_renderer(self) -> RendererAgg:
        """The renderer for this theme, size and density: the last one as long as they stay."""
        wanted = self.dark, *self.get_width_height(physical=True), self.figure.dpi
        if self._made != wanted:
            self.renderer = (NightRenderer if self.dark else RendererAgg)(*wanted[1:])
            self._made = wanted
        return self.renderer
