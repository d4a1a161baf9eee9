"""Live views of 00_toolbox."""

import numpy as np

from ...language import _
from ...live import style
from ...live.bars import LabelledBars
from ...live.controls import checkbox, dropdown, int_slider, selection_slider, slider
from ...live.explorer import Explorer
from ...live.figure import LiveFigure, Texts
from ...live.matrix import MatrixView
from ...live.numbers import compact, magnitude, number, percent_label, vector
from .computation import (
    MATRIX,
    MOST_STEPS,
    RATES,
    Descent,
    Pair,
    Product,
    Shares,
    descent,
    manner,
    pair,
    product,
    shares,
)

FIRST, SECOND, SUM = style.ACCENTS["first"], style.ACCENTS["third"], style.LIGHT.ink


def component(name: str, place: int) -> str:
    """What the slider of a component is called."""
    return _("{name}, component {place}").format(name=name, place=place)


# ---- two lists in the plane ----


class TwoLists(Explorer):
    """Two lists as arrows in the plane, the angle between them, and their dot product as a sum of bars."""

    LIMIT, ARC = 3.8, 0.9  # half the width of the plane, the radius of the angle's arc

    def __init__(self):
        self.figure = LiveFigure(8.0, 3.3)
        self._draw()
        controls = {
            f"{name}{place}": slider(component(name, place), -3, 3, value, 0.5)
            for name, place, value in (("x", 1, 2), ("x", 2, 1), ("y", 1, 1), ("y", 2, 3))
        }
        super().__init__(controls, [[self.figure]])

    compute = staticmethod(pair)

    def _draw(self) -> None:
        plane, sums = self.figure.figure.subplots(1, 2, width_ratios=[1, 1.25])
        plane.set(
            xlim=(-self.LIMIT, self.LIMIT), ylim=(-self.LIMIT, self.LIMIT), aspect="equal",
            xlabel=_("component 1"), ylabel=_("component 2"),
        )  # fmt: skip
        plane.set(xticks=range(-3, 4), yticks=range(-3, 4))
        plane.grid(True)
        (self.arc,) = plane.plot([], [], color=style.LIGHT.soft, linewidth=1.4)
        self.arrows = [
            plane.plot([], [], color=colour, label=name, linewidth=2.4)[0]
            for colour, name in ((FIRST, "x"), (SECOND, "y"))
        ]
        self.names = Texts(self.figure, plane, ha="center", va="center", fontweight="bold")
        self.bars = LabelledBars(
            self.figure, sums, 3, 0.6, gap=0.4, fontsize=style.TEXT_SIZE, 
            color=[style.LIGHT.soft] * 2 + [SUM], tick_label=["x₁ · y₁", "x₂ · y₂", "x · y"],
        )  # fmt: skip
        sums.set(ylim=(-22, 22), title=_("dot product: the products, added up"))
        sums.set_yticks([-18, -9, 0, 9, 18])
        sums.axhline(0, color=style.LIGHT.soft, linewidth=0.8)
        self.figure.moving(self.arc, *self.arrows)

    def show(self, result: Pair) -> None:
        for line, tip in zip(self.arrows, (result.x, result.y)):
            line.set_data(*arrow(tip))
        self.arc.set_data(*self._arc(result))
        self.names.show(
            {"x": tip[0], "y": tip[1], "text": name, "color": colour}
            for name, colour, tip in (
                ("x", FIRST, beyond(result.x)), ("y", SECOND, beyond(result.y, result.x)),
            )
        )  # fmt: skip
        values = [*result.products, result.dot]
        self.bars.show(values, map(number, values))
        self.figure.refresh()

    def _arc(self, result: Pair) -> np.ndarray:
        """From the direction of x to that of y, the short way round.  # (2, N)"""
        if result.angle is None:
            return np.empty((2, 0))
        start, end = (np.arctan2(tip[1], tip[0]) for tip in (result.x, result.y))
        turn = (end - start + np.pi) % (2 * np.pi) - np.pi
        way = start + np.linspace(0, turn, 40)
        return self.ARC * np.array([np.cos(way), np.sin(way)])

    def sentence(self, result: Pair) -> str:
        text = _("x · y = {first} + {second} = {dot}. Lengths: {x} and {y}.").format(
            first=number(result.products[0]), second=number(result.products[1]), dot=number(result.dot),
            x=number(result.lengths[0]), y=number(result.lengths[1]),
        )  # fmt: skip
        if result.angle is None:
            return text + " " + _("A list of zeros points nowhere: there is no angle.")
        text += " " + _("Angle: {angle}°, its cosine is {cosine}.").format(
            angle=number(result.angle, 0), cosine=number(result.cosine)
        )
        return text + " " + self._verdict(result.dot)

    @staticmethod
    def _verdict(dot: float) -> str:
        if dot == 0:
            return _("They stand at a right angle: the dot product is 0.")
        return _("They point to the same side.") if dot > 0 else _("They point to opposite sides.")


