"""Numbers as the chapter writes them: decimal point, lists in square brackets."""

from collections.abc import Iterable

from ..language import _


def number(value: float, digits: int = 2) -> str:
    """The value rounded to `digits` decimals, without trailing zeros and without "-0"."""
    text = f"{float(value):.{digits}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def vector(values: Iterable[float], digits: int = 2) -> str:
    """A list such as [2.3, 4.8]."""
    return "[" + ", ".join(number(value, digits) for value in values) + "]"


def percent(share: float, digits: int = 0) -> str:
    """A share of one as a percentage, 0.25 -> "25 %".

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
        return f"{text} %"
    if share > 0.999:
        return over.format(percentage="99.9 %")
    if share < 0.001:
        return under.format(percentage="0.1 %")
    return f"{number(100 * share, digits + 1)} %"


def grouped(value: int) -> str:
    """A whole number, from five digits on in groups of three by narrow spaces: 2688, "124 439 808"."""
    return str(value) if abs(value) < 10_000 else f"{value:,}".replace(",", "\u202f")
