"""What is stored of a page: twins without their live views, and nothing that differs from machine to machine.

Plain functions over notebooks as nbformat writes them: the server calls them when a reader saves a page, the
export before it draws one, and the maintainer's `refresh` builds on them.
"""

import copy
import re

from ..live.twin import MARK, WIDGET_VIEW

# All that a page says of its language. JupyterLab adds the version of the Python at work.
LANGUAGE = {"name": "python"}
# What tqdm prints for its bar, "  0%|          | 0/60 [00:00<?, ?it/s]": how far it is, not what came out.
PROGRESS_BAR = re.compile(r"\s*\d+%\|")


def text_in(output: dict, kind: str = "text/plain") -> str:
    """The output's text of that kind, also where the file holds it line by line; empty if it has none."""
    return "".join(output.get("data", {}).get(kind, ""))


def has_twin(output: dict) -> bool:
    """Does this output hold a live view of ours, with what may take its place?"""
    return output.get("metadata", {}).get(WIDGET_VIEW) == MARK


def is_progress_bar(output: dict) -> bool:
    """Is this tqdm's bar as a widget?"""
    return WIDGET_VIEW in output.get("data", {}) and bool(PROGRESS_BAR.match(text_in(output)))


def is_still(output: dict) -> bool:
    """Is this the picture of a live view of ours? It alone carries its sentence as alternative text."""
    return bool(output.get("metadata", {}).get("image/png", {}).get("alt"))


def is_ours(notebook: dict) -> bool:
    """Does a live view of ours, or its twin, stand in this notebook?"""
    outputs = (output for cell in notebook["cells"] for output in cell.get("outputs", []))
    return any(has_twin(output) or is_still(output) for output in outputs)


def stored_output(output: dict) -> dict | None:
    """The output as it is stored: of ours the twin, of a progress bar nothing, all else as it is."""
    if is_progress_bar(output):
        return None
    if not has_twin(output):
        return output
    output = copy.copy(output)
    for part in ("data", "metadata"):
        output[part] = {kind: value for kind, value in output[part].items() if kind != WIDGET_VIEW}
    return output


def without_views(notebook: dict) -> None:
    """Leave our live views, progress bars and the state of widgets that are seen no more out of a page."""
    outputs: list[dict] = []
    for cell in notebook["cells"]:
        if "outputs" in cell:
            kept = (stored_output(output) for output in cell["outputs"])
            cell["outputs"] = [output for output in kept if output is not None]
            outputs += cell["outputs"]
    if not any(WIDGET_VIEW in output.get("data", {}) for output in outputs):
        notebook["metadata"].pop("widgets", None)


def store(notebook: dict) -> None:
    """Bring a page that a reader saves into the form it is stored in; notebooks without our views stay."""
    if not is_ours(notebook):
        return
    without_views(notebook)
    if notebook["metadata"].get("language_info", {}).get("name") == LANGUAGE["name"]:
        notebook["metadata"]["language_info"] = dict(LANGUAGE)
