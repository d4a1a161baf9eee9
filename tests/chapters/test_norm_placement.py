"""06b_norm_placement: gradients before the first step, who learns, and what happens inside."""

import asyncio
import time

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.ways import Ways
from tokenwerk_helpers.chapters.norm_placement import computation, questions, views
from tokenwerk_helpers.live.style import power_of_ten
from tokenwerk_helpers.model import causal_mask
from tokenwerk_helpers.tools import record_norm_placement

# --- where the norm sits -------------------------------------------------------------------------------


def test_all_placements_start_from_the_same_weights():
    models = {norm: computation.fresh_model(norm, 3) for norm in ("pre", "post", "none")}
    for name, weight in models["none"].named_parameters():
        for other in ("pre", "post"):
            assert torch.equal(models[other].get_parameter(name), weight), name
    assert not torch.equal(models["pre"].head.weight, computation.fresh_model("pre", 3, seed=1).head.weight)


def test_xavier_keeps_the_spread_and_small_draws_with_002():
    up = computation.fresh_model("pre", 2).blocks[0].mlp.up.weight
    assert up.std().item() == pytest.approx((2 / (64 + 256)) ** 0.5, rel=0.05)
    small = computation.fresh_model("pre", 2, "small")
    assert small.blocks[1].attn.q.weight.std().item() == pytest.approx(0.02, rel=0.05)
    assert small.token_embedding.weight.std().item() == pytest.approx(0.02, rel=0.05)
    with pytest.raises(ValueError, match="xavier, small"):
        computation.fresh_model("pre", 2, "huge")


@pytest.mark.parametrize("seed", [0, 1])
def test_near_the_output_prenorms_gradient_shrinks_with_depth_and_postnorms_does_not(seed):
    """F27: Xiong et al. 2020, at the start: like 1 / sqrt(L) for pre-norm, independent of L for post-norm."""
    last = {
        (norm, blocks): computation.gradients_at_start(norm, blocks, seed=seed)[-1]
        for norm in ("pre", "post") for blocks in (4, 16)
    }  # fmt: skip
    assert 1.4 < last["pre", 4] / last["pre", 16] < 4  # about 2; one draw of weights is noisy
    assert 0.6 < last["post", 4] / last["post", 16] < 1.6
    assert last["post", 16] > 2 * last["pre", 16]


def test_with_small_weights_the_picture_flips_and_without_norm_deep_nets_explode():
    """F27: the gradients at the start depend on the initial weights."""
    small = {norm: computation.gradients_at_start(norm, 12, "small") for norm in ("pre", "post")}
    assert small["post"][-1] < small["pre"][-1] / 3
    assert (
        computation.gradients_at_start("none", 12)[-1] > 50 * computation.gradients_at_start("post", 12)[-1]
    )


def test_with_norms_the_gradient_for_w2_is_there_at_the_start_without_the_direct_paths():
    """What 01 says of the MLPs before the first step; what attention loses is in the prose's test."""
    assert min(computation.gradients_at_start("pre", 12, residual=False)) > 0.3
    assert max(computation.gradients_at_start("pre", 12, residual=False)) < 10


@pytest.mark.parametrize("initialization", computation.INITIALIZATIONS)
def test_the_caption_compares_the_gradients_as_they_were_measured_at_every_depth(initialization):
    """F27: longer with post-norm, hardly different, or shorter: at every stop of the slider."""
    explorer = views.GradientsAtStart()
    said = set()
    for blocks in computation.GRADIENT_DEPTHS:
        explorer.set(blocks=blocks, initialization=initialization)
        assert explorer.error is None, explorer.message.value
        pre, post = (
            computation.gradients_at_start(norm, blocks, initialization)[-1] for norm in ("pre", "post")
        )
        caption, times = explorer.caption.value, f"{post / pre:.1f}".removesuffix(".0")
        longer = f"Mit Post-Norm ist er {times}-mal so lang" in caption
        shorter = f"sogar kürzer: nur {times}-mal so lang" in caption
        much_shorter = "hat Post-Norm den kürzeren" in caption
        alike = "unterscheiden sich Pre-Norm und Post-Norm kaum" in caption
        assert [longer, shorter, much_shorter, alike].count(True) == 1
        assert longer == (post > 1.5 * pre)
        assert (shorter or much_shorter) == (post < pre / 1.5)
        assert much_shorter == (initialization == "small")
        said.add((longer, shorter, much_shorter, alike))
    assert len(said) == (3 if initialization == "xavier" else 1)


