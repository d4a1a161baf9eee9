"""Live views of 04_self_attention."""

import math

import numpy as np
import torch
from matplotlib.axes import Axes
from torch import Tensor

from ... import model
from ...language import _, ngettext
from ...live import style
from ...live.bars import set_heights
from ...live.controls import checkbox, dropdown, int_slider, selection_slider, text_input
from ...live.explorer import Explorer
from ...live.figure import LiveFigure
from ...live.matrix import MatrixView
from ...live.numbers import number, percent, vector
from ...pretrained import Pretrained
from ..reading import Reading, before_the_pronoun, example_story
from .computation import (
    D_SPLIT,
    KEYS,
    SENTENCE,
    T_SPLIT,
    WIDTHS,
    AllHeads,
    Equation,
    Scaling,
    Split,
    Steps,
    all_heads,
    equation,
    scaling,
    split_and_merge,
)

# ---- the five steps on the sentence of the guide ----


class FiveSteps(Explorer):
    """Walk from the embeddings to the context, each step as an equation of matrices."""

    def __init__(self):
        tokens, parts = list(SENTENCE), ["1", "2", "3"]
        look = {"kind": "diverging", "cell_size": 42, "legend": False}
        self.left = MatrixView(np.zeros((5, 3)), rows=tokens, columns=parts, **look)
        self.right = MatrixView(np.zeros((3, 3)), rows=parts, columns=parts, **look)
        self.out = MatrixView(np.zeros((5, 3)), rows=tokens, columns=parts, **look)
        controls = {
            "gives": selection_slider(_("step"), self._stops(), "scores"),
            "query": dropdown(_("seen from"), [(t, i) for i, t in enumerate(SENTENCE)], 4),
        }
        super().__init__(controls, [[self.left, self.right, self.out]])

    @staticmethod
    def _stops() -> list[tuple[str, str]]:
        """The slider's stops, numbered as the steps are in caption and text; step 1 has three parts."""
        labels = ("1: Q", "1: K", "1: V", _("2: scores"), _("3: scaling"), _("4: softmax"), _("5: context"))
        return list(zip(labels, ("q", "k", "v", "scores", "scaled", "weights", "context")))

    compute = staticmethod(equation)

    def show(self, result: Equation) -> None:
        left, right, out = self._matrices(result.all)[result.gives]
        softmax = result.gives == "weights"
        # In the products the whole right factor takes part, in K and V no row stands for the query.
        times, equals = ("", "") if softmax else ("· ", "= ")
        self._fill(self.left, *left, selected=result.query)
        self._fill(self.right, times + right[0], *right[1:], selected=result.query if softmax else -1)
        self._fill(self.out, equals + out[0], *out[1:], selected=result.query)

    @staticmethod
    def _matrices(s: Steps) -> dict[str, tuple]:
        """Two factors and what they make, for each step: their titles, values, rows and columns."""
        tokens, parts = list(SENTENCE), ["1", "2", "3"]
        x, q, v = ("X", s.x, tokens, parts), ("Q", s.q, tokens, parts), ("V", s.v, tokens, parts)
        scores, scaled = ("Q Kᵀ", s.scores, tokens, tokens), ("Q Kᵀ / √dₖ", s.scaled, tokens, tokens)
        root = torch.tensor([[1 / math.sqrt(3)]], dtype=torch.float32)
        sums = (_("sum of the row"), s.weights.sum(-1, keepdim=True), tokens, ["Σ"])
        weights = (s.weights, tokens, tokens)
        return {
            "q": (x, ("W_Q", s.W_q, parts, parts), q),
            "k": (x, ("W_K", s.W_k, parts, parts), ("K", s.k, tokens, parts)),
            "v": (x, ("W_V", s.W_v, parts, parts), v),
            "scores": (q, ("Kᵀ", s.k.T, parts, tokens), scores),
            "scaled": (scores, ("1 / √dₖ", root, ["·"], ["·"]), scaled),
            "weights": (scaled, sums, (_("softmax: weights"), *weights)),
            "context": ((_("weights"), *weights), v, (_("context"), s.context, tokens, parts)),
        }

    @staticmethod
    def _fill(view: MatrixView, title: str, values: Tensor, rows: list, columns: list, selected: int) -> None:
        positive = bool((values >= 0).all()) and float(values.max()) <= 1.001
        view.update(
            values=values.numpy(), rows=rows, columns=columns, titles=[title], selected=selected,
            kind="sequential" if positive else "diverging", limits=(0.0, 1.0) if positive else None,
            alt=title,
        )  # fmt: skip

    def described(self) -> list:
        return []  # each matrix goes by its title

    def sentence(self, result: Equation) -> str:
        s, i = result.all, result.query
        token = SENTENCE[i]
        best = int(s.scores[i].argmax())
        texts = {
            "q": _(
                "Step 1, query: x = {x} of “{token}” times W_Q gives q = {out}: what this "
                "position is looking for."
            ),
            "k": _(
                "Step 1, key: x = {x} of “{token}” times W_K gives k = {out}: "
                "what this position can be found by."
            ),
            "v": _(
                "Step 1, value: x = {x} of “{token}” times W_V gives v = {out}: what this position passes on."
            ),
            "scores": _(
                "Step 2, scores: q of “{token}” against each key gives {row}. "
                "The largest is that for “{best}”."
            ),
            "scaled": _("Step 3, scaling: divided by √3 = 1.73, the scores of “{token}” become {row}."),
            "weights": _("Step 4, softmax: the scores of “{token}” become the weights {row}. They sum to 1."),
            "context": _(
                "Step 5, context: the values, weighted with {row}, give “{token}” the new list {out}."
            ),
        }
        out = getattr(s, result.gives)[i]
        return texts[result.gives].format(
            token=token, best=SENTENCE[best], x=vector(s.x[i], 4), out=vector(out),
            row=vector(s.weights[i] if result.gives == "context" else out),
        )  # fmt: skip


