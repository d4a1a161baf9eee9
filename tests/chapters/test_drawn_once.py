"""Explorers draw axes and names once: a slider that is moved redraws the moving artists and nothing else."""

import pytest
from ipywidgets import SelectionSlider

from tokenwerk_helpers.chapters.causal_mask import views as causal_mask_views
from tokenwerk_helpers.chapters.decoder import views as decoder_views
from tokenwerk_helpers.chapters.embeddings import views as embeddings_views
from tokenwerk_helpers.chapters.mlp import views as mlp_views
from tokenwerk_helpers.chapters.training import views as training_views
from tokenwerk_helpers.live import style


def moves(explorer):
    """Two more values for each slider and each list of choices that is awake."""
    for name, control in explorer.controls.items():
        if control.disabled:
            continue
        if hasattr(control, "options"):
            choices = [value for _label, value in control.options]
            if isinstance(control, SelectionSlider):
                choices = list(control.options)
            yield from ((name, choice) for choice in choices if choice != control.value)
        elif hasattr(control, "min"):
            low, high = control.min, min(control.max, control.min + 9)
            yield from ((name, value) for value in (low, high, control.value))


@pytest.mark.parametrize(
    "build",
    [
        lambda: causal_mask_views.LeakProbe(),
        lambda: mlp_views.NeuronExplorer(),
        lambda: embeddings_views.Merges(text="Eine Ente lacht."),
        lambda: embeddings_views.SlidingWindow(),
        lambda: training_views.Targets(),
        lambda: decoder_views.NextToken(),
    ],
    ids=["LeakProbe", "NeuronExplorer", "Merges", "SlidingWindow", "Targets", "NextToken"],
)
def test_a_moved_slider_draws_only_what_has_moved(build, monkeypatch):
    explorer = build()
    monkeypatch.setattr(explorer.figure.canvas, "draw", lambda: pytest.fail("everything was drawn"))
    pictures = {explorer.figure.pixels.tobytes()}
    for name, value in list(moves(explorer)):
        explorer.set(**{name: value})
        pictures.add(explorer.figure.pixels.tobytes())
    assert len(pictures) > 1


def test_what_has_moved_looks_as_if_everything_had_been_drawn_anew():
    """Also where a theme has changed in between, and hidden texts stay hidden."""
    window = embeddings_views.SlidingWindow()
    window.set(length=12)
    window.figure.dark = True
    window.set(length=4, context=3)
    moved = window.figure.pixels.tobytes()
    fresh = embeddings_views.SlidingWindow()
    fresh.set(length=4, context=3)
    fresh.figure.dark = True
    assert moved == fresh.figure.pixels.tobytes()
    assert window.figure.still() == fresh.figure.still()


def test_ticks_made_after_the_page_became_dark_are_bright():
    explorer = mlp_views.NeuronExplorer()
    explorer.figure.dark = True
    for neuron in (39, 23, 1, 67):
        explorer.set(neuron=neuron)
        beside = explorer.figure.pixels[:, : round(explorer.axes.bbox.x0) - 1, :3]
        red, green, blue = beside.reshape(-1, 3).max(axis=0)
        assert min(red, green, blue) > 0.9 * min(bytes.fromhex(style.DARK.ink[1:]))
