"""What all explorers share: errors in words, reset, one callback, the still twin, the guess, the runner."""

import asyncio
import gc
import re
import signal
import threading
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenwerk_helpers import language
from tokenwerk_helpers.chapters import book
from tokenwerk_helpers.chapters.book import you_are_here
from tokenwerk_helpers.language import ReaderMistake
from tokenwerk_helpers.live import cells
from tokenwerk_helpers.live.controls import int_slider, slider, text_input
from tokenwerk_helpers.live.explorer import Explorer
from tokenwerk_helpers.live.figure import LiveFigure
from tokenwerk_helpers.live.lock import LOCK
from tokenwerk_helpers.live.matrix import MatrixView
from tokenwerk_helpers.live.numbers import grouped, number, percent, percent_label, vector
from tokenwerk_helpers.live.pulse import Pulse
from tokenwerk_helpers.live.question import Choice, NumberQuestion, Option
from tokenwerk_helpers.live.running import Runner
from tokenwerk_helpers.live.still import SCALE
from tokenwerk_helpers.live.twin import MARK

VIEW = "application/vnd.jupyter.widget-view+json"


class Halving(Explorer):
    """1 / x: has a place where the reader is at fault and one where the code is."""

    def __init__(self):
        self.figure = LiveFigure(2, 1)
        (self.point,) = self.figure.figure.add_subplot(ylim=(-3, 3)).plot([0], [0], "o")
        self.figure.moving(self.point)
        self.computed = 0
        super().__init__({"x": slider("x", -2, 2, 1), "text": text_input("t", "a")}, [[self.figure]])

    def compute(self, x, text):
        self.computed += 1
        if text == "":
            raise ReaderMistake("nothing typed")
        return 1 / x

    def show(self, result):
        self.point.set_ydata([result])
        self.figure.refresh()

    def sentence(self, result):
        return f"1/x = {result:.2f}"


def test_moving_a_control_changes_result_caption_and_picture():
    explorer = Halving()
    before = explorer.figure.pixels.tobytes()
    explorer.controls["x"].value = 0.5
    assert (explorer.result, explorer.caption.value) == (2.0, "1/x = 2.00")
    assert explorer.figure.pixels.tobytes() != before


def test_a_readers_mistake_is_told_in_words_and_the_last_good_view_stays():
    explorer = Halving()
    before = explorer.figure.pixels.tobytes()
    explorer.controls["text"].value = ""
    assert explorer.message.value == "nothing typed"
    assert (explorer.figure.pixels.tobytes(), explorer.caption.value) == (before, "1/x = 1.00")
    explorer.controls["text"].value = "b"
    assert explorer.message.value == ""


def test_an_unexpected_error_appears_in_the_message_area_instead_of_vanishing():
    explorer = Halving()
    explorer.controls["x"].value = 0
    assert "ZeroDivisionError" in explorer.message.value
    assert isinstance(explorer.error, ZeroDivisionError)


def test_a_message_stays_until_what_it_speaks_of_is_put_right():
    explorer = Halving()
    attempts = iter([ReaderMistake("no more ink"), None])

    def draw():
        if attempt := next(attempts):
            raise attempt

    press, press_another = explorer.guarded(draw), explorer.guarded(lambda: None)
    explorer.controls["text"].value = ""
    press_another()
    assert explorer.message.value == "nothing typed" and isinstance(explorer.error, ReaderMistake)
    explorer.controls["x"].value = 2  # still nothing typed
    assert explorer.message.value == "nothing typed"
    explorer.controls["text"].value = "b"
    assert explorer.message.value == "" and explorer.error is None
    press()
    press_another()
    assert explorer.message.value == "no more ink"
    press()
    assert explorer.message.value == "" and explorer.error is None


def test_reset_puts_every_control_back_and_computes_once():
    explorer = Halving()
    explorer.set(x=2, text="b")
    count = explorer.computed
    explorer.reset()
    assert explorer.settings == {"x": 1, "text": "a"}
    assert explorer.computed == count + 1


