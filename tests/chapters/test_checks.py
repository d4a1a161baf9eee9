"""What every check of an exercise or question owes the reader, whichever chapter it belongs to."""

import random
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from IPython.core.autocall import ExitAutocall

from tests.ways import exercises, ways
from tokenwerk_helpers import model
from tokenwerk_helpers.chapters.block import exercises as block_exercises
from tokenwerk_helpers.chapters.block import questions as block_questions
from tokenwerk_helpers.chapters.causal_mask import exercises as causal_mask_exercises
from tokenwerk_helpers.chapters.decoder import questions as decoder_questions
from tokenwerk_helpers.chapters.embeddings import exercises as embeddings_exercises
from tokenwerk_helpers.chapters.embeddings import questions as embeddings_questions
from tokenwerk_helpers.chapters.mlp import exercises as mlp_exercises
from tokenwerk_helpers.chapters.mlp import questions as mlp_questions
from tokenwerk_helpers.chapters.norm_placement import questions as norm_placement_questions
from tokenwerk_helpers.chapters.normalization import exercises as normalization_exercises
from tokenwerk_helpers.chapters.normalization import questions as normalization_questions
from tokenwerk_helpers.chapters.parameter_counting import exercises as parameter_counting_exercises
from tokenwerk_helpers.chapters.parameter_counting import questions as parameter_counting_questions
from tokenwerk_helpers.chapters.residual import exercises as residual_exercises
from tokenwerk_helpers.chapters.residual import questions as residual_questions
from tokenwerk_helpers.chapters.sampling import questions as sampling_questions
from tokenwerk_helpers.chapters.self_attention import exercises as self_attention_exercises
from tokenwerk_helpers.chapters.self_attention import questions as self_attention_questions
from tokenwerk_helpers.chapters.start import exercises as start_exercises
from tokenwerk_helpers.chapters.training import exercises as training_exercises
from tokenwerk_helpers.live import attempt as running
from tokenwerk_helpers.live.question import Choice, Option
from tokenwerk_helpers.model import Block

