"""08_decoder: logits at each position, what each layer would answer, the greedy loop, ablations."""

import copy
import gc
import math
import os
import re
import weakref
from dataclasses import replace
from itertools import islice
from unittest.mock import patch

import nbformat
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.decoder.test_pretrained import hugging_face_gpt2
from tests.ways import Ways
from tokenwerk_helpers import corpus, model, pretrained, training
from tokenwerk_helpers.chapters import decoder
from tokenwerk_helpers.chapters.decoder import computation as decoder_computation
from tokenwerk_helpers.chapters.decoder import exercises as decoder_exercises
from tokenwerk_helpers.chapters.decoder import questions as decoder_questions
from tokenwerk_helpers.chapters.decoder import views as decoder_views
from tokenwerk_helpers.chapters.reading import Reading
from tokenwerk_helpers.chapters.sampling import views as sampling_views
from tokenwerk_helpers.pretrained import Pretrained
from tokenwerk_helpers.tools.refresh import NOTEBOOKS

ODD = "Ein $\\frac$ & <b>Jan</b> 🦆 $"


@pytest.fixture(scope="module")
def reading():
    return Reading()


def logits_of(reading, text):
    """The model's own logits, from a plain run.  # (T, V)"""
    ids = torch.tensor([[reading.tokenizer.start, *reading.tokenizer.encode(text)]])
    with torch.no_grad():
        return reading.model(ids)[0]


# ---- the whole machine ----


def test_every_position_of_every_text_gets_a_hundred_logits():
    """F34: (B, T) -> (B, T, 100)."""
    decoder = model.Decoder(model.Config(vocab_size=100, context_length=16, width=8, heads=2, blocks=2))
    for B, T in ((1, 1), (2, 7), (3, 16)):
        assert decoder(torch.randint(0, 100, (B, T))).shape == (B, T, 100)


def test_the_decoder_is_embeddings_blocks_final_norm_and_head(reading):
    """F34: the four parts by hand give the model's logits."""
    decoder, ids = reading.model, torch.tensor([reading.ids("Jan sucht die Ente.")])
    with torch.no_grad():
        x = decoder.token_embedding.weight[ids] + decoder.position_embedding.weight[: ids.shape[1]]
        for block in decoder.blocks:
            x = x + block.attn(F.layer_norm(x, x.shape[-1:], block.norm1.weight, block.norm1.bias))
            x = x + block.mlp(F.layer_norm(x, x.shape[-1:], block.norm2.weight, block.norm2.bias))
        x = F.layer_norm(x, x.shape[-1:], decoder.final_norm.weight, decoder.final_norm.bias)
        by_hand = x @ decoder.token_embedding.weight.T
        assert torch.allclose(by_hand, decoder(ids), atol=1e-3)


# ---- logits at each position, and what each layer would answer ----


@pytest.fixture(scope="module")
def next_token():
    return decoder_views.NextToken()


# ---- the way of the data ----


@pytest.fixture(scope="module")
def plan():
    view = decoder_views.LivingPlan()
    yield view
    view.close()


@torch.no_grad()
def by_hand(reading, text):
    """What stands at each place, computed from one to the next with the modules of the model."""
    decoder, ids = reading.model, torch.tensor([reading.ids(text)])
    x = decoder.token_embedding(ids) + decoder.position_embedding(torch.arange(ids.shape[1]))
    yield x
    for block in decoder.blocks:
        yield (normed := block.norm1(x))
        yield (found := block.attn(normed))
        yield (u := x + found)
        yield (normed := block.norm2(u))
        yield (made := block.mlp(normed))
        yield (x := u + made)
    yield (x := decoder.final_norm(x))
    yield (logits := decoder.head(x))
    yield logits.softmax(dim=-1)
    yield logits.softmax(dim=-1)


