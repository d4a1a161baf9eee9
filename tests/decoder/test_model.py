"""The decoder and its parts against PyTorch's encoder layer, Hugging Face's GPT-2 and hand calculation."""

import copy
import math
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from tokenwerk_helpers.model import MLP, Block, Config, Decoder, causal_mask, layer_norm, residual

often = settings(max_examples=40, deadline=None, derandomize=True, database=None)
seeds = st.integers(0, 10_000)
NORMS = ["pre", "post", "none"]

small = Config(vocab_size=30, context_length=12, width=8, heads=2, blocks=2)


def decoder(config: Config = small, seed: int = 0, **changes) -> Decoder:
    torch.manual_seed(seed)
    return Decoder(replace(config, **changes)).eval()


def block(seed: int = 0, **changes) -> Block:
    """A block in which nothing is at its starting value: gains, shifts and biases are random as well."""
    torch.manual_seed(seed)
    made = Block(replace(small, **changes)).eval()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(torch.randn_like(parameter) / 4)
    return made


def random_ids(seed: int, *shape: int, vocab_size: int = small.vocab_size) -> torch.Tensor:
    return torch.randint(vocab_size, shape, generator=torch.Generator().manual_seed(seed))


# --- the configuration ------------------------------------------------------------------------------


def test_whole_numbers_of_numpy_are_taken_and_become_pythons():
    given = replace(small, width=np.int64(8), blocks=np.int32(2))
    assert given == small and type(given.width) is int and type(given.blocks) is int


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"width": 10, "heads": 3}, "width 10 is not divisible by 3 heads"),
        ({"heads": 0}, "heads must be a whole number of at least 1, not 0"),
        ({"blocks": 1.5}, "blocks must be a whole number of at least 1, not 1.5"),
        ({"heads": True}, "heads must be a whole number of at least 1, not True"),
        ({"context_length": -1}, "context_length must be"),
        ({"vocab_size": 30.0}, "vocab_size must be"),
        ({"dropout": 1.0}, r"dropout must be in \[0, 1\), not 1.0"),
        ({"dropout": float("nan")}, "dropout must be"),
        ({"norm": "Pre"}, "norm must be one of pre, post, none, not 'Pre'"),
        ({"activation": "swish"}, "activation must be one of gelu, gelu_tanh, relu, not 'swish'"),
    ],
)
def test_a_configuration_that_makes_no_decoder_is_refused_in_words(wrong, message):
    with pytest.raises(ValueError, match=message):
        replace(small, **wrong)


def test_an_unknown_activation_is_refused_by_the_mlp_alone_as_well():
    with pytest.raises(ValueError, match="activation must be one of gelu, gelu_tanh, relu, not 'tanh'"):
        MLP(8, activation="tanh")


def test_a_configuration_cannot_be_changed_behind_the_models_back():
    with pytest.raises(FrozenInstanceError):
        small.width = 16


# --- the residual -----------------------------------------------------------------------------------


def test_a_residual_adds_component_by_component():
    """F01: [2, 5] + [0.3, -0.2]; its derivative is 1 + f'(x), F02."""
    assert_close(residual(torch.tensor([2.0, 5.0]), torch.tensor([0.3, -0.2])), torch.tensor([2.3, 4.8]))
    x = torch.tensor([0.5, -1.0], requires_grad=True)
    residual(x, x**3).sum().backward()
    assert_close(x.grad, 1 + 3 * x.detach() ** 2)


@pytest.mark.parametrize("shape", [(2, 5, 7), (5, 8), (1, 5, 8), (2, 1, 8), (2, 5, 1), (8,), ()])
def test_a_residual_refuses_unequal_shapes_also_where_broadcasting_would_hide_them(shape):
    """F03."""
    with pytest.raises(ValueError, match=r"equal shapes: x is \(2, 5, 8\), f\(x\) is"):
        residual(torch.zeros(2, 5, 8), torch.zeros(shape))


def test_a_block_whose_part_returns_another_shape_says_so():
    """F03: the check is the one that the block itself uses."""
    broken = block()
    broken.mlp = nn.Linear(8, 1)
    with pytest.raises(ValueError, match="equal shapes"):
        broken(torch.randn(2, 5, 8))


# --- LayerNorm --------------------------------------------------------------------------------------


