"""Live views of 06_block."""

from functools import lru_cache

import numpy as np
from matplotlib.text import Text

from ...language import _, ngettext
from ...live import style
from ...live.bars import LabelledBars, set_heights
from ...live.block_diagram import BlockDiagram
from ...live.controls import checkbox, dropdown, int_slider, selection_slider, slider, text_input
from ...live.explorer import Explorer
from ...live.figure import LiveFigure
from ...live.matrix import MatrixView
from ...live.numbers import number, percent, vector
from ...pretrained import Pretrained
from ..book import part_labels
from ..reading import Reading, example_story
from .computation import (
    DROPOUT_WIDTH,
    SHOWN,
    STEPS,
    STRONGEST,
    Dropped,
    Example,
    Stream,
    Walk,
    drop,
    residual_stream,
    small_block,
    walk,
)

STREAM, ATTENTION, MLP = style.ROLES["residual"], style.ROLES["attention"], style.ROLES["mlp"]


# ---- the small example ----


class SmallBlock(Explorer):
    """The block of the example with its numbers below each part; the second sum takes u, or x by mistake."""

    def __init__(self):
        self.figure = LiveFigure(8.8, 1.75)
        self._draw()
        controls = {
            "x1": slider(_("x, first component"), -5, 20, 2),
            "x2": slider(_("x, second component"), -5, 50, 5),
            "second": dropdown(_("second sum takes"), [(_("u (right)"), "u"), (_("x (mistake)"), "x")], "u"),
        }
        super().__init__(controls, [[self.figure]])

    compute = staticmethod(small_block)

    def _draw(self) -> None:
        self.figure.figure.set_layout_engine("none")
        axes = self.figure.figure.add_axes((0.01, 0, 0.98, 1))
        self.diagram = diagram = BlockDiagram(axes, part_labels())
        left, right = axes.get_xlim()
        axes.set(xlim=(left - 0.2, right + 0.2), ylim=(-0.78, 1.08))  # room for the lists of x and y
        self.numbers = {
            name: axes.text(
                diagram.middle[name], -0.58, "", ha="center", va="center", fontsize=style.TEXT_SIZE
            )
            for name in part_labels()
        }
        # The mistake: a path from x over everything, in place of the path from u.
        self.mistake = diagram.add_path(diagram.middle["x"] + 0.27, diagram.middle["sum2"], 0.95)
        self.figure.moving(*self.numbers.values(), *self.mistake, *diagram.paths[1], *diagram.parts)

    def show(self, result: Example) -> None:
        for name, text in self.numbers.items():
            text.set_text(vector(result.values[name]))
        for artist in self.mistake:
            artist.set_visible(result.second == "x")
        for artist in self.diagram.paths[1]:
            artist.set_visible(result.second == "u")
        self.figure.refresh()

    def sentence(self, result: Example) -> str:
        lists = {name: vector(value) for name, value in result.values.items()}
        if result.second == "u":
            text = _(
                "x = {x} becomes u = {u} through Attention's contribution {attention}, and u becomes "
                "y = {y} through the MLP's contribution {mlp}."
            )
        else:
            text = _(
                "The second sum takes x = {x} by mistake: it gives {y} where {right} would be right. "
                "What is missing is Attention's contribution {attention}."
            )
        text = text.format(**lists, right=vector(result.right_y))
        if np.allclose(result.values["norm1"], 0, atol=1e-3):
            text += " " + _(
                "Both components of x are equal: Norm₁ makes [0, 0] of them, and there is nothing to gather."
            )
        return text


# ---- a walk through a real block ----


class OnText(Explorer):
    """What two explorers share: a model, the reader's text, and a position in it."""

    def __init__(self, controls: dict, rows: list, matrix: MatrixView):
        controls = {
            "text": text_input(_("text"), example_story()),
            **controls,
            "position": int_slider(_("position"), 1, self.config.context_length, 4),
        }
        self.matrix = matrix
        super().__init__(controls, rows)
        self.follow_clicks(matrix, "position")
        self.follow_length("position", lambda result: len(result.labels))

    def load(self, pretrained: Pretrained | None) -> None:
        """Take the model, the shipped one if none is given, and keep what it makes of the last few texts."""
        self.reading = Reading(pretrained)
        self.config = self.reading.model.config
        self.read = lru_cache(maxsize=8)(self.reading.read)


