"""00_toolbox: what the book takes for granted, each tool against an independent computation."""

import math
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from tests.ways import Ways
from tokenwerk_helpers import model
from tokenwerk_helpers.chapters.toolbox import computation, exercises, questions, views

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "de" / "00_toolbox.ipynb"

numbers = st.integers(-8, 8).map(lambda half: half / 2)
places = st.floats(-4, 4)

# ---- two lists in the plane ----


@given(numbers, numbers, numbers, numbers)
def test_dot_product_lengths_and_angle_are_those_of_complex_numbers(x1, x2, y1, y2):
    """x̄ y has the dot product as its real part and the angle as its argument."""
    result = computation.pair(x1, x2, y1, y2)
    turned = complex(x1, x2).conjugate() * complex(y1, y2)
    assert result.dot == pytest.approx(turned.real)
    assert result.lengths == pytest.approx((abs(complex(x1, x2)), abs(complex(y1, y2))))
    if turned == 0:
        assert result.angle is None and result.cosine is None
    else:
        assert result.angle == pytest.approx(
            abs(math.degrees(math.atan2(turned.imag, turned.real))), abs=1e-5
        )
        assert result.cosine == pytest.approx(math.cos(math.radians(result.angle)), abs=1e-9)


def test_the_page_s_example_by_hand():
    result = computation.pair(2, 1, 1, 3)
    assert result.products.tolist() == [2, 3] and result.dot == 5
    assert result.lengths == pytest.approx((5**0.5, 10**0.5)) and result.angle == pytest.approx(45)


@pytest.mark.parametrize(
    ("lists", "said"),
    [
        ((2, 1, -1, 2), "rechten Winkel"),
        ((2, 1, -1, 1), "entgegengesetzten"),
        ((2, 1, 1, 0), "zur selben Seite"),
        ((0, 0, 1, 3), "keinen Winkel"),
    ],
)
def test_the_sentence_under_the_arrows_says_how_they_stand(lists, said):
    view = views.TwoLists()
    view.set(**dict(zip(("x1", "x2", "y1", "y2"), map(float, lists))))
    assert view.error is None and said in view.caption.value


def test_the_arrows_and_the_arc_are_where_the_lists_point():
    view = views.TwoLists()
    view.set(x1=-3.0, x2=0.5, y1=-1.0, y2=-2.0)
    for line, tip in zip(view.arrows, ((-3, 0.5), (-1, -2))):
        points = np.array(line.get_data()).T
        assert tip in [tuple(point) for point in points] and points[0].tolist() == [0, 0]
    arc = np.array(view.arc.get_data())
    assert np.hypot(*arc) == pytest.approx(view.ARC)
    angles = np.unwrap(np.arctan2(arc[1], arc[0]))
    assert abs(math.degrees(angles[-1] - angles[0])) == pytest.approx(view.result.angle)


# ---- a matrix times a list ----


@given(numbers, numbers, numbers)
def test_rows_and_columns_give_the_product_that_torch_gives(x1, x2, x3):
    expected = F.linear(torch.tensor([x1, x2, x3]), torch.tensor(computation.MATRIX))
    for by_rows, last in ((True, 2), (False, 3)):
        result = computation.product(x1, x2, x3, by_rows, last)
        assert result.y.tolist() == expected.tolist() and result.taken.all()


@pytest.mark.parametrize(("which", "y"), [(1, [2, -2]), (2, [2, 1]), (3, [4, 2]), (9, [4, 2])])
def test_by_columns_y_grows_with_each_column(which, y):
    assert computation.product(2, 1, 1, by_rows=False, which=which).y.tolist() == y


def test_the_sentence_names_the_row_s_sum_and_the_columns_still_missing():
    view = views.MatrixTimesList()
    assert "1 · 2 + 0 · 1 + 2 · 1 = 4" in view.caption.value
    view.set(which=2, x1=-1.0)
    assert "(−1) · (−1) + 3 · 1 + 1 · 1 = 5" in view.caption.value
    assert view.controls["which"].max == 2
    view.set(by_rows=False)
    assert view.controls["which"].max == 3 and "(−1) · [1, −1] + 1 · [0, 3] = [−1, 4]" in view.caption.value
    assert "Spalte 3" in view.caption.value and view.parts.allowed.tolist() == [[True, True, False]] * 2
    view.set(which=3)
    assert "Das ist y" in view.caption.value and view.out.values[0, :, 0].tolist() == [1, 5]


