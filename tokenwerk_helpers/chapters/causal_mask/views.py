"""Live views of 05_causal_mask."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from ... import model
from ...language import ReaderMistake, _, ngettext
from ...live import style
from ...live.bars import LabelledBars
from ...live.controls import dropdown, int_slider, slider, text_input
from ...live.explorer import Explorer
from ...live.figure import LiveFigure
from ...live.long_work import LongWork
from ...live.matrix import MatrixView
from ...live.numbers import number, percent, vector
from ...pretrained import Pretrained
from ..reading import Reading, example_joy, first_sentence
from .computation import (
    EVERY,
    MASKED,
    PLACE,
    SIZED,
    STEPS,
    UNMASKED,
    VISIBLE,
    Both,
    Future,
    Leak,
    MaskedHead,
    Places,
    averaged,
    first_substitute,
    future_after,
    leak,
    mask,
    masked_before_and_after,
    masked_head,
    spelled,
    train_both,
    visibly,
)


def kind_names() -> list[tuple[str, str]]:
    """The kinds of masks with their names, as options to choose from."""
    return [
        (_("causal (GPT)"), "causal"),
        (_("none (BERT)"), "none"),
        (_("window mask"), "window"),
        (_("prefix mask"), "prefix"),
    ]


# ---- one head of a real model under a mask ----


class MaskLab(Explorer):
    """One head reads the reader's sentence: scores, masked scores and weights; the mask can be clicked."""

    def __init__(self, pretrained: Pretrained | None = None):
        self.reading = Reading(pretrained)
        self._own: Tensor | None = None
        config = self.reading.model.config
        self._build_views()
        controls = {
            "text": text_input(_("sentence"), first_sentence()),
            "block": int_slider(_("block"), 1, config.blocks, config.blocks),
            "head": int_slider(_("head"), 1, config.heads, 1),
            "kind": dropdown(_("mask"), [*kind_names(), (_("my own (click cells)"), "own")], "causal"),
            "width": int_slider(_("width"), 1, 12, 3),
            "temperature": slider(_("temperature"), 0.1, 3, 1, 0.1),
        }
        super().__init__(controls, [[self.scores, self.masked, self.weights]])
        self.masked.on_edit(self.guarded(self._take_edit))

    def _build_views(self) -> None:
        look = {"row_axis": _("looks"), "column_axis": _("at"), "cell_size": 24, "digits": 1}
        zero = np.zeros((1, 1))
        hidden = _("“{row}” must not look at “{column}”")
        self.scores = MatrixView(zero, kind="diverging", **look)
        self.masked = MatrixView(
            zero, kind="diverging", titles=["+ M"], editable=True, allowed=[[True]], masked_words=hidden,
            masked_legend=_("−∞: not allowed"), hint=_("click a cell to allow it or forbid it"), **look,
        )  # fmt: skip
        self.weights = MatrixView(
            zero, titles=[_("softmax: weights")], limits=(0.0, 1.0), allowed=[[True]], masked_words=hidden,
            words=_("“{row}” looks at “{column}” with {value}"), **look | {"digits": 2},
        )  # fmt: skip

    def compute(
        self, text: str, block: int, head: int, kind: str, width: int, temperature: float
    ) -> MaskedHead:
        T = len(self.reading.ids(text))
        allowed = self._own_mask(T) if kind == "own" else mask(kind, T, width)
        return masked_head(self.reading, text, block, head, kind, allowed, temperature)

    def show(self, result: MaskedHead) -> None:
        self.controls["width"].disabled = result.kind not in SIZED
        names = {"rows": result.labels, "columns": result.labels}
        largest = float(np.abs(result.scores).max()) or 1.0
        limits = (-largest, largest)
        title = _("block {block}, head {head}").format(block=result.block, head=result.head) + ": Q Kᵀ / √dₖ"
        self.scores.update(values=result.scores, limits=limits, titles=[title], **names)
        self.masked.update(values=result.masked, allowed=result.allowed, limits=limits, **names)
        self.weights.update(values=result.weights, allowed=result.allowed, **names)

    def sentence(self, result: MaskedHead) -> str:
        T = len(result.labels)
        hidden = int((~result.allowed).sum())
        above = result.weights[np.triu_indices(T, 1)]
        last = result.weights[-1]
        text = ngettext(
            "{T} tokens: {hidden} of {all} looks is forbidden, its weight is exactly 0.",
            "{T} tokens: {hidden} of {all} looks are forbidden, their weights are exactly 0.",
            hidden,
        ).format(T=T, hidden=hidden, all=T * T)
        empty = int((~result.allowed).all(axis=1).sum())
        if empty:
            return text + " " + ngettext(
                "{empty} row may look nowhere: it becomes a row of zeros, not of NaN.",
                "{empty} rows may look nowhere: they become rows of zeros, not of NaN.",
                empty,
            ).format(empty=empty)  # fmt: skip
        text += " " + _("The last token, “{token}”, looks most at “{best}”, with {share}.").format(
            token=result.labels[-1].strip(),
            best=result.labels[int(last.argmax())],
            share=percent(last.max(), 1),
        )
        if (above > 0).any():
            return text + " " + _("Above the diagonal there are weights: here tokens look into the future.")
        return text

    def _own_mask(self, T: int) -> Tensor:
        if self._own is None or len(self._own) != T:
            self._own = model.causal_mask(T)  # a start that fits the text
        return self._own

    def _take_edit(self, allowed: np.ndarray) -> None:
        self._own = torch.from_numpy(np.array(allowed))
        if self.controls["kind"].value == "own":
            self.update()
        else:
            self.controls["kind"].value = "own"


