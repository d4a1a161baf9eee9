"""Characters that leave no ink: how they are shown where the eye would miss them, or be led astray.

Python does not know Unicode's property Default_Ignorable_Code_Point; most of those characters count as not
printable, the others are named here.
"""

import re
from unicodedata import category

# Fillers of Hangul, Khmer, Khitan and Braille, variation selectors, a note head without ink.
_BLANK = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U00016fe4\U0001d159\U000e0100-\U000e01ef"
)
_IS_BLANK = re.compile(f"[{_BLANK}]")
_TURNS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")  # Unicode's property Bidi_Control


def spelled(character: str) -> str:
    """The character as its code point: "‹U+202E›"."""
    return f"‹U+{ord(character):04X}›"


def visible(text: str, keep_spaces: bool = False) -> str:
    """The text with a sign for every character that shows nothing: "␣" for a space, others as code points.

    keep_spaces leaves spaces of all widths as they are.
    """
    return "".join(_with_ink(character, keep_spaces) for character in text)


def _with_ink(character: str, keep_spaces: bool) -> str:
    # "␣" and not "·": the middle dot occurs in German texts ("Leser·innen").
    if category(character) == "Zs" and (keep_spaces or character == " "):
        return character if keep_spaces else "␣"
    return character if character.isprintable() and not _IS_BLANK.match(character) else spelled(character)


def unturned(text: str) -> str:
    """The text with every character spelled that would turn the direction of a line: for sentences.

    What else leaves no ink stays: narrow spaces part the digits of numbers, joiners hold an emoji together.
    """
    return _TURNS.sub(lambda match: spelled(match.group()), text)
