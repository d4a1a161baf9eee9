"""Sampling against Hugging Face's logits processors, against theory, and in all its edge cases."""

import math
from types import SimpleNamespace

import pytest
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from tokenwerk_helpers.model import Config, Decoder
from tokenwerk_helpers.sampling import generate, probabilities, ranks, stages, window

INF = math.inf
LOGITS = st.lists(
    st.floats(-20, 20, width=32) | st.sampled_from([0.0, 1.0, -INF]), min_size=1, max_size=12
).filter(lambda values: max(values) > -INF)
TEMPERATURES = st.floats(0, 10) | st.sampled_from([0.0, 1e-320, 1e-9, 1.0])
TOP_K = st.none() | st.integers(1, 15)
TOP_P = st.none() | st.floats(0, 1) | st.sampled_from([0.0, 1.0])


def some_logits(seed: int, vocabulary: int = 50) -> torch.Tensor:
    return torch.randn(3, vocabulary, generator=torch.Generator().manual_seed(seed)) * 3


def kept(values: list[float], **settings) -> list[int]:
    """The ids that can be drawn, for given probabilities."""
    return (
        stages(torch.tensor(values, dtype=torch.float64).log(), **settings)[-1]
        .survives.nonzero()[:, 0]
        .tolist()
    )


# --- the three filters, by hand -------------------------------------------------------------------


def test_probabilities_are_the_softmax_of_the_logits():
    """F36: the head gives logits; softmax makes probabilities of them, a strategy chooses."""
    logits = some_logits(0)
    torch.testing.assert_close(probabilities(logits), logits.softmax(-1))


def test_a_low_temperature_sharpens_and_a_high_one_flattens():
    """F41: 0.2 is sharper than 0.8, and both are sharper than 1."""
    logits = some_logits(1)[0]
    entropies = [torch.special.entr(probabilities(logits, t)).sum() for t in (0.2, 0.8, 1.0, 3.0)]
    assert entropies == sorted(entropies)
    assert entropies[0] < 0.5 * entropies[1]


def test_temperature_0_is_argmax_and_of_equal_logits_the_smaller_id_wins():
    assert probabilities(torch.tensor([1.0, 4.0, 4.0, -2.0]), temperature=0).tolist() == [0, 1, 0, 0]


def test_a_temperature_near_0_tends_to_argmax_without_overflow():
    for temperature in (1e-3, 1e-40, 1e-320):
        assert probabilities(torch.tensor([-5.0, -4.0, -INF]), temperature).tolist() == [0, 1, 0]


def test_top_k_keeps_the_k_most_likely():
    """F42: the kept set, and its probabilities share the whole again."""
    assert kept([0.1, 0.4, 0.3, 0.2], top_k=2) == [1, 2]
    torch.testing.assert_close(
        probabilities(torch.tensor([0.1, 0.4, 0.3, 0.2]).log(), top_k=2), torch.tensor([0, 4 / 7, 3 / 7, 0])
    )


def test_top_k_keeps_exactly_k_of_equal_logits_the_smaller_ids():
    assert kept([0.2, 0.2, 0.2, 0.2, 0.2], top_k=2) == [0, 1]


def test_top_p_keeps_the_smallest_set_whose_mass_reaches_p():
    """F42: p = 0.9."""
    assert kept([0.05, 0.5, 0.15, 0.3], top_p=0.9) == [1, 2, 3]
    assert kept([0.05, 0.5, 0.05, 0.4], top_p=0.9) == [1, 3]  # 0.5 + 0.4 reaches 0.9 in spite of rounding
    assert kept([0.25, 0.25, 0.25, 0.25], top_p=0.5) == [0, 1]


def test_the_filters_work_in_the_order_temperature_top_k_top_p():
    logits = torch.tensor([0.4, 0.3, 0.2, 0.1]).log()
    names = [stage.name for stage in stages(logits)]
    assert names == ["temperature", "top_k", "top_p"]
    # 0.4 of what top-k left is 4/7 of the whole, more than p: renormalised first, one token is enough.
    assert kept([0.4, 0.3, 0.2, 0.1], top_k=2, top_p=0.55) == [0]
    assert kept([0.4, 0.3, 0.2, 0.1], top_p=0.55) == [0, 1]
    # Hot logits are flatter, so top-p keeps more of them.
    assert kept([0.4, 0.3, 0.2, 0.1], temperature=100, top_p=0.55) == [0, 1, 2]


