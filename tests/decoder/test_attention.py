"""Attention against PyTorch's own, with every kind of mask; and the traps that train quietly all the same."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from tokenwerk_helpers.model import (
    CausalSelfAttention,
    additive_mask,
    attention,
    causal_mask,
    hide,
    merge_heads,
    scaled_dot_product,
    softmax,
    split_heads,
)

often = settings(max_examples=40, deadline=None, derandomize=True, database=None)
sizes = st.integers(1, 6)
seeds = st.integers(0, 10_000)


def drawn(seed: int, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype).requires_grad_()


def queries_keys_values(seed: int, *shape: int, dtype: torch.dtype = torch.float32) -> list[torch.Tensor]:
    return [drawn(seed + i, *shape, dtype=dtype) for i in range(3)]


def random_mask(seed: int, *shape: int, empty_rows: bool) -> torch.Tensor:
    allowed = torch.rand(shape, generator=torch.Generator().manual_seed(seed)) < 0.5
    return allowed if empty_rows else allowed | torch.eye(shape[-1], dtype=torch.bool)


def gradients(output: torch.Tensor, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """The gradients of a sum that weighs every component of the output differently."""
    ramp = torch.linspace(-1, 1, output.numel(), dtype=output.dtype).view_as(output)
    return torch.autograd.grad((output * ramp).sum(), inputs)


# --- the masks --------------------------------------------------------------------------------------


def test_the_causal_mask_is_the_lower_triangle_of_ones():
    """F20: the 5x5 matrix of the text; F22: token 1 sees itself, token 2 sees 1 and 2, ..."""
    assert causal_mask(5).int().tolist() == [
        [1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0],
        [1, 1, 1, 1, 0],
        [1, 1, 1, 1, 1],
    ]
    assert causal_mask(5).sum(dim=1).tolist() == [1, 2, 3, 4, 5]
    assert causal_mask(5).dtype == torch.bool


def test_the_additive_mask_is_zero_on_and_below_the_diagonal_and_minus_infinity_above():
    """F21."""
    inf = math.inf
    assert additive_mask(causal_mask(4)).tolist() == [
        [0, -inf, -inf, -inf],
        [0, 0, -inf, -inf],
        [0, 0, 0, -inf],
        [0, 0, 0, 0],
    ]


@often
@given(seed=seeds, T=sizes)
def test_weights_above_the_diagonal_are_exactly_zero_and_rows_sum_to_one(seed, T):
    """F21, F22; F19: under a causal mask a link can run from later to earlier only, never both ways."""
    q, k, v = queries_keys_values(seed, 2, T, 3)
    _, weights = attention(30 * q, 30 * k, v, causal_mask(T))
    assert (weights[..., ~causal_mask(T)] == 0).all()
    assert (weights[..., causal_mask(T)] >= 0).all()
    assert_close(weights.sum(dim=-1), torch.ones(2, T))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.uint8, torch.int64])
def test_a_mask_that_is_not_boolean_is_refused_and_the_leak_is_named(dtype):
    q, k, v = queries_keys_values(0, 3, 4)
    with pytest.raises(TypeError, match=r"boolean.*leaks"):
        attention(q, k, v, causal_mask(3).to(dtype))


def test_the_refused_float_mask_would_indeed_leak():
    """What PyTorch does with it: 0 and 1 are added to the scores, and later positions keep their weight."""
    q, k, v = queries_keys_values(0, 1, 3, 4)
    moved = v.detach().clone()
    moved[:, -1] += 1
    float_mask = causal_mask(3).float()
    leak = F.scaled_dot_product_attention(q, k, moved, float_mask) - F.scaled_dot_product_attention(
        q, k, v, float_mask
    )
    assert leak[:, 0].abs().max() > 0.1
    assert_close(attention(q, k, moved, causal_mask(3))[0][:, 0], attention(q, k, v, causal_mask(3))[0][:, 0])


@pytest.mark.parametrize("shape", [(4,), (5, 4), (2, 5, 5), (3, 1, 5, 5), (1, 2, 2, 5, 5)])
def test_a_mask_of_another_shape_is_refused_instead_of_enlarging_the_scores(shape):
    with pytest.raises(ValueError, match=r"does not fit scores \(1, 3, 5, 5\)"):
        hide(torch.zeros(1, 3, 5, 5), torch.ones(shape, dtype=torch.bool))


@pytest.mark.parametrize("shape", [(), (5,), (5, 5), (1, 5, 5), (3, 5, 5), (2, 1, 5, 5), (2, 3, 1, 5)])
def test_a_mask_that_broadcasts_to_the_scores_is_taken(shape):
    allowed = random_mask(1, *shape, empty_rows=True) if shape else torch.tensor(True)
    hidden = hide(torch.zeros(2, 3, 5, 5), allowed)
    assert_close(hidden.isneginf(), ~allowed.expand(2, 3, 5, 5))


# --- attention --------------------------------------------------------------------------------------


@often
@given(seed=seeds, B=sizes, H=sizes, T=sizes, d=sizes, masked=st.booleans())
def test_attention_and_its_gradients_equal_scaled_dot_product_attention(seed, B, H, T, d, masked):
    """F17: scores, scaled by sqrt(d_k), softmax, context; under a random mask as well."""
    q, k, v = queries_keys_values(seed, B, H, T, d)
    allowed = random_mask(seed, B, H, T, T, empty_rows=False) if masked else None
    context, _ = attention(q, k, v, allowed)
    reference = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    assert_close(context, reference)
    for ours, theirs in zip(gradients(context, q, k, v), gradients(reference, q, k, v)):
        assert_close(ours, theirs, atol=2e-5, rtol=1e-4)


def test_attention_step_by_step_by_hand():
    """F17: two positions of width 2 in plain Python."""
    q, k, v = torch.tensor([[[1.0, 0.0], [0.0, 2.0]], [[1.0, 1.0], [0.0, 1.0]], [[1.0, 2.0], [3.0, 4.0]]])
    scores = [[1 / math.sqrt(2), 0.0], [2 / math.sqrt(2), 2 / math.sqrt(2)]]
    assert_close(scaled_dot_product(q, k), torch.tensor(scores))
    first = math.exp(scores[0][0]) / (math.exp(scores[0][0]) + 1)
    expected = [[first, 1 - first], [0.5, 0.5]]
    context, weights = attention(q, k, v)
    assert_close(weights, torch.tensor(expected))
    assert_close(context, torch.tensor([[a * 1 + b * 3, a * 2 + b * 4] for a, b in expected]))


@pytest.mark.parametrize("d", [4, 64, 256])
def test_the_scale_keeps_the_spread_of_the_scores_at_one_whatever_the_width(d):
    """F17: why scores are divided by sqrt(d_k)."""
    q, k, _ = queries_keys_values(3, 400, d)
    assert scaled_dot_product(q, k).std().item() == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("dtype, tolerance", [(torch.float32, 1e-5), (torch.bfloat16, 3e-2)])
def test_attention_keeps_the_dtype_forward_and_backward(dtype, tolerance):
    q, k, v = queries_keys_values(5, 2, 2, 6, 4, dtype=dtype)
    context, weights = attention(q, k, v, causal_mask(6))
    exact = F.scaled_dot_product_attention(q.double(), k.double(), v.double(), is_causal=True)
    assert context.dtype == weights.dtype == dtype
    assert_close(context.double(), exact, atol=tolerance, rtol=tolerance)
    for ours, theirs in zip(gradients(context, q, k, v), gradients(exact, q, k, v)):
        assert ours.dtype == dtype
        assert_close(ours.double(), theirs.double(), atol=tolerance, rtol=tolerance)


def test_softmax_survives_scores_that_overflow_the_exponential():
    assert_close(softmax(torch.tensor([[1e4, 1e4 - 1, -1e4]])), torch.tensor([[0.7310586, 0.2689414, 0.0]]))


def test_a_nan_among_the_scores_stays_visible():
    """Only an empty row becomes zeros; a broken number must not be swept under the rug."""
    assert softmax(torch.tensor([[math.nan, 0.0], [-math.inf, -math.inf]])).tolist()[1] == [0, 0]
    assert softmax(torch.tensor([[math.nan, 0.0], [-math.inf, -math.inf]]))[0].isnan().all()


@often
@given(seed=seeds, T=sizes, dtype=st.sampled_from([torch.float32, torch.bfloat16]))
def test_a_row_that_may_look_nowhere_is_zero_forward_and_gives_no_nan_backward(seed, T, dtype):
    q, k, v = queries_keys_values(seed, 2, T, 3, dtype=dtype)
    allowed = random_mask(seed, 2, T, T, empty_rows=True)
    allowed[0, seed % T] = False
    empty = ~allowed.any(dim=-1)
    # Anomaly detection would also find a NaN that a later step happens to overwrite.
    with torch.autograd.set_detect_anomaly(True):
        context, weights = attention(q, k, v, allowed)
        grads = gradients(context, q, k, v)
    assert (context[empty] == 0).all() and (weights[empty] == 0).all()
    assert all(grad.isfinite().all() for grad in grads)
    assert (grads[0][empty] == 0).all()


def test_an_empty_row_leaves_the_other_rows_and_their_gradients_as_they_are():
    q, k, v = queries_keys_values(7, 4, 3)
    allowed = causal_mask(4)
    allowed[2] = False
    others = [0, 1, 3]
    context, _ = attention(q, k, v, allowed)
    reference = F.scaled_dot_product_attention(q[others], k, v, attn_mask=allowed[others])
    assert_close(context[others], reference)
    ours = torch.autograd.grad(context.square().sum(), (k, v))
    theirs = torch.autograd.grad(reference.square().sum(), (k, v))
    assert_close(ours, theirs)


# --- heads ------------------------------------------------------------------------------------------


@often
@given(seed=seeds, B=sizes, T=sizes, H=sizes, d=sizes)
def test_each_head_gets_its_own_components_of_each_position_and_merging_undoes_it(seed, B, T, H, d):
    """F18: split, and concatenated again, without mixing positions."""
    x = drawn(seed, B, T, H * d)
    heads = split_heads(x, H)
    assert heads.shape == (B, H, T, d)
    for h in range(H):
        assert torch.equal(heads[:, h], x[:, :, h * d : (h + 1) * d])
    assert torch.equal(merge_heads(heads), x)


def same_weights(ours: CausalSelfAttention) -> nn.MultiheadAttention:
    """PyTorch's module with the weights of ours."""
    width = ours.q.in_features
    theirs = nn.MultiheadAttention(width, ours.heads, bias=ours.q.bias is not None, batch_first=True)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([ours.q.weight, ours.k.weight, ours.v.weight]))
        theirs.out_proj.weight.copy_(ours.out.weight)
        if ours.q.bias is not None:
            theirs.in_proj_bias.copy_(torch.cat([ours.q.bias, ours.k.bias, ours.v.bias]))
            theirs.out_proj.bias.copy_(ours.out.bias)
    return theirs


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("heads", [1, 2, 3, 12])
def test_the_module_equals_multihead_attention_with_the_same_weights(heads, bias):
    """F18: several heads in parallel, concatenated, one linear layer."""
    torch.manual_seed(heads)
    ours = CausalSelfAttention(12, heads, bias=bias)
    theirs = same_weights(ours)
    seen = {}
    ours.weights.register_forward_hook(lambda _m, _i, output: seen.update(weights=output))
    x = torch.randn(2, 5, 12, requires_grad=True)
    # One mask convention here, the opposite one there: True means "drop" to nn.MultiheadAttention.
    reference, weights = theirs(x, x, x, attn_mask=~causal_mask(5), average_attn_weights=False)
    assert_close(ours(x), reference, atol=1e-5, rtol=1e-5)
    assert_close(seen["weights"], weights, atol=1e-5, rtol=1e-5)
    assert_close(gradients(ours(x), x), gradients(reference, x), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("shape", [(5, 5), (3, 1, 5, 5), (3, 4, 5, 5)])
def test_the_module_takes_other_masks_for_all_per_text_or_per_head(shape):
    ours = CausalSelfAttention(8, 4)
    allowed = random_mask(11, *shape, empty_rows=False)
    x = torch.randn(3, 5, 8)
    drop = ~allowed.expand(3, 4, 5, 5).reshape(12, 5, 5)
    reference, _ = same_weights(ours)(x, x, x, attn_mask=drop)
    assert_close(ours(x, allowed), reference, atol=1e-5, rtol=1e-5)


def test_the_example_of_the_text_keeps_its_shape():
    """F43: (1, 4, 8) with 2 heads."""
    assert CausalSelfAttention(8, 2)(torch.randn(1, 4, 8)).shape == (1, 4, 8)


def test_a_width_that_the_heads_cannot_share_is_refused():
    with pytest.raises(ValueError, match="width 10 is not divisible by 3 heads"):
        CausalSelfAttention(10, 3)


def leak(attend: CausalSelfAttention, allowed: torch.Tensor | None) -> torch.Tensor:
    """Which outputs (rows) move when one input (column) is changed: (T, T), boolean."""
    x = torch.randn(1, 5, 8, generator=torch.Generator().manual_seed(1))
    before = attend(x, allowed)
    moved = []
    for t in range(5):
        changed = x.clone()
        changed[:, t] += 1
        moved.append((attend(changed, allowed) != before).any(dim=-1)[0])
    return torch.stack(moved, dim=1)


@torch.no_grad()
def test_without_a_mask_the_model_could_cheat_and_with_it_it_cannot():
    """F23: the leak probe finds what each position can see."""
    torch.manual_seed(0)
    attend = CausalSelfAttention(8, 2)
    assert torch.equal(leak(attend, None), causal_mask(5))
    assert leak(attend, torch.ones(5, 5, dtype=torch.bool)).all()  # BERT looks both ways
    window = causal_mask(5) & ~causal_mask(5).tril(-2)
    assert torch.equal(leak(attend, window), window)


def test_a_head_moves_only_its_own_part_of_the_context():
    """F18: each head works on its own part."""
    attend = CausalSelfAttention(8, 2)
    seen = []
    attend.context.register_forward_hook(lambda _m, _i, output: seen.append(output.detach()))
    x = torch.randn(1, 4, 8)
    attend(x)
    with torch.no_grad():
        attend.v.weight[:4] += 1  # head 0 owns the first half of the rows
    attend(x)
    before, after = seen
    assert torch.equal(before[:, 1], after[:, 1])
    assert not torch.isclose(before[:, 0], after[:, 0]).any()


def test_the_weights_that_are_drawn_are_the_ones_before_dropout():
    attend = CausalSelfAttention(8, 2, dropout=0.5).train()
    seen = {}
    attend.weights.register_forward_hook(lambda _m, _i, output: seen.update(drawn=output))
    attend.weights_dropout.register_forward_hook(lambda _m, _i, output: seen.update(used=output))
    attend(torch.randn(2, 9, 8))
    assert_close(seen["drawn"].sum(dim=-1), torch.ones(2, 2, 9))
    assert (seen["drawn"][..., causal_mask(9)] > 0).all()
    assert (seen["used"][..., causal_mask(9)] == 0).any()
