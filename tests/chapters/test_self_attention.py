"""04_self_attention: the guide's sums, the five steps, scaling, splitting, and all heads of a model."""

import math
import re

import nbformat
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from tests.ways import Ways
from tokenwerk_helpers import model
from tokenwerk_helpers.chapters.self_attention import computation, exercises, questions, views
from tokenwerk_helpers.tools.refresh import NOTEBOOKS

# As printed in the guide.
SUMS = [
    [-1.5058, 1.2531, -1.4372],
    [0.9362, -1.5949, 0.8966],
    [-0.0988, 0.905, 1.7718],
    [0.2761, 3.3037, 1.5604],
    [-1.7595, -1.0804, 4.1908],
]


def test_the_five_sums_of_token_and_position():
    """F16: the sums come out as the guide prints them."""
    assert torch.allclose(computation.five_steps().x, torch.tensor(SUMS), atol=1e-6)


def test_the_five_token_ids_pick_the_rows_that_are_summed():
    """F16: the ids of the guide, in the order of the sentence, in the page's table and its lookup."""
    cells = nbformat.read(NOTEBOOKS / "04_self_attention.ipynb", as_version=4).cells
    listed = [
        (token, int(id), int(position))
        for cell in cells
        for token, id, position in re.findall(r"^\| (\S+) \| (\d+) \| (\d) \|$", cell.source, re.MULTILINE)
    ]
    assert listed == [
        ("Every", 15745, 1), ("␣moment", 4205, 2), ("␣is", 382, 3), ("␣a", 261, 4), ("␣beginning", 10526, 5),
    ]  # fmt: skip
    assert [(token, id) for token, id, _ in listed] == list(
        zip(computation.SENTENCE, computation.TOKEN_IDS, strict=True)
    )
    table = torch.nn.Embedding(20000, 3)
    with torch.no_grad():
        table.weight[list(computation.TOKEN_IDS)] = computation.TOKEN_EMBEDDINGS
        looked_up = table(torch.tensor([id for _, id, _ in listed]))
    assert torch.allclose(looked_up + computation.POSITION_EMBEDDINGS, torch.tensor(SUMS), atol=1e-6)


def test_the_five_steps_are_scaled_dot_product_attention():
    """F17: step by step equals F.scaled_dot_product_attention."""
    s = computation.five_steps()
    expected = F.scaled_dot_product_attention(s.q[None], s.k[None], s.v[None])[0]
    assert torch.allclose(s.context, expected, atol=1e-5)
    assert torch.allclose(s.weights.sum(-1), torch.ones(5))


def test_each_step_of_the_walk_is_a_true_equation():
    walk = views.FiveSteps()
    for _label, gives in walk.controls["gives"].options:
        walk.set(gives=gives)
        assert walk.error is None
        left, right, out = (view.values[0] for view in (walk.left, walk.right, walk.out))
        if gives == "scaled":
            product = left * right[0, 0]
        elif gives == "weights":
            product = np.exp(left) / np.exp(left).sum(1, keepdims=True)
        else:
            product = left @ right
        assert np.allclose(product, out, atol=1e-4), gives


def test_the_slider_of_the_walk_counts_the_steps_as_the_caption_does():
    walk = views.FiveSteps()
    counted = []
    for label, gives in walk.controls["gives"].options:
        walk.set(gives=gives)
        counted.append(label[0])
        assert walk.caption.value.startswith(f"Schritt {label[0]}, "), label
    assert "".join(counted) == "1112345"


def test_the_walk_follows_the_token_it_is_seen_from():
    walk = views.FiveSteps()
    captions = set()
    for query in range(5):
        walk.set(query=query)
        captions.add(walk.caption.value)
        assert walk.out.selected == query
    assert len(captions) == 5


