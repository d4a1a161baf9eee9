"""How long after a key press do the pixels change?

    python -m tests.benchmarks.slider_latency [--presses 40]

In one run, in real JupyterLab and Chromium, on this machine: MatrixView at several sizes, LiveFigure, the
floor (a widget that only counts) and `interact` with pyplot drawing the same, with and without the prompt
websocket of `tokenwerk_helpers/jupyter/server.py`; and a sentence of 30 tokens typed in the decoder explorer
of page 08. Prints medians, 95th percentiles, ratios, the first move of views just made, and which goals
are met.

A press is a keydown at the slider's handle, or another last letter in the line of text. Pixels have changed
when every view says that it has painted (canvas, LiveFigure), when the new picture has loaded (`interact`),
or when the new count stands in the page.
"""

import argparse
import os
import statistics
import sys
from dataclasses import dataclass

import nbformat
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Browser

from tests.browser import Lab, Notebook, chromium, lab, opened
from tokenwerk_helpers.corpus import stories
from tokenwerk_helpers.pretrained import load

SIZES = (5, 12, 32, 64)
PRINTED = (5, 12)  # sizes at which MatrixView's cells are large enough for numbers: pyplot prints them, too
FRAME = 1000 / 60  # milliseconds
PAUSE = 120  # milliseconds between the answer to one press and the next
FIRST_MOVES = 5  # so often every view is made anew, to measure its first move
TOKENS = 30  # of the sentence in the decoder explorer
USUAL = (
    "--ServerApp.kernel_websocket_connection_class="
    "jupyter_server.services.kernels.connection.channels.ZMQChannelsWebsocketConnection"
)

PRELUDE = '''
import anywidget, matplotlib.pyplot as plt, numpy as np, traitlets
from ipywidgets import FloatSlider, VBox, interact
from tokenwerk_helpers.live.figure import LiveFigure
from tokenwerk_helpers.live.matrix import MatrixView

def slider():
    return FloatSlider(value=1, min=0.5, max=9, step=0.05, description="temperature")

def weights(size, temperature):
    """Causal attention weights, the same in every view."""
    scores = np.random.default_rng(0).normal(size=(size, size)) * 2 / temperature
    scores[np.triu_indices(size, 1)] = -np.inf
    powers = np.exp(scores - scores.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)

x = np.linspace(-4, 4, 200)
def bars(temperature):
    powers = np.exp(np.arange(7) / temperature)
    return powers / powers.sum()
'''

FLOOR = '''
class Count(anywidget.AnyWidget):
    count = traitlets.Int().tag(sync=True)
    _esm = """export default { render({ model, el }) {
      const show = () => { el.textContent = el.dataset.painted = model.get("count"); };
      model.on("change:count", show); show(); } }"""
floor, count = slider(), Count()
floor.observe(lambda change: setattr(count, "count", count.count + 1), "value")
VBox([floor, count])
'''

MATRIX = """
def matrix(size):
    control = slider()
    view = MatrixView(weights(size, 1), allowed=np.tri(size, dtype=bool))
    control.observe(lambda change: setattr(view, "values", weights(size, change.new)), "value")
    return VBox([control, view])
matrix({size})
"""

FIGURE = """
control, view = slider(), LiveFigure(6, 3.5)
left, right = view.figure.subplots(1, 2)
left.set_ylim(-1.1, 1.1)
right.set_ylim(0, 1)
(line,) = left.plot(x, np.tanh(x))
heights = right.bar(range(7), bars(1))
view.moving(line, *heights)
def move(change):
    line.set_ydata(np.tanh(x / change.new))
    for bar, height in zip(heights, bars(change.new)):
        bar.set_height(height)
    view.refresh()
control.observe(move, "value")
view.refresh()
view.still()  # as a page does that stores its picture
VBox([control, view])
"""

DECODER = """
from tokenwerk_helpers.chapters import decoder
view_of_text = decoder.NextToken(text={text!r})
view_of_text.set(position=64)  # seen from the last token: the slider ends there
view_of_text
"""

INTERACT_MATRIX = """
def draw(temperature):
    values = weights({size}, temperature)
    figure, axes = plt.subplots(figsize=(6, 6))
    axes.imshow(np.where(np.tri({size}, dtype=bool), values, np.nan))
    if {printed}:
        for row, column in zip(*np.tril_indices({size})):
            axes.text(column, row, f"{{values[row, column]:.2f}}", ha="center", va="center", fontsize=6)
    plt.show()
interact(draw, temperature=slider());
"""

