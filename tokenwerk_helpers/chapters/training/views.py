"""Live views of 11_training."""

import numpy as np
from matplotlib.axes import Axes

from ... import model, training
from ...language import ReaderMistake, _, ngettext
from ...live import style
from ...live.bars import LabelledBars
from ...live.controls import button, dropdown, int_slider, selection_slider, text_input
from ...live.explorer import Explorer
from ...live.figure import LiveFigure, Texts
from ...live.matrix import MatrixView
from ...live.numbers import number, percent, percent_label
from ...live.running import Runner
from ...pretrained import Checkpoint, load_checkpoints
from ..reading import Reading
from .computation import (
    ABILITIES,
    CHANGES,
    NEXT,
    STEPS,
    Circuit,
    Curve,
    Head,
    Moment,
    Shifted,
    circuit,
    copying_heads,
    moment,
    new_training,
    rotated_spell_text,
    shifted,
    short_text,
    spell_text,
)

# ---- targets: the same row, shifted by one ----


class Targets(Explorer):
    """A text as a training example: every position is a question, the next token its answer."""

    def __init__(self):
        self.reading = Reading()
        self.figure = LiveFigure(8.0, 1.5)
        self._draw()
        controls = {
            "text": text_input(_("text"), short_text()),
            "position": int_slider(_("position"), 0, self.reading.context - 1, 2),
        }
        super().__init__(controls, [[self.figure]])
        self.follow_length("position", lambda result: len(result.inputs) - 1)

    def compute(self, text: str, position: int) -> Shifted:
        return shifted(self.reading, text, position)

    def _draw(self) -> None:
        self.axes = axes = style.bare_axes(self.figure.figure)
        axes.set_ylim(-0.2, 2.4)
        self.arrows = []  # shafts and heads: of all that are not asked, and of the one that is
        for colour, width, head in ((style.LIGHT.soft, 0.8, 4.5), (style.ROLES["head"], 1.8, 6.5)):
            (shafts,) = axes.plot([], [], color=colour, linewidth=width, solid_capstyle="butt")
            (heads,) = axes.plot([], [], "v", color=colour, markersize=head, markeredgewidth=0)
            self.arrows.append((shafts, heads))
            self.figure.moving(shafts, heads)
        self.names = Texts(self.figure, axes, va="center")

    def show(self, result: Shifted) -> None:
        count, asked = max(8, len(result.inputs)), result.position
        self.axes.set_xlim(-1.6, count)
        others = [i + 0.5 for i in range(len(result.inputs)) if i != asked]
        for (shafts, heads), places in zip(self.arrows, (others, [asked + 0.5])):
            shafts.set_data(np.repeat(places, 3), [1.42, 0.85, np.nan] * len(places))
            heads.set_data(places, [0.84] * len(places))
        soft = {"x": -0.2, "ha": "right", "color": style.LIGHT.soft, "fontsize": style.TEXT_SIZE}
        headings = [soft | {"y": 1.8, "text": _("reads")}, soft | {"y": 0.4, "text": _("answer")}]
        size = style.TEXT_SIZE if count < 14 else style.SMALL_SIZE - 1.5
        middle = {"ha": "center", "fontsize": size}
        self.names.show([*headings, *(middle | entry for entry in self._entries(result))])
        self.figure.refresh()

    @staticmethod
    def _entries(result: Shifted):
        for i, (read, answer) in enumerate(zip(result.inputs, result.targets)):
            seen, asked = i <= result.position, i == result.position
            ink = style.LIGHT.ink if seen else style.LIGHT.grid
            colour = style.ROLES["head"] if asked else style.LIGHT.soft
            weight = "bold" if asked else "normal"
            yield {"x": i + 0.5, "y": 1.8, "text": read, "color": ink, "fontweight": "normal"}
            yield {"x": i + 0.5, "y": 0.4, "text": answer, "color": colour, "fontweight": weight}

    def sentence(self, result: Shifted) -> str:
        text = ngettext(
            "The start token alone is already a question.",
            "With the start token these are {count} tokens and {count} questions.",
            len(result.inputs),
        ).format(count=len(result.inputs))
        return text + " " + _(
            "At position {position} the model has read up to “{read}”; the right answer is “{answer}”."
        ).format(
            position=result.position, read=result.inputs[result.position],
            answer=result.targets[result.position],
        )  # fmt: skip


