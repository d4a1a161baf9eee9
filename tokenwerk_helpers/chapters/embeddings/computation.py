"""What 07_embeddings computes: settings in, arrays out."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ... import corpus, sampling
from ...apart import Seeded
from ...language import _
from ...model import CausalSelfAttention, Config, Decoder
from ...pretrained import load
from ...tokenizer import Tokenizer, label, learn
from ...trace import trace

# ---- byte pair encoding, merge by merge ----


@dataclass(frozen=True)
class Split:
    """A text as a tokenizer that knows the first `merges` merges splits it."""

    text: str
    merges: int
    pieces: list[str]  # printable labels
    byte_count: int
    newest: tuple[str, str] | None  # the merge learned last
    uses_newest: list[bool]  # per piece: is it what the newest merge makes?


def split_with(tokenizer: Tokenizer, text: str, merges: int) -> Split:
    """Encode the text with the first `merges` merges of the tokenizer."""
    young = Tokenizer(tokenizer.merges[:merges], pattern=tokenizer.pattern)
    ids = young.encode(text)
    newest = tokenizer.merges[merges - 1] if merges else None
    made = b"".join(newest) if newest else None
    return Split(
        text, merges, young.labels(ids), len(text.encode("utf-8", "replace")),
        (label(newest[0]), label(newest[1])) if newest else None,
        [young.tokens[id] == made for id in ids],
    )  # fmt: skip


def unseen_text() -> str:
    """A text with characters that the tokenizer has never seen."""
    # Translators: a word with a letter that not every language has, and an emoji
    return _("naïve 🦆")


def words_to_merge() -> dict[str, int]:
    """Three words alike to each other, and how often each occurs in the example of a first merge."""
    # Translators: three words: the first two differ in one letter, the last two in all but the first two
    first, second, third = _("hare mare mast").split()
    return {first: 5, second: 3, third: 2}


def first_merge(words: Mapping[str, int]) -> tuple[str, str]:
    """The pair that is merged first; words: word -> how often it occurs."""
    first = next(learn(words))
    return first.left.decode(), first.right.decode()


# ---- who stands beside whom in the token table ----

KINDS = ("animal", "animals", "thing", "name", "spell")
NOUNS = ("animal", "thing")  # one of them, so that its gender shows


class Word(NamedTuple):
    """A word of the stories that is one token, with its kind and, for a noun in the singular, its gender."""

    text: str
    id: int
    kind: str
    gender: str = ""


def known_words(tokenizer: Tokenizer) -> list[Word]:
    """The animals, things, names and spell words of the grammar that are a single token inside a text."""
    words = corpus.grammar().words
    candidates = [
        *((noun.word, "animal", noun.gender) for noun in words["animal"]),
        *((noun.plural, "animals", "") for noun in words["animal"]),
        *((noun.word, "thing", noun.gender) for noun in words["thing"]),
        *((name, "name", "") for name in words["name"]),
        *((word, "spell", "") for word in words["spell"]),
    ]
    encoded = [(text, tokenizer.encode(f" {text}"), kind, gender) for text, kind, gender in candidates]
    return [Word(text, ids[0], kind, gender) for text, ids, kind, gender in encoded if len(ids) == 1]


def principal_axes(rows: Tensor) -> tuple[Tensor, Tensor]:
    """The mean of the rows and the two directions in which they differ most: (N, D) -> (D,), (D, 2).

    Principal component analysis: the first right singular vectors of the centred rows. Each axis points to
    where the row that lies farthest out has a positive coordinate.
    """
    mean = rows.mean(dim=0)
    _u, _s, directions = torch.linalg.svd(rows - mean, full_matrices=False)
    axes = directions[:2].T  # (D, 2)
    places = (rows - mean) @ axes  # (N, 2)
    farthest = places.gather(0, places.abs().argmax(dim=0, keepdim=True))[0]  # (2,)
    return mean, axes * farthest.sign()


def nearest(table: Tensor, row: int, count: int) -> list[tuple[int, float]]:
    """The rows most alike to one row (cosine), best first, without itself: (N, D) -> `count` pairs."""
    alike = likeness(table, row)
    alike[row] = -torch.inf
    best = alike.topk(count)
    return list(zip(best.indices.tolist(), best.values.tolist()))


@dataclass(frozen=True)
class Neighbourhood:
    """A word, its nearest, and the place of every word on the map, at one step of the training."""

    step: int
    words: list[Word]
    places: np.ndarray  # (N, 2)
    shown: np.ndarray  # (N,) boolean: is the word on the map?
    chosen: int
    nearest: list[tuple[int, float]]
    reach: float  # how far out any of the shown words lies at any step
    spread: float  # how much of all differences between the shown words the two axes show


class WordMap:
    """The words of the stories at every step of the training, on axes that hold still."""

    def __init__(self, words: list[Word], tables: Mapping[int, Tensor]):
        ids = [word.id for word in words]
        self.words = words
        self.tables = {step: table.detach()[ids].float() for step, table in tables.items()}  # (N, D) each
        self._map = cache(self._map_of)  # of two choices of kinds

    def around(self, chosen: int, step: int, kinds: tuple[str, ...], count: int) -> Neighbourhood:
        """One word and those nearest to it among all words, with the map of these kinds."""
        shown, places, reach = self._map(kinds)
        table, places = self.tables[step], places[step]
        total = table[shown].var(dim=0, correction=0).sum()
        spread = places[shown].var(dim=0, correction=0).sum() / total
        return Neighbourhood(
            step, self.words, places.numpy(), shown.numpy(), chosen, nearest(table, chosen, count),
            reach, spread.item(),
        )  # fmt: skip

    def _map_of(self, kinds: tuple[str, ...]) -> tuple[Tensor, dict[int, Tensor], float]:
        """Which words are shown, where all lie at each step, and how far out a shown one lies at most.

        On the principal axes that the shown words have at the end of the training: (N,), (N, 2) a step.
        """
        shown = torch.tensor([word.kind in kinds for word in self.words])
        mean, axes = principal_axes(self.tables[max(self.tables)][shown])
        places = {step: (table - mean) @ axes for step, table in self.tables.items()}
        return shown, places, max(place[shown].abs().max().item() for place in places.values())


def kinds_of_nearest(text: str, count: int = 5) -> set[tuple[str, str]]:
    """Kind and gender of the words nearest to this one in the shipped model's table."""
    shipped = load()
    words = known_words(shipped.tokenizer)
    table = shipped.model.token_embedding.weight.detach()[[word.id for word in words]]  # (N, D)
    chosen = next(place for place, word in enumerate(words) if word.text == text)
    return {(words[i].kind, words[i].gender) for i, _alike in nearest(table, chosen, count)}


