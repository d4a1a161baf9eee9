"""11_training: targets, a training in the page, the stored checkpoints."""

import asyncio
import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tests.ways import Ways
from tokenwerk_helpers import corpus, model, training
from tokenwerk_helpers.chapters.training import computation, exercises, questions, views
from tokenwerk_helpers.live.numbers import percent
from tokenwerk_helpers.pretrained import load_checkpoints
from tokenwerk_helpers.trace import trace

ODD = "Ein $\\frac$ & <b>Jan</b> 🦆 $"


# ---- targets ----


@pytest.fixture(scope="module")
def targets():
    return views.Targets()


@pytest.mark.parametrize("text", ["Eine Ente lacht.", ODD, ""])
def test_every_position_is_asked_for_the_token_that_comes_next(targets, text):
    targets.set(text=text, position=0)
    assert targets.error is None, targets.message.value
    tokenizer = targets.reading.tokenizer
    row = tokenizer.labels([tokenizer.start, *tokenizer.encode(text), tokenizer.end])
    found = targets.result
    assert list(zip(found.inputs, found.targets, strict=True)) == [
        (row[i], row[i + 1]) for i in range(len(row) - 1)
    ]
    assert found.inputs[0] == "<|start|>" and found.targets[-1] == "<|end|>"
    targets.reset()


def test_the_caption_follows_the_position_and_stops_at_the_last_question(targets):
    targets.reset()
    count = len(targets.result.inputs)
    captions = []
    for position in range(count + 2):
        targets.set(position=position)
        captions.append(targets.caption.value)
        place = min(position, count - 1)
        assert f"An Position {place} hat" in captions[-1]
        assert f"Antwort ist „{targets.result.targets[place]}“" in captions[-1]
    assert len(set(captions)) == count
    assert captions[0].startswith(f"Mit dem Start-Token sind es {count} Token und {count} Fragen.")
    targets.set(text="")
    assert targets.caption.value.startswith("Das Start-Token allein ist schon eine Frage.")
    targets.reset()


def test_too_long_a_text_gets_words_and_the_picture_stays(targets):
    targets.reset()
    image = targets.figure.pixels.tobytes()
    targets.set(text="die Ente " * 200)
    assert "Kürze den Text" in targets.message.value and targets.figure.pixels.tobytes() == image
    targets.reset()
    assert targets.message.value == ""


# ---- the stored checkpoints ----


@pytest.fixture(scope="module")
def checkpoints():
    return list(load_checkpoints())


@pytest.fixture(scope="module")
def scrubber(checkpoints):
    return views.Scrubber(checkpoints=checkpoints)


def test_the_map_is_the_attention_of_the_model_at_that_step(scrubber, checkpoints):
    scrubber.reset()
    ids = torch.tensor([scrubber.reading.ids(scrubber.settings["text"])])
    for checkpoint, block, head in ((checkpoints[0], 1, 1), (checkpoints[5], 2, 3), (checkpoints[-1], 2, 4)):
        scrubber.set(step=checkpoint.step, block=block, head=head)
        assert scrubber.error is None, scrubber.message.value
        attn, seen = checkpoint.model.blocks[block - 1].attn, []
        handle = attn.register_forward_hook(lambda _m, inputs, _o, seen=seen: seen.append(inputs[0]))
        with torch.no_grad():
            checkpoint.model(ids)
            handle.remove()
            T, width = ids.shape[1], attn.q.weight.shape[0] // 4
            own = slice((head - 1) * width, head * width)
            q, k = attn.q(seen[0])[0, :, own], attn.k(seen[0])[0, :, own]
            scores = (q @ k.T / math.sqrt(width)).masked_fill(torch.ones(T, T).triu(1).bool(), -math.inf)
        assert np.allclose(scrubber.matrix.values[0], scores.softmax(-1), atol=1e-5)
        best = int(scores[-1].argmax())
        assert f"auf „{scrubber.result.labels[best]}“" in scrubber.caption.value


