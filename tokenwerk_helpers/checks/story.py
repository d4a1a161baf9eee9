"""A story that the shipped model reads, for the checks that measure something in it."""

import torch

from .. import pretrained
from ..trace import Trace, trace

STORY = "Eine kleine Ente wohnt im Wald. Heute findet sie einen Ball."


def read(text: str = STORY) -> tuple[list[int], Trace]:
    """The ids of the text, the start token first, and every inner value of the shipped model on them."""
    shipped = pretrained.load()
    ids = [shipped.tokenizer.start, *shipped.tokenizer.encode(text)]
    return ids, trace(shipped.model, torch.tensor([ids]))
