"""Numbers and names as every view writes them, on pages and in terminals alike."""

from __future__ import annotations

from ...records.evaluation import Interval

__all__ = [
    "method_in_words",
    "percent",
    "plural",
    "points",
    "two_digits",
    "write_interval",
    "write_signed",
]

_PRODUCTS = {
    "attention_gradient": "attention x gradient",
    "gradient_input": "gradient x input",
}


def percent(share: float, digits: int = 1) -> str:
    """Write a share as ``89.4 %``, and never a false zero or hundred."""
    # Half of the last digit: what is nearer to an end would be rounded to it.
    least = 0.5 * 10 ** -(digits + 2)
    if share >= 1 - least:
        return "100 %" if share >= 1 else f">{100 - 10**-digits:.{digits}f} %"
    if share < least:
        return "0 %" if share <= 0 else f"<{10**-digits:.{digits}f} %"
    return f"{100 * share:.{digits}f} %"


def two_digits(share: float) -> str:
    """Write a share with the two digits that matter: ``42 %`` or ``4.2 %``."""
    return percent(share, 0 if 0.0995 <= share < 0.9945 else 1)


def write_interval(interval: Interval) -> str:
    """Write an interval of shares as ``88.0–90.7``, in percent."""
    return f"{100 * interval.low:.1f}–{100 * interval.high:.1f}"


def points(share: float, digits: int = 1, *, sign: bool = False) -> str:
    """Write a difference of shares in percentage points, a gain with its sign if asked."""
    if sign:
        return f"{100 * share + 0.0:+.{digits}f}".replace("-", "−")
    return f"{round(100 * share, digits) + 0.0:.{digits}f}".replace("-", "−")  # nothing has no sign


def write_signed(score: float) -> str:
    """Write a score with its sign, never a false zero or a power: ``+0.250``, ``-0.0004``."""
    if 0 < abs(score) < 0.00005:
        return "<+0.0001" if score > 0 else ">-0.0001"
    digits = 4 if 0 < abs(score) < 0.0005 else 3
    return f"{score:+.{digits}f}"


def plural(count: int, noun: str) -> str:
    """Write ``1 document`` or ``2,000 documents``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def method_in_words(method: str) -> str:
    """Write ``integrated gradients`` for the method ``integrated_gradients``."""
    return _PRODUCTS.get(method, method.replace("_", " "))