def test_every_step_shows_what_was_measured_then(scrubber, checkpoints):
    scrubber.reset()
    captions = set()
    for place, checkpoint in enumerate(checkpoints):
        scrubber.set(step=checkpoint.step)
        metrics, caption = checkpoint.metrics, scrubber.caption.value
        assert f"Schritt {checkpoint.step}: Verlust {round(metrics['loss'], 2):g};" in caption
        for name, word in (("pronoun", "Pronomen"), ("giver", "Namen"), ("copy", "vom Abgeschriebenen")):
            assert f"{word} {percent(metrics[name])}" in caption
        assert all(list(mark.get_xdata()) == [place, place] for mark in scrubber.marks)
        captions.add(caption)
    assert len(captions) == len(checkpoints)


def test_the_text_is_continued_by_the_model_of_that_step(scrubber, checkpoints):
    scrubber.reset()
    tokenizer = scrubber.reading.tokenizer
    for checkpoint in (checkpoints[2], checkpoints[-1]):
        scrubber.set(step=checkpoint.step)
        ids, new = scrubber.reading.ids(scrubber.settings["text"]), []
        while len(new) < 6 and tokenizer.end not in new:
            with torch.no_grad():
                new.append(int(checkpoint.model(torch.tensor([[*ids, *new]]))[0, -1].argmax()))
        assert scrubber.result.text == tokenizer.decode(id for id in new if id != tokenizer.end)


def test_copying_appears_between_step_800_and_1600_and_after_pronouns_and_names(scrubber, checkpoints):
    copying = {c.step: c.metrics["copy"] for c in checkpoints}
    assert copying[800] < 0.2 and copying[1600] > 0.9
    first = {
        name: next(c.step for c in checkpoints if c.metrics[name] > 0.9) for name in computation.ABILITIES
    }
    assert first["pronoun"] < first["giver"] < first["copy"]
    # And it is to be seen: the text of the page is continued rightly only afterwards.
    scrubber.reset()
    assert scrubber.result.text.startswith(" lomi rafu")
    scrubber.set(step=400)
    assert not scrubber.result.text.startswith(" lomi rafu")
    scrubber.reset()


def test_the_legend_stands_where_no_curve_runs(scrubber):
    scrubber.reset()
    scrubber.figure.still()
    ability = scrubber.figure.figure.axes[1]
    box = ability.get_legend().get_window_extent()
    for curve in ability.get_lines():
        path = curve.get_transform().transform_path(curve.get_path())
        assert not path.intersects_bbox(box, filled=False), curve.get_label()


def test_every_control_moves_the_scrubber_and_any_text_is_read(scrubber):
    scrubber.reset()
    for name, value in {"text": "Jan", "block": 1, "head": 1, "step": 0}.items():
        before = scrubber.matrix.values.tobytes(), scrubber.caption.value
        scrubber.set(**{name: value + 1 if value == scrubber.settings[name] else value})
        assert scrubber.error is None, scrubber.message.value
        assert (scrubber.matrix.values.tobytes(), scrubber.caption.value) != before, name
        scrubber.reset()
    for text in (ODD, ""):
        scrubber.set(text=text)
        assert scrubber.error is None, scrubber.message.value
    scrubber.set(text="die Ente " * 200)
    assert "Kürze den Text" in scrubber.message.value
    scrubber.reset()


# ---- two heads in a row ----


@pytest.fixture(scope="module")
def two_heads():
    view = views.TwoHeads()
    yield view
    view.close()


def ids_of(tokenizer, text):
    return [tokenizer.start, *tokenizer.encode(text)]


