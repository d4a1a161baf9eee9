"""07_embeddings: what its notebook uses."""

from .computation import sine_table, unseen_text, words_to_merge
from .exercises import check_embed
from .questions import (
    guess_likeness,
    guess_merge,
    guess_missing_row,
    guess_neighbours,
    guess_order,
    guess_renumbered,
    guess_sum,
)
from .views import Merges, Neighbours, PositionTables, SlidingWindow
