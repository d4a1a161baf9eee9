"""Live views of 09_parameter_counting."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.patches import Rectangle

from ...language import _, ngettext
from ...live import style
from ...live.bars import LabelledBars
from ...live.controls import checkbox, dropdown, int_slider, selection_slider
from ...live.explorer import Explorer
from ...live.figure import LiveFigure, broken
from ...live.numbers import grouped, memory, percent, percent_label, short, small_percent
from ...model import Config
from ...parameters import PARTS
from .computation import (
    CHAPTER,
    FORMATS,
    LARGEST,
    LEFT_OUT,
    PLACES,
    SIZES,
    WIDTHS,
    BlockParameters,
    Counted,
    Gap,
    Sizes,
    block_parameters,
    counted,
    gap,
    round_top,
    rule_parts,
    sizes,
    strips,
    table_share,
)


def tint(colour: str, white: float = 0.5) -> str:
    """The colour mixed with white."""
    return to_hex(tuple((1 - white) * channel + white for channel in to_rgb(colour)))


# A bias has a pale shade of the tables it belongs to, the position table one of the token table.
COLOURS = {
    "token_embedding": style.ROLES["embedding"],
    "position_embedding": tint(style.ROLES["embedding"]),
    "attention": style.ROLES["attention"],
    "attention_bias": tint(style.ROLES["attention"]),
    "mlp": style.ROLES["mlp"],
    "mlp_bias": tint(style.ROLES["mlp"]),
    "norms": style.ROLES["norm"],
    "head": style.ROLES["head"],
}


def part_names() -> dict[str, str]:
    """What the parts of `parameters.PARTS` are called, in the reader's language."""
    return {
        "token_embedding": _("token table"),
        "position_embedding": _("position table"),
        "attention": _("attention"),
        "attention_bias": _("attention biases"),
        "mlp": _("MLP"),
        "mlp_bias": _("MLP biases"),
        "norms": _("norms"),
        "head": _("output head"),
    }


# ---- the tables of one block, to scale ----

ODD_HEAD = tint(COLOURS["attention"], 0.3)


def module_names() -> dict[str, str]:
    """What the modules of a block are called in the picture."""
    return {
        "norm1": _("Norm₁"),
        "attn.q": "Q",
        "attn.k": "K",
        "attn.v": "V",
        "attn.out": _("output"),
        "norm2": _("Norm₂"),
        "mlp.up": "W₁",
        "mlp.down": "W₂",
    }


def sums_in_words(result: BlockParameters) -> list[str]:
    """How many numbers each kind of parameter has, and all together: five lines."""
    square, biases = result.width**2, result.sum("attention_bias", "mlp_bias")
    bias = _("biases: 9 · D = {sum}") if biases else _("biases: none")
    norm = _("norms: γ and β, twice: 4 · D = {sum}") if biases else _("norms: only γ, twice: 2 · D = {sum}")
    return [
        _("attention: 4 · D² = 4 · {square} = {sum}").format(square=square, sum=result.sum("attention")),
        _("MLP: 2 · 4 · D² = 8 · {square} = {sum}").format(square=square, sum=result.sum("mlp")),
        bias.format(sum=biases),
        norm.format(sum=result.sum("norms")),
        _("together: {total}").format(total=result.total),
    ]


