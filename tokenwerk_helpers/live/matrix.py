"""MatrixView: a matrix, or several as small multiples, as a live picture of numbers.

Two lines by hand, then as often as you like a third:

    view = MatrixView(weights, rows=tokens)
    view
    view.update(values=other_weights)

Numbers travel as float32 bytes and become colours on a canvas in the browser (matrix.js). The still twin
(matrix_still.py) is drawn from the same arrays, labels, colour tables and words.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import anywidget
import numpy as np
import traitlets
from PIL import Image

from ..characters import visible
from . import matrix_sizes, style
from .assets import asset
from .lock import locked
from .still import SCALE, with_still
from .text import Language
from .twin import Captioned, view_of

KINDS = ("sequential", "diverging")
# Panels, rows and columns, and cells in all: with the smallest cells, three pixels wide, this already is more
# than a window, and still drawn within a second.
MOST = (64, 512, 512)
MOST_CELLS = 512 * 512
WHITE_SPACE = str.maketrans({"\n": "⏎", "\r": "⏎", "\t": "⇥"})


def fixed(value: float, digits: int) -> str:
    """The number as printed in a cell: `digits` decimals, half rounded to even, with a real minus sign."""
    if np.isnan(value):
        return "NaN"
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{float(value):.{digits}f}"
    if float(text) == 0:
        text = text.removeprefix("-")
    return text.replace("-", "−")


def spoken(value: float, digits: int) -> str:
    """The number as said in words: two decimals more than in the cell, and no tiny one that reads as zero."""
    if value == 0:
        return "0"
    more = (2 if digits < 0 else digits) + 2
    if not np.isfinite(value) or abs(value) >= 10.0**-more:
        return fixed(value, more)
    mantissa, exponent = f"{float(value):.1e}".split("e")
    return f"{mantissa.replace('-', '−')}·10{str(int(exponent)).translate(style.SUPERSCRIPT)}"


def colour_limits(asked, kind: str, values: np.ndarray, allowed: np.ndarray | None) -> tuple[float, float]:
    """The range of the colours: as asked for, or that of all visible finite cells and zero.

    A diverging range is widened until zero is its middle. The browser follows the same rule (matrix.js).
    """
    seen = values[np.isfinite(values) if allowed is None else np.isfinite(values) & allowed]
    low, high = asked or ((float(seen.min()), float(seen.max())) if seen.size else (0.0, 1.0))
    if kind == "diverging":
        reach = max(abs(low), abs(high)) or 1.0
        return -reach, reach
    if asked:
        return low, high
    low = min(low, 0.0)
    return low, high if high > low else low + 1.0


def colour_index(values: np.ndarray, limits: tuple[float, float]) -> np.ndarray:
    """The row of the colour table for each value; what lies beyond the limits takes the end of the table."""
    low, high = limits
    return np.clip(np.floor((values.astype(np.float64) - low) / (high - low) * 256), 0, 255).astype(np.uint8)


@cache
def appearance() -> dict:
    """The colours of both themes, as the browser needs them."""
    return {
        name: {
            "neutral": neutral_colours(dark),
            "tables": {kind: table_with_ink(kind, dark) for kind in KINDS},
        }
        for name, dark in (("light", False), ("dark", True))
    }


def neutral_colours(dark: bool) -> dict[str, str]:
    """Ink, paper and the greys of a matrix."""
    theme = style.DARK if dark else style.LIGHT
    return {
        "ink": theme.ink,
        "soft": theme.soft,
        "paper": theme.paper,
        "grid": theme.grid,
        "frame": "#59616b" if dark else "#b1bac4",
        "blank": "#2c3239" if dark else "#eceff2",  # a cell that holds no finite number
        "masked": "#6b7178" if dark else "#bcbfc3",  # the role's grey, thinned for hatching
    }


def table_with_ink(kind: str, dark: bool) -> dict[str, bytes]:
    """A colour table and, for each colour, whether print on it is white."""
    table = style.table(kind, dark)
    white = [style.text_on(colour) == "#ffffff" for colour in table]
    return {"table": table.tobytes(), "white": bytes(white)}


class Array(traitlets.TraitType):
    """An array, copied and frozen on the way in, sent as its shape and bytes.

    `check` turns what is given into an array of the right kind or raises a ValueError.
    """

    def __init__(self, check: Callable, none: bool = False, help: str = ""):
        super().__init__(None, allow_none=none, help=help)
        self.check = check
        self.tag(sync=True, to_json=to_wire, from_json=from_wire)

    def validate(self, obj, value):
        """The value as a frozen copy; ValueError if `check` refuses it."""
        array = np.array(self.check(value), order="C")  # the reader may go on changing the original
        array.setflags(write=False)
        return array


def to_wire(array: np.ndarray | None, widget) -> dict | None:
    """The message for the browser: no copy, no text."""
    return None if array is None else {"shape": list(array.shape), "data": array.data.cast("B")}


def from_wire(wire: dict | None, widget) -> np.ndarray | None:
    """The mask that the browser sends."""
    return None if wire is None else np.frombuffer(wire["data"], np.uint8).reshape(wire["shape"]) != 0


def plain(values):
    """`values` as NumPy can read them: the numbers of a tensor that has gradients, is sparse or elsewhere."""
    if isinstance(values, list | tuple):
        return [plain(value) for value in values]
    if not hasattr(values, "detach"):
        return values
    values = values.detach().to_dense().cpu()
    # NumPy does not know all of torch's types, bfloat16 for one.
    return values.float() if values.is_floating_point() else values


def numbers(values) -> np.ndarray:
    """The values as float32 with a panel axis in front; ValueError unless (R, C) or (n, R, C) with no 0."""
    array = np.asarray(plain(values))
    if array.dtype.kind not in "biuf":
        raise ValueError(f"values must be real numbers, not {array.dtype}")
    if array.ndim not in (2, 3) or 0 in array.shape:
        raise ValueError(f"values must have the shape (R, C) or (n, R, C), not {array.shape}")
    check_size(array.shape)
    with np.errstate(over="ignore"):  # beyond float32 is infinity, shown as such
        array = array.astype(np.float32)
    return array if array.ndim == 3 else array[None]


def check_size(shape: tuple[int, ...]) -> None:
    """ValueError if there is more to show than a page has room for."""
    most = MOST[-len(shape) :]
    if any(length > limit for length, limit in zip(shape, most)) or np.prod(shape) > MOST_CELLS:
        raise ValueError(
            f"values of the shape {shape} are too many to see: at most {most} and {MOST_CELLS} in all, "
            "so show a part of them, such as values[:64, :64]"
        )


def booleans(allowed) -> np.ndarray:
    """The mask; ValueError if it is anything but boolean."""
    array = np.asarray(plain(allowed))
    if array.dtype != np.bool_:
        # Numbers are refused: an additive mask (0 and -inf) would be read upside down.
        raise ValueError(f"allowed must be boolean (True = may look), not {array.dtype}")
    return array


def check_mask(allowed: np.ndarray | None, shape: tuple[int, int, int]) -> None:
    """ValueError unless the mask fits the values."""
    if allowed is not None and allowed.shape not in (shape, shape[1:]):
        raise ValueError(f"allowed has the shape {allowed.shape}, but the values have {shape[1:]}")


def shown(label: str) -> str:
    """The label as the eye can read it; spaces beside letters and digits stay what they are."""
    return visible(label.translate(WHITE_SPACE), keep_spaces=bool(label.strip()))


def labels(given, name: str, length: int) -> list[str] | None:
    """The labels as text, what shows nothing made visible; ValueError if there are too many or too few."""
    if given is None:
        return None
    if isinstance(given, str):
        raise ValueError(f"{name} must be a list of texts, not the single text {given!r}")
    texts = [shown(str(label).encode("utf-8", "replace").decode("utf-8")) for label in given]
    if len(texts) != length:
        raise ValueError(f"{len(texts)} {name} given, but the values need {length}")
    return texts


def with_numbers(given: dict[str, list[str] | None], R: int, C: int) -> tuple[list[str], list[str]]:
    """Labels of rows and columns; for missing ones stand numbers, or in a square matrix those of its rows."""
    rows = given["rows"] or [str(i + 1) for i in range(R)]
    return rows, given["columns"] or (rows if R == C else [str(i + 1) for i in range(C)])


def is_cell(marked: Sequence[int], shape: tuple[int, int, int]) -> bool:
    """Is this the panel, row and column of a cell, or no cell at all?"""
    return not marked or (len(marked) == 3 and all(0 <= i < length for i, length in zip(marked, shape)))


def check_limits(limits) -> tuple[float, float] | None:
    """The limits as two numbers; ValueError unless they are finite and in order."""
    if limits is None:
        return None
    low, high = (float(limit) for limit in limits)
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise ValueError(f"limits must be two finite numbers in order, not {(low, high)}")
    return low, high


class MatrixView(Captioned, anywidget.AnyWidget):
    """A live matrix: colours, printed numbers while cells are large enough, a cursor, a mask one can click.

    `values` has the shape (R, C), or (n, R, C) for n panels side by side, the heads of an attention layer for
    example. `rows` and `columns` label the cells: numbers from 1 if left out, and a square matrix takes the
    labels of its rows for the columns too. `allowed` is boolean, (R, C) or (n, R, C), True = may look; the
    other cells are hatched. Anything `np.asarray` takes will do, and tensors of any kind. Every other trait
    can be given by name, here and to `update`. Wrong shapes, types or numbers of labels raise a ValueError,
    and so do more values than a page has room for (`MOST`, `MOST_CELLS`).
    """

    _esm = asset("matrix.js", matrix_sizes)
    _css = asset("matrix.css")

    values = Array(numbers, help="numbers of the cells  # (n, R, C)")
    allowed = Array(booleans, none=True, help="True = may look; None = no mask  # (R, C) or (n, R, C)")
    rows = traitlets.List(traitlets.Unicode(), help="R labels").tag(sync=True)
    columns = traitlets.List(traitlets.Unicode(), help="C labels").tag(sync=True)
    titles = traitlets.List(traitlets.Unicode(), help="a title for each panel, or none").tag(sync=True)
    row_axis = traitlets.Unicode(help="what the rows are").tag(sync=True)
    column_axis = traitlets.Unicode(help="what the columns are").tag(sync=True)
    kind = traitlets.Enum(KINDS, "sequential", help="diverging is centred on zero").tag(sync=True)
    limits = traitlets.Tuple(
        traitlets.Float(),
        traitlets.Float(),
        default_value=None,
        allow_none=True,
        help="None = from the values",
    ).tag(sync=True)
    digits = traitlets.Int(2, min=-1, max=6, help="decimals printed in a cell; -1 prints none").tag(sync=True)
    selected = traitlets.Int(-1, min=-1, help="the selected row, -1 = none").tag(sync=True)
    marked = traitlets.List(
        traitlets.Int(), help="panel, row and column of the one cell with a frame; empty = none"
    ).tag(sync=True)
    editable = traitlets.Bool(False, help="does a click on a cell change the mask?").tag(sync=True)
    words = traitlets.Unicode("{row} → {column}: {value}", help="what the cursor says").tag(sync=True)
    masked_words = traitlets.Unicode("{row} ↛ {column}", help="what it says of a masked cell").tag(sync=True)
    masked_legend = traitlets.Unicode(help="what hatching means").tag(sync=True)
    hint = traitlets.Unicode(help="shown while no cell is pointed at").tag(sync=True)
    alt = traitlets.Unicode(help="what is to be seen, in words").tag(sync=True)
    lang = Language(help="of the words").tag(sync=True)
    legend = traitlets.Bool(True, help="show the colour bar?").tag(sync=True)
    cell_size = traitlets.Int(44, min=3, help="largest size of a cell in page pixels").tag(sync=True)
    max_height = traitlets.Int(640, min=80, help="height the picture should not exceed").tag(sync=True)
    _clickable = traitlets.Bool(False, help="is a click on a cell told?").tag(sync=True)
    _appearance = traitlets.Dict().tag(sync=True)

    def __init__(
        self, values, rows: Sequence[str] | None = None, columns: Sequence[str] | None = None, **traits
    ):
        # Labels as asked for, before numbers stand in.
        self._given: dict[str, list[str] | None] = {"rows": None, "columns": None}
        self._edit_callbacks: list[Callable] = []
        self._click_callbacks: list[Callable] = []
        # Checked before the widget exists, so that a mistake leaves no half-made widget behind.
        defaults: dict[str, Any] = {"allowed": None, "titles": [], "limits": None}
        state = self._settled({"values": values, "rows": rows, "columns": columns} | defaults | traits)
        super().__init__(_appearance=appearance(), **state)
        self.on_msg(self._hear)

    @locked
    def update(self, **changes) -> None:
        """Change any traits at once and send them in one message; if one is refused, nothing has changed."""
        current = {name: getattr(self, name) for name in ("values", "allowed", "titles", "limits")}
        given = self._given
        state = self._settled(current | given | changes)
        if "selected" not in changes and self.selected >= state["values"].shape[1]:
            state["selected"] = -1  # that row is gone
        if "marked" not in changes and not is_cell(self.marked, state["values"].shape):
            state["marked"] = []
        for name in {"values", "allowed"} - set(changes):
            del state[name]  # nothing new, so nothing to send
        try:
            with self.hold_sync(), self.hold_trait_notifications():
                for name, value in state.items():
                    setattr(self, name, value)
        except traitlets.TraitError:
            self._given = given
            raise

    def describe(self, row: int, column: int, panel: int = 0) -> str:
        """What the cursor says of a cell."""
        value, hidden = self.values[panel, row, column], not self.visible[panel, row, column]
        template = self.masked_words if hidden else self.words
        fields = {
            "row": self.rows[row],
            "column": self.columns[column],
            "value": spoken(value, self.digits),
            "panel": self.titles[panel] if self.titles else str(panel + 1),
        }
        # In one pass: a label may itself read "{value}".
        return re.sub(r"\{(row|column|value|panel)\}", lambda field: fields[field[1]], template)

    @property
    def visible(self) -> np.ndarray:
        """The mask of every cell, all True without one.  # (n, R, C)"""
        return np.broadcast_to(True if self.allowed is None else self.allowed, self.values.shape)

    def on_edit(self, callback: Callable[[np.ndarray], None], remove: bool = False) -> None:
        """Call `callback(allowed)` after the reader has clicked a cell (not after changes made in Python)."""
        if remove:
            self._edit_callbacks.remove(callback)
        else:
            self._edit_callbacks.append(callback)

    def on_click(self, callback: Callable[[int, int, int], None], remove: bool = False) -> None:
        """Call `callback(panel, row, column)` when the reader clicks a cell, taps it, or presses Enter on it.

        The click then selects no row; one on the row's label still does. On an `editable` mask it changes the
        mask and is told to `on_edit` alone.
        """
        if remove:
            self._click_callbacks.remove(callback)
        else:
            self._click_callbacks.append(callback)
        self._clickable = bool(self._click_callbacks)

    @locked
    def _hear(self, _widget, content: dict, _buffers) -> None:
        cell = content["click"]
        if is_cell(cell, self.values.shape):  # else a cell that has meanwhile gone
            for callback in tuple(self._click_callbacks):
                callback(*cell)

    @locked
    def still(self, scale: float = SCALE, width: int = 680) -> Image.Image:
        """The still twin: the matrix on light paper, at most `width` page pixels wide."""
        from .matrix_still import draw

        return draw(self, scale, width)

    @locked
    def set_state(self, sync_data) -> None:
        """Take what the browser sends; a click on a mask that has meanwhile changed its shape is dropped."""
        edited = sync_data.get("allowed")
        if edited and tuple(edited["shape"]) not in (self.values.shape, self.values.shape[1:]):
            sync_data = {name: value for name, value in sync_data.items() if name != "allowed"}
            self.send_state("allowed")
            edited = None
        super().set_state(sync_data)
        if edited:
            for callback in tuple(self._edit_callbacks):
                callback(self.allowed)

    def _settled(self, state: dict) -> dict:
        """All traits checked against each other and in their final form."""
        unknown = [name for name in state if name.startswith("_") or not self.has_trait(name)]
        if unknown:
            raise TypeError(f"MatrixView has no trait {', '.join(unknown)}")
        values = numbers(state["values"])
        n, R, C = values.shape
        allowed = None if state["allowed"] is None else booleans(state["allowed"])
        check_mask(allowed, values.shape)
        given = {"rows": labels(state["rows"], "rows", R), "columns": labels(state["columns"], "columns", C)}
        rows, columns = with_numbers(given, R, C)
        titles = [state["titles"]] if isinstance(state["titles"], str) else state["titles"]
        settled: dict[str, Any] = {"values": values, "allowed": allowed, "rows": rows, "columns": columns}
        settled["titles"] = labels(titles or None, "titles", n) or []
        settled["limits"] = check_limits(state["limits"])
        if not is_cell(state.get("marked", []), values.shape):
            raise ValueError(f"marked must be panel, row and column of a cell, not {state['marked']}")
        self._given = given
        return state | settled

    @traitlets.validate("values", "allowed", "rows", "columns")
    def _fits(self, proposal):
        """Hold traits that are set one by one to the rules of `update`."""
        names = ("values", "allowed", "rows", "columns")
        state = {name: getattr(self, name) for name in names} | {proposal["trait"].name: proposal["value"]}
        if state["values"] is not None:  # None only while the widget is being made
            _, R, C = state["values"].shape
            check_mask(state["allowed"], state["values"].shape)
            labels(state["rows"] or None, "rows", R)
            labels(state["columns"] or None, "columns", C)
        return proposal["value"]

    @traitlets.observe("rows", "columns")
    def _remember(self, change):
        """Labels that are set one by one are asked for just as those given to `update`."""
        rows, columns = with_numbers(self._given, len(self.rows), len(self.columns))
        if change.new != {"rows": rows, "columns": columns}[change.name]:
            self._given = self._given | {change.name: list(change.new)}

    def _repr_mimebundle_(self, **_kwargs) -> tuple[dict, dict]:
        n, R, C = self.values.shape
        sentence = self.alt or f"{n} × {R} × {C}"
        return with_still(view_of(self), self.still(), sentence)
