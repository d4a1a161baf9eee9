"""10_sampling: three filters in a row, draws beside theory, the loop with its buttons."""

import asyncio
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ways import Ways
from tokenwerk_helpers import model, sampling
from tokenwerk_helpers.chapters.sampling import computation, exercises, questions, views

ODD = "Ein $\\frac$ & <b>Jan</b> 🦆 $"


def shares_of(logits, temperature):
    """Softmax by hand."""
    powers = [math.exp(logit / temperature) for logit in logits]
    return [power / sum(powers) for power in powers]


def kept(temperature, k, p):
    """Which of the ten tokens survive: the k largest, then the smallest set whose mass reaches p."""
    shares = shares_of(computation.LOGITS.tolist(), temperature)[:k]  # LOGITS fall from left to right
    mass, count = 0.0, 0
    for share in shares:
        mass, count = mass + share / sum(shares), count + 1
        if mass >= p - 1e-6:
            break
    return list(range(len(shares))), list(range(count))


# ---- filters ----


def test_the_chapters_temperatures_sharpen_and_flatten():
    """F41: the entropy at 0.2 is below that at 0.8, and both below that of softmax alone."""
    cold, mild = (
        computation.filtered(0.2, computation.ALL, 1.0),
        computation.filtered(0.8, computation.ALL, 1.0),
    )
    assert cold.entropies[1] < mild.entropies[1] < mild.entropies[0]
    for found, temperature in ((cold, 0.2), (mild, 0.8)):
        by_hand = -sum(p * math.log(p) for p in shares_of(computation.LOGITS.tolist(), temperature))
        assert found.entropies[1] == pytest.approx(by_hand, abs=1e-9)


@given(st.floats(0.1, 2), st.integers(1, 10), st.floats(0, 1))
@settings(max_examples=50)
def test_top_k_keeps_the_k_largest_and_top_p_the_smallest_set_that_reaches_p(temperature, k, p):
    """F42: kept sets and their probabilities, stage by stage."""
    found = computation.filtered(temperature, k, p)
    after_k, after_p = kept(temperature, k, p)
    assert np.flatnonzero(found.survives[2]).tolist() == after_k
    assert np.flatnonzero(found.survives[3]).tolist() == after_p
    shares = np.array(shares_of(computation.LOGITS.tolist(), temperature))
    for row, alive in zip(found.probabilities[1:], (range(10), after_k, after_p)):
        expected = np.where(np.isin(np.arange(10), list(alive)), shares, 0)
        assert np.allclose(row, expected / expected.sum(), atol=1e-9)


def test_the_kept_sets_of_the_chapters_settings():
    """F42: top-k 3 keeps three; top-p 0.9 the smallest set that reaches 0.9."""
    assert computation.filtered(1.0, 3, 1.0).survives[2].sum() == 3
    found = computation.filtered(1.0, computation.ALL, 0.9)
    shares = found.probabilities[0][found.survives[3]]
    assert shares.sum() >= 0.9 > shares.sum() - shares.min()


def test_at_temperature_zero_one_token_is_left_and_the_caption_says_so():
    view = views.Filters()
    view.set(temperature=0)
    assert view.error is None and "Nur „schläft“ ist übrig" in view.caption.value
    view.set(temperature=2, top_k=computation.ALL, top_p=1)
    assert "„regnet“ ist das letzte" in view.caption.value


@pytest.mark.parametrize("make", [views.Filters, views.Draws])
def test_every_control_moves_the_caption_and_raises_nothing(make):
    view = make()
    for name, control in view.controls.items():
        ends = getattr(control, "options", None) or (control.min, control.max)
        seen = set()
        for end in (ends[0], ends[-1]):
            view.set(**{name: end})
            assert view.error is None, view.message.value
            seen.add(view.caption.value)
        assert len(seen) == 2, name
        view.reset()


# ---- draws ----


def test_many_draws_come_close_to_the_probabilities_and_the_same_seed_draws_the_same():
    found = computation.drawn(1.0, 10_000, 3)
    p = np.array(shares_of(computation.LOGITS.tolist(), 1.0))
    assert np.allclose(found.probabilities, p, atol=1e-6)
    assert (np.abs(found.shares - p) < 5 * np.sqrt(p * (1 - p) / 10_000)).all()
    assert found.shares.sum() == pytest.approx(1)
    assert (found.shares == computation.drawn(1.0, 10_000, 3).shares).all()
    assert (found.shares != computation.drawn(1.0, 10_000, 4).shares).any()


