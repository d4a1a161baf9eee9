"""What a view brings to the page: its script and its style, as text."""

import json
from functools import cache
from pathlib import Path
from types import ModuleType


@cache
def asset(name: str, constants: ModuleType | None = None) -> str:
    """The text of a file beside this one, headed by a script's `constants`, the module's names in capitals.

    Given a path, anywidget would watch the file for changes, and its watch keeps every view alive for ever.
    """
    shared = {name: value for name, value in vars(constants).items() if name.isupper()} if constants else {}
    head = "".join(f"const {name} = {json.dumps(value)};\n" for name, value in shared.items())
    return head + (Path(__file__).parent / name).read_text("utf-8")
