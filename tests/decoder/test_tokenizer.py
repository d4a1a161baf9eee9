"""The tokenizer against the `tokenizers` library, and what must hold for any text."""

import copy
import json
import pickle
from collections import Counter

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import decoders, models, pre_tokenizers, trainers

from tokenwerk_helpers.tokenizer import GPT2_WORDS, WORDS, Tokenizer, label, learn, merged, split, train

STORIES = [
    "Die Katze sucht ihren Ball. Dann lacht sie.",
    "Mia gibt Jan eine Feder. Da sagt Jan: „Danke, Mia!“",
    "Der große Bär findet die Nüsse.\nHeute übt er: „Abra, kadabra, abra!“",
    "Weil der Bär müde ist, schläft er. Die Bären schlafen, die Katzen auch.",
]
STORY_TOKENIZER = train(STORIES)
HARD_TEXTS = [
    "",
    " ",
    "\n\n  \n",
    "a  b   c\t\td",
    "Mäuse und Ma\u0308use",
    "👩‍👩‍👧 🎉 ☺️",
    "漢字 かな 한국어 العربية עברית",
    "x² ½ Ⅷ ٣ 12 3.14",
    "„Ach!“ ‚so‘ »nun« – …",
    "\x00\x1c\x7f\u0085\u00a0\u2028\u3000 ",
    "don't we'll I'm",
    "Preis: 5 $ und $x^2$ <b>fett</b>",
    "Leser·innen ␣ ‹C3›",
]
# Few letters, so that pairs repeat, tie and overlap ("aaa"); two of them take two bytes each.
WORD_COUNTS = st.dictionaries(st.text("abcäö", min_size=1, max_size=7), st.integers(1, 5), min_size=1)
# Without code points that Python's Unicode tables do not know yet ("Cn"): the library's may, as letters.
ANY = st.characters(exclude_categories=["Cs", "Cn"])
TEXTS = st.text(ANY) | st.text(st.sampled_from("aeKtzät  \n\t.,!?„“'s12ü\u0308½🎉字\u00a0"))


def byte_letters(word: str) -> str:
    """One letter per byte, in the order of the bytes, so that the library breaks ties as we do."""
    return "".join(chr(0x100 + value) for value in word.encode())


def library_merges(words: dict[str, int]) -> list[tuple[str, str]]:
    """What `tokenizers` learns from the words, each byte spelled as one letter."""
    library = tokenizers.Tokenizer(models.BPE())
    library.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    alphabet = [chr(0x100 + value) for value in range(256)]
    trainer = trainers.BpeTrainer(
        vocab_size=10_000, min_frequency=1, show_progress=False, initial_alphabet=alphabet
    )
    texts = [byte_letters(word) for word, number in words.items() for _ in range(number)]
    library.train_from_iterator(texts, trainer)
    return [tuple(pair) for pair in json.loads(library.to_str())["model"]["merges"]]


def our_merges(words: dict[str, int]) -> list[tuple[str, str]]:
    return [tuple("".join(chr(0x100 + v) for v in side) for side in merge[:2]) for merge in learn(words)]


# --- learning -------------------------------------------------------------------------------------


def test_a_first_merge_can_be_counted_by_hand():
    """F33: pairs are counted inside words, and the most frequent becomes a token."""
    merges = list(learn({"hat": 3, "hut": 1, "rat": 2}))
    assert merges[0] == (b"a", b"t", 5)  # 3 times in hat, twice in rat
    assert merges[1] == (b"h", b"at", 3)


def test_of_pairs_equally_frequent_the_older_token_is_merged_first():
    """F33: the stated rule, left token first; the order of the words plays no part."""
    assert next(learn({"zz": 1, "ba": 1, "ab": 1}))[:2] == (b"a", b"b")
    assert next(learn({"ac": 1, "ab": 1}))[:2] == (b"a", b"b")


