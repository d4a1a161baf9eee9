"""Live views of 08_decoder."""

from functools import lru_cache

import numpy as np

from ...language import _, ngettext
from ...live import style
from ...live.bars import LabelledBars
from ...live.controls import checkbox, dropdown, int_slider, text_input
from ...live.explorer import Explorer
from ...live.figure import LiveFigure
from ...live.matrix import MatrixView
from ...live.numbers import number, percent, percent_label
from ...pretrained import Pretrained
from ..reading import Reading, example_gift, example_story
from .computation import (
    LAYER_TOP,
    LIMIT,
    PARTS,
    TOP,
    Ablated,
    Continued,
    Prediction,
    ablated,
    continued,
    greedy,
    held_out,
    predict,
    shown_layers,
)

# ---- logits at each position, and what each layer would answer ----


def _layer_name(layer: int, count: int) -> str:
    if layer == 0:
        return _("embeddings only")
    if layer == count - 1:
        return _("after block {block} (answer)").format(block=layer)
    return _("after block {block}").format(block=layer)


class NextToken(Explorer):
    """For the reader's sentence: the best candidates' logits by position, and each layer's own answer."""

    def __init__(self, pretrained: Pretrained | None = None, text: str | None = None):
        self.reading = Reading(pretrained)
        text = text or example_story().rpartition(" sie")[0]
        config = self.reading.model.config
        self.logits = MatrixView(
            np.zeros((1, TOP)), kind="diverging", digits=1, cell_size=34, row_axis=_("position"),
            column_axis=_("candidate"), words=_("After “{row}”, “{column}” has the logit {value}"),
        )  # fmt: skip
        self.figure = LiveFigure(8.6, 2.5)
        self.layers = shown_layers(config.blocks + 1)
        self._draw_layers(config.blocks + 1)
        controls = {
            "text": text_input(_("sentence"), text),
            "position": int_slider(
                _("seen from token"), 1, config.context_length, len(self.reading.ids(text))
            ),
        }
        super().__init__(controls, [[self.logits], [self.figure]])
        self.follow_clicks(self.logits, "position")
        self.follow_length("position", lambda result: len(result.labels))

    def compute(self, text: str, position: int) -> Prediction:
        return predict(self.reading, text, position)

    def _draw_layers(self, count: int) -> None:
        axes = np.atleast_1d(self.figure.figure.subplots(1, len(self.layers), sharey=True))
        self.bars = []
        for layer, ax in zip(self.layers, axes):
            last = layer == count - 1
            ax.set(title=_layer_name(layer, count), xlim=(0, 1.0), ylim=(LAYER_TOP - 0.5, -0.5), yticks=[])
            ax.set_xticks([0, 0.5, 1], labels=["0", "0.5", "1"])
            colour = style.ROLES["head"] if last else style.ROLES["residual"]
            look = {"horizontal": True, "color": colour}
            self.bars.append(LabelledBars(self.figure, ax, LAYER_TOP, 0.72, gap=0.02, **look))

    def show(self, result: Prediction) -> None:
        self.logits.update(
            values=result.logits, rows=result.labels, columns=result.candidates, selected=result.position,
        )  # fmt: skip
        for bars, layer in zip(self.bars, self.layers):
            tokens, shares = zip(*result.layers[layer])
            bars.show(shares, [f"{token}  {percent_label(share)}" for token, share in zip(tokens, shares)])
            # The last layer's bars are light in both themes.
            light = layer == len(result.layers) - 1
            on_bar = "#000000" if light else self.figure.colour(style.LIGHT.paper)
            for text, share in zip(bars.texts, shares):
                if share > 0.55:  # a long bar has the room, beside it there is none
                    text.set(x=0.03, color=on_bar)
        self.figure.refresh()

    def sentence(self, result: Prediction) -> str:
        best, second = result.candidates[:2]
        p, q = result.probabilities[:2]
        text = ngettext(
            "{T} token gives {T} row of {V} logits.",
            "{T} tokens give {T} rows of {V} logits each.",
            len(result.labels),
        ).format(T=len(result.labels), V=result.vocab_size)
        text += " " + _(
            "After token {place}, “{token}”, the most probable next token is “{best}” ({p}), then “{second}” "
            "({q})."
        ).format(
            place=result.position + 1, token=result.labels[result.position], best=best, p=percent(p),
            second=second, q=percent(q),
        )  # fmt: skip
        agree = [answers[0][0] == best for answers in result.layers]
        # Where several tokens are alike, even the last layer may name another of them.
        first = next((i for i in range(len(agree)) if all(agree[i:])), len(agree) - 1)
        return text + " " + _("From here on this answer leads: {layer}.").format(
            layer=_layer_name(first, len(result.layers))
        )  # fmt: skip


# ---- generation, one token at a time ----