@pytest.mark.parametrize("text", ["Eine Ente lacht.", ODD])
def test_every_place_of_the_way_shows_what_the_model_has_there(plan, text):
    plan.set(text=text, position=2)
    assert plan.error is None
    first, *rest = plan.way
    ids = decoder_computation.station(decoder_computation.run(plan.reading, text), first, 2)
    assert ids.values[:, 0].tolist() == plan.reading.ids(text) and ids.shape == (1, len(ids.labels))
    for stop, expected in zip(rest, by_hand(plan.reading, text), strict=True):
        plan.set(stop=stop)
        shown = plan.matrix.values[0]
        best = expected[0, -1].topk(10).indices if expected.shape[-1] > 64 else slice(None)
        assert np.allclose(shown, expected[0][:, best], atol=1e-4), stop
        assert f"= {tuple(expected.shape)}." in plan.caption.value
        assert plan.matrix.selected == 1
    plan.reset()


def test_the_way_goes_through_each_block_from_the_ids_to_the_next_token():
    way = [stop.part for stop in decoder_computation.stops(3)]
    block = ["norm1", "attention", "sum1", "norm2", "mlp", "sum2"]
    assert way == ["ids", "embedding", *3 * block, "final_norm", "head", "sampling", "next"]
    assert [stop.block for stop in decoder_computation.stops(2)][2:14] == 6 * [0] + 6 * [1]


def lit(plan):
    return [part for part, artists in plan.frames.items() if all(artist.get_visible() for artist in artists)]


def click(plan, part):
    """Click into the middle of what is drawn, as the page tells it."""
    box = plan.frames[part][0].get_window_extent()
    size = plan.plan.figure.bbox
    x, y = (box.x0 + box.x1) / 2 / size.width, (box.y0 + box.y1) / 2 / size.height
    plan.plan._handle_custom_msg({"click": [x, y]}, [])


def test_a_click_on_any_part_goes_there_and_lights_it_alone(plan):
    plan.reset()
    for part in plan.frames:
        click(plan, part)
        assert plan.result.stop.part == part and lit(plan) == [part]
    plan.set(stop=decoder_computation.Stop("mlp", 1))
    click(plan, "norm1")
    assert plan.result.stop == decoder_computation.Stop("norm1", 1)  # in the block where we are
    assert plan.block.get_text() == "Block 2 von 2"
    plan.plan._handle_custom_msg({"click": [0.5, 0.01]}, [])
    assert plan.result.stop == decoder_computation.Stop("norm1", 1) and plan.message.value == ""
    plan.reset()


def test_a_row_that_is_clicked_is_the_token_seen_from_and_a_shorter_text_has_fewer(plan):
    plan.reset()
    plan.matrix.selected = 3
    assert plan.controls["position"].value == 4 and "Token 4, " in plan.caption.value
    plan.set(text="Eine")
    assert plan.result.position == 1 and plan.controls["position"].max == 2
    plan.reset()


@pytest.mark.parametrize("position", [1, 4, 9])
def test_the_view_shows_the_models_logits_of_the_best_candidates(next_token, position):
    """F35, F36: logits come from the model, the probabilities from softmax over all of them."""
    next_token.reset()
    next_token.set(position=position)
    found, logits = next_token.result, logits_of(next_token.reading, next_token.settings["text"])
    shares = logits[position - 1].exp() / logits[position - 1].exp().sum()
    best = shares.argsort(descending=True)[: decoder_computation.TOP]
    assert found.candidates == next_token.reading.tokenizer.labels(best.tolist())
    assert np.allclose(found.probabilities, shares[best], atol=1e-5)
    assert np.allclose(next_token.logits.values[0], logits[:, best], atol=1e-4)
    assert f"Nach Token {position}" in next_token.caption.value


