"""The controls of the explorers: one look, sensible defaults."""

from collections.abc import Sequence
from typing import Any

import ipywidgets as widgets

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


def whole(label: str, low: int, high: int, value: int, step: int = 1) -> widgets.IntSlider:
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


def count(label: str, low: int, high: int, value: int) -> widgets.BoundedIntText:
    """A field for a whole number that is set now and then, not moved."""
    return widgets.BoundedIntText(
        value=value, min=low, max=high, description=label, style=LABEL, layout=widgets.Layout(width="18em")
    )


def choose(label: str, options: Sequence[tuple[str, Any]], value: Any) -> widgets.Dropdown:
    """A list to choose from; `options` are pairs of what is shown and what it stands for."""
    return widgets.Dropdown(
        options=list(options), value=value, description=label, style=LABEL, layout=widgets.Layout(width=WIDTH)
    )


def stops(label: str, options: Sequence[Any], value: Any) -> widgets.SelectionSlider:
    """A slider over given values, such as powers of two."""
    return widgets.SelectionSlider(
        options=list(options), value=value, description=label, style=LABEL, layout=widgets.Layout(width=WIDTH)
    )


def switch(label: str, value: bool = False) -> widgets.Checkbox:
    """An on-off switch."""
    return widgets.Checkbox(
        value=value, description=label, indent=False, layout=widgets.Layout(width="auto", min_width="13em")
    )


def line(label: str, value: str, placeholder: str = "") -> widgets.Text:
    """A line of text the reader types; every key counts."""
    return widgets.Text(
        value=value,
        placeholder=placeholder,
        description=label,
        continuous_update=True,
        style=LABEL,
        layout=widgets.Layout(width="min(44em, 100%)"),
    )


def button(label: str, icon: str = "") -> widgets.Button:
    """A button; connect it with `button.on_click(explorer.guarded(action))`."""
    return widgets.Button(description=label, icon=icon, layout=widgets.Layout(width="auto"))
