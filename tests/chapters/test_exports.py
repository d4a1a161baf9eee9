"""A page of the package offers what its notebook uses, no more and no less."""

import ast
import re

import nbformat

from tokenwerk_helpers.chapters.book import CHAPTERS
from tokenwerk_helpers.tools.new import PACKAGE
from tokenwerk_helpers.tools.refresh import NOTEBOOKS

ROOMS = {path.parent.name for path in (PACKAGE / "chapters").glob("*/__init__.py")}
PAGE = re.compile(r"^from tokenwerk_helpers\.chapters import (.+)$", re.MULTILINE)


def code_of(notebook: str) -> str:
    cells = nbformat.read(NOTEBOOKS / f"{notebook}.ipynb", as_version=4).cells
    return "\n".join(cell.source for cell in cells if cell.cell_type == "code")


def pages_of(code: str) -> dict[str, str]:
    """The pages that a notebook imports, by the name it gives them."""
    imported = [name.split(" as ") for line in PAGE.findall(code) for name in line.split(", ")]
    return {names[-1]: names[0] for names in imported if names[0] in ROOMS}


def offered(page: str) -> set[str]:
    """What the `__init__` of a page imports."""
    tree = ast.parse((PACKAGE / "chapters" / page / "__init__.py").read_text(encoding="utf-8"))
    return {alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}


def test_each_page_offers_what_its_notebook_uses():
    used: dict[str, set[str]] = {}
    for notebook in CHAPTERS:
        code = code_of(notebook)
        for name, page in pages_of(code).items():
            used.setdefault(page, set()).update(re.findall(rf"\b{name}\.(\w+)", code))
    assert {page: offered(page) for page in used} == used
    assert used.keys() == ROOMS