def test_the_last_layer_gives_the_models_own_answer_and_the_first_sees_one_token_only(next_token):
    next_token.reset()
    found = next_token.result
    assert [token for token, _share in found.layers[-1]] == found.candidates[: decoder_computation.LAYER_TOP]
    assert [share for _token, share in found.layers[-1]] == pytest.approx(
        found.probabilities[: decoder_computation.LAYER_TOP].tolist(), abs=1e-5
    )
    assert len(found.layers) == next_token.reading.model.config.blocks + 1
    # Before any block nothing has been mixed in: with the same token at the same place the rest is no matter.
    other = decoder_computation.predict(
        next_token.reading, "Eine alte Ente wohnt im Wald. Heute findet", found.position + 1
    )
    assert other.labels[other.position] == found.labels[found.position]
    assert [token for token, _share in other.layers[0]] == [token for token, _share in found.layers[0]]
    assert other.layers[-1] != found.layers[-1]


def test_the_layer_from_which_the_answer_stands_is_the_first_of_an_unbroken_run(next_token):
    best = ["a", "b"]
    for tops, name in (
        ("aaa", "nur Embeddings"),
        ("baa", "nach Block 1."),
        ("aba", "nach Block 2 (Antwort)"),
        ("bba", "nach Block 2 (Antwort)"),
    ):
        layers = [[(top, 0.5)] for top in tops]
        found = decoder_computation.Prediction(
            ["x"], 0, best, np.zeros((1, 2)), np.array([0.6, 0.2]), layers, 9
        )
        assert next_token.sentence(found).endswith(name if name.endswith(".") else name + ".")


def test_a_click_on_a_row_becomes_the_position_seen_from(next_token):
    next_token.reset()
    next_token.logits.selected = 2
    assert next_token.settings["position"] == 3 and "Nach Token 3" in next_token.caption.value
    next_token.reset()


def test_a_shorter_text_is_shown_once_and_a_position_beyond_it_becomes_its_last(next_token):
    next_token.reset()
    next_token.set(position=8)
    with patch.object(next_token, "compute", wraps=next_token.compute) as compute:
        next_token.set(text="Die Ente")
        assert compute.call_count == 1
    assert next_token.result.position == 2 and next_token.settings["position"] == 3
    next_token.set(text=next_token.reading.tokenizer.decode(range(300, 320)))
    assert next_token.result.position == 2
    next_token.logits.selected = 4  # and a click still counts
    assert next_token.settings["position"] == 5
    next_token.reset()


def test_every_control_of_the_next_token_moves_the_caption(next_token):
    next_token.reset()
    captions = {next_token.caption.value}
    next_token.set(position=3)
    captions.add(next_token.caption.value)
    next_token.set(text="Die Ente lacht.")
    captions.add(next_token.caption.value)
    assert len(captions) == 3
    next_token.reset()


def test_a_text_with_marks_of_its_own_is_read_as_text_and_the_empty_one_too(next_token):
    for text in (ODD, ""):
        next_token.set(text=text)
        assert next_token.error is None, next_token.message.value
        assert len(next_token.logits.rows) == len(logits_of(next_token.reading, text))
    assert next_token.caption.value.startswith("1 Token ergibt 1 Zeile mit")  # the start token alone
    next_token.reset()


def test_too_long_a_text_gets_words_and_keeps_the_view(next_token):
    next_token.reset()
    rows, image = next_token.logits.rows, next_token.figure.pixels.tobytes()
    next_token.set(text="die Ente " * 200)
    assert "64" in next_token.message.value and "Kürze den Text" in next_token.message.value
    assert next_token.logits.rows == rows and next_token.figure.pixels.tobytes() == image
    next_token.reset()
    assert next_token.message.value == ""


# ---- generation ----


@pytest.fixture(scope="module")
def generation():
    return decoder_views.Generation()


def greedy(reading, text, limit):
    """The loop by hand: run, take the largest logit of the last position, append, until the end token."""
    ids, new = [reading.tokenizer.start, *reading.tokenizer.encode(text)], []
    while len(new) < limit and reading.tokenizer.end not in new:
        with torch.no_grad():
            new.append(int(reading.model(torch.tensor([[*ids, *new]]))[0, -1].argmax()))
    return new


