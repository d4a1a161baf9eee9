"""Live views of 10_sampling."""

from collections.abc import Iterator

import numpy as np
import torch

from ... import sampling
from ...language import _, ngettext
from ...live import style
from ...live.bars import LabelledBars, set_heights
from ...live.controls import button, int_slider, int_text, selection_slider, slider, text_input
from ...live.explorer import Explorer
from ...live.figure import LiveFigure
from ...live.numbers import number, percent, percent_label
from ...live.running import Runner
from ...pretrained import Pretrained
from ..reading import Reading, example_gift
from .computation import (
    ALL,
    SHOWN,
    Drawn,
    Filtered,
    Written,
    drawn,
    expected_deviation,
    filtered,
    written,
)


def words() -> list[str]:
    """Ten words that can follow "The dog"; their logits are LOGITS."""
    return [
        _("sleeps"), _("barks"), _("runs"), _("eats"), _("dreams"), _("plays"), _("sings"), _("thinks"),
        _("flies"), _("rains"),
    ]  # fmt: skip


# ---- three filters in a row ----


class Filters(Explorer):
    """Temperature, top-k and top-p, one after the other, and the tokens that survive each."""

    def __init__(self):
        self.figure = LiveFigure(9.0, 3.4)
        self._draw()
        controls = {
            "temperature": slider(_("temperature"), 0, 2, 0.8, 0.1),
            "top_k": int_slider(_("top-k"), 1, ALL, 6),
            "top_p": slider(_("top-p"), 0, 1, 0.9, 0.05),
        }
        super().__init__(controls, [[self.figure]])

    compute = staticmethod(filtered)

    def _draw(self) -> None:
        titles = [_("softmax alone"), _("after temperature"), _("after top-k"), _("after top-p")]
        self.bars = []
        for ax, title in zip(self.figure.figure.subplots(1, 4, sharey=True), titles):
            ax.set(xlim=(0, 1.02), ylim=(ALL - 0.4, -0.6), title=title)
            ax.set_xticks([0, 0.5, 1], labels=["0", "0.5", "1"])
            ax.set_yticks(range(ALL), labels=words())
            ax.tick_params(axis="y", length=0)
            look = {"horizontal": True, "color": style.ROLES["head"]}
            self.bars.append(LabelledBars(self.figure, ax, ALL, 0.7, gap=0.02, **look))

    def show(self, result: Filtered) -> None:
        for bars, shares, alive in zip(self.bars, result.probabilities, result.survives):
            bars.show(shares, [percent_label(share) if lives else "✗" for share, lives in zip(shares, alive)])
            for text, share in zip(bars.texts, shares):
                if share > 0.72:
                    text.set(x=share - 0.02, ha="right")
        self.figure.refresh()

    def sentence(self, result: Filtered) -> str:
        names, alive = words(), result.survives.sum(axis=1)
        text = _(
            "Entropy {before} before, {after} after temperature. Top-k leaves {k}, top-p then leaves {p} of "
            "{all} tokens."
        ).format(
            before=number(result.entropies[0]), after=number(result.entropies[1]), k=alive[2], p=alive[3],
            all=ALL,
        )  # fmt: skip
        if alive[3] == 1:
            return text + " " + _("Only “{word}” is left: nothing is left to chance.").format(
                word=names[int(result.probabilities[3].argmax())]
            )  # fmt: skip
        rest = _("“{word}” is drawn with {share}, “{last}” is the last that still has a chance.")
        return text + " " + rest.format(
            word=names[0], share=percent(result.probabilities[3][0]),
            last=names[int(np.flatnonzero(result.survives[3])[-1])],
        )  # fmt: skip


# ---- draws beside theory ----


class Draws(Explorer):
    """How often each token is really drawn, beside its probability."""

    def __init__(self):
        self.figure = LiveFigure(7.6, 3.1)
        self._draw()
        controls = {
            "temperature": slider(_("temperature"), 0, 2, 1, 0.1),
            "draws": selection_slider(_("draws"), (10, 30, 100, 300, 1000, 10000), 100),
            "seed": int_slider(_("dice (seed)"), 1, 50, 32),
        }
        super().__init__(controls, [[self.figure]])

    compute = staticmethod(drawn)

    def _draw(self) -> None:
        self.axes = axes = self.figure.figure.add_subplot(ylabel=_("share (axis up to {top})"))
        axes.yaxis.set_major_formatter("{x:.2f}")  # equally wide at every scale
        places = np.arange(ALL)
        axes.set_xticks(places, labels=words(), rotation=30, ha="right", rotation_mode="anchor")
        theory, counted = style.LIGHT.soft, style.ROLES["head"]
        self.theory = axes.bar(places - 0.2, np.zeros(ALL), 0.38, color=theory, label=_("probability"))
        self.counted = axes.bar(places + 0.2, np.zeros(ALL), 0.38, color=counted, label=_("drawn"))
        axes.legend(loc="upper right")
        self.figure.moving(*self.theory, *self.counted, axes.yaxis, axes.spines["bottom"])

    def show(self, result: Drawn) -> None:
        set_heights(self.theory, result.probabilities)
        set_heights(self.counted, result.shares)
        top = 1.05 * max(result.probabilities.max(), result.shares.max())
        self.axes.set_ylim(0, top)
        self.axes.yaxis.label.set_text(_("share (axis up to {top})").format(top=f"{top:.2f}"))
        self.figure.refresh()

    def sentence(self, result: Drawn) -> str:
        gap = np.abs(result.probabilities - result.shares)
        worst = int(gap.argmax())
        p = float(result.probabilities[worst])
        return _(
            "{draws} draws: “{word}” differs most, drawn {share} at a probability of {theory}. "
                "The expected difference is about {expected} percentage points."
        ).format(
            draws=result.draws, word=words()[worst], share=percent(result.shares[worst], 1),
            theory=percent(p, 1), expected=f"{100 * expected_deviation(p, result.draws):.1f}",
        )  # fmt: skip


