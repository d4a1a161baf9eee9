"""The English grammar: kings, queens and kites, gifts and spells.

    A small queen lives in the forest. Today she finds a nut. Mia gives Jack a ball. That makes Jack happy:
    “Thanks, Mia!” The witch murmurs: bora tika zumi lomi. The echo calls: zumi lomi.

Whoever a story is about decides what stands for them later, past other nouns: he, she, it or they; his,
her, its or their; lives or live. Only the noun tells: article and adjective are the same for all.
"""

from collections.abc import Callable
from typing import NamedTuple

from ..corpus import Clause, Decided, Draft, Grammar, Noun, Span, Verb, apart, listed, nouns, verbs

# --- Words ----------------------------------------------------------------------------------------

HEROES = [
    *nouns(
        "m",
        "king/kings prince/princes knight/knights boy/boys "
        "uncle/uncles monk/monks giant/giants miller/millers",
    ),
    *nouns(
        "f",
        "queen/queens princess/princesses lady/ladies girl/girls "
        "aunt/aunts fairy/fairies maid/maids nurse/nurses",
    ),
    *nouns(
        "n",
        "kite/kites fox/foxes goose/geese mouse/mice wolf/wolves frog/frogs bear/bears robot/robots",
    ),
]
THINGS = nouns(
    "",  # nothing stands for a thing later
    "ball hat ring stone apple basket scarf spoon nut feather flower pear "
    "shell candle cup cap book leaf egg loaf rope glass drum picture",
)
ADJECTIVES = listed("small tall old young clever brave cheeky quiet")
NUMBERS = listed("Two Three Four")
PLACES = [
    "in the forest", "in the garden", "in the barn", "in the valley",
    "by the lake", "by the brook", "by the river", "by the hill",
]  # fmt: skip
NAMES = listed("Mia Jack Lily Tom Ida Ben Eve Max Nina Paul Emma Finn Anna Noah Rose Sam Ruby Leo Kate Owen")
SPELL_WORDS = listed(
    "bora tika zumi lomi rafu kado pesa nuri gavo hili jomo duna "
    "sefi wabu tolo vani fubo rula zeda kipo lasu homa milu geno"
)

LIVE = Verb("lives", "live")
BE = Verb("is", "are")
ACTIONS = verbs(
    "sleeps/sleep yawns/yawn laughs/laugh sings/sing dances/dance jumps/jump weeps/weep sighs/sigh"
)
MOODS = {"tired": ACTIONS[0:2], "happy": ACTIONS[2:4], "lively": ACTIONS[4:6], "sad": ACTIONS[6:8]}
FINDING = verbs("finds/find sees/see fetches/fetch paints/paint")
SEEKING = verbs("seeks/seek shows/show cleans/clean carries/carry")
SAYING = verbs("says/say calls/call whispers/whisper")
GIVING = listed("gives brings lends")
SCENERY = [
    Clause("the", "sun", "shines"),
    Clause("the", "wind", "blows"),
    Clause("the", "rain", "falls"),
    Clause("the", "moon", "glows"),
    Clause("the", "stars", "twinkle"),
    Clause("the", "flowers", "bloom"),
    Clause("the", "grass", "sways"),
    Clause("the", "fire", "crackles"),
]
WIZARDS = ["The witch", "The wizard"]

PRONOUN = {"m": "he", "f": "she", "n": "it"}
POSSESSIVE = {"m": "his", "f": "her", "n": "its"}

HELD_OUT = (
    apart(HEROES, ADJECTIVES, [3])
    | apart(HEROES, THINGS, [1, 9, 17])
    | apart(NAMES, NAMES, [5, 12])
    | apart(SPELL_WORDS, SPELL_WORDS, [7, 16])
)


def article(word: str) -> str:
    """a or an, by the first letter of the next word."""
    return "an" if word[0] in "aeiou" else "a"


# --- The hero and what they do --------------------------------------------------------------------


class Hero(NamedTuple):
    """Whom the story is about, and where the noun phrase stands that says so."""

    noun: Noun
    plural: bool
    phrase: Span

    @property
    def pronoun(self) -> Decided:
        """he, she, it or they, decided by the noun."""
        return Decided("they" if self.plural else PRONOUN[self.noun.gender], "pronoun", self.phrase)

    def verb(self, verb: Verb) -> Decided:
        """The verb in the number of the noun; the other number is the rival."""
        right, wrong = (verb.plural, verb.singular) if self.plural else verb
        return Decided(right, "plural", self.phrase, (wrong,))

    @property
    def possessive(self) -> Decided:
        """his, her, its or their, decided by the noun."""
        return Decided("their" if self.plural else POSSESSIVE[self.noun.gender], "possessive", self.phrase)


