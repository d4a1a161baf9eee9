"""A grammar that writes short German stories with known regularities.

    Ein kleiner Fuchs wohnt im Wald. Heute findet er eine Nuss. Mia gibt Jan einen Ball. Darüber freut sich
    Jan: „Danke, Mia!“ Die Hexe murmelt: bora tika zumi lomi. Das Echo ruft: zumi lomi.

How a story goes on needs words read long before: the pronoun needs the gender of its noun, past other
nouns; thanks need the giver; a sentence that was begun in quotation marks has to close them; an echo has to
be copied. Each such place is marked, so that a model's ability can be measured there.

Every random choice is recorded with its exact probability, and no text can be written in two ways. So the
probability of each story is known exactly, and with it the loss that no model can beat: the entropy floor.

Some combinations of words (an adjective with an animal, an owner with an object, a giver with a receiver,
the opening pair of a spell) never occur in training stories. They show whether a model learned the rule or
the examples.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from random import Random
from typing import Any, NamedTuple

# --- Words ----------------------------------------------------------------------------------------


class Noun(NamedTuple):
    """A noun with its gender: "m", "f" or "n"."""

    word: str
    gender: str
    plural: str = ""


class Verb(NamedTuple):
    """The third person of a verb: "lacht", "lachen"."""

    singular: str
    plural: str


class Clause(NamedTuple):
    """A main clause of three words, the same in narration and in speech."""

    article: str
    noun: str
    verb: str


def _words(words: str) -> list[str]:
    return words.split()


def _nouns(gender: str, words: str) -> list[Noun]:
    """Read "Fuchs/Füchse Hund/Hunde" as nouns of one gender; the plural may be missing."""
    return [Noun(word.partition("/")[0], gender, word.partition("/")[2]) for word in words.split()]


def _verbs(words: str) -> list[Verb]:
    return [Verb(*word.split("/")) for word in words.split()]


ANIMALS = [
    *_nouns(
        "m",
        "Fuchs/Füchse Hund/Hunde Wolf/Wölfe Frosch/Frösche Bär/Bären Hase/Hasen Rabe/Raben Dachs/Dachse",
    ),
    *_nouns(
        "f",
        "Katze/Katzen Maus/Mäuse Ente/Enten Eule/Eulen Ziege/Ziegen Gans/Gänse Kuh/Kühe Biene/Bienen",
    ),
    *_nouns(
        "n",
        "Reh/Rehe Schaf/Schafe Pferd/Pferde Huhn/Hühner "
        "Schwein/Schweine Lamm/Lämmer Kalb/Kälber Zebra/Zebras",
    ),
]
OBJECTS = [
    *_nouns("m", "Ball Hut Ring Stein Apfel Korb Schal Löffel"),
    *_nouns("f", "Nuss Feder Blume Birne Muschel Kerze Tasse Mütze"),
    *_nouns("n", "Buch Blatt Ei Brot Seil Glas Tuch Bild"),
]
ADJECTIVES = _words("klein groß alt jung klug mutig frech still")
NUMBERS = _words("Zwei Drei Vier")
PLACES = ["im Wald", "im Garten", "im Stall", "im Tal", "am See", "am Bach", "am Fluss", "am Berg"]
NAMES = _words("Mia Jan Lea Tom Ida Ben Eva Max Nina Paul Emma Finn Anna Nils Rosa Emil Greta Otto Lisa Karl")
SPELL_WORDS = _words(
    "bora tika zumi lomi rafu kado pesa nuri gavo hili jomo duna "
    "sefi wabu tolo vine fubo rula zeda kipo lasu homa milu geno"
)

LIVE = Verb("wohnt", "wohnen")
BE = Verb("ist", "sind")
ACTIONS = _verbs(
    "schläft/schlafen gähnt/gähnen lacht/lachen singt/singen "
    "tanzt/tanzen springt/springen weint/weinen seufzt/seufzen"
)
MOODS = {"müde": ACTIONS[0:2], "froh": ACTIONS[2:4], "munter": ACTIONS[4:6], "traurig": ACTIONS[6:8]}
FINDING = _verbs("findet/finden sieht/sehen holt/holen malt/malen")
SEEKING = _verbs("sucht/suchen zeigt/zeigen putzt/putzen trägt/tragen")
SAYING = _verbs("sagt/sagen ruft/rufen flüstert/flüstern")
GIVING = _words("gibt schenkt bringt")
SCENERY = [
    Clause("die", "Sonne", "scheint"),
    Clause("der", "Wind", "weht"),
    Clause("der", "Regen", "rauscht"),
    Clause("der", "Mond", "leuchtet"),
    Clause("die", "Sterne", "funkeln"),
    Clause("die", "Blumen", "blühen"),
    Clause("das", "Gras", "duftet"),
    Clause("das", "Feuer", "knistert"),
]
WIZARDS = ["Die Hexe", "Der Zauberer"]

NOMINATIVE = {"m": "er", "f": "e", "n": "es"}  # ein kleiner Fuchs, eine kleine Ente, ein kleines Reh
ACCUSATIVE = {"m": "en", "f": "e", "n": ""}  # einen Ball, seine Nuss, ein Buch
PRONOUN = {"m": "er", "f": "sie", "n": "es"}
POSSESSIVE = {"m": "sein", "f": "ihr", "n": "sein"}


def _apart(firsts: Sequence, seconds: Sequence, steps: Sequence[int]) -> set[tuple]:
    """Pair each first word with the second words that many steps further on in their list."""
    return {(first, seconds[(i + step) % len(seconds)]) for i, first in enumerate(firsts) for step in steps}


HELD_OUT = (
    _apart(ANIMALS, ADJECTIVES, [3])
    | _apart(ANIMALS, OBJECTS, [1, 9, 17])  # one object of each gender
    | _apart(NAMES, NAMES, [5, 12])
    | _apart(SPELL_WORDS, SPELL_WORDS, [7, 16])
)

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

    dice: `dice.pick(n)` returns an index below n, `dice.branch(probabilities)` an index into them.
    split: "train" leaves out the pairs in HELD_OUT; "all" draws from everything; "held_out" takes held-out
    pairs wherever there are some, and gives them the probability they have under "all": what they cost a
    reader who does not know that they are held out.
    """

    def __init__(self, dice, split: str = "train"):
        if split not in ("train", "held_out", "all"):
            raise ValueError(f'split must be "train", "held_out" or "all", not {split!r}')
        self.dice, self.split = dice, split
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
            allowed = [option for option in options if ((after, option) in HELD_OUT) == wanted]
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
        """Append words and punctuation marks, spaced as German prints them; return where each one stands."""
        spans = []
        for piece in pieces:
            word = piece if isinstance(piece, str) else piece.word
            if self.text and word not in ".,:!“" and self.text[-1] != "„":
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