def test_the_sentence_is_made_once_a_move_and_is_caption_and_alternative_text():
    class Counting(Halving):
        made = 0

        def sentence(self, result):
            self.made += 1
            return super().sentence(result)

    explorer = Counting()
    explorer.controls["x"].value = 0.5
    assert explorer.made == 2  # at the start, and for the move
    assert explorer.caption.value == explorer.figure.alt == "1/x = 2.00"


class Rows(Explorer):
    """As many rows as it is told; the chosen one counts from 1 and is selected."""

    def __init__(self):
        self.matrix = MatrixView([[0.0]])
        self.figure = LiveFigure(2, 1, alt="its own words")
        controls = {"count": int_slider("n", 1, 9, 5), "row": int_slider("row", 1, 9, 4)}
        super().__init__(controls, [[self.matrix], [self.figure]])
        self.follow_clicks(self.matrix, "row")

    def compute(self, count, row):
        return count, min(row, count)

    def show(self, result):
        count, row = result
        self.matrix.update(values=[[0.0]] * count, selected=row - 1)

    def described(self):
        return [self.matrix]

    def sentence(self, result):
        return f"row {result[1]} of {result[0]}"


def test_a_click_on_a_row_moves_its_control_and_a_row_that_is_shown_does_not():
    explorer = Rows()
    explorer.matrix.selected = 1
    assert explorer.settings == {"count": 5, "row": 2} and explorer.caption.value == "row 2 of 5"
    explorer.set(row=9)
    assert explorer.matrix.selected == 4 and explorer.settings["row"] == 9, "the control was moved by show"
    explorer.set(count=2)
    assert explorer.matrix.selected == 1 and explorer.settings["row"] == 9
    explorer.matrix.selected = -1
    assert explorer.settings["row"] == 9 and explorer.error is None
    explorer.matrix.selected = 0
    assert explorer.settings["row"] == 1


class Letters(Halving):
    """A place in a text, counted from 2; a text of "!" is refused."""

    def __init__(self):
        self.figure = LiveFigure(2, 1)
        self.computed = 0
        controls = {"place": int_slider("place", 2, 64, 3), "text": text_input("text", "abcde")}
        Explorer.__init__(self, controls, [[self.figure]])
        self.follow_length("place", lambda result: len(result[1]))

    def compute(self, place, text):
        self.computed += 1
        if text == "!":
            raise ReaderMistake("nothing to read")
        return min(place, len(text)), text

    def show(self, result):
        self.figure.refresh()

    def sentence(self, result):
        return f"{result[0]} of {len(result[1])}"


def test_a_slider_ends_where_the_text_ends_and_keeps_its_place_while_there_is_one():
    explorer = Letters()
    place = explorer.controls["place"]
    assert (place.value, place.max, explorer.computed) == (3, 5, 1)
    for count, (text, value, end) in enumerate(
        [("abcd", 3, 4), ("abcdefgh", 3, 8), ("ab", 2, 2), ("a", 2, 2), ("", 2, 2), ("abcdef", 2, 6)], 2
    ):
        explorer.controls["text"].value = text
        assert (place.value, place.max, explorer.error) == (value, end, None), text
        assert explorer.caption.value == f"{min(value, len(text))} of {len(text)}"
        assert explorer.computed == count, f"computed more than once for “{text}”"
    explorer.controls["text"].value = "!"
    assert place.max == 6, "a text that is refused moves no end"


def test_a_place_set_together_with_a_longer_or_shorter_text_is_kept_and_reset_brings_all_back():
    explorer = Letters()
    place, initial = explorer.controls["place"], explorer.settings
    for text, wanted, kept in (("abcdefghij", 9, 9), ("abc", 3, 3), ("abcd", 60, 4), ("a", 2, 2)):
        count = explorer.computed
        explorer.set(place=wanted, text=text)  # the place first, while the text is still the old one
        assert (place.value, place.max) == (kept, max(2, len(text)))
        assert explorer.computed == count + 1
    explorer.reset()
    assert explorer.settings == initial and place.max == 5 and explorer.error is None


def test_a_view_with_words_of_its_own_keeps_them():
    explorer = Rows()
    explorer.set(row=2)
    assert (explorer.matrix.alt, explorer.figure.alt) == ("row 2 of 5", "its own words")


def test_an_error_at_the_start_is_not_hidden():
    class Broken(Halving):
        def compute(self, x, text):
            raise RuntimeError("from the first computation")

    with pytest.raises(RuntimeError):
        Broken()