def introduce(draft: Draft) -> Hero:
    """A small king lives in the forest. Two small kings live in the forest."""
    plural = draft.branch("plural", {False: 0.7, True: 0.3})
    noun = draft.pick("hero", HEROES)
    adjective = draft.pick("adjective", ADJECTIVES, after=noun)
    if plural:
        phrase = [draft.pick("number", NUMBERS), adjective, noun.plural]
    else:
        phrase = [article(adjective).capitalize(), adjective, noun.word]
    first, _, last = draft.write(*phrase)
    hero = Hero(noun, plural, Span(first.start, last.end))
    draft.write(hero.verb(LIVE), *draft.pick("place", PLACES).split(), ".")
    return hero


def act(draft: Draft, hero: Hero) -> None:
    """Then he laughs."""
    draft.write("Then", hero.pronoun, hero.verb(draft.pick("action", ACTIONS)), ".")


def find(draft: Draft, hero: Hero) -> None:
    """Today he finds a nut."""
    verb = draft.pick("finding", FINDING)
    thing = draft.pick("object", THINGS, after=hero.noun)
    draft.write("Today", hero.pronoun, hero.verb(verb), article(thing.word), thing.word, ".")


def seek(draft: Draft, hero: Hero) -> None:
    """Now he seeks his nut."""
    verb = draft.pick("seeking", SEEKING)
    thing = draft.pick("object", THINGS, after=hero.noun)
    draft.write("Now", hero.pronoun, hero.verb(verb), hero.possessive, thing.word, ".")


def explain(draft: Draft, hero: Hero) -> None:
    """Because he is tired, he yawns."""
    mood = draft.pick("mood", list(MOODS))
    action = draft.pick("action", MOODS[mood])
    draft.write("Because", hero.pronoun, hero.verb(BE), mood, ",", hero.pronoun, hero.verb(action), ".")


def describe(draft: Draft, opening: Span | None = None) -> None:
    """The sun shines and the wind blows. The quotation mark at `opening`, if any, is closed again."""
    clause = draft.pick("scenery", SCENERY)
    draft.write(clause.article.capitalize(), clause.noun, clause.verb)
    if draft.branch("two clauses", {False: 0.5, True: 0.5}):
        draft.write("and", *draft.pick("scenery", [other for other in SCENERY if other != clause]))
    draft.write(".")
    if opening:
        draft.write(Decided("”", "quote", opening))


def view(draft: Draft, hero: Hero) -> None:
    """The sun shines."""
    describe(draft)


def speak(draft: Draft, hero: Hero) -> None:
    """Soon he calls: “The sun shines.”"""
    *_, opening = draft.write("Soon", hero.pronoun, hero.verb(draft.pick("saying", SAYING)), ":", "“")
    describe(draft, opening)


SCENES: list[Callable[[Draft, Hero], None]] = [act, find, seek, explain, view, speak]


def follow(draft: Draft) -> None:
    """Introduce a hero and tell one or two different things they do."""
    hero = introduce(draft)
    left = {scene.__name__: scene for scene in SCENES}
    for _ in range(draft.branch("scenes", {1: 0.5, 2: 0.5})):
        scene = draft.branch("scene", {name: 1 / len(left) for name in left})
        left.pop(scene)(draft, hero)


# --- Gifts and spells -----------------------------------------------------------------------------


def give(draft: Draft) -> None:
    """Mia gives Jack a nut. That makes Jack happy: “Thanks, Mia!” Mia calls: “Any time, Jack!”"""
    giver = draft.pick("giver", NAMES)
    receiver = draft.pick("receiver", [name for name in NAMES if name != giver], after=giver)
    verb, gift = draft.pick("giving", GIVING), draft.pick("gift", THINGS)
    here, _, there, *_ = draft.write(giver, verb, receiver, article(gift.word), gift.word, ".")
    giver_again = Decided(giver, "giver", here)
    receiver_again = Decided(receiver, "receiver", there)
    draft.write("That", "makes", receiver_again, "happy", ":", "“", "Thanks", ",", giver_again, "!", "”")
    if draft.branch("answer", {False: 0.5, True: 0.5}):
        draft.write(giver, "calls", ":", "“", "Any", "time", ",", receiver_again, "!", "”")


SPELL_LENGTH = {4: 0.2, 5: 0.2, 6: 0.2, 7: 0.2, 8: 0.2}


def cast(draft: Draft) -> None:
    """The witch murmurs: bora tika zumi lomi. The echo calls: zumi lomi. Or all repeat the whole spell."""
    draft.write(*draft.pick("wizard", WIZARDS).split(), "murmurs", ":")
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
        draft.write("The", "echo", "calls", ":", spell[start], *copy[start + 1 :], ".")
    else:
        draft.write("All", "repeat", ":", *copy, ".")


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
    quotes=("“", "”"),
    words={"animal": HEROES, "thing": THINGS, "name": NAMES, "spell": SPELL_WORDS},
)