# ---- two tables of positions ----


def sine_table(T: int, D: int) -> Tensor:
    """The fixed position codes of 2017: row t, pair i holds sin and cos of t / 10000^(2i/D).  # (T, D)

    Vaswani et al. 2017, section 3.5. ValueError for an odd width.
    """
    if D % 2:
        raise ValueError(f"the codes come in pairs of sine and cosine: width {D} is odd")
    t = torch.arange(T, dtype=torch.float64)[:, None]
    rates = 10000.0 ** (-torch.arange(0, D, 2, dtype=torch.float64) / D)
    table = torch.empty(T, D, dtype=torch.float64)
    table[:, 0::2] = torch.sin(t * rates)
    table[:, 1::2] = torch.cos(t * rates)
    return table.float()


def likeness(table: Tensor, position: int) -> Tensor:
    """How alike each row is to that of one position (cosine): (T, D) -> (T,)."""
    return torch.cosine_similarity(table, table[position : position + 1], dim=-1)


def as_alike(pair: tuple[int, int], others: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Which of other pairs of positions comes closest to `pair` in how alike their sine codes are."""
    table = sine_table(64, 64)
    alike = likeness(table, pair[0])[pair[1]]
    return min(others, key=lambda other: abs(likeness(table, other[0])[other[1]] - alike))


@dataclass(frozen=True)
class Compared:
    """A table of positions, and how alike its rows are to one of them (cosine)."""

    kind: str
    table: np.ndarray  # (T, D)
    position: int
    likeness: np.ndarray  # (T,)


def compared(kind: str, table: Tensor, position: int) -> Compared:
    """Compare all rows of a table with that of one position."""
    return Compared(kind, table.numpy(), position, likeness(table, position).numpy())


def most_alike(found: Compared) -> list[int]:
    """The other positions whose rows are most like the chosen one's; more than one if equally so."""
    others = np.delete(np.arange(len(found.likeness)), found.position)
    alike = found.likeness[others]
    # Two sine codes at the same distance differ by rounding alone.
    return others[np.isclose(alike, alike.max(), rtol=0, atol=1e-5)].tolist()


# ---- the window slides and is numbered anew ----


@dataclass(frozen=True)
class Window:
    """The text so far and the part of it that the model can read."""

    tokens: list[str]
    first: int  # index of the first token in the window
    context: int


def window(tokens: list[str], length: int, context: int) -> Window:
    """The first `length` tokens of a text, of which the last `context` are in the window."""
    so_far = tokens[:length]
    kept = sampling.window(list(range(len(so_far))), context)
    return Window(so_far, kept[0], context)


# ---- what the first block receives ----


def added(token: list[float], position: list[float]) -> list[float]:
    """What the first block receives of a token's list and a position's: their sum, component by component."""
    return [what + where for what, where in zip(token, position, strict=True)]


def small_decoder(context: int) -> Decoder:
    """An untrained decoder with a table of `context` positions, for any of the first ten ids."""
    with Seeded(0):
        return Decoder(Config(vocab_size=10, context_length=context, width=4, heads=1, blocks=1))


def beyond_the_table() -> str:
    """What a decoder finds for a position beyond its table: "a row", or nothing, and so it is "refused"."""
    try:
        small_decoder(context=4)(torch.zeros(1, 5, dtype=torch.long))
    except ValueError:
        return "refused"
    return "a row"


def renumbered(context: int) -> int:
    """For how many of the tokens that stay the first block's list changes as a full window slides by one.

    context: below 10, as `small_decoder` knows no more ids.
    """
    decoder, text = small_decoder(context), list(range(context + 1))
    windows = (sampling.window(so_far, context) for so_far in (text[:-1], text))
    before, after = (
        dict(zip(ids, trace(decoder, torch.tensor([ids]))["embedded"][0])) for ids in windows
    )  # id -> (D,)
    return sum(not torch.equal(before[id], after[id]) for id in before.keys() & after.keys())


@torch.no_grad()
def different_lists_without_order() -> int:
    """How many lists attention without mask and positions makes of three tokens in two orders."""
    with Seeded(0) as apart:
        layer = CausalSelfAttention(8, 2)
        x = torch.randn(1, 3, 8, generator=apart.generator, dtype=torch.float32)
    everywhere = torch.ones(3, 3, dtype=torch.bool)
    made = torch.cat([layer(order, everywhere)[0] for order in (x, x.flip(1))])  # (2T, D)
    return len(made.detach().mul(1e4).round().unique(dim=0))