# ---- why divide by the root of d_k ----


class WhyScale(Explorer):
    """The same random queries and keys, without and with division by the root of d_k."""

    def __init__(self):
        self.curve = [scaling(width) for width in WIDTHS]
        self.figure = LiveFigure(8.4, 3.1)
        self._draw()
        controls = {"width": selection_slider(_("width dₖ"), WIDTHS, 64)}
        super().__init__(controls, [[self.figure]])

    compute = staticmethod(scaling)

    def _draw(self) -> None:
        spread, bars = self.figure.figure.subplots(1, 2, width_ratios=[1, 1.25])
        self._draw_spread(spread, style.LIGHT.soft, style.ROLES["attention"])
        self._draw_weights(bars, style.LIGHT.soft, style.ROLES["attention"])
        self.figure.moving(self.here, *self.raw, *self.kept)

    def _draw_spread(self, spread: Axes, raw: str, kept: str) -> None:
        style.log_axis(spread.yaxis)
        spread.set_xscale("log", base=2)
        spread.set_xticks([1, 8, 64, 512], labels=["1", "8", "64", "512"])
        spread.set_xticks([], minor=True)
        spread.set(ylim=(0.3, 40), xlabel=_("width dₖ"), title=_("spread of the scores"))
        spread.set_yticks([1, 10], labels=["1", "10"])
        spread.grid(True)
        dots = {"marker": "o", "markersize": 4}
        spread_raw, spread_scaled = zip(*((point.spread_raw, point.spread_scaled) for point in self.curve))
        spread.plot(WIDTHS, spread_raw, color=raw, label=_("q · k"), **dots)
        spread.plot(WIDTHS, spread_scaled, color=kept, label=_("q · k / √dₖ"), **dots)
        spread.legend(loc="upper left")
        (self.here,) = spread.plot([1, 1], [0.3, 40], color=style.LIGHT.ink, linewidth=1.2)

    def _draw_weights(self, bars: Axes, raw: str, kept: str) -> None:
        places = np.arange(KEYS)
        self.raw = bars.bar(places - 0.2, np.zeros(KEYS), 0.38, color=raw, label=_("without scaling"))
        self.kept = bars.bar(places + 0.2, np.zeros(KEYS), 0.38, color=kept, label=_("with 1 / √dₖ"))
        bars.set_xticks(places, labels=[str(i + 1) for i in places])
        bars.set(ylim=(0, 1), title=_("weights (mean)"))
        bars.set_xlabel(_("keys, from the largest weight to the smallest"))
        bars.legend(loc="upper right")

    def show(self, result: Scaling) -> None:
        self.here.set_xdata([result.width, result.width])
        set_heights(self.raw, result.weights_raw)
        set_heights(self.kept, result.weights_scaled)
        self.figure.refresh()

    def sentence(self, result: Scaling) -> str:
        return _(
            "dₖ = {width}: the scores spread by {raw} without scaling and by {kept} with it. On average the "
            "largest of {keys} weights is {top_raw} without and {top_kept} with; softmax still answers with "
            "a slope of {slope_raw} and {slope_kept} (at most 0.25)."
        ).format(
            width=result.width, raw=number(result.spread_raw, 1), kept=number(result.spread_scaled, 1),
            keys=KEYS, top_raw=percent(result.weights_raw[0]), top_kept=percent(result.weights_scaled[0]),
            slope_raw=number(result.slope_raw), slope_kept=number(result.slope_scaled),
        )  # fmt: skip


# ---- split into heads and merged again ----


