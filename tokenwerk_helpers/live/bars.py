"""Bars that move: set_heights, and LabelledBars, each with a text at its end."""

from collections.abc import Iterable

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from . import style
from .figure import LiveFigure


def set_heights(bars: Iterable[Rectangle], heights: Iterable[float]) -> None:
    """Give upright bars their heights."""
    for bar, height in zip(bars, heights):
        bar.set_height(height)


class LabelledBars:
    """`count` bars at 0, 1, ..., upright or `horizontal`, each with a text `gap` beyond its end.

    `thickness` and `gap` are in units of the axes. All else in `look` goes to `Axes.bar` or `Axes.barh`. Bars
    and texts may be changed further after `show`.
    """

    def __init__(
        self, live: LiveFigure, axes: Axes, count: int, thickness: float, gap: float = 0.0, *,
        horizontal: bool = False, fontsize: float = style.SMALL_SIZE, **look,
    ):  # fmt: skip
        self.live, self.gap, self.horizontal = live, gap, horizontal
        draw = axes.barh if horizontal else axes.bar
        self.bars = draw(range(count), [0] * count, thickness, **look)
        self.texts = [
            axes.text(0, i, "", fontsize=fontsize, va="center")
            if horizontal
            else axes.text(i, 0, "", fontsize=fontsize, ha="center")
            for i in range(count)
        ]
        live.moving(*self.bars, *self.texts)

    def show(self, values: Iterable[float], labels: Iterable[str]) -> None:
        """Give each bar its length and its text, which stands below a bar that is negative."""
        for bar, text, value, label in zip(self.bars, self.texts, values, labels):
            end = value + (self.gap if value >= 0 else -self.gap)
            text.set(text=label, color=style.LIGHT.ink)
            if self.horizontal:
                bar.set_width(value)
                text.set(x=end, ha="left" if value >= 0 else "right")
            else:
                bar.set_height(value)
                text.set(y=end, va="bottom" if value >= 0 else "top")
