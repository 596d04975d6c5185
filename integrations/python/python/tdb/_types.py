"""Datatypes of arrays, and the types of NumPy."""

from __future__ import annotations

from typing import Any

from ._errors import UsageError

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


def unit_of(datatype: str) -> tuple[str, str] | None:
    """Returns the kind of NumPy (``M`` or ``m``) and the unit of a date or time."""
    kind, _, unit = datatype.partition("_")
    if kind in ("datetime", "time") and unit in UNITS:
        return ("M" if kind == "datetime" else "m", UNITS[unit])
    return None


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