def arrow(tip: np.ndarray) -> np.ndarray:
    """A line from the origin to the tip with two short strokes back from it.  # (2, N)"""
    length = np.hypot(*tip)
    if length == 0:
        return np.zeros((2, 1))
    along = tip / length
    across = np.array([-along[1], along[0]])
    head = min(0.38, 0.6 * length)
    sides = [tip - head * along + side * 0.5 * head * across for side in (1, -1)]
    return np.stack([np.zeros(2), tip, sides[0], tip, sides[1]], axis=1)


def beyond(tip: np.ndarray, other: np.ndarray | None = None) -> np.ndarray:
    """Where the name of an arrow stands: past its tip, or beside it where the other's name would stand."""
    length = np.hypot(*tip)
    along = tip / length if length else np.array([0.0, -1.0])
    place = tip + 0.42 * along
    if other is not None and np.hypot(*(place - beyond(other))) < 0.6:
        return tip - 0.1 * along + 0.5 * np.array([-along[1], along[0]])
    return place


# ---- a matrix times a list ----


class MatrixTimesList(Explorer):
    """W, the list x, the products W[i, j] x[j], and y: a row at a time, or a column at a time."""

    def __init__(self):
        rows, columns = len(MATRIX), len(MATRIX[0])
        look = {"kind": "diverging", "limits": (-12.0, 12.0), "digits": 1, "legend": False, "cell_size": 56}
        self.matrix = MatrixView(np.array(MATRIX), titles=["W"], **look)
        self.list = MatrixView(np.zeros((columns, 1)), columns=["·"], titles=["x"], **look)
        self.parts = MatrixView(
            np.zeros((rows, columns)), titles=[_("products")], masked_words=_("not added yet"), **look
        )
        self.out = MatrixView(np.zeros((rows, 1)), columns=["·"], titles=[_("sums: y")], **look)
        controls = {
            "x1": slider(component("x", 1), -4, 4, 2, 0.5),
            "x2": slider(component("x", 2), -4, 4, 1, 0.5),
            "x3": slider(component("x", 3), -4, 4, 1, 0.5),
            "by_rows": dropdown(_("read"), [(_("row by row"), True), (_("column by column"), False)], True),
            "which": int_slider(_("row or column"), 1, columns, 1),
        }
        for view, width in ((self.matrix, 260), (self.list, 130), (self.parts, 260), (self.out, 150)):
            view.layout.width = f"{width}px"  # all four in one row
        super().__init__(controls, [[self.matrix, self.list, self.parts, self.out]])
        self.follow_length("which", lambda result: result.W.shape[0 if result.by_rows else 1])
        for view in (self.matrix, self.parts, self.out):
            view.observe(self.guarded(self._follow_row), "selected")

    compute = staticmethod(product)

    def _follow_row(self, change) -> None:
        """Look at the row that was clicked; read by columns, rows have no say."""
        if change.new >= 0 and not self._showing and self.controls["by_rows"].value:
            self.controls["which"].value = change.new + 1

    def show(self, result: Product) -> None:
        row = result.which - 1 if result.by_rows else -1
        self.matrix.update(selected=row, alt="W = " + ", ".join(map(vector, result.W)))
        self.list.update(values=result.x[:, None], alt="x = " + vector(result.x))
        self.parts.update(
            values=result.parts, allowed=None if result.by_rows else result.taken, selected=row,
            alt=_("products: {rows}").format(rows=", ".join(map(vector, result.parts))),
        )  # fmt: skip
        self.out.update(values=result.y[:, None], selected=row, alt="y = " + vector(result.y))

    def described(self) -> list:
        return []  # each matrix goes by its own numbers

    def sentence(self, result: Product) -> str:
        return self._by_rows(result) if result.by_rows else self._by_columns(result)

    @staticmethod
    def _by_rows(result: Product) -> str:
        row = result.which - 1
        text = _("Row {row} of W times x: {sum} = {value}. All rows together: y = {y}.")
        return text.format(
            row=result.which, sum=added(map(times, result.W[row], result.x)),
            value=number(result.y[row]), y=vector(result.y),
        )  # fmt: skip

    @staticmethod
    def _by_columns(result: Product) -> str:
        taken = range(result.which)
        sum_of_columns = added(f"{factor(result.x[j])} · {vector(result.W[:, j])}" for j in taken)
        missing = result.W.shape[1] - result.which
        text = _("{sum} = {y}.").format(sum=sum_of_columns, y=vector(result.y))
        return text + " " + (
            _("All columns are added: that is y.")
            if not missing
            else _("Still missing: column 3.")
            if missing == 1
            else _("Still missing: columns 2 and 3.")
        )  # fmt: skip


