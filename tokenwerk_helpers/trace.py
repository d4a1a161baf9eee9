"""Run a model once and keep every named inner value; or run it with some of them replaced.

A name is the path of a module, as `model.named_modules()` gives it, and stands for what that module returns:
"embedded", "blocks.0.attn.weights", "blocks.0.after_attention", "blocks.1" (what leaves the second block).
What the whole model returns is "logits". Only PyTorch's forward hooks are used: the model runs as it stands.

    seen = trace(model, ids)
    seen["blocks.0.attn.weights"]                        # (B, H, T, T)
    trace(model, ids, replace=ablate(model, "mlp"))      # the same, with every MLP switched off
"""

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from .model import Decoder

OUTPUT = "logits"


class Trace(dict[str, Tensor]):
    """The inner values of one run by name, in the order in which they were computed."""

    def __missing__(self, name: str) -> Tensor:
        raise KeyError(_unknown(name, self))

    def __repr__(self) -> str:
        return "\n".join(f"{name:32} {tuple(value.shape)}" for name, value in self.items())


@dataclass(frozen=True)
class FromInputs:
    """A replacement computed from what a module is given instead of from what it returns.

    `FromInputs(lambda x: x)` takes a norm out, `FromInputs(lambda x, fx: fx)` a residual's direct path.
    """

    function: Callable[..., Tensor]


Replacement = Callable[[Tensor], Tensor] | FromInputs


def trace(
    model: nn.Module,
    ids: Tensor,
    allowed: Tensor | None = None,
    replace: Mapping[str, Replacement] | None = None,
) -> Trace:
    """Run the model once and return every named inner value, detached; the model stays as it was.

    ids (B, T); `allowed` as in `Decoder.forward`; `replace` as in `running_with`. Runs in eval mode without
    gradients, so dropout thins out nothing. A part alone, such as a `Block`, is traced the same way on its x.
    """
    seen = Trace()
    inputs = (ids,) if allowed is None else (ids, allowed)
    with torch.no_grad(), evaluating(model), running_with(model, replace or {}), ExitStack() as hooks:
        for name, module in _modules(model).items():
            hooks.callback(module.register_forward_hook(_recorder(seen, name)).remove)
        model(*inputs)
    return seen


@contextmanager
def running_with(model: nn.Module, replace: Mapping[str, Replacement]) -> Iterator[nn.Module]:
    """Within the `with`, every run of the model continues with the replacements in place of the named values.

    A replacement is a function of what the module returns (a copy, it may be changed in place) or a
    `FromInputs`. It must return the same shape, else ValueError; KeyError for a name the model does not have.
    Mode and gradients stay as the caller has set them. If nested, the inner `with` has the last word.
    """
    modules = _modules(model)
    with ExitStack() as hooks:
        for name, replacement in replace.items():
            if name not in modules:
                raise KeyError(_unknown(name, modules))
            hooks.callback(modules[name].register_forward_hook(_replacer(name, replacement)).remove)
        yield model


@contextmanager
def evaluating(model: nn.Module) -> Iterator[nn.Module]:
    """Within the `with`, the model is in eval mode; afterwards each module has its own mode back."""
    training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        yield model
    finally:
        for module in training:
            module.training = True


def _modules(model: nn.Module) -> dict[str, nn.Module]:
    return {name or OUTPUT: module for name, module in model.named_modules()}


def _unknown(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
    return f"no value named {name!r}" + (f"; near it: {', '.join(near)}" if near else "")


def _recorder(seen: Trace, name: str) -> Callable:
    def record(_module: nn.Module, _inputs: tuple, output: Tensor) -> None:
        seen[name] = output.detach()

    return record


def _replacer(name: str, replacement: Replacement) -> Callable:
    def replace(_module: nn.Module, inputs: tuple, output: Tensor) -> Tensor:
        if isinstance(replacement, FromInputs):
            new = replacement.function(*inputs)
        else:
            new = replacement(output.clone())
        if not isinstance(new, Tensor) or new.shape != output.shape:
            got = tuple(new.shape) if isinstance(new, Tensor) else new
            raise ValueError(f"the replacement for {name!r} must return {tuple(output.shape)}, not {got}")
        return new

    return replace


# --- switching parts off ----------------------------------------------------------------------------

# A part: the modules it consists of, by the last word of their path, and what is left when it is off.
PARTS: dict[str, tuple[set[str], Replacement]] = {
    "positions": ({"position_embedding"}, torch.zeros_like),
    "attention": ({"attn"}, torch.zeros_like),
    "mlp": ({"mlp"}, torch.zeros_like),
    "norms": ({"norm1", "norm2", "final_norm"}, FromInputs(lambda x: x)),
    "residual": ({"after_attention", "after_mlp"}, FromInputs(lambda x, fx: fx)),
}


def ablate(model: Decoder, *parts: str, heads: Iterable[tuple[int, int]] = ()) -> dict[str, Replacement]:
    """The replacements that switch parts of a decoder off, for `trace(..., replace=)` or `running_with`.

    parts: any of "positions", "attention", "mlp", "norms", "residual", each off in every block; heads: pairs
    (block, head) whose context becomes zero, so that they add nothing. ValueError for what does not exist.
    """
    replace: dict[str, Replacement] = {}
    for part in parts:
        if part not in PARTS:
            raise ValueError(f"no part named {part!r}: choose from {', '.join(PARTS)}")
        names, replacement = PARTS[part]
        replace |= {name: replacement for name in _modules(model) if name.rpartition(".")[2] in names}
    off: dict[int, list[int]] = {}
    for block, head in heads:
        if not (0 <= block < len(model.blocks) and 0 <= head < model.config.heads):
            raise ValueError(f"no head {head} in block {block}")
        off.setdefault(block, []).append(head)
    return replace | {f"blocks.{block}.attn.context": _silencer(silent) for block, silent in off.items()}


def _silencer(heads: list[int]) -> Callable[[Tensor], Tensor]:
    def silence(context: Tensor) -> Tensor:
        context[:, heads] = 0.0  # (B, H, T, D/H)
        return context

    return silence


def layer_logits(model: Decoder, seen: Trace) -> Tensor:
    """What each layer would already answer: final norm and head read the stream before and after each block.

    `seen` from `trace(model, ids)` -> (L+1, B, T, V); the last of them are the model's own logits. For a run
    with replacements, call it within the same `running_with`. nostalgebraist 2020, "the logit lens".
    """
    streams = [seen["embedded"]] + [seen[f"blocks.{i}"] for i in range(len(model.blocks))]
    with torch.no_grad(), evaluating(model):
        return model.head(model.final_norm(torch.stack(streams)))  # (L+1, B, T, V)