# --- settings that change nothing, and settings that are refused ----------------------------------


@pytest.mark.parametrize(
    "settings", [{"temperature": 1}, {"top_k": 50}, {"top_k": 999}, {"top_p": 1}, {"top_p": 1.0}]
)
def test_neutral_settings_change_nothing(settings):
    logits = some_logits(2)
    assert torch.equal(probabilities(logits, **settings), probabilities(logits))


def test_p_of_1_keeps_even_the_least_likely():
    assert stages(torch.tensor([0.0, -20.0, -40.0]), top_p=1)[-1].survives.all()


def test_p_of_0_keeps_one():
    assert kept([0.2, 0.5, 0.3], top_p=0) == [1]
    assert kept([0.5, 0.5], top_p=0) == [0]


@pytest.mark.parametrize(
    "settings",
    [
        *({"temperature": t} for t in (-1, -1e-9, math.nan, INF)),
        *({"top_k": k} for k in (0, -1)),
        *({"top_p": p} for p in (-0.1, 1.1, math.nan, INF)),
    ],
    ids=str,
)
def test_settings_out_of_range_are_refused_by_name(settings):
    name = next(iter(settings))
    with pytest.raises(ValueError, match=name):
        probabilities(some_logits(3), **settings)
    with pytest.raises(ValueError, match=name):
        generate(tiny_model(), [1], 5, **settings)  # at once, before the first token is asked for


def test_what_is_no_number_is_refused_by_name():
    wrong = [
        *({"temperature": value} for value in ("1", True, [1.0])),
        *({"top_k": value} for value in ("3", 2.5, math.nan, True)),
        *({"top_p": value} for value in ("0.9", True)),
    ]
    for settings in wrong:
        name = next(iter(settings))
        with pytest.raises(TypeError, match=name):
            probabilities(some_logits(3), **settings)
        with pytest.raises(TypeError, match=name):
            generate(tiny_model(), [1], 5, **settings)
    for ids, limit in (([3.7], 5), (["3"], 5), ([3], 2.5), ([3], "5")):
        with pytest.raises(TypeError):
            generate(tiny_model(), ids, limit)
    assert next(generate(tiny_model(), torch.tensor([3]), 1)).reason == "limit"


@pytest.mark.parametrize("values", [[0.0, math.nan], [0.0, INF], [-INF, -INF]])
def test_logits_without_a_softmax_are_refused(values):
    with pytest.raises(ValueError, match="logits"):
        probabilities(torch.tensor(values))


# --- for any input --------------------------------------------------------------------------------


@given(LOGITS, TEMPERATURES, TOP_K, TOP_P)
def test_whatever_the_settings_a_set_remains_and_sums_to_1(values, temperature, k, p):
    logits = torch.tensor(values)
    for stage in stages(logits, temperature, k, p):
        assert stage.survives.any()
        assert stage.probabilities.sum().item() == pytest.approx(1)
        assert bool((stage.probabilities[~stage.survives] == 0).all())


@given(LOGITS, TEMPERATURES, TOP_K, TOP_P)
def test_survivors_grow_fewer_from_stage_to_stage_and_are_the_best_ranked(values, temperature, k, p):
    logits = torch.tensor(values)
    first, *rest = stages(logits, temperature, k, p)
    rank = ranks(logits)
    before = first.survives
    for stage in rest:
        assert not (stage.survives & ~before).any()
        assert stage.survives.sum() == rank[stage.survives].max() + 1
        before = stage.survives
    if k is not None:
        assert rest[0].survives.sum() <= k


@given(LOGITS, st.floats(0.01, 0.99))
def test_top_p_is_the_smallest_set_that_reaches_p(values, p):
    """F42: with its last token the mass reaches p, without it, it does not."""
    logits = torch.tensor(values, dtype=torch.float64)
    survives = stages(logits, top_p=p)[-1].survives
    mass = logits.softmax(-1)[survives].sort(descending=True).values
    assert mass.sum() >= p - 2e-6
    assert mass[:-1].sum() <= p


@given(LOGITS, st.floats(-50, 50))
def test_adding_a_number_to_all_logits_changes_no_probability(values, shift):
    logits = torch.tensor(values, dtype=torch.float64)
    torch.testing.assert_close(probabilities(logits + shift), probabilities(logits))