def factor(value: float) -> str:
    """A number within a product: a negative one in brackets."""
    return f"({number(value)})" if value < 0 else number(value)


def times(one: float, other: float) -> str:
    """The product of two numbers, as one writes it."""
    return f"{factor(one)} · {factor(other)}"


def added(terms) -> str:
    """The terms with plus signs between them."""
    return " + ".join(terms)


# ---- softmax ----


class SoftmaxOfThree(Explorer):
    """Three numbers, e to each of them, and the share that each has of the sum."""

    def __init__(self):
        self.figure = LiveFigure(8.4, 2.7)
        self._draw()
        controls = {
            **{f"z{i}": slider(f"z{'₁₂₃'[i - 1]}", -4, 4, value) for i, value in ((1, 2), (2, 1), (3, 0))},
            "shift": slider(_("added to all"), -4, 4, 0),
            "hidden": checkbox(_("set the third one to −∞")),
        }
        super().__init__(controls, [[self.figure]])

    compute = staticmethod(shares)

    def _draw(self) -> None:
        before, after = self.figure.figure.subplots(1, 2)
        first, second = ["z₁", "z₂", "z₃"], ["p₁", "p₂", "p₃"]
        self.numbers = LabelledBars(
            self.figure, before, 3, 0.6, gap=0.25, fontsize=style.TEXT_SIZE, color=style.LIGHT.soft,
            tick_label=first,
        )  # fmt: skip
        before.set(ylim=(-10, 10), yticks=range(-8, 9, 4), title=_("before: three numbers z"))
        before.axhline(0, color=style.LIGHT.soft, linewidth=0.8)
        self.shares = LabelledBars(
            self.figure, after, 3, 0.6, gap=0.02, fontsize=style.TEXT_SIZE, color=style.ROLES["head"],
            tick_label=second,
        )  # fmt: skip
        ends = (0, 0.25, 0.5, 0.75, 1)
        after.set(ylim=(0, 1.14), title=_("after: shares p"))
        after.set_yticks(ends, [percent_label(end) for end in ends])
        after.grid(True, axis="y")

    def show(self, result: Shares) -> None:
        lengths = np.where(np.isinf(result.z), 0, result.z)  # no bar is endless
        self.numbers.show(lengths, map(signed, result.z))
        self.shares.show(result.shares, [percent_label(share, 1) for share in result.shares])
        self.figure.refresh()

    def sentence(self, result: Shares) -> str:
        powers = [compact(power, 3) for power in result.powers]
        text = _("e to the power of z: {powers}, together {sum}. Divided by that: p = {shares}.").format(
            powers="; ".join(powers), sum=compact(result.powers.sum(), 3), shares=vector(result.shares, 3)
        )
        if result.powers[2] == 0:
            return text + " " + _("The third one, e to the power of −∞, is 0: its share is exactly 0.")
        return text