@given(st.sampled_from(computation.WIDTHS), st.integers(0, 10))
def test_scores_spread_like_the_root_of_the_width_and_scaling_undoes_it(width, seed):
    found = computation.scaling(width, seed)
    assert found.spread_raw == pytest.approx(math.sqrt(width), rel=0.12)
    assert found.spread_scaled == pytest.approx(1, rel=0.12)
    assert found.weights_raw.sum() == pytest.approx(1)


def test_without_scaling_wide_heads_look_at_one_key_only():
    found = computation.scaling(256)
    assert found.weights_raw[0] > 0.9 > 0.5 > found.weights_scaled[0]
    assert found.slope_raw < found.slope_scaled <= 0.25


@pytest.mark.parametrize("heads", [1, 2, 3, 4, 6, 12])
def test_splitting_and_merging_gives_back_every_number(heads):
    """F18: each head has its own components of all positions; side by side they are the input again."""
    split = computation.split_and_merge(heads, transposed=True)
    assert torch.equal(split.merged, split.x)
    assert torch.equal(torch.cat(list(split.heads), dim=-1), split.x)
    wrong = computation.split_and_merge(heads, transposed=False)
    assert torch.equal(wrong.merged, split.x) == (heads == 1)


def test_the_wrong_merge_is_told_in_words():
    view = views.SplitHeads()
    view.set(transposed=False)
    assert "falschen Platz" in view.caption.value
    view.set(heads=1)
    assert "fällt nicht auf" in view.caption.value
    assert "12 Komponenten, 1 Kopf, der sie alle bekommt, an allen 4 Positionen." in view.caption.value
    view.set(heads=2)
    assert "12 Komponenten, 2 Köpfe mit je 6, an allen 4 Positionen." in view.caption.value


@pytest.fixture(scope="module")
def heads():
    return views.Heads()


def test_heads_show_the_models_own_weights(heads):
    from tokenwerk_helpers.pretrained import load

    heads.reset()
    shipped = load()
    ids = torch.tensor([[shipped.tokenizer.start, *shipped.tokenizer.encode(heads.settings["text"])]])
    seen = []
    handle = shipped.model.blocks[1].attn.weights.register_forward_hook(lambda m, i, o: seen.append(o))
    with torch.no_grad():
        shipped.model(ids)
    handle.remove()
    heads.set(block=2)
    assert np.allclose(heads.matrix.values, seen[0][0], atol=1e-6)


def test_under_the_causal_mask_only_later_tokens_look_at_earlier_ones(heads):
    """F19: no double arrows: whatever lies above the diagonal is exactly 0 in every head."""
    heads.reset()
    weights = heads.result.weights
    assert (weights[:, ~model.causal_mask(weights.shape[-1]).numpy()] == 0).all()
    assert not heads.matrix.visible[0, 0, 1] and heads.matrix.visible[0, 1, 0]


def test_a_sentence_of_ones_own_moves_matrix_and_caption(heads):
    heads.reset()
    before = heads.caption.value
    heads.set(text="Mia sucht $x$ & <b>Jan</b> 🦆.")
    assert heads.error is None and heads.caption.value != before
    assert len(heads.matrix.rows) == heads.matrix.values.shape[1]
    heads.set(text="")
    assert heads.error is None


def test_too_long_a_sentence_gets_words_and_keeps_the_view(heads):
    heads.reset()
    rows = heads.matrix.rows
    heads.set(text="die Ente " * 200)
    assert "Kürze den Text" in heads.message.value
    assert heads.matrix.rows == rows
    heads.reset()
    assert heads.message.value == ""


def test_a_click_on_a_row_becomes_the_token_seen_from(heads):
    heads.reset()
    heads.matrix.selected = 2
    assert heads.settings["query"] == 3 and "Token 3" in heads.caption.value


