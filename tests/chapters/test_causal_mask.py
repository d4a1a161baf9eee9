"""05_causal_mask: the masks, what they hide on a real model, and what leaks without them."""

import asyncio
import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ways import Ways
from tokenwerk_helpers import model
from tokenwerk_helpers.chapters.causal_mask import computation, exercises, questions, views
from tokenwerk_helpers.chapters.reading import Reading
from tokenwerk_helpers.pretrained import Pretrained, load
from tokenwerk_helpers.tokenizer import Tokenizer


def test_the_mask_of_five_tokens():
    """F20: the lower triangle of ones."""
    expected = [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0], [1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]
    assert computation.mask("causal", 5, 1).int().tolist() == expected


def test_the_additive_matrix_and_exact_zeros():
    """F21: M is 0 on and below the diagonal and -inf above; weights above are exactly 0."""
    M = model.additive_mask(model.causal_mask(6))
    rows, columns = torch.triu_indices(6, 6, 1)
    assert (M[rows, columns] == -torch.inf).all() and (M.tril() == 0).all()
    weights = torch.softmax(torch.randn(6, 6) + M, dim=-1)
    assert (weights[rows, columns] == 0).all()


@given(st.integers(1, 20))
def test_token_t_sees_t_tokens(T):
    """F22: row counts 1..T."""
    assert computation.mask("causal", T, 1).sum(dim=1).tolist() == list(range(1, T + 1))


@given(st.sampled_from(computation.KINDS), st.integers(1, 16), st.integers(1, 16))
def test_every_kind_of_mask_is_what_its_name_says(kind, T, width):
    allowed = computation.mask(kind, T, width)
    for i in range(T):
        for j in range(T):
            expected = {
                "causal": j <= i,
                "none": True,
                "window": j <= i and i - j < width,
                "prefix": j <= i or (i < width and j < width),
            }[kind]
            assert allowed[i, j] == expected, (kind, i, j)


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="kind"):
        computation.mask("sideways", 3, 1)


def test_the_encoders_mask_and_the_decoders():
    """F44: BERT looks everywhere, T^2 looks; GPT at itself and before, T (T + 1) / 2."""
    for T in (1, 4, 9):
        assert computation.mask("none", T, 1).sum() == T * T
        assert computation.mask("causal", T, 1).sum() == T * (T + 1) // 2


def test_attention_of_the_third_text_keeps_its_shape():
    """F43: (1, 4, 8) with 2 heads."""
    assert model.CausalSelfAttention(width=8, heads=2)(torch.randn(1, 4, 8)).shape == (1, 4, 8)


@given(st.floats(-8, 8))
def test_masked_after_softmax_the_hidden_score_shines_through(hidden):
    found = computation.masked_before_and_after(hidden)
    assert found.before == pytest.approx([*F.softmax(torch.tensor([1.0, 2.0]), -1).tolist(), 0.0])
    assert found.after.sum() == pytest.approx(
        1 - torch.tensor([1.0, 2.0, hidden]).softmax(-1)[2].item(), abs=1e-6
    )
    # Brought back to a sum of 1, both are the same.
    assert found.after / found.after.sum() == pytest.approx(found.before, abs=1e-4)


@pytest.fixture(scope="module")
def lab():
    return views.MaskLab()


def test_the_head_that_is_shown_is_named_in_the_picture(lab):
    for block, head in ((1, 2), (2, 4)):
        lab.set(block=block, head=head)
        assert lab.scores.titles[0].startswith(f"Block {block}, Kopf {head}: ")
    lab.reset()


@pytest.fixture(scope="module")
def probe():
    return views.LeakProbe()


