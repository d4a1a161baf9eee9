"""Live views of 07_embeddings."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.lines import Line2D
from matplotlib.patches import BoxStyle
from matplotlib.path import Path

from ...language import ReaderMistake, _, ngettext
from ...live import style
from ...live.bars import LabelledBars
from ...live.controls import combobox, dropdown, int_slider, selection_slider, text_input
from ...live.explorer import Explorer
from ...live.figure import LiveFigure, Texts
from ...live.matrix import MatrixView
from ...live.numbers import number, percent
from ...pretrained import Pretrained, load_checkpoints
from ...tokenizer import Tokenizer
from ..reading import Reading, example_animal, example_story
from .computation import (
    KINDS,
    NOUNS,
    Compared,
    Neighbourhood,
    Split,
    Window,
    WordMap,
    compared,
    known_words,
    most_alike,
    sine_table,
    split_with,
    window,
)

# ---- byte pair encoding, merge by merge ----

LONGEST = 76  # bytes of a text: so many fit into the picture even where each is a piece of its own, as ‹F0›
PIECE, LINE = 1.8, 2.3  # height of a piece, and from one line to the next; a letter is about 0.9 wide
ROOM, LINES = 100.0, 4  # of the picture
HEIGHT = LINES * LINE + 0.1


def in_lines(pieces: list[str]) -> list[tuple[float, int, float]]:
    """Left edge, line and width of each piece, set from left to right in lines of the picture's width."""
    places, left, row = [], 0.5, 0
    for piece in pieces:
        width = 1.0 + 0.92 * len(piece)
        if left + width > ROOM - 0.5:
            left, row = 0.5, row + 1
        places.append((left, row, width))
        left += width + 0.5
    return places


def box(left: float, bottom: float, width: float, height: float, corner: float) -> Path:
    """A rectangle with round corners."""
    return BoxStyle.Round(pad=0, rounding_size=corner)(left, bottom, width, height, 1)


def boxes(axes: Axes, colour: str, **look) -> PathCollection:
    """A set of boxes in one look, empty at first: `set_paths` fills it."""
    return axes.add_collection(
        PathCollection([], edgecolors=colour, linewidths=1.2, transform=axes.transData, **look),
        autolim=False,
    )


class Merges(Explorer):
    """Type a text and watch it grow together as the tokenizer learns merge after merge."""

    def __init__(self, tokenizer: Tokenizer | None = None, text: str | None = None):
        self.tokenizer = tokenizer or Reading().tokenizer
        self.figure = LiveFigure(8.6, 2.33)
        self._draw()
        controls = {
            "text": text_input(_("text"), text or example_story()),
            "merges": int_slider(_("merges learned"), 0, len(self.tokenizer.merges), 76),
        }
        super().__init__(controls, [[self.figure]])

    def compute(self, text: str, merges: int) -> Split:
        if len(text.encode("utf-8", "replace")) > LONGEST:
            raise ReaderMistake(
                _("At most {limit} bytes fit into this picture: shorten the text.").format(limit=LONGEST)
            )
        return split_with(self.tokenizer, text, merges)

    def _draw(self) -> None:
        self.axes = style.bare_axes(self.figure.figure)
        self.axes.set(xlim=(0, ROOM), ylim=(0, HEIGHT))
        colour = style.ROLES["embedding"]
        self.old = boxes(self.axes, colour, facecolors="none")
        self.new = boxes(self.axes, colour, facecolors=colour)
        self.figure.moving(self.old, self.new)
        self.names = Texts(self.figure, self.axes, ha="center", va="center", family="DejaVu Sans Mono")

    def show(self, result: Split) -> None:
        top = HEIGHT - 0.2 - PIECE
        places = [(left, top - row * LINE, width) for left, row, width in in_lines(result.pieces)]
        for drawn, kind in ((self.old, False), (self.new, True)):
            drawn.set_paths(
                [
                    box(left, bottom, width, PIECE, 0.35)
                    for (left, bottom, width), new in zip(places, result.uses_newest)
                    if new == kind
                ]
            )
        self.names.show(
            {
                "x": left + width / 2, "y": bottom + PIECE / 2, "text": piece,
                "color": style.LIGHT.paper if new else style.LIGHT.ink, "fontsize": style.SMALL_SIZE,
            }
            for piece, new, (left, bottom, width) in zip(result.pieces, result.uses_newest, places)
        )  # fmt: skip
        self.figure.refresh()

    def sentence(self, result: Split) -> str:
        learned = ngettext("{merges} merge learned:", "{merges} merges learned:", result.merges)
        made = ngettext(
            "{bytes} bytes make {count} token.", "{bytes} bytes make {count} tokens.", len(result.pieces)
        )
        if result.byte_count == 1:
            made = _("1 byte makes 1 token.")
        text = f"{learned} {made}".format(
            merges=result.merges, bytes=result.byte_count, count=len(result.pieces)
        )
        if result.newest is None:
            return text + " " + _("Nothing is merged yet: every byte is a token of its own.")
        text += " " + _("The newest merge: “{left}” + “{right}”.").format(
            left=result.newest[0], right=result.newest[1]
        )
        uses = sum(result.uses_newest)
        if uses:
            used = ngettext("It is used here {n} time.", "It is used here {n} times.", uses)
            return text + " " + used.format(n=uses)
        return text