def test_the_guesses_know_right_from_wrong():
    row_sum, spread = questions.guess_row_sum(), questions.guess_spread()
    assert row_sum.reply_to(1).correct and spread.reply_to(4).correct
    assert (
        not any(row_sum.reply_to(answer).correct for answer in (100, 5)) and not spread.reply_to(16).correct
    )
    for guess, right in (
        (questions.guess_stretch(), 2),
        (questions.guess_transpose(), 1),
        (questions.guess_pronoun(), 2),
    ):
        assert guess.judge().correct is None
        assert [guess.reply_to(option).correct for option in range(3)] == [
            option == right for option in range(3)
        ]


def test_the_heads_show_what_the_question_about_the_pronoun_found(heads):
    heads.reset()
    assert "auf „Eine“" in heads.caption.value


def scores(q, k):
    return q @ k.T


@pytest.mark.parametrize(
    ("attempt", "word"),
    [
        (lambda q, k, v: scores(q, k).softmax(-1) @ v, "√dₖ fehlt"),
        (lambda q, k, v: (scores(q, k) / q.shape[-1]).softmax(-1) @ v, "Wurzel sein"),
        (lambda q, k, v: (scores(q, k) / v.shape[-1] ** 0.5).softmax(-1) @ v, "anderen Breite"),
        (lambda q, k, v: (scores(q, k) / q.shape[0] ** 0.5).softmax(-1) @ v, "Positionszahl"),
        (lambda q, k, v: (scores(q, k) / q.shape[-1] ** 0.5).softmax(0) @ v, "falsche Achse"),
        (lambda q, k, v: scores(q, k) / q.shape[-1] ** 0.5 @ v, "Softmax fehlt"),
        (lambda q, k, v: (scores(k, q) / q.shape[-1] ** 0.5).softmax(-1) @ v, "vertauscht"),
        (lambda q, k, v: q @ k, "bricht ab"),
        (lambda q, k, v: q, "(5, 3)"),
        (lambda q, k, v: 2 * v, "einzeln"),
    ],
)
def test_the_exercise_names_the_broken_property(attempt, word):
    feedback = exercises.check_attention(attempt)
    assert feedback.correct is False and word in feedback.text


def test_the_exercise_accepts_a_right_answer_and_knows_a_stub():
    assert exercises.check_attention(lambda q, k, v: ...).correct is None
    assert exercises.check_attention(
        lambda q, k, v: (scores(q, k) / q.shape[-1] ** 0.5).softmax(-1) @ v
    ).correct


def test_a_place_beyond_a_shorter_sentence_becomes_its_last_and_a_click_moves_it():
    heads = views.Heads()
    before = heads.settings["query"]
    heads.set(text="Eine Ente lacht")
    last = len(heads.result.labels)
    assert last < before and heads.settings["query"] == heads.result.query + 1 == last
    heads.reset()
    assert heads.result.query == before - 1
    heads.matrix.selected = 3
    assert heads.settings["query"] == 4 and heads.result.query == 3
    heads.close()


# ---- ways in which a reader may write the exercise, right and wrong ----


def attention_solution(q, k, v):
    return (q @ k.T / math.sqrt(q.shape[-1])).softmax(-1) @ v


def attention_by_einsum(q, k, v):
    scores = torch.einsum("td,sd->ts", q, k) / q.shape[-1] ** 0.5
    return torch.einsum("ts,sw->tw", F.softmax(scores, dim=1), v)


def attention_by_loop(q, k, v):
    rows = []
    for query in q:
        powers = torch.stack([(query @ key / math.sqrt(len(query))).exp() for key in k])
        rows.append((powers / powers.sum())[:, None].mul(v).sum(0))
    return torch.stack(rows)


WAYS = {
    "check_attention": Ways(
        [attention_solution, attention_by_einsum, attention_by_loop],
        [
            (lambda q, k, v: model.attention(q, k, v)[0], "die Arbeit hat model.attention gemacht"),
            (lambda q, k, v: F.scaled_dot_product_attention(q, k, v), "F.scaled_dot_product_attention"),
            (model.attention, "Tupel aus 2 Teilen"),
        ],
    ),
}
