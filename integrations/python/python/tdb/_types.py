"""Datatypes of arrays, and the types of NumPy."""

from __future__ import annotations

import datetime
from typing import Any

from ._errors import UsageError
from ._libraries import numpy

NUMBERS = frozenset(
    ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]
)
#: Texts of one byte per element.
TEXTS = frozenset(["string_ascii", "string_utf8", "geom_wkt"])
#: Bytes without a meaning.
BYTES = frozenset(["char", "blob", "geom_wkb", "any"])
#: Texts of wider elements, which are read as numbers.
WIDE = {
    "string_utf16": "uint16",
    "string_ucs2": "uint16",
    "string_utf32": "uint32",
    "string_ucs4": "uint32",
}
#: Units of dates and times, and those of NumPy.
UNITS = {
    "year": "Y",
    "month": "M",
    "week": "W",
    "day": "D",
    "hr": "h",
    "min": "m",
    "sec": "s",
    "ms": "ms",
    "us": "us",
    "ns": "ns",
    "ps": "ps",
    "fs": "fs",
    "as": "as",
}

#: The number of NaT.
NOT_A_TIME = -(2**63)


def unit_of(datatype: str) -> tuple[str, str] | None:
    """Returns the kind of NumPy (``M`` or ``m``) and the unit of a date or time."""
    kind, _, unit = datatype.partition("_")
    if kind in ("datetime", "time") and unit in UNITS:
        return ("M" if kind == "datetime" else "m", UNITS[unit])
    return None


def in_units(values: Any, datatype: str) -> tuple[Any, Any] | None:
    """Converts dates or durations of NumPy to the unit of a datatype.

    Also returns which of the values are not a whole number of units. Returns ``None`` for a
    datatype of another kind.
    """
    unit = unit_of(datatype)
    if unit is None or unit[0] != values.dtype.kind:
        return None
    converted = values.astype(numpy_type(datatype))
    # NaT differs from NaT.
    return (converted, (converted.astype(values.dtype) != values) & (values == values))


def is_duration(value: object) -> bool:
    """Whether a value is a duration or a time of day of Python, NumPy or pandas."""
    if isinstance(value, (datetime.timedelta, datetime.time)):
        return True
    return getattr(getattr(value, "dtype", None), "kind", None) == "m"


def is_date(value: object) -> bool:
    """Whether a value is a date of Python, NumPy or pandas."""
    if isinstance(value, datetime.date):
        return True
    return getattr(getattr(value, "dtype", None), "kind", None) == "M"


def require_no_zone(value: Any) -> None:
    """Rejects a date with a time zone."""
    if getattr(value, "tzinfo", None) is not None:
        raise UsageError(f"{value!r} has a time zone; convert it to UTC, and remove the zone")


def number_of(value: Any, datatype: str) -> int:
    """Converts a date or a duration to a number of units of a datatype, if it is a whole number."""
    np = numpy()

    require_no_zone(value)
    if isinstance(value, datetime.time):
        value = datetime.datetime.combine(datetime.date.min, value) - datetime.datetime.min
    if hasattr(value, "to_numpy"):
        # A value of pandas has nanoseconds.
        found = value.to_numpy()
    elif hasattr(value, "dtype"):
        found = value
    else:
        found = (np.timedelta64 if is_duration(value) else np.datetime64)(value)
    converted = in_units(found, datatype)
    if converted is None:
        raise UsageError(f"found {found.dtype}, expected {datatype}")
    if converted[1]:
        raise UsageError(f"{found} is not a whole number of {datatype}")
    return int(converted[0].astype(np.int64))


def numpy_type(datatype: str) -> str:
    """Returns the type of NumPy for one value of a datatype."""
    if datatype in NUMBERS:
        return datatype
    if datatype in WIDE:
        return WIDE[datatype]
    unit = unit_of(datatype)
    if unit is not None:
        return f"{unit[0]}8[{unit[1]}]"
    if datatype == "bool":
        return "bool"
    return "S1" if datatype in TEXTS or datatype == "char" else "uint8"


def datatype_of(dtype: Any, field: str) -> tuple[str, int | str]:
    """Returns the datatype and the values per cell (``"var"`` for texts) for a type of NumPy."""
    if dtype.kind in "iuf" and dtype.itemsize <= 8 and dtype.name in NUMBERS:
        return (dtype.name, 1)
    if dtype.kind == "b":
        return ("bool", 1)
    if dtype.kind in "Mm":
        names = {unit: name for name, unit in UNITS.items()}
        unit = str(dtype).partition("[")[2].rstrip("]")
        if unit in names and not (dtype.kind == "m" and unit in "YMWD"):
            return (("datetime_" if dtype.kind == "M" else "time_") + names[unit], 1)
    if dtype.kind == "S":
        return ("string_ascii", "var")
    if dtype.kind in "UT":
        return ("string_utf8", "var")
    if dtype.kind == "V" and dtype.names is None:
        return ("blob", dtype.itemsize)
    raise UsageError(f"column {field!r}: arrays do not support {dtype}", field=field)
