"""What is run with `python -m`: asked for help, each says what it does and does nothing else."""

import re
import subprocess
import sys
from pathlib import Path

from tokenwerk_helpers.tools import messages, refresh

ROOT = Path(__file__).parents[1]
# All in one process, which imports torch once.
ASK = """
import runpy, sys
for name in sys.argv[1:]:
    sys.argv = [name, "--help"]
    try:
        runpy.run_module(name, run_name="__main__")
    except SystemExit as end:
        print(f"\\n{name} ends with {end.code or 0}", flush=True)
    else:
        sys.exit(f"{name} --help does its work")
"""


def commands() -> list[str]:
    """The modules of the package and the tests that are run by hand."""
    files = [file for room in ("tokenwerk_helpers", "tests") for file in (ROOT / room).rglob("*.py")]
    run = [file for file in files if re.search("^if __name__ ==", file.read_text("utf-8"), re.MULTILINE)]
    return sorted(".".join(file.relative_to(ROOT).with_suffix("").parts) for file in run)


def test_every_command_shows_its_help_and_does_not_start_its_work():
    assert {
        "tokenwerk_helpers.tools.retrain",
        "tokenwerk_helpers.tools.record_norm_placement",
        "tokenwerk_helpers.tools.refresh",
        "tokenwerk_helpers.tools.new",
    } <= {*commands()}
    command = [sys.executable, "-c", ASK, *commands()]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("usage: ") == len(commands())
    for name in commands():
        assert f"{name} ends with 0" in result.stdout


def test_before_a_page_is_stored_the_words_without_german_are_named(monkeypatch, capsys):
    told = []
    monkeypatch.setattr(messages, "missing", lambda: ["Not yet {said}"])
    monkeypatch.setattr(refresh, "refresh", lambda path: told.append(capsys.readouterr().err))
    assert refresh.main(["12_topic.ipynb"]) == 0
    assert "Not yet {said}" in told[0]
