"""Exercises of 06_block: how what a reader writes is checked."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from ...apart import Seeded
from ...language import _
from ...live.exercise import Reader, close, named, tensor
from ...live.feedback import Feedback, wrong
from ...model import Block, Config


def check_block_forward(function: Callable) -> Feedback:
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
        block = Block(Config(vocab_size=1, context_length=5, width=8, heads=2, blocks=1))
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
