"""The decoder of the chapter, from the mask to the logits: one file, read top to bottom.

Letters, here and in every shape that trails a line:
    B texts in a batch    T positions in a text    V entries of the vocabulary
    D width of a position's list    H heads    L blocks    D/H width of one head (d_k in the papers)

Values worth seeing pass through a module of their own (a tap), so that `trace.py` can read or replace them
with PyTorch's forward hooks, and nothing here has to know who is watching.
"""

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from numbers import Integral

import torch
from torch import Tensor, nn

ACTIVATIONS: dict[str, Callable[[], nn.Module]] = {
    "gelu": nn.GELU,
    "gelu_tanh": partial(nn.GELU, approximate="tanh"),
    "relu": nn.ReLU,
}
NORM_PLACEMENTS = ("pre", "post", "none")


def check_heads(width: int, heads: int) -> None:
    """ValueError if the heads cannot share the width equally, D/H components each."""
    if width % heads:
        raise ValueError(f"width {width} is not divisible by {heads} heads: no equal share for each head")


def one_of(name: str, value: str, choices: Collection[str]) -> str:
    """The value itself; ValueError, naming the choices, if it is not one of them."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, not {value!r}")
    return value


@dataclass(frozen=True)
class Config:
    """Everything that shapes a decoder; ValueError where the values cannot make one."""

    vocab_size: int  # V: rows of the token table, and logits per position
    context_length: int  # rows of the position table: the longest text the model can read at once
    width: int  # D: numbers per position, the same from the first block to the last so that residuals can add
    heads: int  # H: each works on D/H components, so more heads cost no more parameters
    blocks: int  # L
    dropout: float = 0.0  # share of values zeroed in training; 0 for runs too short to overfit
    norm: str = "pre"  # GPT-2 normalizes before each part; "post" is the 2017 order; "none" is for comparison
    activation: str = "gelu"  # exact; GPT-2's weights expect "gelu_tanh"; "relu" is the 2017 choice
    bias: bool = True  # in linear layers and LayerNorms, as in GPT-2
    tie_head: bool = True  # the head reads with the table that writes: V D parameters fewer

    def __post_init__(self):
        for name in ("vocab_size", "context_length", "width", "heads", "blocks"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, not {value!r}")
            object.__setattr__(self, name, int(value))  # NumPy's whole numbers too can then be stored as JSON
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be in [0, 1), not {self.dropout!r}")
        one_of("norm", self.norm, NORM_PLACEMENTS)
        one_of("activation", self.activation, ACTIVATIONS)
        check_heads(self.width, self.heads)


# --- attention: who may look, how much, and what comes back ---------------------------------------


def causal_mask(T: int, device: torch.device | None = None) -> Tensor:
    """Who may look at whom when no position may see a later one: (T, T), boolean, True = may look."""
    return torch.ones(T, T, dtype=torch.bool, device=device).tril()


def scaled_dot_product(q: Tensor, k: Tensor) -> Tensor:
    """How well each query fits each key: q k^T / sqrt(d_k), (..., T, D/H) twice -> scores (..., T, T).

    Divided by the root of the *head's* width: a sum of d_k products spreads like sqrt(d_k), and softmax of
    widely spread scores is all but one-hot, with hardly a gradient to learn from (Vaswani et al. 2017).
    """
    # q is divided, not the product: the same scores for less work wherever T is larger than D/H.
    return (q / math.sqrt(q.shape[-1])) @ k.transpose(-2, -1)


def additive_mask(allowed: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """The matrix M that hides when added to scores: 0 where allowed, -inf elsewhere. Shape as `allowed`.

    TypeError unless `allowed` is boolean.
    """
    if allowed.dtype != torch.bool:
        raise TypeError(
            f"allowed must be boolean (True = may look), not {allowed.dtype}: added to the scores, "
            "a float mask of 0 and 1 hides nothing and leaks what it should hide; pass allowed.bool()"
        )
    return torch.zeros_like(allowed, dtype=dtype).masked_fill(~allowed, -math.inf)


def hide(scores: Tensor, allowed: Tensor | None) -> Tensor:
    """Lower every score that is not allowed to -inf, leave the others as they are; None hides nothing.

    scores (..., T, T), allowed boolean and broadcastable to it; ValueError for a shape that does not fit.
    """
    if allowed is None:
        return scores
    fits = all(a in (1, s) for a, s in zip(allowed.shape[::-1], scores.shape[::-1]))
    if not fits or allowed.dim() > scores.dim():
        raise ValueError(
            f"allowed {tuple(allowed.shape)} does not fit scores {tuple(scores.shape)}: "
            "its dimensions must be 1 or equal, read from the right; a mask per text is (B, 1, T, T)"
        )
    return scores + additive_mask(allowed, scores.dtype)


def softmax(masked_scores: Tensor) -> Tensor:
    """Turn each row of scores into weights that sum to 1; -inf becomes exactly 0. Shape stays (..., T, T).

    A row with nothing but -inf has no such weights (0/0): it becomes a row of zeros, with zero gradient.
    """
    weights = masked_scores.softmax(dim=-1)
    if weights[..., :1].isnan().any():  # rare: only then look for the empty rows
        empty = (masked_scores == -math.inf).all(dim=-1, keepdim=True)  # (..., T, 1)
        # Filled before softmax too: on the way back, NaN times zero would be NaN.
        weights = masked_scores.masked_fill(empty, 0.0).softmax(dim=-1).masked_fill(empty, 0.0)
    return weights


def attention(q: Tensor, k: Tensor, v: Tensor, allowed: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Mix the values by how well their keys fit each query: softmax(q k^T / sqrt(d_k) + M) v.

    q, k, v (..., T, D/H) -> context (..., T, D/H), weights (..., T, T). `allowed` as in `hide`; None lets
    every position look everywhere. Vaswani et al. 2017, equation 1.
    """
    weights = softmax(hide(scaled_dot_product(q, k), allowed))
    return weights @ v, weights


