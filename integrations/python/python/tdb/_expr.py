"""Conditions and aggregates as expressions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ._errors import UsageError


class Condition:
    """A condition on cells, from comparisons of :func:`col` or from text.

    >>> import tdb
    >>> (tdb.col("qual") > 30) & ~tdb.col("alt").is_in(["A", "C"])
    Condition("(`qual` > 30) and (not (`alt` in ('A', 'C')))")
    """

    __slots__ = ("text",)

    text: str

    def __init__(self, text: str) -> None:
        self.text = text

    def __and__(self, other: Condition | str) -> Condition:
        return Condition(f"({self.text}) and ({_text(other)})")

    def __rand__(self, other: str) -> Condition:
        return Condition(f"({other}) and ({self.text})")

    def __or__(self, other: Condition | str) -> Condition:
        return Condition(f"({self.text}) or ({_text(other)})")

    def __ror__(self, other: str) -> Condition:
        return Condition(f"({other}) or ({self.text})")

    def __invert__(self) -> Condition:
        return Condition(f"not ({self.text})")

    def __bool__(self) -> bool:
        raise UsageError("a condition has no truth value: combine conditions with &, | and ~")

    def __repr__(self) -> str:
        return f"Condition({self.text!r})"

    def __str__(self) -> str:
        return self.text


def _text(condition: Condition | str) -> str:
    return condition.text if isinstance(condition, Condition) else condition


def _value(value: Any) -> str:
    """Writes a constant in the language of conditions."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    if isinstance(value, (int, float)):
        return repr(value).replace("+", "")
    if hasattr(value, "isoformat"):
        return "'" + date_text(value) + "'"
    dtype = getattr(value, "dtype", None)
    if dtype is not None and dtype.kind in "Mm":
        return "'" + date_text(value) + "'"
    item = getattr(value, "item", None)
    if item is not None:
        return _value(item())
    raise UsageError(f"{value!r} is not a constant of a condition")


def date_text(value: Any) -> str:
    """Returns the text of a date of Python, NumPy or pandas, without a time zone."""
    if getattr(value, "tzinfo", None) is not None:
        raise UsageError(f"{value!r} has a time zone: convert it to UTC, and remove the zone")
    dtype = getattr(value, "dtype", None)
    if dtype is not None and dtype.kind == "m":
        return str(int(value.astype("int64")))
    return str(value) if dtype is not None else value.isoformat()


class Aggregate:
    """An aggregate of cells: see :func:`count` and the methods of :class:`Col`."""

    __slots__ = ("field", "function", "share")

    function: str
    field: str | None
    share: float

    def __init__(self, function: str, field: str | None = None, share: float = 0.5) -> None:
        self.function = function
        self.field = field
        self.share = share

    def __repr__(self) -> str:
        if self.field is None:
            return self.function
        share = f", {self.share}" if self.function == "quantile" else ""
        return f"{self.function}({self.field}{share})"


def count() -> Aggregate:
    """Counts cells."""
    return Aggregate("count")


class Col:
    """A field in a condition or an aggregate: see :func:`col`."""

    __slots__ = ("name",)

    name: str

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def _quoted(self) -> str:
        return "`" + self.name.replace("`", "``") + "`"

    def _compared(self, operator: str, value: Any) -> Condition:
        return Condition(f"{self._quoted} {operator} {_value(value)}")

    def __lt__(self, value: Any) -> Condition:
        return self._compared("<", value)

    def __le__(self, value: Any) -> Condition:
        return self._compared("<=", value)

    def __gt__(self, value: Any) -> Condition:
        return self._compared(">", value)

    def __ge__(self, value: Any) -> Condition:
        return self._compared(">=", value)

    def __eq__(self, value: object) -> Condition:  # type: ignore[override]
        return self._compared("=", value)

    def __ne__(self, value: object) -> Condition:  # type: ignore[override]
        return self._compared("!=", value)

    __hash__ = None  # type: ignore[assignment]

    def is_in(self, values: Iterable[Any]) -> Condition:
        """Selects cells whose value is one of ``values``."""
        return Condition(f"{self._quoted} in ({', '.join(_value(value) for value in values)})")

    def between(self, first: Any, last: Any) -> Condition:
        """Selects cells whose value is in a range, with both ends."""
        return Condition(f"{self._quoted} between {_value(first)} and {_value(last)}")

    def is_null(self) -> Condition:
        """Selects null cells."""
        return Condition(f"{self._quoted} is null")

    def is_nan(self) -> Condition:
        """Selects cells that are not a number."""
        return Condition(f"{self._quoted} is nan")

    def count(self) -> Aggregate:
        """Counts values that are not null."""
        return Aggregate("count", self.name)

    def null_count(self) -> Aggregate:
        """Counts null cells."""
        return Aggregate("null_count", self.name)

    def sum(self) -> Aggregate:
        """Sums values."""
        return Aggregate("sum", self.name)

    def mean(self) -> Aggregate:
        """Computes the arithmetic mean."""
        return Aggregate("mean", self.name)

    def min(self) -> Aggregate:
        """Finds the minimum."""
        return Aggregate("min", self.name)

    def max(self) -> Aggregate:
        """Finds the maximum."""
        return Aggregate("max", self.name)

    def count_distinct(self) -> Aggregate:
        """Counts distinct values."""
        return Aggregate("count_distinct", self.name)

    def quantile(self, share: float) -> Aggregate:
        """Finds the smallest value that is at least as large as a share of all values."""
        return Aggregate("quantile", self.name, share)

    def median(self) -> Aggregate:
        """Finds the quantile of one half."""
        return self.quantile(0.5)

    def __repr__(self) -> str:
        return f"col({self.name!r})"


def col(name: str) -> Col:
    """Names an attribute or a dimension in a condition or an aggregate.

    >>> import tdb
    >>> tdb.col("qual") > 30
    Condition('`qual` > 30')
    >>> tdb.col("qual").mean()
    mean(qual)
    """
    return Col(name)
