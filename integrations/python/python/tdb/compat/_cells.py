"""Cells of the engine as arrays of NumPy, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._columns import cells_of
from .._native import Column
from . import libtiledb as lt
from ._engine import TileDBError, call
from .attribute import Attr
from .datatypes import base_dtype, by_engine_name, is_text, numpy_dtype, physical_dtype
from .dimension import Dim

Array = np.ndarray[Any, Any]

#: The name, the values and the validity of a column, as the engine takes them.
Given = tuple[str, Any, Any]


def objects(items: Sequence[Any]) -> Array:
    """Returns a one-dimensional array of objects."""
    # An assignment to an array would join arrays of equal length.
    return np.fromiter(items, dtype=object, count=len(items))


def from_column(column: Column, texts: bool = False) -> tuple[Array, Array | None]:
    """Returns the cells of a column, and which of them are valid.

    ``texts`` converts ASCII to text.
    """
    datatype = by_engine_name(column.datatype)
    count = column.values_per_cell
    if count is None and datatype.name == "GEOM_WKB":
        valid = _validity(column)
        values, offsets, _ = column.take()
        return cells_of(np.asarray(values).view(np.int8), offsets), valid
    if count is None and is_text(datatype):
        form = "bytes"
        if datatype.name == "STRING_UTF8":
            form = "text"
        elif texts and datatype.name == "STRING_ASCII":
            form = "escaped"
        # The fill value is a zero, and reads as an empty text.
        blank = (b"\x00", b"") if datatype.name in ("STRING_UTF8", "STRING_ASCII") else None
        valid = _validity(column)
        return call(column.objects, form, b"" if form == "bytes" else "", blank), valid
    values, offsets, valid = column.take()
    mask = None if valid is None else np.asarray(valid).view(np.bool_)
    flat: Array = np.asarray(values)
    if count is None:
        return cells_of(flat.view(base_dtype(datatype)), offsets), mask
    dtype = numpy_dtype(datatype, count)
    if dtype.kind == "b":
        return flat.view(np.uint8).astype(np.bool_), mask
    if dtype.itemsize == 0:
        dtype = np.dtype(f"S{count}")
    return flat.view(dtype), mask


def _validity(column: Column) -> Array | None:
    valid = column.valid()
    return None if valid is None else np.asarray(valid).view(np.bool_)


def empty(attr: Attr | Dim) -> Array:
    """Returns an array without cells."""
    dtype = attr.dtype
    if attr.isvar and dtype.kind not in "SU":
        dtype = np.dtype(object)
    return np.empty(0, dtype=dtype)


def _arrow(data: Any) -> bool:
    return type(data).__module__.partition(".")[0] == "pyarrow"


def _pandas(data: Any) -> bool:
    return type(data).__module__.partition(".")[0] == "pandas"


def split(data: Any, nullable: bool) -> tuple[Array, Array | None]:
    """Returns data as an array of NumPy, and which of the cells are valid."""
    if _arrow(data):
        data = data.to_pandas()
    if isinstance(data, np.ma.MaskedArray):
        masked: Any = data
        return np.asarray(masked.data), ~np.ma.getmaskarray(masked)
    if _pandas(data):
        import pandas as pd

        series = data
        if isinstance(series.dtype, pd.CategoricalDtype):
            codes = np.asarray(series.cat.codes if hasattr(series, "cat") else series.codes)
            return codes, codes >= 0
        missing = np.asarray(pd.isna(series))
        dtype = series.dtype
        if isinstance(dtype, np.dtype):
            array = series.to_numpy()
        else:
            kind: Any = getattr(dtype, "numpy_dtype", None)
            if kind is not None and np.dtype(kind).kind in "iufb":
                array = series.to_numpy(dtype=kind, na_value=np.dtype(kind).type(0))
            else:
                array = np.asarray(series.astype(object))
        if nullable and missing.any():
            if array.dtype.kind == "O":
                array = array.copy()
                array[missing] = None
            return array, ~missing
        return array, None
    if isinstance(data, np.ndarray):
        array: Array = data
    else:
        array = _listed(data)
    if nullable and array.dtype.kind == "f" and np.isnan(array).any():
        return array, ~np.isnan(array)
    if nullable and array.dtype.kind == "O":
        missing = np.array([_is_missing(item) for item in array.reshape(-1)], dtype=bool)
        if missing.any():
            return array, ~missing.reshape(array.shape)
    return array, None


def _is_missing(item: Any) -> bool:
    return (
        item is None
        or (isinstance(item, float) and item != item)
        or type(item).__name__ == "NAType"
    )


def _listed(data: Any) -> Array:
    if isinstance(data, (list, tuple)) and any(isinstance(item, (bytes, str)) for item in data):  # pyright: ignore[reportUnknownVariableType]
        items: list[Any] = list(data)  # pyright: ignore[reportUnknownArgumentType]
        if len({type(item) for item in items}) == 1:
            # An array of fixed-size bytes would lose zeros at the end.
            return objects(items)
    try:
        return np.asarray(data)
    except ValueError:
        return objects(list(data))


def to_given(attr: Attr, data: Any, count: int) -> Given:
    """Converts the cells of an attribute. Raises an exception unless there are ``count`` of them."""
    array, valid = split(data, attr.isnullable)
    if attr.enum_label is not None and array.dtype.kind in "USO" and not _numeric_objects(array):
        raise TileDBError(
            f"attribute {attr.name!r}: write the positions in enumeration {attr.enum_label!r}"
        )
    if array.ndim == 0:
        array = np.broadcast_to(array, (count,))
    if (
        attr.dtype.kind in "V"
        and array.dtype.kind != "V"
        and array.ndim > 1
        and array.shape[-1] == attr.ncells
    ):
        array = np.ascontiguousarray(array).view(attr.dtype)
    flat = array.reshape(-1)
    if (
        attr.dtype.kind == "c"
        and array.dtype.kind != "c"
        and array.dtype.kind != "V"
        and flat.size != count
    ):
        flat = (
            np.ascontiguousarray(array.astype(base_dtype(attr._tiledb_dtype)))
            .reshape(-1)
            .view(attr.dtype)
        )
    if flat.size != count:
        raise ValueError(f"value length ({flat.size}) does not match coordinate length ({count})")
    flags = (
        None
        if valid is None
        else np.ascontiguousarray(np.broadcast_to(valid, array.shape).reshape(-1))
    )
    if attr.isnullable and flags is None:
        flags = np.ones(count, dtype=bool)
    marks = None if flags is None else np.ascontiguousarray(flags, dtype=np.bool_).view(np.uint8)
    return (attr._internal_name, _values(attr, flat, flags), marks)


def _numeric_objects(array: Array) -> bool:
    return array.dtype.kind == "O" and all(
        item is None or isinstance(item, (int, float, np.number)) for item in array.reshape(-1)
    )


def _values(attr: Attr, flat: Array, flags: Array | None) -> Any:
    datatype = attr._tiledb_dtype
    if attr.isvar:
        return _var(attr, flat, flags)
    dtype = attr.dtype
    if dtype.kind == "S":
        width = attr.ncells
        if flat.dtype.kind not in "SUOV":
            try:
                raise ValueError(
                    f"Cannot write a string value to non-string typed attribute '{attr.name}'!"
                )
            except ValueError as error:
                raise ValueError(
                    f"attribute '{attr.name}': found {flat.dtype}, expected {dtype}"
                ) from error
        if flat.dtype.kind == "V":
            fixed = np.ascontiguousarray(flat).view(f"S{flat.dtype.itemsize}")
        elif flat.dtype.kind == "U":
            fixed = np.char.encode(flat, "utf-8")
        elif flat.dtype.kind == "O":
            fixed = np.array(
                [item.encode() if isinstance(item, str) else item or b"" for item in flat],
                dtype="S",
            )
        else:
            fixed = flat
        padded = np.ascontiguousarray(fixed.astype(f"S{width}"))
        return padded.view(np.uint8).view(physical_dtype(datatype))
    if flat.dtype.kind in "SU" or (
        flat.dtype.kind == "O" and any(isinstance(item, (str, bytes)) for item in flat)
    ):
        try:
            raise ValueError(
                f"Cannot write a string value to non-string typed attribute '{attr.name}'!"
            )
        except ValueError as error:
            raise ValueError(f"attribute '{attr.name}': found text, expected {dtype}") from error
    if flags is not None and not flags.all():
        zero: Any = np.zeros(1, dtype=dtype)[0]
        if flat.dtype.kind == "O":
            flat = np.array(
                [item if keep else zero for item, keep in zip(flat, flags)], dtype=dtype
            )
        elif flat.dtype.kind == "f" and dtype.kind in "iub":
            flat = np.where(flags, flat, 0)
    if flat.dtype != dtype:
        flat = _converted(attr, flat, dtype)
    flat = np.ascontiguousarray(flat)
    if dtype.kind in "Vc":
        return flat.view(base_dtype(datatype)).view(physical_dtype(datatype))
    return flat.view(physical_dtype(datatype))


def _converted(attr: Attr, flat: Array, dtype: np.dtype[Any]) -> Array:
    if dtype.kind == "M" and flat.dtype.kind not in "MO":
        if flat.dtype.kind in "iu":
            return flat.astype(np.int64).view(dtype)
        raise ValueError(f"attribute '{attr.name}': found {flat.dtype}, expected {dtype}")
    if dtype.kind == "V":
        if flat.dtype.kind == "V" and flat.dtype.itemsize == dtype.itemsize:
            return flat.view(dtype)
        if flat.dtype.kind == "c" and flat.dtype.itemsize == dtype.itemsize:
            return flat.view(dtype)
        return flat.astype(dtype)
    if dtype.kind == "c" and flat.dtype.kind == "V":
        return np.ascontiguousarray(flat).view(dtype)
    with np.errstate(all="ignore"):
        return flat.astype(dtype)


def _var(attr: Attr, flat: Array, flags: Array | None) -> Any:
    datatype = attr._tiledb_dtype
    if not is_text(datatype):
        base = base_dtype(datatype)
        if flat.dtype.kind != "O":
            if flat.dtype.kind in "SU":
                raise TypeError(
                    f"attribute '{attr.name}': found {flat.dtype}, expected arrays of {base}"
                )
            parts = [np.atleast_1d(item) for item in flat]
        else:
            parts = [
                np.empty(0, dtype=base) if item is None else np.atleast_1d(np.asarray(item))
                for item in flat
            ]
        joined = np.concatenate([np.empty(0, dtype=base), *parts]).astype(base)
        ends = np.cumsum([0, *(len(part) for part in parts)], dtype=np.uint64)
        return ("lists", np.ascontiguousarray(joined).view(physical_dtype(datatype)), ends)
    encoding = "ascii" if datatype.name == "STRING_ASCII" else "utf-8"
    cells: list[bytes] = []
    for place, item in enumerate(flat):
        if isinstance(item, str):
            try:
                cells.append(item.encode(encoding))
            except UnicodeEncodeError as error:
                raise TileDBError(f"attribute '{attr.name}', cell {place}: {error}") from error
        elif isinstance(item, (bytes, bytearray)):
            cells.append(bytes(item))
        elif isinstance(item, np.ndarray) and item.dtype.kind in "uS" and attr.dtype.kind == "S":
            whole: Array = item
            if datatype.name == "CHAR" and flat.dtype.kind == "O" and whole.dtype != np.uint8:
                raise TypeError(
                    f"Unsupported object of type {type(item)} in attribute '{attr.name}'"
                )
            cells.append(whole.tobytes())
        elif _is_missing(item):
            cells.append(b"")
        else:
            raise TypeError(f"Unsupported object of type {type(item)} in attribute '{attr.name}'")
    ends = np.cumsum([0, *(len(cell) for cell in cells)], dtype=np.uint64)
    joined = np.frombuffer(b"".join(cells), dtype=np.uint8).view(physical_dtype(datatype))
    return ("lists", np.ascontiguousarray(joined), ends)


def coordinates(dim: Dim, data: Any) -> Given:
    """Converts coordinates of a dimension."""
    if dim.isvar:
        if isinstance(data, (str, bytes)):
            data = [data]
        array, _ = split(data, False)
        cells: list[bytes] = []
        for item in array.reshape(-1):
            if isinstance(item, str):
                try:
                    cells.append(item.encode("ascii"))
                except UnicodeEncodeError as error:
                    raise TileDBError(f"dimension {dim.name!r}: {error}") from error
            elif isinstance(item, bytes):
                cells.append(item)
            else:
                raise TileDBError(f"dimension {dim.name!r}: expected text, found {item!r}")
        ends = np.cumsum([0, *(len(cell) for cell in cells)], dtype=np.uint64)
        joined = np.frombuffer(b"".join(cells), dtype=np.uint8)
        return (dim.name, ("lists", np.ascontiguousarray(joined), ends), None)
    array, _ = split(data, False)
    dtype = dim.dtype
    flat = np.atleast_1d(array).reshape(-1)
    if dtype.kind == "M":
        if flat.dtype.kind != "M":
            flat = (
                flat.astype(np.int64).view(dtype) if flat.dtype.kind in "iu" else flat.astype(dtype)
            )
        flat = flat.astype(dtype)
    elif flat.dtype.kind in "SU" or (
        flat.dtype.kind == "O" and any(isinstance(item, (str, bytes)) for item in flat)
    ):
        raise TileDBError(f"dimension {dim.name!r}: expected {dtype}, found text")
    elif flat.dtype != dtype:
        converted = flat.astype(dtype)
        if dtype.kind in "iu" and flat.dtype.kind in "iufO" and (converted != flat).any():
            raise TileDBError(f"dimension {dim.name!r}: coordinates are no {dtype}")
        flat = converted
    return (dim.name, np.ascontiguousarray(flat).view(physical_dtype(dim._tiledb_dtype)), None)


def length(given: Given) -> int:
    """Returns the number of cells of converted coordinates."""
    values = given[1]
    return len(values[2]) - 1 if isinstance(values, tuple) else len(values)


VAR = lt.VAR_NUM