def test_the_loop_appends_the_best_token_of_the_last_position_at_every_stop_of_the_slider(generation):
    """F35: the last position's logits give the next token, it is appended, and again."""
    generation.reset()
    tokenizer = generation.reading.tokenizer
    new = greedy(generation.reading, generation.settings["text"], decoder_computation.LIMIT)
    assert new[-1] == tokenizer.end and len(new) < decoder_computation.LIMIT
    for steps in range(decoder_computation.LIMIT + 1):
        found = decoder_computation.continued(generation.reading, generation.settings["text"], steps)
        made = new[:steps]
        assert found.continuation == tokenizer.decode(id for id in made if id != tokenizer.end)
        assert found.steps == len(made)
        assert found.reason == ("end" if steps >= len(new) else None)
        if steps < len(new):
            assert found.candidates[0][0] == tokenizer.labels([new[steps]])[0]


def test_both_endings_are_told_in_words(generation, monkeypatch):
    generation.reset()
    generation.set(steps=decoder_computation.LIMIT)
    assert generation.result.reason == "end" and "End-Token gewählt" in generation.caption.value
    generation.set(steps=1)
    assert generation.caption.value.startswith("Nach 1 Schritt: ")
    generation.set(steps=3)
    assert generation.caption.value.startswith("Nach 3 Schritten: ")
    assert generation.result.reason is None and "Als Nächstes kommt" in generation.caption.value
    for module in (decoder_computation, decoder_views):
        monkeypatch.setattr(module, "LIMIT", 5)
    generation.set(text="Die alte Hexe", steps=5)
    assert generation.result.reason == "limit" and "abgebrochen, nicht zu Ende" in generation.caption.value
    assert "Die Grenze von 5 Token" in generation.caption.value
    generation.set(steps=4)
    assert generation.result.reason is None
    generation.reset()


def test_the_model_gives_logits_and_a_strategy_chooses(generation):
    """F36: the same logits, another choice: the largest always, or drawn from the softmax."""
    text = "Eine Ente"
    logits = logits_of(generation.reading, text)
    assert torch.equal(
        logits, logits_of(generation.reading, text)
    )  # the model has nothing to throw dice with
    found = decoder_computation.continued(generation.reading, text, 0)
    shares = logits[-1].softmax(-1).topk(decoder_computation.TOP)
    assert [share for _token, share in found.candidates] == pytest.approx(shares.values.tolist(), abs=1e-5)
    draws = torch.multinomial(logits[-1].softmax(-1), 50, True, generator=torch.Generator().manual_seed(0))
    assert len(draws.unique()) > 1 and int(logits[-1].argmax()) == shares.indices[0]


def test_every_control_of_the_generation_moves_the_caption_and_any_text_is_read(generation):
    generation.reset()
    captions = {generation.caption.value}
    for settings in ({"steps": 7}, {"text": "Jan"}, {"text": ODD}, {"text": ""}):
        generation.set(**settings)
        assert generation.error is None, generation.message.value
        captions.add(generation.caption.value)
    assert len(captions) == 5
    generation.set(text="die Ente " * 200)
    assert "Kürze den Text" in generation.message.value
    generation.reset()


# ---- the ablation board ----


@pytest.fixture(scope="module")
def board():
    return decoder_views.AblationBoard()


def switch_all_on(board):
    """Nothing off, neither a part nor the head that is off at first."""
    board.reset()
    board.set(head=())


class Detour(nn.Module):
    """A block without its direct paths."""

    def __init__(self, block):
        super().__init__()
        self.block = block

    def forward(self, x, allowed=None):
        x = self.block.attn(self.block.norm1(x), allowed)
        return self.block.mlp(self.block.norm2(x))


