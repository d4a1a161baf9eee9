"""The drawn decoder: one picture of the whole model, with the part at hand lit up."""

from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from . import style

# name -> (role, left, width): boxes on the path from the token ids to the next token, in units of the drawing
BOXES = {
    "ids": (None, 0.0, 0.9),
    "embedding": ("embedding", 1.3, 1.35),
    "norm1": ("norm", 3.5, 0.85),
    "attention": ("attention", 4.6, 1.25),
    "norm2": ("norm", 6.85, 0.85),
    "mlp": ("mlp", 7.95, 0.95),
    "final_norm": ("norm", 10.15, 0.85),
    "head": ("head", 11.3, 1.1),
    "sampling": (None, 12.7, 1.2),
    "next": (None, 14.25, 1.05),
}
SUMS = {"sum1": 6.3, "sum2": 9.35}  # the circled plus signs, where a contribution joins the residual path
SUM_RADIUS = 0.17
BLOCK = (2.8, 9.85)  # left and right edge of the frame that is repeated L times
PATH_Y, HIGH, LOW = 0.0, 0.42, -0.42
RESIDUAL_Y = 0.98


def draw_decoder(figure: Figure, labels: Mapping[str, str], lit: Collection[str]) -> Axes:
    """Draw the decoder into `figure`; the parts named in `lit` stand out in the colour of their role.

    `labels` has a text for each name in BOXES, and for "block" (the repeated frame), "path" (the residual
    path), "mask" and "training". What can be lit: the names of BOXES, "residual", "block", "mask", "training"
    and "all".
    """
    axes = style.bare_axes(figure)
    axes.set_xlim(-0.15, 15.45)
    axes.set_ylim(-1.55, 1.75)
    lit = set(lit) | (set(BOXES) | {"residual", "block"} if "all" in lit else set())
    _draw_frame(axes, labels["block"], "block" in lit)
    _draw_flow(axes)
    _draw_residual_path(axes, labels["path"], "residual" in lit)
    for name, (role, left, width) in BOXES.items():
        _draw_box(axes, left, width, labels[name], role, name in lit)
    if "mask" in lit:
        _draw_mask(axes, labels["mask"])
    _draw_loop(axes, "sampling" in lit)
    if "training" in lit:
        _draw_training(axes, labels["training"])
    return axes


def _reach() -> dict[str, tuple[float, float]]:
    """Left and right edge of each box and each plus sign."""
    boxes = {name: (left, left + width) for name, (_role, left, width) in BOXES.items()}
    return boxes | {name: (x - 0.2, x + 0.2) for name, x in SUMS.items()}


def frame_part(axes: Axes, name: str) -> list[Artist]:
    """A frame in the colour of its role, filled lightly, around a box or a plus sign: its two artists."""
    left, right = _reach()[name]
    role = BOXES[name][0] if name in BOXES else "residual"
    colour = style.ROLES[role] if role else style.LIGHT.soft
    height = HIGH if name in BOXES else 0.27
    look: dict[str, Any] = {"boxstyle": "round,pad=0.03,rounding_size=0.14", "zorder": 6}
    place, size = (left, PATH_Y - height), (right - left, 2 * height)
    filled = FancyBboxPatch(place, *size, facecolor=colour, edgecolor="none", alpha=0.25, **look)
    frame = FancyBboxPatch(place, *size, facecolor="none", edgecolor=colour, linewidth=3, **look)
    return [axes.add_patch(filled), axes.add_patch(frame)]


def part_at(x: float, y: float) -> str | None:
    """The box or plus sign at a place on the axes, None if there is none."""
    found = (name for name, (left, right) in _reach().items() if left <= x <= right)
    return next(found, None) if LOW <= y <= HIGH else None


def _draw_frame(axes: Axes, label: str, lit: bool) -> None:
    left, right = BLOCK
    colour = style.ROLES["residual"] if lit else style.LIGHT.grid
    axes.add_patch(
        FancyBboxPatch(
            (left, -0.72),
            right - left,
            2.05,
            boxstyle="round,pad=0,rounding_size=0.15",
            facecolor="none",
            edgecolor=colour,
            linewidth=1.8 if lit else 1.0,
            linestyle=(0, (4, 2)),
        )
    )
    weight, ink = ("bold", style.LIGHT.ink) if lit else ("normal", style.LIGHT.soft)
    axes.text(left + 0.12, 1.4, label, fontsize=style.SMALL_SIZE, color=ink, fontweight=weight, va="bottom")


