"""Global settings belong to the reader: questions, trainings and imports leave them alone."""

import importlib
import subprocess
import sys

import numpy as np
import torch

from tests.chapters.surroundings import asked_from_the_page, foreign, page_thread, settings
from tests.chapters.test_pictures import live_views
from tokenwerk_helpers.chapters.norm_placement import computation as norm_placement_computation
from tokenwerk_helpers.chapters.reading import Reading
from tokenwerk_helpers.chapters.training import computation as training_computation
from tokenwerk_helpers.live.question import Question


def test_a_training_in_the_page_runs_the_same_under_any_setting():
    run = norm_placement_computation.Run("pre", 2, 1e-3)
    recorded = norm_placement_computation.recorded()[run]
    with foreign():
        torch.set_default_device(None)
        losses = [loss for _step, loss in zip(range(5), norm_placement_computation.train(run))]
        step = next(training_computation.new_training(10, 0.003, Reading().tokenizer))
    assert np.isclose(np.mean(losses), recorded[0], atol=0.01)
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


def test_what_the_page_asks_from_another_thread_leaves_numbers_and_settings_alone():
    """The page's thread draws no random number and never sets, not even for a moment, a global setting."""
    before = settings()
    asked = questions()
    assert len(asked) > 50 and settings() == before
    with asked_from_the_page() as (page, wrong):
        page_thread(page, lambda: [judged(guess) for guess in asked])
    assert not wrong
    for one in asked:
        one.close()
