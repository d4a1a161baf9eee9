"""Live views of 01_residual."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon

from ...language import _, ngettext
from ...live import style
from ...live.bars import LabelledBars
from ...live.controls import dropdown, int_slider, selection_slider, slider
from ...live.explorer import Explorer
from ...live.figure import LiveFigure
from ...live.numbers import magnitude, number, vector
from .computation import (
    RATES,
    STEPS,
    DepthCompared,
    Paths,
    TrainingCompared,
    VectorSum,
    depth_compared,
    outcome,
    training_compared,
    two_paths,
    vector_sum,
)

PATH, CHANGE, GRADIENT = style.ROLES["residual"], style.ROLES["mlp"], style.ROLES["gradient"]


# ---- y = x + f(x) as arrows ----


def head_of_arrow(start: np.ndarray, tip: np.ndarray, length: float) -> np.ndarray:
    """The tip and the two corners behind it; a head takes most of a short arrow.  # (3, 2)"""
    way = np.asarray(tip, float) - start
    size = np.hypot(*way)
    if size == 0:
        return np.stack([tip] * 3)
    along = way / size * min(length, 0.7 * size)
    across = 0.45 * np.array([-along[1], along[0]])
    return np.stack([tip, tip - along + across, tip - along - across])


class VectorAddition(Explorer):
    """Arrows in the plane: the direct path x, the contribution f(x), and their sum y."""

    LIMIT, LENS = 7.0, 2.2  # half the width of the plane, and of the lens around the tip of x
    HEAD = 0.04  # length of an arrow's head in parts of the axes' width

    def __init__(self):
        self.plane = LiveFigure(7.4, 3.9)
        self._draw()
        controls = {
            "x1": slider(_("x, component 1"), -5, 5, 2),
            "x2": slider(_("x, component 2"), -5, 5, 5),
            "f1": slider(_("f(x), component 1"), -2, 2, 0.3),
            "f2": slider(_("f(x), component 2"), -2, 2, -0.2),
        }
        super().__init__(controls, [[self.plane]])

    compute = staticmethod(vector_sum)

    def _draw(self) -> None:
        plane, lens = self.plane.figure.subplots(1, 2, subplot_kw={"aspect": "equal"})
        plane.set(title=_("the plane"), xlabel=_("component 1"), ylabel=_("component 2"))
        lens.set(title=_("through a lens: around the tip of x"))
        lens.set(xlabel=_("change in component 1"), ylabel=_("change in component 2"))
        for axes, limit in ((plane, self.LIMIT), (lens, self.LENS)):
            axes.set(xlim=(-limit, limit), ylim=(-limit, limit))
            axes.grid(True)
        lens.plot([0], [0], "o", color=PATH, markersize=8)
        arrow = {"linewidth": 2.4, "solid_capstyle": "round"}
        dashed = {"linewidth": 1.5, "linestyle": (0, (4, 3))}
        (self.x_arrow,) = plane.plot([], [], color=PATH, label=_("x (direct path)"), **arrow)
        (self.f_arrow,) = plane.plot(
            [], [], color=CHANGE, label=_("f(x), from the tip of x"), zorder=3, **arrow
        )
        (self.f_lens,) = lens.plot([], [], color=CHANGE, **arrow)
        (self.y_arrow,) = plane.plot([], [], color=style.LIGHT.ink, label=_("y = x + f(x)"), **dashed)
        self.plane.figure.legend(loc="outside upper center", ncols=3, columnspacing=1.6)
        shafts = self.x_arrow, self.y_arrow, self.f_arrow, self.f_lens
        self.heads = {shaft: self._head(shaft) for shaft in shafts}
        self.plane.moving(*shafts, *self.heads.values())

    @staticmethod
    def _head(shaft: Line2D) -> Polygon:
        """The head of an arrow, with nowhere to point to yet."""
        look = {"facecolor": shaft.get_color(), "edgecolor": "none", "zorder": shaft.get_zorder() + 0.1}
        head = Polygon(np.zeros((3, 2)), **look)
        return shaft.axes.add_patch(head)

    def _point(self, shaft: Line2D, start: np.ndarray, tip: np.ndarray) -> None:
        """Let an arrow run from `start` to `tip`: the shaft ends where its head begins."""
        width = np.ptp(shaft.axes.get_xlim())
        head = head_of_arrow(start, tip, self.HEAD * width)
        shaft.set_data(*np.stack([start, head[1:].mean(axis=0)], axis=1))
        self.heads[shaft].set_xy(head)

    def show(self, result: VectorSum) -> None:
        x, fx, y = result.x, result.fx, result.y
        origin = np.zeros(2)
        self._point(self.x_arrow, origin, x)
        self._point(self.f_arrow, x, y)
        self._point(self.y_arrow, origin, y)
        self._point(self.f_lens, origin, fx)
        self.plane.refresh()

    def sentence(self, result: VectorSum) -> str:
        text = _("x = {x} plus f(x) = {fx} gives y = {y}.").format(
            x=vector(result.x), fx=vector(result.fx), y=vector(result.y)
        )
        size, change = float(np.hypot(*result.x)), float(np.hypot(*result.fx))
        if change < 1e-9:
            return text + " " + _("The contribution is zero: y is x itself.")
        if size < 1e-9:
            return text + " " + _("x is zero: y is the contribution alone.")
        longer = _("The contribution is {share} times as long as x.")
        return f"{text} {longer.format(share=number(change / size))}"


