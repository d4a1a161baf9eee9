"""Train with and without the causal mask, as page 05 shows it, and store the losses and what is written.

python -m tokenwerk_helpers.tools.record_copying_the_future
"""

import argparse
import json
from pathlib import Path

import torch

from ..chapters.causal_mask.computation import KINDS_OF_TRAINING, RECORDING, averaged, train_both
from ..chapters.reading import Reading


def record(path: Path = RECORDING) -> None:
    """Train both and store them."""
    steps = list(train_both(Reading()))
    content = {}
    for kind in KINDS_OF_TRAINING:
        losses = [round(loss, 3) for loss in averaged([step.losses[kind] for step in steps])]
        content[kind] = {"losses": losses, "texts": [step.texts[kind] for step in steps if step.texts]}
        print(f"{kind}: {losses[-1]}, {content[kind]['texts'][-1]}")
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """The command line; it knows no options but --help."""
    what = "Train the two small models of page 05 again and store their curves: some 15 s on one core."
    argparse.ArgumentParser(description=what).parse_args()
    torch.set_num_threads(1)  # sums are then added in one order on every machine
    record()


if __name__ == "__main__":
    main()
