"""Live views of 08_decoder."""

from functools import lru_cache

import numpy as np

from ...language import _, ngettext
from ...live import style
from ...live.bars import LabelledBars
from ...live.controls import checkbox, dropdown, int_slider, selection_slider, text_input
from ...live.diagram import draw_decoder, frame_part, part_at
from ...live.explorer import Explorer
from ...live.figure import LiveFigure
from ...live.matrix import MatrixView
from ...live.numbers import number, percent, percent_label, vector
from ...pretrained import Pretrained
from ..book import labels as plan_labels
from ..reading import Reading, before_the_pronoun, example_gift
from .computation import (
    INNER,
    LAYER_TOP,
    LIMIT,
    OF_CANDIDATES,
    OUTER,
    PARTS,
    TOP,
    Ablated,
    Continued,
    Prediction,
    Station,
    Stop,
    ablated,
    continued,
    greedy,
    held_out,
    predict,
    run,
    shown_layers,
    station,
    stops,
)

# ---- the way of the data, place by place ----


def stop_names() -> dict[str, str]:
    """What the places of the way are called where there is room for a word or two."""
    return {
        "ids": _("token ids"), "embedding": _("embedding + position"), "norm1": _("Norm₁"),
        "attention": _("attention"), "sum1": _("+ (first sum)"), "norm2": _("Norm₂"), "mlp": _("MLP"),
        "sum2": _("+ (second sum)"), "final_norm": _("last norm"), "head": _("output head"),
        "sampling": _("softmax"), "next": _("next token"),
    }  # fmt: skip


def what_happens() -> dict[str, str]:
    """One sentence on each place of the way."""
    return {
        "ids": _(
            "The tokenizer has made numbers of the text: each is the number of a row in the token table."
        ),
        "embedding": _(
            "The row of each token plus the row of its position: the list the first block begins with."
        ),
        "norm1": _(
            "Each list by itself is brought to mean 0 and spread 1, then gamma and beta: x stays as it is."
        ),
        "attention": _(
            "What each position has gathered from itself and earlier ones: a contribution, no sum yet."
        ),
        "sum1": _("The direct path plus the contribution: u = x + Attention(Norm₁(x))."),
        "norm2": _("The sum u is normalized, again each list by itself."),
        "mlp": _("At each position the same small net, from D to 4D and back: the second contribution."),
        "sum2": _("The direct path plus the contribution: y = u + MLP(Norm₂(u)). It leaves the block."),
        "final_norm": _("After the last block each list is normalized once more."),
        "head": _(
            "The output head makes V logits of each list. "
            "Shown are those of the ten best candidates at the end."
        ),
        "sampling": _("Softmax makes probabilities of the logits: positive, and each row adds up to 1."),
        "next": _(
            "The last row decides. Its token is appended, and the way begins again with one token more."
        ),
    }


