"""A text as the shipped model reads it, and the story in which several checks measure something."""

import torch

from ..pretrained import Pretrained, load
from ..trace import Trace, trace

STORY = "Eine kleine Ente wohnt im Wald. Heute findet sie einen Ball."


def prompt(shipped: Pretrained, text: str) -> list[int]:
    """The ids of the text, the start token first."""
    return [shipped.tokenizer.start, *shipped.tokenizer.encode(text)]


def read(text: str = STORY) -> tuple[Pretrained, list[int], Trace]:
    """The shipped model, the ids of the text, the start token first, and every inner value on them."""
    shipped = load()
    ids = prompt(shipped, text)
    return shipped, ids, trace(shipped.model, torch.tensor([ids]))
