"""Questions of 06_block: what is asked before moving, and how the answers are judged."""

from collections.abc import Sequence

import torch

from ...apart import Seeded
from ...language import _
from ...live.feedback import Feedback, floats, nearest, right, wrong
from ...live.question import Guess
from ...model import Block, Config, residual
from ..story import read
from .computation import ExampleBlock

RELATIVE = (0.1, 0.5, 1.5)  # the options of `contribution_beside_the_stream`


@torch.no_grad()
def ten_times_the_input(answer: Sequence[float]) -> Feedback:
    """Is `answer` what the small block makes of [20, 50]?"""
    if len(answer) != 2:
        return wrong(_("The block gives back a list as long as the one it received: two numbers."))
    block, x = ExampleBlock(), floats([20.0, 50.0])
    given = floats(answer)
    if torch.allclose(given, block(x), atol=0.01):
        return right(
            _(
                "Right. Norm₁ and Norm₂ hand on the same lists as before, so both contributions "
                "stay as they were."
            )
        )
    if torch.allclose(given, 10 * block(x / 10), atol=0.01):
        return wrong(
            _("That would be ten times y. What does Norm₁ make of a list that is ten times as large?")
        )
    if torch.allclose(given, block.mlp(block.norm2(x)) + x, atol=0.01):
        return wrong(_("The MLP's contribution is there. What became of Attention's?"))
    return wrong(_("Work out Norm₁([20, 50]) first. Then follow the four steps of the example."))


@torch.no_grad()
def what_is_missing(answer: int) -> Feedback:
    """Which option says what the output lacks if the second sum takes x?"""
    block, x = ExampleBlock(), floats([2.0, 5.0])
    u = residual(x, block.attn(block.norm1(x)))
    lacking = block(x) - (x + block.mlp(block.norm2(u)))
    options = [torch.zeros_like(x), block.attn(block.norm1(x)), block.mlp(block.norm2(u)), x]
    if torch.allclose(lacking, options[answer], atol=1e-6):
        return right(
            _("Right: u differs from x by Attention's contribution, and that no longer reaches y directly.")
        )
    return wrong(_("Write both outputs one below the other and subtract: y − y′ = u − x. What is u − x?"))


def norm_parameters(answer: float) -> Feedback:
    """How many trainable numbers have the two norms of a block of width 768?"""
    with torch.device("meta"):
        block = Block(Config(vocab_size=1, context_length=1, width=768, heads=12, blocks=1))
    one, two = (sum(p.numel() for p in norm.parameters()) for norm in (block.norm1, block.norm2))
    if answer == one + two:
        return right(_("Right: two norms with a γ and a β of 768 numbers each."))
    if answer == one:
        return wrong(_("That is one norm. The block has two, each with numbers of its own."))
    if answer == 768:
        return wrong(_("768 numbers have γ alone. What else is trained, and how often?"))
    return wrong(_("Each norm has a γ and a β, each as long as a position's list."))


def dropout_in_eval(answer: int) -> Feedback:
    """Which option says what dropout does after `block.eval()`?"""
    with Seeded(0):
        block = Block(Config(vocab_size=1, context_length=4, width=8, heads=2, blocks=1, dropout=0.5)).eval()
        block_without = Block(Config(vocab_size=1, context_length=4, width=8, heads=2, blocks=1))
    block_without.load_state_dict(block.state_dict())
    x = torch.randn(1, 4, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float32)
    unchanged = torch.equal(block(x), block_without(x))
    if (answer == 1) == unchanged:
        return right(
            _("Right: nothing is dropped and nothing is scaled. The same text gives the same numbers.")
        )
    return wrong(_("Look at the two runs after block.eval(). Do they differ?"))


def contribution_beside_the_stream(answer: int) -> Feedback:
    """Which option is the length of a contribution beside the stream, in the shipped model on a story?"""
    shipped, _ids, seen = read()
    shares = []
    for block in range(shipped.model.config.blocks):
        for part, total in (("attn", "after_attention"), ("mlp", "after_mlp")):
            added, after = seen[f"blocks.{block}.{part}"], seen[f"blocks.{block}.{total}"]  # (1, T, D)
            shares.append(added.norm(dim=-1) / (after - added).norm(dim=-1))
    mean = float(torch.cat(shares).mean())
    if answer == nearest(RELATIVE, mean):
        return right(_("Right: on average a contribution is even longer than what it is added to."))
    return wrong(_("“Residual” sounds like little. But nothing in x + f(x) keeps f(x) small."))


def guess_ten_times() -> Guess:
    """What the small block makes of a list ten times as long."""
    return Guess(
        _("The example's block makes [2.7, 4.2] of x = [2, 5]. What does it make of x = [20, 50]?"),
        ten_times_the_input,
        kind="vector",
    )


def guess_second_sum() -> Guess:
    """What is lost when the second sum takes x."""
    return Guess(
        _(
            "Suppose the second sum took x instead of u: y′ = x + MLP(Norm₂(u)). What does y′ "
            "lack, compared with y?"
        ),
        what_is_missing,
        options=[
            _("Nothing: u is in the MLP's contribution anyway"),
            _("Attention's contribution"),
            _("The MLP's contribution"),
            _("The input x"),
        ],
    )


def guess_norm_parameters() -> Guess:
    """How many numbers the two norms of GPT-2 small's block have."""
    return Guess(
        _(
            "GPT-2 small has the width D = 768. How many trainable numbers have the two norms of "
            "one of its blocks together?"
        ),
        norm_parameters,
        kind="number",
    )


def guess_contribution() -> Guess:
    """How long a contribution is beside the stream."""
    return Guess(
        _(
            "A trained model reads a story. How long, on average, is what Attention or MLP contributes, "
            "compared with the stream it is added to?"
        ),
        contribution_beside_the_stream,
        options=[_("about a tenth"), _("about a half"), _("longer than the stream itself")],
    )


def guess_dropout() -> Guess:
    """What dropout does in eval mode."""
    return Guess(
        _(
            "You call block.eval() and send the same text through the block twice, with dropout "
            "= 0.5. What happens?"
        ),
        dropout_in_eval,
        options=[
            _("The two results differ a little"),
            _("The two results are equal: nothing is dropped"),
            _("The two results are equal: the same half is dropped both times"),
        ],
    )
