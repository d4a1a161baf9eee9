"""The reader's global settings: foreign ones, and whether the page has left them alone."""

import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from unittest.mock import patch

import matplotlib
import matplotlib.style
import numpy as np
import torch


@contextmanager
def foreign() -> Iterator[None]:
    """Settings no page counts on; the usual ones come back."""
    with matplotlib.rc_context():
        matplotlib.style.use(["classic", "dark_background"])
        sizes = {"font.size": 30, "xtick.labelsize": 20, "ytick.major.size": 15, "ytick.major.pad": 12}
        matplotlib.rcParams.update(sizes | {"axes.unicode_minus": False, "font.weight": "bold"})
        torch.set_default_dtype(torch.float64)
        torch.set_default_device("meta")
        torch.set_grad_enabled(False)
        try:
            yield
        finally:
            torch.set_default_device(None)
            torch.set_grad_enabled(True)
            torch.set_default_dtype(torch.float32)


def settings() -> tuple:
    """Every global setting that a view might change."""
    return (
        dict(matplotlib.rcParams), np.get_printoptions(), repr(torch._tensor_str.PRINT_OPTS),
        torch.get_default_dtype(), torch.is_grad_enabled(), torch.get_num_threads(),
    )  # fmt: skip


def random_states() -> tuple:
    """How far the reader's random numbers are drawn."""
    drawn = torch.default_generator.get_state().tolist()
    return drawn, np.random.get_state()[2], random.getstate()


def page_thread(page: ThreadPoolExecutor, act: Callable):
    """What a function returns that the page's own thread calls."""
    return page.submit(act).result()


@contextmanager
def asked_from_the_page() -> Iterator[tuple[ThreadPoolExecutor, list[str]]]:
    """A thread as the page's, and what is wrong: global settings it set, random numbers it drew."""
    wrong: list[str] = []
    set_parameter, set_state, seed = matplotlib.RcParams.__setitem__, torch.set_rng_state, torch.manual_seed

    def noting(name: str, act: Callable) -> Callable:
        def noted(*given):
            if threading.current_thread() is not threading.main_thread():
                wrong.append(f"{name} is called")
            return act(*given)

        return noted

    before = settings(), random_states()
    with (
        ThreadPoolExecutor(1) as page,
        patch.object(matplotlib.RcParams, "__setitem__", noting("rcParams[...] = ", set_parameter)),
        patch("torch.set_rng_state", noting("torch.set_rng_state", set_state)),
        patch("torch.manual_seed", noting("torch.manual_seed", seed)),
    ):
        yield page, wrong
    if settings() != before[0]:
        wrong.append("a global setting is another one")
    if random_states() != before[1]:
        wrong.append("random numbers of the reader are spent")
