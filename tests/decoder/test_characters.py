"""Characters that leave no ink: spelled in labels, and unable to turn a sentence around."""

import re

import regex
from hypothesis import given
from hypothesis import strategies as st

from tokenwerk_helpers import characters
from tokenwerk_helpers.chapters.residual import views
from tokenwerk_helpers.live.text import LiveText


def test_whatever_leaves_no_ink_or_turns_a_line_is_spelled_in_a_label():
    """All of Unicode, by the tables of another library."""
    every = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
    blank = regex.findall(r"[\p{DI}\p{Cc}\p{Cf}\p{Z}\p{Bidi_Control}\u2800]", every)
    assert len(blank) > 400
    for character in blank:
        shown = characters.visible(character)
        assert shown in ("␣", characters.spelled(character)), shown


def test_what_can_be_seen_stays_as_it_is_in_a_label():
    plain = "Übung „Größe“ ↛ 0.5 × 10⁻³ ≤ ∞, Ελληνικά, кошка, 猫, عربي, שלום, ·–—…€😀"
    assert characters.visible(plain, keep_spaces=True) == plain


CAPTION = LiveText()


@given(st.text())
def test_nothing_a_reader_types_turns_a_caption_around_and_nothing_else_of_it_changes(text):
    typed = f"a\u202e{text}\u2066b"
    CAPTION.value = typed
    shown = CAPTION.value
    assert not regex.search(r"\p{Bidi_Control}", shown)
    assert re.sub("‹U\\+([0-9A-F]{4})›", lambda code: chr(int(code[1], 16)), shown) == typed


def test_caption_and_alternative_text_are_both_kept_straight():
    explorer = views.VectorAddition()
    explorer.say("Mia\u202e lacht")
    assert explorer.caption.value == explorer.described()[0].alt == "Mia‹U+202E› lacht"
