"""Live views of 03_mlp."""

from functools import cache

import numpy as np

from ...language import _
from ...live import style
from ...live.controls import dropdown, int_slider, selection_slider, slider, text_input
from ...live.explorer import Explorer
from ...live.figure import LiveFigure
from ...live.matrix import MatrixView
from ...live.numbers import magnitude, number
from ...pretrained import Pretrained
from ..reading import Reading, example_story
from .computation import (
    FAVOURITES,
    POINTS,
    SHOWN,
    STORIES,
    Activations,
    D,
    Fit,
    Neurons,
    Nudged,
    T,
    activation_curves,
    activations,
    fit,
    liveliest,
    mean_values,
    neurons,
    nudged,
)

# ---- activation functions ----


class ActivationCurves(Explorer):
    """ReLU and GELU as curves, and beside them how far GELU's tanh form is from the exact one."""

    def __init__(self):
        self.figure = LiveFigure(7.4, 3.4)
        self._draw()
        super().__init__({"x": slider(_("place x"), -4, 4, -1, 0.1)}, [[self.figure]])

    compute = staticmethod(activations)

    def _draw(self) -> None:
        curves, gap = self.figure.figure.subplots(1, 2, width_ratios=[1.5, 1])
        x, relu, exact, approximate = activation_curves()
        curves.axhline(0, color=style.LIGHT.soft, linewidth=0.8)
        curves.plot(x, relu, color=style.LIGHT.soft, linestyle=(0, (4, 2)), label="ReLU")
        curves.plot(x, exact, color=style.ROLES["mlp"], label="GELU")
        curves.set(xlim=(-4, 4), ylim=(-0.7, 4), xlabel="x", title=_("activation"))
        curves.grid(True)
        curves.legend(loc="upper left")
        gap.axhline(0, color=style.LIGHT.soft, linewidth=0.8)
        gap.plot(x, 1000 * (approximate - exact), color=style.ROLES["mlp"])
        gap.set(xlim=(-4, 4), ylim=(-0.6, 0.6), xlabel="x", title=_("tanh form minus exact, times 1000"))
        gap.grid(True)
        (self.relu,) = curves.plot([], [], "o", color=style.LIGHT.soft)
        (self.gelu,) = curves.plot([], [], "o", color=style.ROLES["mlp"])
        (self.gap,) = gap.plot([], [], "o", color=style.ROLES["mlp"])
        self.figure.moving(self.relu, self.gelu, self.gap)

    def show(self, result: Activations) -> None:
        self.relu.set_data([result.x], [result.relu])
        self.gelu.set_data([result.x], [result.gelu])
        self.gap.set_data([result.x], [1000 * (result.gelu_tanh - result.gelu)])
        self.figure.refresh()

    def sentence(self, result: Activations) -> str:
        return _(
            "At x = {x}, ReLU gives {relu} and GELU {gelu}. The tanh form of GELU gives {tanh}, "
            "a difference of {gap}."
        ).format(
            x=number(result.x, 1), relu=number(result.relu, 1), gelu=number(result.gelu, 4),
            tanh=number(result.gelu_tanh, 4), gap=magnitude(abs(result.gelu_tanh - result.gelu), 1),
        )  # fmt: skip


# ---- fitting a curve ----


class CurveFit(Explorer):
    """What an MLP from one number to one number can express, by hidden units and activation."""

    def __init__(self):
        self.figure = LiveFigure(7.0, 3.3)
        self._draw()
        controls = {
            "target": dropdown(
                _("curve"),
                [(_("wave"), "wave"), (_("hill"), "hill"), (_("stairs"), "stairs"), (_("line"), "line")],
                "wave",
            ),
            "activation": dropdown(
                _("activation"), [("GELU", "gelu"), ("ReLU", "relu"), (_("none"), "none")], "gelu"
            ),
            "hidden": selection_slider(_("neurons"), (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64), 4),
        }
        super().__init__(controls, [[self.figure]])

    compute = staticmethod(fit)

    def _draw(self) -> None:
        axes = self.figure.figure.add_subplot(xlim=(-3, 3), ylim=(-1.8, 1.8), xlabel="x")
        axes.grid(True)
        (self.target,) = axes.plot([], [], color=style.LIGHT.soft, linestyle=(0, (4, 2)), label=_("wanted"))
        (self.fitted,) = axes.plot([], [], color=style.ROLES["mlp"], label=_("MLP"))
        axes.legend(loc="upper right", ncols=2)
        self.figure.moving(self.target, self.fitted)

    def show(self, result: Fit) -> None:
        self.target.set_data(POINTS, result.target)
        self.fitted.set_data(POINTS, result.fitted)
        self.figure.refresh()

    def sentence(self, result: Fit) -> str:
        text = _("Neurons: {hidden}, activation: {activation}, root mean square error: {error}.").format(
            hidden=result.hidden, error=number(result.error, 3),
            activation={"gelu": "GELU", "relu": "ReLU", "none": _("none")}[result.activation],
        )  # fmt: skip
        if result.activation == "none":
            return (
                text + " " + _("Without activation it stays a straight line, however many neurons there are.")
            )
        if result.error < 0.02:
            return text + " " + _("The curve is almost matched.")
        return text


# ---- each position by itself ----


