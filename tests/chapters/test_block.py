"""06_block: the two sums, the walk through a block, dropout."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from torch import nn

from tests.ways import Ways
from tokenwerk_helpers import corpus, tokenizer
from tokenwerk_helpers.chapters.block import computation as block_computation
from tokenwerk_helpers.chapters.block import exercises as block_exercises
from tokenwerk_helpers.chapters.block import questions as block_questions
from tokenwerk_helpers.chapters.block import views as block_views
from tokenwerk_helpers.chapters.book import part_labels
from tokenwerk_helpers.chapters.norm_placement import questions as norm_placement_questions
from tokenwerk_helpers.chapters.reading import Reading, example_story
from tokenwerk_helpers.live import style
from tokenwerk_helpers.live.block_diagram import BlockDiagram
from tokenwerk_helpers.live.figure import LiveFigure
from tokenwerk_helpers.live.numbers import number
from tokenwerk_helpers.live.question import Choice, Question, VectorQuestion
from tokenwerk_helpers.model import Block, Config, Decoder, causal_mask, residual
from tokenwerk_helpers.pretrained import Pretrained

TEXT = example_story()


def small_model(norm="pre", blocks=2, width=16, seed=0) -> Pretrained:
    """An untrained model that reads the stories' words."""
    words = tokenizer.train(story.text for story in corpus.stories(0, 200))
    torch.manual_seed(seed)
    model = Decoder(Config(len(words), 40, width, 2, blocks, norm=norm)).eval()
    for module in model.modules():  # as after training: no two norms alike
        if isinstance(module, nn.LayerNorm):
            nn.init.normal_(module.weight, 1.0, 0.2)
            nn.init.normal_(module.bias, std=0.2)
    return Pretrained(model, words, "small")


@pytest.fixture(scope="module")
def model() -> Pretrained:
    return small_model()


# --- the two formulas --------------------------------------------------------------------------------


def encoder_layer_like(block: Block, width: int, heads: int) -> nn.TransformerEncoderLayer:
    """PyTorch's own layer with the weights of `block`."""
    layer = nn.TransformerEncoderLayer(
        width, heads, 4 * width, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
    )
    pairs = {"self_attn.out_proj": "attn.out", "linear1": "mlp.up", "linear2": "mlp.down"}
    for theirs, ours in (pairs | {"norm1": "norm1", "norm2": "norm2"}).items():
        layer.get_submodule(theirs).load_state_dict(block.get_submodule(ours).state_dict())
    qkv = [block.attn.q, block.attn.k, block.attn.v]
    with torch.no_grad():
        layer.self_attn.in_proj_weight.copy_(torch.cat([part.weight for part in qkv]))
        layer.self_attn.in_proj_bias.copy_(torch.cat([part.bias for part in qkv]))
    return layer


def test_u_and_y_are_those_of_pytorchs_own_layer_under_a_causal_mask(model):
    """F24: u = x + Attention(Norm1(x)), y = u + MLP(Norm2(u)), against nn.TransformerEncoderLayer."""
    got = Reading(model).read("Ein kleiner Fuchs wohnt im Wald.")
    for index, block in enumerate(model.model.blocks):
        values = block_computation.values_of_steps(got.seen, index, "pre")
        x = torch.tensor(values["x"])[None]
        y = encoder_layer_like(block, 16, 2)(x, src_mask=~causal_mask(x.shape[1]))
        assert torch.allclose(torch.tensor(values["y"])[None], y, atol=1e-5)
        assert np.allclose(values["u"], values["x"] + values["attention"], atol=1e-6)
        assert np.allclose(values["y"], values["u"] + values["mlp"], atol=1e-6)


def test_the_small_example_by_hand():
    """F24: [2, 5] -> u = [2.3, 4.8] -> y = [2.7, 4.2], with the chapter's first sum."""
    values = block_computation.small_block(2, 5).values
    expected = {
        "norm1": [-1, 1], "attention": [0.3, -0.2], "u": [2.3, 4.8], "norm2": [-1, 1],
        "mlp": [0.4, -0.6], "y": [2.7, 4.2],
    }  # fmt: skip
    for name, value in expected.items():
        assert np.allclose(values[name], value, atol=1e-4), name