@given(WORD_COUNTS)
def test_every_merge_is_the_one_the_tokenizers_library_learns(words):
    """F33: merge by merge, ties included."""
    assert our_merges(words) == library_merges(words)


def test_the_merges_of_whole_stories_are_those_of_the_tokenizers_library():
    """F33"""
    words = Counter(word.replace(" ", "_") for story in STORIES for word in split(story) if word != "\n")
    ours = our_merges(words)
    assert len(ours) > 100
    assert ours == library_merges(words)


@given(WORD_COUNTS)
def test_each_count_is_what_a_recount_from_the_start_gives(words):
    pieces = {word: [bytes([value]) for value in word.encode()] for word in words}
    for left, right, count in learn(words):
        recount = sum(
            number * sum(pair == (left, right) for pair in zip(pieces[word], pieces[word][1:]))
            for word, number in words.items()
        )
        assert count == recount
        pieces = {word: merged(spelled, left, right) for word, spelled in pieces.items()}
    assert all(len(spelled) == 1 for spelled in pieces.values())


def test_a_run_of_equal_pieces_is_merged_from_the_left():
    assert merged([b"a"] * 5, b"a", b"a") == [b"aa", b"aa", b"a"]


def test_trained_to_the_end_every_word_of_the_texts_is_one_token():
    for story in STORIES:
        assert len(STORY_TOKENIZER.encode(story)) == len(split(story))


@pytest.mark.parametrize("size", [258, 259, 300])
def test_a_vocabulary_size_is_met(size):
    tokenizer = train(STORIES, size)
    assert len(tokenizer) == size
    assert tokenizer.decode(tokenizer.encode(STORIES[1])) == STORIES[1]


def test_a_vocabulary_without_room_for_the_bytes_is_refused():
    with pytest.raises(ValueError, match="257 is too small"):
        train(STORIES, 257)


# --- text to ids and back -------------------------------------------------------------------------


@given(TEXTS)
def test_any_text_comes_back_exactly(text):
    """F33: no unknown token, nothing lost."""
    assert STORY_TOKENIZER.decode(STORY_TOKENIZER.encode(text)) == text
    assert "".join(split(text)) == text


@pytest.mark.parametrize("text", HARD_TEXTS)
def test_a_hard_text_comes_back_exactly(text):
    assert STORY_TOKENIZER.decode(STORY_TOKENIZER.encode(text)) == text


def test_composed_and_decomposed_umlauts_stay_different_texts():
    composed, decomposed = STORY_TOKENIZER.encode("ü"), STORY_TOKENIZER.encode("u\u0308")
    assert composed != decomposed
    assert STORY_TOKENIZER.decode(decomposed) == "u\u0308"


def test_half_an_emoji_becomes_a_question_mark():
    assert STORY_TOKENIZER.decode(STORY_TOKENIZER.encode("a\ud83d")) == "a?"


def test_special_tokens_never_come_from_text():
    for text in ("<|start|>", "<|end|>", "a<|end|>b"):
        ids = STORY_TOKENIZER.encode(text)
        assert not {STORY_TOKENIZER.start, STORY_TOKENIZER.end} & set(ids)
        assert STORY_TOKENIZER.decode(ids) == text


def test_special_tokens_frame_a_text_without_changing_it():
    tokenizer = STORY_TOKENIZER
    assert tokenizer.decode([tokenizer.start, *tokenizer.encode("Mia"), tokenizer.end]) == "Mia"


def test_every_id_lies_in_the_vocabulary_and_others_are_refused():
    assert {id for text in HARD_TEXTS for id in STORY_TOKENIZER.encode(text)} <= set(
        range(len(STORY_TOKENIZER))
    )
    for id in (-1, len(STORY_TOKENIZER)):
        with pytest.raises(IndexError, match=f"no token has the id {id}"):
            STORY_TOKENIZER.decode([id])


