"""07_embeddings: byte pair encoding merge by merge, two tables of positions, the window."""

import math
from functools import cache

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.ways import Ways
from tokenwerk_helpers import model
from tokenwerk_helpers.chapters.embeddings import computation, exercises, questions, views
from tokenwerk_helpers.chapters.reading import Reading, example_story
from tokenwerk_helpers.tokenizer import GPT2_WORDS, Tokenizer, label, split

ODD = "Ein $\\frac$ & <b>Jan</b> 🦆 $"


@pytest.fixture(scope="module")
def reading():
    return Reading()


# ---- byte pair encoding ----


def pieces_by_hand(text, merges):
    """Every word as single bytes; then the merges in the order of their learning, each from left to right."""
    words = [[bytes([value]) for value in word.encode("utf-8")] for word in split(text)]
    for left, right in merges:
        for pieces in words:
            at = 0
            while at < len(pieces) - 1:
                if pieces[at] == left and pieces[at + 1] == right:
                    pieces[at : at + 2] = [left + right]
                at += 1
    return [piece for pieces in words for piece in pieces]


@pytest.mark.parametrize("text", [example_story(), "Grüße an Jan, 3-mal!", ODD])
def test_the_pieces_grow_together_merge_by_merge(reading, text):
    """F33: raw text falls into bytes, then into subwords; at every merge the pieces are those by hand."""
    tokenizer = reading.tokenizer
    counts = []
    for merges in (0, 1, 2, 3, 10, 60, 200, len(tokenizer.merges)):
        found = computation.split_with(tokenizer, text, merges)
        by_hand = pieces_by_hand(text, tokenizer.merges[:merges])
        assert found.pieces == [label(piece) for piece in by_hand]
        assert b"".join(by_hand).decode("utf-8") == text
        counts.append(len(found.pieces))
        if merges:
            newest = b"".join(tokenizer.merges[merges - 1])
            assert found.uses_newest == [piece == newest for piece in by_hand]
            assert found.newest == tuple(label(part) for part in tokenizer.merges[merges - 1])
    assert counts[0] == found.byte_count == len(text.encode("utf-8"))
    assert counts == sorted(counts, reverse=True) and counts[-1] < counts[0]
    assert found.pieces == tokenizer.labels(tokenizer.encode(text))  # all learned: the tokenizer itself


@cache
def shipped():
    return Reading().tokenizer


@given(st.text(max_size=30), st.integers(0, 600))
@settings(max_examples=40)
def test_any_text_comes_back_from_its_ids_whatever_has_been_learned(text, merges):
    """F33: round trip."""
    tokenizer = shipped()
    young = Tokenizer(tokenizer.merges[:merges])
    assert young.decode(young.encode(text)) == text
    assert len(computation.split_with(tokenizer, text, merges).pieces) == len(young.encode(text))


def test_a_tokenizer_with_words_of_its_own_keeps_them():
    """GPT-2 keeps marks together where ours are cut apart."""
    tokenizer = Tokenizer([(b"!", b"!")], pattern=GPT2_WORDS)
    assert computation.split_with(tokenizer, "Ja!!", 1).pieces == ["J", "a", "!!"]


@pytest.fixture(scope="module")
def merges():
    return views.Merges()


def test_every_control_moves_the_split_and_any_text_is_text(merges):
    merges.reset()
    seen = {(merges.caption.value, merges.figure.pixels.tobytes())}
    for moved in ({"merges": 0}, {"merges": 400}, {"text": ODD}, {"text": ""}, {"text": "a"}):
        merges.set(**moved)
        assert merges.error is None, merges.message.value
        seen.add((merges.caption.value, merges.figure.pixels.tobytes()))
    assert len(seen) == 6
    merges.set(merges=0)
    assert "Jedes Byte ist ein eigenes Token" in merges.caption.value
    merges.reset()