@pytest.mark.parametrize("kind", computation.KINDS)
def test_the_lab_shows_what_the_model_computes_under_the_mask(lab, kind):
    lab.reset()
    lab.set(kind=kind, block=2, head=3)
    ids = torch.tensor([lab.reading.ids(lab.settings["text"])])
    allowed = computation.mask(kind, ids.shape[1], 3)
    seen = []
    handle = lab.reading.model.blocks[1].attn.weights.register_forward_hook(
        lambda _m, _i, out: seen.append(out)
    )
    with torch.no_grad():
        lab.reading.model(ids, allowed)
    handle.remove()
    assert np.allclose(lab.weights.values[0], seen[0][0, 2], atol=1e-6)
    assert (lab.weights.values[0][~allowed.numpy()] == 0).all()
    assert np.isneginf(lab.masked.values[0][~allowed.numpy()]).all()
    assert np.isfinite(lab.scores.values).all()


def test_a_double_arrow_is_impossible_under_the_causal_mask(lab):
    """F19: if A looks at B, B does not look at A."""
    lab.reset()
    weights = lab.weights.values[0]
    both = (weights > 0) & (weights.T > 0) & ~np.eye(len(weights), dtype=bool)
    assert not both.any()
    lab.set(kind="none")
    assert "Zukunft" in lab.caption.value


def test_low_temperature_sharpens_this_heads_weights(lab):
    lab.reset()
    lab.set(temperature=0.2)
    sharp = lab.weights.values[0].max(axis=1).mean()
    lab.set(temperature=3)
    assert sharp > lab.weights.values[0].max(axis=1).mean()


def test_clicked_cells_become_the_readers_own_mask_and_an_empty_row_is_zero(lab):
    lab.reset()
    allowed = np.array(lab.masked.allowed)
    allowed[2] = False
    lab.masked.allowed = allowed
    for callback in lab.masked._edit_callbacks:  # what a click in the browser sets off
        callback(lab.masked.allowed)
    assert lab.error is None and lab.settings["kind"] == "own"
    assert (lab.weights.values[0][2] == 0).all() and np.isfinite(lab.weights.values).all()
    assert "1 Zeile darf nirgends hinschauen" in lab.caption.value
    lab.set(text="Eine Ente lacht.")  # another length: begin again from a mask that fits
    assert lab.error is None and lab.weights.values.shape[-1] == len(lab.weights.rows)
    lab.reset()


def test_every_control_moves_the_lab(lab):
    lab.reset()
    for name, values in {
        "text": ["Ein $x$ <b>", ""], "block": [1, 2], "head": [1, 4], "temperature": [0.1, 3],
        "kind": ["causal", "none", "window", "prefix"],
    }.items():  # fmt: skip
        seen = set()
        for value in values:
            lab.set(**{name: value})
            assert lab.error is None, lab.message.value
            seen.add(lab.weights.values.tobytes())
        assert len(seen) == len(values), name
        lab.reset()


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 10))
def test_under_a_causal_mask_earlier_predictions_stay_exactly_as_they_were(probe, position):
    """F23: the leak probe; without a mask the future leaks."""
    probe.reset()
    probe.set(position=position, new="er")
    assert probe.error is None, probe.message.value
    moved = probe.result.moved
    assert (moved[: position - 1] == 0).all()
    assert probe.result.labels[position - 1] == "␣er" or moved[position - 1] > 0
    probe.set(kind="none")
    assert (probe.result.moved[: position - 1] > 0).any()
    assert "Zukunft gesehen" in probe.caption.value
    probe.set(kind="window")
    assert (probe.result.moved[: position - 1] == 0).all()


def test_movement_is_total_variation_between_two_runs_of_the_model(probe):
    probe.reset()
    reading = probe.reading
    ids = reading.ids(probe.settings["text"])
    other = list(ids)
    other[3] = reading.tokenizer.encode(" Fuchs")[0]
    with torch.no_grad():
        before, after = (reading.model(torch.tensor([row])).softmax(-1)[0] for row in (ids, other))
    expected = 0.5 * (before - after).abs().sum(-1)
    allowed = model.causal_mask(len(ids))
    found = computation.movement(reading.model, ids, 3, other[3], allowed)
    assert np.allclose(found, expected, atol=1e-5)


