"""10_sampling: what its notebook uses."""

from ..reading import example_gift
from .computation import LOGITS, entropy
from .exercises import check_top_k
from .questions import guess_draws, guess_limit, guess_order, guess_top_p, guess_zero
from .views import Draws, Filters, Loop
