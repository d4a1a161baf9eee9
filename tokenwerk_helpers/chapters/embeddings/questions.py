"""Questions of 07_embeddings: what is asked before moving, and how the answers are judged."""

from collections.abc import Sequence

import torch

from ... import model, sampling
from ...apart import Seeded
from ...language import _
from ...live.feedback import Feedback, floats, right, wrong
from ...live.question import Guess
from ...tokenizer import learn
from ...trace import trace


def guess_sum() -> Guess:
    """The chapter's sum of token and position."""
    return Guess(
        _("Token list [0.2, 0.5], position list [0.1, -0.2]. What does the first block receive?"),
        token_plus_position,
        kind="vector",
    )


def guess_merge() -> Guess:
    """Which pair is merged first."""
    return Guess(
        _(
            "A text holds “Hase” five times, “Nase” three times and “Nagel” twice. "
            "Which pair is merged first?"
        ),
        next_merge,
        options=["H + a", "a + s", "N + a"],
    )


def guess_likeness() -> Guess:
    """What the likeness of sine codes depends on."""
    return Guess(
        _("Sine codes: which two positions are exactly as alike as 5 and 10?"),
        likeness_of_sine_rows,
        options=[_("10 and 20"), _("5 and 7"), _("25 and 30")],
    )


def guess_missing_row() -> Guess:
    """A position beyond the table."""
    return Guess(
        _("The position table has 256 rows. What does the model do with position 10000?"),
        position_without_row,
        options=[
            _("It computes the missing row"),
            _("It takes the last row"),
            _("It cannot: there is no such row"),
        ],
    )


def guess_order() -> Guess:
    """Order without positions."""
    return Guess(
        _(
            "Self-attention without mask and without position embeddings reads “dog bites man” and "
            "“man bites dog”. What does it find at “bites”?"
        ),
        order_without_positions,
        options=[_("the same list both times"), _("two different lists")],
    )


def guess_renumbered() -> Guess:
    """For how many tokens the first list changes as the window slides."""
    return Guess(
        _(
            "A window of 5 tokens is full, and one more is appended. For how many of the 4 tokens that stay "
            "does the list change that the first block receives?"
        ),
        lists_renumbered,
        options=[
            _("for none: only the oldest has dropped out"),
            _("for one: the one that is now at the front"),
            _("for all four"),
        ],
    )


def token_plus_position(answer: Sequence[float]) -> Feedback:
    """Is `answer` [0.2, 0.5] + [0.1, -0.2]?"""
    if len(answer) == 4:
        return wrong(_("The lists are added, not put one behind the other: the width stays the same."))
    if len(answer) != 2:
        return wrong(_("A list of two components plus a list of two components: how many come out?"))
    if torch.allclose(floats(answer), floats([0.2, 0.5]) + floats([0.1, -0.2]), atol=1e-4):
        return right(
            _("Right: component by component. From now on both pieces of information are in one list.")
        )
    return wrong(_("Add the first components, then the second ones. Mind the sign."))


def position_without_row(answer: int) -> Feedback:
    """Which option tells what happens beyond the position table?"""
    with Seeded(0):
        decoder = model.Decoder(model.Config(vocab_size=5, context_length=4, width=4, heads=1, blocks=1))
    try:
        decoder(torch.zeros(1, 5, dtype=torch.long))
        refuses = False
    except ValueError:
        refuses = True
    if answer == (2 if refuses else 1):
        return right(_("Right: a learned table has the rows that were learned and no others."))
    if answer == 0:
        return wrong(_("A sine code could be computed. A learned row can only be looked up."))
    return wrong(_("Then two positions would share a row, and nobody decided that."))


def next_merge(answer: int) -> Feedback:
    """Which option is the first merge learned from Hase (5), Nase (3), Nagel (2)?"""
    first = next(iter(learn({"Hase": 5, "Nase": 3, "Nagel": 2})))
    options = [(b"H", b"a"), (b"a", b"s"), (b"N", b"a")]
    if answer == options.index((first.left, first.right)):
        return right(
            _("Right: 5 times in “Hase” and 3 times in “Nase”, that is 8. No pair is more frequent.")
        )
    return wrong(_("Count each pair in all words, as often as the word occurs: “as” stands in two of them."))


def likeness_of_sine_rows(answer: int) -> Feedback:
    """Which option pairs the positions whose sine codes are as alike as those of 5 and 10?"""
    t = torch.arange(64, dtype=torch.float64)[:, None]
    waves = t * 10000.0 ** (-torch.arange(0, 64, 2, dtype=torch.float64) / 64)  # (T, D/2)
    table = torch.cat([waves.sin(), waves.cos()], dim=1)
    alike = torch.cosine_similarity(table[[5, 10, 5, 25]], table[[10, 20, 7, 30]], dim=-1)
    if answer == int((alike[1:] - alike[0]).abs().argmin()):
        return right(_("Right: both pairs are 5 apart, and only the distance counts with sines and cosines."))
    if answer == 0:
        return wrong(_("Twice as large, but also twice as far apart. Which of the two counts?"))
    return wrong(_("These are closer together than 5 and 10, and so more alike."))


def order_without_positions(answer: int) -> Feedback:
    """Which option tells what attention without mask and positions makes of another order?"""
    with Seeded(0) as apart:
        layer, x = (
            model.CausalSelfAttention(8, 2),
            torch.randn(1, 3, 8, generator=apart.generator, dtype=torch.float32),
        )
    everywhere = torch.ones(3, 3, dtype=torch.bool)
    with torch.no_grad():
        same = torch.allclose(layer(x, everywhere)[0, 1], layer(x[:, [2, 1, 0]], everywhere)[0, 1], atol=1e-6)
    if answer == (0 if same else 1):
        return right(_("Right: a weighted sum does not know in which order its terms came."))
    return wrong(_("“bites” compares itself with the same two words both times. Does a sum have an order?"))


def lists_renumbered(answer: int) -> Feedback:
    """Which option tells for how many of the 4 tokens that stay in a window of 5 the first list changes?"""
    context, ids = 5, list(range(6))
    with Seeded(0):
        decoder = model.Decoder(
            model.Config(vocab_size=6, context_length=context, width=4, heads=1, blocks=1)
        )
    windows = [sampling.window(text, context) for text in (ids[:-1], ids)]
    before, after = (trace(decoder, torch.tensor([window]))["embedded"][0] for window in windows)  # (T, D)
    stay = [(windows[0].index(id), windows[1].index(id)) for id in windows[1] if id in windows[0]]
    changed = sum(not torch.equal(before[old], after[new]) for old, new in stay)
    if answer == [0, 1, len(stay)].index(changed):
        return right(_("Right: each has moved up by one and gets another row of the position table."))
    if answer == 0:
        return wrong(_("The tokens are the same. But at which positions do they stand now?"))
    return wrong(_("One stands at position 0 now. Where do the other three stand, and where before?"))
