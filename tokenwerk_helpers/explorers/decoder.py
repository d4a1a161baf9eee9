"""Live views of 08_decoder: logits at each position, what each layer would answer, generation, ablations."""

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

import numpy as np
import torch

from .. import corpus, sampling, training
from ..checks import decoder as checks
from ..language import _, ngettext
from ..trace import ablate, layer_logits, running_with, trace
from ..views import style
from ..views.figure import LiveFigure
from ..views.matrix import MatrixView
from .base import Explorer
from .controls import choose, line, switch, whole
from .guess import Guess
from .numbers import number, percent, percent_label
from .reading import Reading, example_gift, example_story

# ---- logits at each position, and what each layer would answer ----

TOP, LAYER_TOP = 10, 6
PANELS = 4  # side by side; more would be too narrow for a word


@dataclass(frozen=True)
class Prediction:
    """What a model makes of a text, seen from one position."""

    labels: list[str]  # of the T tokens
    position: int  # from 0
    candidates: list[str]  # the TOP most probable next tokens at the position
    logits: np.ndarray  # (T, TOP) of these candidates at every position
    probabilities: np.ndarray  # (TOP,) at the position
    layers: list[list[tuple[str, float]]]  # per layer the LAYER_TOP most probable tokens
    vocab_size: int


def predict(reading: Reading, text: str, position: int) -> Prediction:
    """Run the model on the text and look at one position (from 1), through the eyes of every layer."""
    ids = reading.ids(text)
    place = min(position, len(ids)) - 1
    seen = trace(reading.model, torch.tensor([ids]))
    logits = seen["logits"][0]  # (T, V)
    probabilities, best = logits[place].softmax(dim=-1).topk(min(TOP, logits.shape[-1]))
    layers = []
    for answer in layer_logits(reading.model, seen)[:, 0, place].softmax(dim=-1):  # (L+1, V)
        shares, tokens = answer.topk(min(LAYER_TOP, logits.shape[-1]))
        layers.append(list(zip(reading.labels(tokens.tolist()), shares.tolist())))
    return Prediction(
        reading.labels(ids), place, reading.labels(best.tolist()), logits[:, best].numpy(),
        probabilities.numpy(), layers, logits.shape[-1],
    )  # fmt: skip


def shown_layers(count: int) -> list[int]:
    """Which of the layers 0 to `count` - 1 have a panel: all, or the first, some evenly between, the last."""
    return [round(place) for place in np.linspace(0, count - 1, min(count, PANELS))]


class NextToken(Explorer):
    """Own sentence: logits of the ten best candidates at every position, and the answer of every layer."""

    def __init__(self, pretrained=None, text: str | None = None):
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
            "text": line(_("sentence"), text),
            "position": whole(_("seen from token"), 1, config.context, len(self.reading.ids(text))),
        }
        super().__init__(controls, [[self.logits], [self.figure]])
        self.follow_clicks(self.logits, "position")

    def compute(self, text: str, position: int) -> Prediction:
        return predict(self.reading, text, position)

    def _draw_layers(self, count: int) -> None:
        axes = np.atleast_1d(self.figure.figure.subplots(1, len(self.layers), sharey=True))
        self.bars, self.names = [], []
        for layer, ax in zip(self.layers, axes):
            last = layer == count - 1
            ax.set_title(_layer_name(layer, count))
            ax.set(xlim=(0, 1.0), ylim=(LAYER_TOP - 0.5, -0.5), yticks=[])
            ax.set_xticks([0, 0.5, 1], labels=["0", "0.5", "1"])
            colour = style.ROLES["head"] if last else style.ROLES["residual"]
            bars = ax.barh(range(LAYER_TOP), np.zeros(LAYER_TOP), color=colour, height=0.72)
            names = [ax.text(0.02, i, "", va="center", fontsize=style.SMALL_SIZE) for i in range(LAYER_TOP)]
            self.bars.append(bars)
            self.names.append(names)
        moving = [artist for group in (*self.bars, *self.names) for artist in group]
        self.figure.moving(*moving)

    def show(self, result: Prediction) -> None:
        self.logits.update(
            values=result.logits, rows=result.labels, columns=result.candidates, selected=result.position,
        )  # fmt: skip
        ink = self.figure.colour(style.LIGHT.ink)
        for bars, names, layer in zip(self.bars, self.names, self.layers):
            # The last layer's bars are light in both themes.
            light = layer == len(result.layers) - 1
            on_bar = "#000000" if light else self.figure.colour(style.LIGHT.paper)
            for bar, name, (token, share) in zip(bars, names, result.layers[layer]):
                bar.set_width(share)
                name.set_text(f"{token}  {percent_label(share)}")
                inside = share > 0.55  # a long bar has the room, beside it there is none
                name.set_x(0.03 if inside else share + 0.02)
                name.set_color(on_bar if inside else ink)
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


def _layer_name(layer: int, count: int) -> str:
    if layer == 0:
        return _("embeddings only")
    if layer == count - 1:
        return _("after block {block} (answer)").format(block=layer)
    return _("after block {block}").format(block=layer)