# --- The animal and what it does ------------------------------------------------------------------


class Hero(NamedTuple):
    """Whom the story is about, and where the noun phrase stands that says so."""

    animal: Noun
    plural: bool
    phrase: Span

    @property
    def pronoun(self) -> Decided:
        """er, sie or es, decided by the noun."""
        return Decided("sie" if self.plural else PRONOUN[self.animal.gender], "pronoun", self.phrase)

    def verb(self, verb: Verb) -> Decided:
        """The verb in the number of the noun; the other number is the rival."""
        right, wrong = (verb.plural, verb.singular) if self.plural else verb
        return Decided(right, "plural", self.phrase, (wrong,))

    def possessive(self, thing: Noun) -> Decided:
        """sein or ihr before `thing`, decided by the noun; the other of the two is the rival."""
        stem = "ihr" if self.plural else POSSESSIVE[self.animal.gender]
        ending, other = ACCUSATIVE[thing.gender], {"ihr": "sein", "sein": "ihr"}[stem]
        return Decided(stem + ending, "possessive", self.phrase, (other + ending,))


def introduce(draft: Draft) -> Hero:
    """Ein kleiner Fuchs wohnt im Wald. Zwei kleine Füchse wohnen im Wald."""
    plural = draft.branch("plural", {False: 0.7, True: 0.3})
    animal = draft.pick("animal", ANIMALS)
    adjective = draft.pick("adjective", ADJECTIVES, after=animal)
    if plural:
        phrase = [draft.pick("number", NUMBERS), adjective + "e", animal.plural]
    else:
        article = "Eine" if animal.gender == "f" else "Ein"
        phrase = [article, adjective + NOMINATIVE[animal.gender], animal.word]
    first, _, last = draft.write(*phrase)
    hero = Hero(animal, plural, Span(first.start, last.end))
    draft.write(hero.verb(LIVE), *draft.pick("place", PLACES).split(), ".")
    return hero


