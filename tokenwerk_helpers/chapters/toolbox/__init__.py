"""00_toolbox: what its notebook uses."""

from .computation import vocabulary
from .exercises import check_softmax, check_step
from .questions import (
    guess_comparisons,
    guess_dot,
    guess_eval,
    guess_gradient,
    guess_ids,
    guess_product,
    guess_row_sums,
    guess_shares,
    guess_step,
)
from .views import Downhill, MatrixTimesList, SoftmaxOfThree, TwoLists