def test_gradients_at_the_start_agree_with_a_finite_difference():
    model = computation.fresh_model("post", 2).double()
    inputs, targets = next(computation.batches(1))
    weight = model.blocks[1].mlp.down.weight
    computation.loss_of(model, inputs, targets).backward()
    length = weight.grad.norm().item()
    direction, step = weight.grad / length, 1e-4
    with torch.no_grad():
        weight += step * direction
        up = computation.loss_of(model, inputs, targets).item()
        weight -= 2 * step * direction
        down = computation.loss_of(model, inputs, targets).item()
    assert (up - down) / (2 * step) == pytest.approx(length, rel=1e-3)
    assert computation.gradients_at_start("post", 2)[-1] == pytest.approx(length, rel=1e-3)


def test_batches_are_pieces_of_the_stories_and_their_next_words():
    ids, count = computation.story_ids()
    inputs, targets = next(computation.batches(0))
    assert inputs.shape == targets.shape == (computation.BATCH, computation.CONTEXT)
    assert torch.equal(inputs[:, 1:], targets[:, :-1])
    assert int(ids.max()) == count - 1
    assert torch.equal(next(computation.batches(0))[0], inputs)


def test_counting_words_is_the_best_answer_that_ignores_the_text():
    """The line in the picture: a model with nothing but an output bias cannot get below it."""
    ids, count = computation.story_ids()
    shares = torch.bincount(ids, minlength=count) / len(ids)
    logits = shares.log().expand(len(ids), count)
    loss = nn.functional.cross_entropy(logits, ids)
    assert loss.item() == pytest.approx(computation.frequency_loss(), abs=1e-3)


def test_the_learning_rate_rises_during_the_warm_up_and_then_stays():
    run = computation.Run("pre", 2, 1e-3, warm_up=100)
    assert [run.rate_at(step) for step in (0, 49, 99, 299)] == pytest.approx([1e-5, 5e-4, 1e-3, 1e-3])
    assert computation.Run("pre", 2, 1e-3).rate_at(0) == 1e-3


@pytest.mark.parametrize(
    "run",
    [
        computation.Run("post", 2, 3e-3),
        computation.Run("pre", 2, 1e-3, residual=False),
    ],
    ids=str,
)
def test_the_recording_can_be_reproduced(run):
    """F27: the first steps trained again follow the stored curve to two decimals."""
    recorded = computation.recorded()[run]
    again = computation.averaged(loss for _step, loss in zip(range(40), computation.train(run)))
    assert np.allclose(again, recorded[: len(again)], atol=0.01)


