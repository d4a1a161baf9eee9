"""Stills for nbconvert: what its HTML shows of a live view, the picture with its sentence.

The package brings the setting that has every `jupyter nbconvert --to html` of its environment use this
(etc/jupyter/jupyter_nbconvert_config.py). Without it a page that is run while it is converted (`--execute`)
would show live views that no kernel answers, loaded from a foreign server.
"""

from html import escape

from nbconvert.preprocessors import Preprocessor
from nbformat.v4 import new_output

from .stored import is_still, text_in, without_views


class Stills(Preprocessor):
    """Leave live views of ours out and make a figure of each picture and the sentence below it."""

    def preprocess(self, notebook, resources):
        """The notebook and the resources, as nbconvert asks for them."""
        without_views(notebook)
        return super().preprocess(notebook, resources)

    def preprocess_cell(self, cell, resources, index):
        """One cell and the resources, as nbconvert asks for them."""
        if "outputs" in cell:
            cell.outputs = with_figures(cell.outputs)
        return cell, resources


def with_figures(outputs: list[dict]) -> list[dict]:
    """The outputs with each still, and the sentence that follows it, as one figure."""
    shown = []
    for before, output in zip([None, *outputs], outputs):
        if before is None or not is_caption(output, before):
            shown.append(figure(output) if is_still(output) else output)
    return shown


def is_caption(output: dict, before: dict) -> bool:
    """Is this output the sentence of the still before it?"""
    return is_still(before) and text_in(output).split() == before["metadata"]["image/png"]["alt"].split()


def figure(output: dict) -> dict:
    """A still as an HTML figure: its sentence as alternative text and as caption, never as HTML or TeX."""
    about = output["metadata"]["image/png"]
    sentence = escape(about["alt"])
    # MathJax, which pages of nbconvert load, keeps away from this class.
    caption = f'<figcaption class="tex2jax_ignore" style="white-space: pre-line">{sentence}</figcaption>'
    picture = f"data:image/png;base64,{text_in(output, 'image/png')}"
    image = f'<img src="{picture}" width="{about["width"]}" alt="{sentence}">'
    html = f'<figure style="margin: 0">{image}{caption}</figure>'
    return new_output("display_data", {"text/html": html})
