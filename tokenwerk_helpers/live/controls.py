"""The controls of the explorers: one look, sensible defaults."""

from collections.abc import Sequence
from typing import Any

import ipywidgets as widgets
import traitlets

from ..language import ReaderMistake, _
from .numbers import number, read_number, readings_of
from .text import well_formed

LABEL = {"description_width": "12em"}
WIDTH = "29em"


def slider(label: str, low: float, high: float, value: float, step: float = 0.1) -> widgets.FloatSlider:
    """A slider for a number; its readout shows as many decimals as the step has."""
    decimals = max(0, len(f"{step:g}".partition(".")[2]))
    return widgets.FloatSlider(
        value=value,
        min=low,
        max=high,
        step=step,
        description=label,
        readout_format=f".{decimals}f",
        style=LABEL,
        layout=widgets.Layout(width=WIDTH),
    )


def int_slider(label: str, low: int, high: int, value: int, step: int = 1) -> widgets.IntSlider:
    """A slider for a whole number."""
    return widgets.IntSlider(
        value=value,
        min=low,
        max=high,
        step=step,
        description=label,
        style=LABEL,
        layout=widgets.Layout(width=WIDTH),
    )


def int_text(label: str, low: int, high: int, value: int) -> widgets.BoundedIntText:
    """A field for a whole number that is set now and then, not moved."""
    return widgets.BoundedIntText(
        value=value, min=low, max=high, description=label, style=LABEL, layout=widgets.Layout(width="18em")
    )


def dropdown(label: str, options: Sequence[tuple[str, Any]], value: Any) -> widgets.Dropdown:
    """A list to choose from; `options` are pairs of what is shown and what it stands for."""
    return widgets.Dropdown(
        options=list(options), value=value, description=label, style=LABEL, layout=widgets.Layout(width=WIDTH)
    )


def selection_slider(label: str, options: Sequence[Any], value: Any) -> widgets.SelectionSlider:
    """A slider over given values, such as powers of two."""
    return widgets.SelectionSlider(
        options=list(options), value=value, description=label, style=LABEL, layout=widgets.Layout(width=WIDTH)
    )


def checkbox(label: str, value: bool = False) -> widgets.Checkbox:
    """An on-off switch."""
    return widgets.Checkbox(
        value=value, description=label, indent=False, layout=widgets.Layout(width="auto", min_width="13em")
    )


class WellFormed(traitlets.Unicode):
    """Text as it enters from the page, made well formed."""

    def validate(self, obj, value):
        """The text that is kept."""
        return well_formed(super().validate(obj, value))


class Line(widgets.Text):
    """A line of text that can always be sent and stored."""

    # An echo would go back before the text is made well formed.
    value = WellFormed(help="what the reader typed").tag(sync=True, echo_update=False)


def text_input(label: str, value: str, placeholder: str = "") -> Line:
    """A line of text the reader types; every key counts."""
    return Line(
        value=value,
        placeholder=placeholder,
        description=label,
        continuous_update=True,
        style=LABEL,
        layout=widgets.Layout(width="min(44em, 100%)"),
    )


class SuggestingLine(widgets.Combobox):
    """A line of text with a list of what may be typed."""

    value = WellFormed(help="what the reader typed or chose").tag(sync=True, echo_update=False)


def combobox(label: str, options: Sequence[str], value: str) -> SuggestingLine:
    """A line of text the reader types, or chooses from a list."""
    return SuggestingLine(
        value=value, options=list(options), description=label, continuous_update=True, style=LABEL,
        layout=widgets.Layout(width=WIDTH),
    )  # fmt: skip


def button(label: str, icon: str = "") -> widgets.Button:
    """A button; connect it with `button.on_click(explorer.guarded(action))`."""
    return widgets.Button(description=label, icon=icon, layout=widgets.Layout(width="auto"))


# ---- what is typed beside a slider ----


def readout(control: widgets.Widget) -> str:
    """What stands beside a slider, as the page writes it."""
    if isinstance(control, widgets.SelectionSlider):
        return control.label
    # The page's formatter writes a real minus.
    return format(control.value, control.readout_format).replace("-", "−")


def take_typed(control: widgets.Widget, text: str) -> None:
    """Set a slider to what a reader typed beside it; nothing typed leaves it as it is.

    ReaderMistake where the text is no number, or none that the slider can take.
    """
    text = text.strip()
    if not text:
        return
    if isinstance(control, widgets.SelectionSlider):
        control.index = _stop(control, text)
        return
    value = read_number(text)
    if isinstance(control, widgets.IntSlider):
        if not value.is_integer():
            raise ReaderMistake(
                _("Only whole numbers fit here, not {number}.").format(number=number(value, 6))
            )
        value = int(value)
    # On the step, as the page would put it; beyond the ends, the control itself puts it on the end.
    steps = round((value - control.min) / control.step)
    control.value = round(control.min + steps * control.step, 10)


def _stop(slider: widgets.SelectionSlider, text: str) -> int:
    """The place of the stop that was typed, as it is labelled or as another way to write the same number."""
    typed, labels = readings_of(text), slider._options_labels
    for place, label in enumerate(labels):
        if label == text or any(reading in typed for reading in readings_of(label)):
            return place
    raise ReaderMistake(_("“{text}” is not one of: {stops}.").format(text=text, stops=", ".join(labels)))