def how_they_stand(a: np.ndarray, b: np.ndarray) -> str:
    """The angle between two lists and what it means for the length of their sum, in words."""
    size = np.linalg.norm(a) * np.linalg.norm(b)
    cosine = float(np.clip(a @ b / size, -1, 1)) if size > 0 else 0.0
    angle = number(np.degrees(np.arccos(cosine)), 0)
    if cosine > 0.3:
        return _("the two stand at {angle}° and point in similar directions").format(angle=angle)
    if cosine < -0.3:
        return _("the two stand at {angle}° and partly cancel").format(angle=angle)
    return _("the two stand at {angle}°, not far from a right angle").format(angle=angle)


def sum_in_words(result: Walk) -> str:
    """What a sum makes of the direct path and the contribution."""
    before, part = result.direct, "attention" if result.direct == "x" else "mlp"
    return _(
        "{before} of length {length} plus the contribution of length {part} gives a list of "
        "length {sum}: {angle}."
    ).format(
        before=before, length=number(result.length(before)), part=number(result.length(part)),
        sum=number(result.length(result.step)), angle=how_they_stand(result.row(before), result.row(part)),
    )  # fmt: skip


class BlockWalk(OnText):
    """Step through a block: the drawn block with the step lit, and that step's numbers for every position."""

    def __init__(self, pretrained: Pretrained | None = None):
        self.load(pretrained)
        config = self.config
        self.diagram_figure = LiveFigure(8.6, 1.25)
        self._draw(config.norm)
        steps = [(self._step_label(step), step) for step in STEPS[config.norm]]
        controls = {
            "block": int_slider(_("block"), 1, config.blocks, 1),
            "step": selection_slider(_("step"), steps, "x"),
        }
        matrix = MatrixView(
            np.zeros((1, 1)), kind="diverging", digits=-1, row_axis=_("position"),
            column_axis=_("component"), words=_("{row}, component {column}: {value}"), max_height=420,
            cell_size=22,
        )  # fmt: skip
        super().__init__(controls, [[self.diagram_figure], [matrix]], matrix)

    def _draw(self, norm: str) -> None:
        figure = self.diagram_figure.figure
        figure.set_layout_engine("none")
        self.diagram = BlockDiagram(figure.add_axes((0.005, 0, 0.99, 1)), part_labels(), norm)
        self.diagram_figure.moving(*self.diagram.parts)

    @staticmethod
    def _step_label(step: str) -> str:
        return part_labels().get(step, _("sum"))

    def compute(self, text: str, block: int, step: str, position: int) -> Walk:
        return walk(self.read(text), self.config.norm, block, step, position)

    def show(self, result: Walk) -> None:
        self.diagram.light(result.step)
        self.diagram_figure.alt = _("The drawn block; lit is {step}.").format(
            step=self._step_label(result.step)
        )
        self.diagram_figure.refresh()
        # One scale for all steps of the block, so that a short list looks pale and a long one strong; the few
        # strongest cells share the last colour, or everything else would be white.
        reach = np.quantile(np.abs(np.concatenate(list(result.values.values()))), STRONGEST)
        values = result.values[result.step][:, :SHOWN]
        self.matrix.update(
            values=values, rows=result.labels, columns=[str(i + 1) for i in range(values.shape[1])],
            limits=(-reach, reach), selected=result.position - 1,
        )  # fmt: skip

    def described(self) -> list:
        return [self.matrix]

    def sentence(self, result: Walk) -> str:
        steps = list(result.values)
        text = _("Step {number} of {count} in block {block}, position {position} (“{token}”): ").format(
            number=steps.index(result.step) + 1,
            count=len(steps),
            block=result.block,
            position=result.position,
            token=result.labels[result.position - 1],
        )
        text += self._what_happens(result)
        width = result.row("x").shape[0]
        if width > SHOWN:
            text += " " + _("The picture shows the first {shown} of {width} components.").format(
                shown=SHOWN, width=width
            )
        return text

    def _what_happens(self, result: Walk) -> str:
        row, length = result.row(result.step), number(result.length(result.step))
        if result.step == "x":
            text = _("a list of {width} numbers comes in, with length {length}.")
            return text.format(width=len(row), length=length)
        if result.is_normed:
            return _(
                "after the norm the list has mean {mean} and spread {spread}, γ and β included; "
                "its length is {length}."
            ).format(mean=number(row.mean()), spread=number(row.std()), length=length)
        if result.step in ("attention", "mlp"):
            text = (
                _("Attention contributes a list of length {length}, {share} of the length of {before}.")
                if result.step == "attention"
                else _("the MLP contributes a list of length {length}, {share} of the length of {before}.")
            )
            share = result.length(result.step) / max(result.length(result.direct), 1e-12)
            return text.format(length=length, share=percent(share), before=result.direct)
        return sum_in_words(result)


