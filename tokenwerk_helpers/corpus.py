"""What the grammars of all languages share: they write short stories with known regularities.

    A small queen lives in the forest. Today she finds a nut. Mia gives Jack a ball. That makes Jack happy:
    “Thanks, Mia!” The witch murmurs: bora tika zumi lomi. The echo calls: zumi lomi.

How a story goes on needs words read long before: the pronoun needs its noun, past other nouns; thanks need
the giver; a sentence that was begun in quotation marks has to close them; an echo has to be copied. Each
such place is marked, so that a model's ability can be measured there.

Every random choice is recorded with its exact probability, and no text can be written in two ways. So the
probability of each story is known exactly, and with it the loss that no model can beat: the entropy floor.

Some combinations of words (an adjective with a noun, an owner with an object, a giver with a receiver, the
opening pair of a spell) never occur in training stories. They show whether a model learned the rule or the
examples.

The words of a language and how its sentences are made stand in `grammars`, one file a language.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import partial
from importlib import import_module
from itertools import islice
from random import Random
from typing import Any, NamedTuple

from .language import shown

LANGUAGES = {"de": "german", "en": "english"}  # and the file of each in `grammars`

# --- Words ----------------------------------------------------------------------------------------


class Noun(NamedTuple):
    """A noun with its gender: "m", "f" or "n"; "" where none shows."""

    word: str
    gender: str
    plural: str = ""


class Verb(NamedTuple):
    """The third person of a verb: "laughs", "laugh"."""

    singular: str
    plural: str


class Clause(NamedTuple):
    """A main clause of three words, the same in narration and in speech."""

    article: str
    noun: str
    verb: str


def listed(words: str) -> list[str]:
    """Read words that spaces part."""
    return words.split()


def nouns(gender: str, words: str) -> list[Noun]:
    """Read "king/kings kite/kites" as nouns of one gender; the plural may be missing."""
    return [Noun(word.partition("/")[0], gender, word.partition("/")[2]) for word in words.split()]


def verbs(words: str) -> list[Verb]:
    """Read "laughs/laugh sings/sing" as verbs."""
    return [Verb(*word.split("/")) for word in words.split()]


def apart(firsts: Sequence, seconds: Sequence, steps: Sequence[int]) -> set[tuple]:
    """Pair each first word with the second words that many steps further on in their list."""
    return {(first, seconds[(i + step) % len(seconds)]) for i, first in enumerate(firsts) for step in steps}


# --- A story being written ------------------------------------------------------------------------


class Span(NamedTuple):
    """Characters `start` to `end` (excluded) of a text."""

    start: int
    end: int


class Mark(NamedTuple):
    """A place where earlier words decide: the word at `span` follows from the words at `source`.

    ability: "pronoun", "possessive", "plural", "giver", "receiver", "copy" or "quote".
    rivals: what would be wrong here, where several words would be right; empty if only one word is right.
    """

    ability: str
    span: Span
    source: Span
    rivals: tuple[str, ...] = ()


class Decided(NamedTuple):
    """A word to be written that earlier words decide: see `Mark`."""

    word: str
    ability: str
    source: Span
    rivals: tuple[str, ...] = ()


class Choice(NamedTuple):
    """What was asked, what was chosen, and how probable that was."""

    question: str
    answer: Any
    probability: float


class Story(NamedTuple):
    """A finished story; `words` counts its words and punctuation marks, `nats` is -ln of its probability."""

    text: str
    words: int
    nats: float
    marks: tuple[Mark, ...]
    choices: tuple[Choice, ...]


class Draft:
    """A story being written: its text so far, the choices made, and the places where earlier words decide.

    grammar: of the language that is written.
    dice: `dice.pick(n)` returns an index below n, `dice.branch(probabilities)` an index into them.
    split: "train" leaves out the held-out pairs; "all" draws from everything; "held_out" takes held-out
    pairs wherever there are some, and gives them the probability they have under "all": what they cost a
    reader who does not know that they are held out.
    """

    def __init__(self, grammar: "Grammar", dice, split: str = "train"):
        if split not in ("train", "held_out", "all"):
            raise ValueError(f'split must be "train", "held_out" or "all", not {split!r}')
        self.grammar, self.dice, self.split = grammar, dice, split
        self.text, self.words = "", 0
        self.marks: list[Mark] = []
        self.choices: list[Choice] = []

    def pick(self, question: str, options: Sequence, after: Any = None) -> Any:
        """Choose among words of one kind, all equally probable.

        Whichever is taken, the rest of the story offers the same number of choices and words. `after` is
        the partner with which some options are held out.
        """
        allowed = options
        if after is not None and self.split != "all":
            wanted = self.split == "held_out"
            allowed = [option for option in options if ((after, option) in self.grammar.held_out) == wanted]
        answer = allowed[self.dice.pick(len(allowed))]
        known = allowed if self.split == "train" else options
        self.choices.append(Choice(question, answer, 1 / len(known)))
        return answer

    def branch(self, question: str, options: Mapping[Any, float]) -> Any:
        """Choose how the story goes on; `options` gives the probability of each way."""
        answer = list(options)[self.dice.branch(list(options.values()))]
        self.choices.append(Choice(question, answer, options[answer]))
        return answer

    def write(self, *pieces: str | Decided) -> list[Span]:
        """Append words and punctuation marks, spaced as they are printed; return where each one stands."""
        spans = []
        for piece in pieces:
            word = piece if isinstance(piece, str) else piece.word
            opening, closing = self.grammar.quotes
            if self.text and word not in f".,:!{closing}" and self.text[-1] != opening:
                self.text += " "
            spans.append(Span(len(self.text), len(self.text) + len(word)))
            self.text += word
            if isinstance(piece, Decided):
                self.marks.append(Mark(piece.ability, spans[-1], piece.source, piece.rivals))
        self.words += len(pieces)
        return spans

    def finished(self) -> Story:
        """Close the draft."""
        nats = -sum(math.log(choice.probability) for choice in self.choices)
        return Story(self.text, self.words, nats, tuple(self.marks), tuple(self.choices))


# --- The grammar of a language --------------------------------------------------------------------

Part = Callable[[Draft], None]


class Grammar(NamedTuple):
    """How a language tells a story: what it may begin with, what may follow, and its words.

    parts: "animal", "gift" and "spell", each writes its sentences into a draft. beginning: the probability of
    each to come first. ending: for each, what follows it and how probable that is; None for nothing.
    held_out: the pairs of words that training stories do not hold. quotes: opening and closing mark.
    words: the nouns, names and spell words by their kind ("animal", "thing", "name", "spell").
    """

    parts: Mapping[str, Part]
    beginning: Mapping[str, float]
    ending: Mapping[str, Mapping[str | None, float]]
    held_out: Set[tuple]
    quotes: tuple[str, str]
    words: Mapping[str, Sequence]


def grammar(language: str | None = None) -> Grammar:
    """The grammar of a language, "de" or "en", or of the one shown now; ValueError for any other."""
    language = language or shown()
    if language not in LANGUAGES:
        raise ValueError(f"no grammar for language {language!r}: choose one of {', '.join(LANGUAGES)}")
    # Not at the head of this file: the grammars are written with what stands above.
    return import_module(f".grammars.{LANGUAGES[language]}", __package__).GRAMMAR


# --- Whole stories --------------------------------------------------------------------------------


def tell(grammar: Grammar, dice, split: str = "train") -> Story:
    """Write one story with the given dice: see `Draft`."""
    draft = Draft(grammar, dice, split)
    beginning = draft.branch("beginning", grammar.beginning)
    grammar.parts[beginning](draft)
    ending = draft.branch("ending", grammar.ending[beginning])
    if ending:
        grammar.parts[ending](draft)
    return draft.finished()


class Dice:
    """Fair dice from a seed."""

    def __init__(self, seed: int):
        self.random = Random(seed).random

    def pick(self, count: int) -> int:
        """A number below `count`, each alike."""
        return int(self.random() * count)

    def branch(self, probabilities: Sequence[float]) -> int:
        """The number of a branch, each with its probability."""
        left = self.random()
        for index, probability in enumerate(probabilities):
            left -= probability
            if left < 0:
                return index
        return len(probabilities) - 1  # rounding may leave a remainder


def stories(
    seed: int, count: int | None = None, split: str = "train", language: str | None = None
) -> Iterator[Story]:
    """Write `count` stories (without end if None) in a language, or in the one shown now.

    The same seed writes the same ones.
    """
    write = partial(tell, grammar(language), Dice(seed), split)
    return islice(iter(write, None), count)


# --- The entropy floor ----------------------------------------------------------------------------


class Script:
    """Dice that follow a list of branches, and take the first way after its end; picks do not matter here."""

    def __init__(self, branches: Sequence[int]):
        self.branches, self.probability = list(branches), 1.0
        self.ways: list[int] = []  # how many there were at each branch so far

    def pick(self, count: int) -> int:
        """Always 0."""
        return 0

    def branch(self, probabilities: Sequence[float]) -> int:
        """The branch that the list names, or the first one; its probability is noted."""
        if len(self.ways) == len(self.branches):
            self.branches.append(0)
        index = self.branches[len(self.ways)]
        self.ways.append(len(probabilities))
        self.probability *= probabilities[index]
        return index

    def following(self) -> list[int] | None:
        """The next list of branches, as an odometer counts; None after the last."""
        branches = list(self.branches)
        while branches and branches[-1] == self.ways[len(branches) - 1] - 1:
            branches.pop()
        return [*branches[:-1], branches[-1] + 1] if branches else None


def outlines(split: str = "train", language: str | None = None) -> Iterator[tuple[float, Story]]:
    """One story for each way the branches can go, with the probability of all stories of that outline."""
    branches: list[int] | None = []
    while branches is not None:
        script = Script(branches)
        story = tell(grammar(language), script, split)
        yield script.probability, story
        branches = script.following()


class Expectation(NamedTuple):
    """Mean of a whole story: nats of surprise, and tokens to predict."""

    nats: float
    tokens: float

    @property
    def floor(self) -> float:
        """The loss no model can beat, in nats per token."""
        return self.nats / self.tokens


def expectation(split: str = "train", language: str | None = None) -> Expectation:
    """Compute what a story costs on average, exactly: a sum over outlines, as stories of one cost the same.

    Each word, each punctuation mark and the end of the story count as one token. For "held_out" it is the
    loss of a reader who knows the grammar but not which pairs are held out.
    """
    weighted = [(p, story.nats, story.words + 1) for p, story in outlines(split, language=language)]
    return Expectation(sum(p * nats for p, nats, _ in weighted), sum(p * tokens for p, _, tokens in weighted))
