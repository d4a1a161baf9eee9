"""A slider over the tokens of a text ends where the text ends: each of its places shows another thing."""

import pytest

from tokenwerk_helpers.chapters.block import views as block
from tokenwerk_helpers.chapters.causal_mask import views as causal_mask
from tokenwerk_helpers.chapters.decoder import views as decoder
from tokenwerk_helpers.chapters.self_attention import views as self_attention
from tokenwerk_helpers.chapters.training import views as training


@pytest.mark.parametrize(
    ("build", "name"),
    [
        (block.BlockWalk, "position"),
        (block.ResidualStream, "position"),
        (self_attention.Heads, "query"),
        (causal_mask.LeakProbe, "position"),
        (decoder.NextToken, "position"),
        (training.Targets, "position"),
    ],
)
def test_no_stop_of_the_slider_is_dead_whatever_the_text(build, name):
    explorer = build()
    slider, initial = explorer.controls[name], explorer.settings
    for text in (
        "Mia schenkt Jan eine Nuss.",
        "Mia schenkt",
        "Mia schenkt Jan eine Nuss. Darüber freut sich Jan.",
    ):
        explorer.set(text=text)
        seen = set()
        for place in range(slider.min, slider.max + 1):
            explorer.set(**{name: place})
            assert explorer.error is None and slider.value == place
            seen.add(explorer.caption.value)
        assert len(seen) == slider.max + 1 - slider.min
        assert str(slider.max) in explorer.caption.value, "the last token is out of reach"
    explorer.set(text="")
    assert explorer.error is None
    explorer.reset()
    assert explorer.settings == initial
