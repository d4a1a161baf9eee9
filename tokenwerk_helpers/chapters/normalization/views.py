"""Live views of 02_normalization."""

import math
from collections.abc import Sequence

import numpy as np
import torch
from matplotlib.collections import LineCollection
from torch import Tensor

from ...language import ReaderMistake, _
from ...live import style
from ...live.bars import LabelledBars
from ...live.controls import dropdown, int_slider, selection_slider, slider, text_input
from ...live.explorer import Explorer
from ...live.figure import LiveFigure
from ...live.matrix import MatrixView
from ...live.numbers import compact, listed, number, read_vector, vector
from .computation import (
    CURVE,
    DEVIATIONS,
    EPSILONS,
    LARGEST,
    LISTS,
    MOST_NUMBERS,
    NORMS,
    POSITIONS,
    TEXTS,
    WIDTH,
    EpsilonPlace,
    NormalizedList,
    Sharing,
    Sphere,
    epsilon_place,
    limits,
    normalized_list,
    plane_circle,
    screen,
    sharing,
    sphere,
)

INPUT, NORM = style.ROLES["residual"], style.ROLES["norm"]


# ---- one list as bars ----


def own_list(text: str) -> Tensor:
    """The numbers a reader typed, (D,); ReaderMistake where they are too many, too large or none."""
    x = torch.tensor(read_vector(text), dtype=torch.float64)
    if not 1 <= len(x) <= MOST_NUMBERS:
        raise ReaderMistake(_("Give one to {most} numbers, such as [1, 3].").format(most=MOST_NUMBERS))
    if not bool((x.abs() <= LARGEST).all()):  # nan is refused too
        raise ReaderMistake(_("Each number must lie between −10 000 and 10 000."))
    return x


def label(value: float) -> str:
    """What stands at the tip of a bar; 0/0 where there is no value."""
    return compact(value, 3).replace("-", "−") if math.isfinite(value) else "0/0"