# ---- who stands beside whom in the token table ----

NEAREST = 5
MARKERS = {"animal": "o", "animals": "D", "thing": "s", "name": "^", "spell": "x"}
GENDERS = {"m": "first", "f": "second", "n": "third"}  # the accent each is drawn in


def word_colour(kind: str, gender: str) -> str:
    """The colour of a word on the map: its gender, or one for all words without."""
    return style.ACCENTS[GENDERS[gender]] if gender else style.LIGHT.soft


class Neighbours(Explorer):
    """The words nearest to one word in the token table, and a map of all, along the model's training."""

    def __init__(self, pretrained=None, checkpoints=None):
        reading = Reading(pretrained)
        tables = {c.step: c.model.token_embedding.weight for c in checkpoints or load_checkpoints()}
        self.map = WordMap(known_words(reading.tokenizer), tables)
        self.kinds = {"all": KINDS, "nouns": NOUNS}
        self.figure = LiveFigure(8.8, 4.4)
        self._draw()
        steps = sorted(tables)
        words = [word.text for word in self.map.words]
        controls = {
            "word": combobox(_("word"), words, words[words.index(example_animal())]),
            "step": selection_slider(_("training step"), steps, steps[-1]),
            "group": dropdown(
                _("on the map"), [(_("all words"), "all"), (_("heroes and things"), "nouns")], "nouns"
            ),
        }
        super().__init__(controls, [[self.figure]])

    def compute(self, word: str, step: int, group: str) -> Neighbourhood:
        return self.map.around(self._place(word), step, self.kinds[group], NEAREST)

    def _place(self, typed: str) -> int:
        """Where in the list of words the typed one stands, whatever its capitals."""
        known = [word.text.casefold() for word in self.map.words]
        if typed.strip().casefold() in known:
            return known.index(typed.strip().casefold())
        text = _("“{word}” is not on the map. Choose a word of the stories, such as {examples}.")
        # Translators: words of the stories: two animals, a thing, a name, a spell
        examples = _("queen, fox, flower, Mia, bora")
        raise ReaderMistake(text.format(word=typed, examples=examples))

    def _draw(self) -> None:
        self.plane, side = self.figure.figure.subplots(1, 2, width_ratios=[1.45, 1])
        self.plane.set(xticks=[], yticks=[], aspect="equal", anchor="NW")
        self.plane.set_title(_("the map: two directions out of {width}").format(width=self.width))
        for spine in self.plane.spines.values():
            spine.set(visible=True, color=style.LIGHT.grid)
        looks = dict.fromkeys((word.kind, word.gender) for word in self.map.words)
        self.dots = {look: self._dots(*look) for look in looks}
        self.rings, self.here = (
            self.plane.plot(
                [], [], "o", markersize=12, markerfacecolor="none", markeredgecolor=style.LIGHT.ink,
                markeredgewidth=width,
            )[0]
            for width in (0.8, 2.2)
        )  # fmt: skip
        self.figure.moving(*self.dots.values(), self.rings, self.here)
        self.name = Texts(self.figure, self.plane, ha="center", va="bottom", fontweight="bold")
        self._draw_nearest(side)
        self._draw_legend(side)

    @property
    def width(self) -> int:
        """How many numbers the list of a word has."""
        return next(iter(self.map.tables.values())).shape[1]

    def _dots(self, kind: str, gender: str):
        (dots,) = self.plane.plot(
            [], [], MARKERS[kind], color=word_colour(kind, gender), markersize=5, markeredgewidth=1.2
        )
        return dots

    def _draw_nearest(self, axes: Axes) -> None:
        axes.set(xlim=(0, 1.3), ylim=(NEAREST + 4.2, -0.5), xticks=[], yticks=[])
        axes.spines[["left", "bottom"]].set_visible(False)
        axes.set_title(_("the nearest (cosine)"))
        self.bars = LabelledBars(
            self.figure, axes, NEAREST, 0.72, gap=0.02, horizontal=True, color=style.ROLES["embedding"]
        )

    def _draw_legend(self, axes: Axes) -> None:
        kinds = {
            "animal": _("hero"), "animals": _("several heroes"), "thing": _("thing"),
            "name": _("name"), "spell": _("spell word"),
        }  # fmt: skip
        genders = {"m": _("masculine"), "f": _("feminine"), "n": _("neuter"), "": _("without gender here")}
        look = {"linestyle": "none", "markersize": 5}
        shapes = [Line2D([], [], marker=MARKERS[kind], color=style.LIGHT.ink, label=text, **look)
                  for kind, text in kinds.items()]  # fmt: skip
        colours = [Line2D([], [], marker="o", color=word_colour("", gender), label=text, **look)
                   for gender, text in genders.items()]  # fmt: skip
        below = {"loc": "lower left", "borderaxespad": 0, "handletextpad": 0.3}
        # A second legend would take the place of the first, were that not kept as an artist.
        axes.add_artist(axes.legend(handles=shapes, bbox_to_anchor=(0, 0), **below))
        axes.legend(handles=colours, bbox_to_anchor=(0.52, 0), **below)

    def show(self, result: Neighbourhood) -> None:
        limit = 1.12 * result.reach
        self.plane.set(xlim=(-limit, limit), ylim=(-limit, limit))
        for look, dots in self.dots.items():
            places = [
                place
                for word, place, shown in zip(result.words, result.places, result.shown)
                if shown and (word.kind, word.gender) == look
            ]
            dots.set_data(np.array(places).reshape(-1, 2).T)
        near = [i for i, _alike in result.nearest if result.shown[i]]
        self.rings.set_data(result.places[near].T)
        self._mark(result, near, limit)
        alike = [value for _i, value in result.nearest]
        self.bars.show(
            [max(value, 0.0) for value in alike],
            [f"{result.words[i].text}  {number(value)}" for i, value in result.nearest],
        )
        self.figure.refresh()

    def _mark(self, result: Neighbourhood, near: list[int], limit: float) -> None:
        if not result.shown[result.chosen]:
            self.here.set_data([], [])
            self.name.show([])
            return
        x, y = result.places[result.chosen]
        self.here.set_data([x], [y])
        # Above the rings that stand close by.
        close = [i for i in near if np.abs(result.places[i] - (x, y)).max() < 0.2 * limit]
        top = max([y, *result.places[close, 1]]) + 0.06 * limit
        name = {"x": x, "y": top, "text": result.words[result.chosen].text, "color": style.LIGHT.ink}
        self.name.show([name])

    def sentence(self, result: Neighbourhood) -> str:
        chosen = result.words[result.chosen]
        *some, last = (f"{result.words[i].text} ({number(alike)})" for i, alike in result.nearest)
        text = _(
            "Step {step}: nearest to “{word}” are {some} and {last}. The map shows {spread} of all "
            "differences between its words."
        ).format(step=result.step, word=chosen.text, some=", ".join(some), last=last,
                 spread=percent(result.spread))  # fmt: skip
        if not result.shown[result.chosen]:
            text += " " + _("“{word}” itself is not on it.").format(word=chosen.text)
        if not chosen.gender:
            return text
        same = sum(result.words[i].gender == chosen.gender for i, _alike in result.nearest)
        return text + " " + _("{same} of the {count} have the gender of “{word}”.").format(
            same=same, count=len(result.nearest), word=chosen.text
        )  # fmt: skip


