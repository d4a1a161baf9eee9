"""Train the shipped model again and report what it can do: `python -m tokenwerk_helpers.tools.retrain`.

Writes weights, config, vocabulary and checkpoints of `--language` to its folder in `weights` (or to
`--folder`). What a model can do hardly depends on the seed; which head does it depends on nothing but the
seed. Of the seeds in which a single head copies, that one is shipped whose heads read most clearly:
`--try 0 1 2` trains several, ships none, and adds their figures to `about["seeds_tried"]` in config.json,
where they stay when a model is shipped.
"""

import argparse
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor
from tqdm.auto import tqdm

from .. import tokenizer as bpe
from ..corpus import expectation, stories
from ..language import LANGUAGES, set_language
from ..model import Config, Decoder
from ..parameters import count
from ..pretrained import CHECKPOINT_FILES, CONFIG, folder_of, load, save, save_checkpoint
from ..tokenizer import Tokenizer
from ..training import Training, fresh_batches, train
from .abilities import ABILITIES, Exam, Measured

SEEDS = {"de": 0, "en": 11}  # of the shipped models
ONE_HEAD = 0.1  # copying is done by one head if without it no more than this share of it succeeds
THREADS = 1  # the weights depend on it, see `training`; every machine has one
BATCH = 32
CHECKPOINTS = (0, 50, 100, 200, 400, 800, 1200, 1600, 2000, 3000, 4000)  # dense where abilities appear
GOALS = {"pronoun": 0.99, "giver": 0.99, "receiver": 0.99, "copy": 0.95}
GAP_GOAL = 0.06  # nats per token above the entropy floor
# Which head of a block does what is chance. Permuted, which changes nothing that a model computes, the heads
# with these roles stand at the same place in every language: role -> (block, head), counted from 0.
PLACE_OF = {"previous": (0, 0), "pronoun": (0, 1), "induction": (1, 1)}
READ = ("previous", "induction", "pronoun", "giver")  # the roles whose heads the pages point at


def new_tokenizer() -> Tokenizer:
    """Learn the vocabulary: every word of the grammar becomes a single token."""
    return bpe.train(story.text for story in stories(seed=0, count=5000))


def config(tokenizer: Tokenizer) -> Config:
    """The shape of the shipped model: small enough to train in minutes, deep enough for induction."""
    return Config(vocab_size=len(tokenizer), context_length=64, width=64, heads=4, blocks=2)


def held_out_exam(tokenizer: Tokenizer, count: int = 1000) -> Exam:
    """Stories full of combinations that never occur in training."""
    return Exam(stories(seed=1_000_000, count=count, split="held_out"), tokenizer)


def fresh_exam(tokenizer: Tokenizer, count: int = 1000) -> Exam:
    """Stories of the kind that was trained on, but new; fewer of them where a test only needs the files."""
    return Exam(stories(seed=2_000_000, count=count), tokenizer)


def rounded(measured: Measured) -> dict[str, float]:
    """A measurement as flat figures for JSON."""
    return {"loss": round(measured.loss, 4)} | {name: round(x, 4) for name, x in measured.right.items()}


def begin(tokenizer: Tokenizer, seed: int, steps: int) -> Training:
    """The training of the shipped model, before its first step."""
    batches = fresh_batches(tokenizer, BATCH, seed)
    return train(config(tokenizer), batches, seed=seed, steps=steps)


def run(tokenizer: Tokenizer, seed: int, steps: int, at_checkpoint=None) -> Decoder:
    """Train one model; `at_checkpoint(step, model)` is called at each step in CHECKPOINTS."""
    training = begin(tokenizer, seed, steps)
    if at_checkpoint:
        at_checkpoint(0, training.model)
    for progress in (bar := tqdm(training, total=steps, desc=f"seed {seed}", mininterval=1)):
        if progress.step % 50 == 0:
            bar.set_postfix(loss=f"{progress.train_loss:.3f}")
        if at_checkpoint and progress.step in CHECKPOINTS:
            at_checkpoint(progress.step, training.model)
    return training.model


def permute_heads(model: Decoder, block: int, order: Sequence[int]) -> None:
    """Put a block's heads in another order, number `order[h]` to place h; the model computes what it did."""
    attn = model.blocks[block].attn
    width = attn.q.weight.shape[0] // attn.heads  # D/H
    rows = torch.cat([torch.arange(head * width, (head + 1) * width) for head in order])  # (D,)
    with torch.no_grad():
        for table in (attn.q, attn.k, attn.v):
            for stored in (table.weight, table.bias):
                if stored is not None:
                    stored.copy_(stored[rows].clone())
        attn.out.weight.copy_(attn.out.weight[:, rows].clone())