# ---- the two paths of the gradient ----


class TwoPaths(Explorer):
    """y = x + f(x) with its tangent, and the slope taken apart: 1 from the direct path, f'(x) through f."""

    def __init__(self):
        self.figure = LiveFigure(8.2, 3.2)
        self._draw()
        controls = {
            "point": slider(_("place x"), -3, 3, 1, 0.05),
            "strength": slider(_("strength of f"), -1, 1, 0.4, 0.05),
        }
        super().__init__(controls, [[self.figure]])

    compute = staticmethod(two_paths)

    def _draw(self) -> None:
        curves, slopes = self.figure.figure.subplots(1, 2, width_ratios=[1.7, 1])
        curves.set(xlim=(-3, 3), ylim=(-4, 4), xlabel="x")
        curves.grid(True)
        (self.direct,) = curves.plot([-3, 3], [-3, 3], color=PATH, label=_("direct path: x"))
        (self.change,) = curves.plot([], [], color=CHANGE, label="f(x)")
        (self.sum,) = curves.plot([], [], color=style.LIGHT.ink, label="y = x + f(x)")
        (self.tangent,) = curves.plot([], [], color=GRADIENT, linestyle=(0, (4, 2)), label=_("slope of y"))
        (self.here,) = curves.plot([], [], "o", color=GRADIENT)
        curves.legend(loc="upper left")
        self.bars = LabelledBars(
            self.figure, slopes, 3, 0.62, gap=0.12, fontsize=style.TEXT_SIZE, color=[PATH, CHANGE, GRADIENT],
            tick_label=[_("direct\npath"), _("through f:\nf′(x)"), _("together:\ndy/dx")],
        )  # fmt: skip
        slopes.set(ylim=(-2.2, 3.4), title=_("slopes"))
        slopes.axhline(0, color=style.LIGHT.soft, linewidth=0.8)
        self.figure.moving(self.change, self.sum, self.tangent, self.here)

    def show(self, result: Paths) -> None:
        self.change.set_data(result.x, result.fx)
        self.sum.set_data(result.x, result.x + result.fx)
        ends = np.array([-0.8, 0.8])
        self.tangent.set_data(result.point + ends, result.y + result.total * ends)
        self.here.set_data([result.point], [result.y])
        slopes = result.direct, result.through_f, result.total
        self.bars.show(slopes, map(number, slopes))
        self.figure.refresh()

    def sentence(self, result: Paths) -> str:
        text = _("At x = {x}: {direct} from the direct path plus {through} through f makes dy/dx = {total}.")
        text = text.format(
            x=number(result.point), direct=number(result.direct), through=number(result.through_f),
            total=number(result.total),
        )  # fmt: skip
        if abs(result.through_f) < 0.05:
            text += " " + _("Through f hardly anything comes back; the direct path still delivers its 1.")
        elif result.through_f < -0.95:
            text += " " + _("Here f cancels the direct path or outweighs it: a residual is no guarantee.")
        return text


# ---- depth ----


def compared_lines(axes: Axes, **look) -> tuple[Line2D, Line2D]:
    """Two empty curves with their legend: without the direct path, and with it."""
    (plain,) = axes.plot([], [], color=GRADIENT, linestyle=(0, (4, 2)), label=_("without: f(x)"), **look)
    (with_path,) = axes.plot([], [], color=PATH, label=_("with: x + f(x)"), **look)
    axes.legend(loc="upper right", ncols=2)
    return plain, with_path


