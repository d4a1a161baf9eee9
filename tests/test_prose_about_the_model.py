"""What the pages' prose says of the shipped model, in figures and quotations, is what the model does.

Stored outputs are compared by nbval; a sentence in Markdown is not, and would stay behind when the model is
trained anew.
"""

import nbformat
import pytest
import torch

from tests.refresh import NOTEBOOKS
from tokenwerk_helpers.abilities import places
from tokenwerk_helpers.corpus import stories
from tokenwerk_helpers.explorers import decoder, self_attention
from tokenwerk_helpers.explorers.numbers import number, percent
from tokenwerk_helpers.explorers.reading import example_story
from tokenwerk_helpers.pretrained import load, load_checkpoints
from tokenwerk_helpers.trace import trace
from tokenwerk_helpers.training import framed


def prose(name: str) -> str:
    """All Markdown of a notebook."""
    cells = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4).cells
    return "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


@pytest.mark.parametrize(
    ("text", "asked", "looks_at", "share"),
    [
        (example_story(), "␣findet", "Eine", "86 %"),
        ("Mia schenkt Jan ein Brot. Darüber freut sich Jan: „Danke,", ",", "Mia", "94 %"),
        ("Mia schenkt Jan ein Brot. Darüber freut sich Jan: „Danke,", "␣sich", "␣Jan", None),
    ],
)
def test_04_one_head_finds_the_gender_and_the_names(text, asked, looks_at, share):
    heads = self_attention.Heads()
    place = heads.reading.labels(heads.reading.ids(text)).index(asked)
    seen = heads.compute(text, heads.settings["block"], place + 1)
    weights = seen.weights[1, place]  # of head 2
    assert seen.labels[weights.argmax()] == looks_at
    if share:
        assert f"Kopf 2 schaut auf „{looks_at}“ ({share})" in prose("04_self_attention") or (
            f"Derselbe Kopf schaut jetzt auf „{looks_at}“ ({share})" in prose("04_self_attention")
        )
        assert percent(weights.max()) == share
    heads.close()


def test_04_and_11_what_the_pronouns_head_looks_at_and_that_others_help():
    shipped = load()
    head = shipped.about["heads"]["pronoun"]
    assert (head["block"], head["head"]) == (0, 1)
    without = shipped.about["without_head"]["0.1"]
    pronouns, givers = (f"{100 * without[ability]:.1f} %" for ability in ("pronoun", "giver"))
    assert f"stimmen auf Geschichten, die im Training nicht vorkamen, immer noch {pronouns} der Pronomen" in (
        prose("04_self_attention")
    )
    assert f"Ohne ihn findet das Modell nur noch {givers} der Schenkenden" in prose("04_self_attention")
    share = percent(head["looks"])
    assert (
        f"schaut Kopf 2 in Block 1 mit {share} seines Gewichts auf Artikel, Adjektiv und Nomen, das meiste "
        f"davon auf den Artikel. Fehlt er, so stimmen trotzdem noch {pronouns} der Pronomen."
    ) in prose("11_training")

    article, noun = [], []
    for story in stories(seed=1, count=60, split="held_out"):
        seen = trace(shipped.model, torch.tensor([framed(story.text, shipped.tokenizer)]))
        for place in places(story, shipped.tokenizer):
            if place.ability == "pronoun":
                row = seen["blocks.0.attn.weights"][0, 1, place.asked]
                article.append(float(row[place.source[0]]))
                noun.append(float(row[place.source[0] + 2 : place.source[1] + 1].sum()))
    assert len(article) > 30
    assert sum(article) / len(article) > 0.8 * head["looks"] and sum(noun) / len(noun) < 0.1


@pytest.fixture(scope="module")
def board():
    board = decoder.AblationBoard()
    yield board
    board.close()


@pytest.mark.parametrize(
    ("block", "says", "continuation"),
    [
        (1, "Der Verlust steigt auf {loss}, und die Geschichte", "freut sich Ida: „Danke, Emma!“"),
        (2, "Der Verlust steigt noch mehr, auf {loss}, aber dieser Text bleibt", None),
    ],
)
def test_08_what_a_missing_head_costs(board, block, says, continuation):
    without = board.compute(head=(block - 1, 1))
    intact = board.compute()
    assert f"Schalte nur Kopf 2 in Block {block} ab. " + says.format(loss=number(without.loss)) in prose(
        "08_decoder"
    )
    if continuation:
        assert without.text.endswith(continuation) and not intact.text.endswith(continuation)
    else:
        assert without.text == intact.text


def test_08_what_missing_positions_do_to_the_names(board):
    assert "verwechselt es, wer schenkt und wer bekommt: „Danke, Jan!“" in prose("08_decoder")
    assert board.compute(positions=True).text.startswith("Mia schenkt Jan")
    assert board.compute(positions=True).text.endswith("Darüber freut sich Jan: „Danke, Jan!“")
    assert board.compute().text.endswith("Darüber freut sich Jan: „Danke, Mia!“")


def test_08_without_paths_or_norms_hardly_anything_is_left(board):
    blind = board.compute().uniform
    assert board.compute(residual=True).loss > blind and board.compute(norms=True).loss > 0.7 * blind


def test_11_when_each_ability_appears():
    metrics = {checkpoint.step: checkpoint.metrics for checkpoint in load_checkpoints()}
    right = {step: percent(metrics[step]["copy"]) for step in (800, 1200, 1600)}
    assert (
        f"Bei Schritt 800 gelingt es in {right[800]} der Fälle, bei Schritt 1200 in {right[1200]}, "
        f"bei Schritt 1600 in {right[1600]}."
    ) in prose("11_training")
    assert "Pronomen gelingen ab Schritt 200, Namen ab Schritt 800." in prose("11_training")
    for ability, first in (("pronoun", 200), ("giver", 800)):
        assert all((it[ability] > 0.98) == (step >= first) for step, it in metrics.items())


def test_11_what_is_said_of_the_other_seeds():
    tried = load().about["seeds_tried"]
    assert "Mitgeliefert ist Seed 0" in prose("11_training") and load().about["seed"] == 0
    assert "Bei Seed 2 gelingt ohne den besten Kopf noch gut ein Drittel" in prose("11_training")
    assert 1 / 3 < tried["2"]["without"]["induction"] < 0.4
    assert len(tried) == 4 and "mit vier Startzahlen" in prose("11_training")
