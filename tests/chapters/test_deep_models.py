"""The explorers take a deeper model in Hugging Face's layout, such as GPT-2 with its twelve blocks."""

from itertools import pairwise

import pytest

from tests.decoder.test_pretrained import hugging_face_gpt2
from tokenwerk_helpers.chapters.block import views as block_views
from tokenwerk_helpers.chapters.causal_mask import views as causal_mask_views
from tokenwerk_helpers.chapters.decoder import computation as decoder_computation
from tokenwerk_helpers.chapters.decoder import views as decoder_views
from tokenwerk_helpers.chapters.self_attention import views as self_attention_views
from tokenwerk_helpers.pretrained import load_gpt2

TEXT = "Die Katze sucht den Ball."


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gpt2")
    hugging_face_gpt2(folder, n_layer=12, n_positions=64)
    return load_gpt2(folder)


@pytest.mark.parametrize(
    ("build", "move"),
    [
        (decoder_views.NextToken, {"position": 2}),
        (decoder_views.Generation, {"steps": 5}),
        (self_attention_views.Heads, {"block": 12}),
        (causal_mask_views.MaskLab, {"block": 11}),
        (block_views.BlockWalk, {"block": 12}),
        (block_views.ResidualStream, {"position": 2}),
    ],
    ids=lambda part: getattr(part, "__name__", ""),
)
def test_an_explorer_reads_a_model_of_twelve_blocks(gpt2, build, move):
    explorer = build(pretrained=gpt2)
    explorer.set(text=TEXT)
    before = explorer.caption.value, explorer.still()
    explorer.set(**move)
    assert explorer.error is None, explorer.message.value
    assert explorer.caption.value != before[0] and explorer.still() != before[1]
    explorer.close()


def test_a_deep_model_shows_four_layers_the_first_two_between_and_the_answer(gpt2):
    view = decoder_views.NextToken(pretrained=gpt2, text=TEXT)
    view.figure.redraw()  # lays the panels out
    panels = view.figure.figure.axes
    assert [panel.get_title(loc="left") for panel in panels] == [
        "nur Embeddings",
        "nach Block 4",
        "nach Block 8",
        "nach Block 12 (Antwort)",
    ]
    titles = [panel._left_title.get_window_extent() for panel in panels]
    assert not any(one.overlaps(other) for one, other in pairwise(titles))
    shown = [bars.texts[0].get_text().split("  ")[0] for bars in view.bars]
    assert shown == [view.result.layers[layer][0][0] for layer in (0, 4, 8, 12)]


@pytest.mark.parametrize("count", range(1, 30))
def test_panels_run_from_the_first_layer_to_the_last_each_once(count):
    layers = decoder_computation.shown_layers(count)
    assert layers == sorted(set(layers)) and len(layers) == min(count, decoder_computation.PANELS)
    assert layers[-1] == count - 1 and (count == 1 or layers[0] == 0)
    gaps = [b - a for a, b in pairwise(layers)]
    assert not gaps or max(gaps) - min(gaps) <= 1
