"""03_mlp: shapes, activations, what hidden units can express, positions, neurons."""

import math
import statistics

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from tests.ways import Ways
from tokenwerk_helpers import model, pretrained
from tokenwerk_helpers.chapters.mlp import computation, exercises, questions, views
from tokenwerk_helpers.chapters.reading import example_story
from tokenwerk_helpers.trace import trace


def test_eight_components_become_thirty_two_and_eight_again():
    """F10: D = 8: 8 -> 32 -> 8."""
    mlp = model.MLP(8)
    widths = []
    for part in (mlp.up, mlp.activation, mlp.down):
        part.register_forward_hook(lambda _m, _i, output: widths.append(output.shape[-1]))
    assert mlp(torch.randn(2, 5, 8)).shape == (2, 5, 8)
    assert widths == [32, 32, 8]


@given(st.floats(-6, 6))
def test_gelu_weighs_softly_what_relu_cuts(x):
    """F11: x Phi(x) with the normal distribution's own function, and max(0, x)."""
    found = computation.activations(x)
    assert found.gelu == pytest.approx(x * 0.5 * (1 + math.erf(x / math.sqrt(2))), abs=1e-12)
    tanh = 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    assert found.gelu_tanh == pytest.approx(tanh, abs=1e-12)
    assert found.relu == max(0.0, x)
    assert abs(found.gelu - found.gelu_tanh) < 5e-4


def test_the_values_of_gelu_and_relu_at_minus_one_zero_and_one():
    """F11: at -1, 0 and 1."""
    values = [computation.activations(x) for x in (-1.0, 0.0, 1.0)]
    assert [round(v.gelu, 4) for v in values] == [-0.1587, 0.0, 0.8413]
    assert [v.relu for v in values] == [0.0, 0.0, 1.0]


def test_two_linear_layers_are_one_and_an_activation_makes_more():
    """F12: equality without activation; a fit that fails and one that works."""
    first, second = nn.Linear(3, 12), nn.Linear(12, 3)
    x = torch.randn(20, 3)
    one = x @ (second.weight @ first.weight).T + second.weight @ first.bias + second.bias
    assert torch.allclose(second(first(x)), one, atol=1e-5)
    assert computation.fit("wave", 64, "none").error > 0.5
    for activation in ("gelu", "relu"):
        assert computation.fit("wave", 64, activation).error < 0.02


@given(st.sampled_from(sorted(computation.TARGETS)), st.integers(1, 64))
@settings(max_examples=30)
def test_without_activation_every_fit_is_the_best_straight_line(target, hidden):
    found = computation.fit(target, hidden, "none")
    line = np.polyval(np.polyfit(computation.POINTS, found.target, 1), computation.POINTS)
    assert np.allclose(found.fitted, line, atol=1e-6)


@pytest.mark.parametrize("activation", ["gelu", "relu"])
def test_hidden_units_are_what_an_mlp_of_the_model_computes(activation):
    """The fitted curve is an MLP: copied into model.MLP(1), the numbers agree."""
    hidden = 6
    features = np.column_stack(
        [computation.hidden_units(hidden, activation), np.ones_like(computation.POINTS)]
    )
    found = computation.fit("hill", hidden, activation)
    solution = np.linalg.lstsq(features, found.target, rcond=1e-9)[0]
    bends = (torch.arange(hidden) + 0.5) / hidden * 6 - 3
    slopes = 3.0 * (-1.0) ** torch.arange(hidden)
    mlp = model.MLP(1, hidden, activation).double()
    with torch.no_grad():
        mlp.up.weight.copy_(slopes[:, None])
        mlp.up.bias.copy_(-slopes * bends)
        mlp.down.weight.copy_(torch.from_numpy(solution[:-1])[None])
        mlp.down.bias.fill_(solution[-1])
        out = mlp(torch.from_numpy(computation.POINTS)[None, :, None])[0, :, 0]
    assert np.allclose(out.numpy(), found.fitted, atol=1e-4)


def test_column_vectors_of_the_book_are_rows_in_pytorch():
    """F13: W x + b with a column equals nn.Linear on a row."""
    linear, x = nn.Linear(5, 3), torch.randn(5)
    column = linear.weight @ x[:, None] + linear.bias[:, None]
    assert torch.allclose(column[:, 0], linear(x), atol=1e-6)


@given(st.permutations(range(5)))
@settings(max_examples=20)
def test_permuted_positions_give_permuted_results(order):
    """F14: the same MLP at each position, positions are not mixed."""
    torch.manual_seed(0)
    mlp, x = model.MLP(4), torch.randn(2, 5, 4)
    assert torch.allclose(mlp(x[:, order]), mlp(x)[:, order], atol=1e-6)


