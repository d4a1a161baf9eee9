"""What every check of an exercise or question owes the reader, whichever chapter it belongs to."""

import math

import pytest
import torch
import torch.nn.functional as F

from tokenwerk_helpers.checks import (
    block,
    causal_mask,
    decoder,
    embeddings,
    mlp,
    normalization,
    parameter_counting,
    residual,
    sampling,
    self_attention,
    start,
    training,
)
from tokenwerk_helpers.explorers.guess import Guess
from tokenwerk_helpers.model import Block

# Each of them once with some answer; what matters here is what happens beside.
CALLS = {
    "ten_times_the_input": lambda: block.ten_times_the_input([1.0, 2.0]),
    "what_is_missing": lambda: block.what_is_missing(0),
    "norm_parameters": lambda: block.norm_parameters(768),
    "dropout_in_eval": lambda: block.dropout_in_eval(0),
    "contribution_beside_the_stream": lambda: block.contribution_beside_the_stream(0),
    "gradient_without_norm": lambda: block.gradient_without_norm(0),
    "block_forward": lambda: block.block_forward(Block.forward),
    "number_of_logits": lambda: decoder.number_of_logits(100),
    "own_words_or_typed": lambda: decoder.own_words_or_typed(0),
    "saved_by_tying": lambda: decoder.saved_by_tying(100),
    "position_without_row": lambda: embeddings.position_without_row(0),
    "order_without_positions": lambda: embeddings.order_without_positions(0),
    "lists_renumbered": lambda: embeddings.lists_renumbered(0),
    "embed": lambda: embeddings.embed(lambda ids, tokens, positions: tokens[ids]),
    "ten_linear_layers": lambda: mlp.ten_linear_layers(0),
    "swapped_positions": lambda: mlp.swapped_positions(0),
    "share_of_positive_neurons": lambda: mlp.share_of_positive_neurons(0),
    "mlp": lambda: mlp.mlp(lambda x, W1, b1, W2, b2: x),
    "moving_outputs": lambda: normalization.moving_outputs(0),
    "layer_norm": lambda: normalization.layer_norm(lambda x, gamma, beta, eps: x),
    "factor_of_double_width": lambda: parameter_counting.factor_of_double_width(2.0),
    "cost_of_heads": lambda: parameter_counting.cost_of_heads(0),
    "left_out_at_large_width": lambda: parameter_counting.left_out_at_large_width(0),
    "cost_of_own_head": lambda: parameter_counting.cost_of_own_head(1.0),
    "block_parameters": lambda: parameter_counting.block_parameters(lambda D: 12 * D**2),
    "deep_net_at_a_large_rate": lambda: residual.deep_net_at_a_large_rate(0),
    "residual_step": lambda: residual.residual_step(lambda x, f: x + f(x)),
    "text_under_a_limit": lambda: sampling.text_under_a_limit(0),
    "heads_merged_without_transpose": lambda: self_attention.heads_merged_without_transpose(0),
    "what_the_pronoun_is_read_from": lambda: self_attention.what_the_pronoun_is_read_from(0),
    "attention": lambda: self_attention.attention(lambda q, k, v: v),
    "shifted": lambda: training.shifted(lambda logits, ids: 1.0),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_check_leaves_the_readers_random_numbers_alone(name):
    before = torch.get_rng_state()
    CALLS[name]()
    assert torch.equal(torch.get_rng_state(), before)


IN_FLOAT64 = {
    "self_attention": lambda: self_attention.attention(
        lambda q, k, v: (q.double() @ k.double().T / math.sqrt(q.shape[-1])).softmax(-1) @ v.double()
    ),
    "mlp": lambda: mlp.mlp(lambda x, W1, b1, W2, b2: F.linear(F.gelu(F.linear(x, W1, b1)), W2, b2).double()),
    "layer_norm": lambda: normalization.layer_norm(
        lambda x, gamma, beta, eps: F.layer_norm(x, x.shape[-1:], None, None, eps).double() * gamma + beta
    ),
    "residual_step": lambda: residual.residual_step(add_in_float64),
    "block_forward": lambda: block.block_forward(lambda block, x: block(x).double()),
}


def add_in_float64(x, f):
    fx = f(x)
    if fx.shape != x.shape:
        raise ValueError("unequal shapes")
    return x.double() + fx.double()


@pytest.mark.parametrize("name", IN_FLOAT64)
def test_a_right_answer_in_another_precision_is_right(name):
    assert IN_FLOAT64[name]().correct


WRONG_IN_FLOAT64 = {
    "self_attention": (lambda: self_attention.attention(lambda q, k, v: v.double()), "fünf Schritte"),
    "mlp": (lambda: mlp.mlp(lambda x, W1, b1, W2, b2: x.double()), "Zahlen"),
    "layer_norm": (lambda: normalization.layer_norm(lambda x, g, b, eps: x.long()), "Zahlen"),
    "residual_step": (lambda: residual.residual_step(lambda x, f: f(x).double()), "direkte Weg"),
    "block_forward": (lambda: block.block_forward(lambda block, x: x.double()), "Formeln"),
}


@pytest.mark.parametrize("name", WRONG_IN_FLOAT64)
def test_a_wrong_answer_in_another_precision_gets_words_and_no_error_of_torch(name):
    check, word = WRONG_IN_FLOAT64[name]
    feedback = check()
    assert feedback.correct is False and word in feedback.text


# ---- single exercises ----


@pytest.mark.parametrize("attempt", [lambda logits: logits[0, -1].max(), lambda logits: logits.max()])
def test_the_largest_logit_itself_is_not_the_next_id(attempt):
    assert decoder.next_id(attempt).correct is False


def test_keeping_the_smallest_logits_is_told_as_such():
    def smallest(logits, k):
        kept = logits.topk(k, largest=False)
        return torch.full_like(logits, -math.inf).scatter(0, kept.indices, kept.values)

    assert "kleinsten" in sampling.top_k(smallest).text


def test_a_top_k_that_returns_nothing_for_a_large_k_is_told_so():
    def forgetful(logits, k):
        if k <= len(logits):
            return logits.masked_fill(logits < logits.topk(k).values[-1], -math.inf)

    feedback = sampling.top_k(forgetful)
    assert feedback.correct is False and "darf sich nichts ändern" in feedback.text


def test_a_mask_for_five_tokens_only_is_told_so():
    def only_five(T):
        return torch.ones(5, 5, dtype=torch.bool).tril() if T == 5 else None

    feedback = causal_mask.causal_mask(only_five)
    assert feedback.correct is False and "andere" in feedback.text


def test_a_check_that_stops_says_so_below_the_question():
    guess = Guess("?", lambda answer: 1 / 0, options=["a"])
    guess.answer.value = 0
    guess.button.click()
    assert "ZeroDivisionError" in guess.reply.value


# ---- functions that stop ----

EXERCISES = {
    "start": start.mean,
    "residual": residual.residual_step,
    "normalization": normalization.layer_norm,
    "mlp": mlp.mlp,
    "self_attention": self_attention.attention,
    "causal_mask": causal_mask.causal_mask,
    "block": block.block_forward,
    "embeddings": embeddings.embed,
    "decoder": decoder.next_id,
    "parameters of a block": parameter_counting.block_parameters,
    "parameters of a decoder": parameter_counting.decoder_parameters,
    "sampling": sampling.top_k,
    "training": training.shifted,
}


def stopping(*_arguments):
    raise LookupError("so far\nand no further")


@pytest.mark.parametrize("name", EXERCISES)
def test_a_function_that_stops_is_told_so_in_one_sentence_by_every_exercise(name):
    feedback = EXERCISES[name](stopping)
    assert feedback.correct is False
    assert feedback.text == "Deine Funktion bricht ab mit LookupError: so far."


@pytest.mark.parametrize("stub", [lambda *_arguments: None, lambda *_arguments: ...])
@pytest.mark.parametrize("name", EXERCISES)
def test_a_stub_is_not_attempted_yet_in_every_exercise(name, stub):
    assert EXERCISES[name](stub).correct is None


def test_a_function_that_stops_only_at_a_later_example_is_told_so_too():
    assert "ZeroDivisionError" in start.mean(lambda numbers: 2.0 if len(numbers) == 2 else 1 / 0).text
    assert "ZeroDivisionError" in parameter_counting.block_parameters(lambda D: 171 if D == 3 else 1 / 0).text
    assert causal_mask.causal_mask(lambda T: torch.ones(T, T).tril().bool() if T == 5 else T / 0).text == (
        "Für T = 5 stimmt es, für andere Längen nicht."
    )


def test_a_later_example_without_an_answer_is_wrong_and_no_stub():
    assert start.mean(lambda numbers: 2.0 if len(numbers) == 2 else None).correct is False