def test_a_click_on_a_row_looks_at_it_when_rows_are_read():
    view = views.MatrixTimesList()
    for matrix in (view.matrix, view.parts, view.out):
        view.reset()
        matrix.selected = 1
        assert view.controls["which"].value == 2 and "Zeile 2" in view.caption.value
        assert view.matrix.selected == view.parts.selected == view.out.selected == 1
    view.set(by_rows=False, which=1)
    view.matrix.selected = 1
    assert view.controls["which"].value == 1


def test_comparing_each_row_with_each_gives_a_square_and_a_sum_takes_an_axis():
    assert computation.shape_of_all_comparisons(5, 3) == (5, 5)
    assert computation.shape_of_row_sums(2, 3) == (2,)


# ---- softmax ----


@given(places, places, places, places)
def test_shares_are_those_of_torch_and_no_shift_changes_them(z1, z2, z3, shift):
    result = computation.shares(z1, z2, z3, shift, hidden=False)
    expected = torch.tensor([z1, z2, z3], dtype=torch.float64).softmax(0).numpy()
    assert result.shares == pytest.approx(expected, abs=1e-12)
    assert result.powers / result.powers.sum() == pytest.approx(expected, abs=1e-12)


@given(places, places, places)
def test_minus_infinity_gets_nothing_and_the_others_share_the_whole(z1, z2, shift):
    result = computation.shares(z1, z2, 0, shift, hidden=True)
    assert result.shares[2] == 0 and result.shares.sum() == pytest.approx(1)
    assert result.shares[0] == pytest.approx(1 / (1 + math.exp(z2 - z1)))  # of two, softmax is a sigmoid


def test_the_softmax_view_says_what_minus_infinity_does():
    view = views.SoftmaxOfThree()
    assert "p = [0.665, 0.245, 0.09]" in view.caption.value
    view.set(hidden=True, shift=1.5)
    assert view.error is None and "genau 0" in view.caption.value
    assert [text.get_text() for text in view.numbers.texts] == ["3.5", "2.5", "−∞"]
    assert view.numbers.bars[2].get_height() == 0


def test_softmax_s_slope_is_p_times_one_minus_p_and_never_more_than_a_quarter():
    for row in torch.linspace(-6, 6, 25, dtype=torch.float64):
        z = torch.stack([row, torch.zeros((), dtype=torch.float64)]).requires_grad_()
        p = z.softmax(0)[0]
        (slope,) = torch.autograd.grad(p, z)
        assert slope[0].item() == pytest.approx((p * (1 - p)).item()) and slope[0] <= 0.25


# ---- downhill ----


@given(st.sampled_from(computation.RATES), st.integers(0, computation.MOST_STEPS), numbers)
def test_a_walk_is_that_of_torch_s_plain_gradient_descent(rate, steps, start):
    w = torch.tensor(start, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=rate)
    for _step in range(steps):
        optimizer.zero_grad()
        (w**2).backward()
        optimizer.step()
    result = computation.descent(rate, steps, start)
    assert result.places[-1] == pytest.approx(w.item()) and len(result.heights) == steps + 1
    assert result.heights == pytest.approx(result.places**2)


@pytest.mark.parametrize("rate", computation.RATES)
def test_the_manner_of_a_rate_is_that_of_its_walk(rate):
    places = computation.descent(rate, 20, 3.0).places
    manner = computation.manner(rate)
    assert (abs(places[-1]) > 3.0001) == (manner == "climbs")
    assert (places[1] < 0) == (manner in ("climbs", "swings", "overshoots"))
    assert math.isclose(abs(places[-1]), 3.0) == (manner == "swings")
    assert (places[1] == 0) == (manner == "lands")
    assert (places[1] > 2.7) == (manner == "slow")


def test_every_rate_has_its_sentence():
    view = views.Downhill()
    said = {}
    for rate in computation.RATES:
        view.set(rate=rate)
        assert view.error is None
        said[computation.manner(rate)] = view.caption.value
    assert set(said) == {"slow", "good", "lands", "overshoots", "swings", "climbs"}
    assert "klettert hinaus" in said["climbs"] and "pendelt" in said["swings"]