def clearest(looks: Tensor) -> tuple[int, int]:
    """Block and head that look most where a role says: looks (L, H)."""
    block, head = divmod(int(looks.argmax()), looks.shape[1])
    return block, head


def head_orders(looks: dict[str, Tensor]) -> dict[int, list[int]]:
    """The order of the heads of each block that brings the clearest of each role to its place in PLACE_OF.

    looks: as `Exam.heads` measures. A role that another block or an earlier role's head plays stays there.
    """
    blocks, heads = next(iter(looks.values())).shape
    orders = {}
    for block in range(blocks):
        placed: dict[int, int] = {}
        for role, (where, place) in PLACE_OF.items():
            found, head = clearest(looks[role])
            if where == found == block and head not in placed.values():
                placed[place] = head
        rest = iter(head for head in range(heads) if head not in placed.values())
        orders[block] = [placed[place] if place in placed else next(rest) for place in range(heads)]
    return orders


def head_report(model: Decoder, exam: Exam) -> dict[str, Any]:
    """Per role the weight of every head, the head with the most, and what is lost when it is switched off."""
    intact, without = exam.measure(model), exam.without_heads(model)
    report = {}
    for role, looks in exam.heads(model).items():
        block, head = clearest(looks)
        loss = without[block, head]
        ability = "copy" if role in ("previous", "induction") else role
        report[role] = {
            "block": block,
            "head": head,
            "looks": round(float(looks.max()), 3),
            "loss_without": round(loss.loss - intact.loss, 4),
            "right_without": {ability: round(loss.right[ability], 4)},
            "all_looks": [[round(x, 3) for x in row] for row in looks.tolist()],
        }
    return report


def examine(model: Decoder, tokenizer: Tokenizer) -> dict[str, Any]:
    """Everything that is measured on a finished model, as JSON can hold it."""
    held_out, fresh = held_out_exam(tokenizer), fresh_exam(tokenizer)
    return {
        "held_out": rounded(held_out.measure(model)) | {"floor": round(held_out.floor, 4)},
        "validation": rounded(fresh.measure(model)) | {"floor": round(fresh.floor, 4)},
        "heads": head_report(model, held_out),
        "without_head": {
            f"{block}.{head}": rounded(measured)
            for (block, head), measured in held_out.without_heads(model).items()
        },
    }


def describe(figures: dict[str, Any]) -> str:
    """The figures as lines of text: what was measured, then each goal and whether it is reached."""
    lines = []
    for name in ("validation", "held_out"):
        part = figures[name]
        lines.append(f"{name}: loss {part['loss']:.4f}, floor {part['floor']:.4f}")
        lines += [f"  {ability:10} {part[ability]:7.2%}" for ability in ABILITIES]
    for role, head in figures["heads"].items():
        (ability, right), *_ = head["right_without"].items()
        lines.append(
            f"{role:10} block {head['block']} head {head['head']} looks {head['looks']:.2f}; "
            f"without it: loss {head['loss_without']:+.3f}, {ability} {right:.1%}"
        )
    return "\n".join(lines + goals(figures))


def goals(figures: dict[str, Any]) -> list[str]:
    """Each goal, measured on held-out combinations, and whether it is reached."""
    held_out = figures["held_out"]
    lines = [f"goal {name} >= {goal:.0%}: {_met(held_out[name] >= goal)}" for name, goal in GOALS.items()]
    gap = held_out["loss"] - held_out["floor"]
    lines.append(f"goal within {GAP_GOAL} of the floor: {gap:.4f}, {_met(gap <= GAP_GOAL)}")
    stand = all(
        (figures["heads"][role][name] == at)
        for role, place in PLACE_OF.items()
        for name, at in zip(("block", "head"), place)
    )
    return [*lines, f"goal heads in their places: {_met(stand)}"]


def _met(reached: bool) -> str:
    return "reached" if reached else "MISSED"


def compare(tokenizer: Tokenizer, seeds: list[int], steps: int, folder: Path) -> None:
    """Train one model per seed and note what tells them apart beside the model in `folder`."""
    load(folder)  # so that a folder without one is refused before minutes of training
    for seed in seeds:
        figures = examine(run(tokenizer, seed, steps), tokenizer)
        print(f"--- seed {seed}\n{describe(figures)}\nclarity of the heads: {clarity(summary(figures)):.3f}")
        note_tried(folder, seed, summary(figures))


