"""Text <-> ids: byte pair encoding on the bytes of UTF-8, small enough to read.

A text is split into words, a word into its bytes, and neighbouring pieces are merged in the order in which
the merges were learned. Every byte is a token of its own, so there is no unknown text: what was never seen
falls apart into bytes.

Sources: Gage 1994 (the compression), Sennrich et al. 2016 (merging inside words), Radford et al. 2019 (on
bytes).
"""

import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from operator import index
from pathlib import Path
from typing import NamedTuple

from .characters import visible

BYTES = tuple(bytes([value]) for value in range(256))
START, END = "<|start|>", "<|end|>"

# What is cut out as one word, before any merge. \p{L} is a letter, \p{N} a number; the space belongs to the
# word after it. Ours: every mark and every newline stands alone, so that „, ! and “ are tokens of their own.
WORDS = r" ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]|\n|[^\S\n]+(?!\S)|[^\S\n]+"
# GPT-2's: English endings apart, marks in runs.
GPT2_WORDS = r"'(?:s|t|re|ve|m|ll|d)| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


class _Kinds(dict):
    """Code point -> an ASCII character of its kind (letter, number, space, mark), for `str.translate`."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character.isascii():
            kind = character
        elif character.isspace():
            kind = "\t"
        else:
            kind = {"L": "x", "N": "0"}.get(unicodedata.category(character)[0], "!")
        self[code] = kind
        return kind


_KINDS = _Kinds()


@lru_cache
def _compiled(pattern: str) -> re.Pattern:
    return re.compile(pattern.replace(r"\p{L}", "A-Za-z").replace(r"\p{N}", "0-9"), re.ASCII)


def split(text: str, pattern: str = WORDS) -> list[str]:
    """Split a text into words, marks and white space; joined again they are the text.

    Python's `re` does not know \\p{L}, so the pattern runs on a shadow of the text, in which every character
    outside ASCII is replaced by an ASCII character of its kind: same length, same cuts. The kinds come from
    Python's `unicodedata`; a letter younger than its tables counts as a mark.
    """
    shadow = text.translate(_KINDS)
    return [text[match.start() : match.end()] for match in _compiled(pattern).finditer(shadow)]


def spell(word: str) -> list[bytes]:
    """The UTF-8 bytes of a word, one by one; half an emoji (a lone surrogate) is no text and becomes "?"."""
    return [BYTES[value] for value in word.encode("utf-8", "replace")]


class Merge(NamedTuple):
    """A learned merge: two pieces that become one, and how often they stood side by side at that moment."""

    left: bytes
    right: bytes
    count: int  # type: ignore[assignment]  # hides tuple.count, which nobody asks a merge


def merged(pieces: list[bytes], left: bytes, right: bytes) -> list[bytes]:
    """The pieces with every `left`, `right` side by side made one, from left to right."""
    result, at = [], 0
    while at < len(pieces):
        if pieces[at : at + 2] == [left, right]:
            result.append(left + right)
            at += 2
        else:
            result.append(pieces[at])
            at += 1
    return result


def learn(words: Mapping[str, int]) -> Iterator[Merge]:
    """Yield merge after merge, the most frequent pair of neighbours first, until every word is one piece.

    words: word -> how often it occurs. Pairs are counted inside words only. Of pairs equally frequent the one
    whose left token is older is merged first, then the one whose right token is older (bytes by value, then
    by the order of their making): the result does not depend on the order of the words.
    """
    pieces = {word: spell(word) for word in words}
    counts: Counter[tuple[bytes, bytes]] = Counter()
    homes: defaultdict[tuple[bytes, bytes], set[str]] = defaultdict(set)  # the words that hold a pair
    age = {byte: value for value, byte in enumerate(BYTES)}

    def count(word: str, number: int) -> None:
        for pair in pairwise(pieces[word]):
            counts[pair] += number
            homes[pair].add(word)
            if not counts[pair]:
                del counts[pair]

    for word, number in words.items():
        count(word, number)
    while counts:
        pair = min(counts, key=lambda pair: (-counts[pair], age[pair[0]], age[pair[1]]))
        left, right = pair
        age.setdefault(left + right, len(age))
        yield Merge(left, right, counts[pair])
        for word in homes.pop(pair):
            count(word, -words[word])
            pieces[word] = merged(pieces[word], left, right)
            count(word, words[word])


class Step(NamedTuple):
    """The pieces of a word, and the merge that led to them (None at the start: single bytes)."""

    pieces: list[bytes]
    merge: tuple[bytes, bytes] | None


class Tokenizer:
    """Text to ids and back, exactly. `len(tokenizer)` is the size of the vocabulary.

    Ids 0 to 255 are the bytes, then come `start` and `end`, then the merges in the order of their learning (a
    loaded tokenizer keeps the ids of its file). `start` and `end` frame a text for the model; `encode` never
    yields them, not even if somebody types "<|end|>".
    """

    def __init__(
        self,
        merges: Iterable[tuple[bytes, bytes]],
        tokens: list[bytes] | None = None,
        special: Mapping[int, str] | None = None,
        pattern: str = WORDS,
    ):
        self.merges = [(left, right) for left, right, *_ in merges]
        self.tokens = tokens or _vocabulary(self.merges)  # id -> bytes, b"" for a special token
        self.special = dict(special or {256: START, 257: END})  # id -> name
        self.pattern = pattern
        self.start = next((id for id, name in self.special.items() if name == START), min(self.special))
        self.end = next((id for id, name in self.special.items() if name == END), max(self.special))
        self._rank = {pair: rank for rank, pair in enumerate(self.merges)}
        self._id = {token: id for id, token in enumerate(self.tokens)}
        self._word_ids = lru_cache(maxsize=2**16)(self._encode_word)

    def __len__(self) -> int:
        return len(self.tokens)

    def __reduce__(self):
        # Copies and the workers of a DataLoader make it anew: the memory of encoded words stays at home.
        return type(self), (self.merges, self.tokens, self.special, self.pattern)

    def steps(self, word: str) -> Iterator[Step]:
        """Yield the pieces of a word, from bytes to tokens; each step makes the merge that was learned first.

        Where a pair stands several times, all are merged at once, from left to right.
        """
        pieces = spell(word)
        yield Step(pieces, None)
        while possible := [pair for pair in pairwise(pieces) if pair in self._rank]:
            pair = min(possible, key=self._rank.__getitem__)
            pieces = merged(pieces, *pair)
            yield Step(pieces, pair)

    def _encode_word(self, word: str) -> tuple[int, ...]:
        *_, last = self.steps(word)
        return tuple(self._id[piece] for piece in last.pieces)

    def encode(self, text: str) -> list[int]:
        """The ids of a text: any text, also the empty one; special tokens are never among them."""
        return [id for word in split(text, self.pattern) for id in self._word_ids(word)]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ids; special tokens are no text, and bytes that are no character show as "\ufffd"."""
        return b"".join(self._token(id) for id in ids).decode("utf-8", "replace")

    def labels(self, ids: Iterable[int]) -> list[str]:
        """One printable label per id, see `label`; special tokens by their name."""
        return [self.special.get(id) or label(self._token(id)) for id in map(index, ids)]

    def _token(self, id: int) -> bytes:
        if not 0 <= id < len(self):
            raise IndexError(f"no token has the id {int(id)}: the vocabulary ends at {len(self) - 1}")
        return self.tokens[id]

    def save(self, path: Path | str) -> None:
        """Write a Hugging Face `tokenizer.json`, which the `tokenizers` library opens as well."""
        text = json.dumps(_to_json(self), ensure_ascii=False, indent=1)
        Path(path).write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path | str, vocab_size: int | None = None) -> "Tokenizer":
        """Read a byte-level BPE `tokenizer.json`: our own, or that of GPT-2.

        ValueError if it is another kind of tokenizer, or if its size is not the `vocab_size` of the model.
        """
        try:
            tokenizer = _from_json(json.loads(Path(path).read_text(encoding="utf-8")))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{path}: not a byte-level BPE tokenizer of a known kind ({error})") from error
        if vocab_size not in (None, len(tokenizer)):
            raise ValueError(f"{path}: {len(tokenizer)} tokens, but the model has vocab_size {vocab_size}")
        return tokenizer