def without(decoder, part):
    """A copy of the decoder with a part taken out by hand, in its weights or its modules."""
    decoder = copy.deepcopy(decoder)
    with torch.no_grad():
        for block in decoder.blocks:
            if part == "attention":
                block.attn.out.weight.zero_(), block.attn.out.bias.zero_()
            if part == "mlp":
                block.mlp.down.weight.zero_(), block.mlp.down.bias.zero_()
            if part == "norms":
                block.norm1, block.norm2 = nn.Identity(), nn.Identity()
        if part == "norms":
            decoder.final_norm = nn.Identity()
        if part == "positions":
            decoder.position_embedding.weight.zero_()
        if part == "residual":
            decoder.blocks = nn.ModuleList(Detour(block) for block in decoder.blocks)
    return decoder


def test_where_some_stories_do_not_fit_floor_and_loss_are_those_of_the_rest(board):
    whole = board.reading.pretrained
    config = replace(whole.model.config, context_length=40)
    short = decoder_views.AblationBoard(Pretrained(training.new_model(config), whole.tokenizer, "short"))
    stories = list(islice(corpus.stories(seed=1_000_000, split="held_out"), decoder_computation.STORIES))
    rows = [training.framed(story.text, whole.tokenizer) for story in stories]
    fitting = [(story.nats, len(row) - 1) for story, row in zip(stories, rows) if len(row) <= 41]
    assert 0 < len(fitting) < len(stories) and len(short.stories.batch.ids) == len(fitting)
    nats, tokens = map(sum, zip(*fitting))
    assert short.stories.floor == pytest.approx(nats / tokens)
    assert f"{len(fitting)} " in short.figure.figure.axes[0].get_xlabel()
    short.close()


def loss_of(decoder, board):
    with torch.no_grad():
        return float(training.loss(decoder, board.stories.batch))


def test_at_first_the_board_shows_what_is_lost_without_the_head_that_the_page_names(board):
    board.reset()
    assert board.controls["head"].label == "Block 1, Kopf 2" and board.result.parts == []
    assert board.result.loss > board.stories.intact + 0.1
    bars = board.figure.figure.axes[0].patches
    assert bars[2].get_width() > 1.1 * bars[1].get_width()


def test_intact_the_board_shows_the_loss_of_training(board):
    switch_all_on(board)
    intact = loss_of(board.reading.model, board)
    assert board.result.loss == pytest.approx(intact, abs=1e-5) and board.result.parts == []
    assert board.stories.uniform == pytest.approx(math.log(board.reading.model.config.vocab_size))
    assert board.stories.floor < intact < board.stories.floor + 0.2
    assert f"{intact:.2f}".rstrip("0") in board.caption.value


def test_the_floor_is_the_grammars_surprise_on_the_very_tokens_of_the_batch(board):
    """Numerator and denominator speak of the same stories: none was too long for the window."""
    assert len(board.stories.batch.ids) == decoder_computation.STORIES


@pytest.mark.parametrize("part", decoder_computation.PARTS)
def test_a_part_switched_off_loses_what_a_model_without_it_loses(board, part):
    switch_all_on(board)
    board.set(**{part: True})
    assert board.error is None
    expected = loss_of(without(board.reading.model, part), board)
    assert board.result.loss == pytest.approx(expected, rel=1e-4)
    assert board.result.loss > board.stories.intact + 0.5
    assert decoder_views.part_names()[part] in board.caption.value
    assert ("schlechter als blindes Raten" in board.caption.value) == (expected > board.stories.uniform)
    switch_all_on(board)
    assert board.result.loss == board.stories.intact  # no hook stays behind


