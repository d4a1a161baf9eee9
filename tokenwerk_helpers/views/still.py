"""Join the stills of several views into one picture."""

import io

from PIL import Image

GAP = 28  # image pixels between two views
WIDEST = 1800  # image pixels of a line: what does not fit goes to the next, as on the page


def stacked(rows: list[list[bytes]], paper: str = "white") -> bytes:
    """One PNG of the pictures, row below row, each row from left to right and broken where it is too long."""
    pictures = [[Image.open(io.BytesIO(png)) for png in row] for row in rows]
    lines = [_beside(line, paper) for row in pictures for line in _broken(row)]
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