# ---- how much each part adds ----


class ResidualStream(OnText):
    """How long the residual stream is and how much each part adds to it, at one position and at all."""

    def __init__(self, pretrained: Pretrained | None = None):
        self.load(pretrained)
        self.blocks = self.config.blocks
        self.figure = LiveFigure(5.0, 4.4)
        self._draw()
        matrix = MatrixView(
            np.zeros((1, 1)), row_axis=_("position"), column_axis=_("part and block"), max_height=520,
            words=_("{row}, {column}: {value} of the stream"),
        )  # fmt: skip
        # As wide as it needs to be, so that it stands beside the bars where the page is wide.
        matrix.layout.width, matrix.layout.max_width = f"{170 + 2 * 44 * self.blocks}px", "100%"
        super().__init__({}, [[self.figure, matrix]], matrix)

    def _names(self) -> list[str]:
        return [
            f"{part}\n{_('block')} {block + 1}"
            for block in range(self.blocks)
            for part in (_("Attention"), _("MLP"))
        ]

    def _columns(self) -> list[str]:
        """Short enough to stand aslant over a column."""
        return [f"{part} {block + 1}" for block in range(self.blocks) for part in (_("Attention"), _("MLP"))]

    def _draw(self) -> None:
        self.axes = axes = self.figure.figure.add_subplot()
        count = 2 * self.blocks + 1
        crowded = count > 9
        names = [_("Embedding"), *(name.replace("\n", " ") if crowded else name for name in self._names())]
        colours = [style.ROLES["embedding"], *[ATTENTION, MLP] * self.blocks]
        self.bars = LabelledBars(self.figure, axes, count, 0.55, color=colours)
        (self.stream,) = axes.plot(
            range(count), [0] * count, "o-", color=STREAM, markersize=5, label=_("the stream after the sum")
        )
        # Those of the other positions, faint, since the axis holds still for all of them.
        faint = {"color": style.LIGHT.soft, "linewidth": 0.8, "alpha": 0.45, "zorder": 0.5}
        (self.others,) = axes.plot([], [], label=_("at the other positions"), **faint)
        axes.set_xticks(range(count), names, rotation=90 if crowded else 0)
        axes.set_ylabel(_("length of the list"))
        axes.grid(True, axis="y")
        axes.legend(loc="upper left")
        self.figure.moving(self.stream, self.others)

    def _place(self, text: Text, height: float, stream: float, top: float) -> None:
        """Write at the foot of a bar that is tall enough, else above the bar and the line of the stream."""
        if height > 0.06 * top and len(self.bars.bars) <= 9:
            text.set(y=0.012 * top, color=style.LIGHT.paper)
        else:
            text.set_y(max(height, stream) + 0.03 * top)

    def compute(self, text: str, position: int) -> Stream:
        return residual_stream(self.read(text), self.blocks, position)

    def show(self, result: Stream) -> None:
        at = result.position - 1
        heights = [result.stream[0, at], *result.added[:, at]]
        top = 1.18 * max(result.stream.max(), result.added.max())
        self.bars.show(heights, [number(height, 1) for height in heights])
        for text, height, stream in zip(self.bars.texts, heights, result.stream[:, at]):
            self._place(text, height, stream, top)
        self.stream.set_ydata(result.stream[:, at])
        others = np.delete(result.stream, at, axis=1).T  # (T - 1, 2 * blocks + 1)
        gap = np.full((len(others), 1), np.nan)  # ends one line before the next
        places = np.tile([*range(others.shape[1]), np.nan], len(others))
        self.others.set_data(places, np.hstack([others, gap]).ravel())
        if top != self.axes.get_ylim()[1]:  # another text
            self.axes.set_ylim(0, top)
            self.figure.redraw()
        else:
            self.figure.refresh()
        self.matrix.update(
            values=result.shares, rows=result.labels, columns=self._columns(),
            selected=at, alt=_(
                "Each contribution relative to the stream it is added to, for every position."
            ),
        )  # fmt: skip

    def described(self) -> list:
        return [self.figure]

    def sentence(self, result: Stream) -> str:
        at, shares = result.position - 1, result.shares
        largest = int(shares[at].argmax())
        text = _(
            "At position {position} (“{token}”) the stream is {start} long after the embedding and "
            "{end} at the end. The largest contribution for its place is {part} of block {block}: "
            "{share} of the stream it is added to. On average over all positions and blocks Attention "
            "adds {attention} of the stream, the MLP {mlp}."
        )
        return text.format(
            position=result.position,
            token=result.labels[at],
            start=number(result.stream[0, at], 1),
            end=number(result.stream[-1, at], 1),
            part=_("that of the MLP") if largest % 2 else _("that of Attention"),
            block=largest // 2 + 1,
            share=percent(shares[at, largest]),
            attention=percent(shares[:, 0::2].mean()),
            mlp=percent(shares[:, 1::2].mean()),
        )


