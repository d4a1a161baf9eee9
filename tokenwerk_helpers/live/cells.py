"""Which cell is running, so that a cell run twice leaves one live view and not two."""

from collections import defaultdict

from IPython import get_ipython
from ipywidgets import Widget

_living: dict[str, list] = defaultdict(list)  # cell id -> (execution count, explorer)


def running_cell() -> tuple[str, int] | None:
    """The id and execution count of the cell that runs now, None outside a notebook front end."""
    shell = get_ipython()
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return None
    cell = kernel.get_parent("shell").get("metadata", {}).get("cellId")
    return (cell, shell.execution_count) if cell else None


def close_earlier_runs(explorer) -> None:
    """Close what an earlier run of this cell has left, and remember this explorer or widget for the next."""
    where = running_cell()
    if where is None:
        return
    cell, count = where
    for earlier, twin in _living[cell]:
        if earlier != count:
            _close(twin)
    _living[cell] = [(earlier, twin) for earlier, twin in _living[cell] if earlier == count]
    _living[cell].append((count, explorer))


def _close(twin) -> None:
    if isinstance(twin, Widget):
        close_widgets(twin)
    else:
        twin.close()
    if shell := get_ipython():
        _take_out(shell, twin)


def _take_out(shell, twin) -> None:
    """Make IPython's `Out`, `_` and their like let go of a closed twin; names a reader gave stay."""
    for remembered in (shell.user_ns["_oh"], shell.user_ns_hidden):
        for name in [name for name, value in remembered.items() if value is twin]:
            del remembered[name]
            if shell.user_ns.get(name) is twin:
                del shell.user_ns[name]
    for name in ("_", "__", "___"):
        if getattr(shell.displayhook, name) is twin:
            setattr(shell.displayhook, name, "")


def close_widgets(widget: Widget) -> None:
    """Close a widget and all that belongs to it: its children, its layout, its style."""
    for child in getattr(widget, "children", ()):
        close_widgets(child)
    for part in (getattr(widget, "layout", None), getattr(widget, "style", None)):
        if isinstance(part, Widget):
            part.close()
    widget.close()