@given(st.floats(-5, 20), st.floats(-5, 50))
def test_a_second_sum_with_x_loses_exactly_attentions_contribution(x1, x2):
    """F25: y - y' = u - x = Attention(Norm1(x)), whatever the input."""
    right, wrong = block_computation.small_block(x1, x2, "u"), block_computation.small_block(x1, x2, "x")
    assert np.allclose(right.values["y"] - wrong.values["y"], right.values["attention"], atol=1e-5)
    assert np.allclose(wrong.right_y, right.values["y"])


def test_a_block_has_two_norms_with_numbers_of_their_own():
    """F26: 2 (gamma and beta) x D numbers each; shared, they would be 2 D fewer."""
    block = Block(Config(vocab_size=1, context_length=4, width=8, heads=2, blocks=1))
    count = sum(p.numel() for p in block.parameters())
    assert sum(p.numel() for norm in (block.norm1, block.norm2) for p in norm.parameters()) == 4 * 8
    block.norm2 = block.norm1
    assert count - sum(p.numel() for p in block.parameters()) == 2 * 8
    assert block_computation.norm_parameters(8) == 4 * 8
    answers = (4 * 768, 2 * 768, 768, 1)
    replies = [block_questions.guess_norm_parameters().reply_to(n) for n in answers]
    assert [reply.correct for reply in replies] == [True, False, False, False]
    assert len({reply.text for reply in replies}) == 4


# --- the walk and the stream ---------------------------------------------------------------------------


@pytest.mark.parametrize("norm", ["pre", "post", "none"])
def test_the_walk_ends_where_the_next_block_begins(norm):
    model = small_model(norm)
    got = Reading(model).read(TEXT)
    first = block_computation.values_of_steps(got.seen, 0, norm)
    second = block_computation.values_of_steps(got.seen, 1, norm)
    assert np.array_equal(list(first.values())[-1], second["x"])
    assert np.allclose(first["x"], got.seen["embedded"][0].numpy())


@pytest.mark.parametrize("norm", ["pre", "post", "none"])
def test_each_step_of_the_walk_has_its_picture_and_its_sentence(norm):
    walk = block_views.BlockWalk(small_model(norm))
    seen = set()
    for step in block_computation.STEPS[norm]:
        walk.set(step=step)
        assert walk.error is None, walk.message.value
        seen.add((walk.diagram_figure.pixels.tobytes(), walk.matrix.values.tobytes(), walk.caption.value))
    assert len({image for image, _, _ in seen}) == len({text for _, _, text in seen})
    assert len(seen) == len(block_computation.STEPS[norm])


def test_the_walks_sentence_has_the_numbers_of_the_chosen_row(model):
    walk = block_views.BlockWalk(model)
    walk.set(block=2, step="u", position=5)
    values = block_computation.values_of_steps(Reading(model).read(TEXT).seen, 1, "pre")
    for step in ("x", "attention", "u"):
        assert number(np.linalg.norm(values[step][4])) in walk.caption.value
    walk.set(step="norm2")
    assert number(values["norm2"][4].std()) in walk.caption.value


def test_a_click_on_a_row_chooses_the_position_and_the_slider_ends_with_the_text(model):
    walk = block_views.BlockWalk(model)
    walk.matrix.selected = 6
    assert walk.controls["position"].value == 7 and "Position 7" in walk.caption.value
    walk.set(text="Ein Fuchs")
    count = len(model.tokenizer.encode("Ein Fuchs")) + 1
    assert walk.controls["position"].max == len(walk.result.labels) == count < 7
    assert walk.result.position == count
    walk.reset()
    assert walk.settings["position"] == 4 and walk.settings["text"] == TEXT


@pytest.mark.parametrize("make", [block_views.BlockWalk, block_views.ResidualStream])
def test_any_text_is_read_and_one_that_is_too_long_is_refused_in_words(make, model):
    explorer = make(model)
    for text in ("", "$x$ <b>& „ä“", "🦊", "ein " * 10):
        explorer.set(text=text)
        assert explorer.error is None, explorer.message.value
        assert explorer.still()
    explorer.set(text="ein " * 60)
    assert "40" in explorer.message.value
    explorer.set(text="Ein Fuchs")
    assert explorer.message.value == ""


