"""02_normalization: what its notebook uses."""

from .computation import steps
from .exercises import check_layer_norm
from .questions import (
    guess_deviation,
    guess_epsilon,
    guess_largest,
    guess_moving,
    guess_scale,
    guess_two_points,
)
from .views import EpsilonUnderRoot, OnTheSphere, SharedStatistic, Statistics
