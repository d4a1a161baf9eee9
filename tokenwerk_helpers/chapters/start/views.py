"""Live views of 00_start."""

import numpy as np

from ...language import _
from ...live import style
from ...live.bars import LabelledBars
from ...live.cells import close_earlier_runs, close_widgets
from ...live.controls import slider
from ...live.explorer import Explorer
from ...live.figure import LiveFigure
from ...live.numbers import number, percent, percent_label
from ...live.pulse import Pulse
from ...live.text import LiveText
from ...live.twin import view_of, with_twin
from .computation import OTHER_LOGITS, NextWord, Part, installed_parts, next_word, torch_computes

# ---- a first slider ----


def words() -> list[str]:
    """The three words that may follow, in the reader's language."""
    return [_("barks"), _("sleeps"), _("flies")]


class FirstSlider(Explorer):
    """Three words that may come next, one logit to move, and the probabilities that answer."""

    def __init__(self):
        self.figure = LiveFigure(6.4, 2.0)
        self._draw()
        controls = {"logit": slider(_("logit of “flies”"), -4, 8, 0)}
        super().__init__(controls, [[self.figure]])

    compute = staticmethod(next_word)

    def _draw(self) -> None:
        axes = self.figure.figure.add_subplot()
        self.bars = LabelledBars(
            self.figure, axes, 3, 0.62, gap=0.012, horizontal=True, fontsize=style.TEXT_SIZE,
            color=style.ROLES["head"], tick_label=words(),
        )  # fmt: skip
        self.bars.bars[2].set(edgecolor=style.LIGHT.ink, linewidth=1.4)
        axes.invert_yaxis()
        axes.tick_params("y", length=0, labelsize=style.TEXT_SIZE)
        axes.set_xlim(0, 1.12)
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], [percent(share) for share in (0, 0.25, 0.5, 0.75, 1)])
        axes.grid(True, axis="x")
        axes.set_title(_("“The dog …”: how probable is each next word?"))

    def show(self, result: NextWord) -> None:
        shares = result.probabilities
        self.bars.show(shares, [percent_label(share, 1) for share in shares])
        self.figure.refresh()

    def sentence(self, result: NextWord) -> str:
        barks, sleeps, flies = (percent(share, 1) for share in result.probabilities)
        text = _("Logit {logit} gives “flies” {flies}; “barks” has {barks}, “sleeps” {sleeps}.").format(
            logit=number(result.logits[2]), flies=flies, barks=barks, sleeps=sleeps
        )
        for word, logit in zip(words(), OTHER_LOGITS):
            if np.isclose(result.logits[2], logit):
                return (
                    text + " " + _("It now has the logit of “{word}”, and its probability.").format(word=word)
                )
        if result.logits[2] > OTHER_LOGITS[0]:
            return text + " " + _("What one word gains, the others lose: together they are always 100%.")
        return text + " " + _("A small logit makes a word rare, never impossible.")


# ---- is everything there? ----


def line(part: Part, exact: bool) -> str:
    """One line of the report; with `exact` it names the version."""
    if part.version is None:
        text = _("✗ {name}: missing")
    elif not part.fits:
        text = _("✗ {name} {version}: {needed} is needed")
    else:
        text = "✓ {name} {version}" if exact else _("✓ {name}: found")
    return text.format(name=part.name, version=part.version, needed=part.needed)


class Installation:
    """A report on what is installed: versions in the live view, only found or missing in the stored text."""

    def __init__(self, parts: list[Part] | None = None, computes: bool | None = None):
        self.parts = installed_parts() if parts is None else parts
        self.computes = torch_computes() if computes is None else computes
        self.widget = LiveText(value=self.report(exact=True))
        close_earlier_runs(self)

    @property
    def complete(self) -> bool:
        """Is everything there?"""
        return self.computes and all(part.fits for part in self.parts)

    def report(self, exact: bool) -> str:
        """The report as text, a line a part."""
        sum_up = (
            _("Everything is there. Have fun!")
            if self.complete
            else _(
                "Something is missing. In the folder of the book: pip install -r requirements.txt, "
                "then restart the kernel."
            )
        )
        trial = _("✓ torch computes correctly") if self.computes else _("✗ torch does not compute")
        return "\n".join([*(line(part, exact) for part in self.parts), trial, sum_up])

    def close(self) -> None:
        """Let go of the widget."""
        close_widgets(self.widget)

    def _repr_mimebundle_(self, **_kwargs) -> tuple[dict, dict]:
        # Versions stay out of what is stored: the page must read the same with the next release.
        return with_twin(view_of(self.widget), {"text/plain": self.report(exact=False)})


def installation() -> Installation:
    """What this kernel has of what the book needs."""
    return Installation()


def response_time() -> Pulse:
    """How long the page waits for the kernel, measured live."""
    pulse = Pulse(
        still=_("The response time is measured as soon as this cell runs."),
        measuring=_("Measuring …"),
        report=_(
            "The kernel answers within {median} ms (median of 20 questions; nine of ten within {slow} ms)."
        ),
        silence=_(
            "The kernel does not answer. Run the cells again from the top (menu Run, “Run All Cells”)."
        ),
        again=_("Measure again"),
    )
    close_earlier_runs(pulse)
    return pulse