def _vocabulary(merges: list[tuple[bytes, bytes]]) -> list[bytes]:
    """Bytes, two special tokens, merges; two merges may make the same token, which then has one id."""
    return [*BYTES, b"", b"", *dict.fromkeys(left + right for left, right in merges)]


def train(texts: Iterable[str], vocab_size: int | None = None) -> Tokenizer:
    """Learn from texts: up to `vocab_size` tokens, or until every word of theirs is a single token.

    ValueError if `vocab_size` has no room for the 256 bytes and the two special tokens.
    """
    base = len(_vocabulary([]))
    if vocab_size is not None and vocab_size < base:
        raise ValueError(f"vocab_size {vocab_size} is too small: the bytes and two special tokens are {base}")
    words: Counter[str] = Counter()
    for text in texts:
        words.update(split(text))
    merges: list[tuple[bytes, bytes]] = []
    made: set[bytes] = set()
    for left, right, _count in learn(words):
        if vocab_size is not None and base + len(made | {left + right}) > vocab_size:
            break
        merges.append((left, right))
        made.add(left + right)
    return Tokenizer(merges)


_SIGNS = str.maketrans({"\n": "↵", "\t": "⇥"})
# Where "surrogateescape" puts a byte that is no character.
_LONE_BYTE = re.compile("[\udc80-\udcff]")