class PositionByPosition(Explorer):
    """Change the numbers of one position and see which outputs move."""

    def __init__(self):
        look = {"kind": "diverging", "legend": False, "row_axis": _("position")}
        zeros = np.zeros((T, D))
        self.inputs = MatrixView(zeros, titles=["x"], limits=(-5.0, 5.0), **look)
        titles = [_("MLP(x) before"), _("MLP(x) after")]
        self.outputs = MatrixView(np.zeros((2, T, D)), titles=titles, limits=(-2.0, 2.0), **look)
        controls = {
            "position": int_slider(_("position"), 1, T, 3),
            "amount": slider(_("added to it"), -3, 3, 1),
        }
        super().__init__(controls, [[self.inputs, self.outputs]])

    compute = staticmethod(nudged)

    def show(self, result: Nudged) -> None:
        outputs = np.stack([result.before, result.outputs])
        for view, values in ((self.inputs, result.inputs), (self.outputs, outputs)):
            view.update(values=values, rows=result.labels, selected=result.changed)

    def sentence(self, result: Nudged) -> str:
        if not result.moved:
            return _("Nothing was added, nothing has moved.")
        return _(
            "Position {changed} got {amount} added to each component. Of {all} outputs, that of"
                " position {position} moved and no other."
        ).format(
            changed=result.changed + 1, amount=number(result.amount, 1), all=T,
            position=", ".join(str(t + 1) for t in result.moved),
        )  # fmt: skip


# ---- neurons of a trained model ----

ROOM = 14  # letters of a token that fit under its bar


class NeuronExplorer(Explorer):
    """Type a sentence and see which neurons of a trained model's MLP answer to which token."""

    def __init__(self, pretrained: Pretrained | None = None):
        self.reading = Reading(pretrained)
        self._means = cache(lambda block: mean_values(self.reading, block))
        config = self.reading.model.config
        self.hidden_width = 4 * config.width
        self.matrix = MatrixView(
            np.zeros((SHOWN, 1)), kind="diverging", cell_size=30, digits=1, max_height=340,
            row_axis=_("neuron"), column_axis=_("token"), words=_("neuron {row} at “{column}”: {value}"),
        )  # fmt: skip
        self.figure = LiveFigure(7.6, 2.2)
        self._draw()
        text = example_story()
        controls = {
            "text": text_input(_("sentence"), text),
            "block": int_slider(_("block"), 1, config.blocks, config.blocks),
            "neuron": int_slider(_("neuron"), 1, self.hidden_width, liveliest(self.reading, text)),
        }
        super().__init__(controls, [[self.matrix], [self.figure]])
        self.matrix.observe(self.guarded(self._choose), "selected")

    def _choose(self, change) -> None:
        """Take the neuron whose row was clicked."""
        if change.new >= 0 and not self._showing:
            self.controls["neuron"].value = self.result.shown[change.new] + 1

    def compute(self, text: str, block: int, neuron: int) -> Neurons:
        return neurons(self.reading, text, block, neuron, self._means(block))

    def show(self, result: Neurons) -> None:
        self.matrix.update(
            values=result.hidden[:, result.shown].T, columns=result.labels,
            rows=[str(n + 1) for n in result.shown], selected=result.shown.index(result.neuron),
            titles=[_("block {block}").format(block=result.block)],
        )  # fmt: skip
        for bar, name, (token, value) in zip(self.bars, self.names, result.favourites):
            bar.set_height(value)
            name.set_text(token if len(token) <= ROOM else token[: ROOM - 1] + "…")
        # One axis for all neurons of a block: it holds still while the neuron changes.
        self.axes.set_ylim(1.05 * result.lowest, 1.05 * result.highest)
        self.title.set_text(
            _("block {block}, neuron {neuron}: mean by token in {stories} stories").format(
                block=result.block, neuron=result.neuron + 1, stories=STORIES
            )
        )
        self.figure.refresh()

    def _draw(self) -> None:
        self.figure.figure.set_layout_engine("none")
        self.axes = axes = self.figure.figure.add_axes((0.065, 0.27, 0.925, 0.6))
        axes.set(xlim=(-0.7, FAVOURITES - 0.3), xticks=range(FAVOURITES), xticklabels=[])
        self.bars = axes.bar(range(FAVOURITES), np.zeros(FAVOURITES), color=style.ROLES["mlp"], width=0.7)
        self.names = [
            axes.text(
                i, -0.04, "", rotation=30, ha="right", va="top", rotation_mode="anchor",
                fontsize=style.SMALL_SIZE, transform=axes.get_xaxis_transform(),
            )
            for i in range(FAVOURITES)
        ]  # fmt: skip
        self.title = axes.text(0, 1.05, "", fontsize=style.TITLE_SIZE, transform=axes.transAxes)
        zero = axes.axhline(0, color=style.LIGHT.soft, linewidth=0.8)
        self.figure.moving(*self.bars, *self.names, zero, axes.yaxis, self.title, axes.spines["bottom"])

    def sentence(self, result: Neurons) -> str:
        values = result.hidden[:, result.neuron]
        place = int(values.argmax())
        return _(
            "Neuron {neuron} answers most to “{token}” (token {place}) here, with {value}. In {stories} "
            "stories it is strongest on average at “{favourite}”, with {mean}. On average over these tokens, "
            "{positive} of the {all} neurons are above zero."
        ).format(
            neuron=result.neuron + 1, token=result.labels[place], place=place + 1,
            value=number(values[place]), stories=STORIES, favourite=result.favourites[0][0].strip(),
            mean=number(result.favourites[0][1]),
            positive=round((result.hidden > 0).sum(axis=1).mean()), all=self.hidden_width,
        )  # fmt: skip