@often
@given(seed=seeds, width=st.integers(2, 20), scale=st.sampled_from([1e-3, 1.0, 100.0]))
def test_layer_norm_equals_the_formula(seed, width, scale):
    """F07: gamma (x - mu) / sqrt(sigma^2 + eps) + beta, with the mean of the squared deviations."""
    torch.manual_seed(seed)
    norm = layer_norm(replace(small, width=width, heads=1))
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    x = scale * torch.randn(2, 3, width)
    mean = x.sum(dim=-1, keepdim=True) / width
    variance = (x - mean).square().sum(dim=-1, keepdim=True) / width
    expected = norm.weight * (x - mean) / (variance + norm.eps).sqrt() + norm.bias
    assert_close(norm(x), expected, atol=1e-5 if scale > 1 else 1e-6, rtol=1e-5)


def test_a_position_is_normalized_by_its_own_numbers_alone():
    """F08: change one position, and no other moves."""
    norm = layer_norm(small)
    x = torch.randn(2, 5, 8)
    changed = x.clone()
    changed[1, 3] = torch.randn(8)
    moved = (norm(x) != norm(changed)).any(dim=-1)
    assert moved.nonzero().tolist() == [[1, 3]]


# --- the MLP ----------------------------------------------------------------------------------------


def test_the_mlp_widens_four_times_and_comes_back():
    """F10: 8 -> 32 -> 8."""
    mlp = MLP(8)
    shapes = []
    for part in (mlp.up, mlp.activation, mlp.down):
        part.register_forward_hook(lambda _m, x, y: shapes.append((x[0].shape[-1], y.shape[-1])))
    assert mlp(torch.randn(2, 3, 8)).shape == (2, 3, 8)
    assert shapes == [(8, 32), (32, 32), (32, 8)]
    assert MLP(8, hidden=5).up.out_features == 5


def test_gelu_weighs_negative_values_softly_where_relu_cuts_them():
    """F11: values at -1, 0, 1; the exact GELU is x times the normal distribution, tanh nears it."""
    x = torch.tensor([-1.0, 0.0, 1.0])
    phi = 0.5 * (1 + math.erf(1 / math.sqrt(2)))
    assert_close(MLP(8).activation(x), torch.tensor([-(1 - phi), 0.0, phi]))
    inner = math.sqrt(2 / math.pi) * (1 + 0.044715)
    tanh = torch.tensor([-0.5 * (1 - math.tanh(inner)), 0.0, 0.5 * (1 + math.tanh(inner))])
    assert_close(MLP(8, activation="gelu_tanh").activation(x), tanh)
    assert 1e-5 < (tanh[2] - phi).abs() < 1e-3
    assert MLP(8, activation="relu").activation(x).tolist() == [0, 0, 1]


def test_two_linear_layers_without_activation_are_one():
    """F12; with the activation they are not: the sum rule of linear maps fails."""
    mlp = MLP(8)
    x, y = torch.randn(2, 10, 8)
    linear = nn.Sequential(mlp.up, mlp.down)
    weight = mlp.down.weight @ mlp.up.weight
    bias = mlp.down.weight @ mlp.up.bias + mlp.down.bias
    assert_close(linear(x), F.linear(x, weight, bias), atol=1e-5, rtol=1e-5)
    zero = torch.zeros(8)
    assert_close(linear(x + y) + linear(zero), linear(x) + linear(y), atol=1e-5, rtol=1e-5)
    assert (mlp(x + y) + mlp(zero) - mlp(x) - mlp(y)).abs().max() > 0.01


def test_linear_on_rows_is_the_matrix_times_a_column():
    """F13: nn.Linear applies W x + b to each row."""
    up = MLP(8).up
    rows = torch.randn(5, 8)
    columns = [up.weight @ row[:, None] + up.bias[:, None] for row in rows]
    assert_close(up(rows), torch.cat(columns, dim=1).T)


@often
@given(seed=seeds, order=st.permutations(range(6)))
def test_the_mlp_does_not_mix_positions(seed, order):
    """F14: permuted in, permuted out."""
    torch.manual_seed(seed)
    mlp, x = MLP(8), torch.randn(2, 6, 8)
    assert_close(mlp(x[:, order]), mlp(x)[:, order])


def test_with_relu_the_mlp_is_the_formula_of_the_2017_paper():
    """F15: max(0, x W1 + b1) W2 + b2, with the tables as the paper lays them, transposed to nn.Linear's."""
    mlp = MLP(8, activation="relu")
    x = torch.randn(3, 8)
    W1, b1, W2, b2 = mlp.up.weight.T, mlp.up.bias, mlp.down.weight.T, mlp.down.bias
    assert_close(mlp(x), torch.maximum(torch.tensor(0.0), x @ W1 + b1) @ W2 + b2)