def split_heads(x: Tensor, heads: int) -> Tensor:
    """Give each head its own D/H components: (B, T, D) -> (B, H, T, D/H)."""
    return x.unflatten(2, (heads, x.shape[2] // heads)).transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    """Lay the heads' components side by side again: (B, H, T, D/H) -> (B, T, D)."""
    # Without the transpose the shape would be right too, and the positions scrambled.
    return x.transpose(1, 2).flatten(2)


class CausalSelfAttention(nn.Module):
    """Each position gathers from itself and earlier ones, several heads at once: (B, T, D) -> (B, T, D)."""

    def __init__(self, width: int, heads: int, dropout: float = 0.0, bias: bool = True):
        super().__init__()
        check_heads(width, heads)
        self.heads = heads
        self.q = nn.Linear(width, width, bias=bias)
        self.k = nn.Linear(width, width, bias=bias)
        self.v = nn.Linear(width, width, bias=bias)
        self.out = nn.Linear(width, width, bias=bias)
        self.weights_dropout = nn.Dropout(dropout)
        self.dropout = nn.Dropout(dropout)
        # Taps: `attention` in its steps, the weights as they are before dropout.
        self.scores, self.masked_scores, self.weights, self.context = (nn.Identity() for _ in range(4))

    def forward(self, x: Tensor, allowed: Tensor | None = None) -> Tensor:
        """Attend under the causal mask, or under `allowed`, boolean and broadcastable to (B, H, T, T)."""
        if allowed is None:
            allowed = causal_mask(x.shape[1], device=x.device)
        q = split_heads(self.q(x), self.heads)  # (B, H, T, D/H)
        k = split_heads(self.k(x), self.heads)  # (B, H, T, D/H)
        v = split_heads(self.v(x), self.heads)  # (B, H, T, D/H)
        scores = self.scores(scaled_dot_product(q, k))  # (B, H, T, T)
        masked_scores = self.masked_scores(hide(scores, allowed))  # (B, H, T, T)
        weights = self.weights(softmax(masked_scores))  # (B, H, T, T)
        context = self.context(self.weights_dropout(weights) @ v)  # (B, H, T, D/H)
        return self.dropout(self.out(merge_heads(context)))  # (B, T, D)


# --- the MLP, the residual, the block -------------------------------------------------------------


class MLP(nn.Module):
    """The same small net at each position, W2 activation(W1 x + b1) + b2: (B, T, D) -> (B, T, D)."""

    def __init__(
        self,
        width: int,
        hidden: int | None = None,  # 4D unless said otherwise
        activation: str = "gelu",
        dropout: float = 0.0,
        bias: bool = True,
    ):
        super().__init__()
        hidden = 4 * width if hidden is None else hidden
        self.up = nn.Linear(width, hidden, bias=bias)
        self.activation = ACTIVATIONS[one_of("activation", activation, ACTIVATIONS)]()
        self.down = nn.Linear(hidden, width, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.activation(self.up(x))  # (B, T, 4D)
        return self.dropout(self.down(hidden))  # (B, T, D)


def residual(x: Tensor, fx: Tensor) -> Tensor:
    """x + f(x); ValueError if the shapes differ, even where broadcasting would quietly make them fit."""
    if x.shape != fx.shape:
        raise ValueError(f"x + f(x) needs equal shapes: x is {tuple(x.shape)}, f(x) is {tuple(fx.shape)}")
    return x + fx


class Residual(nn.Module):
    """`residual` as a tap: hooks see the direct path and the contribution go in, and the sum come out."""

    def forward(self, x: Tensor, fx: Tensor) -> Tensor:
        return residual(x, fx)


def layer_norm(config: Config) -> nn.Module:
    """A LayerNorm over the D components of each position; with norm="none" a module that does nothing."""
    return nn.Identity() if config.norm == "none" else nn.LayerNorm(config.width, bias=config.bias)


class Block(nn.Module):
    """Attention, then MLP, each added to what came in: (B, T, D) -> (B, T, D).

    norm="pre":   u = x + Attention(Norm1(x))    y = u + MLP(Norm2(u))     GPT-2; Xiong et al. 2020
    norm="post":  u = Norm1(x + Attention(x))    y = Norm2(u + MLP(u))     Vaswani et al. 2017
    norm="none":  u = x + Attention(x)           y = u + MLP(u)

    The taps `after_attention` and `after_mlp` are the sums; with "post" the norms come after them.
    """

    def __init__(self, config: Config):
        super().__init__()
        self.norm = config.norm
        self.norm1 = layer_norm(config)
        self.attn = CausalSelfAttention(config.width, config.heads, config.dropout, config.bias)
        self.after_attention = Residual()
        self.norm2 = layer_norm(config)
        self.mlp = MLP(config.width, None, config.activation, config.dropout, config.bias)
        self.after_mlp = Residual()

    def forward(self, x: Tensor, allowed: Tensor | None = None) -> Tensor:
        if self.norm == "post":
            u = self.norm1(self.after_attention(x, self.attn(x, allowed)))
            return self.norm2(self.after_mlp(u, self.mlp(u)))
        # With "none", the two norms do nothing.
        u = self.after_attention(x, self.attn(self.norm1(x), allowed))
        return self.after_mlp(u, self.mlp(self.norm2(u)))


# --- the whole decoder ----------------------------------------------------------------------------


class Decoder(nn.Module):
    """Token ids in, one logit per vocabulary entry and position out: (B, T) -> (B, T, V)."""

    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.token_embedding = nn.Embedding(config.vocab_size, config.width)
        self.position_embedding = nn.Embedding(config.context_length, config.width)
        self.dropout = nn.Dropout(config.dropout)
        self.embedded = nn.Identity()  # tap: what enters the first block
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.blocks))
        # A post-norm block has just normalized its output.
        self.final_norm = nn.Identity() if config.norm == "post" else layer_norm(config)
        self.head = nn.Linear(config.width, config.vocab_size, bias=False)
        self._initialize()
        if config.tie_head:
            self.head.weight = self.token_embedding.weight

    def _initialize(self) -> None:
        for module in self.modules():
            if isinstance(module, nn.Linear):
                # The spread of what comes out is then the spread of what went in.
                nn.init.normal_(module.weight, std=module.in_features**-0.5)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
            elif isinstance(module, nn.Embedding):
                # GPT-2 draws with 0.02; in a model this narrow, copying is then learned much later.
                nn.init.normal_(module.weight, std=0.1)
        for block in self.modules():
            if isinstance(block, Block):
                # 2L contributions add up: scaled down, their sum spreads like one (Radford et al. 2019).
                for last in (block.attn.out, block.mlp.down):
                    nn.init.normal_(last.weight, std=(last.in_features * 2 * self.config.blocks) ** -0.5)

    def forward(self, ids: Tensor, allowed: Tensor | None = None) -> Tensor:
        """The logits of the next token at each position, under the causal mask or under `allowed`.

        ValueError if there are more ids than position rows, IndexError for an id without a row in the table.
        """
        self._check(ids)
        if allowed is None:
            allowed = causal_mask(ids.shape[1], device=ids.device)  # (T, T), once for all blocks
        positions = torch.arange(ids.shape[1], device=ids.device)  # (T,)
        x = self.token_embedding(ids) + self.position_embedding(positions)  # (B, T, D) + (T, D)
        x = self.embedded(self.dropout(x))
        for block in self.blocks:
            x = block(x, allowed)
        return self.head(self.final_norm(x))  # (B, T, V)

    def _check(self, ids: Tensor) -> None:
        V, rows = self.config.vocab_size, self.config.context_length
        if ids.dim() != 2:
            raise ValueError(f"ids must be (B, T), not {tuple(ids.shape)}: a single text is ids[None]")
        last = ids.shape[1] - 1
        if last >= rows:
            raise ValueError(
                f"no position row for position {last}: the table ends at {rows - 1}; "
                f"keep the last {rows} ids and number them anew"
            )
        outside = (ids < 0) | (ids >= V)
        if outside.any():
            raise IndexError(f"no token row for id {ids[outside][0]}: the vocabulary's ids are 0 to {V - 1}")
