"""01_residual: the chapter's numbers, the two paths of the gradient, depth and learning rates."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.ways import Ways
from tokenwerk_helpers import model
from tokenwerk_helpers.chapters.residual import computation, exercises, questions, views
from tokenwerk_helpers.live.numbers import magnitude


def test_the_chapters_vector_sum():
    """F01: [2, 5] + [0.3, -0.2] = [2.3, 4.8]."""
    assert np.allclose(computation.vector_sum(2, 5, 0.3, -0.2).y, [2.3, 4.8])
    assert "[2.3, 4.8]" in views.VectorAddition().caption.value


@given(st.floats(-3, 3), st.floats(-1, 1))
def test_backwards_the_paths_are_added(point, strength):
    """F02: dy/dx = 1 + f'(x), against the derivative worked out by hand: 2 a cos(2x)."""
    paths = computation.two_paths(point, strength)
    assert paths.direct == 1
    assert paths.through_f == pytest.approx(2 * strength * np.cos(2 * point), abs=1e-9)
    assert paths.total == pytest.approx(paths.direct + paths.through_f, abs=1e-9)


def test_a_residual_needs_equal_shapes_also_where_broadcasting_would_hide_it():
    """F03: a bare sum of (3, 4) and (1, 4) works; `residual` refuses it."""
    x, fx = torch.zeros(3, 4), torch.ones(1, 4)
    assert (x + fx).shape == (3, 4)
    for wrong in (fx, torch.ones(4), torch.ones(3, 1), torch.tensor(1.0)):
        with pytest.raises(ValueError, match="equal shapes"):
            model.residual(x, wrong)


def test_gradients_by_layer_agree_with_a_product_of_jacobians():
    depth, gain, width = 4, 0.7, 32
    generator = torch.Generator().manual_seed(1)
    weights = torch.randn(depth, width, width, generator=generator, dtype=torch.float64) * gain / width**0.5
    h = torch.randn(16, width, generator=generator, dtype=torch.float64)
    g = torch.randn(16, width, generator=generator, dtype=torch.float64)
    g = g / g.norm(dim=-1, keepdim=True)
    for direct in (False, True):
        state, jacobians = h, []
        for W in weights:
            slope = W * (1 - torch.tanh(state) ** 2)[:, None, :]  # (16, D, D)
            jacobians.append(slope + torch.eye(width, dtype=torch.float64) * direct)
            state = direct * state + torch.tanh(state) @ W.T
        back = g[:, None, :]
        expected = [1.0]
        for J in reversed(jacobians):
            back = back @ J
            expected.append(back.norm(dim=-1).mean().item())
        found = computation.gradient_by_layer(depth, gain, direct)
        assert np.allclose(found, expected[::-1], rtol=1e-9)


def test_without_the_direct_path_small_weights_make_the_gradient_vanish():
    """F45: it vanishes with depth without the path, stays near 1 with it; large weights explode on both."""
    small = computation.depth_compared(24, 0.6)
    assert small.plain[0] < 1e-4 and 0.1 < small.residual[0] < 10
    assert small.plain[-1] == pytest.approx(1) and small.residual[-1] == pytest.approx(1)
    large = computation.depth_compared(24, 3.0)
    assert large.plain[0] > 100 and large.residual[0] > 100


def test_the_residual_net_learns_where_the_plain_one_stands_still_and_fails_at_a_large_rate():
    assert computation.training_compared(12, 0.1).residual[-1] < 0.1
    assert computation.training_compared(12, 0.1).plain[-1] > 0.9
    failed = computation.training_compared(24, 1.0).residual
    assert not np.isfinite(failed[-1]) or failed[-1] > failed[0]


def test_training_side_by_side_is_training_one_by_one():
    """One of the nets trained alone with torch.optim.SGD follows the same curve."""
    depth, rate, width = 2, 0.1, 16
    generator = torch.Generator().manual_seed(3)
    inputs = torch.randn(32, width, generator=generator)
    signs = torch.randn(32, generator=generator).sign()
    layers = torch.nn.Parameter(torch.randn(depth, width, width, generator=generator) * 0.6 / width**0.5)
    reader = torch.randn(width, generator=generator) / width
    optimizer = torch.optim.SGD([layers], lr=rate)
    losses = []
    for _ in range(10):
        h = inputs
        for W in layers:
            h = h + torch.tanh(h) @ W.T
        loss = torch.nn.functional.mse_loss(h @ reader, signs)
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert np.allclose(computation.training_compared(depth, rate).residual[:10], losses, rtol=1e-4)


@pytest.mark.parametrize(
    "make", [views.VectorAddition, views.TwoPaths, views.GradientByDepth, views.LearningRate]
)
def test_every_control_moves_the_picture_and_the_caption_over_its_whole_range(make):
    explorer = make()
    start = explorer.rows[0][0].pixels.tobytes(), explorer.caption.value
    for name, control in explorer.controls.items():
        options = getattr(control, "options", None)
        ends = [options[0], options[-1]] if options else [control.min, control.max]
        seen = set()
        for end in ends:
            explorer.set(**{name: end[1] if isinstance(end, tuple) else end})
            assert explorer.error is None, explorer.message.value
            seen.add((explorer.rows[0][0].pixels.tobytes(), explorer.caption.value))
        assert len(seen) == 2, name
        explorer.reset()
    assert (explorer.rows[0][0].pixels.tobytes(), explorer.caption.value) == start