# ---- what leaks ----


class LeakProbe(Explorer):
    """Exchange one token of a text and see whose predictions move, under each kind of mask."""

    def __init__(self, pretrained: Pretrained | None = None, text: str | None = None):
        self.reading = Reading(pretrained)
        self.figure = LiveFigure(8.2, 3.2)
        self._labels: list[str] | None = None
        text = text or example_joy()
        controls = {
            "text": text_input(_("sentence"), text),
            "position": int_slider(_("exchange token"), 2, self.reading.context, PLACE),
            "new": text_input(_("for"), first_substitute(self.reading, text)),
            "kind": dropdown(_("mask"), kind_names(), "causal"),
            "width": int_slider(_("width"), 1, 12, 3),
        }
        super().__init__(controls, [[self.figure]])
        self.follow_length("position", lambda result: len(result.labels))

    def compute(self, text: str, position: int, new: str, kind: str, width: int) -> Leak:
        ids = self.reading.ids(text)
        self._refuse_all_but_one_token(new, like=ids[min(position, len(ids)) - 1])
        return leak(self.reading, text, position, new, kind, width)

    def _refuse_all_but_one_token(self, new: str, like: int) -> None:
        if not new.strip():
            raise ReaderMistake(_("Type the token that should stand there."))
        count = len(spelled(self.reading, new, like))
        if count != 1:
            text = ngettext(
                "“{new}” makes {count} token; exactly one is needed here.",
                "“{new}” makes {count} tokens; exactly one is needed here.",
                count,
            )
            raise ReaderMistake(text.format(new=new, count=count))

    def show(self, result: Leak) -> None:
        self.controls["width"].disabled = result.kind not in SIZED
        if result.labels != self._labels:
            self._draw(result.labels)
        shade, warning = style.ROLES["head"], style.ACCENTS["warning"]
        for place, (bar, moved) in enumerate(zip(self.bars, result.moved)):
            bar.set_height(float(moved))
            bar.set_color(warning if place < result.changed else shade)
        self.here.set_x(result.changed - 0.45)
        self.figure.refresh()

    @style.building()
    def _draw(self, labels: list[str]) -> None:
        """The picture for these tokens; the bars move, all else stays until the tokens change."""
        self._labels = labels
        self.figure.clear()
        self.axes = axes = self.figure.figure.add_subplot()
        places = range(len(labels))
        self.bars = axes.bar(places, np.zeros(len(labels)), width=0.7)
        self.here = axes.axvspan(-0.45, 0.45, color=style.LIGHT.grid, zorder=0)
        axes.set_xticks(places, labels=labels, rotation=50, ha="right", rotation_mode="anchor")
        axes.set(xlim=(-0.7, len(labels) - 0.3), ylim=(0, 1.02), ylabel=_("movement of\nthe prediction"))
        self.figure.moving(*self.bars, self.here, axes.spines["bottom"])

    def sentence(self, result: Leak) -> str:
        before, later = result.moved[: result.changed], result.moved[result.changed :]
        text = _("Token {place}, “{old}”, becomes “{new}”.").format(
            place=result.changed + 1, old=result.labels[result.changed].strip(), new=result.new.strip()
        )
        if result.new.strip() == result.labels[result.changed].strip("␣· "):
            return text + " " + _("That is the same token: nothing can move.")
        if not before.any():
            return f"{text} {self._nothing_leaks(len(before), later)}"
        leaks = ngettext(
            "{leaks} of the {before} predictions before it moves as well: it has seen the future.",
            "{leaks} of the {before} predictions before it move as well: they have seen the future.",
            len(before),
        ).format(leaks=np.count_nonzero(before), before=len(before))
        if len(before) == 1:
            leaks = _("The prediction before it moves as well: it has seen the future.")
        seen = _("By more than {visible}: {seen} of {before}.").format(
            visible=VISIBLE, seen=visibly(before), before=len(before)
        )
        return f"{text} {leaks} {seen} " + _("A loss measured like this would be cheating.")

    @staticmethod
    def _nothing_leaks(before: int, later: np.ndarray) -> str:
        still = ngettext(
            "The prediction before it stays exactly as it was;",
            "The {before} predictions before it stay exactly as they were;",
            before,
        )
        move = ngettext(
            "from it on, {seen} of {later} moves by more than {visible}.",
            "from it on, {seen} of {later} move by more than {visible}.",
            visibly(later),
        )
        return f"{still} {move}".format(before=before, seen=visibly(later), later=len(later), visible=VISIBLE)


