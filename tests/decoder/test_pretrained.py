"""Saving and loading: our own models exactly, GPT-2 with Hugging Face's logits and ids."""

import json
import subprocess
import sys
from dataclasses import asdict

import pytest
import tokenizers
import torch
import transformers
from safetensors.torch import load_file, save_file
from tokenizers import decoders, models, pre_tokenizers, trainers

from tokenwerk_helpers import pretrained
from tokenwerk_helpers.model import Config, Decoder
from tokenwerk_helpers.pretrained import load, load_checkpoints, load_gpt2, save, save_checkpoint
from tokenwerk_helpers.tokenizer import train

TEXTS = ["Die Katze sucht den Ball.", "Der Bär sagt: „Danke, Mia!“", "It's raining, we'll stay.\n\n  Oh!"]
SAMPLES = [*TEXTS, "", "  a", "don't 123 x² 漢字 🎉\u00a0Ma\u0308use!?…"]
TOKENIZER = train(TEXTS, 280)


def small_decoder(seed: int = 0, **changes) -> Decoder:
    torch.manual_seed(seed)
    settings = {"vocab_size": 280, "context_length": 16, "width": 12, "heads": 3, "blocks": 2} | changes
    return Decoder(Config(**settings)).eval()


def some_ids() -> torch.Tensor:
    return torch.randint(280, (2, 16), generator=torch.Generator().manual_seed(1))


# --- our own models -------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    save(tmp_path, small_decoder(), TOKENIZER, {"loss": 1.1, "Köpfe": ["Ä"]}, name="klein")
    return tmp_path


@pytest.mark.parametrize(
    "changes",
    [{}, {"tie_head": False}, {"bias": False}, {"norm": "post", "activation": "relu", "dropout": 0.1}],
    ids=str,
)
def test_saved_and_loaded_a_model_gives_the_same_logits(tmp_path, changes):
    model = small_decoder(**changes)
    save(tmp_path, model, TOKENIZER, {})
    loaded = load(tmp_path)
    assert loaded.model.config == model.config
    assert torch.equal(loaded.model(some_ids()), model(some_ids()))


def test_a_loaded_model_is_in_eval_mode_and_can_be_trained_on(folder):
    model = load(folder).model
    assert not any(module.training for module in model.modules())
    assert all(parameter.requires_grad for parameter in model.parameters())


def test_name_figures_and_tokenizer_come_back(folder):
    loaded = load(folder)
    assert (loaded.name, loaded.about) == ("klein", {"loss": 1.1, "Köpfe": ["Ä"]})
    assert loaded.tokenizer.tokens == TOKENIZER.tokens


def test_a_tied_head_is_stored_once_and_tied_again(folder):
    stored = load_file(folder / "model.safetensors")
    assert "token_embedding.weight" in stored and "head.weight" not in stored
    model = load(folder).model
    assert model.head.weight is model.token_embedding.weight


def test_an_untied_head_is_stored_and_stays_apart(tmp_path):
    save(tmp_path, small_decoder(tie_head=False), TOKENIZER, {})
    assert "head.weight" in load_file(tmp_path / "model.safetensors")
    model = load(tmp_path).model
    assert model.head.weight is not model.token_embedding.weight


def test_each_load_is_a_fresh_model(folder):
    first, second = load(folder), load(folder)
    with torch.no_grad():
        first.model.token_embedding.weight.zero_()
    assert second.model.token_embedding.weight.any()
    assert load(folder).model.token_embedding.weight.any()


def test_loading_draws_no_random_numbers(folder):
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    load(folder)
    assert torch.rand(1) == expected


def test_saving_changes_nothing_in_the_model(tmp_path):
    model = small_decoder().train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    save(tmp_path, model, TOKENIZER, {})
    assert model.training and model.head.weight is model.token_embedding.weight
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_a_compiled_model_is_saved_under_its_own_names(tmp_path):
    compiled = torch.compile(small_decoder(), backend="eager")
    compiled.blocks[0] = torch.compile(compiled.blocks[0], backend="eager")
    save(tmp_path, compiled, TOKENIZER, {})
    save_checkpoint(tmp_path, 3, compiled, {})
    assert torch.equal(load(tmp_path).model(some_ids()), small_decoder()(some_ids()))
    assert len(load_checkpoints(tmp_path)) == 1