def test_a_single_layer_is_said_in_the_singular():
    explorer = views.GradientByDepth()
    explorer.set(depth=1)
    assert explorer.caption.value.startswith("1 Schicht. ")
    explorer.set(depth=2)
    assert explorer.caption.value.startswith("2 Schichten. ")


@pytest.mark.parametrize("tip", [(2.0, 5.0), (-3.0, 0.5), (0.0, 0.0), (0.2, -0.1)])
def test_the_heads_of_the_arrows_end_at_their_tips_and_point_away_from_their_tails(tip):
    view = views.VectorAddition()
    view.set(x1=tip[0], x2=tip[1], f1=1, f2=-1.5)
    x, fx, y = view.result.x, view.result.fx, view.result.y
    shafts = view.x_arrow, view.f_arrow, view.y_arrow, view.f_lens
    for shaft, start, end in zip(shafts, (0 * x, x, 0 * x, 0 * x), (x, y, y, fx)):
        corners = view.heads[shaft].get_xy()
        assert np.allclose(corners[0], end)
        behind = corners[1:3].mean(axis=0)
        (a, b), (c, d) = end - start, behind - start
        assert a * d - b * c == pytest.approx(0, abs=1e-6)
        assert np.dot(end - behind, end - start) >= 0 and np.dot(behind - start, end - start) >= 0
        assert np.allclose(shaft.get_xydata(), [start, behind], atol=1e-6)
    view.close()


def test_the_gradients_fill_their_picture_from_the_input_to_the_output_at_every_depth():
    view = views.GradientByDepth()
    for depth in (1, 2, 7, 24, 48):
        view.set(depth=depth)
        left, right = view.axes.get_xlim()
        assert left < 0 and depth < right < 1.05 * depth and -left < 0.05 * depth
        ticks = view.axes.get_xticks()
        assert ticks[-1] == depth and 2 <= len(ticks) <= 9
    view.close()


def test_a_zero_contribution_and_a_zero_input_have_sentences_of_their_own():
    explorer = views.VectorAddition()
    explorer.set(f1=0, f2=0)
    assert "y ist x selbst" in explorer.caption.value
    explorer.set(x1=0, x2=0, f1=1)
    assert "allein der Beitrag" in explorer.caption.value


def test_the_guesses_know_right_from_wrong():
    chapter_sum = questions.guess_sum()
    assert chapter_sum.reply_to([2.3, 4.8]).correct
    for answer in ([0.3, -0.2], [1.7, 5.2], [7.1], [2, 5]):
        assert chapter_sum.reply_to(answer).correct is False
    for guess, right in (
        (questions.guess_slope(), 1),
        (questions.guess_broadcast(), 1),
        (questions.guess_depth(), 2),
        (questions.guess_deep_rate(), 2),
    ):
        assert guess.judge().correct is None
        assert [guess.reply_to(option).correct for option in range(3)] == [
            option == right for option in range(3)
        ]
    assert 16.5e6 < 2**24 < 17.5e6


def test_what_the_question_about_the_large_rate_takes_for_granted_is_so():
    """At the rate 1, 12 layers with the direct path learn, and 24 without it stand still."""
    assert computation.outcome(computation.training_compared(12, 1.0).residual) == "learns"
    assert computation.outcome(computation.training_compared(24, 1.0).plain) == "stands still"


@pytest.mark.parametrize(
    ("end", "word"),
    [
        (1.2, "fails"),
        (float("nan"), "fails"),
        (1.05, "stands still"),
        (0.5, "learns a little"),
        (0.2, "learns"),
    ],
)
def test_the_outcome_of_a_training_goes_by_its_last_losses(end, word):
    losses = np.full(computation.STEPS + 1, end)
    losses[0] = 1.0
    assert computation.outcome(losses) == word


def careful(x, f):
    fx = f(x)
    if fx.shape != x.shape:
        raise ValueError("unequal shapes")
    return x + fx


def in_place(x, f):
    x += f(x)
    return x


@pytest.mark.parametrize(
    ("attempt", "word"),
    [
        (lambda x, f: f(x), "direkte Weg fehlt"),
        (in_place, "verändert x"),
        (lambda x, f: x + f(x), "Broadcasting"),
        (lambda x, f: x + f(x + f(x)), "genau einmal"),
        (lambda x, f: x - f(x), "nicht die Summe"),
        (lambda x, f: 3, "Tensor"),
    ],
)
def test_the_exercise_names_the_broken_property(attempt, word):
    feedback = exercises.check_residual_step(attempt)
    assert feedback.correct is False and word in feedback.text


