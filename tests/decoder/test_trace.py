"""What a trace sees is what the model computed; what is switched off is off, as a rebuilt model shows."""

import copy
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from tokenwerk_helpers.model import Config, Decoder, causal_mask
from tokenwerk_helpers.trace import FromInputs, ablate, evaluating, layer_logits, running_with, trace

often = settings(max_examples=25, deadline=None, derandomize=True, database=None)
NORMS = ["pre", "post", "none"]

small = Config(vocab_size=30, context_length=12, width=8, heads=4, blocks=3)
ids = torch.tensor([[3, 1, 4, 1, 5, 9], [2, 7, 1, 8, 2, 8]])


def decoder(seed: int = 0, **changes) -> Decoder:
    torch.manual_seed(seed)
    model = Decoder(replace(small, **changes)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) / 4)  # so that biases, gains and shifts count
    return model


def hooks(model: nn.Module) -> int:
    return sum(len(module._forward_hooks) + len(module._forward_pre_hooks) for module in model.modules())


# --- seeing -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", NORMS)
def test_the_traced_values_are_the_steps_of_the_model(norm):
    model = decoder(norm=norm)
    seen = trace(model, ids)
    x = model.token_embedding(ids) + model.position_embedding.weight[:6]
    assert torch.equal(seen["embedded"], x)
    for i, block in enumerate(model.blocks):
        assert torch.equal(seen[f"blocks.{i}.attn.weights"].triu(1), torch.zeros(2, 4, 6, 6))
        assert_close(seen[f"blocks.{i}.attn.weights"].sum(-1), torch.ones(2, 4, 6))
        masked = seen[f"blocks.{i}.attn.scores"].masked_fill(~causal_mask(6), -torch.inf)
        assert torch.equal(seen[f"blocks.{i}.attn.masked_scores"], masked)
        assert torch.equal(seen[f"blocks.{i}.after_attention"], x + seen[f"blocks.{i}.attn"])
        assert torch.equal(seen[f"blocks.{i}.mlp.activation"], F.gelu(seen[f"blocks.{i}.mlp.up"]))
        assert seen[f"blocks.{i}.attn.context"].shape == (2, 4, 6, 2)
        x = block(x)
        assert torch.equal(seen[f"blocks.{i}"], x)
        if norm != "post":
            assert torch.equal(seen[f"blocks.{i}.after_mlp"], x)
    assert torch.equal(seen["final_norm"], model.final_norm(x))
    assert torch.equal(seen["logits"], model(ids))


def test_every_module_that_runs_is_named_in_the_order_of_the_computation():
    model = decoder()
    names = list(trace(model, ids))
    assert set(names) == {name or "logits" for name, _ in model.named_modules()} - {"blocks"}
    order = [
        "embedded",
        "blocks.0.norm1",
        "blocks.0.attn.scores",
        "blocks.0.attn.weights",
        "blocks.0.after_mlp",
    ]
    assert [name for name in names if name in order] == order
    assert names[-1] == "logits"


def test_another_mask_is_traced_as_well():
    weights = trace(decoder(), ids, torch.eye(6, dtype=torch.bool))["blocks.2.attn.weights"]
    assert torch.equal(weights, torch.eye(6).expand(2, 4, 6, 6))


def test_a_part_alone_is_traced_the_same_way():
    block, x = decoder().blocks[0], torch.randn(2, 6, 8)
    seen = trace(block, x)
    assert torch.equal(seen["after_attention"], x + block.attn(block.norm1(x)))
    assert torch.equal(seen["logits"], block(x))


def test_a_name_that_does_not_exist_is_answered_with_the_nearest_ones():
    with pytest.raises(
        KeyError, match=r"no value named 'blocks.0.atn.weights'; near it: blocks.0.attn.weights"
    ):
        trace(decoder(), ids)["blocks.0.atn.weights"]


def test_the_names_and_shapes_can_be_read_off():
    assert "blocks.0.attn.weights            (2, 4, 6, 6)" in repr(trace(decoder(), ids)).splitlines()


def test_nothing_seen_is_thinned_out_by_dropout():
    model = decoder(dropout=0.5).train()
    assert torch.equal(trace(model, ids)["logits"], trace(model, ids)["logits"])
    assert_close(trace(model, ids)["blocks.0.attn.weights_dropout"].sum(-1), torch.ones(2, 4, 6))


def test_the_model_stays_as_it_was():
    model = decoder(dropout=0.5).train()
    model.blocks[1].eval()
    modes = [module.training for module in model.modules()]
    trace(model, ids)
    assert [module.training for module in model.modules()] == modes
    assert hooks(model) == 0
    assert all(parameter.grad is None for parameter in model.parameters())


