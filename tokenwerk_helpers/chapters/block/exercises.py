"""Exercises of 06_block: how what a reader writes is checked."""

import torch
from torch import Tensor, nn

from ...apart import Seeded
from ...language import _
from ...live.attempt import Reader, close, tensor
from ...live.exercise import Exercise, Mistake, named
from ...live.feedback import Feedback, wrong
from ...model import Block, Config


def block_forward(block, x):
    """y = u + MLP(Norm2(u)) with u = x + Attention(Norm1(x)), by the parts of the block: (B, T, D)."""
    return ...


def block_forward_solution(block, x):
    """Attention adds what it has found, then the MLP what it makes of that."""
    u = x + block.attn(block.norm1(x))  # (B, T, D)
    y = u + block.mlp(block.norm2(u))  # (B, T, D)
    return y


def _check(reader: Reader) -> Feedback:
    """Does the function of block and x compute u = x + Attention(Norm1(x)), y = u + MLP(Norm2(u))?

    block: a `Block`; x (B, T, D). Says which property is broken.
    """
    block, generator = _random_block(), torch.Generator().manual_seed(1)
    x = torch.randn(2, 5, 8, generator=generator, dtype=torch.float32)
    wanted = _("The block's output must be a tensor of the shape of x.")
    answer = tensor(reader(block, x), x.shape, wanted)
    if isinstance(answer, Feedback):
        return answer
    with torch.no_grad():
        if close(answer, block(x)):
            return reader.right(
                _(
                    "Right: u and y, each part with its own norm, and no later position affects an "
                    "earlier one."
                )
            )
        known = named(answer, _mistakes(), block, x)
    later = x.clone()
    later[:, -1] += 1.0
    return wrong(known or _unknown(answer, tensor(reader(block, later), x.shape, wanted)))


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


def _u(block: Block, x: Tensor) -> Tensor:
    return x + block.attn(block.norm1(x))


def _both_sums(first, second):
    """A function of block and x: y = second(block, u) with u = first(block, x)."""
    return lambda block, x: second(block, first(block, x))


def _mistakes() -> list[Mistake]:
    return [*_other_inputs(), *_other_norms(), *_other_sums(), *_other_orders()]


def _other_inputs() -> list[Mistake]:
    return [
        Mistake(
            "second sum takes x",
            lambda block, x: x + block.mlp(block.norm2(_u(block, x))),
            _("The second sum takes x. But what Attention has added is in u."),
        ),
        Mistake(
            "MLP reads x",
            lambda block, x: _u(block, x) + block.mlp(block.norm2(x)),
            _("The MLP should read u, the list that already holds Attention's contribution, and not x."),
        ),
    ]


def _other_norms() -> list[Mistake]:
    def swapped(block, x):
        u = x + block.attn(block.norm2(x))
        return u + block.mlp(block.norm1(u))

    return [
        Mistake(
            "norm1 twice",
            _both_sums(_u, lambda block, u: u + block.mlp(block.norm1(u))),
            _("Norm₁ is used twice. Norm₂ has numbers of its own and comes before the MLP."),
        ),
        Mistake("norms swapped", swapped, _("Norm₁ and Norm₂ have changed places.")),
        Mistake(
            "post-norm",
            _both_sums(
                lambda block, x: block.norm1(x + block.attn(x)),
                lambda block, u: block.norm2(u + block.mlp(u)),
            ),
            _("The norm comes after the sum: that is post-norm, the order of 2017."),
        ),
        Mistake(
            "norm after the part",
            _both_sums(
                lambda block, x: x + block.norm1(block.attn(x)),
                lambda block, u: u + block.norm2(block.mlp(u)),
            ),
            _("The norm comes after Attention and the MLP. Here it belongs before them."),
        ),
        Mistake(
            "no norm",
            _both_sums(lambda block, x: x + block.attn(x), lambda block, u: u + block.mlp(u)),
            _("No norm is used at all."),
        ),
        Mistake(
            "no norm1",
            _both_sums(lambda block, x: x + block.attn(x), lambda block, u: u + block.mlp(block.norm2(u))),
            _("Norm₁ is missing: Attention reads the bare x."),
        ),
        Mistake(
            "no norm2",
            _both_sums(_u, lambda block, u: u + block.mlp(u)),
            _("Norm₂ is missing: the MLP reads the bare u."),
        ),
    ]


def _other_sums() -> list[Mistake]:
    def normed_first(block, x):
        x = block.norm1(x)
        return x + block.attn(x)

    def normed_second(block, u):
        u = block.norm2(u)
        return u + block.mlp(u)

    return [
        Mistake(
            "no direct path",
            lambda block, x: block.mlp(block.norm2(block.attn(block.norm1(x)))),
            _("Both direct paths are missing: nothing is added to what came in."),
        ),
        Mistake(
            "no first direct path",
            _both_sums(
                lambda block, x: block.attn(block.norm1(x)), lambda block, u: u + block.mlp(block.norm2(u))
            ),
            _("The first direct path is missing: u is x plus Attention's contribution."),
        ),
        Mistake(
            "no second direct path",
            _both_sums(_u, lambda block, u: block.mlp(block.norm2(u))),
            _("The second direct path is missing: y is u plus the MLP's contribution."),
        ),
        Mistake(
            "direct path carries norm1",
            _both_sums(normed_first, lambda block, u: u + block.mlp(block.norm2(u))),
            _("The direct path carries Norm₁(x). It has to carry x itself."),
        ),
        Mistake(
            "direct path carries norm2",
            _both_sums(_u, normed_second),
            _("The direct path carries Norm₂(u). It has to carry u itself."),
        ),
    ]


def _other_orders() -> list[Mistake]:
    def unmasked(block, x):
        everywhere = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool)
        return x + block.attn(block.norm1(x), everywhere)

    return [
        Mistake("no MLP", _u, _("That is u. The MLP has not had its turn yet.")),
        Mistake(
            "MLP first",
            _both_sums(lambda block, x: x + block.mlp(block.norm2(x)), _u),
            _("Attention comes first, then the MLP."),
        ),
        Mistake(
            "no mask",
            _both_sums(unmasked, lambda block, u: u + block.mlp(block.norm2(u))),
            _(
                "Positions leak: your Attention looks at later positions. Without a second argument it uses "
                "the causal mask."
            ),
        ),
    ]


check_block_forward = Exercise(
    stub=block_forward,
    solution=block_forward_solution,
    check=_check,
    hints=lambda: [
        _("Two formulas, two lines. The first one makes u. Where does the second one need it?"),
        _(
            "Read each formula from the inside: first the norm, then the part, then the sum. The parts are "
            "block.norm1, block.attn, block.norm2 and block.mlp; each is called like a function."
        ),
    ],
    mistakes=_mistakes,
    borrowed=lambda: {"block(x)": Block.forward},
)