def test_the_probe_counts_what_can_be_seen_on_a_scale_that_stays(probe):
    probe.reset()
    for new, kind in (("Ida", "causal"), ("Ida", "none"), ("Nuss", "window")):
        probe.set(new=new, kind=kind)
        moved, changed = probe.result.moved, probe.result.changed
        before, later = moved[:changed], moved[changed:]
        part = before if before.any() else later
        count, all_of_them = sum(float(m) > 0.05 for m in part), len(part)
        assert f"{count} von {all_of_them}" in probe.caption.value and "um mehr als 0.05" in (
            probe.caption.value.lower()
        )
        assert probe.axes.get_ylim()[0] == 0 and 1 <= probe.axes.get_ylim()[1] < 1.05
    probe.reset()


def test_a_single_prediction_before_the_exchanged_token_is_said_in_the_singular(probe):
    probe.reset()
    for position, kind, words in (
        (2, "causal", "Die Vorhersage davor bleibt genau gleich"),
        (2, "none", "Auch die Vorhersage davor bewegt sich: Sie hat die Zukunft gesehen"),
        (3, "causal", "Die 2 Vorhersagen davor bleiben genau gleich"),
        (3, "none", "Auch 2 der 2 Vorhersagen davor bewegen sich: Sie haben die Zukunft gesehen"),
    ):
        probe.set(position=position, new="er", kind=kind)
        assert probe.error is None and words in probe.caption.value
    probe.reset()


def test_a_word_of_several_tokens_gets_words_and_the_view_stays(probe):
    probe.reset()
    image = probe.figure.pixels.tobytes()
    for blank in ("", "  "):
        probe.set(new=blank)
        assert probe.message.value == "Tippe das Token ein, das dort stehen soll."
        assert probe.figure.pixels.tobytes() == image
    probe.set(new="Donaudampfschiff")
    assert "genau eines" in probe.message.value
    assert probe.figure.pixels.tobytes() == image
    probe.set(new="Jan", position=4)
    assert "dasselbe Token" in probe.caption.value
    probe.reset()


def test_the_guesses_know_right_from_wrong():
    assert questions.guess_ones().reply_to(15).correct
    assert all(questions.guess_ones().reply_to(n).correct is False for n in (10, 25, 5))
    assert right_options(questions.guess_leak()) == ["Ausgaben 3 bis 5"]
    assert right_options(questions.guess_added_mask()) == ["kleiner als die anderen, aber nicht 0"]
    assert computation.weight_where_zero_is_added() == pytest.approx(1 / (math.e + math.e + 1))
    hidden = questions.guess_hidden_score()
    assert hidden.reply_to(0.67).correct and hidden.reply_to(2 / 3).correct
    assert len({hidden.reply_to(wrong).text for wrong in (1, 1 / 3, 0.5)}) == 3
    assert questions.guess_window().reply_to(1 + 2 + 3 + 3 + 3).correct
    one_more = computation.looks("window", 5, width=4)
    replies = [questions.guess_window().reply_to(n) for n in (15, one_more, 9)]
    assert not any(reply.correct for reply in replies) and len({reply.text for reply in replies}) == 3
    for guess in (questions.guess_window(), questions.guess_hidden_score()):
        assert guess.judge().correct is None


def right_options(guess) -> list[str]:
    return [option.text for i, option in enumerate(guess.options) if guess.reply_to(i).correct]


@given(st.integers(1, 9), st.data())
def test_the_questions_outputs_that_move_are_those_the_model_moves(T, data):
    """Layer by layer, under a mask that looks back by one as under the causal one."""
    place, layers = data.draw(st.integers(1, T)), data.draw(st.integers(1, 3))
    allowed = computation.mask(data.draw(st.sampled_from(["causal", "window"])), T, width=2)
    torch.manual_seed(0)
    config = model.Config(vocab_size=5, context_length=9, width=8, heads=2, blocks=layers)
    decoder = model.Decoder(config).double().eval()
    moved = computation.movement(decoder, [0] * T, place - 1, 1, allowed)
    assert (
        computation.outputs_that_move(place, allowed, layers) == ((moved > 1e-12).nonzero()[0] + 1).tolist()
    )


