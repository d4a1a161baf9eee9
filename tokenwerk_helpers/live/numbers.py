"""Numbers: written as the chapter does (decimal point, lists in square brackets), read as readers write.

What a reader sees has a real minus, and a narrow space that no line breaks at before a unit. Percentages and
large numbers are written in the manner of the language: 25%, 124,439,808; in German with narrow spaces.
"""

import math
import re
from collections.abc import Iterable

from ..language import ReaderMistake, _
from . import style

# ---- written ----

MINUS, NARROW = "−", "\u202f"


def number(value: float, digits: int = 2) -> str:
    """The value rounded to `digits` decimals, without trailing zeros and without "-0"."""
    text = f"{float(value):.{digits}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text.replace("-", MINUS)


def vector(values: Iterable[float], digits: int = 2) -> str:
    """A list such as [2.3, 4.8]."""
    return "[" + ", ".join(number(value, digits) for value in values) + "]"


def with_sign(percentage: str) -> str:
    """A number as a percentage, in the manner of the language: 25%, in German with a narrow space."""
    return _("{percentage}%").format(percentage=percentage)


def percent(share: float, digits: int = 0) -> str:
    """A share of one as a percentage, 0.25 -> "25%".

    What is not quite all or nothing is not rounded to 100 % or 0 %: it gets one digit more, and where that is
    not enough, "over 99.9 %" or "under 0.1 %".
    """
    return _percent(share, digits, _("over {percentage}"), _("under {percentage}"))


def percent_label(share: float, digits: int = 0) -> str:
    """`percent` for a label in a picture, where room is short: "> 99.9 %", "< 0.1 %"."""
    return _percent(share, digits, "> {percentage}", "< {percentage}")


def _percent(share: float, digits: int, over: str, under: str) -> str:
    text = number(100 * share, digits)
    if not 0 < share < 1 or text not in ("0", "100"):
        return with_sign(text)
    if share > 0.999:
        return over.format(percentage=with_sign("99.9"))
    if share < 0.001:
        return under.format(percentage=with_sign("0.1"))
    return with_sign(number(100 * share, digits + 1))


def small_percent(share: float) -> str:
    """A share as a percentage with two digits that count: 8.3 %, 0.12 %, 0.009 %."""
    digits = max(1, 1 - math.floor(math.log10(100 * share))) if share > 0 else 0
    return percent(share, digits)


def grouped(value: int) -> str:
    """A whole number, from five digits on in groups of three: 2688, 124,439,808."""
    return str(value) if abs(value) < 10_000 else f"{value:,}".replace(",", _("1,000")[1])


def magnitude(value: float, decimals: int = 0) -> str:
    """A number of any size for a sentence: 0.43, or 3·10⁻⁹, the factor with so many decimals."""
    if value == 0 or not math.isfinite(value):
        return f"{value:.0f}".replace("inf", "∞")
    if 0.01 <= value < 1000:
        return f"{value:.2g}" if value < 99.5 else f"{value:.0f}"
    mantissa, exponent = f"{value:.{decimals}e}".split("e")
    return f"{mantissa}·10{str(int(exponent)).translate(style.SUPERSCRIPT)}"


def compact(value: float, digits: int = 4) -> str:
    """A number of any size with `digits` telling digits: 1.0005, 0.003162, 12345, 10⁻⁸, 3.2·10⁻⁷."""
    if 10**digits <= abs(value) < 1e6:
        return f"{value:.0f}".replace("-", MINUS)
    if value == 0 or 1e-4 <= abs(value) < 1e6 or not math.isfinite(value):
        return f"{value:.{digits}g}".replace("-", MINUS)
    mantissa, exponent = f"{value:.{min(digits, 2) - 1}e}".split("e")
    power = f"10{str(int(exponent)).translate(style.SUPERSCRIPT)}"
    return power if float(mantissa) == 1 else f"{mantissa.replace('-', MINUS)}·{power}"


def listed(values: Iterable[float]) -> str:
    """A list for a sentence, with as many decimals as its largest number needs to show two digits or more."""
    largest = max((abs(float(value)) for value in values), default=0.0)
    digits = 2 if largest == 0 or not math.isfinite(largest) else 2 - math.floor(math.log10(largest))
    return vector(values, min(8, max(2, digits)))


def memory(size: int) -> str:
    """A number of bytes with a decimal unit: 10.8 kB, 497.8 MB, 698.4 GB."""
    units = ("B", "kB", "MB", "GB", "TB")
    power = next((power for power in range(len(units)) if size < 1000 ** (power + 1)), len(units) - 1)
    return f"{number(size / 1000**power, 1)}{NARROW}{units[power]}"


def short(total: int) -> str:
    """A number of parameters in a few letters: 2688, 124.4 M, 174.6 B (in German: Mio., Mrd.)."""
    if total < 10**5:
        return str(total)
    if total < 10**9:
        return _("{number} M").format(number=number(total / 10**6, 1))
    return _("{number} B").format(number=number(total / 10**9, 1))


# ---- read ----

PLAIN = r"\d+[.,]?\d*|[.,]\d+"
GROUPED = (  # the sign between the groups, the decimal sign
    ("[ '’_]", "[.,]"),
    (r"\.", ","),
    (",", r"\."),
)
POWER = rf"(?P<mantissa>{PLAIN})\s*(?:e|[·*×x]\s*10(?:\^|\*\*))(?P<exponent>[+-]?\d+)"
BARE_POWER = r"10(?:\^|\*\*)(?P<exponent>[+-]?\d+)"
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
CLEAR_COMMA = r"(?<!\d),|,(?!\d)"  # beside a space, a sign or a bracket: it separates numbers
TIGHT_COMMA = r"(?<=\d),(?=\d)"