def test_one_nudged_position_moves_its_own_output_only():
    """F14: shown in the live view."""
    view = views.PositionByPosition()
    for position in range(1, computation.T + 1):
        view.set(position=position, amount=1.5)
        assert view.error is None
        assert f"die von Position {position} bewegt, sonst keine" in view.caption.value
        before, after = view.outputs.values
        moved = np.flatnonzero((before != after).any(axis=1))
        assert moved.tolist() == [position - 1] and view.outputs.titles[0].endswith("vorher")
    view.set(amount=0)
    assert np.array_equal(*view.outputs.values)
    assert "Nichts wurde addiert" in view.caption.value


def test_the_relu_form_of_the_feed_forward_network():
    """F15: max(0, x W1 + b1) W2 + b2 with the tables turned round."""
    mlp, x = model.MLP(4, activation="relu"), torch.randn(2, 3, 4)
    W1, W2 = mlp.up.weight.T, mlp.down.weight.T
    by_hand = torch.maximum(torch.tensor(0.0), x @ W1 + mlp.up.bias) @ W2 + mlp.down.bias
    assert torch.allclose(mlp(x), by_hand, atol=1e-6)


@pytest.mark.parametrize("make", [views.ActivationCurves, views.CurveFit, views.PositionByPosition])
def test_every_control_moves_the_caption_and_raises_nothing(make):
    explorer = make()
    for name, control in explorer.controls.items():
        options = getattr(control, "options", None)
        ends = [option[1] if isinstance(option, tuple) else option for option in options or ()]
        seen = set()
        for end in ends or (control.min, control.max):
            explorer.set(**{name: end})
            assert explorer.error is None, explorer.message.value
            seen.add(explorer.caption.value)
        assert len(seen) > 1, name
        explorer.reset()


@pytest.fixture(scope="module")
def neurons():
    return views.NeuronExplorer()


def test_neurons_are_the_activations_of_the_trained_model(neurons):
    neurons.reset()
    reading = neurons.reading
    ids = torch.tensor([reading.ids(neurons.settings["text"])])
    seen = []
    handle = reading.model.blocks[-1].mlp.down.register_forward_hook(
        lambda _m, inputs, _o: seen.append(inputs[0])
    )
    with torch.no_grad():
        reading.model(ids)
    handle.remove()
    assert np.allclose(neurons.result.hidden, seen[0][0], atol=1e-6)
    assert set(neurons.matrix.rows) == {str(n + 1) for n in neurons.result.shown}


def test_a_row_of_the_matrix_is_a_neuron_of_the_named_block_over_the_text_and_a_click_chooses_it(neurons):
    for block in (2, 1):
        neurons.set(block=block)
        assert neurons.matrix.titles == [f"Block {block}"]
        for row, name in enumerate(neurons.matrix.rows):
            wanted = neurons.result.hidden[:, int(name) - 1]
            assert np.array_equal(neurons.matrix.values[0, row], wanted)
    neurons.reset()
    clicked = neurons.matrix.rows[5]
    neurons.matrix.selected = 5
    assert neurons.settings["neuron"] == int(clicked)
    assert neurons.matrix.rows[neurons.matrix.selected] == clicked
    neurons.reset()


def test_the_axis_of_the_mean_values_holds_still_while_the_neuron_changes_and_has_room_for_all(neurons):
    neurons.reset()
    means = computation.mean_values(neurons.reading, neurons.settings["block"]).values
    axis = neurons.axes.get_ylim()
    assert axis[0] <= means.min() and axis[1] >= means.max() > 0.9 * axis[1]
    for neuron in (1, 2, 17, 256):
        neurons.set(neuron=neuron)
        assert neurons.axes.get_ylim() == axis
    neurons.reset()


def test_a_neurons_favourite_token_is_its_largest_mean(neurons):
    neurons.reset()
    values = [value for _token, value in neurons.result.favourites]
    assert values == sorted(values, reverse=True)
    means = computation.mean_values(neurons.reading, neurons.settings["block"]).values  # (n, 4D)
    assert values[0] == pytest.approx(means[:, neurons.result.neuron].max())


def test_a_chosen_neuron_is_shown_even_if_it_is_quiet_and_any_text_is_read(neurons):
    neurons.reset()
    quiet = int(neurons.result.hidden.max(axis=0).argmin()) + 1
    neurons.set(neuron=quiet, text="Ein $Hund$ <i>🦆</i>!")
    assert neurons.error is None and str(quiet) in neurons.matrix.rows
    assert neurons.matrix.rows[neurons.matrix.selected] == str(quiet)
    neurons.set(text="")
    assert neurons.error is None
    neurons.reset()