@pytest.mark.parametrize("dtype, result", [(torch.float32, torch.float32), (torch.bfloat16, torch.float32)])
def test_the_dtype_of_the_logits_is_kept_and_never_below_float32(dtype, result):
    logits = some_logits(4).to(dtype)
    chances = probabilities(logits, 0.7, 10, 0.9)
    assert chances.dtype == result
    torch.testing.assert_close(chances.sum(-1), torch.ones(3))


# --- Hugging Face's processors on the same logits --------------------------------------------------


def with_hugging_face(logits, temperature=None, top_k=None, top_p=None):
    warpers = [
        temperature is not None and transformers.TemperatureLogitsWarper(float(temperature)),
        top_k is not None and transformers.TopKLogitsWarper(top_k),
        top_p is not None and transformers.TopPLogitsWarper(float(top_p)),
    ]
    for warper in filter(None, warpers):
        logits = warper(None, logits)
    return logits.softmax(-1)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "settings",
    [
        *({"temperature": t} for t in (0.01, 0.2, 0.8, 1.0, 5.0)),
        *({"top_k": k} for k in (1, 2, 49, 50, 51, 1000)),
        *({"top_p": p} for p in (0.0, 0.1, 0.5, 0.9, 0.99)),
        {"temperature": 0.2, "top_k": 5, "top_p": 0.9},
        {"temperature": 3.0, "top_k": 20, "top_p": 0.5},
        {"temperature": 0.8, "top_p": 0.95},
        {"top_k": 1, "top_p": 0.0},
    ],
    ids=str,
)
def test_hugging_faces_processors_give_the_same_probabilities(seed, settings):
    logits = some_logits(seed)
    torch.testing.assert_close(probabilities(logits, **settings), with_hugging_face(logits, **settings))


def test_a_token_that_cannot_come_stays_impossible_as_with_hugging_face():
    logits = torch.tensor([[1.0, -INF, 2.0, -INF, 0.0]])
    settings = {"temperature": 0.5, "top_k": 4, "top_p": 0.95}
    torch.testing.assert_close(probabilities(logits, **settings), with_hugging_face(logits, **settings))


def test_at_a_tie_hugging_face_keeps_more_than_k_where_we_keep_k():
    """A difference that is meant: there all logits equal to the k-th stay, here the smaller ids."""
    logits = torch.tensor([[2.0, 1.0, 1.0, 0.0]])
    assert (with_hugging_face(logits, top_k=2) > 0).sum() == 3
    assert (probabilities(logits, top_k=2) > 0).sum() == 2


# --- drawing --------------------------------------------------------------------------------------


class FixedLogits(nn.Module):
    """A model that gives the same logits whatever it reads, and remembers what it read."""

    def __init__(self, logits, context=4):
        super().__init__()
        self.logits = torch.tensor(logits)
        self.config = SimpleNamespace(context_length=context)
        self.read = []

    def forward(self, ids):
        assert not self.training and not torch.is_grad_enabled()
        self.read.append(ids.tolist())
        return self.logits.expand(*ids.shape, -1)


@pytest.mark.parametrize(
    "settings",
    [{}, {"temperature": 0.5}, {"temperature": 2.0, "top_k": 6}, {"top_p": 0.9}, {"top_k": 3, "top_p": 0.8}],
    ids=str,
)
def test_many_draws_fall_as_theory_says(settings):
    """Chi-square: the survivors' counts against their probabilities, at the 0.1 % level with a fixed seed."""
    logits, draws = [2.0, 1.5, 1.0, 0.8, 0.5, 0.0, -0.5, -1.0], 2000
    model = FixedLogits(logits)
    generator = torch.Generator().manual_seed(7)
    steps = generate(model, [0], draws, generator=generator, **settings)
    counts = torch.bincount(torch.tensor([step.id for step in steps]), minlength=len(logits)).double()
    expected = with_hugging_face(torch.tensor([logits]), **settings)[0].double() * draws
    assert bool((counts[expected == 0] == 0).all())
    alive = expected > 0
    statistic = ((counts - expected)[alive] ** 2 / expected[alive]).sum()
    freedom = torch.tensor(int(alive.sum()) - 1.0, dtype=torch.float64)
    p_value = torch.special.gammaincc(freedom / 2, statistic / 2)
    assert p_value > 0.001, (counts, expected)


# --- token by token -------------------------------------------------------------------------------


def tiny_model(context: int = 8, seed: int = 0, dropout: float = 0.0) -> Decoder:
    torch.manual_seed(seed)
    return Decoder(Config(vocab_size=20, context_length=context, width=8, heads=2, blocks=2, dropout=dropout))