# Each of them once with some answer; what matters here is what happens beside.
CALLS = {
    "ten_times_the_input": lambda: block_questions.guess_ten_times().reply_to([1.0, 2.0]),
    "what_is_missing": lambda: block_questions.guess_second_sum().reply_to(0),
    "norm_parameters": lambda: block_questions.guess_norm_parameters().reply_to(768),
    "dropout_in_eval": lambda: block_questions.guess_dropout().reply_to(0),
    "contribution_beside_the_stream": lambda: block_questions.guess_contribution().reply_to(0),
    "gradient_without_norm": lambda: norm_placement_questions.guess_no_norm().reply_to(0),
    "block_forward": lambda: block_exercises.check_block_forward(Block.forward),
    "number_of_logits": lambda: decoder_questions.guess_shape().reply_to(100),
    "own_words_or_typed": lambda: decoder_questions.guess_own_words().reply_to(0),
    "saved_by_tying": lambda: decoder_questions.guess_tied().reply_to(100),
    "position_without_row": lambda: embeddings_questions.guess_missing_row().reply_to(0),
    "order_without_positions": lambda: embeddings_questions.guess_order().reply_to(6),
    "lists_renumbered": lambda: embeddings_questions.guess_renumbered().reply_to(0),
    "embed": lambda: embeddings_exercises.check_embed(lambda ids, tokens, positions: tokens[ids]),
    "weights_without_activation": lambda: mlp_questions.guess_without_activation().reply_to(512),
    "swapped_positions": lambda: mlp_questions.guess_swap().reply_to(0),
    "share_of_positive_neurons": lambda: mlp_questions.guess_positive().reply_to(0),
    "mlp": lambda: mlp_exercises.check_mlp(lambda x, W1, b1, W2, b2: x),
    "moving_outputs": lambda: normalization_questions.guess_moving().reply_to(0),
    "layer_norm": lambda: normalization_exercises.check_layer_norm(lambda x, gamma, beta, eps: x),
    "factor_of_double_width": lambda: parameter_counting_questions.guess_double_width().reply_to(2.0),
    "cost_of_wide_heads": lambda: parameter_counting_questions.guess_heads().reply_to(256),
    "left_out_at_large_width": lambda: parameter_counting_questions.guess_left_out().reply_to(0),
    "cost_of_own_head": lambda: parameter_counting_questions.guess_own_head().reply_to(0),
    "block_parameters": lambda: parameter_counting_exercises.check_block_parameters(lambda D: 12 * D**2),
    "deep_net_at_a_large_rate": lambda: residual_questions.guess_deep_rate().reply_to(0),
    "residual_step": lambda: residual_exercises.check_residual_step(lambda x, f: x + f(x)),
    "text_under_a_limit": lambda: sampling_questions.guess_limit().reply_to(0),
    "heads_merged_without_transpose": lambda: self_attention_questions.guess_transpose().reply_to(0),
    "what_the_pronoun_is_read_from": lambda: self_attention_questions.guess_pronoun().reply_to(0),
    "attention": lambda: self_attention_exercises.check_attention(lambda q, k, v: v),
    "shifted": lambda: training_exercises.check_shifted(lambda logits, ids: 1.0),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_check_leaves_the_readers_random_numbers_alone(name):
    before = torch.get_rng_state()
    CALLS[name]()
    assert torch.equal(torch.get_rng_state(), before)


# ---- right ways and wrong ways, as each page lists them ----

EXERCISES = exercises()


@pytest.mark.parametrize("name", EXERCISES)
def test_right_ways_are_right_in_each_precision_and_whatever_torchs_settings_are(name):
    exercise, dtypes = EXERCISES[name], (torch.float64, torch.float32, torch.float16, torch.bfloat16)

    def in_another(way, dtype):
        def answer(*given):
            result = way(*given)
            return (
                result.to(dtype)
                if isinstance(result, torch.Tensor) and result.is_floating_point()
                else result
            )

        return answer

    assert len(ways(name).right) >= 3
    for way in ways(name).right:
        assert exercise(way).correct, exercise(way)
        for dtype in dtypes:
            assert exercise(in_another(way, dtype)).correct, (dtype, exercise(way))
        with unusual_settings():
            assert exercise(way).correct, exercise(way)


@contextmanager
def unusual_settings():
    """torch as a reader may have left it: another precision, no gradients."""
    torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad():
            yield
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("name", EXERCISES)
def test_wrong_ways_are_refused_each_with_its_own_words(name):
    exercise, said = EXERCISES[name], []
    for way, words in ways(name).wrong:
        feedback = exercise(way)
        assert feedback.correct is False and words in feedback.text
        said.append(words)
        with unusual_settings():
            assert exercise(way) == feedback
    assert len(set(said)) >= 2


@pytest.mark.parametrize("name", CALLS)
def test_a_check_says_the_same_whatever_torchs_settings_are(name):
    usual = CALLS[name]()
    with unusual_settings():
        assert CALLS[name]() == usual


def test_questions_about_gradients_have_them_even_where_they_are_switched_off(monkeypatch):
    enabled = []
    for module, name in (
        (residual_questions, "trained"),
        (norm_placement_questions, "gradient_beside_post_norm"),
    ):
        compute = getattr(module, name)  # keeps its results: what matters is how it is called
        monkeypatch.setattr(
            module, name, lambda *of, compute=compute: enabled.append(torch.is_grad_enabled()) or compute(*of)
        )
    with torch.inference_mode():
        assert residual_questions.guess_slope().reply_to(1).correct
        assert residual_questions.guess_depth().reply_to(2).correct
        assert residual_questions.guess_deep_rate().reply_to(2).correct
        assert norm_placement_questions.guess_no_norm().reply_to(2).correct
    assert enabled == [True] * 2


WRONG_IN_FLOAT64 = {
    "self_attention": (
        lambda: self_attention_exercises.check_attention(lambda q, k, v: v.double()),
        "fünf Schritte",
    ),
    "mlp": (lambda: mlp_exercises.check_mlp(lambda x, W1, b1, W2, b2: x.double()), "Zahlen"),
    "layer_norm": (lambda: normalization_exercises.check_layer_norm(lambda x, g, b, eps: x.long()), "Zahlen"),
    "residual_step": (
        lambda: residual_exercises.check_residual_step(lambda x, f: f(x).double()),
        "direkte Weg",
    ),
    "block_forward": (lambda: block_exercises.check_block_forward(lambda block, x: x.double()), "Formeln"),
}


@pytest.mark.parametrize("name", WRONG_IN_FLOAT64)
def test_a_wrong_answer_in_another_precision_gets_words_and_no_error_of_torch(name):
    check, word = WRONG_IN_FLOAT64[name]
    feedback = check()
    assert feedback.correct is False and word in feedback.text


def test_a_check_that_stops_says_so_below_the_question():
    guess = Choice("?", lambda: 1 / 0, [Option(1, "a", "b")])
    guess.answer.value = 0
    guess.button.click()
    assert "ZeroDivisionError" in guess.reply.value


# ---- functions that do something else than answer ----


def reader_line(function, below):
    """How a message names the line so many below the first one of the function."""
    return f"in Zeile {function.__code__.co_firstlineno + below}: "


def stopping(*_arguments):
    raise LookupError("so far\nand no further")


@pytest.mark.parametrize("name", EXERCISES)
def test_a_function_that_stops_is_told_so_in_one_sentence_by_every_exercise(name):
    feedback = EXERCISES[name](stopping)
    assert feedback.correct is False
    where = reader_line(stopping, 1)
    assert feedback.text == f"Deine Funktion bricht ab, und zwar {where}LookupError: so far."


def empty(*_arguments):
    """Not yet."""


def refusing(*_arguments):
    raise NotImplementedError


@pytest.mark.parametrize("stub", [lambda *_arguments: None, lambda *_arguments: ..., empty, refusing])
@pytest.mark.parametrize("name", EXERCISES)
def test_a_stub_is_not_attempted_yet_in_every_exercise(name, stub):
    assert EXERCISES[name](stub).correct is None


def only_printing(*_arguments):
    print("42")


def printing_above_the_stub(*_arguments):
    print("42")
    return ...


def forgetting(*_arguments):
    answer = 42  # noqa: F841


@pytest.mark.parametrize("name", EXERCISES)
def test_print_in_place_of_return_is_no_stub_and_is_shown_all_the_same(name, capsys):
    for function in (only_printing, printing_above_the_stub):
        feedback = EXERCISES[name](function)
        assert feedback.correct is False and "print zeigt einen Wert nur an" in feedback.text
    assert capsys.readouterr().out == "42\n42\n"
    feedback = EXERCISES[name](forgetting)
    assert feedback.correct is False and "Gibt es ein return" in feedback.text


def quitting(*_arguments):
    sys.exit()


def stopped_by_hand(*_arguments):
    raise KeyboardInterrupt


def endless(*_arguments):
    while True:
        with suppress(Exception):
            sum(range(10))


def endless_and_deaf(*_arguments):
    while True:
        try:
            sum(range(10))
        except:  # noqa: E722
            continue


@pytest.mark.parametrize("name", EXERCISES)
def test_ends_that_are_no_exceptions_have_a_sentence_in_every_exercise(name, monkeypatch):
    monkeypatch.setattr(running, "SECONDS", 0.02)
    for function, words in (
        (quitting, "das ganze Programm beenden"),
        (stopped_by_hand, "Du hast angehalten"),
        (endless, "nach 0.02 Sekunden noch nicht fertig"),
    ):
        feedback = EXERCISES[name](function)
        assert feedback.correct is False and words in feedback.text


def test_the_exit_of_a_notebook_does_not_end_the_kernel():
    class Shell:
        def ask_exit(self):
            raise AssertionError("the kernel would end")

    exit = ExitAutocall(Shell())
    names = {"exit": exit}
    exec("def leaving(numbers): exit()", names)
    assert "das ganze Programm beenden" in start_exercises.check_mean(names["leaving"]).text
    assert names["exit"] is exit


def test_an_endless_loop_is_stopped_in_any_thread_and_even_if_it_swallows_every_exception(monkeypatch):
    monkeypatch.setattr(running, "SECONDS", 0.02)
    assert "noch nicht fertig" in start_exercises.check_mean(endless_and_deaf).text
    with ThreadPoolExecutor(1) as pool:
        assert "noch nicht fertig" in pool.submit(start_exercises.check_mean, endless).result(timeout=20).text


def test_nothing_strikes_after_a_function_that_ends_just_in_time(monkeypatch):
    """Whether it is done or stopped, what comes after it is left alone."""
    monkeypatch.setattr(running, "SECONDS", 0.001)
    for rounds in range(0, 60_000, 1_500):
        feedback = start_exercises.check_mean(
            lambda numbers, rounds=rounds: sum(1 for _round in range(rounds))
        )
        assert feedback.correct is False
        sum(range(1000))
    names = {thread.name for thread in threading.enumerate() if "_keep" in thread.name}
    assert not names


def spelling(numbers):
    return summe(numbers)  # noqa: F821


def too_early(numbers):
    total += sum(numbers)  # noqa: F821
    return total


def below_another(numbers):
    first = numbers[0]
    return first + beyond(numbers)


def beyond(numbers):
    return numbers[99]


def shapes(numbers):
    return torch.ones(2) + torch.ones(3)


def kinds(numbers):
    return torch.ones(2, 2) @ torch.ones(2, 2).double()


def without_end(numbers):
    return without_end(numbers)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (spelling, reader_line(spelling, 1) + "„summe“ gibt es nicht (NameError)"),
        (too_early, reader_line(too_early, 1) + "„total“ wird gelesen, bevor"),
        (below_another, reader_line(beyond, 1) + "ein Index liegt hinter dem Ende (IndexError"),
        (shapes, reader_line(shapes, 1) + "die Formen passen nicht zueinander (RuntimeError"),
        (kinds, reader_line(kinds, 1) + "die Tensoren enthalten verschiedene Arten"),
        (without_end, reader_line(without_end, 1) + "sie ruft sich ohne Ende selbst auf"),
        (lambda numbers: numbers.mean(), "list hat kein „mean“ (AttributeError)"),
        (lambda numbers: torch.men(numbers), "torch hat kein „men“ (AttributeError)"),
        (lambda numbers: numbers / 2, "mit dieser Art von Wert geht das nicht (TypeError"),
        (lambda numbers: 1 / 0, "geteilt durch null (ZeroDivisionError"),
        (lambda numbers: torch.ones(2).sum(5), "diese Achse gibt es nicht (IndexError"),
        (lambda numbers: {}["a"], "diesen Eintrag gibt es nicht (KeyError"),
        (lambda: 1, "Deine Funktion nimmt (). Lass ihre erste Zeile"),
        (2.0, "ohne Klammern dahinter"),
        (lambda numbers: (number for number in numbers), "generator"),
    ],
)
def test_what_went_wrong_is_said_in_words_with_the_readers_line(function, words):
    feedback = start_exercises.check_mean(function)
    assert feedback.correct is False and words in feedback.text
    assert "\n" not in feedback.text and "Traceback" not in feedback.text


