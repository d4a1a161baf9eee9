"""Live views of 06b_norm_placement."""

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ...language import _, ngettext
from ...live import style
from ...live.block_diagram import BlockDiagram
from ...live.cells import close_earlier_runs
from ...live.controls import dropdown, selection_slider
from ...live.explorer import Explorer
from ...live.figure import LiveFigure
from ...live.long_work import LongWork
from ...live.numbers import magnitude, number
from ..book import part_labels
from .computation import (
    DEPTHS,
    EVERY,
    GRADIENT_DEPTHS,
    LAST,
    LOOK_DEPTHS,
    LOOK_SEEDS,
    LOOKS,
    OWN_SEED,
    RATES,
    STEPS,
    TABLES,
    AtStart,
    Inside,
    Looks,
    Trainings,
    arrangements,
    at_start,
    averaged,
    final_loss,
    frequency_loss,
    geometric_mean,
    has_learned,
    looks_along,
    middles,
    recorded_looks,
    recorded_trainings,
    runs_at,
    train,
)

# ---- the places, and gradients at the start ----

# In pre-norm the direct path stays free, in post-norm a norm sits on it, without norm there is none.
COLOUR = {
    "pre": style.ROLES["residual"],
    "post": style.ROLES["norm"],
    "none": style.ROLES["masked"],
    "cut": style.ROLES["gradient"],
}
DASHES = {"pre": "-", "post": (0, (5, 1.5)), "none": (0, (1, 1.2)), "cut": (0, (6, 1.5, 1, 1.5))}
MARKER = {"pre": "o", "post": "s", "none": "^", "cut": "x"}


def placement_labels() -> dict[str, str]:
    """The three places a norm can have, as a legend says them."""
    return {
        "pre": _("pre-norm: before each part"),
        "post": _("post-norm: after each sum"),
        "none": _("no norm"),
    }


def arrangement_names() -> dict[str, str]:
    """The placements of the norm, and pre-norm without direct paths."""
    return {
        "pre": _("pre-norm"),
        "post": _("post-norm"),
        "none": _("no norm"),
        "cut": _("pre-norm without direct paths"),
    }


@style.building()
def placements() -> LiveFigure:
    """The three blocks drawn one below the other."""
    alt = _(
        "Three drawn blocks. Pre-norm: the norms stand before Attention and MLP, the direct path is "
        "free. Post-norm: each norm stands after the sum, on the path. No norm: only Attention and "
        "MLP."
    )
    view = LiveFigure(8.6, 4.3, alt=alt)
    view.figure.set_layout_engine("none")
    for index, (norm, label) in enumerate(placement_labels().items()):
        axes = view.figure.add_axes((0.01, 0.01 + 0.335 * (2 - index), 0.98, 0.25))
        BlockDiagram(axes, part_labels(), norm, span=9.55)
        axes.set_title(label)
    close_earlier_runs(view)
    return view


def whole_powers(values: np.ndarray) -> tuple[float, float]:
    """The powers of ten next below and above all these positive values."""
    return float(10.0 ** np.floor(np.log10(values.min()))), float(10.0 ** np.ceil(np.log10(values.max())))