class LivingPlan(Explorer):
    """Walk through the drawn decoder: at each place the true values of the reader's own text."""

    def __init__(self, pretrained=None, text: str | None = None):
        self.reading = Reading(pretrained)
        self._run = lru_cache(maxsize=16)(lambda text: run(self.reading, text))
        self.way = stops(self.reading.model.config.blocks)
        self.plan = LiveFigure(9.0, 1.95)
        self._draw()
        self.matrix = MatrixView(
            np.zeros((1, 1)), max_height=340, row_axis=_("token"), words=_("“{row}”, {column}: {value}")
        )
        text = text or before_the_pronoun()
        tokens = len(self.reading.ids(text))
        controls = {
            "text": text_input(_("text"), text),
            "stop": selection_slider(
                _("place"), [(self._name(stop), stop) for stop in self.way], self.way[0]
            ),
            "position": int_slider(_("seen from token"), 1, self.reading.context, tokens),
        }
        super().__init__(controls, [[self.plan], [self.matrix]])
        self.follow_clicks(self.matrix, "position")
        self.follow_length("position", lambda result: len(result.labels))
        self.plan.on_click(self.guarded(self._go))

    def compute(self, text: str, stop: Stop, position: int) -> Station:
        return station(self._run(text), stop, position)

    def _draw(self) -> None:
        self.axes = draw_decoder(self.plan.figure, plan_labels() | {"block": ""}, ())
        self.frames = {part: frame_part(self.axes, part) for part in (*OUTER, *INNER)}
        self.block = self.axes.text(2.92, 1.4, "", fontsize=style.SMALL_SIZE, va="bottom", fontweight="bold")
        self.plan.moving(*(artist for artists in self.frames.values() for artist in artists), self.block)

    def _go(self, x: float, y: float) -> None:
        """Go to the part that was clicked, in the block where we are; outside one, to that of the first."""
        part = part_at(*self._on_axes(x, y))
        here = self.controls["stop"].value.block or 0
        stop = Stop(part, here) if part in INNER else Stop(part)
        if stop in self.way:
            self.controls["stop"].value = stop

    def _on_axes(self, x: float, y: float) -> tuple[float, float]:
        pixels = x * self.plan.figure.bbox.width, y * self.plan.figure.bbox.height
        return tuple(self.axes.transData.inverted().transform(pixels))

    @staticmethod
    def _name(stop: Stop) -> str:
        name = stop_names()[stop.part]
        if stop.block is None:
            return name
        return _("block {block}: {part}").format(block=stop.block + 1, part=name)

    def show(self, result: Station) -> None:
        for part, artists in self.frames.items():
            for artist in artists:
                artist.set_visible(part == result.stop.part)
        block = result.stop.block
        self.block.set_text(
            _("{count} blocks").format(count=self.reading.model.config.blocks)
            if block is None
            else _("block {block} of {count}").format(block=block + 1, count=self.reading.model.config.blocks)
        )
        self.plan.refresh()
        self.matrix.update(
            values=result.values, rows=result.labels, selected=result.position, **self._look(result)
        )

    @staticmethod
    def _look(result: Station) -> dict:
        """How the values of a place are shown: as numbers, as probabilities, or as colours alone."""
        part = result.stop.part
        if part == "ids":
            return {"columns": [_("id")], "kind": "sequential", "limits": None, "digits": 0, "cell_size": 44,
                    "column_axis": ""}  # fmt: skip
        if part in OF_CANDIDATES:
            shares = part != "head"
            return {"columns": result.columns, "kind": "sequential" if shares else "diverging",
                    "limits": (0.0, 1.0) if shares else None, "digits": 2 if shares else 1, "cell_size": 44,
                    "column_axis": _("candidate")}  # fmt: skip
        return {"columns": result.columns, "kind": "diverging", "limits": None, "digits": -1, "cell_size": 13,
                "column_axis": _("component")}  # fmt: skip

    def sentence(self, result: Station) -> str:
        letters = {"ids": "(B, T)"} | dict.fromkeys(OF_CANDIDATES, "(B, T, V)")
        shape = f"{letters.get(result.stop.part, '(B, T, D)')} = {result.shape}"
        text = f"{self._name(result.stop)}, {shape}. {what_happens()[result.stop.part]}"
        return text + " " + self._row(result)

    @staticmethod
    def _row(result: Station) -> str:
        token, row = result.labels[result.position], result.values[result.position]
        if result.stop.part == "ids":
            return _("Token {place}, “{token}”, has the id {id}.").format(
                place=result.position + 1, token=token, id=int(row[0])
            )
        if result.stop.part in OF_CANDIDATES:
            best = int(row.argmax())
            value = number(row[best]) if result.stop.part == "head" else percent(row[best])
            return _(
                "After token {place}, “{token}”, the largest of them is that of “{best}”: {value}."
            ).format(place=result.position + 1, token=token, best=result.columns[best], value=value)
        return _(
            "The list of token {place}, “{token}”, is {length} long; it begins with {beginning}."
        ).format(
            place=result.position + 1,
            token=token,
            length=number(np.linalg.norm(row)),
            beginning=vector(row[:4]),
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
        text = text or before_the_pronoun()
        config = self.reading.model.config
        self.logits = MatrixView(
            np.zeros((1, TOP)), kind="diverging", digits=1, cell_size=34, max_height=330,
            row_axis=_("position"), column_axis=_("candidate"),
            words=_("After “{row}”, “{column}” has the logit {value}"),
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
            on_bar = "#000000" if light else style.LIGHT.paper
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
        "residual": _("direct paths off"),
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
        # Something is off from the beginning: the second head, whose absence the story shows.
        controls["head"] = dropdown(_("one head off"), heads, heads[min(2, len(heads) - 1)][1])
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