TEXTS = ["🦆" * 19, "ä" * 38, "Ж" * 38, "a" * 76, "a\n\t " * 19, example_story(), ""]


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: repr(text[:1]))
@pytest.mark.parametrize("learned", [0, 60, 500])
def test_every_piece_stands_in_the_picture_and_its_name_in_its_box(merges, text, learned):
    merges.set(text=text, merges=learned)
    assert merges.error is None, merges.message.value
    (axes,) = merges.figure.figure.axes
    names = [name for name in axes.texts if name.get_visible()]
    assert [name.get_text() for name in names] == merges.result.pieces
    assert {name.get_fontsize() for name in names} <= {8.0}
    page = axes.get_window_extent()
    boxes = {}
    for new, drawn in ((False, merges.old), (True, merges.new)):
        which = [i for i, uses in enumerate(merges.result.uses_newest) if uses == new]
        extents = [axes.transData.transform_path(path).get_extents() for path in drawn.get_paths()]
        boxes |= dict(zip(which, extents, strict=True))
    boxes = [boxes[i] for i in range(len(names))]
    for box, name in zip(boxes, names, strict=True):
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1
        written = name.get_window_extent()
        assert box.x0 <= written.x0 and written.x1 <= box.x1
        assert box.y0 <= written.y0 and written.y1 <= box.y1
    assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])
    merges.reset()


def test_too_many_bytes_get_words_and_the_picture_stays(merges):
    merges.reset()
    image = merges.figure.pixels.tobytes()
    merges.set(text="ü" * 39)
    assert "höchstens 76 Bytes" in merges.message.value and merges.figure.pixels.tobytes() == image
    merges.set(text="ü" * 38)
    assert merges.error is None and merges.result.byte_count == 76
    merges.reset()


# ---- who stands beside whom in the token table ----


@given(
    arrays(np.float32, st.tuples(st.integers(4, 9), st.integers(3, 6)), elements=st.floats(-4, 4, width=16))
)
def test_the_principal_axes_are_those_of_the_covariance(rows):
    values, vectors = np.linalg.eigh(np.cov(rows.astype(float), rowvar=False, bias=True))
    assume(
        0.01 < values[-2] < 0.7 * values[-1] and values[-3] < 0.7 * values[-2]
    )  # else no axis is the only one
    mean, axes = computation.principal_axes(torch.tensor(rows))
    assert np.allclose(mean, rows.mean(axis=0), atol=1e-5)
    assert np.allclose(np.abs(vectors[:, [-1, -2]].T @ axes.numpy()), np.eye(2), atol=1e-2)
    places = (rows - rows.mean(axis=0)) @ axes.numpy()
    assert all(places[np.abs(places[:, axis]).argmax(), axis] > 0 for axis in (0, 1))


def test_the_nearest_are_those_by_hand(reading):
    table = reading.model.token_embedding.weight.detach()
    rows = table.double().numpy()
    found = computation.nearest(table, 300, 5)
    alike = rows @ rows[300] / np.linalg.norm(rows, axis=1) / np.linalg.norm(rows[300])
    assert [row for row, _alike in found] == [row for row in np.argsort(-alike) if row != 300][:5]
    assert np.allclose([value for _row, value in found], [alike[row] for row, _alike in found], atol=1e-5)


@pytest.fixture(scope="module")
def neighbours():
    view = views.Neighbours()
    yield view
    view.close()


