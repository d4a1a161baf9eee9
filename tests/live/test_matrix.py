"""MatrixView in Python: what it accepts, what it sends, and the still twin."""

import io
import re
import warnings
from decimal import ROUND_HALF_EVEN, Decimal
from unittest.mock import patch

import numpy as np
import pytest
import torch
import traitlets
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from matplotlib import rc_context
from matplotlib.colors import ListedColormap, Normalize, TwoSlopeNorm
from PIL import Image

from tokenwerk_helpers.live import style
from tokenwerk_helpers.live.matrix import MatrixView, colour_index, fixed, spoken
from tokenwerk_helpers.live.matrix_still import Layout, Still

TOKENS = ["Der", "Bär", "gibt", "der", "der"]
CAUSAL = np.tril(np.ones((5, 5), bool))


def weights(n: int = 1, size: int = 5) -> np.ndarray:
    """Some rows of weights that sum to 1.  # (n, size, size)"""
    raw = np.random.default_rng(0).random((n, size, size)).astype(np.float32)
    return raw / raw.sum(-1, keepdims=True)


def pixels(view: MatrixView, scale: float = 2.0) -> np.ndarray:
    """The still as an array.  # (height, width, 3)"""
    return np.asarray(view.still(scale))


def cell_pixels(view: MatrixView, row: int, column: int, panel: int = 0, scale: float = 2.0) -> np.ndarray:
    """The inner part of a cell of the still.  # (height, width, 3)"""
    layout = Layout(view, 680)
    x, y = layout.place(panel)
    left, top = x + (column + 0.2) * layout.cell, y + (row + 0.2) * layout.cell
    size = 0.6 * layout.cell
    rows = slice(round(top * scale), round((top + size) * scale))
    return pixels(view, scale)[rows, round(left * scale) : round((left + size) * scale)]


# ---- what travels ----


def test_values_travel_as_float32_bytes_with_their_shape():
    values = weights(3)
    wire = MatrixView(values).get_state("values")["values"]
    assert wire["shape"] == [3, 5, 5]
    assert bytes(wire["data"]) == values.astype("<f4").tobytes()


def test_a_matrix_becomes_one_panel_and_a_mask_travels_as_bytes():
    state = MatrixView(weights()[0], allowed=CAUSAL).get_state()
    assert state["values"]["shape"] == [1, 5, 5]
    assert state["allowed"]["shape"] == [5, 5]
    assert bytes(state["allowed"]["data"]) == CAUSAL.astype(np.uint8).tobytes()


@pytest.mark.parametrize("give", [torch.from_numpy, np.ndarray.tolist, np.asfortranarray, np.float64])
def test_whatever_numpy_can_read_will_do(give):
    values = weights(2)
    np.testing.assert_array_equal(MatrixView(give(values)).values, values)


def test_half_precision_of_either_kind_will_do():
    values = torch.tensor([[0.5, -1.25], [3.0, torch.inf]])
    for kind in (torch.float16, torch.bfloat16):
        np.testing.assert_array_equal(MatrixView(values.to(kind)).values[0], values)


@pytest.mark.parametrize(
    "kind",
    [
        lambda tensor: tensor.clone().requires_grad_(),
        lambda tensor: tensor.to_sparse(),
        lambda tensor: tensor.to(torch.bfloat16),
        lambda tensor: tensor.to(torch.float8_e4m3fn).requires_grad_(),
        lambda tensor: list(tensor.clone().requires_grad_()),
    ],
    ids=["with gradients", "sparse", "bfloat16", "float8", "a list of rows"],
)
def test_a_tensor_of_any_kind_will_do(kind):
    tensor = torch.tensor([[0.0, 1.5], [-2.0, 0.0]])
    np.testing.assert_array_equal(MatrixView(kind(tensor)).values[0], tensor.numpy())
    assert MatrixView(tensor, allowed=(tensor > 0).to_sparse()).allowed.tolist() == [
        [False, True],
        [False, False],
    ]


@pytest.mark.parametrize("shape", [(1000, 1000), (513, 1), (1, 513), (65, 2, 2), (2, 512, 512)])
def test_more_than_a_page_has_room_for_is_refused_by_name(shape):
    with pytest.raises(ValueError, match=rf"{re.escape(str(shape))} are too many to see: at most .*512"):
        MatrixView(np.zeros(shape))
    view = MatrixView(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="too many"):
        view.update(values=np.zeros(shape))
    assert view.values.shape == (1, 2, 2)


def test_the_largest_values_become_a_still_that_fits_a_page():
    assert MatrixView(np.zeros((64, 1, 512))).still().width < 4000