# ---- two tables of positions ----


class PositionTables(Explorer):
    """The fixed sine codes of 2017 beside the table that the shipped model has learned."""

    def __init__(self, pretrained: Pretrained | None = None):
        self.reading = Reading(pretrained)
        learned = self.reading.model.position_embedding.weight.detach()
        self.tables = {"sine": sine_table(*learned.shape), "learned": learned}
        self.matrix = MatrixView(
            np.zeros((1, 1)), kind="diverging", cell_size=7, digits=-1, row_axis=_("position"),
            column_axis=_("component"), max_height=420,
            words=_("position {row}, component {column}: {value}"),
        )  # fmt: skip
        self.figure = LiveFigure(7.4, 2.4)
        self._draw(len(learned))
        controls = {
            "kind": dropdown(
                _("table"), [(_("sine and cosine (2017)"), "sine"), (_("learned"), "learned")], "sine"
            ),
            "position": int_slider(_("compare with"), 0, len(learned) - 1, 20),
        }
        super().__init__(controls, [[self.matrix], [self.figure]])

    def compute(self, kind: str, position: int) -> Compared:
        return compared(kind, self.tables[kind], position)

    def _draw(self, T: int) -> None:
        axes = self.figure.figure.add_subplot(xlim=(-1, T), ylim=(-1.1, 1.1))
        axes.set(xlabel=_("position"), ylabel=_("likeness\n(cosine)"))
        axes.grid(True)
        (self.curve,) = axes.plot([], [], color=style.ROLES["embedding"], marker="o", markersize=3)
        (self.here,) = axes.plot([], [], "o", color=style.LIGHT.ink, markersize=7)
        self.figure.moving(self.curve, self.here)

    def show(self, result: Compared) -> None:
        T, D = result.table.shape
        self.matrix.update(
            values=result.table, rows=[str(t) for t in range(T)], columns=[str(d) for d in range(D)],
            selected=result.position,
        )  # fmt: skip
        self.curve.set_data(np.arange(T), result.likeness)
        self.here.set_data([result.position], [1.0])
        self.figure.refresh()

    def sentence(self, result: Compared) -> str:
        T, D = result.table.shape
        nearest = most_alike(result)
        *some, last = map(str, nearest)
        text = _("{T} positions, {D} numbers each.") + " " + ngettext(
            "Most like position {here} is position {nearest} ({cosine}).",
            "Most like position {here} are positions {nearest} ({cosine}).",
            len(nearest),
        )  # fmt: skip
        text = text.format(
            T=T, D=D, here=result.position, cosine=number(result.likeness[nearest[0]]),
            nearest=_("{some} and {last}").format(some=", ".join(some), last=last) if some else last,
        )  # fmt: skip
        if result.kind == "sine":
            pairs = result.table[:, 0::2] ** 2 + result.table[:, 1::2] ** 2
            return text + " " + _("In every pair sin² + cos² = {sum}: all rows are equally long.").format(
                sum=number(pairs.mean(), 3)
            )  # fmt: skip
        lengths = np.linalg.norm(result.table, axis=1)
        return text + " " + _("Learned rows are between {short} and {long} long.").format(
            short=number(lengths.min()), long=number(lengths.max())
        )  # fmt: skip