# ---- questions and exercises ----


def test_what_eval_changes_is_dropout_alone():
    assert computation.what_eval_changes() == "dropout"


def test_the_gradient_of_the_valley_is_twice_the_place():
    assert computation.gradient_of_valley((1.5, 2.0)) == [3.0, 4.0]


def reader_s_softmax(z):
    powers = torch.exp(z - z.max())
    return powers / torch.sum(powers)


@pytest.mark.parametrize(
    ("softmax", "said"),
    [
        (lambda z: torch.exp(z) / torch.exp(z).sum(), "1000"),
        (lambda z: math.e**z / (math.e**z).sum(), "1000"),
        (reader_s_softmax, "sehr große"),
    ],
)
def test_a_softmax_that_fails_for_large_numbers_is_right_and_told_so(softmax, said):
    feedback = exercises.check_softmax(softmax)
    assert feedback.correct and said in feedback.text


def test_two_right_numbers_in_the_wrong_order_are_told_so():
    reply = questions.guess_product().reply_to([2, 4])
    assert reply.correct is False and "Zahlen stimmen" in reply.text


# ---- what the page says ----


@pytest.fixture(scope="module")
def prose() -> str:
    cells = nbformat.read(NOTEBOOK, as_version=4).cells
    return "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def test_the_table_of_softmax_holds_what_its_formula_gives(prose):
    rows = re.findall(
        r"^\| (?:erste|zweite|dritte) \| (\d) \| ([\d.]+) \| \$([\d.]+) / ([\d.]+) = ([\d.]+)\$ \|$",
        prose,
        re.M,
    )
    total = sum(math.exp(z) for z in (2, 1, 0))
    for z, (written, power, above, below, share) in zip((2, 1, 0), rows, strict=True):
        assert int(written) == z and float(power) == float(above) == round(math.exp(z), 3)
        assert float(below) == round(total, 3) and float(share) == round(math.exp(z) / total, 3)


def test_the_sizes_of_vocabularies_are_those_of_the_models(prose):
    from tokenwerk_helpers.parameters import PRESETS
    from tokenwerk_helpers.pretrained import load

    assert f"kennt {len(load().tokenizer)} Token" in prose
    assert "kennt 50\u202f257" in prose and 50_257 in {preset.vocab_size for preset in PRESETS.values()}


# ---- ways in which a reader may write the exercises, right and wrong ----


def in_place(w, gradient, rate):
    w -= rate * gradient
    return w


WAYS = {
    "check_softmax": Ways(
        [
            lambda z: math.e**z / (math.e**z).sum(),
            lambda z: torch.stack([1 / (z - one).exp().sum() for one in z]),
            reader_s_softmax,
        ],
        [
            (lambda z: z.exp() / 3 if len(z) == 3 else z.exp() / len(z), "Anzahl"),
            (lambda z: 1 / (1 + torch.exp(-z)), "Sigmoid"),
            (lambda z: 2**z / (2**z).sum(), "Zweierpotenzen"),
            (lambda z: z.exp().sum(), "ohne Achsen"),
            (lambda z: F.softmax(z, dim=-1), "die Arbeit hat F.softmax gemacht"),
            (lambda z: torch.softmax(z, dim=-1), "die Arbeit hat torch.softmax gemacht"),
            (lambda z: model.softmax(z[None])[0], "die Arbeit hat model.softmax gemacht"),
            (lambda z: z.softmax(dim=-1), "z.softmax"),
        ],
    ),
    "check_step": Ways(
        [
            lambda w, gradient, rate: w - rate * gradient,
            lambda w, gradient, rate: torch.add(w, gradient, alpha=-rate),
            lambda w, gradient, rate: -(gradient * rate - w),
        ],
        [
            (in_place, "verändert w selbst"),
            (lambda w, gradient, rate: w + rate * gradient, "bergauf"),
            (lambda w, gradient, rate: w - rate, "weiß nichts"),
            (lambda w, gradient, rate: (w - rate * gradient).sum(), "ohne Achsen"),
        ],
    ),
}
