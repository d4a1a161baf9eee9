"""The book as HTML pages that need no network, to read and to print: `make html`.

python -m nbconvert --to tokenwerk_helpers.jupyter.book.Book --output-dir build/html/de notebooks/de/*.ipynb
"""

import re
from pathlib import Path

from jinja2 import pass_context
from latex2mathml.converter import convert
from nbconvert.exporters import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from traitlets import default

from .stills import Stills

# Names of functions: latex2mathml takes some for operators, with room on both sides as around a plus, and
# some for variables, with none.
NAME = re.compile(r"<m([io])>([^\W\d_]{2,})</m\1>(?=(<mo[^>]*>&#x00028;)?)")


def mathml(formula: str, display: str) -> str:
    """The TeX formula as MathML, which browsers draw by themselves; `display` is "inline" or "block"."""

    def close_to_its_bracket(name: re.Match) -> str:
        return f'<mo lspace="0.17em" rspace="{"0" if name[3] else "0.17em"}">{name[2]}</mo>'

    return NAME.sub(close_to_its_bracket, convert(formula, display=display))


class Renderer(IPythonRenderer):
    """Markdown of a page as HTML: formulas as MathML, links to pages and headings where they lie."""

    def inline_math(self, body: str) -> str:
        """A formula within a line."""
        return mathml(body, "inline")

    def block_math(self, body: str) -> str:
        """A formula on a line of its own."""
        return mathml(body, "block")

    def latex_environment(self, name: str, body: str) -> str:
        """Several lines of formulas."""
        return mathml(rf"\begin{{{name}}}{body}\end{{{name}}}", "block")

    def heading(self, text: str, level: int, **attributes) -> str:
        """A heading, to which links lead by its words with hyphens between them, as in JupyterLab."""
        anchor = re.sub(r"<[^>]*>", "", text).replace(" ", "-").replace('"', "&quot;")
        return super().heading(text, level, **attributes).replace(">", f' id="{anchor}">', 1)

    def link(self, text: str, url: str, title: str | None = None) -> str:
        """A link; one to a notebook beside this one leads to its page."""
        return super().link(text, re.sub(r"^((?:\.\./\w+/)?[^:/]+)\.ipynb(?=#|$)", r"\1.html", url), title)


class Book(HTMLExporter):
    """nbconvert's HTML without a word from other servers, made to be printed, too."""

    export_from_notebook = None

    @default("template_file")
    def _template_file_default(self):
        return "book.html.j2"

    @default("extra_template_paths")
    def _extra_template_paths_default(self):
        return [str(Path(__file__).parent)]

    @default("preprocessors")
    def _preprocessors_default(self):
        return [Stills]

    @default("language_code")
    def _language_code_default(self):
        return "de"

    @pass_context
    def markdown2html(self, context, source):
        """Markdown as HTML, images within."""
        path = context.get("resources", {}).get("metadata", {}).get("path", "")
        renderer = Renderer(escape=False, path=path, embed_images=True, exclude_anchor_links=True)
        return MarkdownWithMath(renderer=renderer).render(source)

    def from_notebook_node(self, nb, resources=None, **options):
        """The page, named by its heading."""
        heading = re.search(r"^# (.+)", nb.cells[0].source if nb.cells else "", re.MULTILINE)
        if heading:
            nb.metadata.title = heading[1]
        code = "\n".join(cell.source for cell in nb.cells if cell.cell_type == "code")
        chosen = re.search(r"""set_language\("(\w+)"\)""", code)
        self.language_code = chosen[1] if chosen else "de"
        return super().from_notebook_node(nb, resources, **options)
