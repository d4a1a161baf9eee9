"""Live views leave no traces: no widget that nobody shows any more, no random number of the reader spent."""

import ctypes
import gc
import os
import weakref
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from ipywidgets.widgets.widget import _instances
from matplotlib.lines import Line2D
from traitlets.config import Config as Configuration

from tokenwerk_helpers import sampling, training
from tokenwerk_helpers.chapters.block import computation as block_computation
from tokenwerk_helpers.chapters.book import you_are_here
from tokenwerk_helpers.chapters.causal_mask import views as causal_mask_views
from tokenwerk_helpers.chapters.mlp import computation as mlp_computation
from tokenwerk_helpers.chapters.parameter_counting import computation as parameter_counting_computation
from tokenwerk_helpers.chapters.residual import questions as residual_questions
from tokenwerk_helpers.chapters.residual import views as residual_views
from tokenwerk_helpers.chapters.sampling import views as sampling_views
from tokenwerk_helpers.chapters.start import views as start_views
from tokenwerk_helpers.chapters.training import views as training_views
from tokenwerk_helpers.live import cells
from tokenwerk_helpers.live.controls import slider
from tokenwerk_helpers.live.explorer import Explorer
from tokenwerk_helpers.live.figure import LiveFigure
from tokenwerk_helpers.live.matrix import MatrixView
from tokenwerk_helpers.model import Config


def test_a_closed_explorer_takes_its_layouts_and_styles_with_it():
    before = set(_instances)
    residual_views.VectorAddition().close()
    assert set(_instances) == before


@pytest.mark.parametrize(
    "make", [residual_questions.guess_sum, residual_questions.guess_slope, start_views.Installation]
)
def test_a_closed_question_or_report_takes_all_its_widgets_with_it(make):
    before = set(_instances)
    make().close()
    assert set(_instances) == before


@pytest.fixture
def run_in_cell(monkeypatch):
    monkeypatch.setattr(cells, "_living", cells.defaultdict(list))

    def run(count, make):
        monkeypatch.setattr(cells, "running_cell", lambda: ("cell", count))
        return make()

    return run


@pytest.mark.parametrize("make", [lambda: you_are_here("01_residual"), start_views.response_time])
def test_a_cell_run_twice_leaves_one_picture_and_nothing_of_the_first(run_in_cell, make):
    before = len(_instances)
    run_in_cell(1, make)
    once = len(_instances) - before
    run_in_cell(2, make)
    assert len(_instances) - before == once
    run_in_cell(3, lambda: cells.close_earlier_runs(object()))
    assert len(_instances) == before


@pytest.mark.parametrize(
    "compute",
    [
        lambda: mlp_computation.nudged(1, 0.5),
        lambda: block_computation.small_block(1.0, 2.0),
        lambda: parameter_counting_computation.block_parameters(4, 2, True),
    ],
)
def test_a_slider_leaves_the_readers_random_numbers_alone(compute):
    before = torch.get_rng_state()
    compute()
    assert torch.equal(torch.get_rng_state(), before)


def test_at_temperature_0_nothing_is_drawn_from_the_readers_random_numbers():
    model = training.new_model(Config(vocab_size=7, context_length=4, width=4, heads=1, blocks=1))
    before = torch.get_rng_state()
    greedy = [step.id for step in sampling.generate(model, [1], 5, temperature=0)]
    assert torch.equal(torch.get_rng_state(), before)
    assert greedy == [step.id for step in sampling.generate(model, [1], 5, top_k=1)]


# ---- a cell that is run again and again ----


@pytest.fixture
def notebook_shell(monkeypatch):
    """IPython with its `Out`, as a kernel has it; all it runs is taken for one cell, run again each time."""
    settings = Configuration()
    settings.HistoryManager.enabled = False
    shell = InteractiveShell.instance(config=settings)
    monkeypatch.setattr(cells, "_living", cells.defaultdict(list))
    monkeypatch.setattr(cells, "running_cell", lambda: ("cell", shell.execution_count))
    yield shell
    cells.close_earlier_runs(object())
    InteractiveShell.clear_instance()


class OneOfEach(Explorer):
    """A slider over every kind of view."""

    def __init__(self):
        self.figure, self.matrix = LiveFigure(5, 3), MatrixView(np.eye(2))
        self.line = self.figure.figure.add_artist(Line2D([0, 1], [0, 1]))
        self.figure.moving(self.line)
        super().__init__({"x": slider("x", 0, 1, 0.5)}, [[self.figure, self.matrix]])

    def compute(self, x):
        return x

    def show(self, result):
        self.line.set_ydata([0, result])
        self.figure.refresh()
        self.matrix.update(values=np.eye(2) * result)

    def sentence(self, result):
        return str(result)


SHORT, LONG = 2, 20  # the pages' own views take long


@pytest.mark.parametrize(
    "cell, runs",
    [
        (OneOfEach, LONG),
        (start_views.response_time, LONG),
        (start_views.installation, LONG),
        (residual_questions.guess_sum, LONG),
        (lambda: you_are_here("03_mlp"), SHORT),
        (residual_views.VectorAddition, SHORT),
        (causal_mask_views.MaskLab, SHORT),
        (sampling_views.Filters, SHORT),
        (training_views.Scrubber, SHORT),
    ],
)
def test_of_a_cell_run_again_and_again_only_the_last_view_lives_and_memory_stays(
    notebook_shell, capsys, cell, runs
):
    notebook_shell.user_ns["cell"] = cell
    shown = [view for _run in range(2) for view in run_again(notebook_shell)]
    before = memory()
    shown += [view for _run in range(runs - 1) for view in run_again(notebook_shell)]
    last = run_again(notebook_shell)
    assert memory() - before < runs * 2e6
    assert not [view for view in shown if view() is not None]
    assert all(view() is not None for view in last)


def test_names_a_reader_gave_to_views_are_left_alone(notebook_shell, capsys):
    notebook_shell.user_ns["cell"] = residual_questions.guess_sum
    for line in ("mine = cell()\nmine", "kept = mine", "mine = cell()\nmine"):
        notebook_shell.run_cell(line, store_history=True).raise_error()
    names = notebook_shell.user_ns
    assert names["kept"] is not names["mine"] is names["_"]
    assert names["kept"] not in names["Out"].values()


def run_again(shell) -> list[weakref.ref]:
    """Run the same cell once more; weak references to what it shows and to its views."""
    done = shell.run_cell("cell()", store_history=True)
    done.raise_error()
    views = [view for row in getattr(done.result, "rows", []) for view in row]
    return [weakref.ref(one) for one in (done.result, *views)]


def memory() -> int:
    """Bytes this process holds once all it could give back is given back; 0 where that cannot be known."""
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
    return 0