class Statistics(Explorer):
    """A list and its LayerNorm as bars, side by side.

    `values` is the list to begin with. A setting of `normalized_list` that is given by name is fixed and gets
    no control: `Statistics([1, 3], epsilon=0, gamma=1, beta=0)` leaves list, factor and shift.
    """

    def __init__(self, values: Sequence[float] = (1, 3), **fixed):
        # Without a gamma or beta to move, it does not matter which components they act on.
        self.fixed = {"which": "all", **fixed} if {"gamma", "beta"} <= fixed.keys() else fixed
        self.figure = LiveFigure(8.2, 3.3)
        self._drawn: tuple = (None,)  # number of bars, limits of the axes
        factors = (-2, -1, 0, 0.01, 0.1, 0.5, 1, 2, 5, 10)
        targets = [(_("all components"), "all"), (_("the first component"), "first")]
        controls = {
            "values": text_input(_("list"), vector(values, 6)),
            "factor": selection_slider(_("times factor a"), [(number(a), float(a)) for a in factors], 1.0),
            "shift": slider(_("plus shift b"), -20, 20, 0, 1),
            "epsilon": selection_slider(_("ε (epsilon)"), [(compact(e), e) for e in EPSILONS], 1e-5),
            "gamma": slider(_("γ (gamma)"), -3, 3, 1, 0.1),
            "beta": slider(_("β (beta)"), -3, 3, 0, 0.1),
            "which": dropdown(_("γ and β act on"), targets, "all"),
        }
        super().__init__({k: c for k, c in controls.items() if k not in self.fixed}, [[self.figure]])

    def compute(self, values: str, **settings) -> NormalizedList:
        return normalized_list(own_list(values), **self.fixed, **settings)

    @style.building()
    def _draw(self, size: int) -> None:
        self.figure.clear()
        # Fixed places: a layout found anew at each jump of an axis would take longer than the drawing.
        self.figure.figure.set_layout_engine("none")
        places = {"left": 0.065, "right": 0.99, "bottom": 0.155, "top": 0.91, "wspace": 0.16}
        left, right = self.axes = self.figure.figure.subplots(1, 2, gridspec_kw=places)
        self.titles = left.set_title(""), right.set_title("")
        for axes in (left, right):
            axes.set(xlim=(-0.6, size - 0.4), xlabel=_("component"))
            axes.set_xticks(range(size), [str(i + 1) for i in range(size)])
            axes.grid(True, axis="y")
            axes.axhline(0, color=style.LIGHT.soft, linewidth=0.8)
        self.band = left.axhspan(0, 0, color=style.LIGHT.soft, alpha=0.2, linewidth=0)
        self.mean = left.axhline(0, color=style.LIGHT.ink, linewidth=1.4, linestyle=(0, (4, 2)))
        self.figure.moving(self.band, self.mean)
        look = {"alpha": 0.9, "fontsize": style.TEXT_SIZE if size <= 6 else 6.5}
        self.x_bars = LabelledBars(self.figure, left, size, 0.62, color=INPUT, **look)
        self.out_bars = LabelledBars(self.figure, right, size, 0.62, color=NORM, **look)
        note = {"fontsize": style.SMALL_SIZE, "ha": "right", "va": "top"}
        self.x_note = left.text(0.99, 0.99, "", transform=left.transAxes, **note)
        self.out_note = right.text(0.99, 0.99, "", transform=right.transAxes, **note)
        self.figure.moving(self.x_note, self.out_note)

    def show(self, result: NormalizedList) -> None:
        x, out = result.steps.x.tolist(), result.steps.output.tolist()
        stale = self._make_room(x, out)
        for bars, values, axes in zip((self.x_bars, self.out_bars), (x, out), self.axes):
            low, high = axes.get_ylim()
            bars.gap = 0.015 * (high - low)
            bars.show([value if math.isfinite(value) else 0.0 for value in values], map(label, values))
        mean, deviation = float(result.steps.mean), float(result.steps.deviation)
        self.mean.set_ydata([mean, mean])
        self.band.set_y(mean - deviation)
        self.band.set_height(2 * deviation)
        below = float((result.steps.variance + result.epsilon).sqrt())
        self.x_note.set_text(_("dashed: μ = {mean}; grey: μ ± σ").format(mean=compact(mean)))
        self.out_note.set_text(f"√(σ² + ε) = {compact(below, 6)}")
        self.figure.redraw() if stale else self.figure.refresh()

    def _make_room(self, x: list[float], out: list[float]) -> bool:
        """Fit bars and axes to the lists; True if more than the moving artists has changed."""
        needed = (len(x), limits(x, 4), limits(out, 2))
        if needed == self._drawn:
            return False
        if needed[0] != self._drawn[0]:
            self._draw(len(x))
        names = (_("x, the list that goes in"), _("LN(x), the list that comes out"))
        for axes, title, name, (low, high) in zip(self.axes, self.titles, names, needed[1:]):
            axes.set_ylim(low, high)
            title.set_text(f"{name} " + _("(axis up to {top})").format(top=compact(high)))
        self._drawn = needed
        return True

    def sentence(self, result: NormalizedList) -> str:
        done = result.steps
        text = _("x = {x}: mean {mean}, variance {variance}, standard deviation {deviation}.").format(
            x=listed(done.x), mean=compact(float(done.mean)), variance=compact(float(done.variance)),
            deviation=compact(float(done.deviation)),
        )  # fmt: skip
        return " ".join([text, self._what_comes_out(result), *self._affine(result)])

    def _what_comes_out(self, result: NormalizedList) -> str:
        epsilon = compact(result.epsilon)
        if not result.defined:
            return _("All numbers are equal; without ε that is 0/0, and there is no result (PyTorch: nan).")
        standardized = listed(result.steps.standardized)
        if float(result.steps.variance) == 0:
            text = _("All numbers are equal; ε = {epsilon} keeps the root from zero. Standardized: {result}.")
        elif result.epsilon == 0:
            text = _("Standardized without ε: {result}.")
        elif result.spread > 0.995:
            text = _("Standardized with ε = {epsilon}: {result}.")
        else:
            text = _(
                "Standardized with ε = {epsilon}: {result}. Beside this variance ε is no longer"
                " small; the spread is only {spread} instead of 1."
            )
        return text.format(epsilon=epsilon, result=standardized, spread=compact(result.spread, 2))

    def _affine(self, result: NormalizedList) -> list[str]:
        if not result.defined or (result.gamma == 1 and result.beta == 0):
            return []
        if result.which == "all":
            text = _("Times γ = {gamma} plus β = {beta} in every component: {result}.")
        else:
            text = _("Times γ = {gamma} plus β = {beta} in the first component: {result}.")
        output = listed(result.steps.output)
        return [text.format(gamma=number(result.gamma), beta=number(result.beta), result=output)]


