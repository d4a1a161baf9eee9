"""The shipped models: does each still do what its figures say, on stories that it has never seen?"""

import json
import math
from copy import deepcopy
from itertools import islice, pairwise

import pytest
import torch
from safetensors import safe_open

from tokenwerk_helpers import corpus
from tokenwerk_helpers.corpus import stories
from tokenwerk_helpers.language import LANGUAGES, set_language
from tokenwerk_helpers.pretrained import WEIGHTS, folder_of, load, load_checkpoints, save
from tokenwerk_helpers.tokenizer import Tokenizer
from tokenwerk_helpers.tools import retrain
from tokenwerk_helpers.tools.abilities import ABILITIES, ROLES, Exam, places
from tokenwerk_helpers.trace import ablate, trace
from tokenwerk_helpers.training import batch, framed


@pytest.fixture(scope="module", autouse=True, params=LANGUAGES)
def language(request):
    """Everything is proven for the model and the stories of each language."""
    set_language(request.param)
    yield request.param
    set_language(LANGUAGES[0])


@pytest.fixture(scope="module")
def shipped(language):
    return load()


@pytest.fixture(scope="module")
def exam(shipped):
    """Held-out stories that neither the training nor the stored figures have used."""
    return Exam(stories(777, 200, "held_out"), shipped.tokenizer)


@pytest.fixture(scope="module")
def measured(shipped, exam):
    return exam.measure(shipped.model)


# --- the seed that was chosen ---------------------------------------------------------------------


def test_of_the_able_seeds_with_one_copying_head_the_one_whose_heads_read_most_clearly_is_shipped(shipped):
    tried = shipped.about["seeds_tried"]
    assert len(tried) >= 4
    able = {
        seed for seed, it in tried.items() if all(it[name] >= goal for name, goal in retrain.GOALS.items())
    }
    one_head_copies = {seed for seed in able if tried[seed]["without"]["induction"] < retrain.ONE_HEAD}
    assert max(one_head_copies, key=lambda seed: retrain.clarity(tried[seed])) == str(shipped.about["seed"])


def test_what_is_noted_of_the_shipped_seed_is_the_summary_of_its_figures(shipped):
    about = shipped.about
    assert about["seeds_tried"][str(about["seed"])] == retrain.summary(about)


def test_noting_a_seed_keeps_the_others_and_every_weight(tmp_path, shipped):
    save(tmp_path, shipped.model, shipped.tokenizer, {"seeds_tried": {"10": {"gap": 1}, "2": {"gap": 2}}})
    before = (tmp_path / "model.safetensors").read_bytes()
    retrain.note_tried(tmp_path, 7, {"gap": 3})
    assert list(load(tmp_path).about["seeds_tried"].items()) == [
        ("2", {"gap": 2}), ("7", {"gap": 3}), ("10", {"gap": 1})
    ]  # fmt: skip
    assert (tmp_path / "model.safetensors").read_bytes() == before


# --- what lies in the folder ----------------------------------------------------------------------


def test_all_files_of_a_language_stay_below_five_megabytes_and_hold_no_pickle(language):
    shared = [path for path in WEIGHTS.iterdir() if path.is_file()]
    files = [*folder_of(language).iterdir(), *shared]
    assert sum(file.stat().st_size for file in files) < 5_000_000
    assert {file.suffix for file in files} == {".safetensors", ".json", ".txt"}


def test_every_word_of_the_grammar_is_a_single_token(shipped):
    for story in stories(5, 800, "all"):
        assert len(shipped.tokenizer.encode(story.text)) == story.words, story.text
        assert shipped.tokenizer.decode(shipped.tokenizer.encode(story.text)) == story.text


def test_the_vocabulary_learned_anew_is_the_shipped_one(shipped):
    assert retrain.new_tokenizer().tokens == shipped.tokenizer.tokens


def test_a_vocabulary_of_another_size_is_refused(shipped, language):
    with pytest.raises(ValueError, match=str(len(shipped.tokenizer))):
        Tokenizer.load(folder_of(language) / "tokenizer.json", vocab_size=len(shipped.tokenizer) + 1)


