"""09_parameter_counting: what its notebook uses."""

from .exercises import check_block_parameters, check_decoder_parameters
from .questions import guess_double_width, guess_heads, guess_left_out, guess_own_head, guess_share
from .views import BlockTables, Counting, LeftOut, ModelSizes