def act(draft: Draft, hero: Hero) -> None:
    """Dann lacht er."""
    draft.write("Dann", hero.verb(draft.pick("action", ACTIONS)), hero.pronoun, ".")


def find(draft: Draft, hero: Hero) -> None:
    """Heute findet er eine Nuss."""
    verb = draft.pick("finding", FINDING)
    thing = draft.pick("object", OBJECTS, after=hero.animal)
    draft.write("Heute", hero.verb(verb), hero.pronoun, "ein" + ACCUSATIVE[thing.gender], thing.word, ".")


def seek(draft: Draft, hero: Hero) -> None:
    """Nun sucht er seine Nuss."""
    verb = draft.pick("seeking", SEEKING)
    thing = draft.pick("object", OBJECTS, after=hero.animal)
    draft.write("Nun", hero.verb(verb), hero.pronoun, hero.possessive(thing), thing.word, ".")


def explain(draft: Draft, hero: Hero) -> None:
    """Weil er müde ist, gähnt er."""
    mood = draft.pick("mood", list(MOODS))
    action = draft.pick("action", MOODS[mood])
    draft.write("Weil", hero.pronoun, mood, hero.verb(BE), ",", hero.verb(action), hero.pronoun, ".")


def describe(draft: Draft, opening: Span | None = None) -> None:
    """Die Sonne scheint und der Wind weht. The quotation mark at `opening`, if any, is closed again."""
    clause = draft.pick("scenery", SCENERY)
    draft.write(clause.article.capitalize(), clause.noun, clause.verb)
    if draft.branch("two clauses", {False: 0.5, True: 0.5}):
        draft.write("und", *draft.pick("scenery", [other for other in SCENERY if other != clause]))
    draft.write(".")
    if opening:
        draft.write(Decided("“", "quote", opening))


def view(draft: Draft, hero: Hero) -> None:
    """Die Sonne scheint."""
    describe(draft)


def speak(draft: Draft, hero: Hero) -> None:
    """Da ruft er: „Die Sonne scheint.“"""
    *_, opening = draft.write("Da", hero.verb(draft.pick("saying", SAYING)), hero.pronoun, ":", "„")
    describe(draft, opening)


SCENES: list[Callable[[Draft, Hero], None]] = [act, find, seek, explain, view, speak]


def follow(draft: Draft) -> None:
    """Introduce an animal and tell one or two different things it does."""
    hero = introduce(draft)
    left = {scene.__name__: scene for scene in SCENES}
    for _ in range(draft.branch("scenes", {1: 0.5, 2: 0.5})):
        scene = draft.branch("scene", {name: 1 / len(left) for name in left})
        left.pop(scene)(draft, hero)


# --- Gifts and spells -----------------------------------------------------------------------------