def test_the_config_and_the_figures_are_those_of_the_retraining_command(shipped, language):
    assert shipped.model.config == retrain.config(shipped.tokenizer)
    assert shipped.about["seed"] == retrain.SEEDS[language]
    assert shipped.about["steps"] == retrain.CHECKPOINTS[-1]
    assert shipped.about["parameters"] == sum(p.numel() for p in set(shipped.model.parameters()))


def test_heads_with_the_same_role_stand_at_the_same_place_in_every_language(shipped):
    heads = shipped.about["heads"]
    found = {role: (heads[role]["block"], heads[role]["head"]) for role in retrain.PLACE_OF}
    assert found == retrain.PLACE_OF


def test_to_permute_the_heads_of_a_block_changes_nothing_that_it_computes(shipped):
    permuted, ids = deepcopy(shipped.model), torch.tensor([framed(next(stories(3)).text, shipped.tokenizer)])
    for block, order in enumerate(([2, 0, 3, 1], [1, 3, 2, 0])):
        retrain.permute_heads(permuted, block, order)
        moved = trace(permuted, ids)[f"blocks.{block}.attn.weights"]
        stood = trace(shipped.model, ids)[f"blocks.{block}.attn.weights"]
        torch.testing.assert_close(moved, stood[:, order], atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(permuted(ids), shipped.model(ids), atol=1e-3, rtol=1e-4)


def test_heads_are_ordered_by_what_they_do():
    looks = {role: torch.zeros(2, 4) for role in retrain.PLACE_OF}
    for role, (block, head) in {"previous": (0, 3), "pronoun": (0, 0), "induction": (1, 2)}.items():
        looks[role][block, head] = 1.0
    orders = retrain.head_orders(looks)
    assert orders == {0: [3, 0, 1, 2], 1: [0, 2, 1, 3]}


# --- abilities ------------------------------------------------------------------------------------


@pytest.mark.parametrize("ability, goal", retrain.GOALS.items())
def test_the_model_reaches_its_goal_on_held_out_combinations(measured, shipped, ability, goal):
    assert measured.right[ability] >= goal
    assert shipped.about["held_out"][ability] >= goal


def test_the_other_abilities_hold_as_well(measured):
    assert min(measured.right[name] for name in ("possessive", "plural", "quote")) >= 0.98


def test_the_loss_is_near_the_entropy_floor_on_fresh_and_on_held_out_stories(shipped, exam, measured):
    fresh = Exam(stories(778, 200), shipped.tokenizer)
    for gap in (fresh.measure(shipped.model).loss - fresh.floor, measured.loss - exam.floor):
        assert 0 < gap <= retrain.GAP_GOAL + 0.01
    for figures in (shipped.about["validation"], shipped.about["held_out"]):
        assert 0 < figures["loss"] - figures["floor"] <= retrain.GAP_GOAL


def test_the_command_says_which_goals_are_reached(shipped):
    lines = retrain.goals(shipped.about)
    assert len(lines) == len(retrain.GOALS) + 2
    assert all(line.endswith("reached") for line in lines)
    worse = shipped.about | {"held_out": shipped.about["held_out"] | {"copy": 0.9}}
    assert [line for line in retrain.goals(worse) if "MISSED" in line] == ["goal copy >= 95%: MISSED"]
    assert "induction" in retrain.describe(shipped.about)


def test_the_stored_figures_are_those_one_measures(shipped, measured):
    for ability in ABILITIES:
        assert measured.right[ability] == pytest.approx(shipped.about["held_out"][ability], abs=0.03)
    assert measured.loss == pytest.approx(shipped.about["held_out"]["loss"], abs=0.05)


def test_an_untrained_model_fails_the_same_exam(exam):
    (_, untrained, _), *_ = load_checkpoints()
    right = exam.measure(untrained).right
    assert max(right[name] for name in ("pronoun", "giver", "receiver", "copy", "quote")) < 0.1


EXPECTED = {
    "de": [
        ("Eine kleine Ente wohnt am See. Heute findet", " sie"),
        ("Ein kleiner Fuchs wohnt am See. Heute findet", " er"),
        ("Ein kleines Reh wohnt am See. Heute findet", " es"),
        ("Mia schenkt Jan eine Feder. Darüber freut sich", " Jan"),
        ("Mia schenkt Jan eine Feder. Darüber freut sich Jan: „Danke,", " Mia"),
        ("Die Hexe murmelt: zumi tolo bora kado rula. Das Echo ruft: tolo bora", " kado"),
        ("Die Hexe murmelt: zumi tolo bora kado rula. Alle wiederholen:", " zumi"),
        ("Eine kleine Ente wohnt am See. Da sagt sie: „Der Wind weht.", "“"),
        ("Eine kleine Ente wohnt am See. Da sagt sie: „Der Wind weht und die Sonne scheint.", "“"),
    ],
    "en": [
        ("A small queen lives by the lake. Today", " she"),
        ("A small king lives by the lake. Today", " he"),
        ("A small kite lives by the lake. Today", " it"),
        ("Two small geese live by the lake. Today", " they"),
        ("A small fox lives by the lake. Now it seeks", " its"),
        ("Mia gives Jack a feather. That makes", " Jack"),
        ("Mia gives Jack a feather. That makes Jack happy: “Thanks,", " Mia"),
        ("The witch murmurs: zumi tolo bora kado rula. The echo calls: tolo bora", " kado"),
        ("The witch murmurs: zumi tolo bora kado rula. All repeat:", " zumi"),
        ("A small queen lives by the lake. Soon she says: “The wind blows.", "”"),
        ("A small queen lives by the lake. Soon she says: “The wind blows and the sun shines.", "”"),
    ],
}


def test_the_most_probable_token_is_the_one_a_reader_expects(shipped, language):
    for text, then in EXPECTED[language]:
        ids = torch.tensor([[shipped.tokenizer.start, *shipped.tokenizer.encode(text)]])
        with torch.no_grad():
            best = int(shipped.model(ids)[0, -1].argmax())
        assert shipped.tokenizer.decode([best]) == then, text


# --- heads ----------------------------------------------------------------------------------------


def test_stored_heads_look_where_they_are_said_to(shipped, exam):
    looks = exam.heads(shipped.model)
    assert set(looks) == set(ROLES) == set(shipped.about["heads"])
    for role, head in shipped.about["heads"].items():
        if role == "possessive":  # too few places in this small exam
            continue
        assert float(looks[role][head["block"], head["head"]]) == pytest.approx(head["looks"], abs=0.1)
        assert float(looks[role].max()) < head["looks"] + 0.1


def test_a_previous_token_head_feeds_an_induction_head_in_the_next_block(shipped, exam):
    """Both can be seen, and copying needs both (Olsson et al. 2022)."""
    previous, induction = (shipped.about["heads"][role] for role in ("previous", "induction"))
    assert previous["block"] < induction["block"]
    assert previous["looks"] > 0.4 and induction["looks"] > 0.8
    intact = exam.measure(shipped.model).right["copy"]
    for head in (previous, induction):
        without = ablate(shipped.model, heads=[(head["block"], head["head"])])
        assert exam.measure(shipped.model, without).right["copy"] < intact - 0.2


def test_attention_of_each_head_sums_to_one_so_that_looks_are_shares(shipped, exam):
    for looks in exam.heads(shipped.model).values():
        assert float(looks.min()) >= 0 and float(looks.max()) <= 1 + 1e-6


# --- checkpoints ----------------------------------------------------------------------------------


def test_checkpoints_go_from_the_first_guess_to_the_shipped_model(shipped, exam, measured):
    checkpoints = load_checkpoints()
    assert [step for step, _, _ in checkpoints] == list(retrain.CHECKPOINTS)
    losses = [metrics["loss"] for _, _, metrics in checkpoints]
    assert losses[0] == pytest.approx(math.log(len(shipped.tokenizer)), abs=0.6)
    assert all(later < earlier + 0.02 for earlier, later in pairwise(losses))
    last = exam.measure(checkpoints[-1].model)
    assert last.loss == pytest.approx(measured.loss, abs=0.002), "half precision keeps the picture"


def test_the_moment_at_which_copying_appears_lies_between_two_checkpoints():
    copy = {step: metrics["copy"] for step, _, metrics in load_checkpoints()}
    pronoun = {step: metrics["pronoun"] for step, _, metrics in load_checkpoints()}
    appears = next(step for step in copy if copy[step] > 0.5)
    assert next(step for step in pronoun if pronoun[step] > 0.9) < appears < max(copy)
    assert copy[0] < 0.05 and copy[max(copy)] > 0.95


def test_the_command_reproduces_the_first_fifty_steps(shipped, language):
    """Grammar, vocabulary, recipe and seed are still those that made the shipped weights.

    Other processors add in another order: far less is allowed than another seed or recipe would change.
    """
    stored = {step: model for step, model, _ in load_checkpoints()}[50]
    threads = torch.get_num_threads()
    torch.set_num_threads(retrain.THREADS)
    try:
        again = retrain.begin(shipped.tokenizer, retrain.SEEDS[language], retrain.CHECKPOINTS[-1])
        for _ in range(50):
            next(again)
    finally:
        torch.set_num_threads(threads)
    made = dict(again.model.named_parameters())
    for name, parameter in stored.named_parameters():
        torch.testing.assert_close(made[name], parameter, atol=5e-3, rtol=1e-2, msg=name)


def test_checkpoints_are_in_half_precision(language):
    files = list(folder_of(language).glob("checkpoint-*.safetensors"))
    assert len(files) == len(retrain.CHECKPOINTS)
    for file in files:
        with safe_open(file, framework="pt") as opened:
            assert {opened.get_tensor(name).dtype for name in opened.keys()} == {torch.float16}  # noqa: SIM118
            assert json.loads(opened.metadata()["metrics"])["loss"] > 0


# --- measuring itself -----------------------------------------------------------------------------


def test_without_heads_measures_each_head_switched_off(shipped):
    exam = Exam(stories(14, 20), shipped.tokenizer)
    without = exam.without_heads(shipped.model)
    assert list(without) == [(block, head) for block in range(2) for head in range(4)]
    off = ablate(shipped.model, heads=[(1, 2)])
    assert without[1, 2].loss == exam.measure(shipped.model, off).loss != exam.measure(shipped.model).loss


def test_a_place_is_asked_one_token_before_its_word(shipped):
    for story in stories(9, 200, "all"):
        row = framed(story.text, shipped.tokenizer)
        labels = [shipped.tokenizer.decode([id]) for id in row]
        found = list(places(story, shipped.tokenizer))
        assert len(found) == len(story.marks)
        for place, mark in zip(found, story.marks):
            word, source = story.text[slice(*mark.span)], story.text[slice(*mark.source)]
            assert labels[place.asked + 1].strip() == word and place.answer == row[place.asked + 1]
            first, last = place.source
            assert "".join(labels[first : last + 1]).strip() == source
            assert (place.rival is None) == (not mark.rivals)


def test_measuring_agrees_with_reading_one_story_after_the_other(shipped):
    """By hand, without batches and tensors of places; a half-trained model has right and wrong answers."""
    model = next(model for step, model, _ in load_checkpoints() if step == 400)
    told = list(islice(stories(12, split="held_out"), 12))
    right = {name: [] for name in ABILITIES}
    surprise = tokens = 0
    for story in told:
        row = torch.tensor(framed(story.text, shipped.tokenizer))
        with torch.no_grad():
            p = model(row[None, :-1])[0].softmax(dim=-1)
        surprise -= sum(math.log(p[t, row[t + 1]]) for t in range(len(row) - 1))
        tokens += len(row) - 1
        for place in places(story, shipped.tokenizer):
            at = p[place.asked]
            beats = at[place.answer] > at[place.rival] if place.rival else at[place.answer] == at.max()
            right[place.ability].append(bool(beats))
    exam = Exam(told, shipped.tokenizer)
    measured = exam.measure(model)
    assert measured.loss == pytest.approx(surprise / tokens, abs=1e-4)
    assert exam.floor == pytest.approx(sum(story.nats for story in told) / tokens)
    for ability, answers in right.items():
        if answers:
            assert measured.right[ability] == pytest.approx(sum(answers) / len(answers))


def test_the_floor_of_an_exam_tends_to_the_floor_of_the_grammar(shipped):
    exam = Exam(stories(13, 600), shipped.tokenizer)
    assert exam.floor == pytest.approx(corpus.expectation().floor, abs=0.03)
    assert exam.batch.ids.shape == batch([framed(s.text, shipped.tokenizer) for s in exam.stories]).ids.shape