def test_checkpoints_come_back_in_order_of_their_steps_with_their_figures(folder):
    assert load_checkpoints(folder) == []
    for step in (1000, 200, 1_000_000, 0):
        save_checkpoint(folder, step, small_decoder(seed=step), {"loss": step / 1000})
    checkpoints = load_checkpoints(folder)
    assert [checkpoint.step for checkpoint in checkpoints] == [0, 200, 1000, 1_000_000]
    for step, model, metrics in checkpoints:
        assert metrics == {"loss": step / 1000}
        assert model.token_embedding.weight.dtype == torch.float32
        torch.testing.assert_close(
            model(some_ids()), small_decoder(seed=step)(some_ids()), atol=1e-2, rtol=1e-2
        )  # half precision
    assert load(folder).model.config == checkpoints[0].model.config


def test_a_folder_that_is_not_there_is_made(tmp_path):
    save_checkpoint(tmp_path / "new" / "one", 0, small_decoder(), {})
    save(tmp_path / "new" / "two", small_decoder(), TOKENIZER, {})
    assert load(tmp_path / "new" / "two").name == "tokenwerk"


def test_a_checkpoint_takes_half_the_room(folder):
    save_checkpoint(folder, 1, small_decoder(), {})
    size = (folder / "checkpoint-000001.safetensors").stat().st_size
    assert size < 0.6 * (folder / "model.safetensors").stat().st_size


# --- what is refused, with the file's name --------------------------------------------------------


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(FileNotFoundError, match=f"no {name}"):
        load(folder)


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
@pytest.mark.parametrize("content", [b"", b"no JSON, no tensors", b"[]"])
def test_a_broken_file_is_named(folder, name, content):
    (folder / name).write_bytes(content)
    with pytest.raises(ValueError, match=name.replace(".", r"\.")):
        load(folder)


def change_config(folder, part=None, **changes):
    path = folder / "config.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    (content[part] if part else content).update(changes)
    path.write_text(json.dumps(content), encoding="utf-8")


def test_a_vocabulary_that_does_not_fit_the_model_is_refused_on_load_and_on_save(folder):
    change_config(folder, "config", vocab_size=281)
    with pytest.raises(ValueError, match=r"tokenizer\.json: 280 tokens, .* vocab_size 281"):
        load(folder)
    with pytest.raises(ValueError, match="280 tokens, the model vocab_size 279"):
        save(folder, small_decoder(vocab_size=279), TOKENIZER, {})


def test_weights_that_do_not_fit_the_config_are_refused(folder):
    change_config(folder, "config", blocks=3)
    with pytest.raises(ValueError, match=r"model\.safetensors: the weights do not fit .*blocks\.2"):
        load(folder)


def test_another_architecture_is_refused(folder):
    change_config(folder, architecture="bert")
    with pytest.raises(ValueError, match=r"config\.json: architecture 'bert'"):
        load(folder)


def test_an_impossible_config_is_refused(folder):
    change_config(folder, "config", heads=5)
    with pytest.raises(ValueError, match=r"config\.json: .*not divisible by 5"):
        load(folder)


def test_a_checkpoint_from_elsewhere_is_refused(folder):
    save_file({"x": torch.zeros(1)}, folder / "checkpoint-1.safetensors")
    with pytest.raises(ValueError, match=r"checkpoint-1\.safetensors: no step"):
        load_checkpoints(folder)


# --- GPT-2 in Hugging Face's layout ---------------------------------------------------------------


def library_tokenizer() -> tokenizers.Tokenizer:
    """A small tokenizer of GPT-2's build, trained here."""
    library = tokenizers.Tokenizer(models.BPE())
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    library.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=280,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    library.train_from_iterator(TEXTS, trainer)
    return library


def hugging_face_gpt2(folder, **changes):
    """A random GPT-2 written to a folder; every parameter is random, so that no bias hides as zero."""
    torch.manual_seed(0)
    settings = {"vocab_size": 280, "n_positions": 16, "n_embd": 12, "n_head": 3, "n_layer": 2}
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**settings | changes)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.3)
    model.save_pretrained(folder)
    library_tokenizer().save(str(folder / "tokenizer.json"))
    return model


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"n_head": 1, "n_layer": 1},
        {"activation_function": "relu"},
        {"activation_function": "gelu"},
        {"layer_norm_epsilon": 0.1},
        {"tie_word_embeddings": False},
    ],
    ids=str,
)
def test_gpt2_gives_hugging_faces_logits(tmp_path, changes):
    theirs = hugging_face_gpt2(tmp_path, **changes)
    ours = load_gpt2(tmp_path).model
    with torch.no_grad():
        torch.testing.assert_close(ours(some_ids()), theirs(some_ids()).logits, atol=1e-4, rtol=1e-4)
    tied = changes.get("tie_word_embeddings", True)
    assert (ours.head.weight is ours.token_embedding.weight) == tied


