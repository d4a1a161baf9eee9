"""Train with and without the causal mask, as page 05 shows it, and store the losses and what is written.

python -m tokenwerk_helpers.tools.record_copying_the_future
"""

import argparse
import json
from pathlib import Path

import torch

from ..chapters.causal_mask.computation import KINDS_OF_TRAINING, RECORDING, averaged, train_both
from ..chapters.reading import Reading
from ..language import LANGUAGES, set_language
from ..pretrained import folder_of


def record(path: Path) -> None:
    """Train both and store them."""
    steps = list(train_both(Reading()))
    content = {}
    for kind in KINDS_OF_TRAINING:
        losses = [round(loss, 3) for loss in averaged([step.losses[kind] for step in steps])]
        content[kind] = {"losses": losses, "texts": [step.texts[kind] for step in steps if step.texts]}
        print(f"{kind}: {losses[-1]}, {content[kind]['texts'][-1]}")
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """The command line."""
    what = "Train the two small models of page 05 again and store their curves: some 15 s on one core."
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--language", choices=LANGUAGES, default=LANGUAGES[0])
    language = parser.parse_args().language
    set_language(language)
    torch.set_num_threads(1)  # sums are then added in one order on every machine
    record(folder_of(language) / RECORDING)


if __name__ == "__main__":
    main()