def by_hand(decoder, ids, other, first, second):
    """The logits at the end, block by block: only the second head's keys are told of the other text."""
    attention = decoder.blocks[first.block].attn
    x = decoder.token_embedding(ids) + decoder.position_embedding(torch.arange(ids.shape[1]))
    stream = decoder.blocks[0].norm1(x)
    parts = [model.split_heads(layer(stream), 4) for layer in (attention.q, attention.k, attention.v)]
    context, _weights = model.attention(*parts, model.causal_mask(ids.shape[1]))
    elsewhere = trace(decoder, other)[f"blocks.{first.block}.attn.context"]
    exchanged = torch.cat(
        [elsewhere[:, i : i + 1] if i == first.head else context[:, i : i + 1] for i in range(4)], dim=1
    )

    def after_the_first_block(context):
        u = x + attention.out(model.merge_heads(context))
        return u + decoder.blocks[0].mlp(decoder.blocks[0].norm2(u))

    block, own = decoder.blocks[second.block], after_the_first_block(context)
    q, k, v = (layer(block.norm1(own)) for layer in (block.attn.q, block.attn.k, block.attn.v))
    told = block.attn.k(block.norm1(after_the_first_block(exchanged)))
    here = torch.arange(k.shape[-1]) // (k.shape[-1] // 4) == second.head
    k = torch.where(here, told, k)
    q, k, v = (model.split_heads(part, 4) for part in (q, k, v))
    mixed, weights = model.attention(q, k, v, model.causal_mask(ids.shape[1]))
    u = own + block.attn.out(model.merge_heads(mixed))
    logits = decoder.head(decoder.final_norm(u + block.mlp(block.norm2(u))))
    return logits[0, -1], weights[0, second.head]


@torch.no_grad()
def test_only_the_keys_of_the_second_head_are_told_of_the_other_text(two_heads):
    tokenizer, heads = two_heads.reading.tokenizer, two_heads.heads
    text, other = computation.spell_text(), computation.rotated_spell_text()
    ids, others = (ids_of(tokenizer, one) for one in (text, other))
    for step in (1200, 4000):
        checkpoint = two_heads.checkpoints[step]
        found = computation.circuit(checkpoint, two_heads.reading, ids, others, "exchanged", heads)
        logits, weights = by_hand(checkpoint.model, torch.tensor([ids]), torch.tensor([others]), *heads)
        assert np.allclose(found.second, weights, atol=1e-5)
        shares, best = logits.softmax(dim=-1).topk(5)
        assert [token for token, _share in found.following] == tokenizer.labels(best.tolist())
        assert np.allclose([share for _token, share in found.following], shares, atol=1e-5)
        alone = trace(checkpoint.model, torch.tensor([others]))
        assert np.allclose(found.first, alone["blocks.0.attn.weights"][0, heads[0].head])


def test_the_same_text_in_exchange_changes_nothing(two_heads):
    tokenizer = two_heads.reading.tokenizer
    ids = ids_of(tokenizer, computation.spell_text())
    last = two_heads.checkpoints[4000]
    same, plain = (
        computation.circuit(last, two_heads.reading, ids, ids, change, two_heads.heads)
        for change in ("exchanged", "none")
    )
    assert np.allclose(same.second, plain.second, atol=1e-6)
    assert np.allclose([s for _t, s in same.following], [s for _t, s in plain.following], atol=1e-6)


def test_what_is_copied_depends_on_both_heads_and_on_what_the_first_has_read():
    assert computation.rotated_spell_text() == (
        "Die Hexe murmelt: rafu bora tika zumi lomi. Das Echo ruft: tika zumi"
    )
    assert {change: computation.copied(change) for change in computation.CHANGES} == {
        "none": "lomi", "first_off": ".", "second_off": ".", "exchanged": "rafu",
    }  # fmt: skip


def test_every_change_is_named_above_the_head_that_it_touches_and_in_the_sentence(two_heads):
    two_heads.reset()
    seen = {}
    for change in computation.CHANGES:
        two_heads.set(change=change)
        titles = [matrix.titles[0] for matrix in (two_heads.first, two_heads.second)]
        seen[change] = titles, two_heads.caption.value
    one, two = "Block 1, Kopf 1", "Block 2, Kopf 2"
    assert seen["none"][0] == [one, two]
    assert seen["first_off"][0] == [f"{one}: abgeschaltet", two]
    assert seen["second_off"][0] == [one, f"{two}: abgeschaltet"]
    assert seen["exchanged"][0] == [f"{one}: im anderen Text", two]
    assert len({caption for _titles, caption in seen.values()}) == 4
    assert "Das Modell schreibt weiter: „␣rafu“" in seen["exchanged"][1]
    assert two_heads.first.rows[5] == "␣rafu" and two_heads.second.rows[5] == "␣bora"
    two_heads.reset()


