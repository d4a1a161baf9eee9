"""A checkout is the same on every system, whatever git is told there about the ends of lines."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_every_file_has_the_same_bytes_on_every_system():
    command = ["git", "ls-files", "--eol", "--", "."]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if answer.returncode:
        pytest.skip("no git checkout")
    for line in answer.stdout.splitlines():
        kinds, name = line.split("\t")
        stored, _here, *attributes = kinds.split()
        fixed = "attr/-text" if stored == "i/-text" else "eol=lf"
        assert fixed in attributes, f"{name}: {kinds}"
        assert stored in ("i/lf", "i/none", "i/-text"), f"{name}: {kinds}"
