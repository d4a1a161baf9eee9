"""What the English pages say of their model is what is measured on it; see test_prose_about_the_model.py."""

import math
from random import Random

import nbformat
import numpy as np
import pytest
import torch

from tokenwerk_helpers import corpus
from tokenwerk_helpers.chapters.causal_mask import computation as causal_mask_computation
from tokenwerk_helpers.chapters.causal_mask import views as causal_mask_views
from tokenwerk_helpers.chapters.decoder import computation as decoder_computation
from tokenwerk_helpers.chapters.decoder import views as decoder_views
from tokenwerk_helpers.chapters.embeddings import computation as embeddings_computation
from tokenwerk_helpers.chapters.mlp import views as mlp_views
from tokenwerk_helpers.chapters.reading import Reading, example_story
from tokenwerk_helpers.chapters.self_attention import views as self_attention_views
from tokenwerk_helpers.chapters.training import computation as training_computation
from tokenwerk_helpers.chapters.training import views as training_views
from tokenwerk_helpers.language import LANGUAGES, set_language
from tokenwerk_helpers.live.numbers import number, percent
from tokenwerk_helpers.pretrained import Checkpoint, load, load_checkpoints
from tokenwerk_helpers.tools import retrain
from tokenwerk_helpers.tools.editions import NOTEBOOKS
from tokenwerk_helpers.trace import trace


@pytest.fixture(autouse=True, scope="module")
def english():
    set_language("en")
    yield
    set_language(LANGUAGES[0])


def prose(name: str) -> str:
    """All Markdown of an English page."""
    cells = nbformat.read(NOTEBOOKS / "en" / f"{name}.ipynb", as_version=4).cells
    return "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def test_how_many_tokens_the_model_knows():
    assert f"the model of this book knows {len(load().tokenizer)} tokens" in prose("00_toolbox")


def test_03_what_one_neuron_answers_to():
    explorer = mlp_views.NeuronExplorer()
    words = [f"“{label.strip('␣')}”" for label, _value in explorer.result.favourites[:3]]
    neuron, block = explorer.result.neuron + 1, explorer.settings["block"]
    said = f"neuron {neuron} in block {block}, for example, to {words[0]}, {words[1]} and {words[2]}"
    assert said in prose("03_mlp")
    values = [value for _label, value in explorer.result.favourites]
    assert values[2] > 1.5 * values[3]
    explorer.close()


@pytest.mark.parametrize(
    ("text", "asked", "block", "head", "looks_at", "said"),
    [
        (example_story, "␣Today", 1, 2, "␣queen", "Head 2 looks at “queen” ({share}), the noun itself"),
        ("Mia gives Jack a loaf. That makes Jack happy: “Thanks,", ",", 2, 4, "Mia",
         "Head 4 now looks at “Mia” ({share})"),
        ("Mia gives Jack a loaf. That makes Jack happy: “Thanks,", "␣makes", 2, 4, "␣Jack",
         "And in the row “makes”? There it looks for Jack."),
    ],
)  # fmt: skip
def test_04_which_heads_find_the_noun_and_the_names(text, asked, block, head, looks_at, said):
    heads = self_attention_views.Heads()
    text = text() if callable(text) else text
    place = heads.reading.labels(heads.reading.ids(text)).index(asked)
    seen = heads.compute(text, block, place + 1)
    weights = seen.weights[head - 1, place]
    assert seen.labels[weights.argmax()] == looks_at
    assert said.format(share=f"{100 * float(weights.max()):.0f}%") in prose("04_self_attention")
    heads.close()


def test_04_and_11_what_is_left_without_these_heads():
    without, heads = load().about["without_head"], load().about["heads"]
    pronouns, givers = f"{100 * without['0.1']['pronoun']:.1f}%", f"{100 * without['1.3']['giver']:.1f}%"
    page = prose("04_self_attention")
    assert f"switched off, only {pronouns} of the pronouns are right" in page
    assert (
        f"without head 4 in block 2, which looks so firmly at the giver, the model still finds {givers}"
        in page
    )
    assert (heads["giver"]["block"], heads["giver"]["head"]) == (1, 3)
    share = percent(heads["giver"]["looks"])
    said = (
        f"head 4 in block 2 attends to that name with {share} of its weight. When it is missing, {givers} of"
    )
    assert said in prose("11_training")