# ---- the loop ----


class Loop(Explorer):
    """Draw the next token, append it, read again: step by step, or on and on until the end or the limit."""

    def __init__(self, pretrained: Pretrained | None = None):
        self.reading = Reading(pretrained)
        self._drawn: list[sampling.Step] = []
        self._written_for: tuple | None = None
        self.figure = LiveFigure(7.6, 2.9)
        self._draw()
        self.next = button(_("next token"), "step-forward")
        self.run = button(_("run on"), "play")
        self.halt = button(_("stop"), "stop")
        controls = {
            "text": text_input(_("beginning"), example_gift()),
            "temperature": slider(_("temperature"), 0, 2, 1, 0.1),
            "top_k": int_slider(_("top-k"), 1, 50, 50),
            "top_p": slider(_("top-p"), 0, 1, 1, 0.05),
            "limit": int_text(_("at most (tokens)"), 1, 100, 40),
            "seed": int_text(_("dice (seed)"), 1, 50, 1),
        }
        self.runner = Runner(lambda _item: self.update(), on_error=self.tell)
        super().__init__(controls, [[self.figure]], [self.next, self.run, self.halt])
        self.next.on_click(self.guarded(lambda _button: self.step()))
        self.run.on_click(self.guarded(lambda _button: self.run_on()))
        self.halt.on_click(self.guarded(lambda _button: self.runner.stop()))

    def compute(
        self, text: str, temperature: float, top_k: int, top_p: float, limit: int, seed: int
    ) -> Written:
        settings, filters = (text, temperature, top_k, top_p, limit, seed), (temperature, top_k, top_p)
        if settings != self._written_for:  # other settings, another text: stop and begin anew
            self.runner.stop()
            self._written_for, self._drawn, self._steps = None, [], iter(())
            ids, dice = self.reading.ids(text), torch.Generator().manual_seed(seed)
            self._steps = sampling.generate(
                self.reading.model, ids, limit, *filters, eos=self.reading.end, generator=dice
            )
            self._written_for = settings
        return written(self.reading, text, self._drawn, *filters)

    def reset(self) -> None:
        """Put every control back to where it began, and write anew even if none had moved."""
        self._written_for = None
        super().reset()

    def step(self) -> bool:
        """Draw one token; False if the text is finished."""
        is_drawn = next(self.rest(), None) is not None
        if is_drawn:
            self.update()
        return is_drawn

    def run_on(self) -> None:
        """Go on drawing without clicks; the page stays usable, and Stop ends it."""
        self.settle()
        self.runner.start(self.rest())

    def rest(self) -> Iterator[sampling.Step]:
        """Draw token after token until the end; an iterator, so that it can be stopped between two."""
        for step in self._steps:
            self._drawn.append(step)
            yield step

    def _draw(self) -> None:
        axes = self.figure.figure.add_subplot(xlim=(-0.6, SHOWN - 0.4), ylim=(0, 1.18), xticks=[])
        axes.set(title=_("what can be drawn next"), ylabel=_("probability"))
        self.bars = LabelledBars(self.figure, axes, SHOWN, 0.7, gap=0.01, color=style.ROLES["head"])

    def show(self, result: Written) -> None:
        labels = [f"{token}\n{percent_label(p)}" if p > 0 else "✗" for token, p in result.candidates]
        self.bars.show([share for _token, share in result.candidates], labels)
        self.figure.refresh()

    def sentence(self, result: Written) -> str:
        text = f"{result.prompt} |{result.text}\n"
        if result.reason == "end":
            return text + ngettext(
                "Ended by the end token, after {count} token.",
                "Ended by the end token, after {count} tokens.",
                result.count,
            ).format(count=result.count)
        if result.reason == "limit":
            return text + ngettext(
                "Ended by the limit, after {count} token: broken off.",
                "Ended by the limit, after {count} tokens: broken off.",
                result.count,
            ).format(count=result.count)
        return text + ngettext(
            "{count} drawn. {survivors} token can come next; the window holds {window} of {context}.",
            "{count} drawn. {survivors} tokens can come next; the window holds {window} of {context}.",
            result.survivors,
        ).format(
            count=result.count, survivors=result.survivors, window=result.window, context=result.context
        )  # fmt: skip

    def close(self) -> None:
        """Stop what runs, then let go of the widgets."""
        self.runner.stop()
        super().close()