def meddling(*_arguments):
    torch.manual_seed(1)
    random.seed(1)
    np.random.seed(1)
    torch.set_default_dtype(torch.float64)
    torch.set_grad_enabled(False)
    return torch.rand(3)


def state():
    """Everything a check might leave changed, comparable."""
    return (
        torch.get_rng_state().tolist(),
        random.getstate(),
        np.random.get_state()[1].tolist(),
        torch.get_default_dtype(),
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        sys.getprofile(),
        sys.gettrace(),
        signal.getsignal(signal.SIGINT),
        threading.active_count(),
        id(sys.stdout),
        F.layer_norm,
        model.causal_mask,
    )


@pytest.mark.parametrize("name", EXERCISES)
def test_a_check_leaves_no_trace_whatever_the_function_does(name, monkeypatch):
    monkeypatch.setattr(running, "SECONDS", 0.02)
    before = state()
    for function in (*ways(name).right, meddling, stopping, endless, quitting):
        EXERCISES[name](function)
        assert state() == before


@pytest.mark.parametrize("name", EXERCISES)
def test_a_check_answers_at_once(name):
    solution, times = ways(name).right[0], []
    for _time in range(3):
        begin = time.perf_counter()
        EXERCISES[name](solution)
        times.append(time.perf_counter() - begin)
    assert min(times) < 0.3