INTERACT_FIGURE = """
def draw_figure(temperature):
    figure, (left, right) = plt.subplots(1, 2, figsize=(6, 3.5), dpi=96, layout="constrained")
    left.set_ylim(-1.1, 1.1)
    right.set_ylim(0, 1)
    left.plot(x, np.tanh(x / temperature))
    right.bar(range(7), bars(temperature))
    plt.show()
interact(draw_figure, temperature=slider());
"""

# Presses the key at the cell's slider, or types it as the last letter of the cell's text, and resolves with
# the milliseconds until its pixels have changed.
PRESS = """([cell, key]) => new Promise((resolve, reject) => {
  const views = () => [...cell.querySelectorAll('[data-painted]')];
  const images = () => [...cell.querySelectorAll('.jp-OutputArea-output img')];
  const state = () => views().length ? views().map((view) => view.dataset.painted)
    : images().map((image) => image.src);
  const loaded = () => images().every((image) => image.complete && image.naturalWidth);
  const before = state();
  const act = () => {
    const line = cell.querySelector('input[type=text]');
    if (key.length === 1 && line) {
      line.value = line.value.slice(0, -1) + key;
      line.dispatchEvent(new InputEvent('input', { bubbles: true }));
    } else {
      const press = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true });
      cell.querySelector('.noUi-handle').dispatchEvent(press);
    }
  };
  const look = () => {
    const now = state();
    if (!now.length || now.some((one, i) => one === before[i]) || !loaded()) return;
    const milliseconds = performance.now() - pressed;
    clearTimeout(deadline);
    watcher.disconnect();
    cell.removeEventListener('load', look, true);
    resolve(milliseconds);
  };
  const watcher = new MutationObserver(look);
  watcher.observe(cell, { subtree: true, childList: true, attributes: true, characterData: true });
  cell.addEventListener('load', look, true);
  const deadline = setTimeout(() => reject(new Error('no pixel has changed for 30 s')), 30000);
  const pressed = performance.now();
  act();
})"""


@dataclass(frozen=True)
class Case:
    """A live view to measure: the code of its cell, and how it is called in the table."""

    name: str
    code: str
    keys: tuple[str, str] = ("ArrowRight", "ArrowLeft")  # forth and back


@dataclass(frozen=True)
class Times:
    """Milliseconds from key press to changed pixels: of the first presses at new views, and of later ones."""

    firsts: list[float]
    all: list[float]

    @property
    def first(self) -> float:
        """Half of the first presses are answered faster."""
        return statistics.median(self.firsts)

    @property
    def median(self) -> float:
        """Half of the presses are answered faster."""
        return statistics.median(self.all)

    @property
    def p95(self) -> float:
        """19 of 20 presses are answered faster."""
        return statistics.quantiles(self.all, n=20)[-1]


def cases() -> list[Case]:
    """Everything that is measured, the floor first."""
    found = [Case("floor", FLOOR)]
    found += [Case(f"MatrixView T={size}", MATRIX.replace("{size}", str(size))) for size in SIZES]
    found += [Case("LiveFigure", FIGURE)]
    for size in SIZES:
        found.append(Case(f"interact T={size}", INTERACT_MATRIX.format(size=size, printed=size in PRINTED)))
    found.append(Case("interact figure", INTERACT_FIGURE))
    text = sentence(TOKENS)[:-1] + "e"  # as many tokens with either letter: the last stays the last
    return [*found, Case("decoder explorer", DECODER.format(text=text), keys=("a", "e"))]


def sentence(tokens: int) -> str:
    """The beginning of a story of this many tokens, the start token not counted."""
    tokenizer = load().tokenizer
    story = next(
        story.text for story in stories(seed=0, count=100) if len(tokenizer.encode(story.text)) > tokens
    )
    return tokenizer.decode(tokenizer.encode(story)[:tokens])


# ---- measuring ----


def write_notebook(server: Lab) -> str:
    """One cell for each case."""
    cells = [new_code_cell(code.strip()) for code in (PRELUDE, *(case.code for case in cases()))]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(new_notebook(cells=cells, metadata=kernel), server.notebooks / "latency.ipynb")
    return "latency.ipynb"


def run(notebook: Notebook) -> None:
    """Make all views anew; RuntimeError if a cell fails."""
    notebook.run_all()
    if errors := notebook.ask("errors"):
        raise RuntimeError("\n".join(errors))