def test_whoever_writes_another_text_sees_what_it_does(two_heads):
    two_heads.reset()
    two_heads.controls["other"].value = "Die Hexe murmelt: zumi bora tika lomi rafu. Das Echo ruft: tika zumi"
    assert two_heads.result.change == two_heads.controls["change"].value == "exchanged"
    assert two_heads.result.following[0][0] == "␣tika"  # "zumi" stands before the second word there
    two_heads.reset()
    assert two_heads.controls["change"].value == "none"


def test_texts_of_different_lengths_are_refused_where_both_are_needed(two_heads):
    two_heads.reset()
    two_heads.set(text="Die Hexe murmelt: bora tika.")
    assert two_heads.message.value == ""
    two_heads.set(change="exchanged")
    assert two_heads.message.value.endswith("Mach beide gleich lang.")
    two_heads.reset()
    assert two_heads.message.value == ""


# ---- a training in the page ----


@pytest.fixture(scope="module")
def live():
    return views.LiveTraining()


async def until(condition, seconds=120):
    end = asyncio.get_running_loop().time() + seconds
    while not condition() and asyncio.get_running_loop().time() < end:
        await asyncio.sleep(0.005)
    assert condition()


def click(button, live):
    button.click()
    assert live.error is None, live.message.value


def test_before_the_first_step_the_caption_tells_what_blind_guessing_costs(live):
    live.reset()
    assert live.uniform == pytest.approx(math.log(len(live.reading.tokenizer)))
    assert f"{live.uniform:.2f}" in live.caption.value and "Noch nicht trainiert" in live.caption.value


def test_the_training_can_be_stopped_goes_on_and_begins_anew_with_other_settings(live):
    async def session() -> None:
        live.set(stories=10, rate=0.01)
        click(live.start, live)
        await until(lambda: len(live.curve.steps) >= 6)
        assert "Schritt 5: Trainingsverlust" in live.caption.value
        click(live.halt, live)
        await asyncio.sleep(0.02)
        stopped = len(live.curve.steps)
        assert live.curve.steps == list(range(1, stopped + 1))
        assert f"Schritt {stopped}:" in live.caption.value
        assert f"Nach Schritt {stopped} schreibt es: {live.sample()}" in live.caption.value
        await asyncio.sleep(0.2)
        assert len(live.curve.steps) == live.training.step == stopped
        click(live.start, live)  # the same settings: it goes on
        await until(lambda: len(live.curve.steps) >= stopped + 2)
        assert live.curve.steps == list(range(1, len(live.curve.steps) + 1))
        live.set(rate=0.003)  # while it runs
        assert live.curve.steps == [] and live.training.step == 0
        await asyncio.sleep(0.2)
        assert live.curve.steps == [] and not live.runner.running
        assert "Noch nicht trainiert" in live.caption.value and "0.003" in live.caption.value

    asyncio.run(session())


def test_after_a_reset_the_same_settings_begin_anew(live):
    async def session() -> None:
        live.reset()
        click(live.start, live)
        await until(lambda: len(live.curve.steps) >= 2)
        click(live.halt, live)
        await until(lambda: not live.runner.running)
        live.reset()
        assert live.error is None and live.curve.steps == [] and live.training.step == 0
        assert "Noch nicht trainiert" in live.caption.value
        click(live.start, live)
        await until(lambda: len(live.curve.steps) >= 1)
        click(live.halt, live)
        await asyncio.sleep(0.02)

    asyncio.run(session())


def test_the_click_is_answered_before_the_first_step_which_may_take_seconds(live):
    async def session() -> None:
        live.set(stories=10, rate=0.01)
        live.reset()
        click(live.start, live)
        assert live.curve.steps == [] and live.caption.value.endswith("Das Training beginnt …")
        click(live.halt, live)
        await until(lambda: live.caption.value.startswith("Noch nicht trainiert"))
        assert "beginnt" not in live.caption.value
        click(live.start, live)
        await until(lambda: len(live.curve.steps) >= 5)
        assert "beginnt" not in live.caption.value
        click(live.halt, live)
        await asyncio.sleep(0.02)
        click(live.start, live)  # it goes on: nothing begins
        assert "beginnt" not in live.caption.value
        click(live.halt, live)
        await asyncio.sleep(0.02)

    asyncio.run(session())


