"""06b_norm_placement: what its notebook uses."""

from .questions import guess_deep, guess_no_norm, guess_vanishing
from .views import GradientsAtStart, InsideTheBlocks, PlacementTraining, placements
