"""The training loop: does it learn what is asked, step by step as the books say, and the same each time?"""

import math
from itertools import islice
from random import Random

import pytest
import torch
from torch.nn import functional as F

from tokenwerk_helpers import tokenizer as bpe
from tokenwerk_helpers.corpus import stories
from tokenwerk_helpers.model import Config
from tokenwerk_helpers.training import (
    IGNORED,
    Batch,
    Recipe,
    Training,
    alike,
    batch,
    batches,
    framed,
    fresh_batches,
    loss,
    loss_on,
    new_model,
    optimizer,
    train,
)

TINY = Config(vocab_size=50, context_length=16, width=32, heads=2, blocks=2)


@pytest.fixture(scope="module")
def tokenizer():
    return bpe.train(story.text for story in stories(0, 300))


def rows_of(seed, count=24, vocab_size=50):
    """Rows of random ids and random lengths."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(3, 15, (count,), generator=generator).tolist()
    return [torch.randint(vocab_size, (length,), generator=generator).tolist() for length in lengths]


def weights(training):
    return torch.cat([p.detach().flatten() for p in training.model.parameters()])


# --- batches --------------------------------------------------------------------------------------


def test_targets_are_the_ids_shifted_by_one_and_padding_is_ignored():
    made = batch([[7, 1, 2, 8], [7, 3, 8]])
    assert made.ids.tolist() == [[7, 1, 2], [7, 3, 8]]
    assert made.targets.tolist() == [[1, 2, 8], [3, 8, IGNORED]]


def test_a_row_is_framed_by_start_and_end(tokenizer):
    row = framed("Dann lacht sie.", tokenizer)
    assert row[0] == tokenizer.start and row[-1] == tokenizer.end
    assert tokenizer.decode(row[1:-1]) == "Dann lacht sie."


def test_each_row_comes_once_before_any_comes_again():
    rows = [[i, i] for i in range(10)]
    made = islice(batches(rows, 5, seed=1), 4)
    seen = [sorted(part.ids.flatten().tolist()) for part in made]
    assert sorted(seen[0] + seen[1]) == sorted(seen[2] + seen[3]) == list(range(10))
    assert seen[0] != seen[2]


def test_a_batch_may_be_larger_than_the_set_of_rows():
    assert next(batches([[1, 2], [3, 4]], 5)).ids.shape == (5, 1)


def test_rows_in_a_fresh_batch_are_alike_in_length_and_none_is_lost(tokenizer):
    made = list(islice(fresh_batches(tokenizer, 8, seed=3, pool=4), 4))
    expected = sorted(framed(story.text, tokenizer) for story in stories(3, 32))
    got = [[*row[: int(keep.sum())].tolist()] for part in made for row, keep in zip(*_kept(part))]
    assert sorted(got) == [row[:-1] for row in expected]
    padded = sum(int((part.targets == IGNORED).sum()) for part in made)
    at_random = sum(int((batch(expected[i : i + 8]).targets == IGNORED).sum()) for i in range(0, 32, 8))
    assert padded < at_random / 2


def _kept(part: Batch):
    return part.ids, part.targets != IGNORED


def test_a_remainder_is_left_out_when_rows_are_grouped():
    groups = list(alike([[0] * n for n in range(1, 8)], 3, Random(0)))
    assert sorted(len(row) for group in groups for row in group) == [2, 3, 4, 5, 6, 7]


# --- loss -----------------------------------------------------------------------------------------


def test_the_loss_is_the_mean_of_minus_ln_p_over_real_tokens_only():
    model, rows = new_model(TINY), [[7, 1, 2, 8], [7, 3, 8]]
    surprises = []
    for row in rows:
        p = model(torch.tensor([row[:-1]]))[0].softmax(dim=-1).detach()
        surprises += [-math.log(p[t, row[t + 1]]) for t in range(len(row) - 1)]
    assert loss(model, batch(rows)).item() == pytest.approx(sum(surprises) / len(surprises), abs=1e-5)


def test_the_loss_on_many_rows_weighs_every_token_alike_whatever_the_batch_size():
    model, rows = new_model(TINY), rows_of(5)
    whole = loss(model, batch(rows)).item()
    assert loss_on(model, rows, size=5) == pytest.approx(whole, abs=1e-5)
    assert loss_on(model, rows) == pytest.approx(whole, abs=1e-5)


def test_validation_runs_without_dropout_and_gives_the_mode_back():
    model = new_model(Config(50, 16, 32, 2, 1, dropout=0.5)).train()
    rows = rows_of(6)
    assert loss_on(model, rows) == loss_on(model, rows)
    assert model.training


# --- learning -------------------------------------------------------------------------------------


def test_the_loss_at_the_start_is_about_ln_v(tokenizer):
    """Before it has learned anything, a model spreads its bets over all V tokens."""
    config = Config(len(tokenizer), 64, 64, 4, 2)
    first = next(train(config, fresh_batches(tokenizer, 8, seed=0), steps=1))
    assert first.step == 1
    assert first.train_loss == pytest.approx(math.log(len(tokenizer)), abs=0.5)


def test_a_small_batch_is_learned_by_heart():
    rows = [[49, *row] for row in rows_of(1, 4)]
    training = train(TINY, batches(rows, 4), steps=150, learning_rate=5e-3, warm_up=10)
    *_, last = training
    # The first token after the start cannot be known: 4 rows begin differently.
    unknowable = 4 * math.log(4) / sum(len(row) - 1 for row in rows)
    assert last.step == 150
    assert last.train_loss < unknowable + 0.05


def test_learning_by_heart_shows_in_the_validation_loss():
    recipe = {"steps": 120, "learning_rate": 5e-3}
    training = train(TINY, batches(rows_of(1), 8), rows_of(2), validate_every=20, **recipe)
    measured = [p.validation_loss for p in training if p.validation_loss is not None]
    assert len(measured) == 6
    assert measured[-1] > min(measured) + 0.5


def test_validation_is_measured_now_and_then_and_at_the_end():
    training = train(TINY, batches(rows_of(1), 8), rows_of(2), steps=7, validate_every=3)
    assert [p.step for p in training if p.validation_loss is not None] == [3, 6, 7]
    assert all(p.validation_loss is None for p in train(TINY, batches(rows_of(1), 8), steps=3))


# --- stop, go on, repeat --------------------------------------------------------------------------


def test_stopping_and_going_on_is_the_same_as_not_stopping():
    def begin():
        return train(TINY, batches(rows_of(1), 8, seed=2), steps=20, warm_up=5)

    stopped, straight = begin(), begin()
    losses = []
    for progress in stopped:
        losses.append(progress.train_loss)
        if progress.step == 7:
            break
    assert stopped.step == 7
    losses += [progress.train_loss for progress in stopped]
    assert losses == [progress.train_loss for progress in straight]
    assert torch.equal(weights(stopped), weights(straight))


def test_a_finished_training_makes_no_more_steps():
    training = train(TINY, batches(rows_of(1), 8), steps=3)
    assert [progress.step for progress in training] == [1, 2, 3]
    before = weights(training).clone()
    assert list(training) == []
    assert torch.equal(weights(training), before)


def test_batches_that_run_out_are_told_with_the_step_and_the_training_can_go_on():
    rows = batches([[1, 2, 3, 4]], 2)
    training = train(TINY, islice(rows, 3), steps=5)
    with pytest.raises(RuntimeError, match="step 3 of 5"):
        list(training)
    training.batches = rows
    assert [progress.step for progress in training] == [4, 5]


def test_a_seed_and_a_number_of_threads_decide_every_bit():
    def run(seed):
        training = train(TINY, batches(rows_of(1), 8, seed), seed=seed, steps=5)
        return [progress.train_loss for progress in training], weights(training)

    torch.manual_seed(1)
    losses, once = run(3)
    torch.manual_seed(2)
    again, twice = run(3)
    assert losses == again and torch.equal(once, twice)
    assert not torch.equal(once, run(4)[1])


def test_drawing_a_model_leaves_the_global_random_numbers_alone():
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    new_model(TINY, seed=9)
    assert torch.equal(torch.rand(3), expected)


# --- the recipe -----------------------------------------------------------------------------------


def test_the_loop_moves_the_weights_as_a_plain_pytorch_loop_does():
    """Written out: AdamW without fusing, decay by hand, clipping by hand; in double precision."""
    rows, recipe = rows_of(1), Recipe(steps=6, learning_rate=5e-3, warm_up=2, clip=0.1)
    training = Training(new_model(TINY, seed=5).double(), batches(rows, 8, seed=1), recipe)
    for _ in training:
        pass
    model = new_model(TINY, seed=5).double()
    parameters = list(model.parameters())
    adam = torch.optim.AdamW(parameters, betas=recipe.betas, weight_decay=0.0, fused=False)
    for step, part in zip(range(6), batches(rows, 8, seed=1)):
        half_cosine = (1 + math.cos(math.pi * max(0, step - 2) / 4)) / 2
        rate = 5e-3 * (0.5 if step == 0 else 0.05 + 0.95 * half_cosine)
        logits = model(part.ids)
        F.cross_entropy(logits.transpose(1, 2), part.targets, ignore_index=IGNORED).backward()
        norm = math.sqrt(sum(float(p.grad.square().sum()) for p in parameters))
        with torch.no_grad():
            for p in parameters:
                p.grad.mul_(min(1.0, 0.1 / norm))
                p.mul_(1 - rate * (0.05 if p.dim() >= 2 else 0.0))
        for group in adam.param_groups:
            group["lr"] = rate
        adam.step()
        adam.zero_grad()
    expected = torch.cat([p.detach().flatten() for p in parameters])
    # Clipping adds 1e-6 to the norm against division by zero, which Adam almost undoes.
    torch.testing.assert_close(weights(training), expected, atol=1e-6, rtol=1e-6)


def test_the_learning_rate_rises_in_a_line_and_falls_in_half_a_cosine():
    recipe = Recipe(steps=1050, learning_rate=1.0, warm_up=50, final_share=0.05)
    assert recipe.rate(0) == pytest.approx(0.02)
    assert recipe.rate(49) == 1.0
    assert recipe.rate(50) == 1.0
    assert recipe.rate(550) == pytest.approx(0.525)
    assert recipe.rate(1050) == pytest.approx(0.05)
    rates = [recipe.rate(step) for step in range(1050)]
    assert rates[:50] == sorted(rates[:50]) and rates[50:] == sorted(rates[50:], reverse=True)


def test_a_recipe_shorter_than_its_warm_up_still_works():
    assert [p.step for p in train(TINY, batches(rows_of(1), 8), steps=2, warm_up=50)] == [1, 2]


def test_weight_decay_touches_matrices_only_and_every_parameter_is_moved_once():
    model = new_model(TINY)
    decayed, plain = optimizer(model, Recipe()).param_groups
    assert decayed["weight_decay"] == 0.05 and plain["weight_decay"] == 0.0
    assert {p.dim() for p in decayed["params"]} == {2} and {p.dim() for p in plain["params"]} == {1}
    moved = [id(p) for group in (decayed, plain) for p in group["params"]]
    assert sorted(moved) == sorted(id(p) for p in model.parameters())


def test_batches_from_no_rows_are_refused_and_do_not_search_for_ever():
    with pytest.raises(ValueError, match="no rows"):
        next(batches([], 4))


# --- nothing to learn from ------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [[], [[]], [[1, 2], []]])
def test_a_batch_of_no_ids_is_refused_in_words(rows):
    with pytest.raises(ValueError, match="at least one row, and in each row at least one id"):
        batch(rows)


@pytest.mark.parametrize("rows", [[], [[7]]])
def test_a_loss_on_rows_without_a_prediction_is_refused_in_words(rows):
    with pytest.raises(ValueError, match="nothing to predict"):
        loss_on(new_model(TINY), rows)