# --- the block --------------------------------------------------------------------------------------


def encoder_layer(ours: Block, activation: str) -> nn.TransformerEncoderLayer:
    """PyTorch's layer with the weights of our block."""
    theirs = nn.TransformerEncoderLayer(
        8,
        ours.attn.heads,
        dim_feedforward=32,
        dropout=0.0,
        activation=activation,
        norm_first=ours.norm == "pre",
        batch_first=True,
    )
    parts = {
        "self_attn.out_proj": ours.attn.out,
        "linear1": ours.mlp.up,
        "linear2": ours.mlp.down,
        "norm1": ours.norm1,
        "norm2": ours.norm2,
    }
    qkv = (ours.attn.q, ours.attn.k, ours.attn.v)
    state = {}
    for kind in ("weight", "bias"):
        state |= {f"{name}.{kind}": getattr(part, kind) for name, part in parts.items()}
        state[f"self_attn.in_proj_{kind}"] = torch.cat([getattr(part, kind) for part in qkv])
    theirs.load_state_dict(state)
    return theirs


@pytest.mark.parametrize("activation", ["gelu", "relu"])
@pytest.mark.parametrize("heads", [1, 2, 4])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_block_and_its_gradient_equal_pytorchs_encoder_layer_with_a_causal_mask(norm, heads, activation):
    """F24: u = x + Attention(Norm1(x)), y = u + MLP(Norm2(u)); and the order of 2017."""
    ours = block(norm=norm, heads=heads, activation=activation)
    theirs = encoder_layer(ours, activation)
    x = torch.randn(3, 6, 8, requires_grad=True)
    y, reference = ours(x), theirs(x, src_mask=~causal_mask(6))
    assert_close(y, reference, atol=1e-5, rtol=1e-5)
    ramp = torch.linspace(-1, 1, y.numel()).view_as(y)
    (gradient,), (expected,) = (torch.autograd.grad((out * ramp).sum(), x) for out in (y, reference))
    assert_close(gradient, expected, atol=1e-5, rtol=1e-4)


def test_a_block_without_norms_is_the_two_sums_alone():
    ours = block(norm="none")
    x = torch.randn(2, 5, 8)
    u = x + ours.attn(x)
    assert_close(ours(x), u + ours.mlp(u))


def test_the_second_sum_takes_u_and_not_x():
    """F25."""
    ours = block()
    x = torch.randn(2, 5, 8)
    u = x + ours.attn(ours.norm1(x))
    contribution = ours.mlp(ours.norm2(u))
    assert_close(ours(x), u + contribution)
    assert (ours(x) - (x + contribution)).abs().max() > 0.1


def test_a_block_has_two_norms_of_its_own():
    """F26: moving the second leaves u where it was; together they hold 4D parameters."""
    ours = block()
    seen = []
    ours.after_attention.register_forward_hook(lambda _m, _i, u: seen.append(u))
    x = torch.randn(2, 5, 8)
    before = ours(x)
    with torch.no_grad():
        ours.norm2.weight.add_(1)
    after = ours(x)
    assert torch.equal(*seen)
    assert (before - after).abs().max() > 0.01
    norms = [p for name, p in ours.named_parameters() if name.startswith("norm")]
    assert sum(p.numel() for p in norms) == 4 * 8


@pytest.mark.parametrize("norm", ["pre", "none"])
def test_a_block_with_zero_output_weights_lets_its_input_through(norm):
    ours = block(norm=norm)
    for last in (ours.attn.out, ours.mlp.down):
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)
    x = torch.randn(2, 5, 8)
    assert torch.equal(ours(x), x)


def gradient_of_the_last_mlp(norm: str, blocks: int) -> float:
    """Norm of the gradient of the last W2 at the start, Xavier's start, mean of three seeds."""
    norms = []
    for seed in range(3):
        model = decoder(seed=seed, width=32, blocks=blocks, norm=norm)
        for parameter in model.parameters():
            if parameter.dim() == 2:
                nn.init.xavier_normal_(parameter)
        ids = random_ids(seed, 16, 12)
        F.cross_entropy(model(ids).flatten(0, 1), random_ids(seed + 100, 16 * 12)).backward()
        norms.append(model.blocks[-1].mlp.down.weight.grad.norm().item())
    return sum(norms) / 3