# ---- generation, one token at a time ----

LIMIT = 40


@dataclass(frozen=True)
class Generated:
    """A text that was continued by `steps` tokens, each the most probable one."""

    prompt: str
    continuation: str
    steps: int  # really made
    reason: str | None  # "end", "limit" or None if it would go on
    candidates: list[tuple[str, float]]  # for the token after the last
    used: int  # tokens in the window
    context: int


def greedy(reading: Reading, text: str) -> tuple[tuple[int, ...], str | None]:
    """The ids that are appended one by one, and why it ended."""
    end = getattr(reading.tokenizer, "end", None)
    steps = list(sampling.generate(reading.model, reading.ids(text), LIMIT, temperature=0, eos=end))
    return tuple(step.id for step in steps), steps[-1].reason


def continued(reading: Reading, text: str, steps: int, found: tuple | None = None) -> Generated:
    """Append `steps` tokens to the text, at each step the most probable one, unless the end comes first.

    found: what `greedy` returned for this text, if it is at hand.
    """
    new, reason = found or greedy(reading, text)
    made = new[:steps]
    finished = len(made) == len(new)
    ended = finished and reason == "end"
    visible = made[:-1] if ended else made
    # After the end nothing comes: then what is shown is where the end token was chosen.
    window = sampling.window([*reading.ids(text), *visible], reading.context)
    with torch.no_grad():
        probabilities = reading.model(torch.tensor([window]))[0, -1].softmax(dim=-1)
    shares, best = probabilities.topk(min(TOP, len(probabilities)))
    return Generated(
        text, reading.tokenizer.decode(visible), len(made), reason if finished else None,
        list(zip(reading.labels(best.tolist()), shares.tolist())), len(window), reading.context,
    )  # fmt: skip


class Generation(Explorer):
    """Continue a text step by step: the last position decides, its best token is appended, and again."""

    def __init__(self, pretrained=None, text: str | None = None):
        self.reading = Reading(pretrained)
        self._greedy = lru_cache(maxsize=64)(lambda text: greedy(self.reading, text))
        self.figure = LiveFigure(7.4, 2.9)
        self._draw()
        controls = {
            "text": line(_("beginning"), text or example_gift()),
            "steps": whole(_("tokens appended"), 0, LIMIT, 3),
        }
        super().__init__(controls, [[self.figure]])

    def compute(self, text: str, steps: int) -> Generated:
        return continued(self.reading, text, steps, self._greedy(text))

    def _draw(self) -> None:
        axes = self.figure.figure.add_subplot(xlim=(-0.6, TOP - 0.4), ylim=(0, 1.12))
        axes.set_xticks([])
        axes.set_ylabel(_("probability"))
        axes.set_title(_("the next token: the ten most probable"))
        self.bars = axes.bar(range(TOP), np.zeros(TOP), color=style.ROLES["head"], width=0.7)
        self.names = [
            axes.text(i, 0, "", ha="center", va="bottom", fontsize=style.SMALL_SIZE) for i in range(TOP)
        ]
        self.names[0].set_fontweight("bold")  # the one that is appended
        self.figure.moving(*self.bars, *self.names)

    def show(self, result: Generated) -> None:
        for bar, name, (token, share) in zip(self.bars, self.names, result.candidates):
            bar.set_height(share)
            name.set_text(f"{token}\n{percent_label(share)}")
            name.set_y(share + 0.01)
        self.figure.refresh()

    def sentence(self, result: Generated) -> str:
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

STORIES = 100
PARTS = ("attention", "mlp", "residual", "norms", "positions")


@dataclass(frozen=True)
class Ablated:
    """Loss on held-out stories with parts switched off, beside what it is to be compared with."""

    off: list[str]
    loss: float
    intact: float
    floor: float
    uniform: float  # ln V: every token alike
    text: str  # a continuation by the model as it is now


