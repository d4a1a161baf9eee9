"""What 07_embeddings computes: settings in, arrays out."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ... import sampling
from ...tokenizer import Tokenizer

# ---- byte pair encoding, merge by merge ----

LONGEST = 120  # bytes of a text that still fit the picture


@dataclass(frozen=True)
class Split:
    """A text as a tokenizer that knows the first `merges` merges splits it."""

    text: str
    merges: int
    pieces: list[str]  # printable labels
    byte_count: int
    newest: tuple[str, str] | None  # the merge learned last
    uses_newest: list[bool]  # per piece: is it what the newest merge makes?


def split_with(tokenizer: Tokenizer, text: str, merges: int) -> Split:
    """Encode the text with the first `merges` merges of the tokenizer."""
    young = Tokenizer(tokenizer.merges[:merges], pattern=tokenizer.pattern)
    ids = young.encode(text)
    newest = tokenizer.merges[merges - 1] if merges else None
    made = b"".join(newest) if newest else None
    labels = None
    if newest:
        index = {token: id for id, token in enumerate(young.tokens) if token}
        labels = tuple(young.labels([index[part] for part in newest]))
    return Split(
        text, merges, young.labels(ids), len(text.encode("utf-8", "replace")), labels,
        [young.tokens[id] == made for id in ids],
    )  # fmt: skip


PIECE, LINE = 1.8, 2.3  # height of a piece, and from one line to the next; a letter is about 0.9 wide
ROOM, HEIGHT = 100.0, 7.0  # of the picture at full size


def in_lines(pieces: list[str], room: float) -> list[tuple[float, int, float]]:
    """Left edge, line and width of each piece, set from left to right in lines of this width."""
    places, left, row = [], 0.5, 0
    for piece in pieces:
        width = 1.0 + 0.92 * len(piece)
        if left + width > room - 0.5:
            left, row = 0.5, row + 1
        places.append((left, row, width))
        left += width + 0.5
    return places


def zoom_for(pieces: list[str]) -> float:
    """How many times smaller than at full size the pieces have to be drawn so that all of them fit."""
    zoom, widest = 1.0, max((len(piece) for piece in pieces), default=0) + 2
    while zoom * ROOM < widest or _lines(pieces, zoom) * LINE + 0.1 > zoom * HEIGHT:
        zoom += 0.05
    return zoom


def _lines(pieces: list[str], zoom: float) -> int:
    return max((row for _left, row, _width in in_lines(pieces, zoom * ROOM)), default=0) + 1


# ---- two tables of positions ----


def sine_table(T: int, D: int) -> Tensor:
    """The fixed position codes of 2017: row t, pair i holds sin and cos of t / 10000^(2i/D).  # (T, D)

    Vaswani et al. 2017, section 3.5. ValueError for an odd width.
    """
    if D % 2:
        raise ValueError(f"the codes come in pairs of sine and cosine: width {D} is odd")
    t = torch.arange(T, dtype=torch.float64)[:, None]
    rates = 10000.0 ** (-torch.arange(0, D, 2, dtype=torch.float64) / D)
    table = torch.empty(T, D, dtype=torch.float64)
    table[:, 0::2] = torch.sin(t * rates)
    table[:, 1::2] = torch.cos(t * rates)
    return table.float()


@dataclass(frozen=True)
class Positions:
    """A table of positions, and how alike its rows are to one of them (cosine)."""

    kind: str
    table: np.ndarray  # (T, D)
    position: int
    likeness: np.ndarray  # (T,)


def most_alike(positions: Positions) -> list[int]:
    """The other positions whose rows are most like the chosen one's; more than one if equally so."""
    others = np.delete(np.arange(len(positions.likeness)), positions.position)
    likeness = positions.likeness[others]
    # Two sine codes at the same distance differ by rounding alone.
    return others[np.isclose(likeness, likeness.max(), rtol=0, atol=1e-5)].tolist()


# ---- the window slides and is numbered anew ----


@dataclass(frozen=True)
class Window:
    """The text so far and the part of it that the model can read."""

    tokens: list[str]
    first: int  # index of the first token in the window
    context: int


def window(tokens: list[str], length: int, context: int) -> Window:
    """The first `length` tokens of a text, of which the last `context` are in the window."""
    so_far = tokens[:length]
    kept = sampling.window(list(range(len(so_far))), context)
    return Window(so_far, kept[0], context)
