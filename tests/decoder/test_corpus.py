"""The grammars: is their language right, are their probabilities, and do they keep apart what they must?"""

import math
import re
import time
from collections import defaultdict
from itertools import islice, pairwise

import pytest

from tokenwerk_helpers import corpus
from tokenwerk_helpers.corpus import LANGUAGES, Dice, Draft, expectation, grammar, outlines, stories, tell
from tokenwerk_helpers.grammars import german

SPLITS = ("train", "held_out", "all")

EVERY_LANGUAGE = pytest.mark.parametrize("language", LANGUAGES)

# Tables of their own, from the dictionary and not from the modules under test.
GENDER = {
    "der": "Fuchs Hund Wolf Frosch Bär Hase Rabe Dachs Ball Hut Ring Stein Apfel Korb Schal Löffel "
    "Wind Regen Mond Zauberer",
    "die": "Katze Maus Ente Eule Ziege Gans Kuh Biene Nuss Feder Blume Birne Muschel Kerze Tasse Mütze "
    "Sonne Hexe",
    "das": "Reh Schaf Pferd Huhn Schwein Lamm Kalb Zebra Buch Blatt Ei Brot Seil Glas Tuch Bild "
    "Gras Feuer Echo",
}
ARTICLE = {noun: article for article, nouns in GENDER.items() for noun in nouns.split()}
PLURALS = (
    "Füchse-Fuchs Hunde-Hund Wölfe-Wolf Frösche-Frosch Bären-Bär Hasen-Hase Raben-Rabe Dachse-Dachs "
    "Katzen-Katze Mäuse-Maus Enten-Ente Eulen-Eule Ziegen-Ziege Gänse-Gans Kühe-Kuh Bienen-Biene "
    "Rehe-Reh Schafe-Schaf Pferde-Pferd Hühner-Huhn Schweine-Schwein Lämmer-Lamm Kälber-Kalb Zebras-Zebra"
)
PLURAL = dict(pair.split("-") for pair in PLURALS.split())
PLURAL_SCENERY = {"Sterne": "funkeln", "Blumen": "blühen"}
PRONOUN = {"der": "er", "die": "sie", "das": "es"}
SINGULAR_SUBJECT = re.compile(r"^(Eine?) (\w+) (\w+) wohnt ")
PLURAL_SUBJECT = re.compile(r"^(Zwei|Drei|Vier) (\w+) (\w+) wohnen ")
ACCUSATIVE = re.compile(r"\b(ein|sein|ihr)(en|e|) ([A-ZÄÖÜ]\w+)")
VERB_AND_PRONOUN = re.compile(r"\b(?:Dann|Heute|Nun|Da|ist,|sind,) (\w+) (er|sie|es)\b")
REASON = re.compile(r"\bWeil (\w+) \w+ (ist|sind), ")
CLAUSE = re.compile(r"\b([Dd](?:er|ie|as)) (\w+) (\w+?)(?=\.| und)")
GIFT = re.compile(
    r"(\w+) (?:gibt|schenkt|bringt) (\w+) eine?n? (\w+)\. Darüber freut sich (\w+): „Danke, (\w+)!“"
)
ANSWER = re.compile(r"(\w+) ruft: „Gern, (\w+)!“")
SPELL = re.compile(r"murmelt: ([\w ]+)\. (Das Echo ruft|Alle wiederholen): ([\w ]+)\.")


@pytest.fixture(scope="module", params=SPLITS)
def written(request):
    return [story.text for story in stories(11, 1500, request.param, "de")]


def subject(text):
    """The animal in the singular, and whether there are several, read from the text alone."""
    if found := SINGULAR_SUBJECT.match(text):
        return found[3], False
    if found := PLURAL_SUBJECT.match(text):
        return PLURAL[found[3]], True
    return None, False


# --- German ---------------------------------------------------------------------------------------