def test_the_model_stays_as_it_was_when_the_run_fails():
    model = decoder().train()
    with pytest.raises(ValueError, match="no position row"):
        trace(model, torch.zeros(1, 13, dtype=torch.long), replace=ablate(model, "mlp"))
    assert model.training and hooks(model) == 0
    with pytest.raises(KeyError, match=r"no value named 'blocks\.9\.mlp'"):
        trace(model, ids, replace={"blocks.0.mlp": torch.zeros_like, "blocks.9.mlp": torch.zeros_like})
    assert model.training and hooks(model) == 0


def test_evaluating_gives_back_each_modules_mode_even_after_an_error():
    model = decoder().train()
    model.blocks[0].eval()
    with pytest.raises(RuntimeError, match="stop"), evaluating(model):
        assert not any(module.training for module in model.modules())
        raise RuntimeError("stop")
    assert model.training and model.blocks[1].training and not model.blocks[0].training


# --- replacing --------------------------------------------------------------------------------------


def test_the_run_goes_on_with_the_replacement_and_the_trace_shows_it():
    model = decoder()
    stream = torch.randn(2, 6, 8)
    seen = trace(model, ids, replace={"blocks.1": lambda _x: stream})
    assert torch.equal(seen["blocks.1"], stream)
    assert torch.equal(seen["blocks.2"], model.blocks[2](stream))
    assert torch.equal(trace(model, ids)["logits"], model(ids))


def test_a_replacement_may_change_its_copy_in_place():
    """What came before it stays as it was, although in eval mode dropout hands on the very same tensor."""
    model = decoder()
    seen = trace(model, ids, replace={"embedded": lambda x: x.zero_()})
    assert not seen["embedded"].any()
    assert torch.equal(seen["dropout"], trace(model, ids)["dropout"])


def test_a_trace_builds_no_graph_and_holds_none():
    model, with_gradient, graphs = decoder(), torch.ones(2, 6, 8, requires_grad=True), []
    replace = {
        "blocks.0": lambda x: graphs.append(x.requires_grad) or x,
        "blocks.1": lambda _x: with_gradient,
    }
    assert not any(value.requires_grad for value in trace(model, ids, replace=replace).values())
    assert graphs == [False]


@pytest.mark.parametrize("wrong, got", [(lambda x: x[:1], r"\(1, 6, 8\)"), (lambda x: None, "None")])
def test_a_replacement_of_another_shape_is_refused(wrong, got):
    with pytest.raises(ValueError, match=rf"'blocks.0.mlp' must return \(2, 6, 8\), not {got}"):
        trace(decoder(), ids, replace={"blocks.0.mlp": wrong})


def test_nested_replacements_let_the_inner_one_have_the_last_word():
    model = decoder()
    with running_with(model, {"logits": lambda x: x + 1}):
        with running_with(model, {"logits": lambda x: 2 * x}) as inner:
            doubled = inner(ids)
        plus_one = model(ids)
    assert_close(doubled, 2 * (model(ids) + 1))
    assert_close(plus_one, model(ids) + 1)


def test_gradients_flow_through_a_replacement():
    model = decoder()
    with running_with(model, ablate(model, "mlp", "norms", heads=[(0, 1)])):
        model(ids).square().mean().backward()
    attn, mlp = model.blocks[0].attn, model.blocks[0].mlp
    assert attn.v.weight.grad[:2].abs().max() > 0  # head 0
    assert attn.v.weight.grad[2:4].abs().max() == 0  # head 1
    assert mlp.up.weight.grad is None or mlp.up.weight.grad.abs().max() == 0


# --- switching parts off: each compared with a model rebuilt without them ---------------------------


def rebuilt(model: Decoder, *zeroed: str) -> Decoder:
    """A copy in which every parameter whose name contains one of `zeroed` is zero."""
    other = copy.deepcopy(model)
    with torch.no_grad():
        for name, parameter in other.named_parameters():
            if any(part in name for part in zeroed):
                parameter.zero_()
    return other


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(
    "part, zeroed", [("positions", "position_embedding"), ("attention", "attn.out"), ("mlp", "mlp.down")]
)
def test_a_part_that_is_off_adds_nothing(part, zeroed, norm):
    model = decoder(norm=norm)
    off = trace(model, ids, replace=ablate(model, part))["logits"]
    assert_close(off, rebuilt(model, zeroed)(ids))
    assert (off - model(ids)).abs().max() > 0.01