def note_tried(folder: Path, seed: int, tried: dict[str, Any]) -> None:
    """Add a seed's summary to the config of the shipped model."""
    shipped = load(folder)
    known = shipped.about.get("seeds_tried", {}) | {str(seed): tried}
    about = shipped.about | {"seeds_tried": dict(sorted(known.items(), key=lambda item: int(item[0])))}
    save(folder, shipped.model, shipped.tokenizer, about, shipped.name)


def summary(figures: dict[str, Any]) -> dict[str, Any]:
    """What tells seeds apart: abilities, gap to the floor, and how the clearest head of each role reads.

    looks: how much that head looks at the word that decides. without: the share of right answers that are
    left when it is switched off.
    """
    held_out, heads = figures["held_out"], figures["heads"]
    looks = {role: head["looks"] for role, head in heads.items()}
    without = {role: next(iter(head["right_without"].values())) for role, head in heads.items()}
    gap = round(held_out["loss"] - held_out["floor"], 4)
    return {"gap": gap, "looks": looks, "without": without} | {name: held_out[name] for name in GOALS}


def clarity(tried: dict[str, Any]) -> float:
    """How clearly the heads read (0 to 1): how much the best one looks, averaged over the roles READ."""
    return sum(tried["looks"][role] for role in READ) / len(READ)


def ship(tokenizer: Tokenizer, seed: int, steps: int, folder: Path) -> None:
    """Train the model, write it with its checkpoints, and print what it can do.

    Until all is measured nothing in the folder changes, so a run may be broken off.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent) as unfinished:
        figures = _train_into(Path(unfinished), tokenizer, seed, steps, tried_in(folder))
        for path in folder.glob(CHECKPOINT_FILES):
            path.unlink()
        for path in Path(unfinished).iterdir():
            path.replace(folder / path.name)
    print(describe(figures))


def tried_in(folder: Path) -> dict[str, Any]:
    """The seeds that have been compared beside the model in the folder, if there is one."""
    return load(folder).about.get("seeds_tried", {}) if (folder / CONFIG).exists() else {}


def _train_into(
    folder: Path, tokenizer: Tokenizer, seed: int, steps: int, tried: dict[str, Any]
) -> dict[str, Any]:
    """Write the trained model, its checkpoints and its figures; return the figures."""
    exam = held_out_exam(tokenizer, 300)
    kept = []

    def keep(step: int, model: Decoder) -> None:
        kept.append((step, deepcopy(model), rounded(exam.measure(model)) | {"floor": round(exam.floor, 4)}))

    model = run(tokenizer, seed, steps, keep)
    orders = head_orders(held_out_exam(tokenizer).heads(model))
    for one in (model, *(earlier for _step, earlier, _metrics in kept)):
        for block, order in orders.items():
            permute_heads(one, block, order)
    for step, earlier, metrics in kept:
        save_checkpoint(folder, step, earlier, metrics)
    figures = examine(model, tokenizer)
    mean = expectation()
    about = {
        "seed": seed,
        "steps": steps,
        "batch": BATCH,
        "threads": torch.get_num_threads(),
        "parameters": count(model).total,
        "grammar": {"nats_per_story": mean.nats, "tokens_per_story": mean.tokens, "floor": mean.floor},
        "seeds_tried": tried | {str(seed): summary(figures)},
    }
    save(folder, model, tokenizer, about | figures)
    return figures


def main() -> None:
    """Read the command line, then train: one model to ship, or several to compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, help="if not that of the shipped model")
    parser.add_argument("--steps", type=int, default=CHECKPOINTS[-1])
    parser.add_argument("--threads", type=int, default=THREADS)
    parser.add_argument("--language", choices=LANGUAGES, default=LANGUAGES[0])
    parser.add_argument("--folder", type=Path, help="where to, if not to the folder of the language")
    parser.add_argument("--try", dest="seeds", type=int, nargs="+", help="compare seeds, ship nothing")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    set_language(arguments.language)  # whose grammar writes the stories
    folder = arguments.folder or folder_of(arguments.language)
    tokenizer = new_tokenizer()
    if arguments.seeds:
        compare(tokenizer, arguments.seeds, arguments.steps, folder)
    else:
        seed = SEEDS[arguments.language] if arguments.seed is None else arguments.seed
        ship(tokenizer, seed, arguments.steps, folder)


if __name__ == "__main__":
    main()