# ---- copying the future ----

KIND_COLOURS = {MASKED: style.ROLES["attention"], UNMASKED: style.ACCENTS["warning"]}


class CopyingTheFuture(LongWork):
    """Two small trainings, with the causal mask and without: their losses, and what each model writes."""

    def __init__(self, pretrained=None):
        self.reading = Reading(pretrained)
        self.floor = self.reading.pretrained.about["validation"]["floor"]
        self.figure = LiveFigure(8.0, 3.3)
        self._draw()
        controls = {"step": int_slider(_("training step"), EVERY, STEPS, STEPS, EVERY)}
        super().__init__(controls, [[self.figure]])

    compute = staticmethod(future_after)

    def _draw(self) -> None:
        axes = self.figure.figure.add_subplot(xlim=(0, STEPS), ylim=(0, 7.2))
        axes.set(xlabel=_("training step"), ylabel=_("loss (nats per token)"))
        axes.grid(True)
        axes.axhline(self.floor, color=style.LIGHT.soft, linewidth=1, linestyle=(0, (4, 2)))
        small = {"fontsize": style.SMALL_SIZE, "color": style.LIGHT.soft}
        axes.text(4, self.floor - 0.1, _("floor of the grammar"), va="top", **small)
        names = {MASKED: _("with the mask"), UNMASKED: _("without a mask")}
        self.marks, self.lines = {}, {}
        middles = (np.arange(STEPS // EVERY) + 0.5) * EVERY
        for kind, losses in future_after(STEPS).losses.items():
            colour = KIND_COLOURS[kind]
            axes.plot(middles, losses, color=colour, label=names[kind])
            (self.marks[kind],) = axes.plot([], [], "o", color=colour, markersize=8, clip_on=False)
        for kind in self.marks:
            (self.lines[kind],) = axes.plot([], [], ".", color=style.LIGHT.ink, markersize=4)
        self.lines[MASKED].set_label(_("your run"))
        axes.legend(loc="upper right")
        self.figure.moving(*self.marks.values(), *self.lines.values())

    def show(self, result: Future) -> None:
        for kind, mark in self.marks.items():
            mark.set_data([result.step - EVERY / 2], [result.loss(kind)])
        self._show_own()

    def _show_own(self) -> None:
        for kind, line in self.lines.items():
            means = averaged([one.losses[kind] for one in self.own])
            line.set_data((np.arange(len(means)) + 0.5) * EVERY, means)
        self.figure.refresh()

    def sentence(self, result: Future) -> str:
        text = _("Step {step}: loss {masked} with the mask, {unmasked} without.").format(
            step=result.step, masked=number(result.loss(MASKED)), unmasked=number(result.loss(UNMASKED))
        )
        cheated = result.loss(UNMASKED) < self.floor
        text += " " + (
            _("Without knowing the future, nobody gets below the floor of {floor}.")
            if cheated
            else _("A model that knows the grammar, but not the future, gets down to {floor} at best.")
        ).format(floor=number(self.floor))
        lines = [text, *self._written(result.texts)]
        if self.own:
            step = len(self.own)
            lines.append(_("Your run: step {step} of {steps}.").format(step=step, steps=STEPS))
            lines += self._written(next((one.texts for one in reversed(self.own) if one.texts), {}))
        return "\n".join(lines)

    @staticmethod
    def _written(texts: dict[str, str]) -> list[str]:
        names = {MASKED: _("With the mask it writes: {text}"), UNMASKED: _("Without it writes: {text}")}
        return [names[kind].format(text=text) for kind, text in texts.items()]

    # ---- the reader's own run ----

    def work(self) -> Iterator[Both]:
        """Both trainings, side by side."""
        return train_both(self.reading)

    def forget(self) -> None:
        """Put away the steps of an earlier run."""
        self.own: list[Both] = []

    def follow(self, both: Both) -> None:
        """Keep a step, and show where a text was due."""
        self.own.append(both)
        if both.texts:
            self._show_own()
            self.say(self.sentence(self.result))

    def reset(self) -> None:
        """Put the slider back to where it began, and take the reader's own run away."""
        self.end()
        super().reset()


# ---- in the right place: before softmax ----


class BeforeOrAfter(Explorer):
    """Move a score that should be hidden: masked after softmax, it still changes the visible weights."""

    def __init__(self):
        self.figure = LiveFigure(7.0, 2.9)
        self._draw()
        super().__init__({"hidden": slider(_("hidden score"), -4, 8, 2, 0.5)}, [[self.figure]])

    compute = staticmethod(masked_before_and_after)

    def _draw(self) -> None:
        axes = self.figure.figure.subplots(1, 2, sharey=True)
        names = [_("token 1"), _("token 2"), _("token 3\n(hidden)")]
        self.bars = []
        for ax, title, colour in zip(
            axes,
            (_("masked before softmax"), _("masked after softmax: wrong")),
            (style.ROLES["attention"], style.ACCENTS["warning"]),
        ):
            look = {"fontsize": style.TEXT_SIZE, "color": colour, "tick_label": names}
            self.bars.append(LabelledBars(self.figure, ax, 3, 0.6, gap=0.02, **look))
            ax.set(ylim=(0, 1.12), title=title)

    def show(self, result: Places) -> None:
        for bars, weights in zip(self.bars, (result.before, result.after)):
            bars.show(weights.tolist(), map(number, weights))
        self.figure.refresh()

    def sentence(self, result: Places) -> str:
        return _(
            "Scores 1, 2 and, hidden, {hidden}. Masked before softmax the weights are {before}, whatever is "
            "hidden. Masked afterwards they are {after}: together only {total}, and the hidden score "
            "shines through."
        ).format(
            hidden=number(result.hidden, 1), before=vector(result.before), after=vector(result.after),
            total=number(result.after.sum()),
        )  # fmt: skip