class GradientByDepth(Explorer):
    """The length of the gradient at every layer, on a logarithmic scale, without and with the direct path."""

    FLOOR, CEILING = 1e-16, 1e7  # what lies beyond runs out of the picture; the sentence has its number
    TICKS = 8  # at most so many steps from the input to the output

    def __init__(self):
        self.figure = LiveFigure(7.6, 3.6)
        self._draw()
        controls = {
            "depth": int_slider(_("number of layers"), 1, 48, 24),
            "gain": slider(_("size of the weights"), 0.1, 3, 0.6, 0.1),
        }
        super().__init__(controls, [[self.figure]])

    compute = staticmethod(depth_compared)

    def _draw(self) -> None:
        axes = self.figure.figure.add_subplot()
        style.log_axis(axes.yaxis)
        axes.set(ylim=(self.FLOOR, self.CEILING), yticks=[10.0**power for power in range(-15, 6, 5)])
        axes.set_ylabel(_("length of the gradient"))
        axes.set_xlabel(_("layer (0 = input, right end = output; the gradient runs from right to left)"))
        axes.grid(True)
        self.axes, self.depth = axes, 0
        axes.axhline(1, color=style.LIGHT.soft, linewidth=0.8)
        self.plain, self.with_path = compared_lines(axes, marker="o", markersize=3)
        self.figure.moving(axes.xaxis, self.plain, self.with_path)

    def show(self, result: DepthCompared) -> None:
        layers = np.arange(result.depth + 1)
        self.plain.set_data(layers, result.plain)
        self.with_path.set_data(layers, result.residual)
        if result.depth != self.depth:
            self._end_at(result.depth)
        self.figure.refresh()

    def _end_at(self, depth: int) -> None:
        """Let the axis end at the output."""
        self.depth = depth
        margin = 0.02 * depth
        every = -(-depth // self.TICKS)  # rounded up
        self.axes.set(xlim=(-margin, depth + margin), xticks=range(depth % every, depth + 1, every))

    def sentence(self, result: DepthCompared) -> str:
        text = ngettext("{depth} layer.", "{depth} layers.", result.depth) + " "
        text += _(
            "Of a gradient of length 1 at the output, {plain} arrives at the input without the direct path "
            "and {residual} with it."
        )
        text = text.format(
            depth=result.depth, plain=magnitude(result.plain[0]), residual=magnitude(result.residual[0])
        )
        if result.residual[0] > 100:
            text += " " + _("With the direct path too it can grow too large: it helps, it promises nothing.")
        elif result.plain[0] < 1e-3:
            text += " " + _("Without it the first layers would learn next to nothing.")
        return text


# ---- learning rates ----


def outcome_in_words(losses: np.ndarray) -> str:
    """What a training did, in words: learned, learned a little, stood still or failed."""
    return {
        "fails": _("fails (the loss grows beyond its start)"),
        "learns": _("learns (the loss falls below a quarter)"),
        "learns a little": _("learns a little"),
        "stands still": _("stands still"),
    }[outcome(losses)]


class LearningRate(Explorer):
    """A short training without and with the direct path: it helps at many rates, and fails at some."""

    def __init__(self):
        self.figure = LiveFigure(7.2, 3.3)
        self._draw()
        controls = {
            "depth": dropdown(_("number of layers"), [(str(n), n) for n in (2, 6, 12, 24)], 12),
            "rate": selection_slider(_("learning rate"), [(f"{rate:g}", rate) for rate in RATES], 0.1),
        }
        super().__init__(controls, [[self.figure]])

    compute = staticmethod(training_compared)

    def _draw(self) -> None:
        axes = self.figure.figure.add_subplot(xlim=(0, STEPS), ylim=(0, 2.6))
        axes.set(xlabel=_("training step"), ylabel=_("loss (squared error)"))
        axes.grid(True)
        self.plain, self.with_path = compared_lines(axes)
        self.figure.moving(self.plain, self.with_path)

    def show(self, result: TrainingCompared) -> None:
        steps = np.arange(STEPS + 1)
        self.plain.set_data(steps, np.clip(result.plain, 0, 2.6))
        self.with_path.set_data(steps, np.clip(result.residual, 0, 2.6))
        self.figure.refresh()

    def sentence(self, result: TrainingCompared) -> str:
        return _(
            "{depth} layers, learning rate {rate}: without the direct path the net {plain}, "
            "with it the net {residual}."
        ).format(
            depth=result.depth,
            rate=f"{result.rate:g}",
            plain=outcome_in_words(result.plain),
            residual=outcome_in_words(result.residual),
        )