def test_the_expected_difference_of_two_shares_is_told_in_percentage_points():
    view = views.Draws()
    gap = np.abs(view.result.probabilities - view.result.shares)
    p = float(view.result.probabilities[gap.argmax()])
    points = 100 * math.sqrt(p * (1 - p) / view.result.draws)
    assert view.caption.value.endswith(f"eine Abweichung um etwa {points:.1f} Prozentpunkte.")


@pytest.mark.parametrize("temperature", [0, 1, 2])
def test_the_draws_fill_their_picture(temperature):
    view = views.Draws()
    view.set(temperature=temperature)
    highest = max(view.result.probabilities.max(), view.result.shares.max())
    bottom, top = view.axes.get_ylim()
    assert bottom == 0 and highest < top < 1.1 * highest
    view.close()


# ---- the loop ----


@pytest.fixture(scope="module")
def loop():
    return views.Loop()


@pytest.fixture(autouse=True)
def begun_anew(request):
    if "loop" in request.fixturenames:
        loop = request.getfixturevalue("loop")
        loop.reset()


def click(button, loop):
    button.click()
    assert loop.error is None, loop.message.value


def last_shares(loop, ids, temperature=1.0):
    """Softmax of the last position over the fifty largest logits, as the controls stand at first.  # (V,)"""
    with torch.no_grad():
        logits = loop.reading.model(torch.tensor([ids]))[0, -1].double() / temperature
    fiftieth = logits.sort(descending=True).values[loop.settings["top_k"] - 1]
    return torch.where(logits >= fiftieth, logits, -math.inf).softmax(-1).float()


def drawn_by_hand(loop, seed, limit, temperature=1.0):
    """One draw after the other, appended, until the end token or the limit."""
    tokenizer, generator = loop.reading.tokenizer, torch.Generator().manual_seed(seed)
    ids, new = [tokenizer.start, *tokenizer.encode(loop.settings["text"])], []
    while len(new) < limit and tokenizer.end not in new:
        window = [*ids, *new][-loop.reading.context :]
        new.append(int(torch.multinomial(last_shares(loop, window, temperature), 1, generator=generator)))
    return new


def test_each_click_draws_one_token_and_appends_it(loop):
    """F36: the model gives logits, the dice choose; the loop by hand draws the same."""
    expected = drawn_by_hand(loop, loop.settings["seed"], 6)
    for count in range(1, 6):
        click(loop.next, loop)
        assert [step.id for step in loop._drawn] == expected[:count]
        assert loop.result.count == count and f"{count} gezogen" in loop.caption.value
        assert loop.result.text == loop.reading.tokenizer.decode(expected[:count])


def test_the_candidates_are_the_softmax_of_the_last_position(loop):
    click(loop.next, loop)
    ids = [*loop.reading.ids(loop.settings["text"]), loop._drawn[0].id]
    best = last_shares(loop, ids).topk(computation.SHOWN)
    assert [share for _token, share in loop.result.candidates] == pytest.approx(
        best.values.tolist(), abs=1e-5
    )
    assert [token for token, _share in loop.result.candidates] == loop.reading.labels(best.indices.tolist())


def test_a_finished_text_is_written_anew_after_a_reset(loop):
    loop._initial["limit"], before = 2, loop._initial["limit"]  # so that nothing but the end has to be reset
    loop.reset()
    for _ in range(3):
        click(loop.next, loop)
    assert loop.result.reason == "limit"
    loop.reset()
    assert loop.result.count == 0 and loop.result.text == ""
    click(loop.next, loop)
    assert loop.result.count == 1
    loop._initial["limit"] = before


def test_both_endings_are_reported_and_nothing_is_drawn_afterwards(loop):
    """F40: the end token, or the limit."""
    loop.set(limit=2)
    for _ in range(4):
        click(loop.next, loop)
    assert loop.result.reason == "limit" and loop.result.count == 2
    assert "durch die Grenze, nach 2 Token: abgebrochen" in loop.caption.value
    loop.set(limit=40, temperature=0)
    for _ in range(40):
        click(loop.next, loop)
    assert loop.result.reason == "end" and loop._drawn[-1].id == loop.reading.tokenizer.end
    assert f"durch das End-Token, nach {loop.result.count} Token" in loop.caption.value
    assert "<|end|>" not in loop.result.text


def test_the_same_seed_writes_the_same_text_and_another_one_another(loop):
    def written(seed):
        loop.set(seed=seed, temperature=2)
        for _ in range(6):
            click(loop.next, loop)
        return loop.result.text

    first, second = written(1), written(2)
    assert first != second and written(1) == first


