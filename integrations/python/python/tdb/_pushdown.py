"""Comparisons of other libraries as conditions that hold for at least the same cells."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _types
from ._array import Array, Field
from ._array import open as open_array
from ._errors import UsageError
from ._expr import Col, Condition
from ._read import Read

COMPARISONS = {
    "<": Col.__lt__,
    "<=": Col.__le__,
    ">": Col.__gt__,
    ">=": Col.__ge__,
    "=": Col.__eq__,
    "!=": Col.__ne__,
}
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "!=", "!=": "="}
# Units of dates that are numbers in Arrow.
_FINE = ("datetime_ps", "datetime_fs", "datetime_as")


def is_date(field: Field) -> bool:
    """Whether the cells are dates in Arrow."""
    return field.datatype.startswith("datetime_") and field.datatype not in _FINE


def is_comparable(field: Field) -> bool:
    """Whether conditions compare the cells as other libraries do."""
    if field.role == "label":
        return False
    if field.enumeration is None and field.datatype in _types.TEXTS:
        return field.values_per_cell is None
    is_number = field.datatype in _types.NUMBERS or field.datatype == "bool" or is_date(field)
    return field.values_per_cell == 1 and (is_number or field.enumeration is not None)


def compared(field: Field, operator: str, value: Any) -> Condition | None:
    """Compares a field with a value of Python, or a date of NumPy. NaN equals no value."""
    if not is_comparable(field):
        return None
    if field.enumeration is not None:
        # Values of an ordered enumeration have another order than texts.
        is_fit = isinstance(value, str) and operator in ("=", "!=")
    elif is_date(field):
        return (
            _date(field, operator, value)
            if getattr(value, "dtype", np.dtype(object)).kind == "M"
            else None
        )
    elif field.datatype in _types.TEXTS:
        is_fit = isinstance(value, str)
    elif isinstance(value, bool) or field.datatype == "bool":
        is_fit = isinstance(value, bool) and field.datatype == "bool"
    elif field.datatype.startswith("float"):
        is_fit = isinstance(value, float) and not math.isnan(value)
    else:
        is_fit = isinstance(value, int)
    return COMPARISONS[operator](Col(field.name), value) if is_fit else None


def _date(field: Field, operator: str, value: Any) -> Condition | None:
    if np.isnat(value) or operator == "!=":
        return None
    unit = _types.UNITS[field.datatype.partition("_")[2]]
    # Rounds down to the unit of the field, so that the condition includes both ends.
    stamp: Any = value.astype(f"datetime64[{unit}]")
    number = int(stamp.astype(np.int64))
    operator = {"<": "<=", ">": ">="}.get(operator, operator)
    # A number with its unit: dates as text cover periods.
    return COMPARISONS[operator](Col(field.name), f"{number}{unit}")


def joined(left: Condition | None, right: Condition | None, *, both: bool) -> Condition | None:
    """Combines two conditions, of which `None` has no translation."""
    if left is None or right is None:
        # One side of a conjunction holds for all cells of the conjunction.
        return (right if left is None else left) if both else None
    return left & right if both else left | right


def read_of(source: Read | Array | str | os.PathLike[str]) -> Read:
    """Returns the read of a scan."""
    if not isinstance(source, Read):
        return (source if isinstance(source, Array) else open_array(source)).read()
    if source._spec.limit is not None:
        raise UsageError("a scan has no limit; use a limit of the query")
    return source


def replaced(read: Read, **parts: Any) -> Read:
    """Returns a read with other parts."""
    return Read(read._owner, read._spec._replace(**parts))


def restricted(read: Read, translated: Callable[[], Condition | None]) -> Read:
    """Returns a read with another condition, in addition to its own."""
    where = read._spec.where
    if read._spec.fill:
        # Cells that do not match would get fill values, which the filter may select.
        return read
    try:
        condition = translated()
        if condition is None:
            return read
        found = replaced(read, where=condition if where is None else condition & where)
        found._query(table=True)
    except (RecursionError, UsageError):
        # The filter is nested too deeply.
        return read
    return found