def test_labels_fall_back_to_numbers_and_a_square_matrix_shares_those_of_its_rows():
    assert MatrixView(weights(), rows=TOKENS).columns == TOKENS
    assert MatrixView(np.zeros((2, 3)), rows=["a", "b"]).columns == ["1", "2", "3"]
    assert MatrixView(np.zeros((2, 2))).rows == ["1", "2"]


def test_labels_keep_every_letter_but_make_white_space_visible():
    view = MatrixView(np.zeros((4, 1)), rows=["<b>", "$x$", "a\nb\t", "\ud83d"])
    assert view.rows == ["<b>", "$x$", "a⏎b⇥", "?"]


def test_labels_show_what_leaves_no_ink_and_keep_the_narrow_spaces_of_a_number():
    rows = ["\u3164", "a\u202eb", "❤\ufe0f", " ", "124\u202f439", "two words", ""]
    shown = ["‹U+3164›", "a‹U+202E›b", "❤‹U+FE0F›", "␣", "124\u202f439", "two words", ""]
    assert MatrixView(np.zeros((7, 1)), rows=rows).rows == shown


def test_the_view_keeps_its_own_copy_of_the_numbers():
    values, mask = weights(), CAUSAL.copy()
    view = MatrixView(values, allowed=mask)
    values[:], mask[:] = 7, False
    assert view.values.max() <= 1
    assert view.allowed.any()
    with pytest.raises(ValueError, match="read-only"):
        view.values[0, 0, 0] = 7


# ---- mistakes ----


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        ({"values": np.zeros(5)}, r"shape \(R, C\) or \(n, R, C\), not \(5,\)"),
        ({"values": np.zeros((0, 5))}, r"not \(0, 5\)"),
        ({"values": np.zeros((2, 2), complex)}, "real numbers"),
        ({"values": [["a"]]}, "real numbers"),
        ({"values": np.zeros((6, 6)), "allowed": None}, "5 rows given, but the values need 6"),
        ({"rows": TOKENS[:3]}, "3 rows given, but the values need 5"),
        ({"rows": "Bär"}, "list of texts"),
        ({"columns": ["a"] * 6}, "6 columns given"),
        ({"titles": ["a", "b"]}, "2 titles given, but the values need 1"),
        ({"allowed": CAUSAL[:4]}, r"allowed has the shape \(4, 5\), but the values have \(5, 5\)"),
        ({"allowed": CAUSAL.astype(float)}, "allowed must be boolean"),
        ({"limits": (1, 0)}, "limits"),
        ({"limits": (0, np.inf)}, "limits"),
    ],
)
def test_a_mistake_is_named_and_changes_nothing(mistake, words):
    view = MatrixView(weights(), rows=TOKENS, allowed=CAUSAL)
    before = view.get_state()
    with pytest.raises(ValueError, match=words):
        view.update(**mistake)
    assert view.get_state() == before
    view.update(values=weights(), rows=TOKENS)  # the next right thing works
    with pytest.raises(ValueError, match=words):
        MatrixView(**{"values": weights(), "rows": TOKENS} | mistake)


def test_a_name_that_is_no_trait_is_refused():
    view = MatrixView(weights())
    with pytest.raises(TypeError, match="vaules"):
        view.update(vaules=weights())
    with pytest.raises(TypeError, match="_appearance"):
        view.update(_appearance={})


def test_a_wrong_choice_leaves_the_values_as_they_were():
    view = MatrixView(weights())
    with pytest.raises(traitlets.TraitError):
        view.update(values=weights() * 2, kind="rainbow")
    np.testing.assert_array_equal(view.values, weights())


def test_traits_set_one_by_one_keep_to_the_same_rules():
    view = MatrixView(weights(), rows=TOKENS)
    view.values = weights()[0] / 2
    assert view.values.shape == (1, 5, 5)
    for name, value in {"values": np.zeros((4, 4)), "allowed": CAUSAL[:3], "rows": ["a"]}.items():
        with pytest.raises(ValueError):
            setattr(view, name, value)
    with pytest.raises(ValueError, match="boolean"):
        view.allowed = CAUSAL.astype(np.float32)


def test_labels_set_one_by_one_stay_when_new_values_come():
    view = MatrixView(np.eye(2), rows=["a", "b"])
    view.rows = ["x", "y"]
    view.update(values=np.ones((2, 2)))
    assert view.rows == view.columns == ["x", "y"]
    view.columns = ["p", "q"]
    view.update(values=np.zeros((2, 2)))
    assert (view.rows, view.columns) == (["x", "y"], ["p", "q"])
    view.update(values=np.zeros((3, 1)), rows=None, columns=None)
    assert (view.rows, view.columns) == (["1", "2", "3"], ["1"])
    view.update(values=np.zeros((1, 1)))  # numbers that stood in go on standing in
    assert view.rows == view.columns == ["1"]