@pytest.mark.parametrize(
    ("attempt", "word"),
    [
        (lambda T: ~model.causal_mask(T), "Verkehrt herum"),
        (lambda T: model.causal_mask(T).T, "späteren"),
        (lambda T: model.causal_mask(T).tril(-1), "Diagonale"),
        (lambda T: torch.ones(T, T).tril(1).bool(), "nächste"),
        (lambda T: torch.ones(T, T).tril(), "boolesch"),
        (lambda T: model.causal_mask(5), "andere Längen"),
        (lambda T: model.causal_mask(T + 1), "(5, 5)"),
        (lambda T: torch.zeros(T, T).bool(), "Zeile t"),
        (lambda T: T / 0, "bricht ab"),
    ],
)
def test_the_exercise_names_the_broken_property(attempt, word):
    feedback = exercises.check_causal_mask(attempt)
    assert feedback.correct is False and word in feedback.text


def test_the_exercise_accepts_a_right_answer_and_knows_a_stub():
    assert exercises.check_causal_mask(lambda T: ...).correct is None
    assert exercises.check_causal_mask(lambda T: torch.ones(T, T).tril().bool()).correct


# ---- a model with another tokenizer ----


def reading_with(merges) -> Pretrained:
    """A random model that spells by these merges."""
    tokenizer = Tokenizer([(left.encode(), right.encode()) for left, right in merges])
    torch.manual_seed(0)
    config = model.Config(vocab_size=len(tokenizer), context_length=64, width=8, heads=2, blocks=1)
    return Pretrained(model.Decoder(config).eval(), tokenizer, "small", {})


