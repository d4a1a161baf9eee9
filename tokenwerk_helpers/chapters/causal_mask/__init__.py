"""05_causal_mask: what its notebook uses."""

from .computation import KINDS, mask
from .exercises import check_causal_mask
from .questions import (
    guess_added_mask,
    guess_below_the_floor,
    guess_hidden_score,
    guess_leak,
    guess_ones,
    guess_window,
)
from .views import BeforeOrAfter, CopyingTheFuture, LeakProbe, MaskLab