def test_the_stored_output_has_the_view_a_still_and_the_sentence():
    data, metadata = Halving()._repr_mimebundle_()
    assert data["text/plain"] == "1/x = 1.00"
    assert data["image/png"].startswith(b"\x89PNG")
    assert VIEW in data
    assert metadata["image/png"]["width"] == 192


def test_a_cell_run_twice_leaves_one_living_explorer(monkeypatch):
    monkeypatch.setattr(cells, "_living", cells.defaultdict(list))
    monkeypatch.setattr(cells, "running_cell", lambda: ("cell", 1))
    first, beside = Halving(), Halving()
    monkeypatch.setattr(cells, "running_cell", lambda: ("cell", 2))
    second = Halving()
    assert first.widget.comm is None and beside.widget.comm is None
    first.controls["x"].value = 2
    assert first.computed == 1, "the first run still computes"
    second.controls["x"].value = 2
    assert second.computed == 2
    assert len(cells._living["cell"]) == 1


def test_a_closed_explorer_is_let_go(monkeypatch):
    explorer = Halving()
    reference = weakref.ref(explorer)
    explorer.close()
    del explorer
    gc.collect()
    assert reference() is None


def test_every_chapter_has_its_picture_and_a_sentence():
    for notebook in book.CHAPTERS:
        here = you_are_here(notebook)
        assert here.still().width == SCALE * here.width
        assert book.title(notebook) in here.alt
    with pytest.raises(ValueError, match="no notebook"):
        you_are_here("99_nowhere")


def test_the_sentence_names_the_page_and_what_comes_before_page_one_by_its_title_alone():
    assert you_are_here("07_embeddings").alt.startswith("Du bist hier: Seite 7, Embeddings und Positionen. ")
    assert you_are_here("00_toolbox").alt.startswith("Du bist hier: Handwerkszeug. ")


def test_the_chapters_of_the_book_light_up_different_parts():
    pictures = {name: you_are_here(name).still().tobytes() for name in book.CHAPTERS}
    # 00, 08 and 13 show the whole.
    assert len(set(pictures.values())) >= len(pictures) - 2


# ---- guesses ----


def choice(*texts):
    return Choice("Which?", lambda: 1, [Option(i, text, f"answer {i}") for i, text in enumerate(texts)])


def number_question():
    return NumberQuestion("How many?", lambda: 1, "answer 1", otherwise="another")


def test_a_guess_is_judged_only_when_it_was_made():
    guess = choice("a", "b")
    guess.button.click()
    assert guess.feedback.correct is None
    guess.answer.value = 1
    guess.button.click()
    assert guess.reply.value == "✓ answer 1"
    guess.answer.value = 0
    guess.button.click()
    assert guess.reply.value == "✗ answer 0"


def test_a_guess_that_is_no_number_gets_words_and_keeps_what_was_typed():
    guess = number_question()
    guess.answer.value = "<b>many"
    guess.button.click()
    assert "<b>many" in guess.reply.value
    assert guess.answer.value == "<b>many"


def test_a_stored_guess_shows_the_question_and_its_options():
    data, _metadata = choice("red", "blue")._repr_mimebundle_()
    assert data["text/plain"] == "Which?\n(a) red\n(b) blue"


def test_a_changed_answer_takes_the_verdict_on_the_last_one_back():
    for guess, answers in (
        (choice("a", "b"), (1, 0)),
        (number_question(), "10"),
    ):
        guess.answer.value = answers[0]
        assert guess.judge().correct and guess.reply.value
        guess.answer.value = answers[1]
        assert guess.feedback is None and guess.reply.value == ""


def test_enter_checks_the_answer_as_it_stands_on_the_page():
    how_many, which = number_question(), choice("a", "b")
    how_many.answer.value = "−0"  # the last key is still on its way
    which.answer.value = 1
    for guess, text in ((how_many, "1,0"), (which, "")):
        guess.widget.children[-1]._handle_custom_msg({"child": 1, "text": text, "number": 1}, [])
        assert guess.feedback.correct and guess.reply.value.startswith("✓")


# ---- numbers ----


