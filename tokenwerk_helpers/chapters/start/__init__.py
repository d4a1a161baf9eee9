"""00_start: what its notebook uses."""

from .exercises import check_mean
from .questions import guess_equal_logits
from .views import FirstSlider, installation, response_time
