"""The drawn block: from x to y, with the norm before, behind or nowhere, and one step lit up."""

from collections.abc import Mapping

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Patch
from matplotlib.text import Text

from . import style

# What a value meets on its way, from left to right; "fork" is where the direct path leaves.
ORDER = {
    "pre": ("x", "fork", "norm1", "attention", "sum1", "u", "fork", "norm2", "mlp", "sum2", "y"),
    "post": ("x", "fork", "attention", "sum1", "norm1", "u", "fork", "mlp", "sum2", "norm2", "y"),
    "none": ("x", "fork", "attention", "sum1", "u", "fork", "mlp", "sum2", "y"),
}
ROLE = {"norm1": "norm", "norm2": "norm", "attention": "attention", "mlp": "mlp"}
ROLE |= dict.fromkeys(("x", "u", "y", "sum1", "sum2"), "residual")
WIDTH = {"norm1": 1.15, "norm2": 1.15, "attention": 1.45, "mlp": 1.0, "fork": 0.0}
ROUND = 0.36  # width of the circles: x, u, y and the sums
GAP = 0.34
HALF, ARC = 0.34, 0.72  # half the height of a box; height of the direct path


class BlockDiagram:
    """A block drawn into `axes`; `light(name)` makes one part stand out.

    labels: a text for each of "x", "norm1", "attention", "u", "norm2", "mlp", "y". `parts` are the artists
    that `light` changes, `paths` the direct paths (a line and an arrow head each), `middle` says where a part
    stands. `span` is the width of the drawing in its own units, if several are to have one scale.
    """

    def __init__(
        self, axes: Axes, labels: Mapping[str, str], placement: str = "pre", span: float | None = None
    ):
        self.axes = axes
        self.middle: dict[str, float] = {}
        self.paths: list[list[Artist]] = []
        self.shapes: dict[str, Patch] = {}
        self.texts: dict[str, Text] = {}
        axes.set_axis_off()
        axes.set_aspect("equal")
        axes.set_ylim(-HALF - 0.12, ARC + 0.14)
        end = self._lay_out(labels, ORDER[placement])
        axes.set_xlim(-0.1, span or end + 0.1)
        axes.set_anchor("W")
        self.light(None)

    @property
    def parts(self) -> list[Artist]:
        """The artists that change when another part is lit."""
        return [*self.shapes.values(), *self.texts.values()]

    def light(self, lit: str | None) -> None:
        """Fill the part named `lit` with the colour of its role, the others with paper."""
        # Compared with what is drawn now, so that the colours of a dark page are kept.
        for name, shape in self.shapes.items():
            colour, paper = shape.get_edgecolor(), self.axes.figure.get_facecolor()
            shape.set_facecolor(colour if name == lit else paper)
            shape.set_linewidth(2.0 if name == lit else 1.2)
            self.texts[name].set_color(paper if name == lit else colour)
            self.texts[name].set_fontweight("bold" if name == lit or name.startswith("sum") else "normal")

    def add_path(self, start: float, end: float, height: float = ARC) -> list[Artist]:
        """Draw a direct path from the line of the parts up, across and down into a sum."""
        colour = style.ROLES["residual"]
        (line,) = self.axes.plot(
            [start, start, end], [0, height, height], color=colour, linewidth=1.6, solid_joinstyle="round"
        )
        return [line, _arrow(self.axes, (end, height), (end, ROUND / 2), colour, 1.6)]

    def _lay_out(self, labels: Mapping[str, str], order: tuple[str, ...]) -> float:
        at = fork = 0.0
        for name in order:
            if name == "fork":
                fork = at + 0.12
                continue
            start = at if name == "x" else at + GAP
            end = start + WIDTH.get(name, ROUND)
            if name != "x":
                _arrow(self.axes, (at, 0), (start, 0))
            self._draw_part(name, start, end, "+" if name.startswith("sum") else labels[name])
            if name.startswith("sum"):
                self.paths.append(self.add_path(fork, (start + end) / 2))
            at = end
        return at

    def _draw_part(self, name: str, start: float, end: float, label: str) -> None:
        colour, middle = style.ROLES[ROLE[name]], (start + end) / 2
        self.middle[name] = middle
        if name not in WIDTH:
            shape: Patch = Circle((middle, 0), ROUND / 2, edgecolor=colour, zorder=3)
        else:
            shape = FancyBboxPatch(
                (start, -HALF), end - start, 2 * HALF, boxstyle="round,pad=0,rounding_size=0.12",
                edgecolor=colour, zorder=3,
            )  # fmt: skip
        self.shapes[name] = self.axes.add_patch(shape)
        self.texts[name] = self.axes.text(
            middle, 0, label, ha="center", va="center_baseline" if label == "+" else "center", zorder=5,
            fontsize=style.SMALL_SIZE,
        )  # fmt: skip


def _arrow(axes: Axes, start, end, colour: str = style.LIGHT.soft, width: float = 1.0) -> Artist:
    head = "-|>,head_length=3,head_width=1.8"
    return axes.add_patch(
        FancyArrowPatch(
            start, end, arrowstyle=head, color=colour, linewidth=width, shrinkA=0, shrinkB=0, zorder=2
        )
    )
