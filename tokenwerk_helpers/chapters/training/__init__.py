"""11_training: what its notebook uses."""

from .exercises import check_shifted
from .questions import guess_exchanged, guess_first_loss, guess_last, guess_questions, guess_ten_stories
from .views import LiveTraining, Scrubber, Targets, TwoHeads