# ---- training here ----


def draw_landmarks(axes: Axes, uniform: float, floor: float) -> None:
    """Draw what a loss is to be compared with: blind guessing, the floor, the shipped model."""
    soft = style.LIGHT.soft
    axes.axhline(uniform, color=soft, linewidth=1, linestyle=(0, (1, 2)))
    axes.axhline(floor, color=soft, linewidth=1, linestyle=(0, (4, 2)))
    small = {"fontsize": style.SMALL_SIZE, "color": soft, "ha": "right"}
    axes.text(STEPS - 4, uniform + 0.05, _("blind guessing: ln V"), va="bottom", **small)
    axes.text(STEPS - 4, floor - 0.12, _("floor of the grammar"), va="top", **small)
    shipped = zip(*((c.step, c.metrics["loss"]) for c in load_checkpoints() if c.step <= STEPS))
    look = {"color": soft, "marker": "s", "markersize": 3, "linewidth": 0.8}
    axes.plot(*shipped, label=_("the shipped model at that step (D = 64)"), **look)


def stories_in_words(count: int) -> str:
    """How many stories a training reads, in words; 0 stands for always new ones."""
    return _("{count} stories").format(count=count) if count else _("always new stories")


class LiveTraining(Explorer):
    """Train a small decoder in this page: watch its loss and what it writes, stop it, go on."""

    def __init__(self):
        self.reading = Reading()
        # Of ordinary stories, as the curve is: those held out cost a little more.
        self.floor = self.reading.pretrained.about.get("validation", {}).get("floor", 0.0)
        self.uniform = float(np.log(len(self.reading.tokenizer)))
        self.figure = LiveFigure(7.6, 3.2)
        self._draw()
        self.start = button(_("train"), "play")
        self.halt = button(_("stop"), "stop")
        self.runner = Runner(self._follow, self._show_end, self.tell)
        self._settings: dict | None = None
        controls = {
            "stories": dropdown(
                _("training stories"),
                [(_("always new ones"), 0), ("1000", 1000), ("100", 100), ("10", 10)],
                0,
            ),
            "rate": selection_slider(_("learning rate"), (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03), 0.003),
        }
        super().__init__(controls, [[self.figure]], [self.start, self.halt])
        self.start.on_click(self.guarded(lambda _button: self.begin()))
        self.halt.on_click(self.guarded(lambda _button: self.runner.stop()))

    def compute(self, stories: int, rate: float) -> Curve:
        settings = {"stories": stories, "rate": rate}
        if settings != self._settings:  # other settings begin anew; the same ones go on
            self._settings = settings
            self.training = new_training(stories, rate, self.reading.tokenizer)
            self.curve = Curve(stories, rate)
            self.runner.stop()  # last, since what ends shows the curve
        return self.curve

    def reset(self) -> None:
        """Put every control back to where it began, and begin anew even if none had moved."""
        self._settings = None
        super().reset()

    def begin(self) -> None:
        """Begin to train, or go on."""
        self.settle()
        self.runner.start(self.training)
        if not self.curve.steps:
            # The very first step takes seconds, since torch imports its compiler for the optimizer.
            self.caption.value = _("Training begins …")

    def _draw(self) -> None:
        axes = self.figure.figure.add_subplot(xlim=(0, STEPS), ylim=(0, 8.5))
        axes.set_title(" ")  # room for the line that names the settings
        axes.set(xlabel=_("training step"), ylabel=_("loss (nats per token)"))
        axes.grid(True)
        draw_landmarks(axes, self.uniform, self.floor)
        (self.train,) = axes.plot([], [], color=style.ACCENTS["first"], linewidth=1.2, label=_("training"))
        (self.validation,) = axes.plot(
            [], [], color=style.LIGHT.ink, marker="o", markersize=4, label=_("unseen stories")
        )
        axes.legend(loc="upper right", bbox_to_anchor=(1.0, 0.72))
        self.title = axes.text(0, 8.6, "", fontsize=style.TITLE_SIZE, va="bottom")
        self.figure.moving(self.train, self.validation, self.title)

    def show(self, result: Curve) -> None:
        title = _("learning rate {rate}, {stories}")
        self.title.set_text(title.format(rate=f"{result.rate:g}", stories=stories_in_words(result.stories)))
        self.train.set_data(result.steps, result.train)
        self.validation.set_data(result.validation_steps, result.validation)
        self.figure.refresh()

    def sentence(self, result: Curve) -> str:
        if not result.steps:
            return _(
                "Not trained yet, learning rate {rate}, {stories}. Guessing blindly costs "
                "ln {V} = {uniform}. Press “train”."
            ).format(
                rate=f"{result.rate:g}", stories=stories_in_words(result.stories),
                V=len(self.reading.tokenizer), uniform=number(self.uniform),
            )  # fmt: skip
        text = _("Step {step}: training loss {loss}.").format(
            step=result.steps[-1], loss=number(result.train[-1])
        )
        if result.validation:
            text += " " + _("Unseen stories: {loss}.").format(loss=number(result.validation[-1]))
            if result.validation[-1] > min(result.validation) + 0.15:
                text += " " + _("It was lower before: the model is beginning to learn the examples by heart.")
        if result.sample_step:
            text += "\n" + _("After step {step} it writes: {text}").format(
                step=result.sample_step, text=result.sample
            )
        return text

    def sample(self) -> str:
        """What the model writes now if it always takes the most probable token."""
        return self.reading.continuation("", 18, self.training.model)

    def _follow(self, progress: training.Progress) -> None:
        self.curve.add(progress)
        if progress.validation_loss is not None:
            self._let_write()
        if progress.step % 5 == 0:
            self.update()

    def _show_end(self) -> None:
        if self.curve.steps:
            self._let_write()
        self.update()

    def _let_write(self) -> None:
        if self.curve.sample_step != self.curve.steps[-1]:  # the last step may just have been validated
            self.curve.sample_step, self.curve.sample = self.curve.steps[-1], self.sample()

    def close(self) -> None:
        """Stop the training, then let go of the widgets."""
        self.runner.stop()
        super().close()


