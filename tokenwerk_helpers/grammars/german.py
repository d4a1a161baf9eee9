"""The German grammar: foxes, ducks and deer, gifts and spells.

    Ein kleiner Fuchs wohnt im Wald. Heute findet er eine Nuss. Mia gibt Jan einen Ball. Darüber freut sich
    Jan: „Danke, Mia!“ Die Hexe murmelt: bora tika zumi lomi. Das Echo ruft: zumi lomi.

The gender of its noun decides the pronoun, past other nouns: er, sie or es; sein or ihr. Articles and
adjectives show it, too.
"""

from collections.abc import Callable
from typing import NamedTuple

from ..corpus import Clause, Decided, Draft, Grammar, Noun, Span, Verb, apart, listed, nouns, verbs

# --- Words ----------------------------------------------------------------------------------------

ANIMALS = [
    *nouns(
        "m",
        "Fuchs/Füchse Hund/Hunde Wolf/Wölfe Frosch/Frösche Bär/Bären Hase/Hasen Rabe/Raben Dachs/Dachse",
    ),
    *nouns(
        "f",
        "Katze/Katzen Maus/Mäuse Ente/Enten Eule/Eulen Ziege/Ziegen Gans/Gänse Kuh/Kühe Biene/Bienen",
    ),
    *nouns(
        "n",
        "Reh/Rehe Schaf/Schafe Pferd/Pferde Huhn/Hühner "
        "Schwein/Schweine Lamm/Lämmer Kalb/Kälber Zebra/Zebras",
    ),
]
OBJECTS = [
    *nouns("m", "Ball Hut Ring Stein Apfel Korb Schal Löffel"),
    *nouns("f", "Nuss Feder Blume Birne Muschel Kerze Tasse Mütze"),
    *nouns("n", "Buch Blatt Ei Brot Seil Glas Tuch Bild"),
]
ADJECTIVES = listed("klein groß alt jung klug mutig frech still")
NUMBERS = listed("Zwei Drei Vier")
PLACES = ["im Wald", "im Garten", "im Stall", "im Tal", "am See", "am Bach", "am Fluss", "am Berg"]
NAMES = listed("Mia Jan Lea Tom Ida Ben Eva Max Nina Paul Emma Finn Anna Nils Rosa Emil Greta Otto Lisa Karl")
SPELL_WORDS = listed(
    "bora tika zumi lomi rafu kado pesa nuri gavo hili jomo duna "
    "sefi wabu tolo vine fubo rula zeda kipo lasu homa milu geno"
)

LIVE = Verb("wohnt", "wohnen")
BE = Verb("ist", "sind")
ACTIONS = verbs(
    "schläft/schlafen gähnt/gähnen lacht/lachen singt/singen "
    "tanzt/tanzen springt/springen weint/weinen seufzt/seufzen"
)
MOODS = {"müde": ACTIONS[0:2], "froh": ACTIONS[2:4], "munter": ACTIONS[4:6], "traurig": ACTIONS[6:8]}
FINDING = verbs("findet/finden sieht/sehen holt/holen malt/malen")
SEEKING = verbs("sucht/suchen zeigt/zeigen putzt/putzen trägt/tragen")
SAYING = verbs("sagt/sagen ruft/rufen flüstert/flüstern")
GIVING = listed("gibt schenkt bringt")
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


HELD_OUT = (
    apart(ANIMALS, ADJECTIVES, [3])
    | apart(ANIMALS, OBJECTS, [1, 9, 17])  # one object of each gender
    | apart(NAMES, NAMES, [5, 12])
    | apart(SPELL_WORDS, SPELL_WORDS, [7, 16])
)

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

GRAMMAR = Grammar(
    parts={"animal": follow, "gift": give, "spell": cast},
    beginning={"animal": 0.5, "gift": 0.2, "spell": 0.3},
    ending={
        "animal": {None: 0.1, "gift": 0.3, "spell": 0.6},
        "gift": {None: 0.5, "spell": 0.5},
        "spell": {None: 0.6, "gift": 0.4},
    },
    held_out=HELD_OUT,
    quotes=("„", "“"),
    words={"animal": ANIMALS, "thing": OBJECTS, "name": NAMES, "spell": SPELL_WORDS},
)