@pytest.mark.parametrize(
    "changed",
    [{"text": "Jan"}, {"temperature": 0.5}, {"top_k": 3}, {"top_p": 0.5}, {"limit": 9}, {"seed": 7}],
)
def test_other_settings_begin_anew(loop, changed):
    click(loop.next, loop)
    assert loop.result.count == 1
    loop.set(**changed)
    assert loop.error is None and loop.result.count == 0 and loop.result.text == ""


def test_the_window_moves_on_and_its_positions_count_from_zero_again():
    """F31, F40: a text longer than the context; every run sees positions 0 to context - 1."""
    torch.manual_seed(0)
    decoder = model.Decoder(model.Config(vocab_size=9, context_length=4, width=8, heads=2, blocks=1))
    read, positions = [], []
    decoder.token_embedding.register_forward_hook(
        lambda _m, inputs, _o: read.append(inputs[0].flatten().tolist())
    )
    decoder.position_embedding.register_forward_hook(
        lambda _m, inputs, _o: positions.append(inputs[0].flatten().tolist())
    )
    ids = [1, 2, 3]
    for step in sampling.generate(decoder, ids, 6, generator=torch.Generator().manual_seed(1)):
        ids.append(step.id)
    for run, (window, numbers) in enumerate(zip(read, positions, strict=True)):
        assert window == ids[: 3 + run][-4:]
        assert numbers == list(range(len(window)))
    assert step.reason == "limit"


def test_the_shipped_models_window_is_full_and_the_loop_goes_on(loop):
    """F31: more tokens than positions; the oldest drop out."""
    text = "usus" * 31
    assert len(loop.reading.ids(text)) > loop.reading.context - 3
    loop.set(text=text, temperature=0, limit=10)
    for _ in range(5):
        click(loop.next, loop)
    assert loop.result.window == loop.reading.context
    assert f"{loop.reading.context} von {loop.reading.context}" in loop.caption.value


def test_a_text_with_marks_of_its_own_is_read_as_text(loop):
    loop.set(text=ODD)
    click(loop.next, loop)
    assert ODD in loop.caption.value and loop.result.count == 1


def test_after_too_long_a_text_nothing_is_drawn_until_it_is_shorter(loop):
    click(loop.next, loop)
    image = loop.figure.pixels.tobytes()
    loop.set(text="die Ente " * 200)
    assert "Kürze den Text" in loop.message.value and loop.figure.pixels.tobytes() == image
    loop.next.click()
    assert loop._drawn == []
    loop.reset()
    assert loop.error is None and loop.result.count == 0


async def until(condition, seconds=60):
    end = asyncio.get_running_loop().time() + seconds
    while not condition() and asyncio.get_running_loop().time() < end:
        await asyncio.sleep(0.005)
    assert condition()


def test_running_on_can_be_stopped_and_goes_on_where_it_stopped(loop):
    async def session() -> None:
        loop.set(limit=100, temperature=2)
        click(loop.run, loop)
        await until(lambda: loop.result.count >= 3)
        click(loop.halt, loop)
        stopped = loop.result.count
        await asyncio.sleep(0.1)
        assert loop.result.count == stopped < 100 and not loop.runner.running
        click(loop.next, loop)
        assert loop.result.count == stopped + 1
        click(loop.run, loop)
        await until(lambda: loop.result.reason is not None)
        await until(lambda: not loop.runner.running)
        assert [step.id for step in loop._drawn] == drawn_by_hand(loop, 1, 100, 2.0)[: loop.result.count]

    asyncio.run(session())


def test_a_slider_moved_while_it_runs_ends_the_run_and_begins_anew(loop):
    async def session() -> None:
        loop.set(limit=100, temperature=2)
        click(loop.run, loop)
        await until(lambda: loop.result.count >= 2)
        loop.set(seed=9)
        assert loop.result.count == 0
        await asyncio.sleep(0.1)
        assert loop._drawn == [] and not loop.runner.running

    asyncio.run(session())


def test_outside_a_kernel_running_on_is_refused_in_words(loop):
    loop.run.click()
    assert "RuntimeError" in loop.message.value


# ---- questions and exercise ----