class Generation(Explorer):
    """Continue a text step by step: append the last position's most probable token, then read again."""

    def __init__(self, pretrained: Pretrained | None = None):
        self.reading = Reading(pretrained)
        self._greedy = lru_cache(maxsize=64)(lambda text: greedy(self.reading, text))
        self.figure = LiveFigure(7.4, 2.9)
        self._draw()
        controls = {
            "text": text_input(_("beginning"), example_gift()),
            "steps": int_slider(_("tokens appended"), 0, LIMIT, 3),
        }
        super().__init__(controls, [[self.figure]])

    def compute(self, text: str, steps: int) -> Continued:
        return continued(self.reading, text, steps, self._greedy(text))

    def _draw(self) -> None:
        axes = self.figure.figure.add_subplot(xlim=(-0.6, TOP - 0.4), ylim=(0, 1.12), xticks=[])
        axes.set(title=_("the next token: the ten most probable"), ylabel=_("probability"))
        self.bars = LabelledBars(self.figure, axes, TOP, 0.7, gap=0.01, color=style.ROLES["head"])
        self.bars.texts[0].set_fontweight("bold")  # the one that is appended

    def show(self, result: Continued) -> None:
        tokens, shares = zip(*result.candidates)
        self.bars.show(shares, [f"{token}\n{percent_label(share)}" for token, share in zip(tokens, shares)])
        self.figure.refresh()

    def sentence(self, result: Continued) -> str:
        text = ngettext(
            "After {steps} step: {prompt} | {continuation}",
            "After {steps} steps: {prompt} | {continuation}",
            result.steps,
        ).format(steps=result.steps, prompt=result.prompt, continuation=result.continuation)
        if result.reason == "end":
            return text + "\n" + _("The model has chosen the end token: the story is over.")
        if result.reason == "limit":
            ending = _("The limit of {limit} tokens is reached: broken off, not finished.")
            return text + "\n" + ending.format(limit=LIMIT)
        token, share = result.candidates[0]
        return text + "\n" + _(
            "The last position decides: next comes “{token}” with {share}. "
            "{used} of {context} positions are used."
        ).format(token=token, share=percent(share), used=result.used, context=result.context)  # fmt: skip


# ---- the ablation board ----


def head_name(block: int, head: int) -> str:
    """What a head is called; block and head are counted from 0."""
    return _("block {block}, head {head}").format(block=block + 1, head=head + 1)


def part_names() -> dict[str, str]:
    """What the switches for PARTS are called."""
    return {
        "attention": _("attention off"),
        "mlp": _("MLP off"),
        "residual": _("residual path off"),
        "norms": _("norms off"),
        "positions": _("positions off"),
    }


class AblationBoard(Explorer):
    """Switch parts of the trained model off and see what that does to its held-out loss and its text."""

    def __init__(self, pretrained: Pretrained | None = None):
        self.reading = Reading(pretrained)
        self.prompt = example_gift()
        self.stories = held_out(self.reading)
        self.figure = LiveFigure(7.6, 2.6)
        self._draw()
        config = self.reading.model.config
        heads = [(_("no head"), ())]  # a list shows nothing at all for the value None
        heads += [(head_name(b, h), (b, h)) for b in range(config.blocks) for h in range(config.heads)]
        controls = {name: checkbox(part_names()[name]) for name in PARTS}
        controls["head"] = dropdown(_("one head off"), heads, ())
        super().__init__(controls, [[self.figure]])

    def compute(self, head: tuple[int, int] | tuple[()] = (), **parts: bool) -> Ablated:
        off = [name for name in PARTS if parts.get(name)]
        return ablated(self.reading, self.stories.batch, self.prompt, off, head or None)

    def _draw(self) -> None:
        axes = self.figure.figure.add_subplot()
        names = [_("floor of the grammar"), _("intact"), _("with this switched off"), _("all tokens alike")]
        colours = [style.LIGHT.grid, style.LIGHT.soft, style.ACCENTS["warning"], style.LIGHT.grid]
        floor, intact, uniform = self.stories.floor, self.stories.intact, self.stories.uniform
        self.bars = axes.barh(range(4), [floor, intact, intact, uniform], color=colours, height=0.62)
        axes.set_yticks(range(4), labels=names)
        axes.invert_yaxis()
        axes.set_xlim(0, 16)
        axes.set_xlabel(
            _("loss on {count} held-out stories (nats per token)").format(count=len(self.stories.batch.ids))
        )
        for i, value in ((0, floor), (1, intact), (3, uniform)):
            axes.text(value + 0.1, i, number(value), va="center", fontsize=style.SMALL_SIZE)
        self.value = axes.text(0, 2, "", va="center", fontsize=style.SMALL_SIZE)
        self.figure.moving(self.bars[2], self.value)

    def show(self, result: Ablated) -> None:
        self.bars[2].set_width(min(result.loss, 15))
        self.value.set_text(number(result.loss))
        self.value.set_x(min(result.loss, 15) + 0.1)
        self.figure.refresh()

    def sentence(self, result: Ablated) -> str:
        return f"{self._loss_in_words(result)}\n" + _("It continues like this: {text}").format(
            text=result.text
        )

    def _loss_in_words(self, result: Ablated) -> str:
        loss, intact, uniform = result.loss, self.stories.intact, self.stories.uniform
        off = [part_names()[part] for part in result.parts]
        if result.head:
            off.append(head_name(*result.head))
        if not off:
            return _("Nothing is switched off: loss {loss}, the floor is {floor}.").format(
                loss=number(loss), floor=number(self.stories.floor)
            )
        text = _("Off: {parts}. The loss goes from {intact} to {loss}.").format(
            parts=", ".join(off), intact=number(intact), loss=number(loss)
        )
        if loss > uniform:
            text += " " + _("That is worse than guessing blindly ({uniform}).").format(
                uniform=number(uniform)
            )
        elif loss - intact < 0.02:
            text += " " + _("The model hardly misses it on these stories.")
        return text