def test_contributions_and_stream_are_those_of_a_forward_pass_by_hand(model):
    ids = torch.tensor([[model.tokenizer.start, *model.tokenizer.encode(TEXT)]])
    decoder = model.model
    with torch.no_grad():
        x = decoder.token_embedding(ids) + decoder.position_embedding(torch.arange(ids.shape[1]))
        stream, added = [x], []
        for block in decoder.blocks:
            for part, norm in ((block.attn, block.norm1), (block.mlp, block.norm2)):
                added.append(part(norm(x)))
                x = x + added[-1]
                stream.append(x)
    result = block_views.ResidualStream(model).result
    assert np.allclose(result.stream, torch.cat(stream).norm(dim=-1), atol=1e-5)
    assert np.allclose(result.added, torch.cat(added).norm(dim=-1), atol=1e-5)
    assert np.allclose(result.shares[:, 1], result.added[1] / result.stream[1])


def test_the_stream_of_a_deep_wide_model_can_be_drawn():
    stream = block_views.ResidualStream(small_model(blocks=6, width=48))
    walk = block_views.BlockWalk(stream.reading.pretrained)
    assert stream.still().width < 2 * 900
    assert walk.matrix.values.shape[2] == block_computation.SHOWN
    assert "ersten 32 von 48" in walk.caption.value


def test_the_angle_between_two_lists_is_named():
    right = np.array([1.0, 0.0])
    assert "0°" in block_views.how_they_stand(right, 2 * right)
    assert "180°" in block_views.how_they_stand(right, -right) and "auf" in block_views.how_they_stand(
        right, -right
    )
    assert "90°" in block_views.how_they_stand(right, np.array([0.0, 3.0]))
    assert "90°" in block_views.how_they_stand(right, np.zeros(2))


# --- dropout -----------------------------------------------------------------------------------------


def test_two_runs_differ_in_training_and_agree_in_eval():
    """F28: dropout after Attention and MLP, in training only."""
    block, x = block_computation.dropout_example(0.5)
    block.train()
    assert not torch.equal(block(x), block(x))
    block.eval()
    assert torch.equal(block(x), block(x))
    quiet = [block_computation.drop(0.5, run, training=False).y for run in (1, 2)]
    assert np.array_equal(*quiet) and np.array_equal(quiet[0], block_computation.drop(0.5, 1, True).quiet_y)
    assert not np.array_equal(block_computation.drop(0.5, 1, True).y, block_computation.drop(0.5, 2, True).y)
    for part in (block.attn, block.mlp):
        part.train()
        assert (part.dropout(torch.ones(100)) == 0).any()


def test_what_is_not_dropped_is_scaled_so_that_the_mean_stays():
    """F28: kept components are divided by 1 - p; over many runs the contribution is the same on average."""
    for p in (0.1, 0.5):
        result = block_computation.drop(p, 3, training=True)
        kept = result.after != 0
        assert np.allclose(result.after[kept], result.before[kept] / (1 - p))
    ones = torch.ones(20_000)
    assert nn.Dropout(0.5)(ones).mean().item() == pytest.approx(1, abs=0.05)
    mean = np.mean(
        [
            block_computation.drop(0.5, run, True).after / block_computation.drop(0.5, run, True).before
            for run in range(300)
        ]
    )
    assert mean == pytest.approx(1, abs=0.1)


# --- every control, every view ---------------------------------------------------------------------------


def picture(explorer) -> tuple:
    views = [view for row in explorer.rows for view in row]
    return tuple(
        v.pixels.tobytes() if isinstance(v, LiveFigure) else (v.values.tobytes(), v.selected) for v in views
    )


@pytest.mark.parametrize(
    "make",
    [
        block_views.SmallBlock,
        lambda: block_views.BlockWalk(small_model()),
        lambda: block_views.ResidualStream(small_model()),
        block_views.DropoutRuns,
    ],
    ids=["small", "walk", "stream", "dropout"],
)
def test_every_control_moves_the_picture_and_the_caption_over_its_whole_range(make):
    explorer = make()
    start = picture(explorer), explorer.caption.value
    for name, control in explorer.controls.items():
        if name == "text":
            ends = ["Ein Reh.", TEXT]
        elif isinstance(control.value, bool):
            ends = [True, False]
        elif options := getattr(control, "options", None):
            ends = [
                option[1] if isinstance(option, tuple) else option for option in (options[0], options[-1])
            ]
        else:
            ends = [control.min, control.max]
        seen = set()
        for end in ends:
            explorer.set(**{name: end})
            assert explorer.error is None, explorer.message.value
            seen.add((picture(explorer), explorer.caption.value))
        assert len({image for image, _ in seen}) == len({text for _, text in seen}) == 2, name
        explorer.reset()
    assert (picture(explorer), explorer.caption.value) == start