def test_a_head_that_is_off_adds_nothing():
    model = decoder()
    without = copy.deepcopy(model)
    with torch.no_grad():
        without.blocks[1].attn.out.weight[:, 2 * 2 : 3 * 2] = 0  # the columns that read head 2
        without.blocks[1].attn.out.weight[:, 0:2] = 0  # and head 0
        without.blocks[2].attn.out.weight[:, 3 * 2 :] = 0
    off = trace(model, ids, replace=ablate(model, heads=[(1, 2), (2, 3), (1, 0)]))["logits"]
    assert_close(off, without(ids))
    assert (off - model(ids)).abs().max() > 0.01


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_norms_that_are_off_leave_the_model_without_norms(norm):
    model = decoder(norm=norm)
    without = decoder(norm="none")
    without.load_state_dict(model.state_dict(), strict=False)
    off = trace(model, ids, replace=ablate(model, "norms"))["logits"]
    assert_close(off, without(ids))
    assert (off - model(ids)).abs().max() > 0.01


@pytest.mark.parametrize("norm", NORMS)
def test_without_the_residual_path_only_the_contributions_go_on(norm):
    """u = Attention(Norm1(x)) and y = MLP(Norm2(u)) are what is left; with post-norm the norms come last."""
    model = decoder(norm=norm)
    x = trace(model, ids)["embedded"]
    for block in model.blocks:
        if norm == "post":
            x = block.norm2(block.mlp(block.norm1(block.attn(x))))
        else:
            x = block.mlp(block.norm2(block.attn(block.norm1(x))))
    seen = trace(model, ids, replace=ablate(model, "residual"))
    assert_close(seen["logits"], model.head(model.final_norm(x)))
    assert torch.equal(seen["blocks.0.after_attention"], seen["blocks.0.attn"])
    assert (seen["logits"] - model(ids)).abs().max() > 0.01


def test_parts_can_be_off_together():
    model = decoder()
    seen = trace(model, ids, replace=ablate(model, "residual", "norms", "positions", heads=[(0, 0)]))
    x = model.token_embedding(ids)
    for i, block in enumerate(model.blocks):
        attn = copy.deepcopy(block.attn)
        if i == 0:
            attn.out.weight.data[:, :2] = 0
        x = block.mlp(attn(x))
    assert_close(seen["logits"], model.head(x))
    assert not trace(model, ids, replace=ablate(model, "residual", "mlp"))["blocks.2"].any()


@often
@given(order=st.permutations(range(6)))
def test_without_positions_and_mask_a_permuted_text_gives_permuted_logits(order):
    """Attention alone knows no order; with positions it does."""
    model, everyone = decoder(), torch.ones(6, 6, dtype=torch.bool)
    off = ablate(model, "positions")
    straight = trace(model, ids, everyone, replace=off)["logits"]
    permuted = trace(model, ids[:, order], everyone, replace=off)["logits"]
    assert_close(permuted, straight[:, order], atol=1e-5, rtol=1e-5)
    if order != sorted(order):
        with_positions = trace(model, ids, everyone)["logits"][:, order]
        assert not torch.allclose(trace(model, ids[:, order], everyone)["logits"], with_positions)


def test_what_does_not_exist_cannot_be_switched_off():
    model = decoder()
    with pytest.raises(
        ValueError, match="no part named 'mlps': choose from positions, attention, mlp, norms, residual"
    ):
        ablate(model, "mlps")
    for block, head in ((3, 0), (0, 4), (-1, 0), (0, -1)):
        with pytest.raises(ValueError, match=f"no head {head} in block {block}"):
            ablate(model, heads=[(block, head)])
    assert ablate(model) == {}


# --- what each layer would already answer -----------------------------------------------------------


@pytest.mark.parametrize("norm", NORMS)
def test_each_layer_answers_as_a_model_that_ends_there(norm):
    model = decoder(norm=norm)
    answers = layer_logits(model, trace(model, ids))
    assert answers.shape == (4, 2, 6, 30)
    for layer in range(4):
        shorter = copy.deepcopy(model)
        del shorter.blocks[layer:]
        assert_close(answers[layer], shorter(ids))
    assert not answers.requires_grad


def test_layers_answer_under_replacements_within_the_same_with():
    model = decoder()
    off = ablate(model, "norms")
    with running_with(model, off):
        seen = trace(model, ids)
        assert_close(layer_logits(model, seen)[-1], seen["logits"])
    assert_close(seen["logits"], trace(model, ids, replace=off)["logits"])


def test_from_inputs_sees_what_a_module_is_given():
    model = decoder()
    swapped = trace(model, ids, replace={"blocks.0.norm1": FromInputs(lambda x: -x)})
    assert torch.equal(swapped["blocks.0.norm1"], -swapped["embedded"])
