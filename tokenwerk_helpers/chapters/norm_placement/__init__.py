"""06b_norm_placement: what its notebook uses."""

from .exercises import check_post_norm
from .questions import guess_deep, guess_no_norm, guess_vanishing
from .views import GradientsAtStart, InsideTheBlocks, PlacementTraining, placements
