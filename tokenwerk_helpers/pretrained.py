"""The shipped models, one a language, their checkpoints, and the loading of others.

A model is a folder: `model.safetensors`, `config.json` and `tokenizer.json`, and beside them any number of
`checkpoint-<step>.safetensors`, earlier states of the same model. A GPT-2 in Hugging Face's layout has the
same three files. Nothing is downloaded and nothing is unpickled.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from .apart import Undrawn
from .language import LANGUAGES, shown
from .model import Config, Decoder
from .tokenizer import Tokenizer

WEIGHTS = Path(__file__).parent / "weights"
ARCHITECTURE = "tokenwerk-decoder"
MODEL, CONFIG, TOKENIZER = "model.safetensors", "config.json", "tokenizer.json"
CHECKPOINT_FILES = "checkpoint-*.safetensors"
TIED = "head.weight"  # stored once, as token_embedding.weight, when the head is tied


@dataclass
class Pretrained:
    """A model in eval mode, the tokenizer whose ids it reads, and what is known about it."""

    model: Decoder
    tokenizer: Tokenizer
    name: str
    about: dict[str, Any] = field(default_factory=dict)  # measured figures: losses, accuracies, heads


class Checkpoint(NamedTuple):
    """The model as it was after `step` steps of training, and what was measured then."""

    step: int
    model: Decoder
    metrics: dict[str, Any]


# --- files ----------------------------------------------------------------------------------------


def _existing(folder: Path, name: str) -> Path:
    path = folder / name
    if not path.is_file():
        raise FileNotFoundError(f"no {name} in {folder}: a model is {MODEL}, {CONFIG} and {TOKENIZER}")
    return path


def _read_json(path: Path) -> dict:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: not JSON ({error})") from error
    if not isinstance(content, dict):
        raise ValueError(f"{path}: a JSON object was expected")
    return content


def _read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors and the metadata of a safetensors file."""
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except SafetensorError as error:
        raise ValueError(f"{path}: not a safetensors file ({error})") from error


def _decoder(config: Config, tensors: Mapping[str, Tensor], path: Path) -> Decoder:
    """A decoder in eval mode with these weights, in float32; ValueError, naming the file, if they misfit."""
    with Undrawn():
        model = Decoder(config)
    if config.tie_head and "token_embedding.weight" in tensors:
        tensors = {TIED: tensors["token_embedding.weight"], **tensors}
    try:
        model.load_state_dict(tensors)
    except RuntimeError as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{path}: the weights do not fit the config. {reason}") from error
    return model.eval()


# --- our own models -------------------------------------------------------------------------------


def _write_tensors(path: Path, model: Decoder, dtype: torch.dtype, metadata: dict[str, str]) -> None:
    # A compiled model is wrapped, and so are the names of its values.
    state = {
        name.replace("_orig_mod.", ""): tensor.to(dtype).contiguous()
        for name, tensor in model.state_dict().items()
    }
    if model.config.tie_head:
        del state[TIED]
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(state, path, metadata)


def save(
    folder: Path | str,
    model: Decoder,
    tokenizer: Tokenizer,
    about: Mapping[str, Any],
    name: str = "tokenwerk",
) -> None:
    """Write a model as `load` reads it: weights in float32 (a tied head once), config and tokenizer.

    about: measured figures, as JSON can hold them. ValueError if tokenizer and model differ in their size.
    """
    if len(tokenizer) != model.config.vocab_size:
        raise ValueError(
            f"the tokenizer has {len(tokenizer)} tokens, the model vocab_size {model.config.vocab_size}"
        )
    folder = Path(folder)
    _write_tensors(folder / MODEL, model, torch.float32, {"format": "pt"})
    tokenizer.save(folder / TOKENIZER)
    content = {"architecture": ARCHITECTURE, "name": name, "config": asdict(model.config)}
    content["about"] = dict(about)
    text = json.dumps(content, ensure_ascii=False, indent=2)
    (folder / CONFIG).write_text(text + "\n", encoding="utf-8")


def save_checkpoint(folder: Path | str, step: int, model: Decoder, metrics: Mapping[str, Any]) -> Path:
    """Write an earlier state of the model in half precision, since pictures need no more: its new file."""
    metadata = {"step": str(step), "metrics": json.dumps(dict(metrics), ensure_ascii=False)}
    path = Path(folder) / CHECKPOINT_FILES.replace("*", f"{step:06d}")
    _write_tensors(path, model, torch.float16, metadata)
    return path


def _read_config(folder: Path) -> tuple[Config, dict]:
    path = _existing(folder, CONFIG)
    content = _read_json(path)
    if content.get("architecture") != ARCHITECTURE:
        kind = content.get("architecture") or content.get("model_type")
        raise ValueError(f"{path}: architecture {kind!r} is unknown, {ARCHITECTURE!r} was expected")
    try:
        return Config(**content["config"]), content
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: no valid config of a decoder ({error})") from error


def folder_of(where: Path | str | None) -> Path:
    """The folder of a model: that of a language for "de" or "en", of the one shown now for None."""
    where = where or shown()
    return WEIGHTS / where if where in LANGUAGES else Path(where)


