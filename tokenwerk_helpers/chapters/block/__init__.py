"""06_block: what its notebook uses."""

from .exercises import check_block_forward
from .questions import (
    guess_contribution,
    guess_dropout,
    guess_norm_parameters,
    guess_second_sum,
    guess_ten_times,
)
from .views import BlockWalk, DropoutRuns, ResidualStream, SmallBlock
