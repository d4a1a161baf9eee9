"""09_parameter_counting: rule of thumb and exact count, what lies between, and what the views say."""

import re
from dataclasses import replace
from pathlib import Path

import nbformat
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from tests.ways import Ways
from tokenwerk_helpers import parameters
from tokenwerk_helpers.chapters.parameter_counting import computation, exercises, questions, views
from tokenwerk_helpers.live import style
from tokenwerk_helpers.model import Block, Config, Decoder
from tokenwerk_helpers.parameters import PARTS, PRESETS, count_config, rule_of_thumb

VIEWS = [views.BlockTables, views.Counting, views.LeftOut, views.ModelSizes]
NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "de" / "09_parameter_counting.ipynb"


def digits(text: str) -> str:
    """The text without the narrow spaces inside its numbers."""
    return text.replace("\u202f", "")


# ---- the numbers ----


@settings(max_examples=30)
@given(st.integers(1, 8).map(lambda n: 4 * n), st.sampled_from([1, 2, 4]), st.booleans())
def test_a_block_has_as_many_parameters_as_pytorchs_own_encoder_layer(width, heads, bias):
    """F37: 4 D^2 and 8 D^2 in the tables; with biases and norms as many as nn.TransformerEncoderLayer."""
    block = computation.block_parameters(width, heads, bias)
    reference = nn.TransformerEncoderLayer(width, heads, 4 * width, bias=bias)
    assert block.sum("attention") == 4 * width**2
    assert block.sum("mlp") == 8 * width**2
    assert block.total == sum(p.numel() for p in reference.parameters())


def test_the_rule_of_thumb_and_the_exact_count_of_the_chapters_decoder():
    """F38: 800 + 1536 + 128 = 2464 by rule, 2688 exactly."""
    result = computation.counted(100, 8, 2, 16, heads=2, tied=True, bias=True)
    assert tuple(result.rule) == (800, 1536, 128) and result.rule.total == 2464
    assert result.exact.total == 2688
    assert sum(computation.rule_parts(result.rule).values()) == 2464
    caption = views.Counting().caption.value
    assert "800 + 1536 + 128 = 2464" in caption and "2688" in caption and "224" in caption


@settings(max_examples=30)
@given(
    st.integers(2, 300), st.integers(1, 5).map(lambda n: 8 * n), st.integers(1, 4), st.integers(1, 50),
    st.sampled_from([1, 2, 4, 8]), st.booleans(), st.booleans(),
)  # fmt: skip
def test_the_view_counts_what_the_model_holds(V, D, L, T, heads, tied, bias):
    """F39: sum(p.numel() for p in model.parameters()) equals the sum over the parts, for any decoder."""
    result = computation.counted(V, D, L, T, heads, tied, bias)
    model = Decoder(Config(V, T, D, heads, L, bias=bias, tie_head=tied))
    assert sum(result.exact.parts.values()) == sum(p.numel() for p in model.parameters())


def test_heads_leave_the_count_as_it_is():
    """F37: four D x D tables, whatever the number of heads."""
    totals = {computation.counted(100, 8, 2, 16, heads, True, True).exact.total for heads in (1, 2, 4, 8)}
    assert totals == {2688}


@settings(max_examples=30)
@given(st.sampled_from(computation.WIDTHS), st.integers(1, 96), st.booleans())
def test_what_the_rule_leaves_out_has_a_closed_form(width, blocks, bias):
    result = computation.gap(width, blocks, tied=True, bias=bias)
    left_out = result.reconciliation.exact - result.reconciliation.rule.total
    assert left_out == (13 * blocks * width + 2 * width if bias else 2 * blocks * width + width)
    assert result.share == pytest.approx(result.shares[computation.WIDTHS.index(width)])
    assert np.all(np.diff(result.shares) < 0), "the share falls as D grows"


def test_the_sizes_of_gpt_2_and_gpt_3():
    """F37, F38 at full size: GPT-2 small tied and untied, and the figure the GPT-3 paper rounds to 175 B."""
    tied, untied = (computation.sizes("gpt2", tie, "float32").counts for tie in (True, False))
    assert tied["gpt2"].total == 124_439_808
    assert untied["gpt2"].total == 163_037_184
    assert round(tied["gpt3"].total / 1e9) == 175
    shares = [computation.table_share(tied[name]) for name in PRESETS]
    assert shares == sorted(shares, reverse=True), "the larger the model, the smaller the share of its tables"


