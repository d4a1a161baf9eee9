"""The book: its chapters, and the drawn decoder at the head of each."""

from collections.abc import Callable
from typing import NamedTuple

from ..language import _
from ..live import style
from ..live.cells import close_earlier_runs
from ..live.diagram import draw_decoder
from ..live.figure import LiveFigure


class Chapter(NamedTuple):
    """A page of the book: its name, as the reader reads it, and what it lights up in the drawn decoder."""

    title: Callable[[], str]
    lit: tuple[str, ...]


# One entry a page, by the notebook's name, in the order of reading.
CHAPTERS = {
    "00_start": Chapter(lambda: _("The way in"), ("all",)),
    "00_toolbox": Chapter(lambda: _("Toolbox"), ()),
    "01_residual": Chapter(lambda: _("Residual connection"), ("residual",)),
    "02_normalization": Chapter(lambda: _("Normalization"), ("norm1", "norm2", "final_norm")),
    "03_mlp": Chapter(lambda: _("The small network (MLP)"), ("mlp",)),
    "04_self_attention": Chapter(lambda: _("Self-attention"), ("attention",)),
    "05_causal_mask": Chapter(lambda: _("The causal mask"), ("attention", "mask")),
    "06_block": Chapter(lambda: _("The block"), ("block", "norm1", "attention", "norm2", "mlp", "residual")),
    "06b_norm_placement": Chapter(lambda: _("Where the norm sits"), ("block", "norm1", "norm2", "residual")),
    "07_embeddings": Chapter(lambda: _("Embeddings and positions"), ("ids", "embedding")),
    "08_decoder": Chapter(lambda: _("The whole decoder"), ("all",)),
    "09_parameter_counting": Chapter(
        lambda: _("Counting parameters"),
        ("embedding", "norm1", "attention", "norm2", "mlp", "final_norm", "head"),
    ),
    "10_sampling": Chapter(lambda: _("From logits to the next token"), ("sampling", "next")),
    "11_training": Chapter(lambda: _("Training"), ("all", "training")),
    "13_words_and_sources": Chapter(lambda: _("Words and sources"), ("all",)),
}


def title(notebook: str) -> str:
    """The name of a chapter as the reader reads it."""
    return CHAPTERS[notebook].title()


def number_of(notebook: str) -> str:
    """The number of a page as its file begins: "04", "06b"."""
    return notebook.partition("_")[0]


def place(notebook: str) -> str:
    """A page as a sentence names it: "page 4, Self-attention"; before page 1, its name alone."""
    number = number_of(notebook).lstrip("0")
    if not number:
        return title(notebook)
    return _("page {number}, {title}").format(number=number, title=title(notebook))


def labels() -> dict[str, str]:
    """What the drawn decoder says, in the reader's language."""
    return {
        "ids": _("Token\nids"),
        "embedding": _("Embedding\n+ position"),
        "norm1": _("Norm₁"),
        "attention": _("Attention"),
        "norm2": _("Norm₂"),
        "mlp": _("MLP"),
        "final_norm": _("Norm"),
        "head": _("Output\nhead"),
        "sampling": _("Softmax,\nchoice"),
        "next": _("next\ntoken"),
        "block": _("Block, L times"),
        "path": _("residual path"),
        "mask": _("the causal mask: who may look at whom"),
        "training": _("training: the gradient runs backwards through everything"),
    }


class DecoderMap(LiveFigure):
    """The decoder with one chapter's part lit up."""

    @style.building()
    def __init__(self, notebook: str):
        # How many pages there are is not said: each new one would make what the others have stored untrue.
        alt = _(
            "You are here: {place}. The picture shows the decoder "
            "from the token ids on the left to the next token on the right."
        )
        super().__init__(9.0, 1.95, alt=alt.format(place=place(notebook)))
        draw_decoder(self.figure, labels(), CHAPTERS[notebook].lit)


def you_are_here(notebook: str) -> DecoderMap:
    """The drawn decoder for the head of a notebook, named by its file without the ending."""
    if notebook not in CHAPTERS:
        raise ValueError(f"no notebook {notebook!r}: choose one of {', '.join(CHAPTERS)}")
    here = DecoderMap(notebook)
    close_earlier_runs(here)
    return here


def part_labels() -> dict[str, str]:
    """What the drawn block says."""
    return {
        "x": "x", "norm1": _("Norm₁"), "attention": _("Attention"), "u": "u", "norm2": _("Norm₂"),
        "mlp": _("MLP"), "y": "y",
    }  # fmt: skip
