"""Exercises of 06b_norm_placement: how what a reader writes is checked."""

import torch
from torch import nn

from ...apart import Seeded
from ...language import _
from ...live.attempt import Reader, close, tensor
from ...live.exercise import Exercise, Mistake, named
from ...live.feedback import Feedback, wrong
from ...model import Block, Config


def post_norm_forward(block, x):
    """The block of 2017: each sum is normalized. By the parts of the block: (B, T, D) -> (B, T, D)."""
    return ...


def post_norm_forward_solution(block, x):
    """Add what Attention makes of x and normalize the sum; then the same with the MLP."""
    u = block.norm1(x + block.attn(x))  # (B, T, D)
    y = block.norm2(u + block.mlp(u))  # (B, T, D)
    return y


def _check(reader: Reader) -> Feedback:
    """Does the function of block and x compute u = Norm1(x + Attention(x)), y = Norm2(u + MLP(u))?

    block: a `Block` with norm="post"; x (B, T, D).
    """
    block = _random_block()
    x = torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(1), dtype=torch.float32)
    wanted = _("The block's output must be a tensor of the shape of x.")
    answer = tensor(reader(block, x), x.shape, wanted)
    if isinstance(answer, Feedback):
        return answer
    with torch.no_grad():
        if close(answer, block(x)):
            return reader.right(_("Right: each sum is normalized, and the norm stands on the direct path."))
        known = named(answer, _mistakes(), block, x)
    unknown = _("The result is not the one in the post-norm column. Compare your lines with it.")
    return wrong(known or unknown)


def _random_block() -> Block:
    """A post-norm block whose two norms differ, as after training."""
    with Seeded(0):
        block = Block(Config(vocab_size=1, context_length=5, width=8, heads=2, blocks=1, norm="post"))
        for norm in (block.norm1, block.norm2):
            nn.init.normal_(norm.weight, mean=1.0, std=0.5)
            nn.init.normal_(norm.bias, std=0.5)
    return block.eval()


def _u(block: Block, x: torch.Tensor) -> torch.Tensor:
    return block.norm1(x + block.attn(x))


def _pre_norm(block: Block, x: torch.Tensor) -> torch.Tensor:
    u = x + block.attn(block.norm1(x))
    return u + block.mlp(block.norm2(u))


def _norm_before_the_sum(block: Block, x: torch.Tensor) -> torch.Tensor:
    u = x + block.norm1(block.attn(x))
    return u + block.norm2(block.mlp(u))


def _swapped(block: Block, x: torch.Tensor) -> torch.Tensor:
    u = block.norm2(x + block.attn(x))
    return block.norm1(u + block.mlp(u))


def _mistakes() -> list[Mistake]:
    return [
        Mistake("pre-norm", _pre_norm, _("That is pre-norm: the norm stands before each part.")),
        Mistake(
            "norm before the sum",
            _norm_before_the_sum,
            _("You normalize what is added. Post-norm normalizes the sum."),
        ),
        Mistake(
            "second sum takes x",
            lambda block, x: block.norm2(x + block.mlp(_u(block, x))),
            _("The second sum takes x. But what Attention has added is in u."),
        ),
        Mistake("norms swapped", _swapped, _("Norm₁ and Norm₂ have changed places.")),
        Mistake(
            "no second norm",
            lambda block, x: _u(block, x) + block.mlp(_u(block, x)),
            _("The second sum is not normalized."),
        ),
        Mistake(
            "no direct path",
            lambda block, x: block.norm2(block.mlp(block.norm1(block.attn(x)))),
            _("Both direct paths are missing: nothing is added to what came in."),
        ),
    ]


check_post_norm = Exercise(
    stub=post_norm_forward,
    solution=post_norm_forward_solution,
    check=_check,
    hints=lambda: [
        _("Take the two lines of 06 and ask of each norm: what does it read there, and what here?"),
        _("First the part, then the sum, then the norm, from the inside out; and all of it twice."),
    ],
    mistakes=_mistakes,
    borrowed=lambda: {"block(x)": Block.forward},
)
