"""A training step beside nanoGPT's, same configuration, batch and threads, in one run.

    python -m tests.benchmarks.training_step PATH/TO/nanoGPT

Both make their steps in turn, so that other work on the machine falls on both alike. A step is forward,
backward, clipping and AdamW, as each project's own loop has it. Printed are milliseconds of processor time,
to which waiting for a busy machine does not add.
"""

import argparse
import importlib.util
import time
from pathlib import Path
from statistics import median, quantiles

import torch

from tokenwerk_helpers.model import Config
from tokenwerk_helpers.training import Batch, Recipe, Training, new_model

# V, context, D, H, L, texts in a batch
SHAPES = {"as shipped": (872, 64, 64, 4, 2, 32), "four times as wide": (872, 128, 256, 4, 4, 8)}


def nanogpt_step(folder: Path, shape: tuple[int, ...], ids: torch.Tensor, targets: torch.Tensor):
    """nanoGPT's model and the step of its train.py as it runs on a CPU: no scaling, no fused AdamW."""
    spec = importlib.util.spec_from_file_location("nanogpt_model", folder / "model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    vocab_size, context, width, heads, blocks, _ = shape
    config = module.GPTConfig(context, vocab_size, blocks, heads, width, dropout=0.0, bias=True)
    model = module.GPT(config)
    optimizer = model.configure_optimizers(0.05, 5e-3, (0.9, 0.98), "cpu")

    def step() -> float:
        for group in optimizer.param_groups:
            group["lr"] = 1e-4
        _, loss = model(ids, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.item()

    return step


def our_step(shape: tuple[int, ...], ids: torch.Tensor, targets: torch.Tensor):
    """One turn of our own loop."""
    vocab_size, context, width, heads, blocks, _ = shape
    model = new_model(Config(vocab_size, context, width, heads, blocks))
    endless = iter(lambda: Batch(ids, targets), None)
    training = Training(model, endless, Recipe(steps=10**9))
    return lambda: next(training)


def side_by_side(steps: dict, turns: int) -> dict[str, list[float]]:
    """Processor milliseconds per step, taken in turn, after a few steps to warm up."""
    times = {name: [] for name in steps}
    for turn in range(turns + 3):
        for name, step in steps.items():
            started = time.process_time()
            step()
            if turn >= 3:
                times[name].append((time.process_time() - started) * 1000)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("nanogpt", type=Path, help="a folder with nanoGPT's model.py")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--shapes", nargs="+", choices=list(SHAPES), default=list(SHAPES))
    arguments = parser.parse_args()
    for threads in arguments.threads:
        torch.set_num_threads(threads)
        for name in arguments.shapes:
            shape = SHAPES[name]
            ids = torch.randint(shape[0], (shape[-1], shape[1]))
            targets = ids.roll(-1, 1)
            steps = {
                "ours": our_step(shape, ids, targets),
                "nanoGPT": nanogpt_step(arguments.nanogpt, shape, ids, targets),
            }
            times = side_by_side(steps, arguments.turns)
            print(f"{name}, {threads} thread(s): {(ids.shape[0], ids.shape[1])} tokens")
            for who, values in times.items():
                print(f"  {who:8} median {median(values):7.2f} ms   quarter {quantiles(values)[0]:7.2f} ms")


if __name__ == "__main__":
    main()
