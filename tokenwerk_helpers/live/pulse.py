"""Pulse: how long a message takes from the page to the kernel and back."""

import anywidget
import traitlets

from .assets import asset
from .twin import view_of, with_twin


class Pulse(anywidget.AnyWidget):
    """Asks the kernel a number of empty questions, one after the other, and reports the median wait.

    The texts come from outside: `report` has the fields {median} and {slow} (nine of ten are faster), both in
    milliseconds, `silence` is shown when no answer comes.
    """

    _esm = asset("pulse.js")
    _css = asset("text.css")

    question = traitlets.Int(0, help="the number of the newest question of the page").tag(sync=True)
    answer = traitlets.Int(0, help="the number of the newest question the kernel has answered").tag(sync=True)
    measuring = traitlets.Unicode(help="shown while it measures").tag(sync=True)
    report = traitlets.Unicode(help="shown at the end").tag(sync=True)
    silence = traitlets.Unicode(help="shown when the kernel does not answer").tag(sync=True)
    again = traitlets.Unicode(help="label of the button").tag(sync=True)
    still = traitlets.Unicode(help="what a page says that was stored and not run; no figures")

    @traitlets.observe("question")
    def _answer(self, change) -> None:
        self.answer = change.new

    def _repr_mimebundle_(self, **_kwargs) -> tuple[dict, dict]:
        return with_twin(view_of(self), {"text/plain": self.still})
