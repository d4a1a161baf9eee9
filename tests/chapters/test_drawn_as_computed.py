"""What stands in a picture is what it says it is: drawn curves, points and cells, computed another way."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tokenwerk_helpers.chapters.block import views as block
from tokenwerk_helpers.chapters.decoder import views as decoder
from tokenwerk_helpers.chapters.embeddings import views as embeddings
from tokenwerk_helpers.chapters.mlp import views as mlp
from tokenwerk_helpers.chapters.norm_placement import views as norm_placement
from tokenwerk_helpers.chapters.normalization import views as normalization
from tokenwerk_helpers.chapters.parameter_counting import views as parameter_counting
from tokenwerk_helpers.chapters.sampling import views as sampling
from tokenwerk_helpers.chapters.self_attention import views as self_attention
from tokenwerk_helpers.chapters.training import views as training
from tokenwerk_helpers.chapters.training.computation import Curve


@pytest.fixture
def made():
    """Make a live view with these settings; it is closed in the end."""
    views = []

    def make(view, **settings):
        views.append(view())
        views[-1].set(**settings)
        return views[-1]

    yield make
    for view in views:
        view.close()


def test_03_the_points_lie_on_relu_gelu_and_the_gap_between_its_forms(made):
    view = made(mlp.ActivationCurves, x=1.5)
    x = torch.tensor(1.5, dtype=torch.float64)
    gap = 1000 * (F.gelu(x, approximate="tanh") - F.gelu(x)).item()
    drawn = [line.get_xydata()[0].tolist() for line in (view.relu, view.gelu, view.gap)]
    assert drawn == [pytest.approx((1.5, y)) for y in (1.5, F.gelu(x).item(), gap)]


def test_03_more_hidden_units_move_the_fit_towards_the_wanted_curve_which_stays(made):
    view = made(mlp.CurveFit, target="line", hidden=1)
    wanted, few = view.target.get_ydata(), view.fitted.get_ydata()
    assert np.allclose(np.diff(wanted, 2), 0, atol=1e-6), "no line"
    view.set(hidden=64)
    assert np.array_equal(view.target.get_ydata(), wanted)
    assert np.abs(view.fitted.get_ydata() - wanted).max() < np.abs(few - wanted).max()


def test_02_the_curves_of_epsilon_are_those_of_their_names(made):
    view = made(normalization.EpsilonUnderRoot, epsilon=1e-3)
    under, beside = (line.get_xydata().T for line in (view.under, view.beside))
    assert np.allclose(under[1], under[0] / np.sqrt(under[0] ** 2 + 1e-3))
    assert np.allclose(beside[1], beside[0] / (beside[0] + 1e-3))
    for point, curve in ((view.here, under), (view.there, beside)):
        x, y = point.get_xydata()[0]
        assert y == pytest.approx(np.interp(x, *curve), abs=1e-3)


def test_02_above_stand_the_numbers_and_below_how_far_their_layer_norm_moves(made):
    view = made(normalization.SharedStatistic, text=1, position=2, component=3, change=0)
    before = view.before.values.copy()
    view.set(change=2)
    changed = np.zeros_like(before)
    changed[0, 1, 2] = 2
    assert np.allclose(view.before.values, before + changed, atol=1e-6)
    norm = nn.LayerNorm(before.shape[-1])
    with torch.no_grad():
        moved = norm(torch.tensor(before + changed)) - norm(torch.tensor(before))
    assert np.allclose(view.after.values, moved.abs(), atol=1e-5)


def test_04_each_head_has_its_columns_and_merged_again_they_stand_where_they_stood(made):
    view = made(self_attention.SplitHeads, heads=3)
    (before,), split, (after,) = (one.values for one in (view.before, view.split, view.after))
    assert np.array_equal(before, 100 * np.arange(1, 5)[:, None] + np.arange(1, 13))
    assert np.array_equal(np.concatenate(split, axis=1), before) and np.array_equal(after, before)


def test_08_the_first_and_highest_bar_is_the_token_that_is_appended_next(made):
    view = made(decoder.Generation, steps=1)
    heights = [bar.get_height() for bar in view.bars.bars]
    assert heights == sorted(heights, reverse=True) and 0 <= heights[-1] < heights[0] <= 1
    first = view.bars.texts[0].get_text().partition("\n")[0].replace("␣", " ")
    written = view.caption.value.partition("|")[2].partition("\n")[0]
    view.set(steps=2)
    assert view.caption.value.partition("|")[2].startswith(written + first + "\n")


def test_07_the_curve_is_the_cosine_of_the_chosen_row_with_each_row_above_it(made):
    view = made(embeddings.PositionTables, position=50)
    table = view.matrix.values[0].astype(float)  # (T, D)
    lengths = np.linalg.norm(table, axis=1)
    cosines = table @ table[50] / (lengths * lengths[50])
    assert np.allclose(view.curve.get_xydata(), np.stack([np.arange(len(table)), cosines], axis=1), atol=1e-5)


def test_06_the_marks_are_what_was_before_dropout_and_the_run_in_eval_mode(made):
    view = made(block.DropoutRuns)
    for line, name in ((view.before, "before"), (view.quiet, "quiet_y")):
        assert np.allclose(line.get_ydata(), getattr(view.result, name))
    assert not np.allclose(view.result.before, view.result.quiet_y)


def test_09_the_point_lies_on_the_curve_of_shares(made):
    view = made(parameter_counting.LeftOut)
    widths, shares = view.line.get_data()
    x, y = view.here.get_xydata()[0]
    assert np.log(y) == pytest.approx(np.interp(np.log(x), np.log(widths), np.log(shares)), abs=0.01)


def test_11_losses_of_the_training_and_of_unseen_stories_have_their_own_curves(made):
    view = made(training.LiveTraining)
    view.show(Curve(0, 0.003, [1, 2, 3], [6.0, 5.0, 4.5], [1, 3], [6.5, 5.5]))
    assert view.train.get_xydata().tolist() == [[1, 6], [2, 5], [3, 4.5]]
    assert view.validation.get_xydata().tolist() == [[1, 6.5], [3, 5.5]]


def test_02_each_way_leads_from_a_start_to_where_x_is_now(made):
    view = made(normalization.OnTheSphere)
    ways = np.array(view.ways.get_segments())
    assert np.allclose(ways[:, 0], view.starts.get_xydata())
    assert np.allclose(ways[:, 1], view.points.get_xydata())
    assert not np.allclose(ways[:, 0], ways[:, 1])


def test_06_the_stream_begins_as_long_as_the_first_bar_of_its_position(made):
    view = made(block.ResidualStream)
    begins = []
    for position in (1, 3):
        view.set(position=position)
        begins.append(view.stream.get_ydata()[0])
        assert begins[-1] == pytest.approx(view.bars.bars[0].get_height())
    assert begins[0] != begins[1]


def test_06b_each_gradient_is_drawn_at_its_block_under_the_name_of_its_norm(made):
    view = made(norm_placement.GradientsAtStart)
    for norm, curve in view.lines.items():
        wanted = np.clip(view.result.gradients[norm], *view.axes.get_ylim())
        assert curve.get_xydata().T.tolist() == [list(range(1, len(wanted) + 1)), pytest.approx(wanted)]
        assert curve.get_label() == norm_placement.arrangement_names()[norm]


def test_10_the_bars_begin_with_the_most_probable_token(made):
    heights = [bar.get_height() for bar in made(sampling.Loop).bars.bars]
    assert heights == sorted(heights, reverse=True) and heights[0] > heights[-1]
