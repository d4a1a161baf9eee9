"""Global settings belong to the reader: whatever they are, views look and compute the same, and set none."""

import importlib
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import matplotlib.style
import numpy as np
import pytest
import torch

from tests.chapters.test_pictures import at_the_ends, live_views
from tokenwerk_helpers.chapters.norm_placement import computation as norm_placement_computation
from tokenwerk_helpers.chapters.reading import Reading
from tokenwerk_helpers.chapters.residual.computation import train_all_rates
from tokenwerk_helpers.chapters.training import computation as training_computation
from tokenwerk_helpers.live.figure import LiveFigure
from tokenwerk_helpers.live.question import Question

CACHES = (
    train_all_rates,
    norm_placement_computation.at_start,
)  # else they answer from the reader's usual settings


def seen_of(one) -> list:
    """What a view shows at first and at the ends of its controls: pixels, arrays and sentences."""
    for cached in CACHES:
        cached.cache_clear()
    explorer = one()
    views = [view for row in explorer.rows for view in row]
    seen = []
    for _where in chain(["at first"], at_the_ends(explorer)):
        seen += [explorer.caption.value, explorer.message.value]
        shown = (view.pixels if isinstance(view, LiveFigure) else view.values for view in views)
        seen += [hash(array.tobytes()) for array in shown]
    seen.append(hash(explorer.still().tobytes()))
    explorer.close()
    return seen


@pytest.fixture(scope="module", params=live_views(), ids=lambda one: one.__name__)
def usual(request):
    return request.param, seen_of(request.param)


@pytest.fixture
def foreign():
    """Settings no page counts on; the usual ones come back."""
    with matplotlib.rc_context():
        matplotlib.style.use(["classic", "dark_background"])
        sizes = {"font.size": 30, "xtick.labelsize": 20, "ytick.major.size": 15, "ytick.major.pad": 12}
        matplotlib.rcParams.update(sizes | {"axes.unicode_minus": False, "font.weight": "bold"})
        torch.set_default_dtype(torch.float64)
        torch.set_default_device("meta")
        torch.set_grad_enabled(False)
        yield
        torch.set_default_device(None)
        torch.set_grad_enabled(True)
        torch.set_default_dtype(torch.float32)


def test_no_setting_of_the_reader_changes_what_a_view_shows(usual, foreign):
    one, before = usual
    assert seen_of(one) == before


def test_a_training_in_the_page_runs_the_same_under_any_setting(foreign):
    torch.set_default_device(None)
    recorded = norm_placement_computation.recorded()[norm_placement_computation.Run("pre", 2, 1e-3)]
    losses = [
        loss
        for _step, loss in zip(
            range(5), norm_placement_computation.train(norm_placement_computation.Run("pre", 2, 1e-3))
        )
    ]
    assert np.isclose(np.mean(losses), recorded[0], atol=0.01)
    step = next(training_computation.new_training(10, 0.003, Reading().tokenizer))
    assert step.train_loss > 0


def test_importing_the_package_changes_no_setting_and_draws_nothing():
    program = """
import importlib, pkgutil, random, matplotlib, numpy as np, torch
def settings():
    return (dict(matplotlib.rcParams), np.get_printoptions(), repr(torch._tensor_str.PRINT_OPTS),
            torch.get_default_dtype(), torch.is_grad_enabled(), torch.get_num_threads())
torch.get_rng_state()
random.seed(0), np.random.seed(0), torch.manual_seed(0)
before, drawn = settings(), (random.random(), np.random.rand(), torch.rand(1).item())
random.seed(0), np.random.seed(0), torch.manual_seed(0)
import tokenwerk_helpers
for module in pkgutil.walk_packages(tokenwerk_helpers.__path__, "tokenwerk_helpers."):
    if ".jupyter." not in module.name:
        importlib.import_module(module.name)
assert settings() == before
assert drawn == (random.random(), np.random.rand(), torch.rand(1).item())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def settings() -> tuple:
    """Every global setting that a view might change."""
    return (
        dict(matplotlib.rcParams), np.get_printoptions(), repr(torch._tensor_str.PRINT_OPTS),
        torch.get_default_dtype(), torch.is_grad_enabled(), torch.get_num_threads(),
    )  # fmt: skip


def questions() -> list[Question]:
    """Every question of the book."""
    pages = {one.__module__.rpartition(".")[0] for one in live_views()}
    modules = [importlib.import_module(f"{page}.questions") for page in pages]
    asking = {ask for module in modules for name, ask in vars(module).items() if name.startswith("guess_")}
    return [ask() for ask in asking]


def judged(guess: Question) -> None:
    """Answer a question with every option, or with something that can be read as a number and as a list."""
    options = getattr(guess, "options", [])
    for answer in range(len(options)) if options else ["1"]:
        guess.answer.value = answer
        assert guess.judge().correct is not None, guess.feedback


def test_what_the_page_asks_from_another_thread_leaves_numbers_and_settings_alone(
    monkeypatch,
):
    """The page's thread draws no random number and never sets, not even for a moment, a global setting."""
    before = settings()
    explorers, asked = [one() for one in live_views()], questions()
    assert len(asked) > 50 and settings() == before
    written = []
    set_parameter = matplotlib.RcParams.__setitem__
    monkeypatch.setattr(
        matplotlib.RcParams, "__setitem__", lambda *item: (written.append(item[1]), set_parameter(*item))
    )
    monkeypatch.setattr(torch, "set_rng_state", lambda _state: written.append("torch.set_rng_state"))
    monkeypatch.setattr(torch, "manual_seed", lambda _seed: written.append("torch.manual_seed"))
    state = torch.default_generator.get_state(), np.random.get_state()[2], random.getstate()
    with ThreadPoolExecutor(1) as page:
        page.submit(lambda: [list(at_the_ends(explorer)) for explorer in explorers]).result()
        page.submit(lambda: [judged(guess) for guess in asked]).result()
    assert written == [] and settings() == before
    assert torch.equal(torch.default_generator.get_state(), state[0])
    assert (np.random.get_state()[2], random.getstate()) == state[1:]
    for one in (*explorers, *asked):
        one.close()
