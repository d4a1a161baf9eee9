"""A story that the shipped model reads, for the checks that measure something in it."""

import torch

from ..pretrained import Pretrained, load
from ..trace import Trace, trace

STORY = "Eine kleine Ente wohnt im Wald. Heute findet sie einen Ball."


def read(text: str = STORY) -> tuple[Pretrained, list[int], Trace]:
    """The shipped model, the ids of the text, the start token first, and every inner value on them."""
    shipped = load()
    ids = [shipped.tokenizer.start, *shipped.tokenizer.encode(text)]
    return shipped, ids, trace(shipped.model, torch.tensor([ids]))
