"""The exact count against PyTorch's own and published figures; the rule of thumb, and what lies between."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tokenwerk_helpers import parameters
from tokenwerk_helpers.model import Block, Config, Decoder
from tokenwerk_helpers.parameters import PARTS, PRESETS, count, count_config, reconcile, rule_of_thumb, table

often = settings(max_examples=40, deadline=None, derandomize=True, database=None)

chapter = Config(vocab_size=100, context_length=16, width=8, heads=2, blocks=2)

configs = st.builds(
    lambda head_width, heads, **rest: Config(width=head_width * heads, heads=heads, **rest),
    head_width=st.integers(1, 6),
    heads=st.integers(1, 4),
    vocab_size=st.integers(1, 50),
    context_length=st.integers(1, 20),
    blocks=st.integers(1, 4),
    norm=st.sampled_from(["pre", "post", "none"]),
    bias=st.booleans(),
    tie_head=st.booleans(),
)


def test_the_example_of_the_chapter_by_rule_and_exactly():
    """F38: 800 + 1536 + 128 = 2464 by the rule, 2688 exactly, and what lies between."""
    assert rule_of_thumb(V=100, D=8, L=2, T=16) == (800, 1536, 128)
    assert rule_of_thumb(V=100, D=8, L=2, T=16).total == 2464
    assert count(Decoder(chapter)).total == 2688
    rule, left_out, exact = reconcile(chapter)
    assert (rule.total, exact) == (2464, 2688)
    # Two blocks: four biases of D; one of 4D and one of D; two norms of 2D each; and the final norm.
    assert left_out == {"attention_bias": 2 * 32, "mlp_bias": 2 * 40, "norms": 2 * 32 + 16, "head": 0}


def test_a_block_holds_four_tables_for_attention_and_two_for_the_mlp():
    """F37: 4 D^2 and 8 D^2, about 12 D^2, the exact number beside it."""
    D = 64
    parts = count(Block(replace(chapter, width=D))).parts
    assert parts["attention"] == 4 * D**2
    assert parts["mlp"] == 8 * D**2
    assert parts["norms"] == 4 * D  # F26: two norms, gain and shift each
    assert sum(parts.values()) == 12 * D**2 + 13 * D
    assert sum(parts.values()) / (12 * D**2) == pytest.approx(1, abs=0.02)


@often
@given(configs)
def test_the_total_is_the_sum_over_the_models_parameters(config):
    """F39: sum(p.numel() for p in model.parameters()) equals the sum of the table and of the parts."""
    model = Decoder(config)
    expected = sum(p.numel() for p in model.parameters())
    assert count(model).total == expected
    assert sum(row.number for row in table(model)) == expected
    assert all(row.number == math.prod(row.shape) for row in table(model))
    assert list(count(model).parts) == list(PARTS)


@often
@given(configs)
def test_the_count_on_the_meta_device_equals_that_of_the_real_model(config):
    assert count_config(config) == count(Decoder(config))


@often
@given(configs)
def test_the_rule_and_what_it_leaves_out_sum_to_the_exact_count(config):
    V, T, D, L = config.vocab_size, config.context_length, config.width, config.blocks
    rule, left_out, exact = reconcile(config)
    assert rule.total + sum(left_out.values()) == exact
    assert rule == (V * D, 12 * L * D * D, T * D)
    per_norm = {True: 2 * D, False: D}[config.bias]
    norms = {"pre": 2 * L + 1, "post": 2 * L, "none": 0}[config.norm]
    assert left_out == {
        "attention_bias": config.bias * L * 4 * D,
        "mlp_bias": config.bias * L * 5 * D,
        "norms": norms * per_norm,
        "head": 0 if config.tie_head else V * D,
    }


def test_a_tied_head_is_counted_once():
    tied, untied = (count(Decoder(replace(chapter, tie_head=tie))) for tie in (True, False))
    assert tied.parts["head"] == 0
    assert untied.parts["head"] == 800
    assert untied.total == tied.total + 800
    assert [row.name for row in table(Decoder(chapter)) if row.shape == (100, 8)] == [
        "token_embedding.weight"
    ]


def test_more_heads_cost_no_more_parameters():
    assert len({count_config(replace(chapter, heads=heads)).total for heads in (1, 2, 4, 8)}) == 1


# As counted in the weights that were published; the names in the paper (117M, 345M, ...) are rough.
PUBLISHED = {
    "gpt2": 124_439_808,
    "gpt2-medium": 354_823_168,
    "gpt2-large": 774_030_080,
    "gpt2-xl": 1_557_611_200,
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_gpt2_family_has_its_published_number_of_parameters(name):
    assert count_config(PRESETS[name]).total == PUBLISHED[name]


def test_gpt2_with_a_head_of_its_own():
    assert count_config(replace(PRESETS["gpt2"], tie_head=False)).total == 163_037_184


def test_gpt3_comes_close_to_its_175_billion():
    total = count_config(PRESETS["gpt3"]).total
    assert total == pytest.approx(175e9, rel=0.005)
    assert rule_of_thumb(50257, 12288, 96, 2048).total / total == pytest.approx(1, abs=0.001)


def test_the_presets_have_the_shapes_of_the_papers():
    """Radford et al. 2019, table 2; Brown et al. 2020, table 2.1: blocks, width, width per head."""
    shapes = {name: (c.blocks, c.width, c.width // c.heads) for name, c in PRESETS.items()}
    assert shapes == {
        "gpt2": (12, 768, 64),
        "gpt2-medium": (24, 1024, 64),
        "gpt2-large": (36, 1280, 64),
        "gpt2-xl": (48, 1600, 64),
        "gpt3": (96, 12288, 128),
    }


def test_a_small_gpt2_of_hugging_face_has_as_many_parameters():
    from transformers import GPT2Config, GPT2LMHeadModel

    theirs = GPT2LMHeadModel(GPT2Config(vocab_size=100, n_positions=16, n_embd=8, n_layer=2, n_head=2))
    assert count_config(chapter).total == theirs.num_parameters()


def test_gpt3_is_counted_without_memory_and_without_drawing_numbers(monkeypatch):
    devices = set()

    def spying(model):
        devices.update(parameter.device.type for parameter in model.parameters())
        return count(model)

    def drawn(*_args, **_kwargs):
        raise AssertionError("a number was drawn")

    monkeypatch.setattr(parameters, "count", spying)
    monkeypatch.setattr(torch.Tensor, "normal_", drawn)
    monkeypatch.setattr(torch.Tensor, "uniform_", drawn)
    count_config.__wrapped__(PRESETS["gpt3"])  # past the cache
    assert devices == {"meta"}


def test_the_count_of_a_config_is_shared_and_cannot_be_changed_for_others():
    parts = count_config(chapter).parts
    with pytest.raises(TypeError):
        parts["head"] = 5
    assert count_config(chapter).parts["head"] == 0
    assert repr(count_config(chapter)).startswith("Count(parts={'token_embedding': 800, ")


def test_a_module_that_is_no_decoder_is_refused_in_words():
    with pytest.raises(ValueError, match=r"0\.weight is no parameter of a decoder or a block"):
        count(torch.nn.Sequential(torch.nn.Linear(2, 2)))
