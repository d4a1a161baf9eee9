"""Join the stills of several views into one picture."""

import io

from PIL import Image

GAP = 28  # image pixels between two views


def stacked(rows: list[list[bytes]], paper: str = "white") -> bytes:
    """One PNG of the pictures, row below row, each row from left to right."""
    lines = [_beside([Image.open(io.BytesIO(png)) for png in row], paper) for row in rows if row]
    page = Image.new(
        "RGB", (max(line.width for line in lines), _total([line.height for line in lines])), paper
    )
    top = 0
    for line in lines:
        page.paste(line, (0, top))
        top += line.height + GAP
    file = io.BytesIO()
    page.save(file, format="PNG", optimize=True)
    return file.getvalue()


def _beside(pictures: list[Image.Image], paper: str) -> Image.Image:
    line = Image.new("RGB", (_total([p.width for p in pictures]), max(p.height for p in pictures)), paper)
    left = 0
    for picture in pictures:
        line.paste(picture, (left, 0))
        left += picture.width + GAP
    return line


def _total(lengths: list[int]) -> int:
    return sum(lengths) + GAP * (len(lengths) - 1)