def test_the_guesses_know_right_from_wrong():
    rights = {
        questions.guess_order: 1,
        questions.guess_draws: 1,
        questions.guess_limit: 0,
    }
    for ask, right in rights.items():
        guess = ask()
        assert [i for i in range(len(guess.options)) if guess.reply_to(i).correct] == [right]
        assert guess.judge().correct is None
    lead = questions.guess_zero()
    assert lead.truth() == pytest.approx(math.e**2, rel=1e-5) and lead.judge().correct is None
    assert lead.reply_to(7.4).correct and lead.reply_to(7.39).correct
    assert len({lead.reply_to(wrong).text for wrong in (5.44, 1.65, 2.72, 4)}) == 4
    kept = questions.guess_top_p()
    assert kept.reply_to(3).correct and kept.judge().correct is None
    assert all(kept.reply_to(n).correct is False for n in (1, 2, 4))
    assert "erst 0.8" in kept.reply_to(computation.kept_by_top_p() - 1).text


def test_the_loop_writes_what_the_question_about_the_limit_says():
    loop = views.Loop()
    texts = {}
    for limit in (5, 40):
        loop.set(limit=limit)
        while loop.step():
            pass
        texts[limit] = loop.result
    assert texts[5].count == 5 and texts[5].reason == "limit"
    assert texts[40].text.startswith(texts[5].text) and texts[40].count > 5
    loop.close()


def right_answer(logits, k):
    smallest = logits.topk(min(k, len(logits))).values[-1]
    return logits.masked_fill(logits < smallest, -math.inf)


def in_place(logits, k):
    logits[logits < logits.topk(k).values[-1]] = -math.inf
    return logits


@pytest.mark.parametrize(
    ("attempt", "word"),
    [
        (lambda logits, k: logits * (right_answer(logits, k) > -math.inf), "Auf 0 gesetzt"),
        (lambda logits, k: logits.masked_fill(logits > logits.sort().values[k - 1], -math.inf), "kleinsten"),
        (lambda logits, k: right_answer(logits, k).softmax(-1), "Wahrscheinlichkeiten"),
        (lambda logits, k: right_answer(logits, k - 1), "Eins zu wenig"),
        (lambda logits, k: right_answer(logits, k + 1), "Eins zu viel"),
        (in_place, "verändert logits"),
        (lambda logits, k: logits.topk(k).values, "Form der Logits"),
        (lambda logits, k: logits, "Die beiden größten"),
        (lambda logits, k: right_answer(logits, k).double() + 1, "Die beiden größten"),
        (lambda logits, k: logits.masked_fill(logits < logits.topk(k).values[-1], -math.inf), "größer als"),
        (lambda logits, k: right_answer(logits, 2), "darf sich nichts ändern"),
        (lambda logits, k: logits / "k", "bricht ab"),
    ],
)
def test_the_exercise_names_the_broken_property(attempt, word):
    feedback = exercises.check_top_k(attempt)
    assert feedback.correct is False and word in feedback.text


def test_the_exercise_accepts_a_right_answer_and_knows_a_stub():
    assert exercises.check_top_k(lambda logits, k: ...).correct is None
    assert exercises.check_top_k(right_answer).correct


def test_keeping_the_smallest_logits_is_told_as_such():
    def smallest(logits, k):
        kept = logits.topk(k, largest=False)
        return torch.full_like(logits, -math.inf).scatter(0, kept.indices, kept.values)

    assert "kleinsten" in exercises.check_top_k(smallest).text


def test_a_top_k_that_returns_nothing_for_a_large_k_is_told_so():
    def forgetful(logits, k):
        if k <= len(logits):
            return logits.masked_fill(logits < logits.topk(k).values[-1], -math.inf)

    feedback = exercises.check_top_k(forgetful)
    assert feedback.correct is False and "darf sich nichts ändern" in feedback.text


# ---- ways in which a reader may write the exercise, right and wrong ----


def top_k_solution(logits, k):
    return logits.masked_fill(logits < logits.topk(min(k, len(logits))).values[-1], -math.inf)


def top_k_by_scatter(logits, k):
    kept = logits.topk(min(k, len(logits)))
    return torch.full_like(logits, -math.inf).scatter(0, kept.indices, kept.values)


def top_k_by_sorting(logits, k):
    border = sorted(logits.tolist(), reverse=True)[:k][-1]
    return torch.tensor([value if value >= border else -math.inf for value in logits.tolist()])


WAYS = {
    "check_top_k": Ways(
        [top_k_solution, top_k_by_scatter, top_k_by_sorting],
        [
            (sampling.keep_top_k, "die Arbeit hat sampling.keep_top_k gemacht"),
            (lambda logits, k: top_k_solution(logits, k).tolist(), "eine Liste"),
            (lambda logits, k: top_k_solution(logits, k).numpy(), "numpy-Array"),
        ],
    ),
}
