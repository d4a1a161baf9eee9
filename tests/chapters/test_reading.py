"""A model reads a reader's text and goes on with it, beside the same done by hand."""

import pytest
import torch

from tokenwerk_helpers.chapters.reading import Reading, example_gift, example_story
from tokenwerk_helpers.language import ReaderMistake
from tokenwerk_helpers.model import Config, Decoder
from tokenwerk_helpers.pretrained import Pretrained


@pytest.fixture(scope="module")
def reading():
    return Reading()


def untrained(reading):
    torch.manual_seed(3)
    config = Config(len(reading.tokenizer), context_length=64, width=8, heads=2, blocks=1)
    return Decoder(config).eval()


@torch.no_grad()
def test_a_text_is_read_with_its_start_token_a_label_each_and_every_inner_value(reading):
    ids, labels, seen = reading.read(example_story())
    assert ids[0] == reading.tokenizer.start and reading.tokenizer.decode(ids[1:]) == example_story()
    assert len(labels) == len(ids) and labels[1].strip("␣") == "Eine"
    assert torch.equal(seen["logits"], reading.model(torch.tensor([ids])))
    other = untrained(reading)
    assert torch.equal(reading.read(example_story(), other).seen["logits"], other(torch.tensor([ids])))


def test_a_text_with_more_tokens_than_positions_is_refused_before_it_is_read(reading):
    with pytest.raises(ReaderMistake):
        reading.read("die Ente " * 200)


@torch.no_grad()
@pytest.mark.parametrize("length", [1, 63, 64, 90])
def test_the_next_token_follows_from_the_last_ids_that_fit_the_window(reading, length):
    ids = [(7 * i) % 300 for i in range(length)]
    assert torch.equal(reading.logits_after(ids), reading.model(torch.tensor([ids[-64:]]))[0, -1])


def test_the_most_probable_tokens_come_first_and_never_more_than_there_are(reading):
    probabilities = torch.tensor([0.1, 0.5, 0.15, 0.25])
    found = reading.most_probable(probabilities, 3)
    assert [label for label, _share in found] == reading.labels([1, 3, 2])
    assert [share for _label, share in found] == pytest.approx([0.5, 0.25, 0.15])
    assert len(reading.most_probable(probabilities, 9)) == 4


@torch.no_grad()
def test_a_continuation_appends_the_most_probable_token_until_the_end_which_is_not_shown(reading):
    ids, new = reading.ids(example_gift()), []
    while reading.end not in new:
        new.append(int(reading.model(torch.tensor([[*ids, *new]]))[0, -1].argmax()))
    whole = reading.tokenizer.decode(new[:-1])
    assert reading.continuation(example_gift(), 40) == whole
    assert reading.continuation(example_gift(), 3) == reading.tokenizer.decode(new[:3])
    assert reading.continuation(example_gift(), 40, untrained(reading)) != whole


def test_the_head_for_a_role_is_the_recorded_one_and_the_first_where_none_is_known(reading):
    found = reading.pretrained.about["heads"]["pronoun"]
    assert reading.known_head("pronoun") == (found["block"], found["head"]) != (0, 0)
    unknown = Reading(Pretrained(reading.model, reading.tokenizer, "unknown"))
    assert unknown.known_head("pronoun") == (0, 0)
