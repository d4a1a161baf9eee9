"""04_self_attention: what its notebook uses."""

from .computation import POSITION_EMBEDDINGS, SENTENCE, TOKEN_EMBEDDINGS, TOKEN_IDS, projections
from .exercises import check_attention
from .questions import (
    guess_empty_query,
    guess_pronoun,
    guess_row_sum,
    guess_spread,
    guess_stretch,
    guess_transpose,
)
from .views import FiveSteps, Heads, SplitHeads, WhyScale