def test_equal_components_have_a_sentence_of_their_own():
    explorer = block_views.SmallBlock()
    explorer.set(x1=3, x2=3)
    assert "nichts zu sammeln" in explorer.caption.value
    explorer.set(second="x")
    assert "aus Versehen" in explorer.caption.value


@pytest.mark.parametrize("placement", ["pre", "post", "none"])
def test_the_drawn_block_lights_one_part_and_keeps_the_order(placement):
    live = LiveFigure(8, 1.3)
    live.figure.set_layout_engine("none")
    diagram = BlockDiagram(live.figure.add_axes((0, 0, 1, 1)), part_labels(), placement)
    places = diagram.middle
    assert places["x"] < places["attention"] < places["sum1"] < places["u"] < places["mlp"] < places["y"]
    if placement == "pre":
        assert places["norm1"] < places["attention"] and places["norm2"] < places["mlp"]
    if placement == "post":
        assert places["sum1"] < places["norm1"] < places["u"] and places["sum2"] < places["norm2"]
    diagram.light("attention")
    faces = {name: to_hex(shape.get_facecolor()) for name, shape in diagram.shapes.items()}
    assert [name for name, face in faces.items() if face != style.LIGHT.paper] == ["attention"]
    assert faces["attention"] == style.ROLES["attention"]


# --- questions and the exercise ---------------------------------------------------------------------------


def test_the_guesses_know_right_from_wrong():
    for guess, right in (
        (block_questions.guess_second_sum, [False, True, False, False]),
        (block_questions.guess_dropout, [False, True, False]),
        (block_questions.guess_contribution, [False, False, True]),
        (norm_placement_questions.guess_no_norm, [False, False, True]),
    ):
        assert [guess().reply_to(i).correct for i in range(len(right))] == right, guess


def test_the_question_about_ten_times_the_input_knows_the_ways_to_go_wrong():
    """Its mistakes are what they are called: ten times y, and y without Attention's contribution."""
    walk = block_computation.small_block(20, 50).values
    ten_times = 10 * block_computation.small_block(2, 5).values["y"]
    answers = (walk["y"], ten_times, walk["x"] + walk["mlp"], [2.7, 4.2], [1])
    replies = [block_questions.guess_ten_times().reply_to(answer) for answer in answers]
    assert [reply.correct for reply in replies] == [True, False, False, False, False]
    words = ["Richtig", "das Zehnfache von y", "Beitrag der Attention", "Norm₁([20, 50])", "zwei Zahlen"]
    assert all(word in reply.text for word, reply in zip(words, replies))


def test_the_faint_lines_are_the_streams_of_all_other_positions_and_the_axis_holds_still():
    view = block_views.ResidualStream()
    axis = view.axes.get_ylim()
    for position in (1, 4, len(view.result.labels)):
        view.set(position=position)
        others = np.delete(view.result.stream.T, position - 1, axis=0)
        drawn = view.others.get_ydata().reshape(len(others), -1)[:, :-1]
        assert np.allclose(drawn, others) and others.max() < axis[1]
        assert view.axes.get_ylim() == axis
    view.close()


def test_the_question_about_contributions_measures_what_the_view_shows():
    stream = block_views.ResidualStream()
    assert stream.settings["text"] == example_story()
    assert block_computation.mean_share() == pytest.approx(stream.result.shares.mean(), abs=1e-6)
    stream.close()


def wrong_answer(guess: Question) -> int | str:
    return 0 if isinstance(guess, Choice) else "[1, 2]" if isinstance(guess, VectorQuestion) else "1"


