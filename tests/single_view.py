"""One live view on a page of its own, without JupyterLab: its module, its style, a model that stands in."""

import base64
from pathlib import Path

from anywidget import AnyWidget
from playwright.sync_api import Page

from tokenwerk_helpers.live import style

VIEWS = Path(style.__file__).parent
MOCK = (Path(__file__).parent / "js" / "mock_model.js").read_text("utf-8")
PAGE = """<!doctype html><meta charset="utf-8">
<style>body {{ margin: 0; font-family: sans-serif }} {css}</style>
<body data-jp-theme-light="true"></body>"""


def wire(value):
    """A widget's state as JSON, bytes as base64."""
    if isinstance(value, bytes | memoryview):
        return {"base64": base64.b64encode(bytes(value)).decode("ascii")}
    if isinstance(value, dict):
        return {key: wire(item) for key, item in value.items()}
    return [wire(item) for item in value] if isinstance(value, list | tuple) else value


def mount(page: Page, view: AnyWidget, name: str) -> None:
    """Show the view on the page with `name`.css; what the page held before is gone."""
    page.goto("about:blank")
    page.set_content(PAGE.format(css=(VIEWS / f"{name}.css").read_text("utf-8")))
    page.add_script_tag(content=MOCK)
    add(page, view)


def add(page: Page, view: AnyWidget) -> None:
    """Show one more view below; as in anywidget its module is loaded for it alone."""
    page.evaluate("([state, source]) => mount(state, source)", [wire(view.get_state()), str(view._esm)])
