"""Types of NumPy as datatypes of the format."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from .._types import UNITS
from . import libtiledb as lt

_UNIT_NAMES = {unit: name.upper() for name, unit in UNITS.items()}
_SPECIAL = {"ascii": "STRING_ASCII", "blob": "BLOB", "wkb": "GEOM_WKB", "wkt": "GEOM_WKT"}
_COMPLEX = {np.dtype("complex64"): "FLOAT32", np.dtype("complex128"): "FLOAT64"}
_BYTES = frozenset(["CHAR", "STRING_ASCII", "BLOB", "GEOM_WKB", "GEOM_WKT", "ANY"])


def engine_name(datatype: lt.DataType) -> str:
    """Returns the name of a datatype in the engine."""
    return datatype.name.lower()


def by_engine_name(name: str) -> lt.DataType:
    """Returns the datatype of a name in the engine."""
    return lt.DataType[name.upper()]


@dataclasses.dataclass(frozen=True)
class DataType:
    """A type of NumPy, its datatype, and the number of values per cell."""

    np_dtype: np.dtype[Any]
    tiledb_type: lt.DataType
    ncells: int

    @classmethod
    def from_numpy(cls, dtype: Any) -> DataType:
        """Returns the datatype for a type of NumPy, or for a name such as ``ascii``."""
        if isinstance(dtype, str) and dtype in _SPECIAL:
            ncells = lt.VAR_NUM if dtype == "ascii" else 1
            return cls(np.dtype("S"), lt.DataType[_SPECIAL[dtype]], ncells)
        dtype = np.dtype(dtype)
        if dtype in _COMPLEX:
            return cls(dtype, lt.DataType[_COMPLEX[dtype]], 2)
        if dtype.kind == "S":
            return cls(dtype, lt.DataType["CHAR"], dtype.itemsize or lt.VAR_NUM)
        if dtype.kind == "U":
            return cls(dtype, lt.DataType["STRING_UTF8"], dtype.itemsize // 4 or lt.VAR_NUM)
        if dtype.kind == "V":
            return cls._of_record(dtype)
        if dtype.kind == "b":
            return cls(dtype, lt.DataType["BOOL"], 1)
        if dtype.kind in "iuf" and dtype.name.upper() in lt.DataType.__members__:
            return cls(dtype, lt.DataType[dtype.name.upper()], 1)
        if dtype.kind in "mM":
            unit = np.datetime_data(dtype)[0]
            name = ("DATETIME_" if dtype.kind == "M" else "TIME_") + _UNIT_NAMES.get(unit, "")
            if name in lt.DataType.__members__:
                return cls(dtype, lt.DataType[name], 1)
        raise TypeError(f"{dtype!r} cannot be mapped to a DataType")

    @classmethod
    def _of_record(cls, dtype: np.dtype[Any]) -> DataType:
        if dtype.shape != ():
            raise TypeError("nested sub-array numpy dtypes are not supported")
        if dtype.fields is None:
            raise TypeError(f"{dtype!r} cannot be mapped to a DataType")
        kinds = {kind[0] for kind in dtype.fields.values()}
        if len(kinds) != 1:
            raise TypeError("heterogeneous record numpy dtypes are not supported")
        base = cls.from_numpy(kinds.pop())
        return cls(dtype, base.tiledb_type, len(dtype.fields))

    @classmethod
    def from_tiledb(cls, datatype: lt.DataType, ncells: int = 1) -> DataType:
        """Returns the type of NumPy for cells of a datatype."""
        return cls(numpy_dtype(datatype, ncells), datatype, ncells)

    @property
    def domain(self) -> tuple[Any, Any]:
        """The minimum and the maximum value."""
        dtype = self.np_dtype
        if dtype.kind in "SU":
            return (None, None)
        if dtype.kind == "b":
            return (False, True)
        if dtype.kind in "iu":
            info = np.iinfo(dtype)
            return (int(info.min), int(info.max))
        if dtype.kind in "fc":
            limits = np.finfo(dtype)
            return (limits.min, limits.max)
        if dtype.kind in "mM":
            info, unit = np.iinfo(np.int64), np.datetime_data(dtype)[0]
            return (dtype.type(info.min + 1, unit), dtype.type(info.max, unit))
        raise TypeError(f"Cannot determine min/max for {dtype!r}")

    def cast_tile_extent(self, extent: Any) -> np.ndarray[Any, Any]:
        """Converts a tile extent."""
        dtype = self.np_dtype
        if dtype.kind == "M":
            unit = np.datetime_data(dtype)[0]
            delta = (
                extent if isinstance(extent, np.timedelta64) else np.timedelta64(int(extent), unit)
            )
            return np.array(delta.astype(f"m8[{unit}]").astype(np.int64))
        array = np.array(extent, dtype=dtype)
        if array.size != 1:
            raise ValueError("tile extent must be a scalar")
        return array


def numpy_dtype(datatype: lt.DataType, ncells: int = 1) -> np.dtype[Any]:
    """Returns the type of NumPy for cells of a datatype and number of values."""
    name = datatype.name
    var = ncells == lt.VAR_NUM
    if name == "STRING_UTF8":
        return np.dtype("U0")
    if name == "CHAR" and not var:
        return np.dtype((np.bytes_, ncells))
    if name in _BYTES:
        return np.dtype("S0")
    base = base_dtype(datatype)
    if var or ncells == 1:
        return base
    if ncells == 2 and name in ("FLOAT32", "FLOAT64"):
        return np.dtype("complex64" if name == "FLOAT32" else "complex128")
    return np.dtype([("", base)] * ncells)


def base_dtype(datatype: lt.DataType) -> np.dtype[Any]:
    """Returns the type of NumPy for one value of a datatype."""
    name = datatype.name
    if name == "BOOL":
        return np.dtype(np.bool_)
    if name in _BYTES or name == "STRING_UTF8":
        return np.dtype("S1")
    kind, _, unit = name.partition("_")
    if kind in ("DATETIME", "TIME"):
        return np.dtype(f"{'M' if kind == 'DATETIME' else 'm'}8[{UNITS[unit.lower()]}]")
    wide = {
        "STRING_UTF16": "uint16",
        "STRING_UCS2": "uint16",
        "STRING_UTF32": "uint32",
        "STRING_UCS4": "uint32",
    }
    return np.dtype(wide.get(name, name.lower()))


def physical_dtype(datatype: lt.DataType) -> np.dtype[Any]:
    """Returns the type of NumPy that the engine uses for one value."""
    if datatype.name == "CHAR":
        return np.dtype(np.int8)
    base = base_dtype(datatype)
    if base.kind in "mM":
        return np.dtype(np.int64)
    return np.dtype(np.uint8) if base.kind in "Sb" else base


def is_text(datatype: lt.DataType) -> bool:
    """Whether cells of variable length are returned as bytes or text."""
    return datatype.name in _BYTES or datatype.name == "STRING_UTF8"