# ---- the place of epsilon ----


class EpsilonUnderRoot(Explorer):
    """How much spread a list keeps, over its own standard deviation: epsilon under the root and beside it."""

    def __init__(self):
        self.figure = LiveFigure(7.6, 3.4)
        self._draw()
        epsilons = (1e-12, 1e-8, 1e-6, 1e-5, 1e-3, 0.1)
        controls = {
            "epsilon": selection_slider(_("ε (epsilon)"), [(compact(e), e) for e in epsilons], 1e-5),
            "deviation": selection_slider(
                _("σ of the list"), [(compact(d, 2), d) for d in DEVIATIONS], DEVIATIONS[12]
            ),
        }
        super().__init__(controls, [[self.figure]])

    compute = staticmethod(epsilon_place)

    def _draw(self) -> None:
        axes = self.figure.figure.add_subplot(ylim=(0, 1.16), ylabel=_("spread of what comes out"))
        style.log_axis(axes.xaxis)
        axes.set(xlim=(CURVE[0], CURVE[-1]), xlabel=_("standard deviation σ of the list that goes in"))
        axes.grid(True)
        (self.under,) = axes.plot([], [], color=NORM, label=_("ε under the root: σ / √(σ² + ε)"))
        (self.beside,) = axes.plot(
            [], [], color=style.LIGHT.soft, linestyle=(0, (4, 2)), label=_("ε beside the root: σ / (σ + ε)")
        )
        (self.threshold,) = axes.plot([], [], color=NORM, linewidth=1, linestyle=":", label=_("σ = √ε"))
        (self.here,) = axes.plot([], [], "o", color=NORM, markersize=8)
        (self.there,) = axes.plot([], [], "o", color=style.LIGHT.soft, markersize=7, markerfacecolor="none")
        self.figure.figure.legend(loc="outside upper center", ncols=3)
        self.figure.moving(self.under, self.beside, self.threshold, self.there, self.here)

    def show(self, result: EpsilonPlace) -> None:
        self.under.set_data(CURVE, result.curve_under)
        self.beside.set_data(CURVE, result.curve_beside)
        root = math.sqrt(result.epsilon)
        self.threshold.set_data([root, root], [0, 1.16])
        self.here.set_data([result.deviation], [result.under])
        self.there.set_data([result.deviation], [result.beside])
        self.figure.refresh()

    def sentence(self, result: EpsilonPlace) -> str:
        text = _(
            "With ε = {epsilon}, a list of standard deviation {deviation} leaves LayerNorm with {under}. "
            "With ε beside the root it would be {beside}."
        ).format(
            epsilon=compact(result.epsilon), deviation=compact(result.deviation, 2),
            under=compact(result.under, 3), beside=compact(result.beside, 3),
        )  # fmt: skip
        root = compact(math.sqrt(result.epsilon), 2)
        if result.deviation < 0.1 * math.sqrt(result.epsilon):
            after = _("It lies far below √ε = {root}: such a list is taken for noise and kept small.")
        elif result.deviation > 10 * math.sqrt(result.epsilon):
            after = _("It lies far above √ε = {root}: ε hardly matters.")
        else:
            after = _("It lies near √ε = {root}, where ε begins to show.")
        return text + " " + after.format(root=root)


# ---- who shares a statistic ----