def test_article_and_adjective_agree_with_the_animal(written):
    endings = {"der": ("Ein", "er"), "die": ("Eine", "e"), "das": ("Ein", "es")}
    seen = set()
    for text in written:
        if found := SINGULAR_SUBJECT.match(text):
            article, ending = endings[ARTICLE[found[3]]]
            assert found[1] == article and re.fullmatch(r"\w+?" + ending, found[2]), text
            assert found[2].removesuffix(ending) in german.ADJECTIVES, text
            seen.add(found[3])
        elif found := PLURAL_SUBJECT.match(text):
            assert found[2].removesuffix("e") in german.ADJECTIVES and found[3] in PLURAL, text
            seen.add(PLURAL[found[3]])
    assert seen == set(PLURAL.values())


def test_the_object_takes_the_accusative_of_its_gender(written):
    endings = {"der": "en", "die": "e", "das": ""}
    found = [match for text in written for match in ACCUSATIVE.finditer(text)]
    assert len(found) > 500
    for _, ending, noun in (match.groups() for match in found):
        assert ending == endings[ARTICLE[noun]], noun


def test_pronoun_possessive_and_verb_agree_with_the_animal(written):
    checked = 0
    for text in written:
        animal, plural = subject(text)
        if animal is None:
            continue
        pronoun = "sie" if plural else PRONOUN[ARTICLE[animal]]
        for verb, found in VERB_AND_PRONOUN.findall(text):
            assert found == pronoun and verb.endswith("n") == plural, text
            checked += 1
        for found, verb in REASON.findall(text):
            assert found == pronoun and verb == ("sind" if plural else "ist"), text
        for stem, _, _ in ACCUSATIVE.findall(text):
            assert stem in ("ein", "ihr" if pronoun == "sie" else "sein"), text
    assert checked > 500


def test_scenery_has_its_article_and_its_number(written):
    for text in written:
        for article, noun, verb in CLAUSE.findall(text):
            if noun in PLURAL_SCENERY:
                assert article.lower() == "die" and verb == PLURAL_SCENERY[noun], text
            else:
                assert article.lower() == ARTICLE[noun] and verb.endswith("t"), text