def test_gpt2_as_first_published_without_prefix_and_with_mask_buffers_gives_the_same_logits(tmp_path):
    """As in openai-community/gpt2: no "transformer." in front, and the causal mask among the weights."""
    theirs = hugging_face_gpt2(tmp_path)
    path = tmp_path / "model.safetensors"
    stored = load_file(path)
    old = {name.removeprefix("transformer."): tensor for name, tensor in stored.items()}
    assert old.keys().isdisjoint(stored)
    for number in range(2):
        old[f"h.{number}.attn.bias"] = torch.ones(16, 16).tril()[None, None]
        old[f"h.{number}.attn.masked_bias"] = torch.tensor(-1e4)
    save_file(old, path, {"format": "pt"})
    with torch.no_grad():
        torch.testing.assert_close(
            load_gpt2(tmp_path).model(some_ids()), theirs(some_ids()).logits, atol=1e-4, rtol=1e-4
        )


def test_gpt2_in_half_precision_is_computed_in_float32(tmp_path):
    hugging_face_gpt2(tmp_path)
    path = tmp_path / "model.safetensors"
    save_file({name: tensor.half() for name, tensor in load_file(path).items()}, path)
    assert load_gpt2(tmp_path).model(some_ids()).dtype == torch.float32


@pytest.mark.parametrize("text", SAMPLES)
def test_gpt2s_text_has_hugging_faces_ids(tmp_path, text):
    hugging_face_gpt2(tmp_path)
    tokenizer = load_gpt2(tmp_path).tokenizer
    theirs = transformers.PreTrainedTokenizerFast(tokenizer_file=str(tmp_path / "tokenizer.json"))
    assert tokenizer.encode(text) == theirs(text)["input_ids"]
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert tokenizer.start == tokenizer.end == theirs.convert_tokens_to_ids("<|endoftext|>")


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"model_type": "llama"}, "model_type 'llama'"),
        ({"activation_function": "swish"}, "activation_function = 'swish'"),
        ({"n_inner": 20}, "n_inner = 20"),
        ({"scale_attn_by_inverse_layer_idx": True}, "scale_attn_by_inverse_layer_idx"),
        ({"scale_attn_weights": False}, "scale_attn_weights"),
    ],
    ids=str,
)
def test_what_our_decoder_would_compute_otherwise_is_refused(tmp_path, changes, message):
    hugging_face_gpt2(tmp_path)
    change_config(tmp_path, **changes)
    with pytest.raises(ValueError, match=rf"config\.json: {message}"):
        load_gpt2(tmp_path)


def test_gpt2_with_unknown_weights_is_refused(tmp_path):
    hugging_face_gpt2(tmp_path)
    path = tmp_path / "model.safetensors"
    save_file(load_file(path) | {"transformer.h.0.extra.weight": torch.zeros(1)}, path)
    with pytest.raises(ValueError, match=r"model\.safetensors: .*extra"):
        load_gpt2(tmp_path)


def test_gpt2_with_pickled_weights_only_is_refused(tmp_path):
    hugging_face_gpt2(tmp_path)
    (tmp_path / "model.safetensors").rename(tmp_path / "pytorch_model.bin")
    with pytest.raises(FileNotFoundError, match=r"no model\.safetensors"):
        load_gpt2(tmp_path)


# --- the shipped model ----------------------------------------------------------------------------


def test_the_shipped_model_and_its_checkpoints_load():
    shipped = load()
    assert len(shipped.tokenizer) == shipped.model.config.vocab_size
    checkpoints = load_checkpoints()
    assert len(checkpoints) >= 5
    assert all(asdict(checkpoint.model.config) == asdict(shipped.model.config) for checkpoint in checkpoints)


def test_all_shipped_files_together_stay_below_5_mb():
    assert sum(path.stat().st_size for path in pretrained.WEIGHTS.iterdir()) < 5_000_000


def test_loading_the_shipped_model_takes_less_than_a_fifth_of_a_second():
    """In a new process that has torch already; in CPU time, so that a busy machine is no fault."""
    code = (
        "import time, torch; start = time.process_time();"
        "from tokenwerk_helpers.pretrained import load; load(); print(time.process_time() - start)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert float(run.stdout) < 0.2