def test_one_head_off_is_its_columns_of_the_output_table_set_to_zero(board):
    switch_all_on(board)
    for _name, chosen in board.controls["head"].options[1:]:
        board.set(head=chosen)
        block, head = chosen
        decoder = copy.deepcopy(board.reading.model)
        width = decoder.config.width // decoder.config.heads
        with torch.no_grad():
            decoder.blocks[block].attn.out.weight[:, head * width : (head + 1) * width] = 0
        assert board.result.loss == pytest.approx(loss_of(decoder, board), rel=1e-4)
        assert f"Block {block + 1}, Kopf {head + 1}" in board.caption.value
    switch_all_on(board)


def test_two_parts_off_are_both_off_and_the_text_follows(board):
    switch_all_on(board)
    intact = board.result.text
    board.set(mlp=True, positions=True)
    expected = loss_of(without(without(board.reading.model, "mlp"), "positions"), board)
    assert board.result.loss == pytest.approx(expected, rel=1e-4)
    assert board.result.text != intact and board.result.text.startswith(board.prompt)
    switch_all_on(board)
    assert board.result.text == intact


# ---- questions and exercise ----


def run_the_cell_for_gpt2():
    """What the page's cell for a GPT-2 on the reader's disk answers."""
    cells = nbformat.read(NOTEBOOKS / "08_decoder.ipynb", as_version=4).cells
    (source,) = (c.source for c in cells if c.cell_type == "code" and "TOKENWERK_GPT2" in c.source)
    names = {"os": os, "pretrained": pretrained, "page": decoder}
    *statements, answer = source.splitlines()
    exec("\n".join(statements), names)
    return eval(answer, names)


def test_the_cell_for_gpt2_does_nothing_without_a_folder_and_says_what_is_missing(
    tmp_path, monkeypatch, capsys
):
    assert run_the_cell_for_gpt2() is None and capsys.readouterr().out == ""
    monkeypatch.setenv("TOKENWERK_GPT2", str(tmp_path))
    assert run_the_cell_for_gpt2() is None
    assert f"no config.json in {tmp_path}" in capsys.readouterr().out


def test_the_cell_for_gpt2_opens_the_view_with_the_readers_model(tmp_path, monkeypatch, capsys):
    hugging_face_gpt2(tmp_path, n_positions=64)
    monkeypatch.setenv("TOKENWERK_GPT2", str(tmp_path))
    view = run_the_cell_for_gpt2()
    assert isinstance(view, decoder_views.NextToken) and capsys.readouterr().out == ""
    assert view.error is None and view.reading.pretrained.name == tmp_path.name
    view.close()


def test_the_guesses_know_right_from_wrong():
    rights = {
        decoder_questions.guess_position: 2,
        decoder_questions.guess_missing_part: 2,
        decoder_questions.guess_own_words: 0,
    }
    for ask, right in rights.items():
        guess = ask()
        assert [i for i in range(len(guess.options)) if guess.reply_to(i).correct] == [right]
        assert guess.judge().correct is None
    shape, tied = decoder_questions.guess_shape(), decoder_questions.guess_tied()
    assert shape.reply_to(1400).correct and tied.reply_to(800).correct
    assert all(shape.reply_to(n).correct is False for n in (100, 200, 700, 14))
    assert tied.reply_to(100).correct is False
    assert shape.judge().correct is tied.judge().correct is None


def test_the_question_about_own_words_quotes_what_the_loop_has_appended():
    loop, question = decoder_views.Generation(), decoder_questions.guess_own_words().text
    assert loop.result.steps == 3  # as many as the check takes for typed
    assert f"„{loop.result.prompt}“" in question and f"„{loop.result.continuation.strip()}“" in question
    loop.close()


@pytest.mark.parametrize(
    ("attempt", "word"),
    [
        (lambda logits: logits.argmax(), "alle Positionen"),
        (lambda logits: logits[0, 0].argmax(), "ersten Position"),
        (lambda logits: logits.mean(dim=1).argmax(), "alle Positionen"),
        (lambda logits: logits[0, -2].argmax(), "in der Mitte"),
        (lambda logits: logits[0, -1].argmin(), "letzten Position"),
        (lambda logits: logits.argmax(dim=-1), "eine einzelne ganze Zahl"),
        (lambda logits: logits[0, -1], "eine einzelne ganze Zahl"),
        (lambda logits: "drei", "eine einzelne ganze Zahl"),
        (lambda logits: logits[1, -1], "bricht ab"),
    ],
)
def test_the_exercise_names_the_broken_property(attempt, word):
    feedback = decoder_exercises.check_next_id(attempt)
    assert feedback.correct is False and word in feedback.text