# ---- changes ----


def test_an_update_is_one_message_however_much_changes():
    view = MatrixView(weights(), rows=TOKENS)
    with patch.object(view, "_send") as send:
        view.update(values=np.zeros((3, 4, 4)), rows=list("abcd"), allowed=CAUSAL[:4, :4], kind="diverging")
    assert send.call_count == 1
    state = send.call_args.args[0]["state"]
    assert {"values", "allowed", "rows", "columns", "kind"} == set(state)


def test_new_numbers_alone_do_not_send_labels_again():
    view = MatrixView(weights(), rows=TOKENS, allowed=CAUSAL)
    with patch.object(view, "_send") as send:
        view.update(values=weights() / 2)
    assert set(send.call_args.args[0]["state"]) == {"values"}


def test_observers_see_a_finished_update():
    view = MatrixView(weights(), rows=TOKENS)
    seen = []
    view.observe(lambda change: seen.append((view.values.shape, len(view.rows))), ["values", "rows"])
    view.update(values=np.zeros((3, 3)), rows=list("abc"))
    assert set(seen) == {((1, 3, 3), 3)}


def test_a_selection_that_falls_outside_is_given_up():
    view = MatrixView(weights(), selected=4)
    view.update(values=np.zeros((5, 5)))
    assert view.selected == 4
    view.update(values=np.zeros((3, 3)))
    assert view.selected == -1


def test_a_marked_cell_must_exist_and_is_given_up_when_it_falls_outside():
    view = MatrixView(weights(), marked=[0, 4, 4])
    with pytest.raises(ValueError, match="marked"):
        view.update(marked=[0, 5, 0])
    assert view.marked == [0, 4, 4]
    view.update(values=np.zeros((3, 3)))
    assert view.marked == []


def click(view: MatrixView, mask: np.ndarray) -> None:
    """What the browser sends after a click."""
    view.set_state({"allowed": {"shape": list(mask.shape), "data": memoryview(mask.astype(np.uint8))}})


def test_a_click_arrives_as_a_new_mask_and_is_told_once():
    view = MatrixView(weights(), allowed=CAUSAL, editable=True)
    told, seen = [], []
    view.on_edit(told.append)
    view.observe(lambda change: seen.append(change.new), "allowed")
    new = CAUSAL.copy()
    new[0, 4] = True
    click(view, new)
    assert view.allowed.dtype == bool
    np.testing.assert_array_equal(view.allowed, new)
    assert len(told) == len(seen) == 1
    view.update(allowed=CAUSAL)  # not the reader's doing
    assert len(told) == 1
    view.on_edit(told.append, remove=True)
    click(view, new)
    assert len(told) == 1


def test_a_click_on_a_mask_of_yesterday_is_dropped_and_the_browser_put_right():
    view = MatrixView(np.zeros((4, 4)), allowed=np.ones((4, 4), bool), editable=True)
    told = []
    view.on_edit(told.append)
    with patch.object(view, "_send") as send:
        click(view, CAUSAL)
    assert view.allowed.shape == (4, 4)
    assert not told
    assert any("allowed" in call.args[0].get("state", {}) for call in send.call_args_list)


def test_a_clicked_cell_is_told_until_its_callback_is_taken_back():
    view = MatrixView(np.zeros((2, 4, 3)))
    told = []
    callback = lambda *cell: told.append(cell)  # noqa: E731
    assert not view.get_state()["_clickable"]
    view.on_click(callback)
    assert view.get_state()["_clickable"]
    for cell in ([1, 3, 2], [1, 3, 2], [0, 0, 0]):  # the same cell twice are two clicks
        view._handle_custom_msg({"click": cell}, [])
    assert told == [(1, 3, 2), (1, 3, 2), (0, 0, 0)]
    view.on_click(callback, remove=True)
    view._handle_custom_msg({"click": [0, 1, 1]}, [])
    assert len(told) == 3 and not view.get_state()["_clickable"]


def test_a_click_on_a_cell_of_yesterday_is_dropped():
    view = MatrixView(np.zeros((4, 4)))
    view.on_click(lambda *_cell: pytest.fail("told of a cell that is gone"))
    view.update(values=np.zeros((3, 4)))
    view._handle_custom_msg({"click": [0, 3, 0]}, [])


# ---- words ----