def signed(value: float) -> str:
    """A number in a picture, with a real minus sign, infinity too."""
    return "−∞" if np.isneginf(value) else number(value, 1).replace("-", "−")


# ---- downhill ----


class Downhill(Explorer):
    """A ball on the curve f(w) = w²: where the steps take it, and how high it is after each."""

    REACH, TOP = 4.5, 20.0  # what can be seen of w and of f(w)

    def __init__(self):
        self.figure = LiveFigure(8.4, 3.2)
        self._draw()
        controls = {
            "rate": selection_slider(_("learning rate"), [(f"{rate:g}", rate) for rate in RATES], 0.1),
            "steps": int_slider(_("steps"), 0, MOST_STEPS, 5),
            "start": slider(_("start"), -4, 4, 3, 0.5),
        }
        super().__init__(controls, [[self.figure]])

    compute = staticmethod(descent)

    def _draw(self) -> None:
        curve, heights = self.figure.figure.subplots(1, 2, width_ratios=[1.15, 1])
        w = np.linspace(-self.REACH, self.REACH, 200)
        curve.plot(w, w * w, color=style.LIGHT.soft, linewidth=1.4)
        curve.set(xlim=(-self.REACH, self.REACH), ylim=(-1, self.TOP), xlabel="w", ylabel="f(w) = w²")
        curve.set_yticks(range(0, 21, 5))
        curve.grid(True)
        heights.set_yticks(range(0, 21, 5))
        heights.set(
            xlim=(-0.5, MOST_STEPS + 0.5), ylim=(-1, self.TOP), xlabel=_("step"), ylabel=_("height f(w)")
        )
        heights.set_xticks(range(0, MOST_STEPS + 1, 5))
        heights.grid(True)
        trail = {"color": style.ROLES["gradient"], "linewidth": 1.2, "marker": "o", "markersize": 4}
        (self.path,) = curve.plot([], [], **trail)
        (self.ball,) = curve.plot([], [], "o", color=style.ROLES["gradient"], markersize=11)
        (self.loss,) = heights.plot([], [], **trail)
        self.figure.moving(self.path, self.ball, self.loss)

    def show(self, result: Descent) -> None:
        self.path.set_data(result.places, result.heights)
        self.ball.set_data(result.places[-1:], result.heights[-1:])
        self.loss.set_data(np.arange(len(result.heights)), result.heights)
        self.figure.refresh()

    def sentence(self, result: Descent) -> str:
        text = _("Learning rate {rate}, step {steps}: w = {w}, height {height}.").format(
            rate=f"{result.rate:g}", steps=len(result.places) - 1, w=number(result.places[-1]),
            height=number(result.heights[-1]),
        )  # fmt: skip
        return text + " " + manner_in_words(result.rate)


def manner_in_words(rate: float) -> str:
    """What a step at this learning rate does, as a sentence."""
    left = magnitude(abs(1 - 2 * rate))
    texts = {
        "climbs": _("Each step lands {left} times as far away, on the other side: the ball climbs out."),
        "swings": _(
            "Each step lands just as far away, on the other side: the ball swings back and forth forever."
        ),
        "overshoots": _("Each step goes past the bottom; {left} times the distance is left."),
        "lands": _("A single step lands on the bottom."),
        "good": _("Each step leaves {left} times the distance to the bottom."),
        "slow": _("Each step leaves {left} times the distance: that takes long."),
    }
    return texts[manner(rate)].format(left=left)