def test_with_pre_norm_the_last_gradient_shrinks_with_depth_and_with_post_norm_it_does_not():
    """F27: at the start, about as 1 / sqrt(L) with pre-norm (Xiong et al. 2020, theorem 1)."""
    shrinks = {n: gradient_of_the_last_mlp(n, 2) / gradient_of_the_last_mlp(n, 12) for n in ("pre", "post")}
    assert shrinks["pre"] == pytest.approx(math.sqrt(12 / 2), rel=0.3)
    assert shrinks["post"] < 1.3


def test_dropout_makes_two_runs_differ_in_training_and_agree_in_evaluation():
    """F28: after attention and after the MLP, and in the weights."""
    model = decoder(dropout=0.5)
    ids = random_ids(3, 2, 7)
    model.train()
    assert not torch.allclose(model(ids), model(ids))
    model.eval()
    assert torch.equal(model(ids), model(ids))


@pytest.mark.parametrize("part", ["attn", "mlp"])
def test_dropout_zeroes_parts_of_the_contribution_and_never_the_direct_path(part):
    """F28."""
    ours = block(dropout=0.5).train()
    seen = {}
    getattr(ours, part).register_forward_hook(lambda _m, _i, output: seen.update({part: output}))
    ours(torch.randn(4, 6, 8))
    zeros = (seen[part] == 0).float().mean()
    assert 0.3 < zeros < 0.7


# --- the decoder ------------------------------------------------------------------------------------


def test_the_decoder_gives_one_logit_per_vocabulary_entry_and_position():
    """F34: (B, T) -> (B, T, 100); embeddings, blocks, final norm, head."""
    model = decoder(Config(vocab_size=100, context_length=16, width=8, heads=2, blocks=2))
    ids = random_ids(0, 3, 5, vocab_size=100)
    assert model(ids).shape == (3, 5, 100)
    x = model.token_embedding.weight[ids] + model.position_embedding.weight[:5]
    for each in model.blocks:
        x = each(x)
    assert_close(model(ids), F.layer_norm(x, (8,)) @ model.token_embedding.weight.T)


def test_a_post_norm_decoder_ends_on_the_norm_of_its_last_block():
    """Vaswani et al. 2017: nothing is normalized twice."""
    model = decoder(norm="post")
    x = model.token_embedding.weight[random_ids(0, 2, 5)] + model.position_embedding.weight[:5]
    for each in model.blocks:
        x = each(x)
    assert_close(model(random_ids(0, 2, 5)), x @ model.head.weight.T)
    assert not list(model.final_norm.parameters())


def test_the_first_block_receives_token_plus_position():
    """F29: [0.2, 0.5] + [0.1, -0.2] = [0.3, 0.3]."""
    model = decoder(Config(vocab_size=3, context_length=4, width=2, heads=1, blocks=1))
    with torch.no_grad():
        model.token_embedding.weight[2] = torch.tensor([0.2, 0.5])
        model.position_embedding.weight[1] = torch.tensor([0.1, -0.2])
    model.embedded.register_forward_hook(lambda _m, _i, x: seen.append(x))
    seen = []
    model(torch.tensor([[0, 2, 1]]))
    assert_close(seen[0][0, 1], torch.tensor([0.3, 0.3]))


@pytest.mark.parametrize("position", [256, 10_000])
def test_there_is_no_position_row_beyond_the_context(position):
    """F30: a context of 256 has no row for position 10000, nor for the one that comes next."""
    model = decoder(context_length=256)
    assert model(torch.zeros(1, 256, dtype=torch.long)).shape == (1, 256, 30)
    with pytest.raises(ValueError, match=f"no position row for position {position}: the table ends at 255"):
        model(torch.zeros(1, position + 1, dtype=torch.long))


@pytest.mark.parametrize("wrong", [-1, 30, 50_256])
def test_an_id_without_a_row_in_the_token_table_is_named(wrong):
    with pytest.raises(IndexError, match=f"no token row for id {wrong}: the vocabulary's ids are 0 to 29"):
        decoder()(torch.tensor([[3, 0, wrong]]))


def test_a_text_without_its_batch_dimension_is_refused():
    with pytest.raises(ValueError, match=r"ids must be \(B, T\), not \(3,\): a single text is ids\[None\]"):
        decoder()(torch.tensor([1, 2, 3]))