def test_numbers_read_as_in_the_chapter():
    assert vector([2.3, -0.2, 3.0, -0.001]) == "[2.3, −0.2, 3, 0]"
    assert number(0.125, 2) in ("0.12", "0.13") and number(-0.0) == "0" and number(100, 0) == "100"
    assert percent(0.256) == "26 %"
    assert re.sub(r"\s", "_", grouped(124439808)) == "124_439_808"


@pytest.mark.parametrize(
    ("share", "digits", "words", "label"),
    [
        (1.0, 0, "100 %", "100 %"),
        (0.0, 1, "0 %", "0 %"),
        (0.997, 0, "99.7 %", "99.7 %"),
        (0.9989, 0, "99.9 %", "99.9 %"),
        (0.99996, 0, "über 99.9 %", "> 99.9 %"),
        (0.9996, 1, "über 99.9 %", "> 99.9 %"),
        (0.99999, 2, "über 99.9 %", "> 99.9 %"),
        (0.003, 0, "0.3 %", "0.3 %"),
        (0.0002, 0, "unter 0.1 %", "< 0.1 %"),
        (0.0004, 1, "unter 0.1 %", "< 0.1 %"),
        (0.9945, 0, "99 %", "99 %"),
        (0.0009, 2, "0.09 %", "0.09 %"),
        (1.76, 0, "176 %", "176 %"),  # a length may be more than the whole it is compared with
        (1.0004, 0, "100 %", "100 %"),
    ],
)
def test_a_share_that_is_not_quite_all_or_nothing_is_not_rounded_to_it(share, digits, words, label):
    assert percent(share, digits) == words
    assert percent_label(share, digits) == label


@given(st.floats(0, 1, exclude_min=True, exclude_max=True), st.integers(0, 3))
def test_what_a_percentage_says_is_true(share, digits):
    text = percent(share, digits)
    value = float(re.search(r"[\d.]+", text).group())
    assert 0 < value < 100
    if text.startswith("über"):
        assert 100 * share > value
    elif text.startswith("unter"):
        assert 100 * share < value
    else:
        assert abs(100 * share - value) <= 0.5 * 10.0**-digits + 1e-9


# ---- language ----


def test_the_language_can_be_switched_and_an_unknown_one_is_refused():
    try:
        language.set_language("en")
        assert language._("Reset") == "Reset"
        language.set_language("de")
        assert language._("Reset") == "Zurücksetzen"
        with pytest.raises(ValueError, match="fr"):
            language.set_language("fr")
    finally:
        language.set_language("de")


# ---- long work ----


def test_the_runner_leaves_room_for_other_messages_and_hears_stop():
    async def scene():
        seen, ended = [], []
        runner = Runner(seen.append, lambda: ended.append(True))
        work = iter(range(1000))
        runner.start(work)
        while len(seen) < 5:
            await asyncio.sleep(0.001)  # another message is handled between two slices
        runner.stop()
        await asyncio.sleep(0.01)
        stopped = len(seen)
        assert ended == [True] and not runner.running and stopped < 1000
        runner.start(work)  # goes on where it stopped
        while len(seen) == stopped:
            await asyncio.sleep(0.001)
        assert seen == list(range(len(seen)))
        runner.stop()

    asyncio.run(scene())


def test_the_runner_reports_an_error_and_ends():
    def work():
        yield 1
        raise ValueError("broken")

    async def scene():
        errors, ended = [], []
        runner = Runner(lambda item: None, lambda: ended.append(True), errors.append)
        runner.start(work())
        while runner.running:
            await asyncio.sleep(0.001)
        assert [str(error) for error in errors] == ["broken"] and ended == [True]

    asyncio.run(scene())


def test_a_runner_stopped_before_its_first_slice_says_that_it_has_ended():
    async def scene():
        seen, ended = [], []
        runner = Runner(seen.append, lambda: ended.append(True))
        runner.start(iter(range(3)))
        runner.stop()
        await asyncio.sleep(0.02)
        assert seen == [] and ended == [True] and not runner.running

    asyncio.run(scene())