def measure(notebook: Notebook, number: int, presses: int, case: Case) -> list[float]:
    """Press and wait, again and again, at the slider or the text of that cell."""
    cell = notebook.cell(number)
    cell.scroll_into_view_if_needed()
    cell.locator(".noUi-handle").first.wait_for()
    notebook.page.wait_for_timeout(PAUSE)
    element = cell.element_handle()
    times = []
    for press in range(presses):
        # So that the slider's end is never reached; a letter must be another each time.
        turn = press if len(case.keys[0]) == 1 else press // 20
        times.append(notebook.page.evaluate(PRESS, [element, case.keys[turn % 2]]))
        notebook.page.wait_for_timeout(PAUSE)
    return times


def measure_all(browser: Browser, options: tuple[str, ...], presses: int) -> dict[str, Times]:
    """The times of every case under a server with these options."""
    with lab(options) as server, opened(browser, server, write_notebook(server)) as notebook:
        firsts = {case.name: [] for case in cases()}
        for _time in range(FIRST_MOVES):
            run(notebook)
            for number, case in enumerate(cases(), 1):
                firsts[case.name] += measure(notebook, number, 1, case)
        run(notebook)
        return {
            case.name: Times(firsts[case.name], measure(notebook, number, presses + 5, case)[5:])
            for number, case in enumerate(cases(), 1)
        }


# ---- reporting ----


def table(prompt: dict[str, Times], usual: dict[str, Times]) -> str:
    """Medians, 95th percentiles and first moves, with the prompt websocket and without it."""
    lines = [f"{'':18} | with prompt websocket          | without"]
    lines += [f"{'milliseconds':18} | median    p95  x floor   first | median    p95   first"]
    lines += ["-" * len(lines[-1])]
    for name, times in prompt.items():
        ratio = times.median / prompt["floor"].median
        left = f"{times.median:6.1f} {times.p95:6.1f}  {ratio:7.2f}  {times.first:6.1f}"
        right = f"{usual[name].median:6.1f} {usual[name].p95:6.1f}  {usual[name].first:6.1f}"
        lines.append(f"{name:18} | {left} | {right}")
    return "\n".join(lines)


@dataclass(frozen=True)
class Goal:
    """A ratio that should stay below, or get above, a limit."""

    what: str
    found: float
    limit: float
    is_upper: bool

    @property
    def is_met(self) -> bool:
        """Is the goal reached?"""
        return self.found <= self.limit if self.is_upper else self.found >= self.limit

    def __str__(self) -> str:
        verdict = "met   " if self.is_met else "MISSED"
        return (
            f"{verdict} {self.what}: {self.found:.2f} (goal {'<=' if self.is_upper else '>='} {self.limit:g})"
        )


def goals(times: dict[str, Times]) -> list[Goal]:
    """The project's goals, all with the prompt websocket."""
    median = {name: one.median for name, one in times.items()}
    found = [Goal("floor, in frames", median["floor"] / FRAME, 1.25, True)]
    for size in SIZES:
        ratio = median[f"MatrixView T={size}"] / median["floor"]
        found.append(Goal(f"MatrixView / floor, T={size}", ratio, 1.3 if size <= 16 else 2, True))
    found.append(Goal("LiveFigure / floor", median["LiveFigure"] / median["floor"], 2, True))
    for size in SIZES:
        ratio = median[f"interact T={size}"] / median[f"MatrixView T={size}"]
        found.append(Goal(f"interact / MatrixView, T={size}", ratio, 8, False))
    ratio = median["interact figure"] / median["LiveFigure"]
    found.append(Goal("interact / LiveFigure", ratio, 2.5, False))
    ratio = times["LiveFigure"].first / median["LiveFigure"]
    found.append(Goal("first move / later ones, LiveFigure", ratio, 1.5, True))
    beyond = median["decoder explorer"] - median["floor"]
    return [*found, Goal("decoder explorer beyond the floor, in milliseconds", beyond, 60, True)]


def main() -> int:
    """The command line; exit code 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--presses", type=int, default=40, help="measured presses for each view")
    presses = parser.parse_args().presses
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start, {presses} presses each\n")
    with chromium() as browser:
        usual = measure_all(browser, (USUAL,), presses)
        prompt = measure_all(browser, (), presses)
    print(table(prompt, usual), "\n")
    results = goals(prompt)
    print(*results, sep="\n")
    return 0 if all(goal.is_met for goal in results) else 1


if __name__ == "__main__":
    sys.exit(main())