def read_number(text: str) -> float:
    """The number a reader typed.

    A decimal point or comma, digits in groups of three, any minus, "50 %", "1e-3", "3.2·10⁻⁷". ReaderMistake
    where it is no number, and where it is two: "1.400" says which sign leaves it open and how to write it.
    """
    readings = readings_of(text)
    if not readings:
        raise ReaderMistake(_("“{text}” is not a number.").format(text=text))
    if len(readings) > 1:
        raise _undecided(text, "," if "," in text else ".", _clear(readings[1]), _clear(readings[0]))
    return readings[0]


def readings_of(text: str) -> list[float]:
    """What a text can mean as one number: nothing, one value, or two; that with a decimal sign first."""
    return _readings(_plain(text))


def read_vector(text: str) -> list[float]:
    """The list of numbers a reader typed, separated by semicolons, commas or spaces, brackets or not.

    In square brackets commas separate and points are decimal, as the chapter and Python write it.
    ReaderMistake where a part is no number, and where a comma, a point or a space can be read in two ways.
    """
    plain = _plain(text)
    inner = plain.strip("[]() ")
    as_in_the_chapter = plain[:1] in ("[", "(") and ";" not in inner
    parts = [part.strip() for part in _parts(inner, text, as_in_the_chapter) if part.strip()]
    readings = [_readings(part) for part in parts]
    if not all(readings):
        raise ReaderMistake(_("“{text}” is not a list of numbers such as [1, -0.5].").format(text=text))
    if as_in_the_chapter:
        return [first for first, *_others in readings]
    return [read_number(part) for part in parts]


def _plain(text: str) -> str:
    """The text with one kind of minus, raised digits as powers, and "_" for spaces that never separate."""
    text = re.sub("[−–‒]", "-", text.strip())
    text = re.sub("[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda raised: "^" + raised.group().translate(RAISED), text)
    text = re.sub(r"(?<=\d)(?:[\u00a0\u2007\u2009\u202f]| (?=0))(?=\d{3}(?!\d))", "_", text)
    return re.sub(r"\s+", " ", re.sub(r"\s+%", "%", text))


def _readings(text: str) -> list[float]:
    """`readings_of` a text made plain."""
    cut = re.fullmatch(r"([+-]?) ?(.*?)(%?)", text)
    assert cut is not None  # whatever the text: nothing in it is a line break any more
    sign, text, percent = cut.groups()
    parts = (-1 if sign == "-" else 1) * (100 if percent else 1)
    power = re.fullmatch(POWER, text, re.IGNORECASE) or re.fullmatch(BARE_POWER, text)
    if power:
        mantissa = power.groupdict().get("mantissa", "1").replace(",", ".")
        found = [f"{mantissa}e{power['exponent']}"]
    else:
        found = [text.replace(",", ".")] if re.fullmatch(PLAIN, text) else []
    for group, decimal in GROUPED:
        if re.fullmatch(rf"[1-9]\d{{0,2}}(?:{group}\d{{3}})+(?:{decimal}\d+)?", text):
            found.append(re.sub(group, "", text).replace(",", "."))
    return [float(digits) / parts for digits in found if math.isfinite(float(digits))]


def _clear(value: float) -> str:
    """The value so written that it has one reading: three decimals get a fourth."""
    text = number(value, 12)
    return text + "0" if len(readings_of(text)) > 1 else text


def _parts(inner: str, text: str, as_in_the_chapter: bool) -> list[str]:
    """The parts of a list, each of which should be a number."""
    if ";" in inner:
        chunks = [chunk.strip() for chunk in inner.split(";")]
        return [part for chunk in chunks for part in ([chunk] if _readings(chunk) else chunk.split(" "))]
    tight, clear = re.search(TIGHT_COMMA, inner), re.search(CLEAR_COMMA, inner)
    if tight and clear:
        points = re.sub(f" ?(?:{CLEAR_COMMA}) ?", "; ", re.sub(TIGHT_COMMA, ".", inner))
        raise _undecided(text, ",", points, re.sub(" ?, ?", "; ", inner), in_list=True)
    if tight and not as_in_the_chapter and " " not in inner and (readings := _readings(inner)):
        raise _undecided(text, ",", _clear(readings[-1]), inner.replace(",", "; "), in_list=True)
    if clear or (tight and " " not in inner):
        return inner.split(",")
    if re.search(r"(?<![\d.,])\d{1,3} \d{3}(?!\d)", inner):
        raise _undecided(text, " ", inner.replace(" ", ""), inner.replace(" ", "; "), in_list=True)
    return inner.split(" ")


def _undecided(text: str, sign: str, one: str, other: str, in_list: bool = False) -> ReaderMistake:
    """A text that can be read in two ways, because of that sign, and how to write each of them."""
    names = {",": _("The comma"), ".": _("The point"), " ": _("The space")}
    message = _("{sign} in “{text}” can be read in two ways. Write {one} or {other}.").format(
        sign=names[sign], text=text.strip(), one=one, other=other
    )
    if in_list:
        message += " " + _("A semicolon always separates numbers.")
    return ReaderMistake(message)