def test_the_exercise_accepts_a_right_answer_and_knows_a_stub():
    assert decoder_exercises.check_next_id(lambda logits: ...).correct is None
    assert decoder_exercises.check_next_id(lambda logits: None).correct is None
    assert decoder_exercises.check_next_id(lambda logits: logits[0, -1].argmax()).correct
    assert decoder_exercises.check_next_id(lambda logits: int(logits[0, -1].softmax(-1).argmax())).correct


def test_a_model_for_which_all_tokens_are_alike_has_an_answer_too():
    reading = Reading()
    with torch.no_grad():
        for parameter in reading.model.parameters():
            parameter.zero_()
    view = decoder_views.NextToken(reading.pretrained)
    assert view.error is None and view.caption.value


def test_a_closed_generation_lets_its_model_go():
    view = decoder_views.Generation()
    reference = weakref.ref(view.reading)
    view.close()
    del view
    gc.collect()
    assert reference() is None


def test_a_board_with_every_head_on_says_so_in_its_list(board):
    switch_all_on(board)
    assert board.controls["head"].label == "keiner"


def test_a_probability_in_the_sentence_is_written_as_in_the_picture():
    """0.9992 once stood as "99.9 %" in the one and as "> 99.9 %" in the other."""
    nearly_sure = decoder_views.NextToken(text="Eine kleine Ente wohnt im Wald. Heute findet")
    assert 0.999 < nearly_sure.result.probabilities[0] < 0.9995
    views = [
        nearly_sure,
        decoder_views.NextToken(text="Mia"),
        decoder_views.Generation(),
        sampling_views.Filters(),
    ]
    views[2].set(steps=0)
    for view in views:
        said = view.caption.value.replace("über ", "> ").replace("unter ", "< ")
        labels = [text.get_text() for axes in view.figure.figure.axes for text in axes.texts]
        shares = re.findall(r"(?:[<>] )?[\d.]+ %", said)
        assert shares
        for share in shares:
            assert any(re.search(rf"(?:^|\s){re.escape(share)}$", label) for label in labels), share
        view.close()


@pytest.mark.parametrize("attempt", [lambda logits: logits[0, -1].max(), lambda logits: logits.max()])
def test_the_largest_logit_itself_is_not_the_next_id(attempt):
    assert decoder_exercises.check_next_id(attempt).correct is False


# ---- ways in which a reader may write the exercise, right and wrong ----


def next_by_loop(logits):
    last = logits[0, -1].tolist()
    return last.index(max(last))


WAYS = {
    "check_next_id": Ways(
        [
            lambda logits: logits[0, -1].argmax(),
            next_by_loop,
            lambda logits: logits[:, -1].softmax(-1).argmax(dim=-1),
            lambda logits: np.argmax(logits[0, -1].numpy()),
        ],
        [
            (lambda logits: "3", "einen Text"),
            (lambda logits: 3.7, "eine ganze Zahl"),
            (lambda logits: 3.0, "eine ganze Zahl"),
            (lambda logits: logits[0, 3], "der Form (12,)"),
            (lambda logits: logits[0, 3].argmax(), "bei sechs nicht"),
            (lambda logits: logits[0, -1].max(), "nicht wie groß"),
            (lambda logits: logits.mean(dim=1).argmax(), "alle Positionen mitreden"),
            (lambda logits: logits[0, 0].argmax(), "ersten Position"),
        ],
    ),
}
