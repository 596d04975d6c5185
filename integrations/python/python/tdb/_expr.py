"""Conditions and aggregates as expressions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _types
from ._errors import UsageError
from ._libraries import numpy

if TYPE_CHECKING:
    from ._array import Array


class Duration(NamedTuple):
    """A duration in a condition. The unit of the field determines its number."""

    field: str
    value: Any

    def __str__(self) -> str:
        return str(self.value)

    def number(self, array: Array) -> str:
        """Writes the duration as a number of units of the field."""
        datatype = array._datatype_of(self.field)
        # The query rejects an unknown field.
        return "0" if datatype is None else str(units_of(self.field, self.value, datatype))


def units_of(field: str, value: Any, datatype: str) -> int:
    """Converts a date or a duration to a number of units of a field."""
    try:
        return _types.number_of(value, datatype)
    except UsageError as error:
        raise UsageError(f"field {field!r}: {error}", field=field) from None


class Condition:
    """A condition on cells, from comparisons of :func:`col` or from text.

    >>> import tdb
    >>> (tdb.col("qual") > 30) & ~tdb.col("alt").is_in(["A", "C"])
    Condition("(`qual` > 30) and (not (`alt` in ('A', 'C')))")
    """

    __slots__ = ("_parts",)

    def __init__(self, *parts: str | Duration) -> None:
        self._parts = parts

    @property
    def text(self) -> str:
        """The condition as text."""
        return "".join(map(str, self._parts))

    def __and__(self, other: Condition | str) -> Condition:
        return Condition("(", *self._parts, ") and (", *_parts(other), ")")

    def __rand__(self, other: str) -> Condition:
        return Condition(f"({other}) and (", *self._parts, ")")

    def __or__(self, other: Condition | str) -> Condition:
        return Condition("(", *self._parts, ") or (", *_parts(other), ")")

    def __ror__(self, other: str) -> Condition:
        return Condition(f"({other}) or (", *self._parts, ")")

    def __invert__(self) -> Condition:
        return Condition("not (", *self._parts, ")")

    def __bool__(self) -> bool:
        raise UsageError("a condition has no truth value: combine conditions with &, | and ~")

    def __repr__(self) -> str:
        return f"Condition({self.text!r})"

    def __str__(self) -> str:
        return self.text


def _parts(condition: Condition | str) -> tuple[str | Duration, ...]:
    return condition._parts if isinstance(condition, Condition) else (str(condition),)


def text_for(condition: Condition | str, array: Array) -> str:
    """Writes a condition on the cells of an array in the language of conditions."""
    parts = _parts(condition)
    return "".join(part.number(array) if isinstance(part, Duration) else part for part in parts)


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
    if _types.is_date(value):
        return "'" + date_text(value) + "'"
    item = getattr(value, "item", None)
    if item is not None:
        return _value(item())
    raise UsageError(f"{value!r} is not a constant of a condition")


# The end of a text with all digits. A shorter text is a period, such as a day.
_FIRST_INSTANT = "0000-01-01T00:00:00.000000000000000000"


def date_text(value: Any) -> str:
    """Returns the text of a date of Python, NumPy or pandas.

    A ``datetime.date`` is a whole day, all other dates are instants.
    """
    _types.require_no_zone(value)
    if hasattr(value, "to_datetime64"):
        # A value of pandas has nanoseconds.
        value = value.to_datetime64()
    if not hasattr(value, "dtype"):
        text = value.isoformat()
        return text + _FIRST_INSTANT[len(text) :] if hasattr(value, "hour") else text
    text = str(value)
    if text == "NaT":
        return text
    if text[:4].isdigit() and text[4:5] in ("", "-"):
        return text + _FIRST_INSTANT[len(text) :]
    # The year has no ISO form.
    np = numpy()

    unit, step = np.datetime_data(value.dtype)
    return f"{int(value.astype(np.int64)) * step}{unit}"


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

    def _constant(self, value: Any) -> str | Duration:
        return Duration(self.name, value) if _types.is_duration(value) else _value(value)

    def _compared(self, operator: str, value: Any) -> Condition:
        return Condition(f"{self._quoted} {operator} ", self._constant(value))

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
        constants = [part for value in values for part in (", ", self._constant(value))]
        return Condition(f"{self._quoted} in (", *constants[1:], ")")

    def between(self, first: Any, last: Any) -> Condition:
        """Selects cells whose value is in a range, with both ends."""
        ends = (self._constant(first), " and ", self._constant(last))
        return Condition(f"{self._quoted} between ", *ends)

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
