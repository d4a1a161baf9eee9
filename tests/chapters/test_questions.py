"""What every question of the book owes the reader: its truth alone is right, each answer has its words."""

import importlib
import pkgutil

import numpy as np
import pytest

from tokenwerk_helpers import chapters
from tokenwerk_helpers.live.question import Choice, Mistake, NumberQuestion, Option, Question, VectorQuestion


def asking() -> dict:
    """Whatever asks a question, by page and name."""
    found = {}
    for file in pkgutil.walk_packages(chapters.__path__, f"{chapters.__name__}."):
        if file.name.endswith(".questions"):
            page = file.name.split(".")[-2]
            asks = vars(importlib.import_module(file.name)).items()
            found |= {f"{page}.{name}": ask for name, ask in asks if name.startswith("guess_")}
    return found


ASKING = asking()


def check_choice(question: Choice) -> None:
    """One option alone is the truth, and it alone is called right; each has a value and words of its own."""
    truth, options = question.truth(), question.options
    values = [option.value for option in options]
    assert values.count(truth) == 1, f"{truth!r} among {values}"
    assert all(value not in values[:place] for place, value in enumerate(values)), values
    assert len({option.text for option in options}) == len(options)
    for place, option in enumerate(options):
        reply = question.reply_to(place)
        assert reply.correct is bool(option.value == truth) and reply.text == option.answer
        assert option.answer and option.answer.startswith("Richtig") is reply.correct


def check_number(question: NumberQuestion) -> None:
    """The truth is right; a mistake gets its own words, anything else the common ones, and none is right."""
    truth = np.asarray(question.truth(), dtype=float)
    reply = question.reply_to(truth.tolist())
    assert reply.correct and reply.text == question.right and question.right.startswith("Richtig")
    for mistake in question.mistakes:
        if not callable(mistake.value):
            reply = question.reply_to(np.asarray(mistake.value, dtype=float).tolist())
            assert reply.correct is False and reply.text == mistake.answer
    reply = question.reply_to((1e6 * (truth + 1.7)).tolist())
    assert reply.correct is False and reply.text
    said = [question.right, question.otherwise, *(mistake.answer for mistake in question.mistakes)]
    assert len(set(said)) == len(said)


def check_vector(question: VectorQuestion) -> None:
    """What holds of a number, and a list of another length is told so."""
    check_number(question)
    reply = question.reply_to([*question.truth(), 0.0])
    assert reply.correct is False and reply.text == question.wrong_length != ""


def check(question: Question) -> None:
    for kind, holds in (
        (Choice, check_choice),
        (VectorQuestion, check_vector),
        (NumberQuestion, check_number),
    ):
        if isinstance(question, kind):
            return holds(question)
    raise AssertionError(f"no such question is known: {type(question).__name__}")


@pytest.mark.parametrize("name", ASKING)
def test_a_question_calls_its_truth_alone_right_and_has_words_for_each_answer(name):
    question = ASKING[name]()
    check(question)
    question.close()


@pytest.mark.parametrize(
    "drifted",
    [
        Choice("?", lambda: 3, [Option(1, "a", "Richtig."), Option(2, "b", "Nein.")]),
        Choice("?", lambda: 1, [Option(1, "a", "Nein."), Option(2, "b", "Richtig.")]),
        Choice("?", lambda: 1, [Option(1, "a", "Richtig."), Option(1, "b", "Richtig.")]),
        Choice("?", lambda: 1, [Option(1, "a", "Richtig."), Option(2, "b", "Ja."), Option(2, "c", "Ja.")]),
        Choice("?", lambda: 1, [Option(1, "a", "Richtig."), Option(2, "b", "")]),
        NumberQuestion("?", lambda: 4, "Richtig.", [Mistake(4, "Die Wurzel fehlt.")], "Nein."),
        NumberQuestion("?", lambda: 4, "Richtig.", [Mistake(2, "Nein.")], "Nein."),
        NumberQuestion("?", lambda: 4, "Nein.", [], "Richtig."),
        VectorQuestion("?", lambda: [1, 2], "Richtig.", "", otherwise="Nein."),
    ],
)  # fmt: skip
def test_a_question_whose_answers_have_drifted_is_found(drifted):
    with pytest.raises(AssertionError):
        check(drifted)