def test_words_keep_their_space_and_marks_and_newlines_stand_alone():
    assert split("Da sagt Jan: „Oh!“\n\nMia  lacht.") == [
        *("Da", " sagt", " Jan", ":", " „", "Oh", "!", "“", "\n", "\n", "Mia", " ", " lacht", ".")
    ]
    assert split("so \n\n\n  oft") == ["so", " ", "\n", "\n", "\n", " ", " oft"]


def test_the_steps_of_a_word_lead_from_its_bytes_to_its_tokens():
    """F33: merge by merge, each step the pair that was learned first."""
    steps = list(STORY_TOKENIZER.steps(" Bären"))
    assert steps[0].pieces == [b" ", b"B", b"\xc3", b"\xa4", b"r", b"e", b"n"]
    assert steps[0].merge is None
    rank = {pair: number for number, pair in enumerate(STORY_TOKENIZER.merges)}
    ranks = [rank[step.merge] for step in steps[1:]]
    assert ranks == sorted(ranks)
    assert steps[-1].pieces == [" Bären".encode()]


def test_the_first_merges_alone_are_a_tokenizer_too():
    few = Tokenizer(STORY_TOKENIZER.merges[:10])
    assert len(few) == 268
    assert len(few.encode("Katzen")) > len(STORY_TOKENIZER.encode("Katzen"))


# --- labels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "token, shown",
    [
        (b" Katze", "␣Katze"),
        (b"\n", "↵"),
        (b"\t", "⇥"),
        ("ä".encode(), "ä"),
        (b"\xc3", "‹C3›"),
        (b" \xf0\x9f", "␣‹F0›‹9F›"),
        (b"\xa4r", "‹A4›r"),
        ("\u0308".encode(), "◌\u0308"),
        ("\u200d".encode(), "‹U+200D›"),
        ("❤\ufe0f".encode(), "❤‹U+FE0F›"),
        ("\u3164".encode(), "‹U+3164›"),
        ("\u202eab".encode(), "‹U+202E›ab"),
        (b"\x00", "‹U+0000›"),
        (b"$x$", "$x$"),
    ],
)
def test_a_label_shows_what_the_eye_would_miss(token, shown):
    assert label(token) == shown


@given(st.binary(min_size=1))
def test_any_bytes_have_a_printable_label_without_spaces(token):
    shown = label(token)
    assert shown.isprintable() and " " not in shown