# ---- the window slides and is numbered anew ----


class SlidingWindow(Explorer):
    """A text grows, the window keeps its last tokens and numbers them from 0 again."""

    def __init__(self, pretrained: Pretrained | None = None):
        reading = Reading(pretrained)
        self.tokens = reading.labels(reading.tokenizer.encode(example_story()))
        self.figure = LiveFigure(8.6, 1.15)
        self._draw()
        controls = {
            "length": int_slider(_("tokens so far"), 1, len(self.tokens), 8),
            "context": int_slider(_("window"), 2, 12, 5),
        }
        super().__init__(controls, [[self.figure]])

    def compute(self, length: int, context: int) -> Window:
        return window(self.tokens, length, context)

    def _draw(self) -> None:
        axes = style.bare_axes(self.figure.figure)
        axes.set(xlim=(-1.5, len(self.tokens)), ylim=(0, 1.75))
        small = {"va": "center", "fontsize": style.SMALL_SIZE}
        for height, name in ((1.15, _("position")), (0.35, _("token"))):
            axes.text(-0.1, height, name, ha="right", color=style.LIGHT.soft, **small)
        self.inside = boxes(axes, style.ROLES["embedding"], facecolors="none")
        self.outside = boxes(axes, style.ROLES["masked"], facecolors="none", hatch=style.MASK_HATCH)
        self.figure.moving(self.inside, self.outside)
        middle = {"ha": "center", "va": "center"}
        self.positions = Texts(self.figure, axes, fontweight="bold", **middle)
        self.names = Texts(self.figure, axes, fontsize=style.SMALL_SIZE + 1, **middle)

    def show(self, result: Window) -> None:
        paths = [box(i + 0.06, 0.7, 0.88, 0.9, 0.1) for i in range(len(result.tokens))]
        self.outside.set_paths(paths[: result.first])
        self.inside.set_paths(paths[result.first :])
        colour, ink, soft = style.ROLES["embedding"], style.LIGHT.ink, style.LIGHT.soft
        self.positions.show(
            {"x": i + 0.5, "y": 1.15, "text": str(i - result.first), "color": colour}
            for i in range(result.first, len(result.tokens))
        )
        self.names.show(
            {"x": i + 0.5, "y": 0.35, "text": token, "color": soft if i < result.first else ink}
            for i, token in enumerate(result.tokens)
        )
        self.figure.refresh()

    def sentence(self, result: Window) -> str:
        count = len(result.tokens) - result.first
        text = ngettext(
            "{length} token so far, a window of {context}: the positions run from 0 to {last}.",
            "{length} tokens so far, a window of {context}: the positions run from 0 to {last}.",
            len(result.tokens),
        ).format(length=len(result.tokens), context=result.context, last=count - 1)
        if not result.first:
            return text + " " + _("All of them fit.")
        return text + " " + ngettext(
            "{lost} token has dropped out; “{first}” now stands at position 0.",
            "{lost} tokens have dropped out; “{first}” now stands at position 0.",
            result.first,
        ).format(lost=result.first, first=result.tokens[result.first])  # fmt: skip
