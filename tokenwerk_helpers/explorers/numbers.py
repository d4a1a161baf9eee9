"""Numbers as the chapter writes them: decimal point, lists in square brackets."""

from collections.abc import Iterable


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
    """A share of one as a percentage, 0.25 -> "25 %"."""
    return f"{number(100 * share, digits)} %"


def grouped(value: int) -> str:
    """A whole number, from five digits on in groups of three by narrow spaces: 2688, "124 439 808"."""
    return str(value) if abs(value) < 10_000 else f"{value:,}".replace(",", "\u202f")