def test_the_curve_is_what_the_training_reports(live):
    """The same settings trained without a page give the same losses; the loss falls from ln V."""

    async def session() -> None:
        live.set(stories=10, rate=0.01)
        click(live.start, live)
        await until(lambda: len(live.curve.steps) >= 27)
        click(live.halt, live)
        await asyncio.sleep(0.02)

    live.set(rate=0.0001)
    asyncio.run(session())
    plain = computation.new_training(10, 0.01, live.reading.tokenizer)
    losses = [next(plain) for _ in range(27)]
    assert live.curve.train[:27] == pytest.approx([p.train_loss for p in losses], rel=1e-3)
    assert live.curve.train[0] == pytest.approx(live.uniform, abs=0.5) and live.curve.train[26] < 5
    assert live.curve.validation_steps == [25]
    assert live.curve.validation[0] == pytest.approx(losses[24].validation_loss, rel=1e-3)
    assert "Ungesehene Geschichten:" in live.caption.value


def test_at_each_validation_it_shows_what_it_writes_while_it_trains_on(live):
    written = {}

    async def session() -> None:
        live.set(stories=10, rate=0.01)
        live.reset()
        live.set(stories=10, rate=0.01)
        click(live.start, live)
        for step in (25, 50):
            await until(lambda step=step: len(live.curve.steps) >= step)
            assert live.runner.running
            assert f"Nach Schritt {step} schreibt es:" in live.caption.value
            written[step] = live.caption.value.partition("schreibt es: ")[2]
        click(live.halt, live)
        await asyncio.sleep(0.02)

    asyncio.run(session())
    plain = computation.new_training(10, 0.01, live.reading.tokenizer)
    tokenizer = live.reading.tokenizer
    for step in (25, 50):
        while plain.step < step:
            next(plain)
        ids = [tokenizer.start]
        while len(ids) < 19 and ids[-1] != tokenizer.end:
            with torch.no_grad():
                ids.append(int(plain.model(torch.tensor([ids]))[0, -1].argmax()))
        assert written[step] == tokenizer.decode(id for id in ids[1:] if id != tokenizer.end)
    assert written[25] != written[50]


def test_the_floor_under_the_curve_is_that_of_ordinary_stories(live):
    about = live.reading.pretrained.about
    ordinary = list(corpus.stories(1, 2000))
    tokens = sum(len(training.framed(story.text, live.reading.tokenizer)) - 1 for story in ordinary)
    assert live.floor == pytest.approx(sum(story.nats for story in ordinary) / tokens, abs=0.004)
    assert live.floor != about["held_out"]["floor"]


@pytest.mark.parametrize("changed", [{"stories": 100}, {"rate": 0.03}])
def test_each_setting_is_named_before_the_training_begins(live, changed):
    live.reset()
    before = live.caption.value
    live.set(**changed)
    assert live.error is None and live.caption.value != before


def test_learning_by_heart_is_said_when_unseen_stories_get_worse(live):
    curve = computation.Curve(stories=10, rate=0.01)
    for step, validation in ((25, 2.0), (50, 1.5), (75, 1.6)):
        curve.add(training.Progress(step, 1.0, validation, 0.01))
    assert "auswendig" not in live.sentence(curve)
    curve.add(training.Progress(100, 0.5, 1.9, 0.01))
    assert "auswendig" in live.sentence(curve)


class Broken:
    """A training that breaks off after its first step."""

    def __init__(self, model):
        self.model, self.step = model, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.step:
            raise RuntimeError("no more memory")
        self.step = 1
        return training.Progress(1, 5.0, None, 0.01)


def test_an_error_in_the_training_is_said_in_words_and_what_was_made_stays(live):
    async def session() -> None:
        live.set(stories=100, rate=0.0003)
        live.training = Broken(live.training.model)
        live.start.click()
        await until(lambda: not live.runner.running)
        assert "no more memory" in live.message.value
        assert live.curve.steps == [1] and "Schritt 1:" in live.caption.value

    asyncio.run(session())


