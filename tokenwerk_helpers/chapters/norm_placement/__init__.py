"""06_block (where the norm sits): what its notebook uses."""

from .questions import guess_deep, guess_no_norm
from .views import GradientsAtStart, PlacementTraining, placements