def test_every_run_is_recorded_in_full_and_nothing_else():
    recorded = computation.recorded()
    assert set(recorded) == set(computation.all_runs())
    assert {len(losses) for losses in recorded.values()} == {computation.STEPS // computation.EVERY}


def test_an_interrupted_recording_goes_on_where_it_stopped_and_replaces_the_old_one_only_when_complete(
    tmp_path, monkeypatch
):
    runs = [computation.Run("pre", 1, 1e-3), computation.Run("post", 1, 1e-3)]
    train, begun = computation.train, []

    def interrupted(run):
        begun.append(run)
        if len(begun) == 2:
            raise KeyboardInterrupt
        return train(run)

    path = tmp_path / "curves.json"
    path.write_text("the old one", encoding="utf-8")
    monkeypatch.setattr(computation, "STEPS", 10)
    monkeypatch.setattr(record_norm_placement, "all_runs", lambda: runs)
    monkeypatch.setattr(record_norm_placement, "train", interrupted)
    with pytest.raises(KeyboardInterrupt):
        record_norm_placement.record(path)
    assert path.read_text(encoding="utf-8") == "the old one"
    record_norm_placement.record(path)
    assert begun == [runs[0], runs[1], runs[1]]
    monkeypatch.setattr(computation, "RECORDING", path)
    assert set(computation.recorded.__wrapped__()) == set(runs)
    assert [file.name for file in tmp_path.iterdir()] == ["curves.json"]


def test_cutting_the_direct_paths_changes_the_training_and_leaves_no_hooks():
    with_paths, without = (
        next(computation.train(computation.Run("pre", 2, 1e-3, residual=residual)))
        for residual in (True, False)
    )
    assert with_paths != without


# --- your own run --------------------------------------------------------------------------------------


def test_training_can_be_watched_stopped_and_begun_anew():
    async def session() -> None:
        explorer = views.PlacementTraining()
        explorer.set(blocks=2)
        before = explorer.figure.pixels.tobytes(), explorer.caption.value
        explorer.start.click()
        assert explorer.start.disabled and not explorer.stop.disabled
        for _ in range(2000):
            await asyncio.sleep(0.005)
            if len(explorer.losses) >= 2 * computation.EVERY:
                break
        assert (explorer.figure.pixels.tobytes(), explorer.caption.value) != before
        assert "Dein Lauf: Schritt" in explorer.caption.value
        assert explorer.figure.alt == explorer.caption.value
        explorer.stop.click()
        await asyncio.sleep(0.01)
        stopped = len(explorer.losses)
        await asyncio.sleep(0.2)
        assert len(explorer.losses) == stopped < computation.STEPS
        assert not explorer.start.disabled and explorer.stop.disabled
        explorer.set(rate=3e-3)
        assert not explorer.losses and "Dein Lauf" not in explorer.caption.value
        explorer.close()

    asyncio.run(session())


def test_the_variant_chosen_for_the_readers_run_stands_out_and_reset_takes_it_back():
    explorer = views.PlacementTraining()
    for variant in (3, 1):
        before = explorer.figure.pixels.tobytes()
        explorer.set(variant=variant)
        widths = [line.get_linewidth() for line in explorer.lines]
        assert widths.index(max(widths)) == variant and widths.count(max(widths)) == 1
        assert explorer.figure.pixels.tobytes() != before
    explorer.reset()
    assert np.argmax([line.get_linewidth() for line in explorer.lines]) == 0
    explorer.close()


def test_the_readers_run_follows_the_recorded_curve():
    async def session() -> None:
        explorer = views.PlacementTraining()
        explorer.set(blocks=2)
        explorer.set(variant=1)
        explorer.train()
        end = time.monotonic() + 120
        while len(explorer.losses) < 20 and time.monotonic() < end:
            await asyncio.sleep(0.01)
        explorer.close()
        recorded = computation.recorded()[computation.Run("post", 2, 1e-3)]
        assert np.allclose(computation.averaged(explorer.losses[:20]), recorded[:4], atol=0.01)

    asyncio.run(session())


def test_a_training_that_cannot_begin_leaves_the_buttons_as_they_were():
    explorer = views.PlacementTraining()
    explorer.start.click()  # no event loop runs here
    assert "event loop" in explorer.message.value
    assert not explorer.start.disabled and explorer.stop.disabled
    explorer.close()


def test_an_error_in_the_training_is_said_in_words(monkeypatch):
    def broken(run):
        yield 5.0
        raise RuntimeError("no more memory")

    async def session() -> None:
        explorer = views.PlacementTraining()
        monkeypatch.setattr(views, "train", broken)
        explorer.train()
        await asyncio.sleep(0.05)
        assert "no more memory" in explorer.message.value
        assert not explorer.start.disabled

    asyncio.run(session())


def test_the_caption_names_who_did_not_learn():
    """F27: every figure of the caption is the mean of the last 20 recorded steps."""
    explorer = views.PlacementTraining()
    for blocks in computation.DEPTHS:
        for rate in computation.RATES:
            explorer.set(blocks=blocks, rate=rate)
            assert explorer.error is None, explorer.message.value
            ends = [np.mean(computation.recorded()[run][-4:]) for run in computation.runs_at(blocks, rate)]
            verdict = explorer.caption.value.partition("Wörterzählen: ")[2]
            for name, end in zip(views.variant_names(), ends):
                assert f"{name} {end:.2f}" in explorer.caption.value
            assert bool(verdict) == any(end > 3.07 for end in ends)
            assert all(end < 2 or end > 4.3 for end in ends), "learned or stuck: nothing in between"


# --- a look inside -----------------------------------------------------------------------------------------


def test_alike_is_the_mean_cosine_of_two_different_positions_of_one_text():
    x = torch.randn(2, 3, 5, generator=torch.Generator().manual_seed(0))
    pairs = [(0, 1), (0, 2), (1, 2)]
    by_hand = [F.cosine_similarity(text[i], text[j], dim=0) for text in x for i, j in pairs]
    assert computation.alikeness(x) == pytest.approx(torch.stack(by_hand).mean().item(), abs=1e-6)
    assert computation.alikeness(torch.ones(1, 4, 5)) == pytest.approx(1)


def test_a_look_inside_has_the_gradients_of_the_loss_and_leaves_none_behind():
    run = computation.Run("pre", 2, 1e-3)
    model = computation.fresh_model("pre", 2)
    inside = computation.look(model, run)
    assert all(parameter.grad is None for parameter in model.parameters())
    inputs, targets = next(computation.batches(2))
    loss = computation.loss_of(model, inputs, targets)
    expected = torch.autograd.grad(loss, [block.attn.q.weight for block in model.blocks])
    assert inside.gradients["W_Q"] == pytest.approx([one.norm().item() for one in expected], rel=1e-4)
    x = model.token_embedding(inputs) + model.position_embedding(torch.arange(inputs.shape[1]))
    u = model.blocks[0](x, causal_mask(inputs.shape[1]))
    assert inside.alike[0] == pytest.approx(computation.alikeness(u.detach()), abs=1e-5)


@pytest.mark.parametrize(("arrangement", "seed"), [("cut", 1), ("post", 2)])
def test_the_recorded_looks_can_be_reproduced(arrangement, seed):
    run = computation.arrangements(6)[arrangement]
    again = {step: one for step, one in computation.looks_along(run, seed) if one and step <= 10}
    stored = computation.recorded_insides()[6, arrangement, seed]
    for step, inside in again.items():
        assert inside.alike == pytest.approx(stored[step].alike, abs=5e-3)
        for table, lengths in inside.gradients.items():
            assert lengths == pytest.approx(stored[step].gradients[table], rel=0.1)


def test_every_look_is_recorded():
    wanted = {
        (blocks, arrangement, seed)
        for blocks in computation.LOOK_DEPTHS
        for arrangement in computation.arrangements(blocks)
        for seed in computation.LOOK_SEEDS
    }
    found = computation.recorded_insides()
    assert set(found) == wanted
    for (blocks, _arrangement, _seed), looks in found.items():
        assert tuple(looks) == computation.LOOKS
        for inside in looks.values():
            assert {len(inside.alike), *map(len, inside.gradients.values())} == {blocks}


@pytest.fixture(scope="module")
def inside():
    view = views.InsideTheBlocks()
    yield view
    view.close()


@pytest.mark.parametrize("arrangement", ["pre", "post", "none", "cut"])
def test_the_view_draws_the_starts_and_their_mean(inside, arrangement):
    for blocks, steps in ((6, 0), (12, 60)):
        inside.set(arrangement=arrangement, blocks=blocks, steps=steps)
        stored = [computation.recorded_insides()[blocks, arrangement, seed][steps] for seed in (0, 1, 2)]
        alike = np.array([one.alike for one in stored])
        assert np.allclose(inside.means[arrangement].get_ydata(), alike.mean(axis=0))
        assert np.allclose([line.get_ydata() for line in inside.single], alike)
        assert inside.means[arrangement].get_linewidth() > 3
        keys = np.array([one.gradients["W_K"] for one in stored])
        drawn = np.clip(keys, views.FAINTEST, views.STRONGEST)
        assert np.allclose([line.get_ydata() for line in inside.singles["W_K"]], drawn)
        assert f"{blocks} Blöcke, nach {steps} Schritten" in inside.caption.value
        assert f"ist {alike.mean(axis=0)[0]:.2f} nach Block 1" in inside.caption.value


def test_the_readers_own_start_is_another_is_drawn_where_a_step_is_known_and_goes_with_reset(inside):
    inside.reset()

    async def run():
        inside.start.click()
        while inside.made < 6:
            await asyncio.sleep(0.005)
        inside.stop.click()

    asyncio.run(run())
    assert inside.message.value == "" and not inside.start.disabled and inside.stop.disabled
    assert set(inside.own) == {0, 5} and "Dein eigener Start: Schritt" in inside.caption.value
    inside.set(steps=5)
    assert np.allclose(inside.own_alike.get_ydata(), inside.own[5].alike)
    recorded = [computation.recorded_insides()[6, "cut", seed][5].alike for seed in computation.LOOK_SEEDS]
    assert all(not np.allclose(inside.own[5].alike, one, atol=1e-3) for one in recorded)
    inside.set(steps=60)
    assert len(inside.own_alike.get_ydata()) == 0
    inside.reset()
    assert not inside.own and "Dein eigener Start" not in inside.caption.value


# --- every control -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [views.GradientsAtStart, views.PlacementTraining, views.InsideTheBlocks])
def test_every_control_moves_the_picture_and_the_caption_over_its_whole_range(make):
    explorer = make()
    start = explorer.figure.pixels.tobytes(), explorer.caption.value
    for name, control in explorer.controls.items():
        options = [option[1] if isinstance(option, tuple) else option for option in control.options]
        seen = set()
        for end in (options[0], options[-1]):
            explorer.set(**{name: end})
            assert explorer.error is None, explorer.message.value
            seen.add((explorer.figure.pixels.tobytes(), explorer.caption.value))
        assert len({image for image, _ in seen}) == len({text for _, text in seen}) == 2, name
        explorer.reset()
    assert (explorer.figure.pixels.tobytes(), explorer.caption.value) == start
    explorer.close()


@pytest.mark.parametrize("initialization", computation.INITIALIZATIONS)
def test_all_gradients_stand_inside_axes_that_name_their_ends(initialization):
    explorer = views.GradientsAtStart()
    for blocks in (2, 12, 24):
        explorer.set(blocks=blocks, initialization=initialization)
        (low, high), (left, right) = explorer.axes.get_ylim(), explorer.axes.get_xlim()
        for line in explorer.lines.values():
            x, y = line.get_xydata().T
            assert ((low <= y) & (y <= high)).all() and left < x.min() and x.max() == blocks < right
        measured = np.concatenate(list(explorer.result.gradients.values()))
        assert measured.min() < 10 * low and measured.max() > high / 10
        powers = [power_of_ten(end) for end in (low, high)]
        assert explorer.axes.get_ylabel().endswith(f"(Achse von {powers[0]} bis {powers[1]})")
    explorer.close()


# --- questions -----------------------------------------------------------------------------------------


def test_the_question_about_the_gradient_without_norm_has_the_views_numbers():
    view = views.GradientsAtStart()
    view.set(blocks=12)
    last = {norm: gradients[-1] for norm, gradients in view.result.gradients.items()}
    assert last["none"] > 100 * last["post"]
    view.close()


def test_the_guess_about_depth_is_judged_by_the_recorded_curves():
    curves = {norm: computation.recorded()[computation.Run(norm, 12, 1e-3)] for norm in ("pre", "post")}
    learned = tuple(np.mean(curves[norm][-4:]) < 3.07 for norm in ("pre", "post"))
    right = [(True, True), (True, False), (False, True)].index(learned)
    deep = questions.guess_deep()
    assert [deep.reply_to(i).correct for i in range(3)] == [i == right for i in range(3)]


# --- ways in which a reader may write the exercise, right and wrong ---


def post_norm_in_one_line(block, x):
    return block.norm2(block.norm1(x + block.attn(x)) + block.mlp(block.norm1(x + block.attn(x))))


def post_norm_by_functions(block, x):
    def normed(norm, total):
        return F.layer_norm(total, total.shape[-1:], norm.weight, norm.bias)

    u = normed(block.norm1, torch.add(x, block.attn(x)))
    return normed(block.norm2, torch.add(u, block.mlp(u)))


def post_norm_by_name(block, x):
    for part, norm in ((block.attn, block.norm1), (block.mlp, block.norm2)):
        x = norm(x + part(x))
    return x


def pre_norm(block, x):
    u = x + block.attn(block.norm1(x))
    return u + block.mlp(block.norm2(u))


WAYS = {
    "check_post_norm": Ways(
        [post_norm_in_one_line, post_norm_by_functions, post_norm_by_name],
        [
            (pre_norm, "Pre-Norm"),
            (lambda block, x: block(x), "die Arbeit hat block(x) gemacht"),
            (lambda block, x: block.norm1(x + block.attn(x)), "stimmt nicht"),
            (lambda block, x: post_norm_in_one_line(block, x)[0], "Form"),
        ],
    ),
}