def test_the_map_holds_its_axes_still_while_the_training_moves(neighbours):
    neighbours.set(word="Ente", group="nouns")
    steps = neighbours.controls["step"].options
    plane = neighbours.plane.get_xlim()
    last = neighbours.map.tables[steps[-1]].double().numpy()  # (N, D)
    shown = np.array([word.kind in computation.NOUNS for word in neighbours.map.words])
    for step in (steps[0], steps[4], steps[-1]):
        neighbours.set(step=step)
        centred = neighbours.map.tables[step].double().numpy() - last[shown].mean(axis=0)
        *_rest, directions = np.linalg.svd(last[shown] - last[shown].mean(axis=0))
        assert np.allclose(np.abs(neighbours.result.places), np.abs(centred @ directions[:2].T), atol=1e-4)
        assert neighbours.plane.get_xlim() == plane
        places = neighbours.result.places[shown]
        assert (np.abs(places) < plane[1]).all()
    drawn = np.concatenate([np.transpose(dots.get_data()) for dots in neighbours.dots.values()])
    assert sorted(map(tuple, drawn)) == sorted(map(tuple, places))
    whole = last[shown].var(axis=0).sum()
    assert neighbours.result.spread == pytest.approx(places.var(axis=0).sum() / whole, abs=1e-4)


def test_a_word_is_found_whatever_its_capitals_and_any_other_is_refused_on_the_page(neighbours):
    neighbours.set(word="ente", group="nouns", step=4000)
    assert neighbours.map.words[neighbours.result.chosen].text == "Ente"
    neighbours.controls["word"].value = "Auto $x$"
    assert neighbours.message.value.startswith("„Auto $x$“ steht nicht auf der Karte.")
    neighbours.controls["word"].value = " Fuchs "
    assert neighbours.message.value == ""
    assert neighbours.caption.value.endswith("5 von 5 haben das Geschlecht von „Fuchs“.")
    assert neighbours.name.made[0].get_text() == "Fuchs"


def test_a_word_that_is_not_on_the_map_is_marked_nowhere(neighbours):
    neighbours.set(word="Mia", group="nouns", step=4000)
    assert "„Mia“ selbst steht nicht darauf." in neighbours.caption.value
    assert len(neighbours.here.get_xdata()) == 0 and not neighbours.name.made[0].get_visible()
    neighbours.set(group="all")
    assert "nicht darauf" not in neighbours.caption.value and neighbours.name.made[0].get_visible()


# ---- positions ----


def test_token_and_position_are_added_component_by_component():
    """F29: [0.2, 0.5] + [0.1, -0.2] = [0.3, 0.3], by the model's own tables."""
    decoder = model.Decoder(model.Config(vocab_size=3, context_length=4, width=2, heads=1, blocks=1))
    embedded = []
    decoder.embedded.register_forward_hook(lambda _m, _i, output: embedded.append(output))
    with torch.no_grad():
        decoder.token_embedding.weight[2] = torch.tensor([0.2, 0.5])
        decoder.position_embedding.weight[1] = torch.tensor([0.1, -0.2])
        decoder(torch.tensor([[0, 2]]))
    assert embedded[0][0, 1].tolist() == pytest.approx([0.3, 0.3])


def test_a_table_of_256_rows_has_none_for_position_10000():
    """F30: a clear error that names both numbers, one position beyond the end and far beyond."""
    decoder = model.Decoder(model.Config(vocab_size=3, context_length=256, width=2, heads=1, blocks=1))
    assert decoder(torch.zeros(1, 256, dtype=torch.long)).shape == (1, 256, 3)
    for length in (257, 10_001):
        with pytest.raises(ValueError, match=f"position {length - 1}: the table ends at 255"):
            decoder(torch.zeros(1, length, dtype=torch.long))