class AblationBoard(Explorer):
    """Switch parts of the trained model off: its loss on held-out stories and its text change at once."""

    def __init__(self, pretrained=None, prompt: str | None = None):
        self.reading = Reading(pretrained)
        self.prompt = prompt or example_gift()
        told = islice(corpus.stories(seed=1_000_000, split="held_out"), STORIES)
        rows = [(training.framed(story.text, self.reading.tokenizer), story.nats) for story in told]
        fitting = [(row, nats) for row, nats in rows if len(row) <= self.reading.context + 1]
        # Padding is cheap here and one batch is one run of the model.
        self.batch = training.batch([row for row, _nats in fitting])
        self.floor = sum(nats for _row, nats in fitting) / sum(len(row) - 1 for row, _nats in fitting)
        self.intact = self._loss({})
        self.figure = LiveFigure(7.6, 2.6)
        self._draw()
        config = self.reading.model.config
        heads = [(_("no head"), ())]  # a list shows nothing at all for the value None
        heads += [
            (_("block {block}, head {head}").format(block=b + 1, head=h + 1), (b, h))
            for b in range(config.blocks)
            for h in range(config.heads)
        ]
        controls = {name: switch(part_names()[name]) for name in PARTS}
        controls["head"] = choose(_("one head off"), heads, ())
        super().__init__(controls, [[self.figure]])

    def compute(self, head: tuple[int, int] | tuple[()] = (), **parts: bool) -> Ablated:
        off = [name for name in PARTS if parts.get(name)]
        replace = ablate(self.reading.model, *off, heads=[head] if head else [])
        names = [part_names()[name] for name in off]
        if head:
            names.append(_("block {block}, head {head}").format(block=head[0] + 1, head=head[1] + 1))
        vocab_size = self.reading.model.config.vocab_size
        return Ablated(
            names, self._loss(replace), self.intact, self.floor, math.log(vocab_size), self._text(replace)
        )

    def _loss(self, replace) -> float:
        with torch.no_grad(), running_with(self.reading.model, replace):
            return float(training.loss(self.reading.model, self.batch))

    def _text(self, replace, count: int = 14) -> str:
        end = getattr(self.reading.tokenizer, "end", None)
        with running_with(self.reading.model, replace):
            steps = sampling.generate(
                self.reading.model, self.reading.ids(self.prompt), count, temperature=0, eos=end
            )
            ids = [step.id for step in steps if step.id != end]
        return self.prompt + self.reading.tokenizer.decode(ids)

    def _draw(self) -> None:
        axes = self.figure.figure.add_subplot()
        self.names = [
            _("floor of the grammar"),
            _("intact"),
            _("with this switched off"),
            _("all tokens alike"),
        ]
        colours = [style.LIGHT.grid, style.LIGHT.soft, style.ACCENTS["warning"], style.LIGHT.grid]
        uniform = math.log(self.reading.model.config.vocab_size)
        self.bars = axes.barh(
            range(4), [self.floor, self.intact, self.intact, uniform], color=colours, height=0.62
        )
        axes.set_yticks(range(4), labels=self.names)
        axes.invert_yaxis()
        axes.set_xlim(0, 16)
        axes.set_xlabel(
            _("loss on {count} held-out stories (nats per token)").format(count=len(self.batch.ids))
        )
        for i, value in enumerate((self.floor, self.intact, None, uniform)):
            if value is not None:
                axes.text(value + 0.1, i, number(value), va="center", fontsize=style.SMALL_SIZE)
        self.value = axes.text(0, 2, "", va="center", fontsize=style.SMALL_SIZE)
        self.figure.moving(self.bars[2], self.value)

    def show(self, result: Ablated) -> None:
        self.bars[2].set_width(min(result.loss, 15))
        self.value.set_text(number(result.loss))
        self.value.set_x(min(result.loss, 15) + 0.1)
        self.figure.refresh()

    def sentence(self, result: Ablated) -> str:
        if not result.off:
            text = _("Nothing is switched off: loss {loss}, the floor is {floor}.").format(
                loss=number(result.loss), floor=number(result.floor)
            )
        else:
            text = _("Off: {parts}. The loss goes from {intact} to {loss}.").format(
                parts=", ".join(result.off), intact=number(result.intact), loss=number(result.loss)
            )
            if result.loss > result.uniform:
                text += " " + _("That is worse than guessing blindly ({uniform}).").format(
                    uniform=number(result.uniform)
                )
            elif result.loss - result.intact < 0.02:
                text += " " + _("The model hardly misses it on these stories.")
        return text + "\n" + _("It continues like this: {text}").format(text=result.text)


def part_names() -> dict[str, str]:
    """The parts that can be switched off, as the reader reads them."""
    return {
        "attention": _("attention off"),
        "mlp": _("MLP off"),
        "residual": _("residual path off"),
        "norms": _("norms off"),
        "positions": _("positions off"),
    }


# ---- questions ----


def guess_shape() -> Guess:
    """The shape of the logits."""
    return Guess(
        _("Two texts of seven tokens each go in, the vocabulary has 100 entries. How many logits come out?"),
        checks.number_of_logits,
        kind="number",
    )


def guess_position() -> Guess:
    """Which position decides."""
    return Guess(
        _("The model has read five tokens. Which of the five rows of logits decides on the sixth token?"),
        checks.deciding_position,
        options=[_("the first"), _("the mean of all"), _("the last")],
    )


def guess_own_words() -> Guess:
    """Whether the model tells its own words from a reader's."""
    return Guess(
        _(
            "The loop has appended “ eine Nuss.” to “Mia schenkt Jan”. Now you type these words yourself and "
            "start it behind them. How does it go on?"
        ),
        checks.own_words_or_typed,
        options=[
            _("just as it would have without you"),
            _("differently: these are not its own words"),
            _("with the same words once more"),
        ],
    )


def guess_missing_part() -> Guess:
    """What the trained model misses most."""
    return Guess(
        _("What hits the trained model hardest?"),
        checks.part_missed_most,
        options=[
            _("one of its eight heads is missing"),
            _("all MLPs are missing"),
            _("the residual paths are missing"),
        ],
    )


def guess_tied() -> Guess:
    """What a tied head saves."""
    return Guess(
        _("V = 100, D = 8. How many parameters does a tied head save?"), checks.saved_by_tying, kind="number"
    )