def test_the_last_positions_logits_give_the_next_token_which_is_appended():
    """F35: the loop, written out by hand."""
    model, ids = tiny_model().eval(), [3, 1, 4]
    steps = list(generate(model, ids, 5, temperature=0))
    for step in steps:
        chances = model(torch.tensor([ids]))[0, -1].softmax(-1)
        assert step.id == chances.argmax()
        ids = [*ids, step.id]
    assert len(steps) == 5


def test_each_step_carries_the_probabilities_it_was_drawn_from():
    """F36"""
    model = tiny_model().eval()
    step = next(generate(model, [3, 1, 4], 1, 0.7, 5, 0.9))
    torch.testing.assert_close(
        step.probabilities, probabilities(model(torch.tensor([[3, 1, 4]]))[0, -1], 0.7, 5, 0.9)
    )
    assert step.probabilities[step.id] > 0


def test_only_the_last_context_tokens_are_read():
    """F31: the window slides."""
    model = FixedLogits([0.0, 1.0], context=3)
    list(generate(model, [0, 1, 0, 0, 1], 2, temperature=0))
    assert model.read == [[[0, 0, 1]], [[0, 1, 1]]]
    assert window([5, 6, 7, 8], 3) == [6, 7, 8]
    assert window([5, 6], 3) == [5, 6]


def test_the_window_is_numbered_from_0_again():
    """F31: past the context the positions are still 0 to context - 1, so old ids leave no trace."""
    model = tiny_model(context=4).eval()
    long = [step.id for step in generate(model, [9, 9, 9, 1, 2, 3, 4], 6, temperature=0)]
    short = [step.id for step in generate(model, [1, 2, 3, 4], 6, temperature=0)]
    assert long == short


def test_both_endings_can_be_told_apart():
    """F40: the end token or the length limit, told by the last step."""
    model = FixedLogits([0.0, 3.0, 1.0])
    ended = list(generate(model, [0], 10, temperature=0, eos=1))
    limited = list(generate(model, [0], 3, temperature=0, eos=2))
    assert [step.reason for step in ended] == ["end"]
    assert [step.reason for step in limited] == [None, None, "limit"]
    assert next(generate(model, [0], 1, temperature=0, eos=1)).reason == "end"  # both at once: it did end


def test_without_an_end_token_only_the_limit_ends():
    """F40"""
    assert [step.reason for step in generate(FixedLogits([1.0]), [0], 2)] == [None, "limit"]


def test_a_limit_of_0_yields_nothing_and_a_negative_one_is_refused():
    assert list(generate(tiny_model(), [1], 0)) == []
    with pytest.raises(ValueError, match="max_new_tokens"):
        generate(tiny_model(), [1], -1)


def test_an_empty_prompt_begins_with_the_start_token():
    model = FixedLogits([0.0, 1.0, 0.0])
    list(generate(model, [], 1, start=2))
    assert model.read == [[[2]]]
    with pytest.raises(ValueError, match="start"):
        generate(model, [], 1)


def test_a_generator_makes_the_draws_repeatable_and_leaves_the_prompt_alone():
    model, prompt = tiny_model(), [1, 2]

    def text(seed):
        return [
            step.id for step in generate(model, prompt, 20, generator=torch.Generator().manual_seed(seed))
        ]

    assert text(1) == text(1) != text(2)
    assert prompt == [1, 2]


def test_dropout_is_off_while_generating_and_every_module_gets_its_mode_back():
    model = tiny_model(dropout=0.5).train()
    model.blocks[0].eval()
    modes = [module.training for module in model.modules()]
    first, second = (next(generate(model, [1, 2], 1)).probabilities for _ in range(2))
    assert torch.equal(first, second)
    assert [module.training for module in model.modules()] == modes


def test_between_two_tokens_and_after_an_abandoned_loop_the_model_is_in_its_own_mode():
    model = tiny_model().train()
    loop = generate(model, [1], 10)
    next(loop)
    assert model.training and torch.is_grad_enabled()  # also while the loop still hangs in the air
    loop.close()
    assert model.training


def test_an_exception_in_the_model_leaves_it_in_its_own_mode():
    model = tiny_model().train()
    with pytest.raises(IndexError, match="no token row"):
        next(generate(model, [99], 1))
    assert model.training and torch.is_grad_enabled()


def test_no_gradients_are_recorded():
    step = next(generate(tiny_model(), [1], 1))
    assert not step.probabilities.requires_grad
