"""The stored pictures of live views: whole, of the width that is told, their sentence below, and of today."""

import base64
import io
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import nbformat
import numpy as np
import pytest
from PIL import Image

from tokenwerk_helpers.chapters.book import you_are_here
from tokenwerk_helpers.jupyter.stored import is_still, text_in
from tokenwerk_helpers.language import LANGUAGES, set_language
from tokenwerk_helpers.live.still import SCALE

PAGES = sorted((Path(__file__).parents[2] / "notebooks").glob("*/*.ipynb"))
EVERY_PAGE = pytest.mark.parametrize("path", PAGES, ids=lambda path: f"{path.parent.name}-{path.stem}")


def picture(output: dict) -> Image.Image:
    """The stored picture, decoded to its last pixel."""
    stored = Image.open(io.BytesIO(base64.b64decode(text_in(output, "image/png"))))
    stored.load()
    return stored.convert("RGB")


def outputs(path: Path) -> list[list[dict]]:
    return [cell.get("outputs", []) for cell in nbformat.read(path, 4).cells]


def stills(path: Path) -> Iterator[tuple[dict, dict]]:
    """Yield each still of a page with the output that follows it."""
    for shown in outputs(path):
        yield from ((one, other) for one, other in pairwise([*shown, {}]) if is_still(one))


@EVERY_PAGE
def test_every_still_is_a_whole_picture_of_the_width_it_tells_with_its_sentence_below(path):
    found = list(stills(path))
    assert found
    for output, below in found:
        told = output["metadata"]["image/png"]
        assert "image/png" in output["data"], told["alt"]
        assert told["width"] == round(picture(output).width / SCALE), told["alt"]
        assert text_in(below).split() == told["alt"].split()


@EVERY_PAGE
def test_the_drawn_decoder_is_stored_as_it_is_drawn_today(path):
    """But for edges of letters, which another version of the font's renderer sets a little differently."""
    set_language(path.parent.name)
    try:
        stored, drawn = picture(next(stills(path))[0]), you_are_here(path.stem).still()
    finally:
        set_language(LANGUAGES[0])
    assert stored.size == drawn.size
    apart = np.abs(np.asarray(stored, np.int16) - np.asarray(drawn, np.int16)).max(axis=-1)
    assert (apart > 48).mean() < 0.002