def test_memory_is_bytes_times_parameters():
    assert computation.sizes("gpt2", True, "float32").bytes == 4 * 124_439_808
    assert computation.sizes("gpt2", True, "bfloat16").bytes == 2 * 124_439_808
    sizes = {999: "999 B", 10_752: "10.8 kB", 497_759_232: "497.8 MB", 2_793_668_149_248: "2.8 TB"}
    for size, text in sizes.items():
        assert views.memory(size).replace("\u202f", " ") == text


def test_training_with_adamw_holds_four_numbers_for_each_parameter():
    """The 16 bytes of the caption, counted in a real optimizer after one step."""
    import torch

    model = Decoder(computation.CHAPTER)
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.zeros(1, 4, dtype=torch.long)).sum().backward()
    optimizer.step()
    held = [p for p in model.parameters()] + [p.grad for p in model.parameters()]
    held += [v for state in optimizer.state.values() for v in state.values() if v.dim() > 0]
    assert sum(t.numel() * t.element_size() for t in held) == computation.FORMATS["training"] * 2688


# ---- the views ----


@pytest.mark.parametrize("make", VIEWS)
def test_every_control_moves_the_picture_and_the_caption_over_its_whole_range(make):
    explorer = make()
    start = explorer.rows[0][0].pixels.tobytes(), explorer.caption.value
    for name, control in explorer.controls.items():
        options = getattr(control, "options", None)
        if isinstance(control.value, bool):
            values = [False, True]
        elif options:
            values = [
                option[1] if isinstance(option, tuple) else option for option in (options[0], options[-1])
            ]
        else:
            values = [control.min, control.max]
        seen = set()
        for value in values:
            explorer.set(**{name: value})
            assert explorer.error is None, explorer.message.value
            seen.add((explorer.rows[0][0].pixels.tobytes(), explorer.caption.value))
        assert len(seen) == len(values), name
        explorer.reset()
    assert (explorer.rows[0][0].pixels.tobytes(), explorer.caption.value) == start


@pytest.mark.parametrize("width", [4, 8, 12, 16])
@pytest.mark.parametrize("heads", [1, 2, 4])
def test_the_picture_of_a_block_has_one_square_for_each_parameter(width, heads):
    """F37: the drawn area is the number of parameters, and nothing overlaps."""
    view = views.BlockTables()
    view.set(width=width, heads=heads)
    boxes = [path.get_extents() for squares in view.squares.values() for path in squares.get_paths()]
    assert sum(box.width * box.height for box in boxes) == pytest.approx(view.result.total)
    cells = [
        (x, y)
        for box in boxes
        for x in range(round(box.x0), round(box.x1))
        for y in range(round(box.y0), round(box.y1))
    ]
    assert len(cells) == len(set(cells)) == view.result.total


def test_the_squares_follow_the_theme_of_the_page():
    view = views.BlockTables()
    light, dark = (bytes.fromhex(roles["attention"][1:]) for roles in (style.ROLES, style.DARK_ROLES))
    seen = view.figure.pixels[..., :3].tobytes()
    assert light in seen and dark not in seen
    view.figure.dark = True
    view.set(width=12)
    seen = view.figure.pixels[..., :3].tobytes()
    assert dark in seen and light not in seen


def test_the_bars_are_as_long_as_their_parts_and_stand_side_by_side():
    view = views.Counting()
    view.set(tied=False, width=32, blocks=3)
    pieces = view.bars.pieces[1]
    assert [piece.get_width() for piece in pieces] == [view.result.exact.parts[part] for part in PARTS]
    ends = np.cumsum([piece.get_width() for piece in pieces])
    assert np.allclose([piece.get_x() for piece in pieces[1:]], ends[:-1])
    assert view.axes.get_xlim()[1] > ends[-1], "the longest bar stays on the page"