class SplitHeads(Explorer):
    """Which numbers each head gets, and how they come together again."""

    def __init__(self):
        rows = [str(t + 1) for t in range(T_SPLIT)]
        columns = [str(d + 1) for d in range(D_SPLIT)]
        look = {"digits": 0, "limits": (100.0, 415.0), "legend": False, "row_axis": _("position")}
        words = _("{panel}: {value} stands in position {row}, component {column}")
        look |= {"cell_size": 36, "words": words}
        self.before, self.split, self.after = (
            MatrixView(np.zeros((T_SPLIT, D_SPLIT)), rows=rows, columns=columns, **look) for _view in range(3)
        )
        controls = {
            "heads": selection_slider(_("heads H"), (1, 2, 3, 4, 6, 12), 3),
            "transposed": checkbox(_("with transpose"), True),
        }
        super().__init__(controls, [[self.before], [self.split], [self.after]])

    compute = staticmethod(split_and_merge)

    def show(self, result: Split) -> None:
        H, _T, d = result.heads.shape
        self.before.update(values=result.x.numpy(), titles=[_("before: (T, D)")])
        self.split.update(
            values=result.heads.numpy(), columns=[str(i + 1) for i in range(d)],
            titles=[_("head {number}").format(number=h + 1) for h in range(H)],
        )  # fmt: skip
        title = _("merged again") if result.transposed else _("merged without transpose: wrong!")
        self.after.update(values=result.merged.numpy(), titles=[title])

    def sentence(self, result: Split) -> str:
        H, _T, d = result.heads.shape
        start = ngettext(
            "{D} components, {H} head that gets them all, at all {T} positions.",
            "{D} components, {H} heads with {d} of them each, at all {T} positions.",
            H,
        ).format(D=D_SPLIT, H=H, d=d, T=T_SPLIT)
        wrong = int((result.merged != result.x).sum())
        if wrong:
            end = _(
                "Merged without the transpose, {wrong} of {all} numbers stand in the wrong place, and the "
                "shape (T, D) is right all the same."
            ).format(wrong=wrong, all=T_SPLIT * D_SPLIT)
        elif not result.transposed:
            end = _("With a single head there is nothing to swap: the mistake cannot be seen.")
        else:
            end = _("Merged again, every number stands where it stood.")
        return f"{start} {end}"


# ---- all heads of a real model ----


class Heads(Explorer):
    """Type a sentence and see whom each head of a trained model looks at."""

    def __init__(self, pretrained: Pretrained | None = None):
        self.reading = Reading(pretrained)
        text = example_story()
        tokens = self.reading.labels(self.reading.ids(text))
        look = {
            "row_axis": _("looks"),
            "column_axis": _("at"),
            "limits": (0.0, 1.0),
            "cell_size": 30,
            "max_height": 580,
        }
        self.matrix = MatrixView(
            np.zeros((len(tokens), len(tokens))), rows=tokens, masked_legend=_("later, not allowed"),
            words=_("{panel}: “{row}” looks at “{column}” with {value}"),
            masked_words=_("“{row}” must not look at “{column}”: it comes later"), **look,
        )  # fmt: skip
        config = self.reading.model.config
        # Where the pronoun is foretold, one token before it stands, and the block whose head looks back at
        # article and noun.
        pronoun = len(self.reading.ids(before_the_pronoun()))
        block, _head = self.reading.known_head("pronoun")
        controls = {
            "text": text_input(_("sentence"), text),
            "block": int_slider(_("block"), 1, config.blocks, block + 1),
            "query": int_slider(_("seen from token"), 1, config.context_length, pronoun),
        }
        super().__init__(controls, [[self.matrix]])
        self.follow_clicks(self.matrix, "query")
        self.follow_length("query", lambda result: len(result.labels))

    def compute(self, text: str, block: int, query: int) -> AllHeads:
        return all_heads(self.reading, text, block, query)

    def show(self, result: AllHeads) -> None:
        H, T, _T = result.weights.shape
        self.matrix.update(
            values=result.weights, rows=result.labels, columns=result.labels, selected=result.query,
            allowed=model.causal_mask(T).numpy(),
            titles=[_("block {block}, head {head}").format(block=result.block, head=h + 1) for h in range(H)],
        )  # fmt: skip

    def sentence(self, result: AllHeads) -> str:
        token = result.labels[result.query]
        looks = _("head {head} at “{token}” ({share})")
        parts = [
            looks.format(head=head, token=result.labels[weights.argmax()], share=percent(weights.max()))
            for head, weights in enumerate(result.weights[:, result.query], start=1)
        ]
        return _("Token {place}, “{token}”, looks most: {parts}.").format(
            place=result.query + 1, token=token, parts="; ".join(parts)
        )