def test_05_what_the_exchange_moves_and_when_the_two_trainings_part():
    probe = causal_mask_views.LeakProbe()
    assert "here the name that follows “That makes”" in prose("05_causal_mask")
    seen, visible = probe.result, causal_mask_computation.VISIBLE
    assert seen.labels[-2:] == ["␣That", "␣makes"] and seen.moved[-1] > 0.9
    assert (seen.moved[: seen.changed] == 0).all() and (seen.moved[:-1] < visible).all()
    probe.close()
    found = causal_mask_computation.recorded()
    masked, unmasked = (np.array(found[kind]["losses"]) for kind in causal_mask_computation.KINDS_OF_TRAINING)
    assert "only after about 150 steps do the lines part" in prose("05_causal_mask")
    gap, at = masked - unmasked, 150 // causal_mask_computation.EVERY
    assert abs(gap[: at - 3]).max() < 0.07 and gap[at + 3 :].min() > 0.1


def test_06_in_which_block_x_is_found_again_in_u():
    reading = Reading()
    seen = trace(reading.model, torch.tensor([reading.ids(example_story())]))
    likeness, share = [], []
    for block, x in enumerate((seen["embedded"], seen["blocks.0"])):
        added, u = seen[f"blocks.{block}.attn"], seen[f"blocks.{block}.after_attention"]
        likeness.append(torch.cosine_similarity(x, u, dim=-1).mean())
        share.append((added.norm(dim=-1) / x.norm(dim=-1)).mean())
    assert "there the contribution is longer than $x$ on average" in prose("06_block")
    assert likeness[1] > 0.9 > 0.7 > likeness[0] and share[0] > 1 > share[1]


def test_07_which_rows_of_the_position_table_are_as_chance_left_them():
    before, *_rest = load_checkpoints()
    start, trained = (it.position_embedding.weight.detach() for it in (before.model, load().model))
    untouched = torch.cosine_similarity(start, trained, dim=1) > 0.999
    assert untouched[-6:].all() and not untouched[:-6].any()
    assert (trained[-6:].norm(dim=1) < start[-6:].norm(dim=1)).all()
    assert "No token ever reached its last six rows in training" in prose("07_embeddings")


def test_07_each_word_stands_beside_its_kind_and_queen_beside_those_who_are_she():
    shipped, text = load(), prose("07_embeddings")
    words = embeddings_computation.known_words(shipped.tokenizer)
    table = shipped.model.token_embedding.weight.detach()[[word.id for word in words]]  # (N, D)
    near = {
        word.text: [words[i] for i, _alike in embeddings_computation.nearest(table, place, 5)]
        for place, word in enumerate(words)
    }
    assert all(one.kind == word.kind for word in words for one in near[word.text])
    assert {one.gender for one in near["queen"]} == {"f"} and len({one.gender for one in near["fox"]}) > 1
    assert "around “queen” all are “she”, around “fox” they are mixed" in text
    women = {"Mia", "Lily", "Ida", "Eve", "Nina", "Emma", "Anna", "Rose", "Ruby", "Kate"}
    names = [word.text for word in words if word.kind == "name"]
    alike = [(one.text in women) == (name in women) for name in names for one in near[name]]
    assert sum(alike) / len(alike) < 0.55 and "do not sort themselves into women's and men's" in text


@pytest.fixture(scope="module")
def board():
    board = decoder_views.AblationBoard()
    yield board
    board.close()


def test_08_what_missing_parts_cost(board):
    parts = ("residual", "mlp", "norms", "attention", "positions")
    direct, mlp, norms, attention, positions = (number(board.compute(**{part: True}).loss) for part in parts)
    blind = f"{math.log(len(load().tokenizer)):.2f}"
    assert (
        f"the loss rises to {direct}, which is worse than blind guessing ({blind}). "
        f"Then come the MLPs ({mlp}), the norms ({norms}), attention ({attention}) and the positions "
        f"({positions})."
    ) in prose("08_decoder")
    without = board.compute(positions=True).text
    assert without.endswith("Thanks, Nina!”") and "Nina" not in without.partition("Thanks")[0]
    assert "here it thanks somebody who does not occur in them: “Thanks, Nina!”" in prose("08_decoder")