def _draw_flow(axes: Axes) -> None:
    """An arrow from each part on the path to the next, boxes and sums alike."""
    parts = [(left, left + width) for _role, left, width in BOXES.values()]
    parts += [(at - SUM_RADIUS, at + SUM_RADIUS) for at in SUMS.values()]
    parts.sort()
    for (_left, start), (end, _right) in pairwise(parts):
        _arrow(axes, (start, PATH_Y), (end, PATH_Y), style.LIGHT.soft, 1.0)


def _draw_residual_path(axes: Axes, label: str, lit: bool) -> None:
    colour = style.ROLES["residual"] if lit else style.LIGHT.soft
    width = 2.6 if lit else 1.0
    for start, end in ((2.95, SUMS["sum1"]), (6.62, SUMS["sum2"])):
        axes.plot(
            [start, start, end],
            [PATH_Y, RESIDUAL_Y, RESIDUAL_Y],
            color=colour,
            linewidth=width,
            solid_joinstyle="round",
        )
        _arrow(axes, (end, RESIDUAL_Y), (end, PATH_Y + SUM_RADIUS), colour, width)
    for x in SUMS.values():
        face = colour if lit else style.LIGHT.paper
        sign = style.LIGHT.paper if lit else style.LIGHT.soft
        axes.plot([x], [PATH_Y], "o", markersize=11, markerfacecolor=face, markeredgecolor=colour, zorder=4)
        axes.text(
            x,
            PATH_Y - 0.015,
            "+",
            ha="center",
            va="center_baseline",
            color=sign,
            fontsize=style.TEXT_SIZE,
            fontweight="bold",
            zorder=5,
        )
    if lit:
        axes.text(
            4.6, RESIDUAL_Y + 0.07, label, fontsize=style.SMALL_SIZE, color=colour, ha="center", va="bottom"
        )


def _draw_box(axes: Axes, left: float, width: float, label: str, role: str | None, lit: bool) -> None:
    colour = style.ROLES.get(role, style.LIGHT.soft) if role else style.LIGHT.soft
    axes.add_patch(
        FancyBboxPatch(
            (left, LOW),
            width,
            HIGH - LOW,
            boxstyle="round,pad=0,rounding_size=0.12",
            facecolor=colour if lit else style.LIGHT.paper,
            edgecolor=colour,
            linewidth=1.8 if lit else 1.0,
            zorder=3,
        )
    )
    axes.text(
        left + width / 2,
        PATH_Y,
        label,
        ha="center",
        va="center",
        zorder=5,
        linespacing=1.15,
        fontsize=style.SMALL_SIZE,
        fontweight="bold" if lit else "normal",
        color=_ink_on(colour) if lit else style.LIGHT.ink,
    )


def _ink_on(colour: str) -> str:
    bright = style.luminance(np.round(255 * np.array(to_rgb(colour)))) > 0.3
    return "#000000" if bright else style.LIGHT.paper


def _draw_mask(axes: Axes, label: str) -> None:
    cell, left, top = 0.085, 5.0, -0.8
    for row in range(5):
        for column in range(5):
            seen = column <= row
            axes.add_patch(
                FancyBboxPatch(
                    (left + column * cell * 1.55, top - row * cell * 1.35),
                    cell * 1.35,
                    cell * 1.15,
                    boxstyle="square,pad=0",
                    linewidth=0.4,
                    edgecolor=style.ROLES["masked"],
                    facecolor=style.ROLES["attention"] if seen else style.LIGHT.paper,
                    zorder=4,
                )
            )
    axes.text(left + 0.8, top - 0.17, label, fontsize=style.SMALL_SIZE, color=style.LIGHT.ink, va="center")


def _draw_loop(axes: Axes, lit: bool) -> None:
    colour = style.LIGHT.ink if lit else style.LIGHT.grid
    width = 1.8 if lit else 1.0
    axes.plot([14.8, 14.8, 0.45], [LOW, -1.42, -1.42], color=colour, linewidth=width, solid_joinstyle="round")
    _arrow(axes, (0.45, -1.42), (0.45, LOW), colour, width)


def _draw_training(axes: Axes, label: str) -> None:
    colour = style.ROLES["gradient"]
    _arrow(axes, (13.2, -1.08), (1.9, -1.08), colour, 2.2)
    axes.text(7.6, -1.02, label, fontsize=style.SMALL_SIZE, color=colour, ha="center", va="bottom")


def _arrow(axes: Axes, start, end, colour: str, width: float) -> None:
    axes.add_patch(
        FancyArrowPatch(
            start,
            end,
            arrowstyle="-|>,head_length=3.5,head_width=2",
            color=colour,
            linewidth=width,
            shrinkA=0,
            shrinkB=0,
            zorder=2,
        )
    )