@given(st.floats(width=32, min_value=-(2.0**16), max_value=2.0**16), st.integers(0, 4))
def test_printed_numbers_are_rounded_half_to_even(value, digits):
    exact = Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_EVEN)
    expected = f"{exact:f}".replace("-", "−" if exact else "")
    assert fixed(value, digits) == expected


def test_numbers_that_are_none_have_a_sign_of_their_own():
    assert [fixed(value, 2) for value in (np.nan, np.inf, -np.inf)] == ["NaN", "∞", "−∞"]
    assert fixed(-0.001, 2) == "0.00"


def test_a_spoken_number_tells_zero_from_almost_zero():
    assert spoken(0.0, 2) == "0"
    assert spoken(1.5e-7, 2) == "1.5·10⁻⁷"
    assert spoken(-2e-5, 2) == "−2.0·10⁻⁵"
    assert spoken(0.5, 2) == spoken(0.5, -1) == "0.5000"


def test_the_words_name_row_column_value_and_panel():
    view = MatrixView(
        weights(2),
        rows=TOKENS,
        allowed=CAUSAL,
        titles=["A {row}", "B"],
        words="{panel}: {row} > {column} = {value}",
        masked_words="{row} > {column}: never",
    )
    value = f"{view.values[0, 2, 1]:.4f}"
    assert view.describe(2, 1) == f"A {{row}}: gibt > Bär = {value}"
    assert view.describe(0, 4, panel=1) == "Der > der: never"


# ---- the still twin ----


@pytest.mark.parametrize(("kind", "norm"), [("sequential", Normalize), ("diverging", TwoSlopeNorm)])
@settings(max_examples=25)
@given(values=arrays.arrays(np.float32, (2, 3, 4), elements=st.floats(-3, 3, width=32)))
def test_colours_agree_with_matplotlibs_own_scale(kind, norm, values):
    view = MatrixView(values, kind=kind)
    still = Still(view, 680)
    low, high = still.limits
    assert low <= values.min() and values.max() <= high
    scale = norm(vmin=low, vmax=high) if norm is Normalize else norm(0, vmin=low, vmax=high)
    expected = ListedColormap(style.table(kind) / 255)(scale(values.astype(np.float64)), bytes=True)[..., :3]
    found = style.table(kind)[colour_index(values, still.limits)]
    # One step of 256 for values that lie on the edge of two.
    assert np.abs(found.astype(int) - expected).max() <= 6


@pytest.mark.parametrize("kind", ["sequential", "diverging"])
def test_each_cell_of_the_still_has_the_colour_of_its_value(kind):
    values = np.array([[0.0, 0.25, 0.5], [0.75, 1.0, -1.0]])
    limits = (-1, 1)
    view = MatrixView(values, kind=kind, limits=limits, digits=-1)
    for (row, column), value in np.ndenumerate(values):
        expected = style.table(kind)[min(255, int((value + 1) / 2 * 256))]
        assert (cell_pixels(view, row, column) == expected).all()


def test_diverging_colours_are_centred_on_zero_whatever_the_limits():
    for limits in (None, (-1, 3), (1, 2)):
        low, high = Still(MatrixView([[0.0, 3.0]], kind="diverging", limits=limits), 680).limits
        assert low == -high < 0


def test_masked_cells_are_hatched_and_never_show_their_value():
    values = weights()[0]
    view = MatrixView(values, allowed=CAUSAL, digits=-1)
    hatched = cell_pixels(view, 0, 4).reshape(-1, 3)
    assert len(np.unique(hatched, axis=0)) > 3  # lines and paper
    assert (np.ptp(hatched.astype(int), axis=1) < 12).all()  # and both grey
    assert len(np.unique(cell_pixels(view, 4, 0).reshape(-1, 3), axis=0)) == 1
    other = np.where(CAUSAL, values, 0.9)
    assert MatrixView(other, allowed=CAUSAL).still() == MatrixView(values, allowed=CAUSAL).still()


def test_masked_cells_have_no_part_in_the_range_of_the_colours():
    values = np.where(CAUSAL, 0.5, 99)
    assert Still(MatrixView(values, allowed=CAUSAL), 680).limits == (0, 0.5)


def printed(view: MatrixView) -> list[str]:
    """All text of the still."""
    return [text.get_text() for text in Still(view, 680).draw(1).axes[0].texts]


def test_numbers_are_printed_while_a_cell_is_large_enough():
    small, large = (np.full((size, size), 0.125) for size in (40, 4))
    assert printed(MatrixView(large, legend=False)).count("0.12") == 16
    assert printed(MatrixView(large, legend=False, digits=0)).count("0") == 16
    assert "0.12" not in printed(MatrixView(large, legend=False, digits=-1))
    assert "0.12" not in printed(MatrixView(small, legend=False))


