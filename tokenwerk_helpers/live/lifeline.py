"""Lifeline: says that the kernel behind a view is gone, and puts the view to rest."""

import anywidget
import traitlets

from .assets import asset


class Lifeline(anywidget.AnyWidget):
    """A line that shows nothing while the kernel lives.

    Once the kernel has ended or begun anew it says `words`, and what stands beside it in the same box can no
    longer be used; texts stay readable.
    """

    _esm = asset("lifeline.js")
    _css = asset("lifeline.css")

    words = traitlets.Unicode(help="what is said once the kernel is gone").tag(sync=True)
