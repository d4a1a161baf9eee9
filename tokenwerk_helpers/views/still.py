"""Still twins: what a live view shows as a picture that stays, alone or with others on one page."""

import io

from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from .twin import with_twin

SCALE = 2.0  # image pixels for each pixel of the page
GAP = 28  # image pixels between two views
WIDEST = 1800  # image pixels of a line: what does not fit goes to the next, as on the page


def photograph(canvas: FigureCanvasAgg) -> Image.Image:
    """The canvas as it is drawn now."""
    picture = Image.frombuffer("RGBA", canvas.get_width_height(), canvas.buffer_rgba())
    # Opaque: a transparent picture with dark text would vanish on a dark page.
    return picture.convert("RGB")


def encoded(picture: Image.Image) -> bytes:
    """The picture as PNG."""
    file = io.BytesIO()
    # Level 9 takes three times as long and saves three bytes in a hundred.
    picture.save(file, format="PNG", compress_level=6)
    return file.getvalue()


def stacked(rows: list[list[Image.Image]], paper: str = "white") -> Image.Image:
    """One page of the pictures, row below row, each from left to right and broken where it is too long."""
    lines = [_beside(line, paper) for row in rows for line in _broken(row)]
    size = max(line.width for line in lines), _total([line.height for line in lines])
    page = Image.new("RGB", size, paper)
    top = 0
    for line in lines:
        page.paste(line, (0, top))
        top += line.height + GAP
    return page


def with_still(bundle, still: Image.Image, sentence: str):
    """A widget's mime bundle with its still twin beside it: a picture and a sentence."""
    twin = {"image/png": encoded(still), "text/plain": sentence}
    return with_twin(bundle, twin, {"image/png": {"width": round(still.width / SCALE), "alt": sentence}})


def _broken(row: list[Image.Image]) -> list[list[Image.Image]]:
    lines: list[list[Image.Image]] = []
    for picture in row:
        if lines and _total([p.width for p in [*lines[-1], picture]]) <= WIDEST:
            lines[-1].append(picture)
        else:
            lines.append([picture])
    return lines


def _beside(pictures: list[Image.Image], paper: str) -> Image.Image:
    line = Image.new("RGB", (_total([p.width for p in pictures]), max(p.height for p in pictures)), paper)
    left = 0
    for picture in pictures:
        line.paste(picture, (left, 0))
        left += picture.width + GAP
    return line


def _total(lengths: list[int]) -> int:
    return sum(lengths) + GAP * (len(lengths) - 1)
