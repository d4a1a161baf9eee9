"""What a reader enters: numbers however they are written, text with broken signs, a slider's readout."""

import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from ipywidgets import Widget

from tokenwerk_helpers.chapters.normalization import views
from tokenwerk_helpers.language import ReaderMistake
from tokenwerk_helpers.live.controls import (
    checkbox,
    dropdown,
    int_slider,
    selection_slider,
    slider,
    text_input,
)
from tokenwerk_helpers.live.explorer import Explorer
from tokenwerk_helpers.live.numbers import compact, grouped, number, percent, read_number, read_vector, vector
from tokenwerk_helpers.live.question import NumberQuestion, VectorQuestion
from tokenwerk_helpers.live.text import well_formed

HALF = "🦆".encode("utf-16-le")[:2].decode("utf-16-le", "surrogatepass")
THIN, NARROW, FIXED = "\u2009", "\u202f", "\u00a0"


# ---- numbers ----


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *{"0.5": 0.5, "0,5": 0.5, " 1,5 ": 1.5, ".5": 0.5, ",5": 0.5, "7.": 7, "007": 7}.items(),
        *{"−3": -3, "– 0,5": -0.5, "+2": 2, "0.125": 0.125, "0,125": 0.125, "-0.125": -0.125}.items(),
        *{"1 000": 1000, "1'000": 1000, "1_000": 1000, "124 439 808": 124439808}.items(),
        *{f"124{space}439{space}808": 124439808 for space in (THIN, NARROW, FIXED)}.items(),
        *{"124.439.808": 124439808, "124,439,808": 124439808}.items(),
        *{"1.234,5": 1234.5, "1,234.5": 1234.5, "1 234,567": 1234.567, "12345,678": 12345.678}.items(),
        *{"1e-3": 1e-3, "1,5E3": 1500, "1.234e-05": 1.234e-05, "10^-3": 1e-3, "10**2": 100}.items(),
        *{"10⁻⁸": 1e-8, "−10⁻⁸": -1e-8, "3,2 · 10⁻⁷": 3.2e-7, "3.2 x 10^-7": 3.2e-7}.items(),
        *{"50 %": 0.5, "99,7%": 0.997, f"7{NARROW}%": 0.07}.items(),
    ],
)
def test_a_number_is_read_as_readers_write_it(text, value):
    assert read_number(text) == value


@pytest.mark.parametrize(
    "text", ["", "Oma", "2 3", "1.2.3", "1,2,3", "12 34", "1e400", "nan", "inf", "--1", "%"]
)
def test_what_is_no_number_is_called_none(text):
    with pytest.raises(ReaderMistake, match="keine Zahl"):
        read_number(text)


@pytest.mark.parametrize(
    ("text", "sign", "ways"),
    [
        ("1.400", "Der Punkt", {"1400": 1400, "1.4": 1.4}),
        ("1,400", "Das Komma", {"1400": 1400, "1.4": 1.4}),
        ("-1.414", "Der Punkt", {"−1414": -1414, "−1.4140": -1.414}),
    ],
)
def test_a_number_that_is_two_is_refused_with_the_sign_and_both_ways_to_write_it(text, sign, ways):
    with pytest.raises(ReaderMistake) as mistake:
        read_number(text)
    message = str(mistake.value)
    assert message.startswith(f"{sign} in „{text}“")
    for way, value in ways.items():
        assert f" {way} " in message or message.endswith(f" {way}.")
        assert read_number(way) == value


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,5; 3", [1.5, 3]),
        ("[2,3; 4,8]", [2.3, 4.8]),
        ("[1, -0.5]", [1, -0.5]),
        ("[1,3]", [1, 3]),
        ("1,-3", [1, -3]),
        ("0,5 1,5", [0.5, 1.5]),
        ("[1.  -0.5]", [1, -0.5]),  # as NumPy prints it
        ("[1.125, 3]", [1.125, 3]),
        (f"[1{NARROW}000, 2 000]", [1000, 2000]),
        ("25 %; 1e-3", [0.25, 1e-3]),
        ("1; 2 3;", [1, 2, 3]),
        ("", []),
    ],
)
def test_a_list_is_read_as_readers_write_it(text, values):
    assert read_vector(text) == values