class SharedStatistic(Explorer):
    """The cells of (B, T, D) that share a statistic with a chosen one, and the outputs that it moves."""

    def __init__(self):
        titles = [_("text {number}").format(number=b + 1) for b in range(TEXTS)]
        labels = {
            "rows": [_("pos. {number}").format(number=t + 1) for t in range(POSITIONS)],
            "columns": [str(d + 1) for d in range(WIDTH)],
            "cell_size": 32,
            "words": _("{panel}, {row}, component {column}: {value}"),
        }
        zeros = np.zeros((TEXTS, POSITIONS, WIDTH))
        self.before = MatrixView(
            zeros, kind="diverging", limits=(-4.0, 4.0), digits=1, legend=False,
            titles=[_("x, {text}").format(text=title) for title in titles],
            masked_words=_("{panel}, {row}, component {column}: not in this statistic"),
            hint=_("Click on a cell to choose it. Hatched: not in its statistic."), **labels,
        )  # fmt: skip
        self.after = MatrixView(
            zeros, limits=(0.0, 1.5), digits=2, legend=False,
            titles=[_("moved, {text}").format(text=title) for title in titles],
            masked_words=_("{panel}, {row}, component {column}: has not moved"),
            hint=_("How far each output moves. Hatched: not at all."), **labels,
        )  # fmt: skip
        self.before.on_click(self.guarded(self._choose))
        super().__init__(self._make_controls(), [[self.before], [self.after]])

    @staticmethod
    def _make_controls() -> dict:
        kinds = [
            ("LayerNorm", "layer"),
            ("BatchNorm", "batch"),
            ("RMSNorm", "rms"),
            ("nn.LayerNorm((T, D))", "wide"),
        ]
        return {
            "norm": dropdown(_("normalization"), kinds, "layer"),
            "text": int_slider(_("text"), 1, TEXTS, 2),
            "position": int_slider(_("position"), 1, POSITIONS, 2),
            "component": int_slider(_("component"), 1, WIDTH, 3),
            "change": slider(_("change this cell by"), -3, 3, 2, 0.5),
        }

    compute = staticmethod(sharing)

    def _choose(self, text: int, position: int, component: int) -> None:
        self.set(text=text + 1, position=position + 1, component=component + 1)

    def show(self, result: Sharing) -> None:
        cell = list(result.cell)
        self.before.update(values=result.x, allowed=result.shares.numpy(), marked=cell)
        self.after.update(values=result.moved, allowed=result.has_moved.numpy(), marked=cell)

    def sentence(self, result: Sharing) -> str:
        return f"{self._who_shares(result)} {self._what_moves(result)}"

    def _who_shares(self, result: Sharing) -> str:
        b, t, d = (index + 1 for index in result.cell)
        text = {
            "layer": _(
                "LayerNorm: text {b}, position {t}, component {d} shares its statistic with the "
                "{n} components of its own position: mean {mean}, variance {scale}."
            ),
            "batch": _(
                "BatchNorm: text {b}, position {t}, component {d} shares its statistic with component {d} "
                "of all texts and positions, {n} cells: mean {mean}, variance {scale}."
            ),
            "rms": _(
                "RMSNorm: text {b}, position {t}, component {d} shares its statistic with the "
                "{n} components of its own position: mean square {scale}; no mean is subtracted."
            ),
            "wide": _(
                "LayerNorm over (T, D): text {b}, position {t}, component {d} shares its statistic with "
                "its whole text, {n} cells: mean {mean}, variance {scale}."
            ),
        }[result.norm]
        return text.format(
            b=b, t=t, d=d, n=int(result.shares.sum()), mean=number(result.mean), scale=number(result.scale)
        )

    def _what_moves(self, result: Sharing) -> str:
        if result.change == 0:
            return _("Nothing is changed, so nothing moves.")
        positions = int(result.has_moved.any(-1).sum())
        text = _(
            "If this cell changes by {change}, the output changes in {cells} of {all_cells} cells, "
            "at {positions} of {all_positions} positions."
        ).format(
            change=number(result.change), cells=int(result.has_moved.sum()), all_cells=result.x.numel(),
            positions=positions, all_positions=TEXTS * POSITIONS,
        )  # fmt: skip
        return text + " " + _("No other position notices.") if positions == 1 else text


# ---- the sphere ----