def test_who_borrows_is_seen_in_his_own_thread_only():
    """A view that uses the page's helper meanwhile does not make the reader's answer a borrowed one."""
    over = threading.Event()

    def view():
        while not over.is_set():
            model.causal_mask(3)

    thread = threading.Thread(target=view)
    thread.start()
    try:
        assert causal_mask_exercises.check_causal_mask(causal_mask_exercises.my_causal_mask_solution).correct
    finally:
        over.set()
        thread.join()


def test_a_function_that_stops_only_at_a_later_example_is_told_so_too():
    assert (
        "ZeroDivisionError"
        in start_exercises.check_mean(lambda numbers: 2.0 if len(numbers) == 2 else 1 / 0).text
    )
    assert (
        "ZeroDivisionError"
        in parameter_counting_exercises.check_block_parameters(lambda D: 171 if D == 3 else 1 / 0).text
    )
    assert causal_mask_exercises.check_causal_mask(
        lambda T: torch.ones(T, T).tril().bool() if T == 5 else T / 0
    ).text == ("Für T = 5 stimmt es, für andere Längen nicht.")


def test_a_later_example_without_an_answer_is_wrong_and_no_stub():
    assert start_exercises.check_mean(lambda numbers: 2.0 if len(numbers) == 2 else None).correct is False
