"""02_normalization: the steps, the place of epsilon, who shares a statistic, the sphere, the exercise."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from tests.ways import Ways
from tokenwerk_helpers.chapters.normalization import computation, exercises, questions
from tokenwerk_helpers.chapters.normalization import views as normalization_views
from tokenwerk_helpers.language import ReaderMistake

lists = st.lists(st.floats(-100, 100), min_size=2, max_size=12)
unequal = lists.filter(lambda values: np.std(values) > 0.1)


def listed(tensor: torch.Tensor) -> list[float]:
    return [round(value, 6) for value in tensor.tolist()]


# ---- LayerNorm step by step ----


def test_the_chapters_list_step_by_step():
    """F04: [1, 3] has mean 2, deviations [-1, 1], variance 1, standard deviation 1, result [-1, 1]."""
    done = computation.steps(torch.tensor([1.0, 3.0]), epsilon=0)
    assert (done.mean.item(), done.variance.item(), done.deviation.item()) == (2, 1, 1)
    assert done.deviations.tolist() == done.standardized.tolist() == done.output.tolist() == [-1, 1]


def test_ten_times_the_list_gives_the_same_list():
    """F05: without epsilon [10, 30] becomes [-1, 1] too; with it, almost."""
    tenfold = torch.tensor([10.0, 30.0], dtype=torch.float64)
    assert computation.steps(tenfold, epsilon=0).output.tolist() == [-1, 1]
    protected = computation.steps(tenfold).output
    assert 0 < 1 - protected[1].item() < 1e-6


def test_equal_numbers_are_protected_by_epsilon_under_the_root():
    """F06: [2, 2] has variance 0 and becomes [0, 0]; without epsilon it is 0/0."""
    equal = torch.tensor([2.0, 2.0])
    assert computation.steps(equal).variance.item() == 0
    assert computation.steps(equal).output.tolist() == [0, 0]
    assert computation.steps(equal, epsilon=0).output.isnan().all()
    # Under the root: sigma 0.001 with epsilon 1e-6 leaves 1/sqrt(2); beside it, 0.999 would be left.
    small = torch.tensor([-0.001, 0.001], dtype=torch.float64)
    assert computation.steps(small, epsilon=1e-6).output[1].item() == pytest.approx(1 / math.sqrt(2))


@given(lists, st.floats(1e-6, 1), st.integers(0, 2**31))
def test_the_steps_agree_with_nn_layer_norm(values, epsilon, seed):
    """F07: gamma_i (x_i - mu) / sqrt(sigma^2 + eps) + beta_i is nn.LayerNorm to 1e-6 relative to its size."""
    x = torch.tensor([values, values[::-1]], dtype=torch.float64)
    norm = nn.LayerNorm(len(values), eps=epsilon, dtype=torch.float64)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        norm.weight.normal_(generator=generator)
        norm.bias.normal_(generator=generator)
        found = computation.steps(x, norm.weight, norm.bias, epsilon).output
        assert torch.allclose(found, norm(x), atol=1e-6, rtol=1e-6)


@given(unequal, st.floats(0.1, 50), st.floats(-50, 50))
def test_shift_and_positive_scale_do_not_matter_and_a_negative_scale_turns_the_sign(values, factor, shift):
    x = torch.tensor(values, dtype=torch.float64)
    plain = computation.steps(x, epsilon=0).output
    assert torch.allclose(computation.steps(factor * x + shift, epsilon=0).output, plain, atol=1e-6)
    assert torch.allclose(computation.steps(-factor * x + shift, epsilon=0).output, -plain, atol=1e-6)


def test_the_variance_is_the_biased_one():
    x = torch.tensor([1.0, 3.0, 8.0])
    found = computation.steps(x).variance.item()
    assert found == pytest.approx(x.var(correction=0).item())
    assert found != pytest.approx(x.var().item())


def test_the_output_is_not_confined_to_zero_to_one():
    """F09: one outlier among n numbers reaches sqrt(n - 1), and no number can go further."""
    for n in (2, 5, 12):
        outlier = torch.zeros(n, dtype=torch.float64)
        outlier[-1] = 1
        assert computation.steps(outlier, epsilon=0).output[-1].item() == pytest.approx(math.sqrt(n - 1))


@given(unequal)
def test_no_number_goes_beyond_the_root_of_n_minus_one(values):
    output = computation.steps(torch.tensor(values, dtype=torch.float64), epsilon=0).output
    assert output.abs().max().item() <= math.sqrt(len(values) - 1) + 1e-6


def test_epsilon_must_not_be_negative():
    for epsilon in (-1e-5, math.nan):
        with pytest.raises(ValueError, match="epsilon"):
            computation.steps(torch.ones(2), epsilon=epsilon)


# ---- epsilon under the root ----


@given(st.sampled_from([1e-12, 1e-8, 1e-5, 0.1]), st.sampled_from(computation.DEVIATIONS))
def test_the_epsilon_curve_is_what_layer_norm_does(epsilon, deviation):
    x = torch.tensor([-deviation, deviation], dtype=torch.float64)
    place = computation.epsilon_place(epsilon, deviation)
    expected = F.layer_norm(x, (2,), eps=epsilon)[1].item()
    assert place.under == pytest.approx(expected, rel=1e-9)
    assert place.beside >= place.under * (1 - 1e-12) or deviation + epsilon > math.hypot(
        deviation, epsilon**0.5
    )
    nearest = np.argmin(np.abs(np.log(computation.CURVE / deviation)))
    assert place.curve_under[nearest] == pytest.approx(place.under, abs=1e-6)
    assert place.curve_beside[nearest] == pytest.approx(deviation / (deviation + epsilon), abs=1e-6)


def test_beside_the_root_the_gradient_of_equal_numbers_is_nan_and_under_it_is_not():
    x = torch.tensor([2.0, 2.0], requires_grad=True)
    variance = x.var(correction=0)
    (beside,) = torch.autograd.grad(((x - x.mean()) / (variance.sqrt() + 1e-5))[0], x, retain_graph=True)
    assert beside.isnan().all()
    (under,) = torch.autograd.grad(((x - x.mean()) / (variance + 1e-5).sqrt())[0], x)
    assert torch.allclose(under, torch.tensor([0.5, -0.5]) / 1e-5**0.5)


# ---- who shares a statistic ----


def references(x: torch.Tensor) -> dict[str, torch.Tensor]:
    """PyTorch's own modules on x (B, T, D)."""
    T, D = x.shape[1:]
    batch = nn.BatchNorm1d(D, dtype=x.dtype)  # counts texts and positions as one axis, fresh: in training
    return {
        "layer": nn.LayerNorm(D, dtype=x.dtype)(x),
        "batch": batch(x.flatten(0, 1)).view_as(x),
        "rms": nn.RMSNorm(D, eps=1e-5, dtype=x.dtype)(x),
        "wide": nn.LayerNorm((T, D), dtype=x.dtype)(x),
    }


