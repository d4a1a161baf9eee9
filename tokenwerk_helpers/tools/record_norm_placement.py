"""Train every run that page 06b shows of where the norm sits, and store curves and looks inside.

python -m tokenwerk_helpers.tools.record_norm_placement            the curves: up to an hour
python -m tokenwerk_helpers.tools.record_norm_placement --inside   the looks into the blocks: some minutes
"""

import argparse
import json
from dataclasses import asdict
from itertools import product
from pathlib import Path

import torch

from ..chapters.norm_placement.computation import (
    INSIDES,
    LOOK_DEPTHS,
    LOOK_SEEDS,
    LOOKS,
    RECORDING,
    Inside,
    Run,
    all_runs,
    arrangements,
    averaged,
    final_loss,
    looks_along,
    train,
)


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


def record_insides(path: Path = INSIDES) -> None:
    """Train every arrangement from every seed for a while, look inside on the way, store what was seen."""
    stored = []
    for blocks, seed in product(LOOK_DEPTHS, LOOK_SEEDS):
        for arrangement, run in arrangements(blocks).items():
            looks = {step: _rounded(inside) for step, inside in looks_along(run, seed) if inside}
            stored.append({"blocks": blocks, "arrangement": arrangement, "seed": seed, "looks": looks})
            print(f"{blocks} blocks, {arrangement}, seed {seed}: alike {looks[LOOKS[-1]]['alike'][-1]}")
    lines = ",\n".join(json.dumps(entry) for entry in stored)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def _rounded(inside: Inside) -> dict:
    """As JSON holds it: cosines to four places, gradients to three digits that count."""
    alike = [round(value, 4) for value in inside.alike]
    gradients = {
        name: [float(f"{value:.3g}") for value in values] for name, values in inside.gradients.items()
    }
    return {"alike": alike, "gradients": gradients}


def main() -> None:
    """The command line."""
    what = "Train every run of page 06b again and store their curves: up to an hour on one core."
    command = argparse.ArgumentParser(description=what)
    command.add_argument("--inside", action="store_true", help="only the looks into the blocks: some minutes")
    torch.set_num_threads(1)  # sums are then added in one order on every machine
    if command.parse_args().inside:
        record_insides()
    else:
        record()


if __name__ == "__main__":
    main()