@pytest.mark.parametrize(
    ("text", "sign", "ways"),
    [
        ("1,5, 3", "Das Komma", {"1.5; 3": [1.5, 3], "1; 5; 3": [1, 5, 3]}),
        ("[1,5, 3]", "Das Komma", {"1.5; 3": [1.5, 3], "1; 5; 3": [1, 5, 3]}),
        ("0,5", "Das Komma", {"0.5": [0.5], "0; 5": [0, 5]}),
        ("100 200", "Das Leerzeichen", {"100200": [100200], "100; 200": [100, 200]}),
    ],
)
def test_a_list_whose_signs_leave_it_open_is_refused_and_the_semicolon_named(text, sign, ways):
    with pytest.raises(ReaderMistake) as mistake:
        read_vector(text)
    message = str(mistake.value)
    assert message.startswith(f"{sign} in „{text}“") and "Semikolon" in message
    for way, values in ways.items():
        assert way in message and read_vector(way) == values


finite = st.floats(-1e9, 1e9)


@given(st.lists(st.floats(-1e6, 1e6).map(lambda v: round(v, 2)), min_size=1, max_size=5))
def test_a_list_is_read_however_it_is_parted(values):
    for text in (str(values), " ".join(map(str, values)), "(" + "; ".join(map(str, values)) + ")"):
        assert read_vector(text) == values


@given(finite, st.integers(0, 2))
def test_what_the_book_writes_as_a_number_is_read_back(value, digits):
    assert read_number(number(value, digits)) == round(value, digits) + 0.0


@given(finite, st.integers(3, 6))
def test_three_decimals_are_read_back_or_refused_with_the_same_number_in_another_way(value, digits):
    text = number(value, digits)
    try:
        assert read_number(text) == round(value, digits) + 0.0
    except ReaderMistake as mistake:
        assert text + "0" in str(mistake)
        assert read_number(text + "0") == round(value, digits)


@given(st.lists(finite, min_size=1, max_size=6), st.integers(0, 8))
def test_what_the_book_writes_as_a_list_is_read_back(values, digits):
    assert read_vector(vector(values, digits)) == [round(value, digits) + 0.0 for value in values]


@given(st.integers(-(10**15), 10**15))
def test_what_the_book_writes_in_groups_is_read_back(value):
    assert read_number(grouped(value)) == value


@given(st.floats(0, 3), st.integers(0, 2))
def test_what_the_book_writes_as_a_percentage_is_read_back(share, digits):
    text = percent(share, digits)
    assume(text[0].isdigit())  # "über 99.9 %" is no number
    assert read_number(text) == pytest.approx(share, abs=0.5 * 10.0 ** (-2 - digits) + 1e-12)


@given(st.floats(-1e9, 1e9).filter(lambda value: value == 0 or abs(value) > 1e-300), st.integers(2, 2))
def test_what_the_book_writes_with_a_power_of_ten_is_read_back(value, digits):
    assert read_number(compact(value, digits)) == pytest.approx(value, rel=0.06)


@given(st.text())
def test_whatever_is_typed_is_a_number_a_list_or_a_readers_mistake(text):
    for read in (read_number, read_vector):
        try:
            read(text)
        except ReaderMistake as mistake:
            assert str(mistake)


# ---- beside a slider ----