def test_quotation_marks_open_low_and_close_high(written):
    quoted = 0
    for text in written:
        marks = re.findall("[„“]", text)
        assert marks == ["„", "“"] * (len(marks) // 2), text
        assert "“" not in text or re.search(r"[.!]“", text), text
        quoted += bool(marks)
        assert '"' not in text and "”" not in text
    assert quoted > 300


def test_spaces_and_capitals_are_as_in_print(written):
    for text in written:
        assert "  " not in text and not re.search(r"\s[.,:!“]|„\s|^\s|\s$", text), text
        sentences = re.split(r"(?<=[.“]) (?=\S)", text)
        assert all(re.match("[A-ZÄÖÜ]", sentence) for sentence in sentences), text
        assert re.search("[.“]$", text), text


def test_the_receiver_thanks_the_giver_and_the_giver_answers(written):
    gifts = 0
    for text in written:
        for giver, receiver, gift, pleased, thanked in GIFT.findall(text):
            assert giver != receiver and pleased == receiver and thanked == giver and gift in ARTICLE, text
            assert ANSWER.findall(text) in ([], [(giver, receiver)]), text
            gifts += 1
    assert gifts > 300


def test_a_spell_is_repeated_whole_or_from_a_word_on(written):
    spells = 0
    for text in written:
        for spell, how, repeated in SPELL.findall(text):
            words = spell.split()
            assert 4 <= len(words) <= 8 and len(set(words)) == len(words), text
            assert spell.endswith(repeated) and len(repeated.split()) >= 2, text
            assert how != "Alle wiederholen" or repeated == spell, text
            spells += 1
    assert spells > 500


# --- English --------------------------------------------------------------------------------------

HE = "king prince knight boy uncle monk giant miller"
SHE = "queen princess lady girl aunt fairy maid nurse"
IT = "kite fox goose mouse wolf frog bear robot"
STANDS_FOR = {noun: word for word, nouns in (("he", HE), ("she", SHE), ("it", IT)) for noun in nouns.split()}
OWNS = {"he": "his", "she": "her", "it": "its", "they": "their"}
SEVERAL = {"geese": "goose", "mice": "mouse", "wolves": "wolf", "ladies": "lady", "fairies": "fairy"}
SEVERAL |= {"princesses": "princess", "foxes": "fox"}
SEVERAL_OF = {one: f"{one}s" for one in STANDS_FOR} | {one: many for many, one in SEVERAL.items()}
ONE_HERO = re.compile(r"^(An?) (\w+) (\w+) lives (?:in|by) ")
SOME_HEROES = re.compile(r"^(Two|Three|Four) (\w+) (\w+) live (?:in|by) ")
TOLD = re.compile(r"\b(?:Then|Today|Now|Soon) (he|she|it|they) (\w+)")
BECAUSE = re.compile(r"\bBecause (\w+) (is|are) \w+, (\w+) (\w+)\.")
ENGLISH_GIFT = re.compile(
    r"(\w+) (?:gives|brings|lends) (\w+) (an?) (\w+)\. That makes (\w+) happy: “Thanks, (\w+)!”"
)
ENGLISH_SPELL = re.compile(r"murmurs: ([\w ]+)\. (The echo calls|All repeat): ([\w ]+)\.")


@pytest.fixture(scope="module", params=SPLITS)
def told(request):
    return [story.text for story in stories(11, 1500, request.param, "en")]


def hero(text):
    """Who the story is about, in the singular, and whether there are several, read from the text alone."""
    if found := ONE_HERO.match(text):
        return found[3], False
    if found := SOME_HEROES.match(text):
        return SEVERAL.get(found[3], found[3].removesuffix("s")), True
    return None, False


def test_what_stands_for_the_hero_agrees_and_so_does_every_verb(told):
    checked, seen = 0, set()
    for text in told:
        noun, plural = hero(text)
        if noun is None:
            continue
        pronoun = "they" if plural else STANDS_FOR[noun]
        for found, verb in TOLD.findall(text):
            assert found == pronoun and verb.endswith("s") != plural, text
            checked += 1
        for first, be, second, verb in BECAUSE.findall(text):
            assert first == second == pronoun and be == ("are" if plural else "is"), text
            assert verb.endswith("s") != plural, text
        for owner in re.findall(r"\b(his|her|its|their)\b", text):
            assert owner == OWNS[pronoun], text
        seen.add((noun, plural))
    assert checked > 500 and {noun for noun, _plural in seen} == set(STANDS_FOR)
    assert len(seen) > 1.8 * len(STANDS_FOR)


def test_a_or_an_fits_the_next_word(told):
    found = [pair for text in told for pair in re.findall(r"\b([Aa]n?) (\w)", text)]
    assert len(found) > 500 and {article for article, _letter in found} == {"a", "an", "A", "An"}
    assert [pair for pair in found if (pair[0].lower() == "an") != (pair[1] in "aeiou")] == []


def test_english_quotation_marks_stand_in_pairs_and_spaces_are_as_in_print(told):
    for text in told:
        marks = re.findall("[“”]", text)
        assert marks == ["“", "”"] * (len(marks) // 2) and '"' not in text and "„" not in text, text
        assert "  " not in text and not re.search(r"\s[.,:!”]|“\s|^\s|\s$", text), text
        assert all(re.match("[A-Z]", sentence) for sentence in re.split(r"(?<=[.”]) (?=\S)", text)), text
    assert sum("“" in text for text in told) > 300


def test_who_is_made_happy_thanks_who_gave_and_a_spell_is_repeated(told):
    gifts = spells = 0
    for text in told:
        for giver, receiver, _article, _gift, pleased, thanked in ENGLISH_GIFT.findall(text):
            assert giver != receiver and pleased == receiver and thanked == giver, text
            answers = re.findall(r"(\w+) calls: “Any time, (\w+)!”", text)
            assert answers in ([], [(giver, receiver)]), text
            gifts += 1
        for spell, how, repeated in ENGLISH_SPELL.findall(text):
            assert 4 <= len(spell.split()) == len(set(spell.split())) <= 8, text
            assert spell.endswith(repeated) and len(repeated.split()) >= 2, text
            assert how != "All repeat" or repeated == spell, text
            spells += 1
    assert gifts > 300 and spells > 500


# --- probabilities --------------------------------------------------------------------------------


@EVERY_LANGUAGE
@pytest.mark.parametrize("split", ["train", "all"])
def test_the_probabilities_of_every_choice_sum_to_one(language, split):
    class Watching(Dice):
        seen: list = []  # noqa: RUF012

        def pick(self, count):
            self.seen.append(count)
            return super().pick(count)

        def branch(self, probabilities):
            assert math.isclose(sum(probabilities), 1) and min(probabilities) > 0
            self.seen.append(None)
            return super().branch(probabilities)

    dice = Watching(3)
    for _ in range(500):
        dice.seen.clear()
        choices = tell(grammar(language), dice, split).choices
        assert len(choices) == len(dice.seen)
        for choice, count in zip(choices, dice.seen):
            assert count is None or math.isclose(choice.probability * count, 1), choice


@EVERY_LANGUAGE
@pytest.mark.parametrize("split", SPLITS)
def test_all_outlines_together_have_probability_one(language, split):
    assert math.isclose(sum(probability for probability, _ in outlines(split, language)), 1)


def test_the_dice_fall_as_often_as_they_say():
    """Chi-square of 20,000 throws; 13.8 is passed once in a thousand times with 2 degrees of freedom."""
    dice, expected = Dice(5), [0.2, 0.3, 0.5]
    for throw in (dice.branch, lambda p: dice.pick(3)):
        counts = [0, 0, 0]
        for _ in range(20_000):
            counts[throw(expected)] += 1
        p = expected if throw == dice.branch else [1 / 3] * 3
        assert sum((n - 20_000 * q) ** 2 / (20_000 * q) for n, q in zip(counts, p)) < 13.8


@EVERY_LANGUAGE
@pytest.mark.parametrize("split", SPLITS)
def test_the_exact_floor_agrees_with_the_mean_surprise_of_many_stories(language, split):
    many = list(stories(21, 2500, split, language))
    exact = expectation(split, language)
    for mean, values in (
        (exact.nats, [story.nats for story in many]),
        (exact.tokens, [story.words + 1 for story in many]),
    ):
        average = sum(values) / len(values)
        error = math.sqrt(sum((value - average) ** 2 for value in values) / len(values) ** 2)
        assert abs(average - mean) < 4 * error
    assert exact.floor == exact.nats / exact.tokens


@EVERY_LANGUAGE
def test_stories_of_one_outline_cost_the_same_so_that_the_sum_over_outlines_is_exact(language):
    branches = {"plural", "two clauses", "scenes", "scene", "answer", "spell length", "echo", "echo from"}
    branches |= {"beginning", "ending"}
    costs = defaultdict(set)
    for story in stories(31, 2500, language=language):
        outline = tuple(choice.answer for choice in story.choices if choice.question in branches)
        costs[outline].add((round(story.nats, 9), story.words))
    assert len(costs) < 3000
    assert all(len(cost) == 1 for cost in costs.values())


class _Dead(Exception):
    """The text can no longer become the wanted one."""


class _Searching(corpus.Script):
    """A script that also goes through all picks, not only through all branches."""

    def pick(self, count):
        return self.branch([1 / count] * count)


def _words_of(answer):
    """The forms in which what was picked may stand in a text, as stems."""
    if isinstance(answer, corpus.Noun | corpus.Verb):
        return [form for form in answer if len(form) > 1]
    return [answer.noun if isinstance(answer, corpus.Clause) else answer.split()[-1]]


def probability_of(text, language, monkeypatch):
    """The probability of a text: the sum over every way in which the grammar can write it."""

    class Following(Draft):
        spoken = ""  # the spell so far: its words stand side by side, in the order in which they are picked

        def pick(self, question, options, after=None):
            answer = super().pick(question, options, after)
            if not any(word in text for word in _words_of(answer)):
                raise _Dead
            if question == "spell":
                self.spoken = f"{self.spoken} {answer}".strip()
                if self.spoken not in text:
                    raise _Dead
            return answer

        def write(self, *pieces):
            spans = super().write(*pieces)
            if not text.startswith(self.text):
                raise _Dead
            return spans

    monkeypatch.setattr(corpus, "Draft", Following)
    total, script = 0.0, []
    while script is not None:
        dice = _Searching(script)
        try:
            story = tell(grammar(language), dice)
            total += math.exp(-story.nats) if story.text == text else 0.0
        except _Dead:
            pass
        script = dice.following()
    return total


@EVERY_LANGUAGE
@pytest.mark.parametrize("index", range(12))
def test_no_text_can_be_written_in_two_ways(language, index, monkeypatch):
    """All derivations are searched: only the recorded one leads to the text."""
    story = next(islice(stories(41, language=language), index, None))
    assert math.isclose(
        probability_of(story.text, language, monkeypatch), math.exp(-story.nats), rel_tol=1e-9
    )


# --- held-out combinations ------------------------------------------------------------------------


def german_pairs(text):
    """The pairs of words that are subject to being held out, read from the text alone."""
    if found := SINGULAR_SUBJECT.match(text) or PLURAL_SUBJECT.match(text):
        animal = PLURAL.get(found[3], found[3])
        yield animal, next(a for a in german.ADJECTIVES if found[2].startswith(a))
        for thing in re.findall(r"(?:Heute|Nun) \w+ \w+ \w+ (\w+)\.", text):
            yield animal, thing
    yield from ((gift[0], gift[1]) for gift in GIFT.findall(text))
    yield from (tuple(spell.split()[:2]) for spell, _, _ in SPELL.findall(text))


def english_pairs(text):
    """As `german_pairs`."""
    if found := ONE_HERO.match(text) or SOME_HEROES.match(text):
        noun, _plural = hero(text)
        yield noun, found[2]
        for thing in re.findall(r"(?:Today|Now) \w+ \w+ \w+ (\w+)\.", text):
            yield noun, thing
    yield from ((gift[0], gift[1]) for gift in ENGLISH_GIFT.findall(text))
    yield from (tuple(spell.split()[:2]) for spell, _, _ in ENGLISH_SPELL.findall(text))


PAIRS = {"de": german_pairs, "en": english_pairs}
HELD_OUT = {
    language: {tuple(getattr(word, "word", word) for word in pair) for pair in grammar(language).held_out}
    for language in LANGUAGES
}


def pairs_in(language, *which):
    return [pair for story in stories(*which, language=language) for pair in PAIRS[language](story.text)]


@EVERY_LANGUAGE
def test_training_stories_hold_no_held_out_pair(language):
    found = pairs_in(language, 51, 4000)
    assert len(found) > 5_000
    assert not HELD_OUT[language].intersection(found)


@EVERY_LANGUAGE
def test_held_out_stories_hold_nothing_else(language):
    found = pairs_in(language, 51, 4000, "held_out")
    assert HELD_OUT[language].issuperset(found)
    assert len(set(found)) > 0.98 * len(HELD_OUT[language])


@EVERY_LANGUAGE
def test_each_word_of_a_held_out_pair_is_known_from_training_with_others(language):
    known = set(pairs_in(language, 52, 4000))
    for first, second in HELD_OUT[language]:
        assert any(pair[0] == first for pair in known) and any(pair[1] == second for pair in known)


def test_an_unknown_split_is_refused():
    with pytest.raises(ValueError, match="split"):
        next(stories(0, split="test"))


def test_an_unknown_language_is_refused():
    with pytest.raises(ValueError, match="de, en"):
        stories(0, language="fr")


# --- marks ----------------------------------------------------------------------------------------


@EVERY_LANGUAGE
def test_marks_name_the_word_and_what_decides_it(language):
    seen, (opening, closing) = set(), grammar(language).quotes
    for story in stories(61, 1500, language=language):
        for mark in story.marks:
            word, source = story.text[slice(*mark.span)], story.text[slice(*mark.source)]
            assert mark.source.end <= mark.span.start
            assert word and word not in mark.rivals
            if mark.ability in ("giver", "receiver", "copy"):
                assert word == source
            elif mark.ability == "quote":
                between = story.text[mark.source.end : mark.span.start]
                assert (word, source) == (closing, opening) and opening not in between
            else:
                (noun, plural) = subject(story.text) if language == "de" else hero(story.text)
                several = {"de": {one: many for many, one in PLURAL.items()}, "en": SEVERAL_OF}[language]
                assert source.split()[-1] == (several[noun] if plural else noun)
                assert story.text.startswith(source)
            seen.add(mark.ability)
    assert seen == {"pronoun", "possessive", "plural", "giver", "receiver", "copy", "quote"}


PRONOUNS = {"de": "er|sie|es", "en": "he|she|it|they"}
POSSESSIVES = {"de": "(sein|ihr)(en|e)?", "en": "his|her|its|their"}
SPELLS = {"de": (SPELL, "Das Echo ruft"), "en": (ENGLISH_SPELL, "The echo calls")}


@EVERY_LANGUAGE
def test_marks_leave_out_no_place_that_is_decided(language):
    """Counted in the text by other means."""
    opening, closing = grammar(language).quotes
    spell_of, echoing = SPELLS[language]
    for story in stories(62, 1500, language=language):
        count = defaultdict(int)
        for mark in story.marks:
            count[mark.ability] += 1
        told = re.sub(f"{opening}.*?{closing}", "", story.text)
        assert count["pronoun"] == len(re.findall(rf"\b({PRONOUNS[language]})\b", told))
        assert count["possessive"] == len(re.findall(rf"\b({POSSESSIVES[language]})\b", told))
        assert count["quote"] == len(re.findall(rf"\.{closing}", story.text))
        copied = sum(len(r.split()) - (how == echoing) for _, how, r in spell_of.findall(story.text))
        assert count["copy"] == copied


# --- use ------------------------------------------------------------------------------------------


def test_a_seed_always_writes_the_same_stories_in_the_language_shown():
    assert list(stories(7, 50, language="de")) == list(stories(7, 50)) != list(stories(7, 50, language="en"))
    assert list(stories(7, 50)) == list(stories(7, 50))
    assert list(stories(7, 50)) == list(islice(stories(7), 50))
    assert list(stories(7, 50)) != list(stories(8, 50))


@EVERY_LANGUAGE
def test_stories_differ_from_one_another(language):
    texts = [story.text for story in stories(71, 3000, language=language)]
    assert len(set(texts)) > 0.99 * len(texts)
    assert all(one != other for one, other in pairwise(texts))


@EVERY_LANGUAGE
def test_every_story_fits_a_context_of_64(language):
    """The start token and all words are read; the end token is only predicted."""
    assert max(story.words for _, story in outlines(language=language)) + 1 <= 64


def test_twenty_thousand_stories_take_a_few_seconds():
    started = time.process_time()
    assert sum(1 for _ in stories(81, 2000)) == 2000
    assert time.process_time() - started < 2