def test_outside_a_kernel_the_training_is_refused_in_words(live):
    live.start.click()
    assert "RuntimeError" in live.message.value


# ---- questions and exercise ----


def test_the_guesses_know_right_from_wrong():
    rights = {questions.guess_first_loss: 2, questions.guess_last: 2, questions.guess_ten_stories: 1}
    for ask, right in rights.items():
        guess = ask()
        assert [i for i in range(len(guess.options)) if guess.reply_to(i).correct] == [right]
        assert guess.judge().correct is None
    predictions = questions.guess_questions()
    assert predictions.reply_to(21).correct and predictions.judge().correct is None
    assert all(predictions.reply_to(n).correct is False for n in (1, 20, 22))


def test_who_knows_ten_stories_by_heart_loses_less_than_the_floor_on_them():
    """Over all beginnings of the ten, the best answer costs ln 10 a story; the floor lies above that."""
    stories = list(corpus.stories(0, 10))
    texts = [story.text for story in stories]
    begin = lambda start: sum(text.startswith(start) for text in texts)  # noqa: E731
    by_heart = sum(
        math.log(begin(text[:n]) / begin(text[: n + 1])) for text in texts for n in range(len(text))
    )
    assert by_heart == pytest.approx(10 * math.log(10))
    assert by_heart < sum(story.nats for story in stories)
    assert computation.ten_stories_by_heart() == "below"


def shifted(logits, ids, reduction="mean"):
    return F.cross_entropy(logits[:, :-1].transpose(1, 2), ids[:, 1:], reduction=reduction)


@pytest.mark.parametrize(
    ("attempt", "word"),
    [
        (lambda logits, ids: F.cross_entropy(logits.transpose(1, 2), ids), "Nicht verschoben"),
        (
            lambda logits, ids: F.cross_entropy(logits[:, 1:].transpose(1, 2), ids[:, :-1]),
            "Falsch herum verschoben",
        ),
        (lambda logits, ids: shifted(logits, ids, "sum"), "Das ist die Summe"),
        (lambda logits, ids: -shifted(logits, ids), "Vorzeichen"),
        (lambda logits, ids: F.cross_entropy(logits[:, -2], ids[:, -1]), "Nur die letzte Position"),
        (lambda logits, ids: shifted(logits, ids, "none"), "Gesucht ist eine Zahl"),
        (lambda logits, ids: "zwei", "Gesucht ist eine Zahl"),
        (lambda logits, ids: shifted(2 * logits, ids), "Die Zahl weicht ab"),
        (lambda logits, ids: F.cross_entropy(logits, ids), "bricht ab"),
    ],
)
def test_the_exercise_names_the_broken_property(attempt, word):
    feedback = exercises.check_shifted(attempt)
    assert feedback.correct is False and word in feedback.text


def test_the_exercise_accepts_a_right_answer_and_knows_a_stub():
    assert exercises.check_shifted(lambda logits, ids: ...).correct is None
    assert exercises.check_shifted(shifted).correct
    assert exercises.check_shifted(lambda logits, ids: shifted(logits, ids).item()).correct


# ---- ways in which a reader may write the exercise, right and wrong ----


def loss_solution(logits, ids):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())


def loss_by_gather(logits, ids):
    log_p = logits[:, :-1].log_softmax(-1)
    return -log_p.gather(-1, ids[:, 1:, None]).mean()


def loss_by_loop(logits, ids):
    lost = []
    for row, read in zip(logits.softmax(-1).tolist(), ids.tolist()):
        lost += [-math.log(p[id]) for p, id in zip(row, read[1:])]
    return sum(lost) / len(lost)


WAYS = {
    "check_shifted": Ways(
        [loss_solution, loss_by_gather, loss_by_loop, lambda *given: loss_solution(*given).numpy()],
        [
            (lambda logits, ids: loss_solution(logits, ids) > 0, "True oder False"),
            (lambda logits, ids: (loss_solution(logits, ids),), "Tupel"),
        ],
    ),
}
