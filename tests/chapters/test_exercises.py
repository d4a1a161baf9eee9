"""What holds for every exercise of the book: its stub, solution, hints and known mistakes fit its check."""

import ast
import inspect
import json
import re
import textwrap
from pathlib import Path

import pytest

from tests.ways import exercises, ways
from tokenwerk_helpers.language import set_language

NOTEBOOKS = Path(__file__).parents[2] / "notebooks" / "de"
STUB_CELL = re.compile(r"def .*\n    return \.\.\.\n\n\npage\.(check_\w+)\((\w+)\)")


def stub_cells() -> dict[str, str]:
    """The code cells of all notebooks that leave a function open, by the same page and name."""
    cells = {}
    for path in NOTEBOOKS.glob("*.ipynb"):
        page = re.sub(r"^\d+[a-z]?_", "", path.stem)
        for cell in json.loads(path.read_text())["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] == "code" and "page.check_" in source:
                check = re.search(r"page\.(check_\w+)", source)
                cells[f"{page}.{check[1]}"] = source
    return cells


EXERCISES = exercises()
each = pytest.mark.parametrize("exercise", EXERCISES.values(), ids=EXERCISES)


def without_docstring(function) -> str:
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert ast.get_docstring(tree), "a stub says what is to be written"
    tree.body = tree.body[1:]
    return ast.unparse(tree)


def test_every_stub_cell_has_its_exercise_and_every_exercise_its_cell():
    assert len(EXERCISES) >= 13
    assert sorted(stub_cells()) == sorted(EXERCISES)


@pytest.mark.parametrize("name", EXERCISES)
def test_the_stub_is_that_of_the_notebook(name):
    stub, cell = EXERCISES[name].stub, stub_cells()[name]
    assert STUB_CELL.fullmatch(cell)
    assert cell.startswith(without_docstring(stub) + "\n")
    assert cell.endswith(f"({stub.__name__})")


@each
def test_the_stub_is_not_attempted_yet(exercise):
    assert exercise(exercise.stub).correct is None


@each
def test_the_solution_is_right_and_takes_what_the_stub_takes(exercise):
    feedback = exercise(exercise.solution)
    assert feedback.correct, feedback
    assert inspect.signature(exercise.solution) == inspect.signature(exercise.stub)
    assert exercise.solution.__name__ == f"{exercise.stub.__name__}_solution"


@each
def test_at_least_four_known_mistakes_are_refused_each_with_its_own_words(exercise):
    mistakes = exercise.mistakes()
    for mistake in mistakes:
        feedback = exercise(mistake.function)
        assert feedback.correct is False, mistake.name
        assert feedback.text == mistake.answer, mistake.name
    assert len({mistake.name for mistake in mistakes}) == len(mistakes)
    assert len({mistake.answer for mistake in mistakes}) >= 4


@pytest.mark.parametrize("name", EXERCISES)
def test_two_other_right_ways_are_right_and_whoever_borrows_the_whole_work_is_told_so(name):
    exercise, other = EXERCISES[name], ways(name)
    sources = {inspect.getsource(way) for way in other.right if inspect.isfunction(way)}
    assert len(other.right) >= 3 and len(sources - {inspect.getsource(exercise.solution)}) >= 1
    assert all(exercise(way).correct for way in other.right)
    said = [exercise(way).text for way, _words in other.wrong]
    for helper in exercise.borrowed():
        assert any(f"die Arbeit hat {helper} gemacht" in text for text in said), helper


@each
def test_the_hints_go_from_gentle_to_strong_and_never_hold_the_solution(exercise):
    hints = exercise.hints()
    assert len(hints) == 2 and len(set(hints)) == 2
    body = inspect.getsource(exercise.solution).splitlines()[2:]
    lines = [line.split("#")[0].strip() for line in body]
    for line in [*lines, lines[-1].removeprefix("return ")]:
        assert not any(line in hint for hint in hints)


@each
def test_hints_and_answers_follow_the_language(exercise):
    german = exercise.hints() + [mistake.answer for mistake in exercise.mistakes()]
    try:
        set_language("en")
        english = exercise.hints() + [mistake.answer for mistake in exercise.mistakes()]
    finally:
        set_language("de")
    assert not set(german) & set(english)
