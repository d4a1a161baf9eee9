"""08_decoder: what its notebook uses."""

from ..reading import example_giver
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