def test_08_what_a_missing_head_costs(board):
    intact, page = board.compute(), prose("08_decoder")
    without = {head: board.compute(head=(head[0] - 1, head[1] - 1)) for head in ((1, 2), (2, 2), (1, 1))}
    losses = {head: number(it.loss) if round(it.loss, 2) != 1.4 else "1.40" for head, it in without.items()}
    assert f"Switch off only head 2 in block 1. The loss rises to {losses[1, 2]}, but this text stays" in page
    assert (
        f"Switch off only head 2 in block 2. The loss rises even more, to {losses[2, 2]}, and this text"
        in page
    )
    assert f"Switch off only head 1 in block 1. The loss rises to {losses[1, 1]}." in page
    assert without[1, 2].text == without[2, 2].text == intact.text
    heads, left = load().about["heads"], load().about["without_head"]["0.0"]["copy"]
    assert (heads["previous"]["block"], heads["previous"]["head"]) == (0, 0)
    assert f"with {percent(heads['previous']['looks'])} of its weight on average" in page
    assert f"copying succeeds in only {percent(left)} of the cases" in page
    about = load().about
    named = {"0.0", "0.1", "1.1"}
    others = {
        at: it["loss"] - about["held_out"]["loss"]
        for at, it in about["without_head"].items()
        if at not in named
    }
    assert len(others) == 5 and max(others.values()) < 0.11
    assert "The other five heads cost hardly more than 0.1 each" in page


def test_08_the_beginning_to_type_is_what_the_loop_appends():
    assert f"Type “Mia gives Jack{decoder_computation.own_words()}” as the beginning" in prose("08_decoder")


def test_11_when_each_ability_appears():
    metrics = {checkpoint.step: checkpoint.metrics for checkpoint in load_checkpoints()}
    right = {step: percent(metrics[step]["copy"]) for step in (800, 1200, 1600)}
    assert (
        f"at step 800 it succeeds in {right[800]} of the cases, at step 1200 in {right[1200]}, "
        f"at step 1600 in {right[1600]}."
    ) in prose("11_training")
    assert "Pronouns succeed from step 400 on, names from step 800." in prose("11_training")
    for ability, first in (("pronoun", 400), ("giver", 800)):
        assert all((it[ability] > 0.98) == (step >= first) for step, it in metrics.items())


def test_11_what_is_said_of_the_other_seeds():
    tried, text = load().about["seeds_tried"], prose("11_training")
    able = {
        seed for seed, it in tried.items() if all(it[name] >= goal for name, goal in retrain.GOALS.items())
    }
    assert len(tried) == 12 and "with twelve starting numbers" in text
    assert len(able) == 10 and set(tried) - able == {"0", "10"}
    assert "Ten of the twelve models can do the same in the end" in text
    assert "Seeds 0 and 10 had not quite discovered copying by then" in text
    assert sum(tried[seed]["without"]["induction"] > 1 / 3 for seed in able) == 7
    assert "In seven of the ten more than a third" in text
    assert "The one shipped is seed 11" in text and load().about["seed"] == 11


def test_11_two_hundred_spells_are_copied_and_one_word_further_on_if_the_first_head_reads_so():
    shipped, text, dice = load(), prose("11_training"), Random(0)
    last, heads = Checkpoint(0, shipped.model, {}), training_computation.copying_heads(Reading(shipped))
    copied = moved = 0
    for _ in range(200):
        spell = dice.sample(corpus.grammar().words["spell"], 5)
        at = dice.randrange(1, 4)  # the echo has come to this word
        echo = " ".join(spell[1 : at + 1])
        told = (f"The witch murmurs: {words}. The echo calls: {echo}"
                for words in (" ".join(spell), " ".join([spell[-1], *spell[:-1]])))  # fmt: skip
        both = [[shipped.tokenizer.start, *shipped.tokenizer.encode(one)] for one in told]
        plain, fed = (
            training_computation.circuit(last, Reading(shipped), *both, change, heads).following[0][0]
            for change in ("none", "exchanged")
        )
        copied += plain == f"␣{spell[at + 1]}"
        moved += fed == ([*(f"␣{word}" for word in spell), "."])[at + 2]
    assert copied == moved == 200
    assert "with 200 random spells. Unchanged, the model always copies correctly." in text
    assert "the model always writes the word that stands one further on" in text


def test_11_the_first_of_the_two_heads_begins_to_look_back_between_steps_800_and_1200():
    view = training_views.TwoHeads()
    back = {}
    for step in view.checkpoints:
        view.set(step=step)
        back[step] = view.result.first[np.arange(6, 10), np.arange(5, 9)].mean()  # within the spell
    assert back[800] == pytest.approx(1 / 6, abs=0.02) and 2.7 < back[1200] / back[800] < 3
    assert "At step 800 the first head gives about a sixth of its weight" in prose("11_training")
    assert "at step 1200 it is almost three times as much" in prose("11_training")
    view.close()
