"""Still twins: what a live view shows as a picture that stays, alone or with others on one page."""

import io

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from .twin import with_twin

SCALE = 2.0  # image pixels for each pixel of the page
GAP = 28  # image pixels between two views
WIDEST = 1980  # image pixels of a line: what does not fit goes to the next, as on the page
AREA = 128  # image pixels that a colour must cover to be stored exactly: rarer ones lie at edges of letters
NEAR = 6  # of 255: how far in each channel a rarer colour may be from the one that is stored for it


def photograph(canvas: FigureCanvasAgg) -> Image.Image:
    """The canvas as it is drawn now."""
    picture = Image.frombuffer("RGBA", canvas.get_width_height(), canvas.buffer_rgba())
    # Opaque: a transparent picture with dark text would vanish on a dark page.
    return picture.convert("RGB")


def with_palette(picture: Image.Image) -> Image.Image:
    """The picture in 256 colours or fewer; as it is where the eye could see the difference.

    A colour of at least `AREA` pixels stays exactly, others change by at most `NEAR` in each channel.
    """
    found = picture.getcolors(1 << 14)
    if found is None:  # a photograph, say
        return picture
    found.sort(reverse=True)
    colours = np.array([colour for _count, colour in found], np.int16).T.copy()  # (3, colours)
    common = sum(count >= AREA for count, _colour in found)
    palette: list[np.ndarray] = []
    nearest = np.zeros(len(found), np.uint8)
    distance = np.full(len(found), 256, np.int16)  # of each colour to the nearest of the palette
    # The common ones, then always the one farthest from all chosen: this keeps the largest error small.
    while len(palette) < 256 and distance.any():
        pick = len(palette) if len(palette) < common else int(distance.argmax())
        apart = np.abs(colours - colours[:, pick, None]).max(axis=0)
        is_nearer = apart < distance
        nearest[is_nearer], distance[is_nearer] = len(palette), apart[is_nearer]
        palette.append(colours[:, pick])
    if distance[:common].any() or distance.max() > NEAR:
        return picture
    red, green, blue = colours.astype(np.int32)
    index = np.zeros(1 << 24, np.uint8)  # by colour
    index[red | green << 8 | blue << 16] = nearest
    pixels = np.frombuffer(picture.convert("RGBX").tobytes(), "<u4") & 0xFFFFFF
    few = Image.frombytes("P", picture.size, index[pixels].tobytes())
    few.putpalette(np.array(palette, np.uint8).tobytes())
    return few


def encoded(picture: Image.Image) -> bytes:
    """The picture as PNG, with a palette where the eye sees no difference: less than half as large."""
    file = io.BytesIO()
    # Level 9 takes three times as long and saves three bytes in a hundred.
    with_palette(picture).save(file, format="PNG", compress_level=6)
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


def with_still(view: dict, still: Image.Image, sentence: str) -> tuple[dict, dict]:
    """Data and metadata of a view with its still twin beside it: a picture and a sentence."""
    twin = {"image/png": encoded(still), "text/plain": sentence}
    return with_twin(view, twin, {"image/png": {"width": round(still.width / SCALE), "alt": sentence}})


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
