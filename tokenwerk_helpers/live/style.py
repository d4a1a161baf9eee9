"""The one place for colours, colour maps and type sizes.

A role keeps its colour in every figure, diagram and caption. The hues are those of Okabe and Ito 2008 (Color
Universal Design), which stay apart for colour-blind eyes; the lighter ones are darkened until they read on
white paper.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, Literal, cast

import numpy as np
from matplotlib import colormaps, rcParams, rcParamsDefault
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from .lock import LOCK

ROLES = {
    "residual": "#0072b2",  # blue: the direct path
    "attention": "#d55e00",  # vermilion
    "mlp": "#009e73",  # green
    "norm": "#b3628f",  # purple-pink
    "embedding": "#b98700",  # ochre
    "head": "#56b4e9",  # sky
    "gradient": "#6b0f3c",  # deep plum: violet would be the residual's blue to red-green-blind eyes
    "masked": "#8f8f8f",  # grey, hatched
}


# The same hues, lighter, where the page is dark: the canvas puts one for the other.
DARK_ROLES = {
    "residual": "#4c9be8",
    "attention": "#f0843c",
    "mlp": "#2fc094",
    "norm": "#d88bb7",
    "embedding": "#dcae3c",
    "head": "#8fd3f5",
    "gradient": "#ff5c7a",
    "masked": "#7d858d",
}

# For what is no part of the model, so that a role's colour never stands for anything but its role.
ACCENTS = {
    "warning": "#e0143c",  # what must not be so: a leak, a mask in the wrong place, a part switched off
    "first": "#6f5ce0",  # curves that stand beside each other, in this order
    "second": "#75831f",
    "third": "#9a1b8c",
}
DARK_ACCENTS = {"warning": "#f03a2e", "first": "#b4a8ff", "second": "#c6e04a", "third": "#c81ee0"}


@dataclass(frozen=True)
class Theme:
    """The neutral colours of a page: ink for text, paper below, grid for what stays in the background."""

    ink: str
    soft: str
    grid: str
    paper: str


LIGHT = Theme(ink="#1f2328", soft="#59636e", grid="#d8dee4", paper="#ffffff")
DARK = Theme(ink="#e6e8eb", soft="#a3abb4", grid="#2d3239", paper="#111111")

# Points at 100 % zoom: one size for text, one for small print, one for a title.
TEXT_SIZE, SMALL_SIZE, TITLE_SIZE = 9.5, 8.0, 10.5
FONT = "DejaVu Sans"  # ships with matplotlib, so a still looks the same on every machine
MASK_HATCH = "////"

STYLE = {
    "font.family": FONT,
    "font.size": TEXT_SIZE,
    "axes.titlesize": TITLE_SIZE,
    "axes.labelsize": TEXT_SIZE,
    "xtick.labelsize": SMALL_SIZE,
    "ytick.labelsize": SMALL_SIZE,
    "legend.fontsize": SMALL_SIZE,
    "legend.frameon": False,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": LIGHT.soft,
    "axes.labelcolor": LIGHT.ink,
    "axes.facecolor": LIGHT.paper,
    "axes.grid": False,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "grid.color": LIGHT.grid,
    "grid.linewidth": 0.8,
    "text.color": LIGHT.ink,
    "text.parse_math": False,  # a `$` typed by a reader is a dollar sign
    "xtick.color": LIGHT.soft,
    "ytick.color": LIGHT.soft,
    "xtick.labelcolor": LIGHT.ink,
    "ytick.labelcolor": LIGHT.ink,
    "figure.facecolor": LIGHT.paper,
    "hatch.color": ROLES["masked"],
    "hatch.linewidth": 0.7,
    "lines.linewidth": 2.0,
}

# matplotlib types the name of each setting as a literal; here names are put together.
SETTINGS, DEFAULTS = cast(dict[str, Any], rcParams), cast(dict[str, Any], rcParamsDefault)

# The groups of rcParams that shape an artist when it is made: but for STYLE, matplotlib's defaults are ours.
SHAPING = (
    "_internal", "agg", "axes", "figure", "font", "grid", "hatch", "image", "legend", "lines", "markers",
    "mathtext", "patch", "path", "scatter", "text", "xtick", "ytick",
)  # fmt: skip
BUILDING = {key: value for key, value in DEFAULTS.items() if key.split(".")[0] in SHAPING} | STYLE

# What matplotlib still asks for when it draws an artist that is made already: matplotlib's own defaults.
DRAWING = {
    key: DEFAULTS[key]
    for key in (
        "_internal.classic_mode", "agg.path.chunksize", "axes.autolimit_mode", "axes.unicode_minus",
        "lines.scale_dashes", "path.simplify", "path.simplify_threshold", "path.snap", "text.hinting",
        "text.hinting_factor", "text.kerning_factor", "xtick.alignment", "ytick.alignment",
    )
}  # fmt: skip


@contextmanager
def _settings(wanted: Mapping[str, Any]) -> Iterator[None]:
    # rcParams are the reader's, and every thread sees them: only what differs is changed, and given back
    # unless the reader has changed it meanwhile.
    with LOCK:
        before = {key: SETTINGS[key] for key, value in wanted.items() if SETTINGS[key] != value}
        ours = {}
        for key in before:
            SETTINGS[key] = wanted[key]
            ours[key] = SETTINGS[key]
        try:
            yield
        finally:
            for key, value in before.items():
                if SETTINGS[key] == ours[key]:
                    SETTINGS[key] = value


@contextmanager
def building() -> Iterator[None]:
    """Within the `with` (or as a decorator), every new artist has the book's style, whatever rcParams say."""
    with _settings(BUILDING):
        yield