def test_the_exercise_accepts_a_right_answer_and_knows_a_stub():
    assert exercises.check_residual_step(lambda x, f: ...).correct is None
    assert exercises.check_residual_step(careful).correct


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.43, "0.43"),
        (99.6, "100"),
        (999.7, "1000"),
        (0.00999, "1·10⁻²"),
        (3e-9, "3·10⁻⁹"),
        (9.96e-7, "1·10⁻⁶"),
        (2345.0, "2·10³"),
        (0.0, "0"),
        (float("inf"), "∞"),
    ],
)
def test_a_magnitude_is_rounded_before_its_power_is_chosen(value, text):
    assert magnitude(value) == text


def test_a_magnitude_can_have_decimals():
    assert magnitude(1.49e-4, 1) == "1.5·10⁻⁴" and magnitude(9.97e-5, 1) == "1.0·10⁻⁴"
    assert magnitude(0.43, 1) == "0.43" and magnitude(0, 1) == "0"


def test_the_plane_stays_where_it_is_when_it_is_drawn_again():
    view = views.VectorAddition()

    def places():
        return np.array([axes.get_position().bounds for axes in view.plane.figure.axes])

    before = places()
    for _ in range(3):
        view.plane.redraw()
    assert np.abs(places() - before).max() < 1e-3  # of the figure's size: less than a pixel
    view.close()


def test_the_arrows_lead_from_the_origin_to_x_and_from_its_tip_to_y():
    view = views.VectorAddition()
    view.set(x1=1, x2=2, f1=0.5, f2=-1)
    arrows = {"x_arrow": ((0, 0), (1, 2)), "f_arrow": ((1, 2), (1.5, 1)), "y_arrow": ((0, 0), (1.5, 1))}
    for name, (start, tip) in {**arrows, "f_lens": ((0, 0), (0.5, -1))}.items():
        shaft = getattr(view, name)
        begin, end = shaft.get_xydata()
        head = view.heads[shaft].get_xy()
        assert begin.tolist() == list(start) and head[0] == pytest.approx(tip)
        way = np.subtract(tip, start)
        across = way[0] * (end - begin)[1] - way[1] * (end - begin)[0]
        assert across == pytest.approx(0, abs=1e-9)  # the shaft leads to the tip
        assert 0 < np.dot(way, end - begin) < np.dot(way, way)  # and ends where the head begins
    view.close()


def test_the_tangent_touches_y_where_its_slopes_say():
    view = views.TwoPaths()
    view.set(point=-0.7, strength=0.9)
    y, tangent = np.array(view.sum.get_data()), np.array(view.tangent.get_data())
    near = np.abs(y[0] + 0.7) < 0.06
    assert near.sum() > 2 and np.allclose(y[1][near], np.interp(y[0][near], *tangent), atol=0.01)
    assert np.allclose(view.sum.get_ydata() - view.change.get_ydata(), view.sum.get_xdata())
    direct, through_f, together = (bar.get_height() for bar in view.bars.bars)
    assert (direct, direct + through_f) == pytest.approx((1, together))
    assert together == pytest.approx(np.diff(tangent[1])[0] / np.diff(tangent[0])[0])
    view.close()


@pytest.mark.parametrize("make", [views.GradientByDepth, views.LearningRate])
def test_each_curve_has_the_name_and_the_look_of_what_it_shows(make):
    view = make()
    assert [line.get_label().split(":")[0] for line in (view.plain, view.with_path)] == ["ohne", "mit"]
    assert view.with_path.get_color() == views.PATH != view.plain.get_color()
    for line, values in ((view.plain, view.result.plain), (view.with_path, view.result.residual)):
        assert np.allclose(line.get_ydata(), np.minimum(values, line.axes.get_ylim()[1]))
    view.close()


# ---- ways in which a reader may write the exercise, right and wrong ----


def careful_on_the_output(x, f):
    y = f(x)
    assert y.shape == x.shape
    y += x
    return y


def careful_with_torch(x, f):
    return torch.stack([x, f(x)]).sum(0)  # torch itself refuses to stack unequal shapes


def careful_with_a_slip(x, f):
    fx = f(x)
    if fx.shape != x.shape:
        raise ValuError("unequal shapes")  # noqa: F821
    return x + fx


def careful_with_the_first_axis(x, f):
    fx = f(x)
    if len(fx) != len(x):
        raise ValueError("unequal shapes")
    return x + fx


def careful_in_words(x, f):
    fx = f(x)
    if fx.shape == x.shape:
        return x + fx
    print("unequal shapes")


WAYS = {
    "check_residual_step": Ways(
        [careful, careful_on_the_output, careful_with_torch],
        [
            (lambda x, f: f(x), "f(x) allein"),
            (in_place, "verändert x selbst"),
            (careful_with_a_slip, "„ValuError“ gibt es nicht"),
            (careful_with_the_first_axis, "(3, 1) wurde neben x"),
            (careful_in_words, "nichts zurück, und niemand wird gewarnt"),
            (lambda x, f: model.residual(x, f(x)), "die Arbeit hat residual gemacht"),
            (lambda x, f: careful(x, f).numpy(), "numpy-Array"),
            (lambda x, f: (careful(x, f),), "Tupel aus 1 Teilen"),
        ],
    ),
}