class BlockTables(Explorer):
    """Every parameter of a block as a small square; tables are cut into the strips of the heads."""

    def __init__(self):
        self.figure = LiveFigure(8.9, 5.0)
        self._draw()
        controls = {
            "width": selection_slider(_("width D"), [4, 8, 12, 16], 8),
            "heads": selection_slider(_("heads H"), [1, 2, 4], 2),
            "bias": checkbox(_("with biases"), True),
        }
        super().__init__(controls, [[self.figure]])

    compute = staticmethod(block_parameters)

    def _draw(self) -> None:
        axes = self.figure.figure.add_subplot(aspect="equal", xlim=(-3, 121), ylim=(65, -5))
        axes.set_axis_off()
        self._draw_ground(axes)
        self._draw_key(axes)
        parts = ("attention", "attention_bias", "mlp", "mlp_bias", "norms")
        # One collection a colour: a single colour follows the page's theme.
        self.squares = {
            colour: PolyCollection([], facecolors=colour, linewidths=0)
            for colour in (*(COLOURS[part] for part in parts), ODD_HEAD)
        }
        self.grid = LineCollection([], colors=style.LIGHT.paper, linewidths=0.5)
        for collection in (*self.squares.values(), self.grid):
            axes.add_collection(collection, autolim=False)
        self.names = {
            module: axes.text(left, top - 1.4, "", fontsize=style.TEXT_SIZE)
            for module, (left, top) in PLACES.items()
        }
        self.figure.moving(*self.squares.values(), self.grid, *self.names.values(), *self.sums)

    def _draw_ground(self, axes: Axes) -> None:
        """Shade the place that each table needs at the largest width."""
        look = {"facecolor": style.LIGHT.grid, "alpha": 0.35, "edgecolor": "none"}
        for left, top, columns, rows, part, _head in strips(block_parameters(LARGEST, heads=1, bias=False)):
            if part != "norms":
                axes.add_patch(Rectangle((left, top), columns, rows, **look))

    def _draw_key(self, axes: Axes) -> None:
        """Draw the key below the tables: a line for each kind of parameter and one for their sum."""
        keys = (("attention",), ("mlp",), ("attention_bias", "mlp_bias"), ("norms",))
        for line, parts in enumerate(keys):
            for half, part in enumerate(parts):
                corner, width = (9 + half, 46.6 + 3.4 * line), 2 / len(parts)
                axes.add_patch(Rectangle(corner, width, 2, facecolor=COLOURS[part], edgecolor="none"))
        self.sums = [axes.text(12.4, 47.7 + 3.4 * line, "", va="center_baseline") for line in range(5)]
        self.sums[-1].set_fontweight("bold")

    def show(self, result: BlockParameters) -> None:
        corners, lines = {colour: [] for colour in self.squares}, []
        for left, top, columns, rows, part, head in strips(result):
            right, bottom = left + columns, top + rows
            colour = ODD_HEAD if head % 2 else COLOURS[part]
            corners[colour].append([(left, top), (right, top), (right, bottom), (left, bottom)])
            lines += [[(left, y), (right, y)] for y in range(top, bottom + 1)]
            lines += [[(x, top), (x, bottom)] for x in range(left, right + 1)]
        for colour, collection in self.squares.items():
            collection.set_verts(corners[colour])
        self.grid.set_segments(lines)
        self._write_names(result)
        for text, line in zip(self.sums, sums_in_words(result)):
            text.set_text(line)
        self.figure.refresh()

    def _write_names(self, result: BlockParameters) -> None:
        shapes = {row.name.removesuffix(".weight"): row.shape for row in result.rows if len(row.shape) == 2}
        for module, name in module_names().items():
            shape = shapes.get(module)
            self.names[module].set_text(f"{name}  {shape[0]} × {shape[1]}" if shape else name)

    def sentence(self, result: BlockParameters) -> str:
        weights = result.sum("attention", "mlp")
        tables = _(
            "D = {width}: the six tables hold 12 · {square} = {weights} weights, "
            "biases and norms {rest} more; the block has {total} parameters."
        )
        heads = ngettext(
            "One head works with the whole tables.",
            "Each of the {heads} heads has a strip of {share} rows in Q, K and V; the tables stay as large.",
            result.heads,
        )
        return " ".join([tables, heads]).format(
            width=result.width,
            square=result.width**2,
            weights=weights,
            rest=result.total - weights,
            total=result.total,
            heads=result.heads,
            share=result.width // result.heads,
        )


# ---- rule of thumb beside the exact count ----


class StackedBars:
    """Horizontal bars, one below the other, each stacked from the parts of `parameters.PARTS`."""

    def __init__(self, axes: Axes, names: list[str], height: float = 0.62):
        self.axes = axes
        self.height = height
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_yticks(range(len(names)), names)
        axes.tick_params("y", length=0, labelsize=style.TEXT_SIZE)
        axes.spines["left"].set_visible(False)
        self.pieces = [
            axes.barh([row] * len(PARTS), [0] * len(PARTS), height, color=[COLOURS[part] for part in PARTS])
            for row in range(len(names))
        ]
        self.labels = [
            [axes.text(0, row, "", ha="center", va="center", fontsize=style.SMALL_SIZE) for _part in PARTS]
            for row in range(len(names))
        ]

    @property
    def artists(self) -> list:
        """Everything that moves."""
        return [piece for row in self.pieces for piece in row] + [text for row in self.labels for text in row]

    def set(self, row: int, parts: dict[str, int], scale: float, texts: dict[str, str], room: float) -> None:
        """Stack the parts in a row, divided by `scale`; a piece is labelled if each letter has `room`."""
        left = 0.0
        for part, piece, label in zip(PARTS, self.pieces[row], self.labels[row]):
            length = parts[part] / scale
            piece.set_x(left)
            piece.set_width(length)
            label.set_position((left + length / 2, row))
            label.set_text(texts[part] if length >= room * len(texts[part]) else "")
            label.set_color(style.text_on([round(255 * channel) for channel in to_rgb(COLOURS[part])]))
            left += length

    def legend(self, columns: int) -> None:
        """Name the colours above the bars."""
        names = part_names()
        self.axes.figure.legend(
            list(self.pieces[0]),
            [names[part] for part in PARTS],
            loc="outside upper left",
            ncols=columns,
            columnspacing=1.2,
            handlelength=1.1,
            handletextpad=0.5,
        )