@contextmanager
def drawing() -> Iterator[None]:
    """Within the `with`, artists made while `building` are drawn as they are, whatever rcParams say.

    Changes nothing for a reader who has left these few at matplotlib's defaults.
    """
    with _settings(DRAWING):
        yield


WHICH: tuple[Literal["major", "minor"], ...] = ("major", "minor")
TICKS = {"labelsize": "labelsize", "length": "major.size", "width": "major.width", "pad": "major.pad"}


def settle_ticks(figure: Figure) -> None:
    """Name the look of ticks, so that those an axis makes later on have it without a glance at rcParams.

    All else a late tick copies from the first, which is made here.
    """
    for axes in figure.axes:
        for (letter, axis), which in product((("x", axes.xaxis), ("y", axes.yaxis)), WHICH):
            named = axis.get_tick_params(which)
            look = {
                name: SETTINGS[f"{letter}tick.{key.replace('major', which)}"]
                for name, key in TICKS.items()
                if name not in named
            }
            if look:
                axis.set_tick_params(which=which, **look)


# For a text that is made while a view moves, with no glance at rcParams.
LETTERS = {
    "family": FONT, "fontsize": TEXT_SIZE, "fontweight": "normal", "fontstyle": "normal",
    "fontvariant": "normal", "fontstretch": "normal", "color": LIGHT.ink, "parse_math": False,
    "usetex": False, "antialiased": True, "path_effects": [],
}  # fmt: skip

SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def power_of_ten(value: float, _position=None) -> str:
    """A tick label such as 10⁻³ in plain letters, for logarithmic axes (formulas are switched off)."""
    exponent = round(float(np.log10(value)))
    return f"10{str(exponent).translate(SUPERSCRIPT)}" if np.isclose(value, 10.0**exponent) else ""


def bare_axes(figure: Figure) -> Axes:
    """Axes that fill the figure and draw nothing of their own."""
    figure.set_layout_engine("none")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    return axes


def log_axis(axis) -> None:
    """Make this axis (`axes.xaxis` or `axes.yaxis`) logarithmic with readable labels."""
    setter = axis.axes.set_xscale if axis.axis_name == "x" else axis.axes.set_yscale
    setter("log")
    axis.set_major_formatter(FuncFormatter(power_of_ten))
    axis.set_minor_formatter(NullFormatter())


@cache
def table(kind: str, dark: bool = False) -> np.ndarray:
    """The 256 colours of a "sequential" or "diverging" scale as bytes.  # (256, 3)

    Live matrices and stills share these tables. Sequential runs from the paper to one strong blue; diverging
    is centred on zero, blue below and red above.
    """
    if kind == "sequential":
        stops = ["#111111", "#123a5c", "#1f6fa8", "#66b2e8", "#d6ecff"] if dark else [
            "#ffffff", "#cfe1f2", "#7fb2d9", "#2b7bba", "#083d77"
        ]  # fmt: skip
        colours: Colormap = LinearSegmentedColormap.from_list("sequential", stops)
    elif kind == "diverging":
        colours = colormaps["berlin" if dark else "RdBu_r"]
    else:
        raise ValueError(f'kind is "sequential" or "diverging", not {kind!r}')
    return np.round(colours(np.linspace(0, 1, 256))[:, :3] * 255).astype(np.uint8)


def luminance(rgb) -> np.ndarray:
    """Relative luminance (WCAG 2) of colours given as bytes.  # (..., 3) -> (...)"""
    channel = np.asarray(rgb, dtype=float) / 255
    linear = np.where(channel <= 0.04045, channel / 12.92, ((channel + 0.055) / 1.055) ** 2.4)
    return linear @ np.array([0.2126, 0.7152, 0.0722])


def text_on(rgb) -> str:
    """Black or white, whichever reads better on this colour (bytes)."""
    return "#000000" if luminance(rgb) > 0.179 else "#ffffff"


# Every colour of the light theme, and what it is in the dark one.
NIGHT = dict(
    zip(
        [*vars(LIGHT).values(), *ROLES.values(), *ACCENTS.values()],
        [*vars(DARK).values(), *DARK_ROLES.values(), *DARK_ACCENTS.values()],
    )
)
