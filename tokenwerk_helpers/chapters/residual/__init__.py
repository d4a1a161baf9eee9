"""01_residual: what its notebook uses."""

from .computation import training_compared
from .exercises import check_residual_step
from .questions import guess_broadcast, guess_deep_rate, guess_depth, guess_slope, guess_sum
from .views import GradientByDepth, LearningRate, TwoPaths, VectorAddition, outcome_in_words