def test_every_guess_can_be_shown_and_judged():
    guesses = [
        block_questions.guess_ten_times(),
        block_questions.guess_second_sum(),
        block_questions.guess_norm_parameters(),
        block_questions.guess_dropout(),
        block_questions.guess_contribution(),
    ]
    for guess in guesses:
        assert guess.judge().correct is None
        guess.answer.value = wrong_answer(guess)
        assert guess.judge().correct is False


def leak(block, x):
    u = x + block.attn(block.norm1(x), torch.ones(x.shape[1], x.shape[1], dtype=torch.bool))
    return u + block.mlp(block.norm2(u))


def leak_otherwise(block, x):
    return block(x) + x.mean(dim=1, keepdim=True)


def post(block, x):
    u = block.norm1(x + block.attn(x))
    return block.norm2(u + block.mlp(u))


def second_takes_x(block, x):
    u = x + block.attn(block.norm1(x))
    return x + block.mlp(block.norm2(u))


def shared_norm(block, x):
    u = x + block.attn(block.norm1(x))
    return u + block.mlp(block.norm1(u))


def no_first_path(block, x):
    u = block.attn(block.norm1(x))
    return u + block.mlp(block.norm2(u))


def no_second_path(block, x):
    u = x + block.attn(block.norm1(x))
    return block.mlp(block.norm2(u))


def no_paths(block, x):
    return block.mlp(block.norm2(block.attn(block.norm1(x))))


def normed_path(block, x):
    x = block.norm1(x)
    u = x + block.attn(x)
    return u + block.mlp(block.norm2(u))


def in_place(block, x):
    x += block.attn(block.norm1(x))
    x += block.mlp(block.norm2(x))
    return x


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (post, "Post-Norm"),
        (second_takes_x, "Summe nimmt x"),
        (shared_norm, "Norm₁ wird zweimal"),
        (no_first_path, "erste direkte Weg fehlt"),
        (no_second_path, "zweite direkte Weg fehlt"),
        (no_paths, "Beide direkten Wege"),
        (normed_path, "läuft Norm₁(x)"),
        (leak, "spätere Positionen"),
        (leak_otherwise, "sickert durch"),
        (in_place, "verändert x"),
        (lambda block, x: x + block.attn(block.norm1(x)), "Das ist u"),
        (lambda block, x: x[:, 0], "Form von x"),
        (lambda block, x: 3, "Form von x"),
        (lambda block, x: 2 * x, "Zeichen für Zeichen"),
    ],
)
def test_the_exercise_names_the_broken_property(attempt, words):
    feedback = block_exercises.check_block_forward(attempt)
    assert feedback.correct is False and words in feedback.text


def test_the_mistakes_it_knows_can_be_told_apart():
    block, x = (
        block_exercises._random_block(),
        torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(1)),
    )
    with torch.no_grad():
        outputs = [
            block(x),
            *(known.function(block, x) for known in block_exercises.check_block_forward.mistakes()),
        ]
    for i, one in enumerate(outputs):
        for other in outputs[:i]:
            assert not torch.allclose(one, other, atol=1e-3)


def test_the_exercise_accepts_the_chapters_lines_and_knows_a_stub():
    def chapter(block, x):
        x = x + block.attn(block.norm1(x))
        return x + block.mlp(block.norm2(x))

    assert block_exercises.check_block_forward(lambda block, x: ...).correct is None
    assert block_exercises.check_block_forward(lambda block, x: None).correct is None
    assert block_exercises.check_block_forward(chapter).correct


# ---- ways in which a reader may write the exercise, right and wrong ----


def block_solution(block, x):
    u = x + block.attn(block.norm1(x))
    return u + block.mlp(block.norm2(u))


def block_by_residual(block, x):
    u = residual(x, block.attn(block.norm1(x)))
    return residual(u, block.mlp(block.norm2(u)))


def block_with_a_copy(block, x):
    y = x.clone()
    y += block.attn(block.norm1(y))
    y += block.mlp(block.norm2(y))
    return y


WAYS = {
    "check_block_forward": Ways(
        [block_solution, block_by_residual, block_with_a_copy],
        [
            (lambda block, x: block(x), "die Arbeit hat block(x) gemacht"),
            (Block.forward, "die Arbeit hat block(x) gemacht"),
            (lambda block, x: block_solution(block, x).detach().numpy(), "numpy-Array"),
        ],
    ),
}
