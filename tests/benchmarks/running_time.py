"""How long do the package's import, each notebook, and the notebooks' part of the suite take?

    python -m tests.benchmarks.running_time [--rounds 7]

Goals: the explorers import in at most 1.25 times what torch, matplotlib.figure and ipywidgets need; each
notebook runs all its cells in at most 10 s; nbval over all notebooks takes at most 90 s on two cores.
"""

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from tokenwerk_helpers.tools.refresh import NOTEBOOKS

ROOT = Path(__file__).parents[2]
OURS = "import tokenwerk_helpers.chapters.start, tokenwerk_helpers.chapters.decoder"
THEIRS = "import torch, matplotlib.figure, ipywidgets"


def seconds(command: list[str]) -> float:
    """How long the command takes; CalledProcessError if it fails."""
    start = time.perf_counter()
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def import_times(rounds: int) -> tuple[float, float]:
    """Median seconds of a fresh Python that imports ours, and theirs; taken in turns."""
    pairs = [
        [seconds([sys.executable, "-c", code]) for code in (OURS, THEIRS)] for _round in range(rounds + 1)
    ]
    ours, theirs = zip(*pairs[1:])  # the first round fills the file cache
    return statistics.median(ours), statistics.median(theirs)


def notebook_time(path: Path) -> float:
    """Seconds from the first cell to the last in a kernel that has just started."""
    notebook = nbformat.read(path, as_version=4)
    where = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        resources=where,
        extra_arguments=["--log-level=ERROR"],
    )
    with client.setup_kernel():
        start = time.perf_counter()
        for number, cell in enumerate(notebook.cells):
            client.execute_cell(cell, number)
        return time.perf_counter() - start


def report(what: str, found: float, limit: float, unit: str) -> bool:
    """Print one line; is the goal met?"""
    is_met = found <= limit
    print(
        f"{'met   ' if is_met else 'MISSED'} {what}: {found:.2f}{unit} (goal <= {limit:g}{unit})", flush=True
    )
    return is_met


def main() -> int:
    """The command line; exit code 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7, help="measured imports of each kind")
    rounds = parser.parse_args().rounds
    ours, theirs = import_times(rounds)
    print(f"importing the explorers {ours:.2f} s, torch, matplotlib.figure and ipywidgets {theirs:.2f} s")
    results = [report("import, ours / theirs", ours / theirs, 1.25, "")]
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        results.append(report(path.stem, notebook_time(path), 10, " s"))
    suite = [sys.executable, "-m", "pytest", "-n", "2", "-q", "notebooks"]
    results.append(report("nbval over all notebooks, two workers", seconds(suite), 90, " s"))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