class Counting(Explorer):
    """Rule of thumb and exact count as stacked bars, for all sizes that matter and one that does not: H."""

    def __init__(self):
        self.figure = LiveFigure(9.0, 2.7)
        self._draw()
        controls = {
            "vocab_size": int_slider(_("vocabulary V"), 20, 1000, CHAPTER.vocab_size, 20),
            "width": int_slider(_("width D"), 8, 64, CHAPTER.width, 8),
            "blocks": int_slider(_("blocks L"), 1, 12, CHAPTER.blocks),
            "context": int_slider(_("positions T"), 8, 256, CHAPTER.context_length, 8),
            "heads": selection_slider(_("heads H"), [1, 2, 4, 8], CHAPTER.heads),
            "tied": checkbox(_("the output head shares the token table"), True),
            "bias": checkbox(_("with biases"), True),
        }
        super().__init__(controls, [[self.figure]])

    compute = staticmethod(counted)

    def _draw(self) -> None:
        self.axes = self.figure.figure.add_subplot()
        # Room on the right: the number at the axis' end grows longer after the first drawing.
        self.figure.figure.get_layout_engine().set(rect=(0, 0, 0.98, 1))
        self.bars = StackedBars(self.axes, [_("rule of thumb"), _("exact count")])
        self.bars.legend(columns=4)
        self.axes.set_xlabel(_("number of parameters (axis up to {top})"))
        self.axes.grid(True, axis="x")
        self.totals = [self.axes.text(0, row, "", va="center", fontweight="bold") for row in range(2)]
        # Where the heads share attention's tables: notches that cut the piece, not its length.
        self.notches = LineCollection([], colors=style.LIGHT.paper, linewidths=1.2, zorder=3)
        self.axes.add_collection(self.notches, autolim=False)
        self.figure.moving(self.axes.xaxis, *self.bars.artists, self.notches, *self.totals)

    def show(self, result: Counted) -> None:
        rule, exact = rule_parts(result.rule), result.exact.parts
        longest = max(result.rule.total, result.exact.total)
        top = round_top(1.1 * longest)
        self.axes.set_xlim(0, top)
        self.axes.xaxis.label.set_text(
            _("number of parameters (axis up to {top})").format(top=grouped(round(top)))
        )
        # Always five ticks: a new one would be born in the colours of the light theme.
        places = np.linspace(0, top, 5)
        self.axes.set_xticks(places, [grouped(round(place)) for place in places])
        for row, parts in enumerate((rule, exact)):
            total = sum(parts.values())
            self.bars.set(row, parts, 1, {part: grouped(n) for part, n in parts.items()}, 0.011 * top)
            self.totals[row].set_position((total + 0.008 * top, row))
            self.totals[row].set_text(grouped(total))
        self._cut_attention(result.config.heads)
        self.figure.refresh()

    def _cut_attention(self, heads: int) -> None:
        pieces = [row[PARTS.index("attention")] for row in self.bars.pieces]
        self.notches.set_segments(
            [
                [(place, row - self.bars.height / 2), (place, row - 0.16)]
                for row, piece in enumerate(pieces)
                for place in piece.get_x() + piece.get_width() * np.arange(1, heads) / heads
            ]
        )

    def sentence(self, result: Counted) -> str:
        rule, exact, config = result.rule, result.exact, result.config
        counts = _(
            "By rule: {embedding} + {blocks} + {positions} = {rule}. Counted: {exact}, {more} more ({share})."
        ).format(
            embedding=grouped(rule.embedding),
            blocks=grouped(rule.blocks),
            positions=grouped(rule.positions),
            rule=grouped(rule.total),
            exact=grouped(exact.total),
            more=grouped(exact.total - rule.total),
            share=small_percent(1 - rule.total / exact.total),
        )
        own = _("The output head has a table of its own with {head} of them.").format(
            head=grouped(exact.parts["head"])
        )
        heads = ngettext(
            "One head works on all {width} components.",
            "{heads} heads share D = {width} components, {share} each; the count does not depend on H.",
            config.heads,
        ).format(heads=config.heads, width=config.width, share=config.width // config.heads)
        return " ".join([counts, heads] if config.tie_head else [counts, own, heads])


# ---- what the rule leaves out ----


class LeftOut(Explorer):
    """Step by step from the rule of thumb to the exact count, and how the missing share falls with D."""

    def __init__(self):
        self.figure = LiveFigure(9.0, 3.3)
        self._draw()
        controls = {
            "width": selection_slider(_("width D"), WIDTHS, CHAPTER.width),
            "blocks": selection_slider(_("blocks L"), [1, 2, 4, 6, 12, 24, 48, 96], CHAPTER.blocks),
            "tied": checkbox(_("the output head shares the token table"), True),
            "bias": checkbox(_("with biases"), True),
        }
        super().__init__(controls, [[self.figure]])

    compute = staticmethod(gap)

    def _draw(self) -> None:
        # Fixed places, since the numbers at the axis grow longer after the first drawing.
        self.figure.figure.set_layout_engine("none")
        places = {"left": 0.118, "right": 0.99, "bottom": 0.165, "top": 0.915, "wspace": 0.17}
        places["width_ratios"] = [1.45, 1]
        self.steps, self.curve = self.figure.figure.subplots(1, 2, gridspec_kw=places)
        self._draw_steps(self.steps)
        self._draw_curve(self.curve)
        self.figure.moving(self.steps.yaxis, *self.links, self.line, self.here)

    def _draw_steps(self, axes: Axes) -> None:
        names = [
            _("attention\nbiases"),
            _("MLP\nbiases"),
            _("norms"),
            _("own output\nhead"),
            _("together"),
        ]
        colours = [COLOURS[part] for part in LEFT_OUT] + [style.LIGHT.soft]
        self.bars = LabelledBars(self.figure, axes, 5, 0.62, color=colours, tick_label=names)
        self.links = [
            axes.plot([], [], color=style.LIGHT.soft, linewidth=0.8, linestyle=(0, (2, 2)))[0]
            for _bar in range(4)
        ]
        axes.tick_params("x", length=0, labelsize=style.SMALL_SIZE)
        axes.grid(True, axis="y")
        axes.set_title(_("parameters beyond the rule of thumb"))

    def _draw_curve(self, axes: Axes) -> None:
        style.log_axis(axes.xaxis)
        style.log_axis(axes.yaxis)
        axes.set(xlim=(6, 20000), ylim=(3e-5, 1), xlabel=_("width D"))
        axes.set_title(_("their share of all parameters"))
        shares = [1e-4, 1e-3, 1e-2, 1e-1, 1]
        axes.set_yticks(shares, [small_percent(share) for share in shares])
        axes.set_xticks([8, 64, 768, 12288], ["8", "64", "768", "12288"])
        axes.grid(True)
        (self.line,) = axes.plot([], [], color=style.LIGHT.soft)
        (self.here,) = axes.plot([], [], "o", color=style.LIGHT.ink, markersize=7)

    def show(self, result: Gap) -> None:
        heights = [result.reconciliation.left_out[part] for part in LEFT_OUT]
        total = sum(heights)
        tops = np.cumsum(heights)
        bottoms = [*(tops - heights), 0]
        top = round_top(1.12 * max(total, 1))
        self.steps.set_ylim(0, top)
        label = _("number of parameters (axis up to {top})").format(top=grouped(round(top)))
        self.steps.yaxis.label.set_text(broken(label))
        places = np.linspace(0, top, 5)
        self.steps.set_yticks(places, [grouped(round(place)) for place in places])
        heights = [*heights, total]
        self.bars.show(heights, map(grouped, heights))
        for bar, text, height, bottom in zip(self.bars.bars, self.bars.texts, heights, bottoms):
            bar.set_y(bottom)
            text.set_y(bottom + height + 0.012 * top)
        for index, link in enumerate(self.links):
            link.set_data([index + 0.31, index + 0.69], [tops[index], tops[index]])
        self.line.set_data(WIDTHS, result.shares)
        self.here.set_data([result.config.width], [result.share])
        self.figure.refresh()

    def sentence(self, result: Gap) -> str:
        rule, left_out, exact = result.reconciliation
        steps = " + ".join(grouped(number) for number in (rule.total, *left_out.values()) if number)
        text = _(
            "D = {width}, L = {blocks}: {steps} = {exact}. The rule leaves out {share} of all parameters."
        ).format(
            width=result.config.width,
            blocks=result.config.blocks,
            steps=steps,
            exact=grouped(exact),
            share=small_percent(result.share),
        )
        return f"{text} {self._reason(result.config, left_out)}"

    @staticmethod
    def _reason(config: Config, left_out: dict[str, int]) -> str:
        small = sum(left_out.values()) - left_out["head"]
        if left_out["head"] > small:
            return _("Most of it is the output head's own table.")
        if left_out["head"]:
            return _("The output head's own table is {head} of it.").format(head=grouped(left_out["head"]))
        if config.bias:
            return _("It is 13 · L · D + 2 · D numbers: D alone, where the tables have D².")
        return _("Without biases only the multipliers γ of the norms are left: 2 · L · D + D numbers.")


# ---- the sizes of real models ----


def model_names() -> dict[str, str]:
    """What the models of SIZES are called."""
    return {
        "chapter": _("the chapter's"),
        "gpt2": "GPT-2 small",
        "gpt2-medium": "GPT-2 medium",
        "gpt2-large": "GPT-2 large",
        "gpt2-xl": "GPT-2 XL",
        "gpt3": "GPT-3",
    }


class ModelSizes(Explorer):
    """From the chapter's decoder to GPT-3: the share of each part, and the memory the parameters need."""

    def __init__(self):
        self.figure = LiveFigure(9.0, 3.7)
        self._draw()
        names = model_names()
        controls = {
            "chosen": dropdown(_("model"), [(names[name], name) for name in SIZES], "gpt2"),
            "tied": checkbox(_("the output head shares the token table"), True),
            "stored": dropdown(
                _("stored as"),
                [
                    (_("float32: 4 bytes per number"), "float32"),
                    (_("bfloat16: 2 bytes per number"), "bfloat16"),
                    (_("while training: 16 bytes"), "training"),
                ],
                "float32",
            ),
        }
        super().__init__(controls, [[self.figure]])

    compute = staticmethod(sizes)

    def _draw(self) -> None:
        self.axes = axes = self.figure.figure.add_subplot()
        names = model_names()
        self.bars = StackedBars(axes, [names[name] for name in SIZES], height=0.66)
        self.bars.legend(columns=4)
        axes.set_xlim(0, 1.36)
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], [percent(share) for share in (0, 0.25, 0.5, 0.75, 1)])
        axes.spines["bottom"].set_bounds(0, 1)
        axes.set_xlabel(_("share of all parameters"), x=0.5 / 1.36)
        right = {"va": "center", "ha": "right"}
        self.totals = [axes.text(1.2, row, "", **right) for row in range(len(SIZES))]
        self.memory = [axes.text(1.355, row, "", **right) for row in range(len(SIZES))]
        axes.text(1.2, -0.62, _("parameters"), ha="right", va="bottom", fontsize=style.SMALL_SIZE)
        axes.text(1.355, -0.62, _("memory"), ha="right", va="bottom", fontsize=style.SMALL_SIZE)
        self.mark = axes.add_patch(
            Rectangle((0, 0), 1, 0.66, facecolor="none", edgecolor=style.LIGHT.ink, linewidth=1.6, zorder=3)
        )
        self.figure.moving(*self.bars.artists, *self.totals, *self.memory, self.mark)

    def show(self, result: Sizes) -> None:
        for row, (name, count) in enumerate(result.counts.items()):
            texts = {part: percent_label(n / count.total) for part, n in count.parts.items()}
            self.bars.set(row, count.parts, count.total, texts, 0.012)
            self.totals[row].set_text(short(count.total))
            self.memory[row].set_text(memory(FORMATS[result.stored] * count.total))
            for text in (self.totals[row], self.memory[row]):
                text.set_fontweight("bold" if name == result.chosen else "normal")
        self.mark.set_y(list(result.counts).index(result.chosen) - 0.33)
        self.figure.refresh()

    def sentence(self, result: Sizes) -> str:
        count = result.counts[result.chosen]
        head = (
            _("{name}, output head and token table shared: {total} parameters.")
            if result.tied
            else _("{name} with an output head of its own: {total} parameters.")
        )
        share = _("{share} of them sit in the tables at the entrance and the exit.")
        need = (
            _(
                "Training with AdamW in float32 keeps four numbers for each, 16 bytes (the parameter, "
                "its gradient, two averages): {size}, not counting activations."
            )
            if result.stored == "training"
            else _("In {format} they take {size}.")
        )
        return " ".join([head, share, need]).format(
            name=model_names()[result.chosen],
            total=grouped(count.total),
            share=small_percent(table_share(count)),
            format=result.stored,
            size=memory(result.bytes),
        )