# ---- through the stored checkpoints ----


def matrix_of_looks(cell_size: int) -> MatrixView:
    """A matrix for the weights of one head, empty at first."""
    return MatrixView(
        np.zeros((1, 1)), limits=(0.0, 1.0), digits=-1, cell_size=cell_size, row_axis=_("looks"),
        column_axis=_("at"), words=_("“{row}” looks at “{column}” with {value}"),
        masked_words=_("“{row}” must not look at “{column}”: it comes later"),
    )  # fmt: skip


class Scrubber(Explorer):
    """Move through the stored checkpoints: loss, abilities, an attention map and a text move together."""

    def __init__(self, checkpoints: list[Checkpoint] | None = None):
        self.reading = Reading()
        self.checkpoints = checkpoints or list(load_checkpoints())
        steps = [checkpoint.step for checkpoint in self.checkpoints]
        self.figure = LiveFigure(4.6, 3.6)
        self._draw(steps)
        self.matrix = matrix_of_looks(17)
        block, head = self.reading.known_head("induction")
        config = self.reading.model.config
        controls = {
            "step": selection_slider(_("training step"), steps, steps[-1]),
            "text": text_input(_("text"), spell_text()),
            "block": int_slider(_("block"), 1, config.blocks, block + 1),
            "head": int_slider(_("head"), 1, config.heads, head + 1),
        }
        super().__init__(controls, [[self.figure, self.matrix]])

    def compute(self, step: int, text: str, block: int, head: int) -> Moment:
        checkpoint = next(c for c in self.checkpoints if c.step == step)
        return moment(self.reading, checkpoint, text, block, head)

    def _draw(self, steps: list[int]) -> None:
        loss, ability = self.figure.figure.subplots(2, 1, sharex=True)
        places = range(len(steps))
        metrics = [checkpoint.metrics for checkpoint in self.checkpoints]
        loss.plot(places, [m["loss"] for m in metrics], color=style.LIGHT.ink, marker="o", markersize=4)
        loss.axhline(metrics[-1]["floor"], color=style.LIGHT.soft, linewidth=1, linestyle=(0, (4, 2)))
        loss.set(ylim=(0, 7.5), ylabel=_("loss"))
        names = {"pronoun": _("pronoun"), "giver": _("name"), "copy": _("copying")}
        colours = (style.ACCENTS[name] for name in ("first", "second", "third"))
        for name, colour, marker in zip(ABILITIES, colours, "osD"):
            right = [m[name] for m in metrics]
            ability.plot(places, right, color=colour, marker=marker, markersize=4, label=names[name])
        ability.set(ylim=(-0.05, 1.05), ylabel=_("right"), xlabel=_("training step"))
        ability.set_xticks(places, labels=[str(step) for step in steps], rotation=45, ha="right")
        ability.legend(loc="lower right", bbox_to_anchor=(0.96, 0.0))
        self.steps = steps
        self.marks = []
        for ax in (loss, ability):
            ax.grid(True)
            (mark,) = ax.plot([0, 0], ax.get_ylim(), color=style.LIGHT.ink, linewidth=8, alpha=0.2)
            self.marks.append(mark)
        self.figure.moving(*self.marks)

    def show(self, result: Moment) -> None:
        place = self.steps.index(result.step)
        for mark in self.marks:
            mark.set_xdata([place, place])
        self.figure.refresh()
        T = len(result.labels)
        self.matrix.update(
            values=result.weights, rows=result.labels, columns=result.labels, selected=T - 1,
            allowed=model.causal_mask(T).numpy(),
            titles=[_("block {block}, head {head}").format(block=result.block, head=result.head)],
        )  # fmt: skip

    def sentence(self, result: Moment) -> str:
        last = result.weights[-1]
        best = int(last.argmax())
        return _(
            "Step {step}: loss {loss}, pronoun {pronoun}, name {name}, copying {copy} right. The last token, "
            "“{token}”, looks most at “{best}” ({share}). The model continues: {text}"
        ).format(
            step=result.step, loss=number(result.metrics["loss"]), pronoun=percent(result.metrics["pronoun"]),
            name=percent(result.metrics["giver"]), copy=percent(result.metrics["copy"]),
            token=result.labels[-1], best=result.labels[best], share=percent(last[best]), text=result.text,
        )  # fmt: skip