class GradientsAtStart(Explorer):
    """How long the gradient is in every block before the first step, by where the norm sits."""

    def __init__(self):
        self.figure = LiveFigure(8.2, 3.5)
        self._draw()
        initializations = [(_("Xavier"), "xavier"), (_("spread 0.02 (as GPT-2)"), "small")]
        controls = {
            "blocks": selection_slider(_("number of blocks"), GRADIENT_DEPTHS, 12),
            "initialization": dropdown(_("initial weights"), initializations, "xavier"),
        }
        super().__init__(controls, [[self.figure]])

    compute = staticmethod(at_start)

    def _draw(self) -> None:
        self.axes = axes = self.figure.figure.add_subplot()
        style.log_axis(axes.yaxis)
        axes.grid(True)
        axes.set_xlabel(_("block (1 = near the input)"))
        self.drawn: tuple = ()  # number of blocks, ends of the axis
        self.lines = {
            norm: axes.plot(
                [],
                [],
                color=COLOUR[norm],
                linestyle=DASHES[norm],
                marker=MARKER[norm],
                markersize=5,
                label=label,
            )[0]
            for norm, label in arrangement_names().items()
        }
        self.figure.figure.legend(loc="outside upper right", ncols=4)
        self.figure.moving(*self.lines.values())

    def show(self, result: AtStart) -> None:
        ends = whole_powers(np.concatenate(list(result.gradients.values())))
        for norm, curve in self.lines.items():
            curve.set_data(np.arange(1, result.blocks + 1), result.gradients[norm])
        if self.drawn != (result.blocks, ends):
            self.drawn = result.blocks, ends
            margin = 0.02 * result.blocks
            every = -(-result.blocks // 12)  # rounded up
            self.axes.set(xlim=(1 - margin, result.blocks + margin), ylim=ends)
            self.axes.set_xticks(range(result.blocks, 0, -every))
            low, high = map(style.power_of_ten, ends)
            self.axes.yaxis.label.set_text(
                _("length of the gradient for W₂\n(axis from {low} to {high})").format(low=low, high=high)
            )
            self.figure.redraw()
        else:
            self.figure.refresh()

    def sentence(self, result: AtStart) -> str:
        last = {norm: float(gradient[-1]) for norm, gradient in result.gradients.items()}
        text = ngettext(
            "{blocks} block. The gradient in it is {pre} long with pre-norm, {post} with post-norm and "
            "{none} without norm; {cut} with pre-norm whose direct paths are cut.",
            "{blocks} blocks. The gradient in the last one is {pre} long with pre-norm, {post} with "
            "post-norm and {none} without norm; {cut} with pre-norm whose direct paths are cut.",
            result.blocks,
        ).format(blocks=result.blocks, **{norm: magnitude(value) for norm, value in last.items()})
        if last["none"] > 10:
            text += " " + _("Without norm it explodes.")
        return f"{text} {self._comparison(result, last['post'] / last['pre'])}"

    @staticmethod
    def _comparison(result: AtStart, ratio: float) -> str:
        if result.initialization == "small":
            return _(
                "From weights this small post-norm has the shorter one: the picture depends on the start."
            )
        if ratio > 1.5:
            return _("Post-norm's is {ratio} times as long as pre-norm's.").format(ratio=number(ratio, 1))
        if ratio < 1 / 1.5:
            text = _("Here post-norm's is even shorter: only {ratio} times as long as pre-norm's.")
            return text.format(ratio=number(ratio, 1))
        return _("In a net this shallow pre-norm and post-norm hardly differ.")


# ---- a short training ----


def variant_names() -> list[str]:
    """What the runs of `runs_at` are called, in their order."""
    return [
        _("pre-norm"),
        _("post-norm"),
        _("post-norm with warm-up"),
        _("no norm"),
        _("pre-norm without direct paths"),
    ]


class PlacementTraining(LongWork):
    """Short trainings by where the norm sits: recorded curves, and your own run beside them."""

    def __init__(self):
        self.figure = LiveFigure(8.6, 3.9)
        self._draw()
        rates = [(f"{rate:g}", rate) for rate in RATES]
        controls = {
            "blocks": dropdown(_("number of blocks"), [(str(n), n) for n in DEPTHS], 12),
            "rate": dropdown(_("learning rate"), rates, 1e-3),
            "variant": dropdown(_("train here"), [(name, i) for i, name in enumerate(variant_names())], 0),
        }
        super().__init__(controls, [[self.figure]])

    compute = staticmethod(recorded_trainings)

    def _draw(self) -> None:
        axes = self.figure.figure.add_subplot()
        axes.set_xlim(0, STEPS)
        axes.set_ylim(1, 6.6)
        axes.grid(True)
        axes.set_xlabel(_("training step"))
        axes.set_ylabel(_("loss (nats per word)"))
        floor = frequency_loss()
        axes.axhline(floor, color=style.LIGHT.soft, linewidth=0.9)
        axes.text(
            STEPS - 2, floor - 0.12, _("only counting how often each word occurs"), ha="right",
            va="top", fontsize=style.SMALL_SIZE, color=style.LIGHT.soft,
        )  # fmt: skip
        looks = ("pre", "post", "post", "none", "cut")
        colours = [COLOUR[look] for look in looks]
        dashes = [DASHES[look] for look in looks]
        dashes[2] = "-"  # with warm-up: the same colour, drawn through
        self.lines = [
            axes.plot([], [], color=colour, linestyle=dash, linewidth=1.6, label=name)[0]
            for name, colour, dash in zip(variant_names(), colours, dashes)
        ]
        (self.own,) = axes.plot([], [], ".", color=style.LIGHT.ink, markersize=5, label=_("your run"))
        axes.legend(loc="upper right", ncols=3)
        self.figure.moving(*self.lines, self.own)

    def update(self) -> None:
        """Show the recorded curves of another setting; a run of the reader's own ends."""
        self.end()
        super().update()

    def show(self, result: Trainings) -> None:
        for variant, (curve, losses) in enumerate(zip(self.lines, result.curves)):
            curve.set_data(middles(losses), losses)
            curve.set_linewidth(3.2 if variant == result.chosen else 1.6)
        self._show_own()

    def _show_own(self) -> None:
        means = averaged(self.losses)
        self.own.set_data(middles(means), means)
        self.figure.refresh()

    # ---- the reader's own run ----

    def work(self) -> Iterator[float]:
        """A training of the chosen variant."""
        shown = self.result
        return train(runs_at(shown.blocks, shown.rate)[shown.chosen])

    def forget(self) -> None:
        """Put away the losses of an earlier run."""
        self.losses: list[float] = []

    def follow(self, loss: float) -> None:
        """Keep the loss of a step, and show it with the others that one point averages."""
        self.losses.append(loss)
        if len(self.losses) % EVERY == 0:
            self._show_own()
            self.say(self.sentence(self.result))

    # ---- words ----

    def sentence(self, result: Trainings) -> str:
        losses = [f"{final_loss(curve):.2f}" for curve in result.curves]
        text = _("{blocks} blocks, learning rate {rate}. Loss after {steps} steps: {losses}.").format(
            blocks=result.blocks,
            rate=f"{result.rate:g}",
            steps=STEPS,
            losses=", ".join(f"{name} {loss}" for name, loss in zip(variant_names(), losses)),
        )
        text += " " + self._verdict(result)
        text += " " + _("The thick line is the run you can train here: {name}.").format(
            name=variant_names()[result.chosen]
        )
        if self.losses:
            text += "\n" + _("Your run: step {step} of {steps}, loss {loss}.").format(
                step=len(self.losses),
                steps=STEPS,
                loss=f"{np.mean(self.losses[-LAST:]):.2f}",
            )
        return text

    @staticmethod
    def _verdict(result: Trainings) -> str:
        pairs = zip(variant_names(), result.curves)
        stuck = [name for name, losses in pairs if not has_learned(losses)]
        if not stuck:
            return _("All of them learn.")
        names = _("{some} and {last}").format(some=", ".join(stuck[:-1]), last=stuck[-1])
        return _("Hardly better than counting words, or no better: {names}.").format(
            names=names if stuck[1:] else stuck[0]
        )


# ---- a look inside ----

TABLE_COLOURS = dict(zip(TABLES, (style.ACCENTS[name] for name in ("first", "second", "third"))))
TABLE_SIGNS = {"W_Q": "W_Q", "W_K": "W_K", "W2": "W_2"}  # as typed: no letter is a small Q or K
TABLE_DASHES = {"W_Q": "-", "W_K": (0, (2, 1.5)), "W2": "-"}  # those of Q and K often lie on one another
FAINTEST, STRONGEST = 1e-9, 1e1  # of the gradients; what lies beyond sits on the edge


class InsideTheBlocks(LongWork):
    """How alike the positions become from block to block, and which tables still get a gradient."""

    def __init__(self):
        self.figure = LiveFigure(8.8, 3.8)
        self._draw()
        names = arrangement_names()
        controls = {
            "blocks": dropdown(_("number of blocks"), [(str(n), n) for n in LOOK_DEPTHS], LOOK_DEPTHS[0]),
            "arrangement": dropdown(_("arrangement"), [(names[name], name) for name in names], "cut"),
            "steps": selection_slider(_("training steps"), LOOKS, LOOKS[-1]),
        }
        super().__init__(controls, [[self.figure]])

    compute = staticmethod(recorded_looks)

    # ---- drawn ----

    def _draw(self) -> None:
        self.left, self.right = self.figure.figure.subplots(1, 2)
        self._draw_likeness()
        self._draw_gradients()
        for axes in (self.left, self.right):
            axes.set_xlabel(_("block (1 = near the input)"))
            axes.grid(True)
        self.figure.figure.legend(handles=[*self.means.values()], loc="outside lower left", ncols=4)
        self.blocks = 0

    def _draw_likeness(self) -> None:
        self.left.set(ylim=(-0.05, 1.05), title=_("how alike the positions are (mean cosine)"))
        self.means = {
            name: self.left.plot([], [], color=COLOUR[name], linestyle=DASHES[name], label=label)[0]
            for name, label in arrangement_names().items()
        }
        self.single = self._single(self.left, style.LIGHT.soft)
        (self.own_alike,) = self.left.plot([], [], "o", color=style.LIGHT.ink, markersize=4, zorder=4)
        self.figure.moving(*self.means.values(), *self.single, self.own_alike)

    def _draw_gradients(self) -> None:
        self.right.set_title(_("length of the gradient"))
        style.log_axis(self.right.yaxis)
        self.right.set_ylim(FAINTEST, STRONGEST)
        self.tables, self.singles, self.own_gradients = {}, {}, {}
        for table, colour in TABLE_COLOURS.items():
            (self.tables[table],) = self.right.plot(
                [], [], color=colour, linestyle=TABLE_DASHES[table], marker="o", markersize=3,
                label=TABLE_SIGNS[table],
            )  # fmt: skip
            self.singles[table] = self._single(self.right, colour)
            (self.own_gradients[table],) = self.right.plot(
                [], [], "o", color=style.LIGHT.ink, markersize=4, zorder=4
            )
            self.figure.moving(self.tables[table], *self.singles[table], self.own_gradients[table])
        self.right.legend(loc="lower left", ncols=3, handlelength=3)

    @staticmethod
    def _single(axes: Axes, colour: str) -> list[Line2D]:
        """A thin line for each seed."""
        return [axes.plot([], [], color=colour, linewidth=0.7)[0] for _seed in LOOK_SEEDS]

    # ---- shown ----

    def update(self) -> None:
        """Show another moment; with another arrangement or depth the reader's own run ends."""
        wanted = self.controls["blocks"].value, self.controls["arrangement"].value
        if self.result is not None and wanted != (self.result.blocks, self.result.arrangement):
            self.end()
        super().update()

    def reset(self) -> None:
        """Put every control back to where it began, and take the reader's own run away."""
        self.end()
        super().reset()

    def show(self, result: Looks) -> None:
        places = np.arange(1, result.blocks + 1)
        for name, line in self.means.items():
            line.set_data(places, result.alike[name].mean(axis=0))
            line.set_linewidth(3.2 if name == result.arrangement else 1.2)
        for line, alike in zip(self.single, result.alike[result.arrangement]):
            line.set_data(places, alike)
        for table, line in self.tables.items():
            lengths = np.clip(result.gradients[table], FAINTEST, STRONGEST)  # (S, L)
            line.set_data(places, geometric_mean(lengths))
            for single, of_seed in zip(self.singles[table], lengths):
                single.set_data(places, of_seed)
        self._show_own(result)
        if self.blocks != result.blocks:
            self.blocks = result.blocks
            for axes in (self.left, self.right):
                axes.set(xlim=(0.7, result.blocks + 0.3), xticks=places)
            self.figure.redraw()
        else:
            self.figure.refresh()

    def _show_own(self, result: Looks) -> None:
        inside = self.own.get(result.steps)
        places = np.arange(1, result.blocks + 1) if inside else []
        self.own_alike.set_data(places, inside.alike if inside else [])
        for table, line in self.own_gradients.items():
            lengths = np.clip(inside.gradients[table], FAINTEST, STRONGEST) if inside else []
            line.set_data(places, lengths)

    # ---- the reader's own run, from a start that was not recorded ----

    def work(self) -> Iterator[tuple[int, Inside | None]]:
        """A short training of the chosen arrangement."""
        shown = self.result
        return looks_along(arrangements(shown.blocks)[shown.arrangement], OWN_SEED)

    def forget(self) -> None:
        """Put away the looks of an earlier run."""
        self.own: dict[int, Inside] = {}
        self.made = 0  # steps

    def follow(self, made: tuple[int, Inside | None]) -> None:
        """Say how far the run is, and show a look where one was due."""
        self.made, inside = made
        if inside:
            self.own[self.made] = inside
            self._show_own(self.result)
            self.figure.refresh()
        self.say(self.sentence(self.result))

    # ---- words ----

    def sentence(self, result: Looks) -> str:
        alike = result.alike[result.arrangement].mean(axis=0)
        last = {table: geometric_mean(lengths)[-1] for table, lengths in result.gradients.items()}
        text = _(
            "{name}, {blocks} blocks, after {steps} steps: the mean cosine between positions is {first} "
            "after block 1 and {end} after block {blocks}. The gradient in the last block is {W_Q} long for "
            "the queries' table, {W_K} for the keys' and {W2} for W₂. Means over {seeds} starts, drawn thin."
        ).format(
            name=arrangement_names()[result.arrangement], blocks=result.blocks, steps=result.steps,
            first=f"{alike[0]:.2f}", end=f"{alike[-1]:.3f}", seeds=len(LOOK_SEEDS),
            **{table: magnitude(length) for table, length in last.items()},
        )  # fmt: skip
        if self.made or self.own:
            text += "\n" + _(
                "Your own start: step {step} of {steps}; its points appear where a step is shown."
            )
            text = text.format(step=self.made, steps=LOOKS[-1])
        return text
