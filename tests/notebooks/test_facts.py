"""Every checkable statement of the source texts has its test and its place in a notebook, under its id."""

import re
from pathlib import Path
from typing import NamedTuple

import nbformat

ROOT = Path(__file__).parents[2]

# statement -> the notebooks it belongs to
FACTS = {
    "F01": ["01"], "F02": ["01"], "F03": ["01"], "F04": ["02"], "F05": ["02"], "F06": ["02"], "F07": ["02"],
    "F08": ["02"], "F09": ["02"], "F10": ["03"], "F11": ["03"], "F12": ["03"], "F13": ["03"], "F14": ["03"],
    "F15": ["03"], "F16": ["04"], "F17": ["04"], "F18": ["04"], "F19": ["04", "05"], "F20": ["05"],
    "F21": ["05"], "F22": ["05"], "F23": ["05"], "F24": ["06"], "F25": ["06"], "F26": ["06"], "F27": ["06b"],
    "F28": ["06"], "F29": ["07"], "F30": ["07"], "F31": ["07", "10"], "F32": ["07"], "F33": ["07"],
    "F34": ["08"], "F35": ["08"], "F36": ["08", "10"], "F37": ["09"], "F38": ["09"], "F39": ["09"],
    "F40": ["10"], "F41": ["10"], "F42": ["10"], "F43": ["05"], "F44": ["05"], "F45": ["01"],
}  # fmt: skip


def ids_in(text: str) -> set[str]:
    return set(re.findall(r"\bF\d\d\b", text))


def ids_in_tests() -> set[str]:
    """The ids that stand inside a test function, not merely somewhere in a file."""
    found = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        if path.name != Path(__file__).name:
            for function in re.split(r"\n(?=def |async def |@|class )", path.read_text(encoding="utf-8")):
                if re.search(r"\bdef test_", function):
                    found |= ids_in(function)
    return found


class Section(NamedTuple):
    """What stands between two headings of a page: its Markdown, and how many cells show something."""

    prose: str
    outputs: int


def sections(path: Path) -> list[Section]:
    """The sections of a notebook, in their order."""
    found = [Section("", 0)]
    for cell in nbformat.read(path, 4).cells:
        if cell.cell_type == "code":
            found[-1] = Section(found[-1].prose, found[-1].outputs + bool(cell.outputs))
            continue
        for part in re.split(r"(?m)^(?=#+ )", cell.source):
            if part.startswith("#"):
                found.append(Section(part, 0))
            else:
                found[-1] = Section(found[-1].prose + part, found[-1].outputs)
    return found


def test_every_fact_is_asserted_by_a_test():
    assert sorted(set(FACTS) - ids_in_tests()) == []


def test_every_fact_stands_in_its_notebook_where_something_is_computed():
    wrong = []
    for path in sorted((ROOT / "notebooks" / "de").glob("*.ipynb")):
        parts = [(ids_in(section.prose), section.outputs) for section in sections(path)]
        named = set().union(*(ids for ids, _outputs in parts))
        computed = set().union(*(ids for ids, outputs in parts if outputs))
        expected = {fact for fact, numbers in FACTS.items() if path.stem.partition("_")[0] in numbers}
        wrong += [f"{path.name} does not name {fact}" for fact in expected - named]
        wrong += [f"{path.name} does not compute anything for {fact}" for fact in (expected & named) - computed]
    assert sorted(wrong) == []


def test_every_notebook_a_fact_belongs_to_exists():
    there = {path.stem.partition("_")[0] for path in (ROOT / "notebooks" / "de").glob("*.ipynb")}
    assert {number for numbers in FACTS.values() for number in numbers} <= there