def hugging_face_gpt2(ours: Decoder):
    """Hugging Face's GPT-2 with the weights of our decoder; its Conv1D stores a linear table transposed."""
    from transformers import GPT2Config, GPT2LMHeadModel

    config = ours.config
    theirs = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=config.vocab_size,
            n_positions=config.context_length,
            n_embd=config.width,
            n_layer=config.blocks,
            n_head=config.heads,
            activation_function={"gelu_tanh": "gelu_new", "gelu": "gelu"}[config.activation],
            tie_word_embeddings=config.tie_head,
        )
    ).eval()
    state = {
        "transformer.wte.weight": ours.token_embedding.weight,
        "transformer.wpe.weight": ours.position_embedding.weight,
        "transformer.ln_f.weight": ours.final_norm.weight,
        "transformer.ln_f.bias": ours.final_norm.bias,
        "lm_head.weight": ours.head.weight,
    }
    for i, each in enumerate(ours.blocks):
        qkv = (each.attn.q, each.attn.k, each.attn.v)
        state[f"transformer.h.{i}.attn.c_attn.weight"] = torch.cat([part.weight for part in qkv]).T
        state[f"transformer.h.{i}.attn.c_attn.bias"] = torch.cat([part.bias for part in qkv])
        linears = {"attn.c_proj": each.attn.out, "mlp.c_fc": each.mlp.up, "mlp.c_proj": each.mlp.down}
        for name, part in linears.items():
            state[f"transformer.h.{i}.{name}.weight"] = part.weight.T
            state[f"transformer.h.{i}.{name}.bias"] = part.bias
        for name, part in (("ln_1", each.norm1), ("ln_2", each.norm2)):
            state[f"transformer.h.{i}.{name}.weight"] = part.weight
            state[f"transformer.h.{i}.{name}.bias"] = part.bias
    missing, unexpected = theirs.load_state_dict(state, strict=False)
    assert not unexpected and all(name.endswith(".bias") for name in missing), (missing, unexpected)
    return theirs


@pytest.mark.parametrize("activation", ["gelu_tanh", "gelu"])
@pytest.mark.parametrize("heads", [1, 2, 3])
def test_logits_equal_those_of_hugging_faces_gpt2(heads, activation):
    ours = decoder(width=12, heads=heads, activation=activation, tie_head=heads != 2)
    with torch.no_grad():
        for parameter in ours.parameters():
            parameter.add_(torch.randn_like(parameter) / 5)  # biases, gains and shifts count as well
    ids = random_ids(1, 3, 12)
    with torch.no_grad():
        assert_close(ours(ids), hugging_face_gpt2(ours)(ids).logits, atol=1e-5, rtol=1e-5)


@often
@given(seed=seeds, T=st.integers(2, 12), data=st.data(), norm=st.sampled_from(NORMS))
def test_a_later_token_leaves_earlier_logits_unchanged(seed, T, data, norm):
    """F23 for the whole model: exactly equal, not merely close."""
    t = data.draw(st.integers(1, T - 1))
    model = decoder(seed=seed, norm=norm)
    ids = random_ids(seed, 2, T)
    changed = torch.cat([ids[:, :t], random_ids(seed + 1, 2, T - t)], dim=1)
    with torch.no_grad():
        assert torch.equal(model(ids)[:, :t], model(changed)[:, :t])


def test_the_logits_of_a_text_do_not_depend_on_how_long_it_goes_on():
    model, ids = decoder(), random_ids(2, 2, 12)
    for T in (1, 5, 11):
        assert_close(model(ids[:, :T]), model(ids)[:, :T], atol=1e-5, rtol=1e-5)


def test_texts_in_a_batch_do_not_see_each_other():
    model, ids = decoder(), random_ids(2, 3, 9)
    alone = torch.cat([model(text[None]) for text in ids])
    assert_close(model(ids), alone, atol=1e-5, rtol=1e-5)


def test_another_mask_reaches_every_block():
    """F23: with everything allowed, the first position's logits move with the last token."""
    model, ids = decoder(), random_ids(2, 1, 6)
    changed = ids.clone()
    changed[0, -1] = (changed[0, -1] + 1) % 30
    everything = torch.ones(6, 6, dtype=torch.bool)
    assert not torch.allclose(model(ids, everything)[0, 0], model(changed, everything)[0, 0])
    only_itself = torch.eye(6, dtype=torch.bool)
    assert torch.equal(model(ids, only_itself)[0, :-1], model(changed, only_itself)[0, :-1])