@pytest.mark.parametrize("heads", [1, 2, 4, 8])
def test_heads_cut_notches_into_attention_and_leave_every_bar_as_long(heads):
    view = views.Counting()
    before = [piece.get_width() for row in view.bars.pieces for piece in row]
    view.set(heads=heads)
    assert [piece.get_width() for row in view.bars.pieces for piece in row] == before
    places = [segment[0][0] for segment in view.notches.get_segments()]
    left, length = 928, 512  # behind 800 + 128, as long as 2 · 4 · 8²
    assert places == pytest.approx([left + length * k / heads for k in range(1, heads)] * 2)


def test_the_steps_climb_from_the_rule_to_the_exact_count():
    view = views.LeftOut()
    assert "2464 + 64 + 80 + 80 = 2688" in view.caption.value
    tops = [bar.get_y() + bar.get_height() for bar in view.bars.bars]
    assert tops[-1] == tops[-2] == 224
    view.set(tied=False)
    assert "3488" in view.caption.value and "eigene Tabelle" in view.caption.value


@pytest.mark.parametrize("make", VIEWS)
def test_the_numbers_of_a_caption_are_readable_in_every_setting(make):
    """No empty fields, no machine notation such as 1e+09."""
    explorer = make()
    for name, control in explorer.controls.items():
        for option in getattr(control, "options", [control.value]):
            value = option[1] if isinstance(option, tuple) else option
            sentence = explorer.sentence(explorer.compute(**explorer.settings | {name: value}))
            assert not re.search(r"\d(\.\d+)?e[+-]\d|[{}]|nan", digits(sentence))


# ---- questions and exercises ----


def test_the_guesses_know_right_from_wrong():
    for ask, right in {
        questions.guess_own_head: 1,
        questions.guess_left_out: 2,
        questions.guess_share: 0,
    }.items():
        guess = ask()
        assert [i for i in range(len(guess.options)) if guess.reply_to(i).correct] == [right]
        assert guess.judge().correct is None
    factor, heads = questions.guess_double_width(), questions.guess_heads()
    assert factor.reply_to(4).correct and not factor.reply_to(2).correct
    assert questions.guess_own_head().truth() == round(50257 * 768 / 124_439_808, 2)
    assert heads.reply_to(4 * (4 * 8) * 8).correct
    assert len({heads.reply_to(wrong).text for wrong in (4 * 8 * 8, 3 * (4 * 8) * 8 + 8 * 8, 512)}) == 3
    assert questions.guess_share().options[0].text == "GPT-2 small"


def test_the_shares_in_the_question_about_what_is_left_out_are_true():
    guess = questions.guess_left_out()
    for width, text, places in ((8, guess.text, 1), (768, guess.options[2].text, 2)):
        rule, exact = (
            rule_of_thumb(100, width, 2, 16),
            count_config(replace(computation.CHAPTER, width=width)),
        )
        assert f"{100 * (1 - rule.total / exact.total):.{places}f} %" in text


def test_the_exercise_on_a_block_says_which_group_is_missing():
    judge = exercises.check_block_parameters
    assert judge(lambda D: ...).correct is None
    assert judge(lambda D: 12 * D**2 + 13 * D).correct
    assert "Zwei Gruppen".lower() in judge(lambda D: 12 * D**2).text.lower()
    assert "fehlen die Biases" in judge(lambda D: 12 * D**2 + 4 * D).text
    assert "Biases des MLP" in judge(lambda D: 12 * D**2 + 8 * D).text
    assert "Normen oder die Biases der Attention" in judge(lambda D: 12 * D**2 + 9 * D).text
    assert "zwei Normen" in judge(lambda D: 12 * D**2 + 11 * D).text
    assert "vierte" in judge(lambda D: 11 * D**2 + 13 * D).text
    assert "kleinen Gruppen" in judge(lambda D: 11 * D**2).text
    assert "Tabellen des MLP" in judge(lambda D: 4 * D**2 + 13 * D).text
    assert "statt mit 8" in judge(lambda D: 872).text
    assert judge(lambda D: 12 * D**2 + 13 * D + 100 * D).correct is False
    assert "eine Zahl" in judge(lambda D: "12").text


