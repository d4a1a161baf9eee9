"""08_decoder: what its notebook uses."""

from .exercises import check_next_id
from .questions import (
    guess_change_of_shape,
    guess_missing_part,
    guess_own_words,
    guess_position,
    guess_shape,
    guess_tied,
)
from .views import AblationBoard, Generation, LivingPlan, NextToken

__all__ = [
    "AblationBoard",
    "Generation",
    "LivingPlan",
    "NextToken",
    "check_next_id",
    "guess_change_of_shape",
    "guess_missing_part",
    "guess_own_words",
    "guess_position",
    "guess_shape",
    "guess_tied",
]