class Doubling(Explorer):
    """One control of each kind, without a picture."""

    def __init__(self):
        controls = {
            "x": slider("x", -2, 2, 1, 0.1),
            "n": int_slider("n", 1, 2000, 3),
            "rate": selection_slider("rate", [("−0,1", -0.1), ("1000", 1000)], 1000),
            "step": selection_slider("step", ["scores", "weights"], "scores"),
            "text": text_input("text", "a"),
            "kind": dropdown("kind", [("one", 1)], 1),
            "on": checkbox("on"),
        }
        self.written: list[dict] = []
        super().__init__(controls, [])
        self.form.send = self.written.append

    def compute(self, **settings):
        if settings["text"] == "":
            raise ReaderMistake("nothing typed")
        return 2 * settings["x"]

    def show(self, result):
        pass

    def sentence(self, result):
        return f"2x = {result:.1f}"

    def type(self, name: str, text: str) -> None:
        """What the page says when a reader has typed into the readout of that control."""
        message = {"child": list(self.controls).index(name), "text": text, "number": 1}
        self.form._handle_custom_msg(message, [])


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        *[("x", "1,5", 1.5), ("x", "−0,5", -0.5), ("x", "0,54", 0.5), ("x", "99", 2), ("x", "", 1)],
        *[("n", "12", 12), ("n", f"1{NARROW}000", 1000), ("n", "0", 1)],
        *[("rate", "-0.1", -0.1), ("rate", "1.000", 1000), ("step", "weights", "weights")],
    ],
)
def test_a_number_typed_beside_a_slider_is_read_as_anywhere_else(name, text, value):
    explorer = Doubling()
    explorer.type(name, text)
    assert explorer.settings[name] == value and explorer.message.value == ""


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        *[("x", "1,400", "Das Komma"), ("x", "Oma", "keine Zahl"), ("x", HALF, "keine Zahl")],
        *[("n", "1,5", "ganze Zahlen"), ("rate", "7", "−0,1, 1000"), ("step", "Oma", "scores, weights")],
    ],
)
def test_what_cannot_be_used_beside_a_slider_is_told_until_it_is_put_right(name, text, words):
    explorer = Doubling()
    before = explorer.settings
    explorer.type(name, text)
    assert words in explorer.message.value and explorer.settings == before
    assert explorer.written == [], "what was typed is lost"
    explorer.controls["on"].value = True  # another control
    assert words in explorer.message.value
    explorer.reset()
    assert explorer.message.value == ""
    assert [said["child"] for said in explorer.written] == [list(explorer.controls).index(name)]


def test_the_readout_shows_the_value_again_when_what_was_typed_is_the_same_or_nothing():
    explorer = Doubling()
    explorer.set(x=-0.5)
    for text in ("−0,50", "", " "):
        explorer.type("x", text)
        assert explorer.written.pop() == {"child": 0, "text": "−0.5", "number": 1}


# ---- text ----


def parts(widget: Widget):
    """The widget and all that is shown with it."""
    yield widget
    for child in getattr(widget, "children", ()):
        yield from parts(child)


def stored(widget: Widget) -> bytes:
    """The state of all of it as a page is reloaded with: JSON in UTF-8."""
    states = [part.get_state() for part in parts(widget)]
    return json.dumps(states, ensure_ascii=False, default=repr).encode("utf-8")


def test_half_an_emoji_from_the_page_leaves_a_state_that_can_be_sent_and_stored():
    view = views.Statistics([1, 3])
    guesses = [
        NumberQuestion("How many?", lambda: 1, "right"),
        VectorQuestion("Which?", lambda: [1], "right", wrong_length="one number"),
    ]
    for guess in guesses:
        guess.answer.set_state({"value": HALF + "1"})
        guess.judge()
        stored(guess.widget)
        guess.widget.children[-1]._handle_custom_msg({"child": 1, "text": HALF, "number": 1}, [])
        assert "�" in guess.reply.value
        stored(guess.widget)
    view.controls["values"].set_state({"value": f"1; {HALF}"})
    assert "�" in view.message.value
    stored(view.widget)


def test_every_line_of_text_is_made_well_formed_where_it_enters_and_echoes_nothing_broken():
    field = text_input("text", "a")
    sent = []
    field._send = lambda message, buffers=None: sent.append(message)
    field.set_state({"value": f"a{HALF}b🦆"})
    assert field.value == "a�b🦆"
    assert [message["state"] for message in sent] == [{"value": "a�b🦆"}], "the page keeps the broken text"


@given(st.text(st.characters()))
def test_text_that_is_well_formed_stays_as_it_is(text):
    assert well_formed(text) == text
