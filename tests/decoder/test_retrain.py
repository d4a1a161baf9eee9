"""The command that trains the shipped model: what it leaves in its folder, tried with very few steps."""

import pytest
import torch

from tokenwerk_helpers.pretrained import load, load_checkpoints, save_checkpoint
from tokenwerk_helpers.tools import retrain

STEPS = 50


@pytest.fixture
def tokenizer(monkeypatch):
    """The shipped vocabulary; beside it exams of few stories, since only files matter here."""
    whole = {name: getattr(retrain, name) for name in ("held_out_exam", "fresh_exam")}
    for name, exam in whole.items():
        monkeypatch.setattr(retrain, name, lambda tokenizer, _count=0, exam=exam: exam(tokenizer, 40))
    return load().tokenizer


def test_a_run_leaves_no_checkpoints_of_an_earlier_longer_one(tmp_path, tokenizer, capsys):
    earlier = retrain.begin(tokenizer, 1, STEPS).model
    for step in (0, 50, 400, 4000):
        save_checkpoint(tmp_path, step, earlier, {})
    retrain.ship(tokenizer, 0, STEPS, tmp_path)
    shipped, checkpoints = load(tmp_path), load_checkpoints(tmp_path)
    assert [checkpoint.step for checkpoint in checkpoints] == [0, STEPS]
    last = dict(checkpoints[-1].model.named_parameters())
    for name, parameter in shipped.model.named_parameters():
        torch.testing.assert_close(last[name], parameter, atol=1e-3, rtol=1e-2, msg=name)
    assert shipped.about["steps"] == STEPS and list(shipped.about["seeds_tried"]) == ["0"]
    assert "goal" in capsys.readouterr().out


def test_seeds_are_compared_only_beside_a_model_and_that_is_known_before_the_first_step(
    tmp_path, tokenizer, monkeypatch
):
    monkeypatch.setattr(retrain, "run", lambda *_arguments: pytest.fail("a step was made"))
    with pytest.raises(FileNotFoundError, match=r"config\.json"):
        retrain.compare(tokenizer, [1, 2], STEPS, tmp_path)


def test_a_run_that_is_broken_off_changes_nothing(tmp_path, tokenizer, monkeypatch):
    folder = tmp_path / "weights"
    save_checkpoint(folder, 400, retrain.begin(tokenizer, 1, STEPS).model, {})
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def broken_off(tokenizer, seed, steps, at_checkpoint):
        at_checkpoint(0, retrain.begin(tokenizer, seed, steps).model)
        raise KeyboardInterrupt

    monkeypatch.setattr(retrain, "run", broken_off)
    with pytest.raises(KeyboardInterrupt):
        retrain.ship(tokenizer, 0, STEPS, folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["weights"]