# ---- two heads in a row ----


class TwoHeads(Explorer):
    """A head that looks one word back and one that copies: side by side, switched off, or fed otherwise."""

    def __init__(self, pretrained=None, checkpoints=None):
        self.reading = Reading(pretrained)
        self.checkpoints = {c.step: c for c in checkpoints or load_checkpoints()}
        self.heads = copying_heads(self.reading)
        self.first, self.second = (matrix_of_looks(15) for _head in self.heads)
        self.figure = LiveFigure(7.0, 1.5)
        self._draw()
        steps = sorted(self.checkpoints)
        self.names = dict(zip(("first", "second"), map(self._spoken, self.heads)))
        changes = {
            "none": _("nothing"),
            "first_off": _("without {first}"),
            "second_off": _("without {second}"),
            "exchanged": _("{second} gets what {first} reads in the other text"),
        }
        controls = {
            "text": text_input(_("text"), spell_text()),
            "other": text_input(_("other text"), rotated_spell_text()),
            "change": dropdown(
                _("changed"), [(changes[name].format(**self.names), name) for name in CHANGES], "none"
            ),
            "step": selection_slider(_("training step"), steps, steps[-1]),
        }
        controls["change"].layout.width = "min(48em, 100%)"
        super().__init__(controls, [[self.first, self.second], [self.figure]])
        # Whoever writes another text wants to see what it does.
        controls["other"].observe(self.guarded(lambda _change: self._exchange()), "value")

    def compute(self, text: str, other: str, change: str, step: int) -> Circuit:
        ids, others = self.reading.ids(text), []
        if change == "exchanged":
            others = self.reading.ids(other)
            if len(others) != len(ids):
                raise ReaderMistake(
                    _("The text has {ids} tokens, the other text {others}: make both equally long.").format(
                        ids=len(ids), others=len(others)
                    )
                )
        return circuit(self.checkpoints[step], self.reading, ids, others, change, self.heads)

    def _exchange(self) -> None:
        self.controls["change"].value = "exchanged"

    @staticmethod
    def _name(head: Head) -> str:
        return _("block {block}, head {head}").format(block=head.block + 1, head=head.head + 1)

    @staticmethod
    def _spoken(head: Head) -> str:
        return _("head {head} in block {block}").format(block=head.block + 1, head=head.head + 1)

    def _draw(self) -> None:
        axes = self.figure.figure.add_subplot(xlim=(-0.6, NEXT - 0.4), ylim=(0, 1.75), xticks=[], yticks=[])
        axes.spines["left"].set_visible(False)
        axes.set_title(_("the next token: the five most probable"))
        self.bars = LabelledBars(self.figure, axes, NEXT, 0.7, gap=0.03, color=style.ROLES["head"])
        self.bars.texts[0].set_fontweight("bold")

    def show(self, result: Circuit) -> None:
        allowed = model.causal_mask(len(result.labels)).numpy()
        for matrix, head, weights, labels, row in (
            (self.first, self.heads[0], result.first, result.read, result.found),
            (self.second, self.heads[1], result.second, result.labels, len(result.labels) - 1),
        ):
            matrix.update(
                values=weights, rows=labels, columns=labels, selected=row, allowed=allowed,
                titles=[self._title(result, head)],
            )  # fmt: skip
        tokens, shares = zip(*result.following)
        self.bars.show(shares, [f"{token}\n{percent_label(share)}" for token, share in zip(tokens, shares)])
        self.figure.refresh()

    def _title(self, result: Circuit, head: Head) -> str:
        words = {
            ("first_off", self.heads[0]): _("{head}: off"),
            ("second_off", self.heads[1]): _("{head}: off"),
            ("exchanged", self.heads[0]): _("{head}: in the other text"),
        }
        return words.get((result.change, head), "{head}").format(head=self._name(head))

    def sentence(self, result: Circuit) -> str:
        names = self.names
        token, share = result.following[0]
        text = _("Step {step}.").format(step=result.step) + " " + self._changed(result).format(**names)
        if result.change != "second_off":
            text += " " + _(
                "From the last token, “{last}”, {second} looks most at “{found}” ({looks})."
            ).format(
                last=result.labels[-1], found=result.labels[result.found],
                looks=percent(result.second[-1, result.found]), **names,
            )  # fmt: skip
        if result.change in ("none", "exchanged"):
            before = int(result.first[result.found].argmax())
            text += " " + _("At that place {first} looks most at “{before}” ({back}).").format(
                before=result.read[before], back=percent(result.first[result.found, before]), **names
            )
        return text + " " + _("The model goes on with “{token}” ({share}).").format(
            token=token, share=percent(share)
        )  # fmt: skip

    @staticmethod
    def _changed(result: Circuit) -> str:
        return {
            "none": _("Nothing is changed."),
            "first_off": _("What {first} finds reaches nobody: it is switched off."),
            "second_off": _("What {second} finds reaches nobody: it is switched off."),
            "exchanged": _("From {first}, {second} gets what it has read in the other text."),
        }[result.change]