class OnTheSphere(Explorer):
    """Lists of two or three numbers as points, moved step by step to where LayerNorm or RMSNorm puts them."""

    LIMIT = 3.6

    def __init__(self):
        self.figure = LiveFigure(5.4, 4.8)
        self._draw()
        controls = {
            "width": dropdown(_("components D"), [("2", 2), ("3", 3)], 3),
            "norm": dropdown(_("normalization"), [("LayerNorm", "layer"), ("RMSNorm", "rms")], "layer"),
            "stage": slider(_("step (0, 1, 2)"), 0, 2, 2, 0.1),
            "turn": int_slider(_("line of sight in degrees"), 0, 90, 65, 5),
        }
        super().__init__(controls, [[self.figure]])

    compute = staticmethod(sphere)

    def _draw(self) -> None:
        limits = (-self.LIMIT, self.LIMIT)
        axes = self.figure.figure.add_subplot(aspect="equal", xlim=limits, ylim=limits)
        axes.set_axis_off()
        soft = {"color": style.LIGHT.soft, "linewidth": 1}
        (self.plane,) = axes.fill([0, 1, 1], [0, 0, 1], color=style.LIGHT.grid, alpha=0.6, linewidth=1)
        (self.axis,) = axes.plot([], [], linestyle=(0, (4, 2)), label=_("axis of equal components"), **soft)
        (self.outline,) = axes.plot([], [], linestyle=":", label=_("sphere of radius √D"), **soft)
        (self.circle,) = axes.plot([], [], color=NORM, linewidth=1.2, label=_("mean 0 and length √D"))
        self.ways = LineCollection([], colors=style.ROLES["masked"], linewidths=0.6, alpha=0.5)
        axes.add_collection(self.ways)
        (self.starts,) = axes.plot([], [], "o", color=INPUT, markersize=3.5, alpha=0.8, label="x")
        (self.points,) = axes.plot([], [], "o", color=NORM, markersize=5, label=_("where x is now"))
        self.name = axes.text(0, 0, "", fontsize=style.SMALL_SIZE, ha="left", va="center")
        self.figure.figure.legend(loc="outside lower center", ncols=2)
        self.figure.moving(self.plane, self.axis, self.outline, self.circle, self.ways, self.starts)
        self.figure.moving(self.points, self.name)

    def show(self, result: Sphere) -> None:
        D = result.width
        to_screen = screen(D, result.turn)
        ones, radius, round_ = np.ones(D), math.sqrt(D), np.linspace(0, 2 * math.pi, 121)
        self.plane.set_xy(plane_circle(D, 3.2) @ to_screen)
        self.axis.set_data(*(np.array([-2.0, 2.0])[:, None] * ones @ to_screen).T)
        self.outline.set_data(radius * np.cos(round_), radius * np.sin(round_))
        self.circle.set_data(*(plane_circle(D, radius) @ to_screen).T)
        self.circle.set_linestyle("-" if D == 3 else "")
        self.circle.set_marker("" if D == 3 else "D")
        start, now = result.start @ to_screen, result.points @ to_screen
        self.ways.set_segments(np.stack([start, now], axis=1))
        self.starts.set_data(*start.T)
        self.points.set_data(*now.T)
        tip = 2.05 * ones @ to_screen
        self.name.set_position((tip[0] + 0.1, tip[1]))
        self.name.set_text(vector(ones))
        self.figure.refresh()

    def sentence(self, result: Sphere) -> str:
        lengths = result.lengths
        measured = _("Measured: lengths from {short} to {long}, the largest mean is {mean}.").format(
            short=f"{lengths.min():.3f}", long=f"{lengths.max():.3f}", mean=number(result.largest_mean, 3)
        )
        text = f"{self._place(result)} {measured}"
        if result.width == 2:
            return text
        turned = _("You look at an angle of {turn}° to the axis [1, 1, 1].")
        return f"{text} {turned.format(turn=number(result.turn))}"

    def _place(self, result: Sphere) -> str:
        lists = _("{n} lists of {D} numbers").format(n=LISTS, D=result.width)
        centred = NORMS[result.norm].centred
        if result.stage == 0:
            return _("{lists}, as they come in.").format(lists=lists)
        if result.stage < 1:
            text = (
                _("{lists}, on the way: the mean is being subtracted.")
                if centred
                else _("{lists}: RMSNorm leaves out the step that subtracts the mean.")
            )
        elif result.stage == 1:
            text = (
                _("{lists} without their mean: what remains lies flat, orthogonal to the axis.")
                if centred
                else _("{lists}: RMSNorm has not subtracted a mean; all are still where they were.")
            )
        elif result.stage < 2:
            text = _("{lists}, on the way to the length √{D}.")
        elif not centred:
            text = _("{lists} after RMSNorm: all on the sphere of radius √{D} = {radius}, anywhere on it.")
        elif result.width == 2:
            text = _("{lists} after LayerNorm: just two points, [1, -1] and [-1, 1] (apart from ε).")
        else:
            text = _("{lists} after LayerNorm: all on one circle of radius √{D} = {radius} (apart from ε).")
        return text.format(lists=lists, D=result.width, radius=number(math.sqrt(result.width), 3))