def test_a_position_that_may_look_nowhere_gives_no_nan_in_the_whole_model():
    model, ids = decoder(), random_ids(4, 2, 6)
    allowed = causal_mask(6)
    allowed[2] = False
    logits = model(ids, allowed)
    logits.square().sum().backward()
    assert logits.isfinite().all()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("dtype, tolerance", [(torch.float32, 1e-4), (torch.bfloat16, 0.15)])
def test_the_decoder_runs_forward_and_backward_in_either_precision(dtype, tolerance, norm):
    exact = decoder(norm=norm).double()
    model = copy.deepcopy(exact).to(dtype)
    ids = random_ids(5, 2, 8)
    logits = model(ids)
    assert logits.dtype == dtype
    assert_close(logits.double(), exact(ids), atol=tolerance, rtol=tolerance)
    logits.float().square().mean().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad.dtype == dtype and parameter.grad.isfinite().all(), name


@pytest.mark.parametrize("tie_head", [True, False])
@pytest.mark.parametrize("bias", [True, False])
def test_every_parameter_receives_a_gradient(bias, tie_head):
    model = decoder(bias=bias, tie_head=tie_head)
    F.cross_entropy(model(random_ids(6, 4, 12)).flatten(0, 1), random_ids(7, 48)).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        # A shift of all keys moves each row of scores as a whole; softmax does not notice.
        assert parameter.grad.abs().max() > 1e-6 or name.endswith("attn.k.bias"), name
    assert any(name.endswith(".bias") for name, _ in model.named_parameters()) == bias


# --- the tied head ----------------------------------------------------------------------------------


def test_the_tied_head_is_the_token_table_itself():
    model = decoder()
    assert model.head.weight is model.token_embedding.weight
    assert decoder(tie_head=False).head.weight is not decoder(tie_head=False).token_embedding.weight


def test_saving_and_loading_keeps_the_tie_and_the_logits():
    saved, loaded, ids = decoder(seed=1), decoder(seed=2), random_ids(8, 2, 6)
    assert not torch.allclose(saved(ids), loaded(ids))
    loaded.load_state_dict(saved.state_dict())
    assert loaded.head.weight is loaded.token_embedding.weight
    assert torch.equal(saved(ids), loaded(ids))


@pytest.mark.parametrize("change", [copy.deepcopy, lambda model: model.to(torch.bfloat16)])
def test_a_copy_and_another_precision_keep_the_tie(change):
    changed = change(decoder())
    assert changed.head.weight is changed.token_embedding.weight


# --- the start --------------------------------------------------------------------------------------


def test_parameters_start_with_the_spread_that_was_found_to_train_well():
    model = decoder(vocab_size=2000, context_length=200, width=64, heads=4, blocks=3)
    assert model.token_embedding.weight.std().item() == pytest.approx(0.1, rel=0.02)
    assert model.position_embedding.weight.std().item() == pytest.approx(0.1, rel=0.03)
    for each in model.blocks:
        for linear in (each.attn.q, each.attn.k, each.attn.v, each.mlp.up):
            assert linear.weight.std().item() == pytest.approx(64**-0.5, rel=0.05)
        assert each.attn.out.weight.std().item() == pytest.approx((64 * 6) ** -0.5, rel=0.05)
        assert each.mlp.down.weight.std().item() == pytest.approx((256 * 6) ** -0.5, rel=0.05)
    for name, parameter in model.named_parameters():
        if name.endswith(".bias"):
            assert not parameter.any(), name
    assert decoder(vocab_size=2000, width=64, tie_head=False).head.weight.std().item() == pytest.approx(
        64**-0.5, rel=0.02
    )


def test_the_loss_at_the_start_is_about_that_of_a_blind_guess():
    model = decoder(vocab_size=245, context_length=64, width=64, heads=4)
    ids, targets = random_ids(9, 16, 64, vocab_size=245), random_ids(10, 16 * 64, vocab_size=245)
    assert F.cross_entropy(model(ids).flatten(0, 1), targets).item() == pytest.approx(math.log(245), abs=0.5)


def test_the_same_seed_draws_the_same_model():
    ids = random_ids(0, 1, 5)
    assert torch.equal(decoder(seed=3)(ids), decoder(seed=3)(ids))
    assert not torch.equal(decoder(seed=3)(ids), decoder(seed=4)(ids))
