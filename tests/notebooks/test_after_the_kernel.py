"""A live view whose kernel is gone says so and no longer looks alive; run again, it lives."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import expect

from tests.browser import PATIENCE
from tokenwerk_helpers.language import _

pytestmark = pytest.mark.browser

CELLS = ["from tokenwerk_helpers.chapters import start as page", "page.FirstSlider()", "page.guess_equal_logits()"]
KILL = "import os; os.kill(os.getpid(), 9)"
SESSION = "jupyterapp.shell.currentWidget.sessionContext"
ENDS = {
    "restarted": f"() => {SESSION}.restartKernel().then(() => null)",
    "died": f"() => void {SESSION}.session.kernel.requestExecute({{code: '{KILL}'}})",
    "shut down": f"() => {SESSION}.shutdown().then(() => null)",
}


@pytest.fixture
def notebook(server, turn_to):
    """A page with a live view and a question."""
    page = new_notebook(cells=[new_code_cell(text) for text in CELLS])
    page.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(page, server.notebooks / "after.ipynb")
    return turn_to("after.ipynb")


def test_whatever_ends_the_kernel_each_view_says_so_once_and_rests_until_it_is_run_again(notebook):
    page = notebook.page
    said = page.locator(".tokenwerk-lifeline:visible")
    resting = page.locator("[inert] .noUi-handle, [inert] canvas, [inert] input, [inert] button")
    for end in ENDS.values():
        notebook.run_all()
        expect(page.locator(".tokenwerk-explorer, .tokenwerk-guess")).to_have_count(2)
        expect(said).to_have_count(0)
        expect(resting).to_have_count(0)
        page.evaluate(end)
        words = _("This view is no longer connected. Run the page from the top.")
        expect(said).to_have_text([words, words], timeout=PATIENCE)
        everything = page.locator(".jp-OutputArea").locator(".noUi-handle, canvas, input, button")
        assert resting.count() == everything.count() > 4
        expect(page.locator("[inert] .tokenwerk-caption")).to_have_count(0)
        if "shutdown" not in end:
            notebook.wait_for("ready")
    page.evaluate(f"() => {SESSION}.startKernel().then(() => null)")
    notebook.wait_for("ready")
    notebook.run_all()
    expect(said).to_have_count(0)
