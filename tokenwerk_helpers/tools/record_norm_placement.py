"""Train every run that page 06 shows of where the norm sits, and store their curves.

python -m tokenwerk_helpers.tools.record_norm_placement
"""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

import torch

from ..chapters.norm_placement.computation import RECORDING, Run, all_runs, averaged, final_loss, train


def record(path: Path = RECORDING) -> None:
    """Train every run and store the curves in the end; what was interrupted goes on where it stopped."""
    unfinished = path.with_suffix(".unfinished")
    stored = json.loads(unfinished.read_text(encoding="utf-8"))["runs"] if unfinished.exists() else []
    done = {Run(**entry["run"]) for entry in stored}
    for run in all_runs():
        if run in done:
            continue
        losses = [round(loss, 3) for loss in averaged(train(run))]
        stored.append({"run": asdict(run), "losses": losses})
        print(f"{run}: {final_loss(losses):.2f}", flush=True)
        lines = ",\n".join(json.dumps(entry) for entry in stored)
        unfinished.write_text(f'{{"runs": [\n{lines}\n]}}\n', encoding="utf-8")
    unfinished.replace(path)


def main() -> None:
    """The command line; it knows no options but --help."""
    what = "Train every run of page 06 again and store their curves: up to an hour on one core."
    argparse.ArgumentParser(description=what).parse_args()
    torch.set_num_threads(1)  # sums are then added in one order on every machine
    record()


if __name__ == "__main__":
    main()