def test_work_that_takes_over_ends_the_other_and_only_the_last_one_says_so():
    async def scene():
        seen, ended = [], []
        runner = Runner(seen.append, lambda: ended.append(list(seen)))
        runner.start(iter("aaaaaaaaaa"))
        while len(seen) < 2:
            await asyncio.sleep(0.001)
        runner.start(iter("bbb"))
        while runner.running:
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.02)
        assert seen[-3:] == ["b", "b", "b"] and len(seen) < 13 and ended == [seen]

    asyncio.run(scene())


def test_the_runner_reports_an_error_at_the_end():
    def broken():
        raise ValueError("broken at the end")

    async def scene():
        errors = []
        runner = Runner(lambda item: None, broken, errors.append)
        runner.start(iter(range(2)))
        while runner.running or not errors:
            await asyncio.sleep(0.001)
        assert [str(error) for error in errors] == ["broken at the end"]

    asyncio.run(scene())


def test_another_thread_stops_before_or_after_a_slice_never_within():
    """What the slice under way makes is shown before anybody else may go on with the work."""
    log = []

    def work():
        log.append("slice begins")
        page.start()
        page.join(0.1)  # time enough to stop within the slice
        log.append("slice ends")
        yield "item"

    async def scene():
        runner.start(work())
        while len(log) < 5:
            await asyncio.sleep(0.001)

    runner = Runner(log.append, lambda: log.append("end"))
    page = threading.Thread(target=lambda: (runner.stop(), log.append("stopped")))
    asyncio.run(scene())
    assert log == ["slice begins", "slice ends", "item", "end", "stopped"]


def test_a_run_whose_event_loop_has_gone_can_be_stopped_and_followed_by_another():
    """A page that is closed takes the thread with it in which its widgets were heard."""
    ended, seen = [], []
    runner = Runner(seen.append, lambda: ended.append(True))

    async def one_slice():
        runner.start(iter(range(5)))
        await asyncio.sleep(0)

    loop = asyncio.new_event_loop()
    loop.run_until_complete(one_slice())
    runner.stop()
    assert ended == [True] and not runner.running
    for task in asyncio.all_tasks(loop):
        task.cancel()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()

    async def another():
        runner.start(iter("ab"))
        while runner.running:
            await asyncio.sleep(0.001)

    asyncio.run(another())
    assert seen[-2:] == ["a", "b"] and ended == [True, True]


def test_an_interrupted_slice_ends_the_run():
    ended = []
    runner = Runner(lambda _item: signal.raise_signal(signal.SIGINT), lambda: ended.append(True))

    async def scene():
        runner.start(iter(range(5)))
        await asyncio.sleep(1)

    loop = asyncio.new_event_loop()
    with pytest.raises(KeyboardInterrupt):
        loop.run_until_complete(scene())
    for task in asyncio.all_tasks(loop):
        task.cancel()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    assert ended == [True] and not runner.running


# ---- one at a time ----


def test_what_the_page_sends_waits_until_a_cell_has_done_with_the_views():
    """A kernel hears the page in a thread of its own."""
    explorer = Halving()
    page = threading.Thread(target=lambda: setattr(explorer.controls["x"], "value", 2.0))
    with LOCK:
        page.start()
        page.join(0.1)
        assert page.is_alive() and explorer.result == 1
    page.join(5)
    assert not page.is_alive() and explorer.result == 0.5
    explorer.close()


@pytest.mark.parametrize(
    "make",
    [
        Halving,
        lambda: choice("red", "blue"),
        lambda: MatrixView([[1.0]]),
        lambda: LiveFigure(2, 1, alt="flat"),
        lambda: Pulse(still="asked"),
    ],
    ids=["explorer", "question", "matrix", "figure", "pulse"],
)
def test_a_closed_view_still_shows_its_twin(make):
    view = make()
    show = type(view)._repr_mimebundle_
    before, metadata = show(view)
    assert before.pop(VIEW)["model_id"] and metadata.pop(VIEW) == MARK
    view.close()
    assert show(view) == (before, metadata)


def test_a_closed_view_can_be_displayed(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, **_how: shown.append(data))
    figure = LiveFigure(2, 1, alt="flat")
    figure.close()
    figure._ipython_display_()
    picture, sentence = shown
    assert picture.keys() == {"image/png"}
    assert sentence == {"text/plain": "flat"}