@pytest.mark.parametrize("name", computation.NORMS)
def test_each_normalization_is_pytorchs(name):
    x = torch.randn(3, 4, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64) + 1
    assert torch.allclose(computation.normalized(x, computation.NORMS[name]), references(x)[name], atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_a_changed_position_moves_no_other_position(seed):
    """F08: texts and positions share no statistic in LayerNorm; in BatchNorm they do."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(3, 4, 5, generator=generator, dtype=torch.float64)
    changed = x.clone()
    changed[1, 2] = torch.randn(5, generator=generator, dtype=torch.float64)
    moved = {
        name: (computation.normalized(x, norm) - computation.normalized(changed, norm)).abs().amax(-1) > 1e-9
        for name, norm in computation.NORMS.items()
    }  # (B, T)
    only = torch.zeros(3, 4, dtype=torch.bool)
    only[1, 2] = True
    assert torch.equal(moved["layer"], only) and torch.equal(moved["rms"], only)
    assert moved["wide"][1].all() and not moved["wide"][[0, 2]].any()
    assert moved["batch"].all()


@given(
    st.sampled_from(list(computation.NORMS)),
    st.integers(1, computation.TEXTS),
    st.integers(1, computation.POSITIONS),
    st.integers(1, computation.WIDTH),
)
def test_the_lit_cells_are_those_whose_change_reaches_the_statistic(name, text, position, component):
    """Found independently: a cell shares the statistic if the chosen output's gradient reaches it."""
    result = computation.sharing(name, text, position, component, 0.0)
    x = torch.randn(result.x.shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    x.requires_grad_()
    (gradient,) = torch.autograd.grad(references(x)[name][result.cell], x)
    assert torch.equal(gradient.abs() > 1e-9, result.shares)
    members = result.x[result.shares]
    assert result.mean == pytest.approx(members.mean().item() if name != "rms" else 0.0)
    assert result.scale == pytest.approx((members.square().mean() - result.mean**2).item())


def test_what_moves_in_the_view_is_what_moves_in_pytorch():
    for name in computation.NORMS:
        before, after = (computation.sharing(name, 2, 2, 3, change) for change in (0.0, 2.0))
        difference = (references(after.x)[name] - references(before.x)[name]).abs()
        assert torch.allclose(after.moved, difference, atol=1e-9)


def test_a_click_on_a_cell_chooses_it():
    explorer = normalization_views.SharedStatistic()
    for cell in ((2, 3, 4), (1, 1, 2), (2, 3, 0)):  # hidden, lit and hidden again
        explorer.before._handle_custom_msg({"click": list(cell)}, [])
        assert explorer.result.cell == cell, explorer.message.value
        assert (explorer.before.allowed == explorer.result.shares.numpy()).all()
        assert tuple(explorer.before.marked) == tuple(explorer.after.marked) == cell


# ---- the sphere ----


@given(st.integers(2, 64), st.floats(0.01, 100), st.floats(-100, 100), st.floats(1e-8, 0.1))
def test_layer_norm_lays_lists_on_a_sphere_in_the_plane_of_mean_zero(width, spread, level, epsilon):
    """The length is sqrt(D) sigma / sqrt(sigma^2 + epsilon), the sum is zero."""
    generator = torch.Generator().manual_seed(width)
    x = spread * torch.randn(20, width, generator=generator, dtype=torch.float64) + level
    y = F.layer_norm(x, (width,), eps=epsilon)
    sigma = x.std(-1, correction=0)
    assert torch.allclose(y.norm(dim=-1), math.sqrt(width) * sigma / (sigma**2 + epsilon).sqrt(), rtol=1e-6)
    assert y.sum(-1).abs().max() < 1e-6


def test_the_picture_of_the_sphere_ends_where_layer_norm_ends():
    for width in (2, 3):
        end = computation.sphere(width, "layer", 2.0, 0)
        expected = F.layer_norm(torch.tensor(end.start), (width,)).numpy()
        assert np.allclose(end.points, expected)
        assert np.allclose(computation.sphere(width, "layer", 0.0, 0).points, end.start)
        flat = computation.sphere(width, "layer", 1.0, 0)
        assert flat.largest_mean < 1e-12
        assert np.allclose(flat.points, end.start - end.start.mean(axis=1, keepdims=True))
    assert len(np.unique(computation.sphere(2, "layer", 2.0, 0).points.round(1), axis=0)) == 2


def test_rms_norm_keeps_its_first_step_and_ends_on_the_whole_sphere():
    assert np.allclose(
        computation.sphere(3, "rms", 1.0, 0).points, computation.sphere(3, "rms", 0.0, 0).points
    )
    end = computation.sphere(3, "rms", 2.0, 0)
    assert np.allclose(end.lengths, math.sqrt(3), atol=1e-3) and end.largest_mean > 0.5


def test_the_screen_keeps_lengths_across_the_line_of_sight_and_shows_the_plane_from_its_edge_at_90_degrees():
    for turn in (0, 30, 65, 90):
        to_screen = computation.screen(3, turn)
        assert np.allclose(to_screen.T @ to_screen, np.eye(2))
        seen = np.linalg.norm(np.ones(3) @ to_screen)
        assert seen == pytest.approx(math.sqrt(3) * math.sin(math.radians(turn)), abs=1e-12)
    on_the_circle = computation.plane_circle(3, 1.0)
    assert np.allclose(on_the_circle.sum(axis=1), 0) and np.allclose(np.linalg.norm(on_the_circle, axis=1), 1)
    assert np.allclose((on_the_circle @ computation.screen(3, 90))[:, 1], 0)


# ---- the live views ----

CHAPTER = {"epsilon": 0, "gamma": 1, "beta": 0}


def positions_of(control):
    """Every position of a control, or five spread over its range, the ends among them."""
    if getattr(control, "options", None):
        return [option[1] if isinstance(option, tuple) else option for option in control.options]
    if hasattr(control, "min"):
        steps = round((control.max - control.min) / control.step)
        return [control.min + control.step * (steps * i // 4) for i in range(5)]
    return ["[1, 3]", "2 7 1 8; 2 8", "[5]", "[-1.5, 0, 1e-3]", "[1,2,3,4,5,6,7,8,9,10,11,12]", "[0, 0]"]


def shown(explorer) -> tuple:
    """What is on the page: pictures or numbers, and the caption."""
    views = [view for row in explorer.rows for view in row]
    pictures = [
        v.pixels.tobytes() if hasattr(v, "pixels") else (v.values.tobytes(), v.allowed.tobytes())
        for v in views
    ]
    return tuple(pictures), explorer.caption.value


@pytest.mark.parametrize(
    "make",
    [
        lambda: normalization_views.Statistics([1, 3], **CHAPTER),
        lambda: normalization_views.Statistics([2, 7, 1, 8, 2, 8]),
        normalization_views.EpsilonUnderRoot,
        normalization_views.SharedStatistic,
        normalization_views.OnTheSphere,
    ],
)
def test_every_control_moves_picture_and_caption_over_its_range_and_reset_brings_them_back(make):
    explorer = make()
    start = shown(explorer)
    for name, control in explorer.controls.items():
        seen = set()
        if name == "which":
            explorer.set(gamma=2, beta=1)  # else it has nothing to act on
        for position in positions_of(control):
            explorer.set(**{name: position})
            assert explorer.error is None, (name, position, explorer.message.value)
            assert "{" not in explorer.caption.value
            seen.add(shown(explorer))
        assert len(seen) == len({caption for _, caption in seen}) == len(set(positions_of(control))), name
        explorer.reset()
    assert shown(explorer) == start


def test_fixed_settings_have_no_control():
    assert list(normalization_views.Statistics([1, 3], **CHAPTER).controls) == ["values", "factor", "shift"]
    with pytest.raises(TypeError):
        normalization_views.Statistics([1, 3], nonsense=1)


def test_the_bars_are_as_high_as_the_numbers():
    explorer = normalization_views.Statistics([1, 3], **CHAPTER)
    explorer.set(factor=10.0, shift=5)
    assert [bar.get_height() for bar in explorer.x_bars.bars] == [15, 35]
    assert [bar.get_height() for bar in explorer.out_bars.bars] == [-1, 1]
    assert list(explorer.mean.get_ydata()) == [25, 25]
    assert explorer.band.get_y() == 15 and explorer.band.get_height() == 20
    top = explorer.x_bars.bars[0].axes.get_ylim()[1]
    assert top > 35


def test_the_sentence_tells_the_cases_apart():
    explorer = normalization_views.Statistics([1, 3])
    assert "Mittelwert 2, Varianz 1, Standardabweichung 1" in explorer.caption.value
    assert "[−1, 1]" in explorer.caption.value and "γ" not in explorer.caption.value
    explorer.set(factor=0.0)
    assert (
        "hält die Wurzel von der Null fern" in explorer.caption.value and "[0, 0]" in explorer.caption.value
    )
    explorer.set(epsilon=0.0)
    assert "0/0" in explorer.caption.value and "nan" in explorer.caption.value
    assert [text.get_text() for text in explorer.out_bars.texts] == ["0/0", "0/0"]
    explorer.set(factor=0.1, epsilon=0.1)
    assert "ε nicht mehr klein" in explorer.caption.value
    explorer.set(factor=1.0, gamma=2, beta=1, which="first", epsilon=0.0)
    assert "in der ersten Komponente: [−1, 1]" in explorer.caption.value
    explorer.set(which="all", gamma=3)
    assert "in jeder Komponente: [−2, 4]" in explorer.caption.value


@pytest.mark.parametrize(
    "typed", ["", "[]", "1, drei", "[1e5]", "nan, 1", "inf", "1 " * 13, "$x$", "<b>1</b>"]
)
def test_a_list_that_cannot_be_used_gets_a_message_and_changes_nothing(typed):
    explorer = normalization_views.Statistics([1, 3])
    before = explorer.caption.value
    explorer.set(values=typed)
    assert isinstance(explorer.error, ReaderMistake) and explorer.message.value
    assert explorer.caption.value == before
    explorer.set(values="[−1, 3]")  # a real minus sign, as typeset texts have it
    assert explorer.error is None and explorer.message.value == "" and "x = [−1, 3]" in explorer.caption.value


def test_the_sentence_about_sharing_counts_cells_and_positions():
    """F08: seen in the caption."""
    explorer = normalization_views.SharedStatistic()
    assert "in 5 von 60 Zellen, an 1 von 12 Positionen. Keine andere Position" in explorer.caption.value
    explorer.set(norm="batch")
    assert "in 12 von 60 Zellen, an 12 von 12 Positionen." in explorer.caption.value
    assert "Keine andere" not in explorer.caption.value
    explorer.set(norm="wide")
    assert "in 20 von 60 Zellen, an 4 von 12 Positionen." in explorer.caption.value
    explorer.set(change=0.0)
    assert "bewegt sich nichts" in explorer.caption.value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (2.0, "2"),
        (1.0005, "1"),
        (0.0031622, "0.003162"),
        (1e-5, "10⁻⁵"),
        (3.2e-7, "3.2·10⁻⁷"),
        (-0.5, "−0.5"),
    ],
)
def test_numbers_of_any_size_are_written_short(value, text):
    assert normalization_views.compact(value) == text


def test_a_list_of_small_numbers_does_not_read_as_zeros():
    assert normalization_views.listed([0.01, 0.03]) == "[0.01, 0.03]"
    assert normalization_views.listed([0.0001, 0.0003]) == "[0.0001, 0.0003]"
    assert normalization_views.listed([0, 0]) == "[0, 0]"
    assert normalization_views.listed([2 / 3, -10]) == "[0.67, −10]"


# ---- questions and the exercise ----


def test_the_guesses_know_right_from_wrong():
    tenfold, largest, two = questions.guess_scale(), questions.guess_largest(), questions.guess_two_points()
    assert tenfold.reply_to([-1, 1]).correct and largest.reply_to(2).correct and two.reply_to(2).correct
    assert all(tenfold.reply_to(answer).correct is False for answer in ([-10, 10], [1], [0, 1], [10, 30]))
    assert all(largest.reply_to(answer).correct is False for answer in (1, 0.8, 2.5, -2))
    assert all(two.reply_to(answer).correct is False for answer in (1, 3, 200))
    deviation = questions.guess_deviation()
    assert deviation.reply_to(1.41).correct and deviation.reply_to(2**0.5).correct
    assert len({deviation.reply_to(wrong).text for wrong in (1, 2, 0.7)}) == 3
    for guess in (questions.guess_epsilon(), questions.guess_moving()):
        replies = [guess.reply_to(option).correct for option in range(len(guess.options))]
        assert replies == [option == 1 for option in range(len(guess.options))]


def test_the_options_about_epsilon_are_under_the_root_beside_it_and_without_the_root():
    view = computation.epsilon_place(1e-5, 1e-3)
    meant = (view.beside, view.under, view.under**2)
    assert meant == pytest.approx([option.value for option in questions.guess_epsilon().options], abs=0.005)


def test_every_question_can_be_asked_and_answered_on_the_page():
    answers = {
        questions.guess_scale: "[−1, 1]",
        questions.guess_deviation: "1.4142",
        questions.guess_epsilon: 1,
        questions.guess_largest: "2",
        questions.guess_moving: 1,
        questions.guess_two_points: "2",
    }
    for make, answer in answers.items():
        guess = make()
        assert guess.judge().correct is None
        guess.answer.value = answer
        assert guess.judge().correct is True, make.__name__


def good(x, gamma, beta, eps):
    mean = x.mean(-1, keepdim=True)
    variance = (x - mean).square().mean(-1, keepdim=True)
    return gamma * (x - mean) / (variance + eps).sqrt() + beta


def attempt(dim=-1, correction=0, eps_at="under", gamma_on=True, beta_on=True, centre=True):
    """A LayerNorm as a reader may write it, with the usual slips."""

    def layer_norm(x, gamma, beta, eps):
        mean, variance = x.mean(dim, keepdim=True), x.var(dim, correction=correction, keepdim=True)
        below = {
            "under": (variance + eps).sqrt(),
            "beside": variance.sqrt() + eps,
            "nowhere": variance.sqrt(),
            "fixed": (variance + 1e-5).sqrt(),
            "unrooted": variance + eps,
        }[eps_at]
        y = (x - mean if centre else x) / below
        y = gamma * y if gamma_on else y
        return y + beta if beta_on else y

    return layer_norm


def in_place(x, gamma, beta, eps):
    x -= x.mean(-1, keepdim=True)
    return gamma * x / (x.square().mean(-1, keepdim=True) + eps).sqrt() + beta


@pytest.mark.parametrize(
    ("function", "word"),
    [
        (attempt(correction=1), "n − 1"),
        (attempt(eps_at="beside"), "neben der Wurzel"),
        (attempt(eps_at="nowhere"), "Epsilon fehlt"),
        (attempt(eps_at="fixed"), "fest eingetragen"),
        (attempt(eps_at="unrooted"), "Varianz statt durch ihre Wurzel"),
        (attempt(gamma_on=False), "Gamma fehlt"),
        (attempt(beta_on=False), "Beta fehlt"),
        (attempt(centre=False), "Über dem Bruchstrich"),
        (attempt(dim=-2), "falsche Achse"),
        (attempt(dim=0), "falsche Achse"),
        (attempt(dim=(0, 1)), "falsche Achse"),
        (attempt(dim=(-2, -1)), "falsche Achse"),
        (attempt(dim=(0, 1, 2)), "falsche Achse"),
        (lambda x, g, b, e: g * (good(x, 1, 0, e) + b), "bevor Gamma"),
        (lambda x, g, b, e: F.rms_norm(x, (5,), g, e) + b, "Über dem Bruchstrich"),
        (lambda x, g, b, e: x * math.nan, "nan"),
        (lambda x, g, b, e: x, "Formel"),
        (lambda x, g, b, e: 3, "Tensor"),
        (lambda x, g, b, e: x.mean(-1), "Form von x"),
        (lambda x, g, b, e: x - x.mean(-1), "keepdim"),
        (lambda x, g, b, e: x.nonsense, "AttributeError"),
        (attempt(dim=2), "einzelne Liste"),
        (in_place, "verändert x"),
    ],
)
def test_the_exercise_names_the_broken_property(function, word):
    feedback = exercises.check_layer_norm(function)
    assert feedback.correct is False and word in feedback.text


def test_two_slips_are_both_named():
    text = exercises.check_layer_norm(attempt(correction=1, beta_on=False)).text
    assert "n − 1" in text and "Beta fehlt" in text and "Gamma" not in text


def test_the_exercise_accepts_right_answers_and_waits_for_an_attempt():
    assert exercises.check_layer_norm(good).correct
    assert exercises.check_layer_norm(lambda x, g, b, e: ...).correct is None
    assert exercises.check_layer_norm(lambda x, g, b, e: None).correct is None


def test_every_recipe_gives_another_result_so_a_diagnosis_is_unambiguous():
    """One slip each: no two of them can be taken for each other, or for the right answer."""
    x, gamma, beta = exercises.example()
    single = [recipe for recipe in exercises.recipes() if len(exercises.mistakes(recipe)) <= 1]
    results = [recipe(x, gamma, beta, exercises.EPSILON) for recipe in single]
    assert exercises.mistakes(single[0]) == []
    assert torch.allclose(results[0], good(x, gamma, beta, exercises.EPSILON), atol=1e-6)
    for i, one in enumerate(results):
        for other in results[:i]:
            assert not torch.allclose(one, other, atol=1e-3)


@pytest.mark.parametrize(
    ("value", "digits", "text"), [(1234.5, 3, "1234"), (12345.0, 4, "12345"), (-99999.6, 4, "−100000")]
)
def test_a_number_with_more_digits_than_asked_for_is_written_out(value, digits, text):
    assert normalization_views.compact(value, digits) == text


def test_an_error_after_a_click_on_a_cell_is_shown(monkeypatch):
    view = normalization_views.SharedStatistic()
    monkeypatch.setattr(view, "show", lambda _result: 1 / 0)
    view.before._handle_custom_msg({"click": [0, 0, 0]}, [])
    assert view.error is not None and view.message.value


# ---- ways in which a reader may write the exercise, right and wrong ----


def norm_by_steps(x, gamma, beta, eps):
    centred = x - x.mean(-1, keepdim=True)
    return gamma * centred / (centred.square().mean(-1, keepdim=True) + eps).sqrt() + beta


def norm_by_var(x, gamma, beta, eps):
    return (x - x.mean(-1, keepdim=True)) * torch.rsqrt(x.var(-1, False, keepdim=True) + eps) * gamma + beta


def norm_by_loop(x, gamma, beta, eps):
    rows = [norm_by_var(row, gamma, beta, eps) for row in x.reshape(-1, x.shape[-1])]
    return torch.stack(rows).view_as(x)


def torch_norm(x, gamma, beta, eps):
    return F.layer_norm(x, x.shape[-1:], gamma, beta, eps)


def torch_norm_module(x, gamma, beta, eps):
    norm = torch.nn.LayerNorm(x.shape[-1], eps=eps, dtype=x.dtype)
    norm.load_state_dict({"weight": gamma, "bias": beta})
    return norm(x)


def native_norm(x, gamma, beta, eps):
    return torch.native_layer_norm(x, x.shape[-1:], gamma, beta, eps)[0]


WAYS = {
    "check_layer_norm": Ways(
        [norm_by_steps, norm_by_var, norm_by_loop],
        [
            (torch_norm, "die Arbeit hat F.layer_norm gemacht"),
            (torch_norm_module, "die Arbeit hat F.layer_norm gemacht"),
            (native_norm, "die Arbeit hat torch.native_layer_norm gemacht"),
            (lambda x, g, b, e: torch.layer_norm(x, x.shape[-1:], g, b, e), "hat torch.layer_norm gemacht"),
            (lambda x, g, b, e: norm_by_steps(x, g, b, e).numpy(), "numpy-Array"),
            (lambda x, g, b, e: x.mean(), "ohne Achsen"),
        ],
    ),
}