def test_the_guesses_know_right_from_wrong():
    for guess, right in (
        (questions.guess_gelu(), 1),
        (questions.guess_swap(), 1),
        (questions.guess_positive(), 2),
    ):
        assert guess.judge().correct is None
        assert [guess.reply_to(option).correct for option in range(3)] == [
            option == right for option in range(3)
        ]
    single = questions.guess_without_activation()
    assert single.reply_to(8 * 8).correct and single.judge().correct is None
    assert len({single.reply_to(wrong).text for wrong in (2 * 8 * 32, 32 * 32, 8 * 32, 9)}) == 4


def test_the_options_about_gelu_are_the_value_the_same_share_and_relu():
    normal = statistics.NormalDist()
    same_share, value, relu = (option.value for option in questions.guess_gelu().options)
    assert same_share == pytest.approx(-3 * normal.cdf(-1), abs=0.005)
    assert value == pytest.approx(-3 * normal.cdf(-3), abs=0.0005) and relu == 0


def test_half_of_the_neurons_are_above_zero_before_training_as_the_check_says():
    shipped = pretrained.load()
    ids = torch.tensor([[shipped.tokenizer.start, *shipped.tokenizer.encode(example_story())]])
    torch.manual_seed(0)
    untrained = model.Decoder(shipped.model.config)
    blocks = range(untrained.config.blocks)
    hidden = torch.cat([trace(untrained, ids)[f"blocks.{block}.mlp.activation"] for block in blocks])
    assert (hidden > 0).float().mean().item() == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(
    ("attempt", "word"),
    [
        (lambda x, W1, b1, W2, b2: F.linear(F.linear(x, W1, b1), W2, b2), "Aktivierung fehlt"),
        (lambda x, W1, b1, W2, b2: F.linear(F.relu(F.linear(x, W1, b1)), W2, b2), "ReLU"),
        (lambda x, W1, b1, W2, b2: F.linear(F.gelu(F.linear(x, W1, b1), approximate="tanh"), W2, b2), "tanh"),
        (lambda x, W1, b1, W2, b2: F.linear(F.gelu(F.linear(x, W1)), W2, b2), "b1"),
        (lambda x, W1, b1, W2, b2: F.linear(F.gelu(F.linear(x, W1, b1)), W2), "b2"),
        (
            lambda x, W1, b1, W2, b2: F.gelu(F.linear(F.gelu(F.linear(x, W1, b1)), W2, b2)),
            "keine Aktivierung",
        ),
        (lambda x, W1, b1, W2, b2: x @ W1, "bricht ab"),
        (lambda x, W1, b1, W2, b2: F.linear(x, W1, b1), "Form von x"),
        (lambda x, W1, b1, W2, b2: x, "der Reihe nach"),
    ],
)
def test_the_exercise_names_the_broken_property(attempt, word):
    feedback = exercises.check_mlp(attempt)
    assert feedback.correct is False and word in feedback.text


def test_the_exercise_accepts_a_right_answer_and_knows_a_stub():
    assert exercises.check_mlp(lambda *tables: ...).correct is None
    assert exercises.check_mlp(
        lambda x, W1, b1, W2, b2: F.linear(F.gelu(F.linear(x, W1, b1)), W2, b2)
    ).correct


# ---- ways in which a reader may write the exercise, right and wrong ----


def mlp_solution(x, W1, b1, W2, b2):
    return F.linear(F.gelu(F.linear(x, W1, b1)), W2, b2)


def mlp_by_formula(x, W1, b1, W2, b2):
    hidden = x @ W1.T + b1
    return (0.5 * hidden * (1 + torch.erf(hidden / math.sqrt(2)))) @ W2.T + b2


def mlp_by_einsum(x, W1, b1, W2, b2):
    hidden = torch.nn.GELU()(torch.einsum("btd,hd->bth", x, W1) + b1)
    return torch.einsum("bth,dh->btd", hidden, W2) + b2


def ready_made_mlp(x, W1, b1, W2, b2):
    mlp = model.MLP(width=x.shape[-1], hidden=len(b1))
    tables = {"up.weight": W1, "up.bias": b1, "down.weight": W2, "down.bias": b2}
    return torch.func.functional_call(mlp, tables, (x,))


WAYS = {
    "check_mlp": Ways(
        [mlp_solution, mlp_by_formula, mlp_by_einsum],
        [
            (lambda x, *tables: x + mlp_solution(x, *tables), "Du addierst x dazu"),
            (ready_made_mlp, "die Arbeit hat model.MLP gemacht"),
            (lambda x, *tables: mlp_solution(x, *tables).mean(), "ohne Achsen"),
            (lambda x, *tables: mlp_solution(x, *tables).numpy(), "numpy-Array"),
        ],
    ),
}
