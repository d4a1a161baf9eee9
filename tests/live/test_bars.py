"""Bars with a text at each end: where they stand, and in which ink."""

import numpy as np
import pytest

from tokenwerk_helpers.live import style
from tokenwerk_helpers.live.bars import LabelledBars
from tokenwerk_helpers.live.figure import LiveFigure


@pytest.mark.parametrize("horizontal", [False, True])
def test_a_text_stands_beyond_the_end_of_its_bar_on_either_side_of_zero_in_ink(horizontal):
    live = LiveFigure(3, 2)
    axes = live.figure.add_subplot(xlim=(-2, 2), ylim=(-2, 2))
    bars = LabelledBars(live, axes, 2, 0.6, gap=0.1, horizontal=horizontal)
    bars.show([0.5, -1.0], ["half", "less"])
    live.refresh()
    along = 0 if horizontal else 1
    for i, (bar, text, value) in enumerate(zip(bars.bars, bars.texts, (0.5, -1.0))):
        assert (bar.get_width() if horizontal else bar.get_height()) == value
        box = text.get_window_extent().transformed(axes.transData.inverted()).get_points()
        near, far = sorted(abs(box[:, along]))
        assert abs(value) + 0.05 < near < far and (box[:, along] * value > 0).all()
        assert abs(box[:, 1 - along].mean() - i) < 0.05, "not in the middle of its bar"
        assert text.get_color() == style.LIGHT.ink
    assert [text.get_text() for text in bars.texts] == ["half", "less"]


@pytest.mark.parametrize("horizontal", [False, True])
def test_bars_are_as_thick_as_asked_for_and_move_with_their_texts(horizontal):
    live = LiveFigure(3, 2)
    axes = live.figure.add_subplot(xlim=(-2, 2), ylim=(-2, 2))
    bars = LabelledBars(live, axes, 2, 0.6, gap=0.1, horizontal=horizontal)
    for bar, i in zip(bars.bars, range(2)):
        across = bar.get_bbox().get_points()[:, 1 if horizontal else 0]
        assert np.allclose(across, (i - 0.3, i + 0.3))
    bars.show([0.5, -1.0], ["half", "less"])
    live.refresh()
    bars.show([-1.5, 1.0], ["least", "more"])
    live.refresh()
    moved = live.pixels
    live.redraw()
    assert np.array_equal(moved, live.pixels)