def test_the_exercise_on_a_decoder_says_what_is_missing():
    def exact(V, D, L, T, own_head):
        return V * D + T * D + L * (12 * D**2 + 13 * D) + 2 * D + V * D * own_head

    judge = exercises.check_decoder_parameters
    assert judge(lambda *sizes: ...).correct is None
    assert judge(exact).correct
    assert "eigener Tabelle" in judge(lambda V, D, L, T, own: exact(V, D, L, T, False)).text
    assert "nur einmal" in judge(lambda V, D, L, T, own: exact(V, D, L, T, True)).text
    assert "noch eine Norm" in judge(lambda V, D, L, T, own: exact(V, D, L, T, own) - 2 * D).text
    assert "Positionen" in judge(lambda V, D, L, T, own: exact(V, D, L, T, own) - T * D).text
    rule = judge(lambda V, D, L, T, own: rule_of_thumb(V, D, L, T).total + V * D * own)
    assert "Faustregel" in rule.text
    assert "mit mehreren" in judge(lambda V, D, L, T, own: exact(V, D, 1, T, own)).text


def test_checks_do_not_give_the_answer_away():
    said = [
        judge(lambda *_sizes: 1).text
        for judge in (exercises.check_block_parameters, exercises.check_decoder_parameters)
    ]
    said += [ask().reply_to(3).text for ask in (questions.guess_double_width, questions.guess_heads)]
    assert not any(re.search(r"\b(872|2688|800|12 ?\*|13)\b", text) for text in said)


# ---- the page ----


def test_the_page_quotes_the_numbers_it_computes():
    """F37 F38 F39: every large number in the prose of the page is one that the package counts."""
    page = nbformat.read(NOTEBOOK, as_version=4)
    prose = "\n".join(cell.source for cell in page.cells if cell.cell_type == "markdown")
    counted = {count_config(config).total for config in (*PRESETS.values(), computation.CHAPTER)}
    counted |= {
        count_config(replace(config, tie_head=False)).total
        for config in (*PRESETS.values(), computation.CHAPTER)
    }
    counted |= {2464, 40478}  # the rule of thumb, and the vocabulary of GPT (2018)
    quoted = {
        int(re.sub(r"[ ,\u202f]", "", n))
        for n in re.findall(r"\b\d{1,3}(?:[ ,\u202f]\d{3})+\b|\b\d{4,}\b", prose)
    }
    years = {n for n in quoted if 2010 <= n <= 2030}
    assert quoted - years <= counted, quoted - years - counted
    assert {124_439_808, 163_037_184, 2464, 2688} <= quoted


# ---- ways in which a reader may write the exercise, right and wrong ----


def decoder_size(V, D, L, T, own_head):
    return V * D * (1 + own_head) + T * D + L * (12 * D**2 + 13 * D) + 2 * D


def decoder_size_by_parts(V, D, L, T, own_head):
    block = 4 * (D * D + D) + (4 * D * D + 4 * D) + (4 * D * D + D) + 4 * D
    return sum([V * D, T * D, *[block] * L, 2 * D, V * D if own_head else 0])


def built_block(D):
    return parameters.count(Block(Config(vocab_size=1, context_length=1, width=D, heads=1, blocks=1))).total


def built_decoder(V, D, L, T, own_head):
    return parameters.count_config(Config(V, T, D, heads=1, blocks=L, tie_head=not own_head)).total


WAYS = {
    "check_block_parameters": Ways(
        [
            lambda D: 12 * D**2 + 13 * D,
            lambda D: torch.tensor(4 * (D * D + D) + 8 * D * D + 5 * D + 4 * D),
            lambda D: float(decoder_size(0, D, 1, 0, False) - 2 * D),
        ],
        [
            (built_block, "die Arbeit hat das echte Modell gemacht"),
            (lambda D: True, "True oder False"),
            (lambda D: (12 * D**2, 13 * D), "Tupel aus 2 Teilen"),
        ],
    ),
    "check_decoder_parameters": Ways(
        [decoder_size, decoder_size_by_parts, lambda *sizes: np.int64(decoder_size(*sizes))],
        [
            (built_decoder, "die Arbeit hat das echte Modell gemacht"),
            (lambda *sizes: str(decoder_size(*sizes)), "einen Text"),
        ],
    ),
}
