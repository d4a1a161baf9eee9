"""The book: its chapters, and the drawn decoder at the head of each."""

from ..language import _
from ..live import style
from ..live.cells import close_earlier_runs
from ..live.diagram import draw_decoder
from ..live.figure import LiveFigure

# notebook -> the parts of the drawn decoder that it lights up
CHAPTERS = {
    "00_start": ("all",),
    "01_residual": ("residual",),
    "02_normalization": ("norm1", "norm2", "final_norm"),
    "03_mlp": ("mlp",),
    "04_self_attention": ("attention",),
    "05_causal_mask": ("attention", "mask"),
    "06_block": ("block", "norm1", "attention", "norm2", "mlp", "residual"),
    "07_embeddings": ("ids", "embedding"),
    "08_decoder": ("all",),
    "09_parameter_counting": ("embedding", "norm1", "attention", "norm2", "mlp", "final_norm", "head"),
    "10_sampling": ("sampling", "next"),
    "11_training": ("all", "training"),
}


def title(notebook: str) -> str:
    """The name of a chapter as the reader reads it."""
    return {
        "00_start": _("The way in"),
        "01_residual": _("Residual connection"),
        "02_normalization": _("Normalization"),
        "03_mlp": _("The small network (MLP)"),
        "04_self_attention": _("Self-attention"),
        "05_causal_mask": _("The causal mask"),
        "06_block": _("The block"),
        "07_embeddings": _("Embeddings and positions"),
        "08_decoder": _("The whole decoder"),
        "09_parameter_counting": _("Counting parameters"),
        "10_sampling": _("From logits to the next token"),
        "11_training": _("Training"),
    }[notebook]


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
        "head": _("Head"),
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
        number = int(notebook[:2])
        alt = _(
            "You are here: {title} (page {number} of {last}). The picture shows the decoder "
            "from the token ids on the left to the next token on the right."
        )
        super().__init__(
            9.0, 1.95, alt=alt.format(title=title(notebook), number=number, last=len(CHAPTERS) - 1)
        )
        draw_decoder(self.figure, labels(), CHAPTERS[notebook])


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