SPELLINGS = {
    "bytes alone": [],
    "a space in front": [(" ", "k"), (" k", "l"), ("l", "e"), (" ", "w")],
    "no other token with a space": [("E", "i"), ("Ei", "n"), ("Ein", "e"), (" ", "k"), ("e", "i")],
    "the word itself": [("I", "d"), ("Id", "a")],
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("text", [None, "Eine kleine Ente", "x", ""])
def test_the_probe_begins_with_a_word_that_is_one_token_of_the_models_own(spelling, text):
    probe = views.LeakProbe(reading_with(SPELLINGS[spelling]), text)
    assert probe.error is None and probe.message.value == ""
    new = probe.settings["new"]
    assert (new == "Ida") == (spelling == "the word itself")
    probe.set(kind="none")
    assert probe.error is None and f"wird zu „{new}“" in probe.caption.value
    probe.set(new="Fuchs und Hase")
    assert "genau eines" in probe.message.value
    probe.close()


# ---- copying the future ----


@pytest.fixture(scope="module")
def future():
    view = views.CopyingTheFuture()
    yield view
    view.close()


@pytest.fixture(scope="module")
def tokenizer():
    return load().tokenizer


def test_only_without_the_mask_is_the_next_token_seen(tokenizer):
    masked, unmasked = (computation.train(kind, tokenizer).model for kind in computation.KINDS_OF_TRAINING)
    assert all(torch.equal(a, b) for a, b in zip(masked.parameters(), unmasked.parameters(), strict=True))
    ids = torch.tensor([[5, 9, 2, 300], [5, 9, 2, 301]])
    with torch.no_grad():
        seen = {one: one(ids) for one in (masked, unmasked)}
        assert torch.equal(seen[masked][0, :3], seen[masked][1, :3])
        assert not torch.allclose(seen[unmasked][0, :3], seen[unmasked][1, :3])
        everywhere = torch.ones(4, 4, dtype=torch.bool)
        assert torch.equal(seen[unmasked], masked(ids, everywhere))


def test_both_read_the_same_stories_and_the_recording_is_what_comes_of_it(tokenizer):
    steps = [one for one, _ in zip(computation.train_both(Reading()), range(2 * computation.EVERY))]
    for kind in computation.KINDS_OF_TRAINING:
        stored = computation.recorded()[kind]
        means = computation.averaged([step.losses[kind] for step in steps])
        assert np.allclose(means, stored["losses"][:2], atol=0.02)
        assert len(stored["losses"]) == len(stored["texts"]) == computation.STEPS // computation.EVERY
    due = [step.texts is not None for step in steps]
    assert due == [(i + 1) % computation.EVERY == 0 for i in range(len(steps))]
    first = [next(computation.train(kind, tokenizer).batches) for kind in computation.KINDS_OF_TRAINING]
    assert torch.equal(first[0].ids, first[1].ids)


def test_who_sees_the_future_comes_below_the_floor_and_writes_nonsense(future):
    """F23: the loss falls below what a reader who knows the grammar pays, and no story comes of it."""
    end = computation.future_after(computation.STEPS)
    assert end.loss("unmasked") < 0.2 < future.floor < end.loss("masked") < 1.6
    masked, unmasked = (computation.surprise(end.texts[kind]) for kind in computation.KINDS_OF_TRAINING)
    assert masked < 2.5 and unmasked > 2 * masked
    assert computation.writing_without_a_mask() == "worse"


def test_the_slider_moves_both_marks_and_the_texts(future):
    future.reset()
    seen = set()
    for step in (computation.EVERY, 300, computation.STEPS):
        future.set(step=step)
        for kind, mark in future.marks.items():
            losses = computation.recorded()[kind]["losses"]
            place = step // computation.EVERY - 1
            assert mark.get_xdata() == [step - 5] and mark.get_ydata() == [losses[place]]
            assert computation.recorded()[kind]["texts"][place] in future.caption.value
        seen.add(future.caption.value)
    assert len(seen) == 3
    assert "Unter die Untergrenze von 0.91 kommt nur, wer die Zukunft kennt." in future.caption.value
    future.set(step=computation.EVERY)
    assert "Unter die Untergrenze" not in future.caption.value


def test_the_readers_own_run_is_drawn_can_be_stopped_and_goes_with_reset(future):
    future.reset()

    async def run():
        future.start.click()
        while len(future.own) < 2 * computation.EVERY:
            await asyncio.sleep(0.005)
        assert future.start.disabled and not future.stop.disabled
        future.stop.click()

    asyncio.run(run())
    assert future.message.value == "" and not future.start.disabled
    means = computation.averaged([one.losses["unmasked"] for one in future.own])
    assert np.allclose(future.lines["unmasked"].get_ydata(), means)
    assert f"Dein Lauf: Schritt {len(future.own) // 10 * 10} von 600." in future.caption.value
    future.reset()
    assert len(future.lines["masked"].get_xdata()) == 0 and "Dein Lauf" not in future.caption.value


# ---- the exercise ----


def test_a_mask_for_five_tokens_only_is_told_so():
    def only_five(T):
        return torch.ones(5, 5, dtype=torch.bool).tril() if T == 5 else None

    feedback = exercises.check_causal_mask(only_five)
    assert feedback.correct is False and "andere" in feedback.text


# ---- ways in which a reader may write the exercise, right and wrong ----


def mask_by_loop(T):
    return torch.tensor([[column <= row for column in range(T)] for row in range(T)])


WAYS = {
    "check_causal_mask": Ways(
        [
            lambda T: torch.ones(T, T, dtype=torch.bool).tril(),
            mask_by_loop,
            lambda T: torch.arange(T)[:, None] >= torch.arange(T),
        ],
        [
            (model.causal_mask, "die Arbeit hat model.causal_mask gemacht"),
            (lambda T: model.additive_mask(mask_by_loop(T)), "Maske zum Addieren"),
            (lambda T: mask_by_loop(T).float(), "0 und 1"),
            (lambda T: mask_by_loop(T).numpy(), "numpy-Array"),
        ],
    ),
}
