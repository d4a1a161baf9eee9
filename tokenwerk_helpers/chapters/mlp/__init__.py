"""03_mlp: what its notebook uses."""

from .computation import fit
from .exercises import check_mlp
from .questions import guess_gelu, guess_positive, guess_swap, guess_without_activation
from .views import ActivationCurves, CurveFit, NeuronExplorer, PositionByPosition