def load(where: Path | str | None = None) -> Pretrained:
    """The shipped model of the language shown now, or of "de" or "en", or one that `save` wrote to a folder.

    Read from disk at each call (some milliseconds), so nobody sees what somebody else has changed in a model.
    FileNotFoundError or ValueError, naming the file, if something is missing or does not fit.
    """
    folder = folder_of(where)
    config, content = _read_config(folder)
    tokenizer = Tokenizer.load(_existing(folder, TOKENIZER), config.vocab_size)
    path = _existing(folder, MODEL)
    model = _decoder(config, _read_tensors(path)[0], path)
    return Pretrained(model, tokenizer, content.get("name", folder.name), content.get("about", {}))


def load_checkpoints(where: Path | str | None = None) -> list[Checkpoint]:
    """The states of a model along its training, in order of their steps; `where` as in `load`."""
    folder = folder_of(where)
    config, _ = _read_config(folder)
    checkpoints = []
    for path in sorted(folder.glob(CHECKPOINT_FILES)):
        tensors, metadata = _read_tensors(path)
        if "step" not in metadata:
            raise ValueError(f"{path}: no step in its metadata: not a file that save_checkpoint wrote")
        metrics = json.loads(metadata.get("metrics", "{}"))
        checkpoints.append(Checkpoint(int(metadata["step"]), _decoder(config, tensors, path), metrics))
    return sorted(checkpoints, key=lambda checkpoint: checkpoint.step)


# --- GPT-2 ----------------------------------------------------------------------------------------

# Hugging Face's names -> ours; the modules of a block with its number in front.
GPT2_TOP = {"wte": "token_embedding", "wpe": "position_embedding", "ln_f": "final_norm", "lm_head": "head"}
GPT2_BLOCK = {
    "ln_1": "norm1",
    "attn.c_attn": "attn.qkv",  # q, k and v in one table, cut below
    "attn.c_proj": "attn.out",
    "ln_2": "norm2",
    "mlp.c_fc": "mlp.up",
    "mlp.c_proj": "mlp.down",
}
# These are `Conv1D` modules there and store (in, out); nn.Linear stores (out, in). Told by name: attn.c_proj
# is square, so its shape would not show it.
CONV1D = {"attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj"}
# Hugging Face's gelu_new is the tanh form.
GPT2_ACTIVATIONS = {"gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh", "gelu": "gelu", "relu": "relu"}


def _gpt2_config(content: dict, path: Path) -> Config:
    """Our config for a Hugging Face `config.json`; ValueError for anything a GPT-2 of ours cannot compute."""
    if content.get("model_type") != "gpt2":
        raise ValueError(f"{path}: model_type {content.get('model_type')!r}, but only 'gpt2' is read here")
    width, activation = content.get("n_embd", 768), content.get("activation_function", "gelu_new")
    differences = {
        "activation_function": activation not in GPT2_ACTIVATIONS,
        "n_inner": content.get("n_inner") not in (None, 4 * width),
        "scale_attn_weights": not content.get("scale_attn_weights", True),
        "scale_attn_by_inverse_layer_idx": content.get("scale_attn_by_inverse_layer_idx", False),
        "add_cross_attention": content.get("add_cross_attention", False),
    }
    for name, differs in differences.items():
        if differs:
            raise ValueError(f"{path}: {name} = {content[name]!r} is not supported")
    return Config(
        vocab_size=content.get("vocab_size", 50257),
        context_length=content.get("n_positions", 1024),
        width=width,
        heads=content.get("n_head", 12),
        blocks=content.get("n_layer", 12),
        activation=GPT2_ACTIVATIONS[activation],
        tie_head=content.get("tie_word_embeddings", True),
    )


def _from_gpt2(name: str, tensor: Tensor) -> Iterator[tuple[str, Tensor]]:
    """Our names and tensors for one of GPT-2's: three for c_attn, none for the stored causal mask."""
    name = name.removeprefix("transformer.")
    if name.endswith((".attn.bias", ".attn.masked_bias")):
        return
    module, kind = name.rsplit(".", 1)
    if not module.startswith("h."):
        yield f"{GPT2_TOP.get(module, module)}.{kind}", tensor
        return
    _, number, module = module.split(".", 2)
    if module in CONV1D and kind == "weight":
        tensor = tensor.T
    ours = f"blocks.{number}.{GPT2_BLOCK.get(module, module)}.{kind}"
    if module == "attn.c_attn":
        for part, rows in zip("qkv", tensor.chunk(3)):
            yield ours.replace("qkv", part), rows
    else:
        yield ours, tensor


def load_gpt2(folder: Path | str) -> Pretrained:
    """A GPT-2 (small to XL, or another of its build) from a local folder in Hugging Face's layout.

    Reads `model.safetensors`, `config.json` and `tokenizer.json`. Text is encoded as GPT-2 does it, except
    that "<|endoftext|>" typed by a reader stays text; the token itself is both `tokenizer.start` and
    `tokenizer.end`. FileNotFoundError or ValueError, naming the file, if something is missing or of another
    architecture.
    """
    folder = Path(folder)
    config_path = _existing(folder, CONFIG)
    content = _read_json(config_path)
    config = _gpt2_config(content, config_path)
    tokenizer = Tokenizer.load(_existing(folder, TOKENIZER), config.vocab_size)
    path = _existing(folder, MODEL)
    stored = _read_tensors(path)[0]
    model = _decoder(config, dict(pair for item in stored.items() for pair in _from_gpt2(*item)), path)
    for module in model.modules():
        if isinstance(module, nn.LayerNorm):
            module.eps = content.get("layer_norm_epsilon", 1e-5)
    return Pretrained(model, tokenizer, folder.name)