def label(token: bytes) -> str:
    """A printable label of a token: "␣Katze" for " Katze", "↵" for a newline.

    A byte of a character that is cut apart is shown as "‹C3›", a character that shows nothing as "‹U+200D›";
    an accent alone sits on a dotted circle. Labels are for the eye: "␣" in a text has the label of a space.
    """
    text = token.decode("utf-8", "surrogateescape")
    circle = "◌" if unicodedata.combining(text[:1] or " ") else ""
    shown = _LONE_BYTE.sub(lambda match: f"‹{ord(match.group()) - 0xDC00:02X}›", text.translate(_SIGNS))
    return visible(circle + shown)


# tokenizer.json spells bytes as visible characters: the printable ones of Latin-1 stand for themselves, the
# others follow from U+0100 on (Radford et al. 2019).
_PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_OTHERS = [value for value in range(256) if value not in _PRINTABLE]
_SPELLING = {value: chr(value) for value in _PRINTABLE} | {v: chr(256 + i) for i, v in enumerate(_OTHERS)}
_BYTE = {character: value for value, character in _SPELLING.items()}


def _spelled(token: bytes) -> str:
    return "".join(_SPELLING[value] for value in token)


def _unspelled(token: str) -> bytes:
    return bytes(_BYTE[character] for character in token)


def _splitter(pattern: str) -> dict:
    """The `pre_tokenizer` entry of tokenizer.json for a pattern."""
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    if pattern == GPT2_WORDS:
        return byte_level | {"use_regex": True}
    cut = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    return {"type": "Sequence", "pretokenizers": [cut, byte_level | {"use_regex": False}]}


def _pattern(splitter: dict) -> str:
    """The pattern of a `pre_tokenizer` entry; ValueError if it is none of ours."""
    if splitter.get("type") == "ByteLevel":
        splitter = {"use_regex": True, **splitter, "trim_offsets": True}  # old files, offsets: no other cuts
    for pattern in (WORDS, GPT2_WORDS):
        if splitter == _splitter(pattern):
            return pattern
    raise ValueError(f"unknown way to split words: {splitter}")


def _to_json(tokenizer: Tokenizer) -> dict:
    names = [tokenizer.special.get(id) or _spelled(token) for id, token in enumerate(tokenizer.tokens)]
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": id, "content": name, **plain} for id, name in tokenizer.special.items()],
        "normalizer": None,
        "pre_tokenizer": _splitter(tokenizer.pattern),
        "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        "model": {
            "type": "BPE",
            "vocab": {name: id for id, name in enumerate(names)},
            "merges": [[_spelled(left), _spelled(right)] for left, right in tokenizer.merges],
        },
    }


def _from_json(content: dict) -> Tokenizer:
    model = content["model"]
    if model.get("type", "BPE") != "BPE" or content.get("normalizer"):
        raise ValueError(f"model type {model.get('type')}, normalizer {content.get('normalizer')}")
    special = {token["id"]: token["content"] for token in content["added_tokens"]}
    names = {id: name for name, id in model["vocab"].items()} | special
    if sorted(names) != list(range(len(names))):
        raise ValueError("the ids are not 0, 1, 2, ... without a gap")
    if not special:
        raise ValueError("no special token to start and end a text")
    tokens = [b"" if id in special else _unspelled(names[id]) for id in range(len(names))]
    pairs = (merge.split(" ") if isinstance(merge, str) else merge for merge in model["merges"])
    merges = [(_unspelled(left), _unspelled(right)) for left, right in pairs]
    lacking = {*BYTES, *(left + right for left, right in merges)} - set(tokens)
    if lacking:
        raise ValueError(f"no token for {min(lacking)!r}")
    return Tokenizer(merges, tokens, special, _pattern(content["pre_tokenizer"]))
