"""Show a helper's source in a notebook: one truth, once."""

import inspect


class Source:
    """The source text of a function, class or module, shown as highlighted code."""

    def __init__(self, code: str):
        self.code = code

    def __repr__(self) -> str:
        return self.code

    def _repr_markdown_(self) -> str:
        return f"```python\n{self.code}\n```"


def show_source(thing) -> Source:
    """Show the source of a function, class or module as it stands in the package."""
    return Source(inspect.getsource(thing).rstrip())