def give(draft: Draft) -> None:
    """Mia gibt Jan eine Nuss. Darüber freut sich Jan: „Danke, Mia!“ Mia ruft: „Gern, Jan!“"""
    giver = draft.pick("giver", NAMES)
    receiver = draft.pick("receiver", [name for name in NAMES if name != giver], after=giver)
    verb, gift = draft.pick("giving", GIVING), draft.pick("gift", OBJECTS)
    here, _, there, *_ = draft.write(giver, verb, receiver, "ein" + ACCUSATIVE[gift.gender], gift.word, ".")
    giver_again = Decided(giver, "giver", here)
    receiver_again = Decided(receiver, "receiver", there)
    draft.write("Darüber", "freut", "sich", receiver_again, ":", "„", "Danke", ",", giver_again, "!", "“")
    if draft.branch("answer", {False: 0.5, True: 0.5}):
        draft.write(giver, "ruft", ":", "„", "Gern", ",", receiver_again, "!", "“")


SPELL_LENGTH = {4: 0.2, 5: 0.2, 6: 0.2, 7: 0.2, 8: 0.2}


def cast(draft: Draft) -> None:
    """Die Hexe murmelt: bora tika zumi lomi. Das Echo ruft: zumi lomi. Or all repeat the whole spell."""
    draft.write(*draft.pick("wizard", WIZARDS).split(), "murmelt", ":")
    spell = [draft.pick("spell", SPELL_WORDS)]
    for _ in range(draft.branch("spell length", SPELL_LENGTH) - 1):
        unused = [word for word in SPELL_WORDS if word not in spell]
        spell.append(draft.pick("spell", unused, after=spell[0] if len(spell) == 1 else None))
    places = draft.write(*spell)
    copy = [Decided(word, "copy", place) for word, place in zip(spell, places)]
    draft.write(".")
    if draft.branch("echo", {False: 0.25, True: 0.75}):
        last = len(spell) - 1
        start = draft.branch("echo from", {place: 1 / last for place in range(last)})
        draft.write("Das", "Echo", "ruft", ":", spell[start], *copy[start + 1 :], ".")
    else:
        draft.write("Alle", "wiederholen", ":", *copy, ".")


# --- Whole stories --------------------------------------------------------------------------------

PARTS: dict[str, Callable[[Draft], None]] = {"animal": follow, "gift": give, "spell": cast}
BEGINNING = {"animal": 0.5, "gift": 0.2, "spell": 0.3}
ENDING = {
    "animal": {None: 0.1, "gift": 0.3, "spell": 0.6},
    "gift": {None: 0.5, "spell": 0.5},
    "spell": {None: 0.6, "gift": 0.4},
}


def tell(dice, split: str = "train") -> Story:
    """Write one story with the given dice: see `Draft`."""
    draft = Draft(dice, split)
    beginning = draft.branch("beginning", BEGINNING)
    PARTS[beginning](draft)
    ending = draft.branch("ending", ENDING[beginning])
    if ending:
        PARTS[ending](draft)
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


def stories(seed: int, count: int | None = None, split: str = "train") -> Iterator[Story]:
    """Write `count` stories (without end if None); the same seed writes the same ones."""
    dice = Dice(seed)
    return islice(iter(lambda: tell(dice, split), None), count)


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


def outlines(split: str = "train") -> Iterator[tuple[float, Story]]:
    """One story for each way the branches can go, with the probability of all stories of that outline."""
    branches: list[int] | None = []
    while branches is not None:
        script = Script(branches)
        story = tell(script, split)
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


def expectation(split: str = "train") -> Expectation:
    """Compute what a story costs on average, exactly: a sum over outlines, as stories of one cost the same.

    Each word, each punctuation mark and the end of the story count as one token. For "held_out" it is the
    loss of a reader who knows the grammar but not which pairs are held out.
    """
    weighted = [(p, story.nats, story.words + 1) for p, story in outlines(split)]
    return Expectation(sum(p * nats for p, nats, _ in weighted), sum(p * tokens for p, _, tokens in weighted))