# ---- dropout ----


class DropoutRuns(Explorer):
    """What dropout does to one contribution in one run, and how y differs from run to run."""

    LIMIT = 3.2

    def __init__(self):
        self.figure = LiveFigure(8.6, 3.0)
        self._draw()
        controls = {
            "p": slider(_("dropout p"), 0, 0.5, 0.5, 0.1),
            "run": int_slider(_("run"), 1, 20, 1),
            "training": checkbox(_("training (block.train())"), True),
        }
        super().__init__(controls, [[self.figure]])

    compute = staticmethod(drop)

    def _draw(self) -> None:
        left, right = self.figure.figure.subplots(1, 2, sharey=True)
        places = np.arange(DROPOUT_WIDTH)
        for axes, title in ((left, _("the MLP's contribution")), (right, _("y = u + contribution"))):
            axes.set(title=title, ylim=(-self.LIMIT, self.LIMIT), xlabel=_("component"))
            axes.set_xticks(places, [str(i + 1) for i in places])
            axes.axhline(0, color=style.LIGHT.soft, linewidth=0.8)
            axes.grid(True, axis="y")
        dashes = {"color": style.LIGHT.ink, "markersize": 15, "markeredgewidth": 2}
        self.after = left.bar(places, 0, width=0.66, color=MLP, label=_("after dropout"))
        (self.before,) = left.plot(places, 0.0 * places, "_", label=_("before dropout"), **dashes)
        self.y = right.bar(places, 0, width=0.66, color=STREAM, label=_("this run"))
        (self.quiet,) = right.plot(places, 0.0 * places, "_", label=_("block.eval()"), **dashes)
        for axes in (left, right):
            axes.legend(loc="upper right", ncols=2)
        self.figure.moving(*self.after, self.before, *self.y, self.quiet)

    def show(self, result: Dropped) -> None:
        set_heights(self.after, result.after)
        set_heights(self.y, result.y)
        self.before.set_ydata(result.before)
        self.quiet.set_ydata(result.quiet_y)
        self.figure.refresh()

    def sentence(self, result: Dropped) -> str:
        if not result.training:
            return _(
                "block.eval(): nothing is dropped. Run {run} gives the same y as every other run."
            ).format(run=result.run)
        if result.p == 0:
            return _("p = 0: nothing is dropped, and training and eval agree.")
        count = int((result.after == 0).sum())
        text = ngettext(
            "Run {run} with p = {p}: {count} of {width} components of the contribution becomes 0.",
            "Run {run} with p = {p}: {count} of {width} components of the contribution become 0.",
            count,
        ).format(run=result.run, p=number(result.p), count=count, width=DROPOUT_WIDTH)
        if count < DROPOUT_WIDTH:
            text += " " + _(
                "The others are divided by 1 − p = {keep}, so {factor} times as large: on "
                "average over many runs the sum stays."
            ).format(keep=number(1 - result.p), factor=number(1 / (1 - result.p)))
        gap = float(np.abs(result.y - result.quiet_y).max())
        return text + " " + _("y differs from block.eval() by up to {gap}.").format(gap=number(gap))