def test_what_is_no_number_is_printed_as_such():
    texts = printed(MatrixView([[np.nan, np.inf, -np.inf, 1.0]]))
    assert {"NaN", "∞", "−∞", "1.00"} <= set(texts)


@pytest.mark.parametrize("label", ["$x^2$", r"\frac{", "$\\frac{", "<b>fett</b>", "a_b^c", "%s {0}"])
def test_a_label_is_drawn_letter_by_letter(label):
    view = MatrixView(
        [[0.5]], rows=[label], titles=[label], row_axis=label, masked_legend=label, editable=True
    )
    with rc_context({"text.parse_math": True}):  # whatever the reader's own settings are
        figure = Still(view, 680).draw(1)
    assert not any(text.get_parse_math() for text in figure.axes[0].texts)
    assert [text.get_text() for text in figure.axes[0].texts].count(label) == 4
    assert view.still()


def test_a_still_never_warns_about_letters_the_font_lacks():
    view = MatrixView(np.zeros((4, 4)), rows=["😀", "漢字", "e\u0301", "\u200d\U0001f9d1"], titles="한국어")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert view.still()


@pytest.mark.parametrize("shape", [(1, 1), (1, 24), (24, 1), (64, 64), (8, 12, 12), (3, 64, 64)])
@pytest.mark.parametrize("label", ["a", "Donaudampfschifffahrtsgesellschaft"])
def test_stills_of_every_size_stay_within_the_page(shape, label):
    view = MatrixView(np.zeros(shape), rows=[label] * shape[-2], columns=[label] * shape[-1])
    layout = Layout(view, 680)
    width = pixels(view, scale=1).shape[1]
    assert width <= 700
    assert layout.cell >= 3
    assert layout.columns_over.angle <= 60
    # Neighbouring tilted labels do not touch.
    pitch = layout.columns_over.step * layout.cell
    assert not layout.columns_over.angle or pitch * np.sin(np.pi / 3) >= layout.columns_over.size * 0.95


def test_repeated_tokens_stay_separate():
    texts = printed(MatrixView(np.arange(25).reshape(5, 5), rows=TOKENS))
    assert texts.count("der") == 4  # two rows, two columns


def test_a_selected_row_is_framed():
    plain, framed = (pixels(MatrixView(weights(), selected=row)) for row in (-1, 2))
    layout = Layout(MatrixView(weights()), 680)
    x, y = layout.place(0)
    edge = round((y + 2 * layout.cell) * 2), round((x + 1.5 * layout.cell) * 2)
    assert plain[edge].min() > 150
    assert framed[edge].max() < 80


def test_a_marked_cell_is_framed():
    plain, framed = (pixels(MatrixView(weights(), marked=marked)) for marked in ([], [0, 2, 1]))
    layout = Layout(MatrixView(weights()), 680)
    x, y = layout.place(0)
    edges = [(round((y + 2.5 * layout.cell) * 2), round((x + side * layout.cell) * 2)) for side in (1, 2)]
    for edge in edges:
        assert plain[edge].min() > 150 and framed[edge].max() < 80


def test_the_still_has_light_paper_twice_the_pixels_and_the_same_bytes_each_time():
    view = MatrixView(weights(), rows=TOKENS)
    once, twice = (view.still(scale) for scale in (1, 2))
    assert (once.width * 2, once.height * 2) == twice.size
    assert twice.convert("RGB").getpixel((2, 2)) == (255, 255, 255)
    assert view.still() == MatrixView(weights(), rows=TOKENS).still()


def test_the_mime_bundle_holds_widget_picture_and_sentence():
    view = MatrixView(weights(), alt="Jede Zeile hat die Summe 1.")
    data, metadata = view._repr_mimebundle_()
    assert data["text/plain"] == "Jede Zeile hat die Summe 1."
    assert "application/vnd.jupyter.widget-view+json" in data
    width = Image.open(io.BytesIO(data["image/png"])).width
    assert metadata["image/png"] == {"width": width // 2, "alt": data["text/plain"]}
    view.alt = "Neu."
    assert view._repr_mimebundle_()[0]["text/plain"] == "Neu."
    assert MatrixView(weights())._repr_mimebundle_()[0]["text/plain"] == "1 × 5 × 5"


def test_labels_of_a_refused_update_do_not_come_back_later():
    view = MatrixView([[1.0, 2.0], [3.0, 4.0]], rows=["a", "b"])
    with pytest.raises(traitlets.TraitError):
        view.update(rows=["c", "d"], digits=99)
    view.update(values=[[5.0, 6.0], [7.0, 8.0]])
    assert view.rows == ["a", "b"] == view.columns
