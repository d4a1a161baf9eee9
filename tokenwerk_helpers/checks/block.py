"""Checks of 06_block."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from .. import norm_placement
from ..apart import Seeded
from ..language import _
from ..model import Block, Config, residual
from . import story
from .feedback import Feedback, floats, gradients, nearest, right, wrong
from .running import Reader, close, named, tensor

RELATIVE = (0.1, 0.5, 1.5)  # the options of `contribution_beside_the_stream`


class SmallBlock(nn.Module):
    """The block of the example: D = 2, one position, weights small enough to follow by hand.

    With a single position Attention can only look at itself, with weight 1: it is one matrix. The MLP has a
    single hidden value, with ReLU. Both norms have gamma 1, beta 0.
    """

    def __init__(self):
        super().__init__()
        with Seeded(0):
            self.norm1 = nn.LayerNorm(2)
            self.attn = nn.Linear(2, 2, bias=False)
            self.norm2 = nn.LayerNorm(2)
            self.mlp = nn.Sequential(nn.Linear(2, 1, bias=False), nn.ReLU(), nn.Linear(1, 2, bias=False))
        with torch.no_grad():
            self.attn.weight.copy_(floats([[-0.3, 0.0], [0.0, -0.2]]))
            self.mlp[0].weight.copy_(floats([[-1.0, 1.0]]))
            self.mlp[2].weight.copy_(floats([[0.2], [-0.3]]))

    def forward(self, x: Tensor) -> Tensor:
        u = residual(x, self.attn(self.norm1(x)))  # (..., 2)
        return residual(u, self.mlp(self.norm2(u)))  # (..., 2)


# --- questions ---------------------------------------------------------------------------------------


@torch.no_grad()
def ten_times_the_input(answer: Sequence[float]) -> Feedback:
    """Is `answer` what the small block makes of [20, 50]?"""
    if len(answer) != 2:
        return wrong(_("The block gives back a list as long as the one it received: two numbers."))
    block, x = SmallBlock(), floats([20.0, 50.0])
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
    block, x = SmallBlock(), floats([2.0, 5.0])
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
        block = Block(Config(vocab_size=1, context=1, width=768, heads=12, blocks=1))
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
        block = Block(Config(vocab_size=1, context=4, width=8, heads=2, blocks=1, dropout=0.5)).eval()
        block_without = Block(Config(vocab_size=1, context=4, width=8, heads=2, blocks=1))
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
    shipped, _ids, seen = story.read()
    shares = []
    for block in range(shipped.model.config.blocks):
        for part, total in (("attn", "after_attention"), ("mlp", "after_mlp")):
            added, after = seen[f"blocks.{block}.{part}"], seen[f"blocks.{block}.{total}"]  # (1, T, D)
            shares.append(added.norm(dim=-1) / (after - added).norm(dim=-1))
    mean = float(torch.cat(shares).mean())
    if answer == nearest(RELATIVE, mean):
        return right(_("Right: on average a contribution is even longer than what it is added to."))
    return wrong(_("“Residual” sounds like little. But nothing in x + f(x) keeps f(x) small."))


@gradients()
def gradient_without_norm(answer: int) -> Feedback:
    """Which option tells how long the gradient in the last of 12 blocks is without any norm?"""
    without, behind = (norm_placement.gradients_at_start(norm, 12)[-1] for norm in ("none", "post"))
    truth = 0 if without < behind / 10 else 1 if without < 10 * behind else 2
    if answer == truth:
        return right(
            _("Right: without a norm nothing holds the stream back, and with it the gradient grows.")
        )
    if answer == 0:
        return wrong(_("The direct paths are there, so it does not vanish. What could happen instead?"))
    return wrong(_("So it would be if the contributions stayed as they are. But what holds them back?"))


def deep_and_fast(answer: int) -> Feedback:
    """Which option says what became of 12 blocks at learning rate 1e-3 without warm-up?"""
    curves = {norm: norm_placement.recorded()[norm_placement.Run(norm, 12, 1e-3)] for norm in ("pre", "post")}
    learned = {norm: norm_placement.has_learned(losses) for norm, losses in curves.items()}
    options = [
        learned["pre"] and learned["post"],
        learned["pre"] and not learned["post"],
        learned["post"] and not learned["pre"],
    ]
    if options[answer]:
        return right(_("Right, as recorded below. But look at 2 blocks too before you judge post-norm."))
    return wrong(_("Set the view below to 12 blocks and learning rate 0.001 and compare the curves."))


# --- the exercise ------------------------------------------------------------------------------------


def block_forward(function: Callable) -> Feedback:
    """Does `function(block, x)` compute u = x + Attention(Norm1(x)), y = u + MLP(Norm2(u))?

    block: a `Block`; x (B, T, D). Says which property is broken.
    """
    block, generator = _random_block(), torch.Generator().manual_seed(1)
    x = torch.randn(2, 5, 8, generator=generator, dtype=torch.float32)
    reader = Reader(function, {"block(x)": Block.forward})
    wanted = _("The block's output must be a tensor of the shape of x.")
    answer = tensor(reader(block, x), x.shape, wanted)
    if isinstance(answer, Feedback):
        return answer
    with torch.no_grad():
        if close(answer, block(x)):
            return reader.right(
                _(
                    "Right: u and y, each part on its own norm, and no later position has a say in an "
                    "earlier one."
                )
            )
        mistakes = {message: mistaken for mistaken, message in _mistakes(block, x)}
    later = x.clone()
    later[:, -1] += 1.0
    return wrong(named(answer, mistakes) or _unknown(answer, tensor(reader(block, later), x.shape, wanted)))


def _random_block() -> Block:
    """A block whose two norms differ, as after training."""
    with Seeded(0):
        block = Block(Config(vocab_size=1, context=5, width=8, heads=2, blocks=1))
        for norm in (block.norm1, block.norm2):
            nn.init.normal_(norm.weight, mean=1.0, std=0.5)
            nn.init.normal_(norm.bias, std=0.5)
    return block.eval()


def _unknown(answer: Tensor, moved: Tensor | Feedback) -> str:
    """What to say of a mistake without a name; `moved` is the answer when only the last position differs."""
    if isinstance(moved, Feedback):
        return moved.text
    if not close(moved[:, :-1], answer[:, :-1]):
        return _(
            "Positions leak: when the last position changes, earlier outputs change too. Only "
            "Attention may mix positions, under its causal mask."
        )
    return _("The result is not that of the two formulas. Compare your lines with them, symbol by symbol.")


def _mistakes(block: Block, x: Tensor):
    """Yield the output of each well-known mistake and what to say of it."""
    norm1, attn, norm2, mlp = block.norm1, block.attn, block.norm2, block.mlp
    u = x + attn(norm1(x))
    yield x + mlp(norm2(u)), _("The second sum takes x. But what Attention has added is in u.")
    yield u + mlp(norm2(x)), _("The MLP is to read u, the list with Attention's contribution, and not x.")
    yield u + mlp(norm1(u)), _("Norm₁ is used twice. Norm₂ has numbers of its own and stands before the MLP.")
    yield x + attn(norm2(x)) + mlp(norm1(x + attn(norm2(x)))), _("Norm₁ and Norm₂ have changed places.")
    post = norm1(x + attn(x))
    yield norm2(post + mlp(post)), _("The norm comes after the sum: that is post-norm, the order of 2017.")
    after = x + norm1(attn(x))
    yield after + norm2(mlp(after)), _("The norm comes after Attention and MLP. Here it stands before them.")
    bare = x + attn(x)
    yield bare + mlp(bare), _("No norm is used at all.")
    yield bare + mlp(norm2(bare)), _("Norm₁ is missing: Attention reads the bare x.")
    yield u + mlp(u), _("Norm₂ is missing: the MLP reads the bare u.")
    yield mlp(norm2(attn(norm1(x)))), _("Both direct paths are missing: nothing is added to what came in.")
    without = attn(norm1(x))
    yield (
        without + mlp(norm2(without)),
        _("The first direct path is missing: u is x plus Attention's contribution."),
    )
    yield mlp(norm2(u)), _("The second direct path is missing: y is u plus the MLP's contribution.")
    yield u, _("That is u. The MLP has not had its turn.")
    swapped = x + mlp(norm2(x))
    yield swapped + attn(norm1(swapped)), _("Attention comes first, then the MLP.")
    normed = norm1(x)
    normed = normed + attn(normed)
    yield normed + mlp(norm2(normed)), _("The direct path carries Norm₁(x). It has to carry x itself.")
    n2 = norm2(u)
    yield n2 + mlp(n2), _("The direct path carries Norm₂(u). It has to carry u itself.")
    open_attention = x + attn(norm1(x), torch.ones(x.shape[1], x.shape[1], dtype=torch.bool))
    yield (
        open_attention + mlp(norm2(open_attention)),
        _(
            "Positions leak: your Attention looks at later positions. Without a second argument it uses "
            "the causal mask."
        ),
    )