def test_the_sine_table_is_the_formula_of_2017():
    """F32: sin and cos of t / 10000^(2i/D), by hand; in every pair sin^2 + cos^2 = 1."""
    T, D = 64, 12
    table = computation.sine_table(T, D)
    for t in range(T):
        for i in range(D // 2):
            angle = t / 10000 ** (2 * i / D)
            assert table[t, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[t, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)
    assert torch.allclose(table[:, 0::2] ** 2 + table[:, 1::2] ** 2, torch.ones(T, D // 2), atol=1e-6)
    with pytest.raises(ValueError, match="odd"):
        computation.sine_table(4, 3)


@pytest.fixture(scope="module")
def tables():
    return views.PositionTables()


def test_the_learned_table_is_the_models_and_likeness_is_the_cosine(tables):
    tables.reset()
    for kind, position in (("learned", 0), ("learned", 33), ("sine", 63)):
        tables.set(kind=kind, position=position)
        assert tables.error is None, tables.message.value
        weight = tables.reading.model.position_embedding.weight.detach()
        table = (weight if kind == "learned" else computation.sine_table(*weight.shape)).numpy()
        assert np.array_equal(tables.matrix.values[0], table)
        dots = table @ table[position]
        cosine = dots / np.linalg.norm(table, axis=1) / np.linalg.norm(table[position])
        assert np.allclose(tables.result.likeness, cosine, atol=1e-5)
        nearest = max((t for t in range(len(table)) if t != position), key=cosine.__getitem__)
        assert f"Position {position} ist der Position {nearest}" in tables.caption.value
    tables.reset()


def test_of_the_sine_codes_both_neighbours_are_named_and_at_the_ends_the_only_one(tables):
    """F32: the likeness of two sine codes depends on their distance alone."""
    last = len(tables.tables["sine"]) - 1
    for position in range(last + 1):
        tables.set(kind="sine", position=position)
        if position in (0, last):
            nearest = f"der Position {abs(position - 1)} am"
        else:
            nearest = f"den Positionen {position - 1} und {position + 1} am ähnlichsten"
        assert f"Position {position} ist {nearest}" in tables.caption.value
    tables.reset()


def test_a_single_byte_and_a_single_merge_are_said_in_the_singular(merges):
    merges.set(text="a", merges=1)
    assert merges.caption.value.startswith("1 Merge gelernt: 1 Byte ergibt 1 Token.")
    merges.set(text="Ja", merges=0)
    assert merges.caption.value.startswith("0 Merges gelernt: 2 Bytes ergeben 2 Token.")
    merges.reset()


def test_every_control_of_the_tables_moves_the_caption(tables):
    tables.reset()
    captions = {tables.caption.value}
    tables.set(position=5)
    captions.add(tables.caption.value)
    tables.set(kind="learned")
    captions.add(tables.caption.value)
    assert len(captions) == 3
    tables.reset()
    assert "sin² + cos² = 1:" in tables.caption.value


# ---- the window ----


@given(st.integers(1, 40), st.integers(1, 12))
def test_the_window_holds_the_last_tokens_and_counts_them_from_zero(length, context):
    """F31: the last `context` tokens stay, their positions run from 0 to context - 1."""
    tokens = [str(i) for i in range(40)]
    found = computation.window(tokens, length, context)
    assert found.tokens == tokens[:length]
    assert found.tokens[found.first :] == tokens[:length][-context:]
    assert list(range(len(found.tokens) - found.first)) == list(range(min(length, context)))


def test_the_sliding_window_tells_what_has_dropped_out():
    """F31: shown in the live view."""
    view = views.SlidingWindow()
    view.set(length=5, context=5)
    assert view.error is None and "Alle passen hinein" in view.caption.value
    images = {view.figure.pixels.tobytes()}
    for length in range(6, len(view.tokens) + 1):
        view.set(length=length)
        assert view.error is None
        assert f"{length - 5} Token" in view.caption.value and "von 0 bis 4" in view.caption.value
        assert f"„{view.tokens[length - 5]}“ steht jetzt an Position 0" in view.caption.value
        images.add(view.figure.pixels.tobytes())
    view.set(context=12)
    assert "von 0 bis 11" in view.caption.value
    assert len(images) == len(view.tokens) - 4


# ---- questions and exercise ----


def test_the_guesses_know_right_from_wrong():
    """F29, F30: what the reader is asked."""
    guess_sum = questions.guess_sum()
    assert guess_sum.reply_to([0.3, 0.3]).correct
    for wrong in ([0.3, 0.7], [0.2, 0.5, 0.1, -0.2], [0.6]):
        assert guess_sum.reply_to(wrong).correct is False
    assert "hintereinander" in guess_sum.reply_to([0.2, 0.5, 0.1, -0.2]).text
    for guess, right in (
        (questions.guess_missing_row, [False, False, True]),
        (questions.guess_merge, [False, True, False]),
        (questions.guess_likeness, [False, False, True]),
        (questions.guess_renumbered, [False, False, True]),
    ):
        assert [guess().reply_to(i).correct for i in range(len(right))] == right, guess
    order = questions.guess_order()
    assert order.reply_to(3).correct and order.judge().correct is None
    assert len({order.reply_to(wrong).text for wrong in (6, 1, 5, 2)}) == 4
    table = computation.sine_table(64, 64)
    assert (table[5] @ table[10]).item() == pytest.approx((table[25] @ table[30]).item(), rel=1e-4)
    for guess in (questions.guess_merge(), questions.guess_likeness(), questions.guess_renumbered()):
        assert guess.judge().correct is None
    for guess in (questions.guess_sum(), questions.guess_missing_row()):
        assert guess.judge().correct is None


def T(ids):
    return ids.shape[1]


@pytest.mark.parametrize(
    ("attempt", "word"),
    [
        (lambda ids, tokens, positions: tokens[ids], "Position fehlt"),
        (lambda ids, tokens, positions: tokens[ids] + positions[1 : T(ids) + 1], "zählen ab 0"),
        (lambda ids, tokens, positions: tokens[ids] + positions[ids.clamp(max=5)], "mit der Token-Id"),
        (lambda ids, tokens, positions: tokens[ids] * positions[: T(ids)], "multipliziert"),
        (lambda ids, tokens, positions: tokens[ids] + positions[: T(ids)].flip(0), "rückwärts"),
        (lambda ids, tokens, positions: tokens[ids] - positions[: T(ids)], "Die Zahlen weichen ab"),
        (lambda ids, tokens, positions: ids[..., None].expand(-1, -1, 3), "Die Zahlen weichen ab"),
        (lambda ids, tokens, positions: torch.cat([tokens[ids]] * 2, dim=-1), "(2, 4, 3)"),
        (lambda ids, tokens, positions: tokens[ids].tolist(), "(2, 4, 3)"),
        (lambda ids, tokens, positions: tokens[ids] + positions, "bricht ab"),
    ],
)
def test_the_exercise_names_the_broken_property(attempt, word):
    feedback = exercises.check_embed(attempt)
    assert feedback.correct is False and word in feedback.text


def test_the_exercise_accepts_a_right_answer_and_knows_a_stub():
    assert exercises.check_embed(lambda ids, tokens, positions: ...).correct is None
    assert exercises.check_embed(lambda ids, tokens, positions: tokens[ids] + positions[: T(ids)]).correct
    assert exercises.check_embed(
        lambda ids, tokens, positions: (tokens[ids] + positions[: T(ids)]).double()
    ).correct


# ---- ways in which a reader may write the exercise, right and wrong ----


def embed_by_loop(ids, tokens, positions):
    return torch.stack([torch.stack([tokens[id] + positions[t] for t, id in enumerate(row)]) for row in ids])


def embed_by_torch(ids, tokens, positions):
    return F.embedding(ids, tokens) + F.embedding(torch.arange(ids.shape[1]), positions)


WAYS = {
    "check_embed": Ways(
        [
            lambda ids, tokens, positions: tokens[ids] + positions[: ids.shape[1]],
            embed_by_loop,
            embed_by_torch,
        ],
        [
            (lambda ids, tokens, positions: tokens[ids].add_(positions[:4]).numpy(), "numpy-Array"),
            (lambda ids, tokens, positions: positions.add_(1)[:4] + tokens[ids], "verändert positions"),
        ],
    ),
}
