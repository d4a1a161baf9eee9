"""Live views leave no traces: no widget that nobody shows any more, no random number of the reader spent."""

import pytest
import torch
from ipywidgets.widgets.widget import _instances

from tokenwerk_helpers import sampling, training
from tokenwerk_helpers.explorers import block as block_explorers
from tokenwerk_helpers.explorers import cells, mlp, parameter_counting, residual, start, you_are_here
from tokenwerk_helpers.model import Config


def test_a_closed_explorer_takes_its_layouts_and_styles_with_it():
    before = set(_instances)
    residual.VectorAddition().close()
    assert set(_instances) == before


@pytest.mark.parametrize("make", [residual.guess_sum, residual.guess_slope, start.Installation])
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


@pytest.mark.parametrize("make", [lambda: you_are_here("01_residual"), start.response_time])
def test_a_cell_run_twice_leaves_one_picture_and_nothing_of_the_first(run_in_cell, make):
    before = len(_instances)
    run_in_cell(1, make)
    once = len(_instances) - before
    run_in_cell(2, make)
    assert len(_instances) - before == once
    run_in_cell(3, lambda: cells.close_twins(object()))
    assert len(_instances) == before


@pytest.mark.parametrize(
    "compute",
    [
        lambda: mlp.nudged(1, 0.5),
        lambda: block_explorers.small_block(1.0, 2.0),
        lambda: parameter_counting.block_parameters(4, 2, True),
    ],
)
def test_a_slider_leaves_the_readers_random_numbers_alone(compute):
    before = torch.get_rng_state()
    compute()
    assert torch.equal(torch.get_rng_state(), before)


def test_at_temperature_0_nothing_is_drawn_from_the_readers_random_numbers():
    model = training.new_model(Config(vocab_size=7, context=4, width=4, heads=1, blocks=1))
    before = torch.get_rng_state()
    greedy = [step.id for step in sampling.generate(model, [1], 5, temperature=0)]
    assert torch.equal(torch.get_rng_state(), before)
    assert greedy == [step.id for step in sampling.generate(model, [1], 5, top_k=1)]