@pytest.mark.parametrize("again", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_encodes_decodes_and_labels_as_the_tokenizer_does(again):
    STORY_TOKENIZER.encode(STORIES[0])
    made = again(STORY_TOKENIZER)
    ids = STORY_TOKENIZER.encode(" ".join(STORIES))
    assert made.encode(" ".join(STORIES)) == ids and made.decode(ids) == STORY_TOKENIZER.decode(ids)
    assert made.labels([made.start, *ids, made.end]) == STORY_TOKENIZER.labels([256, *ids, 257])


@pytest.mark.parametrize("id", [3.7, "3"])
def test_an_id_is_a_whole_number(id):
    for read in (STORY_TOKENIZER.labels, STORY_TOKENIZER.decode):
        with pytest.raises(TypeError):
            read([id])


def test_labels_name_the_special_tokens():
    tokenizer = STORY_TOKENIZER
    ids = [tokenizer.start, *tokenizer.encode("Die Katze"), tokenizer.end]
    assert tokenizer.labels(ids) == ["<|start|>", "Die", "␣Katze", "<|end|>"]


# --- files, and the `tokenizers` library as reader --------------------------------------------------


def library_from(tokenizer: Tokenizer, path) -> tokenizers.Tokenizer:
    tokenizer.save(path)
    return tokenizers.Tokenizer.from_file(str(path))


@pytest.fixture(scope="module", params=[WORDS, GPT2_WORDS], ids=["ours", "gpt2"])
def pair(request, tmp_path_factory):
    """Our tokenizer, and the library's reading of the file it saved."""
    ours = Tokenizer(STORY_TOKENIZER.merges, pattern=request.param)
    return ours, library_from(ours, tmp_path_factory.mktemp("tokenizer") / "tokenizer.json")


@given(text=TEXTS)
def test_the_tokenizers_library_cuts_a_text_into_the_same_words(pair, text):
    ours, library = pair
    cuts = [cut for _, cut in library.pre_tokenizer.pre_tokenize_str(text)]
    assert split(text, ours.pattern) == [text[start:end] for start, end in cuts]


@given(text=TEXTS)
def test_the_tokenizers_library_reads_our_file_and_gives_the_same_ids(pair, text):
    ours, library = pair
    if "<|" not in text:  # there typed special tokens are special, here they are text
        assert ours.encode(text) == library.encode(text).ids


@pytest.mark.parametrize("text", HARD_TEXTS + STORIES)
def test_the_library_agrees_on_hard_texts(pair, text):
    ours, library = pair
    cuts = [cut for _, cut in library.pre_tokenizer.pre_tokenize_str(text)]
    assert split(text, ours.pattern) == [text[start:end] for start, end in cuts]
    assert ours.encode(text) == library.encode(text).ids
    assert library.decode(ours.encode(text)) == text


def test_the_library_reads_a_tokenizer_it_trained_back_through_ours(tmp_path):
    """A file as Hugging Face writes it, with GPT-2's pre-tokenizer, is read and cuts texts the same way."""
    library = tokenizers.Tokenizer(models.BPE())
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    library.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    library.train_from_iterator(STORIES, trainer)
    library.save(str(tmp_path / "tokenizer.json"))
    ours = Tokenizer.load(tmp_path / "tokenizer.json", library.get_vocab_size())
    assert ours.start == ours.end == 0
    for text in HARD_TEXTS + STORIES:
        assert ours.encode(text) == library.encode(text).ids
        assert ours.decode(ours.encode(text)) == text


def test_saved_and_loaded_it_is_the_same_tokenizer(tmp_path):
    STORY_TOKENIZER.save(tmp_path / "tokenizer.json")
    loaded = Tokenizer.load(tmp_path / "tokenizer.json", len(STORY_TOKENIZER))
    for name in ("tokens", "merges", "special", "pattern", "start", "end"):
        assert getattr(loaded, name) == getattr(STORY_TOKENIZER, name)


def test_a_vocabulary_of_another_size_than_the_model_is_refused(tmp_path):
    STORY_TOKENIZER.save(tmp_path / "tokenizer.json")
    with pytest.raises(ValueError, match=r"tokenizer\.json: .* vocab_size 100"):
        Tokenizer.load(tmp_path / "tokenizer.json", 100)


def change_model_type(content):
    content["model"]["type"] = "WordPiece"


def change_pre_tokenizer(content):
    content["pre_tokenizer"] = {"type": "Whitespace"}


def add_normalizer(content):
    content["normalizer"] = {"type": "Lowercase"}


def drop_special(content):
    content["added_tokens"] = []


def drop_pre_tokenizer(content):
    content["pre_tokenizer"] = None


def merge_without_token(content):
    content["model"]["merges"].append(["x", "q"])


def drop_a_byte(content):
    content["model"]["vocab"]["xqxq"] = content["model"]["vocab"].pop("q")


def open_a_gap(content):
    content["model"]["vocab"]["!"] = 99_999


@pytest.mark.parametrize(
    "change",
    [
        change_model_type,
        change_pre_tokenizer,
        drop_pre_tokenizer,
        add_normalizer,
        drop_special,
        open_a_gap,
        merge_without_token,
        drop_a_byte,
    ],
)
def test_another_kind_of_tokenizer_is_refused_by_name(tmp_path, change):
    path = tmp_path / "tokenizer.json"
    STORY_TOKENIZER.save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ValueError, match=r"tokenizer\.json: not a byte-level BPE"):
        Tokenizer.load(path)
