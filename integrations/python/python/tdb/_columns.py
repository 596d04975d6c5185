"""Columns of results as arrays of NumPy and columns of pandas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _types
from ._libraries import numpy, pandas
from ._native import Column

#: Returns the values of an enumeration by name, and whether they are ordered.
Enumerations = Callable[[str], tuple[Any, bool]]


def _objects(values: list[Any]) -> Any:
    np = numpy()

    # An assignment to an array would join arrays of equal length.
    return np.fromiter(values, dtype=object, count=len(values))


def cells_of(flat: Any, offsets: Any) -> Any:
    """Splits the values of cells of variable length."""
    np = numpy()

    ends: list[int] = np.asarray(offsets).view(np.uint64).tolist()
    slices = map(slice, ends, ends[1:])
    return np.fromiter(map(flat.__getitem__, slices), dtype=object, count=len(ends) - 1)


def _numbers(column: Column) -> tuple[Any, Any | None]:
    """Returns the values of a column, and the validity of its cells."""
    np = numpy()

    values, offsets, valid = column.take()
    mask = None if valid is None else np.asarray(valid).view(np.bool_)
    flat: Any = np.asarray(values)
    count = column.values_per_cell
    datatype = column.datatype
    if datatype == "bool":
        flat = flat.view(np.bool_) if flat.max(initial=0) <= 1 else flat != 0
    elif count is not None and datatype in _types.TEXTS | {"char"}:
        return (flat.view(f"S{count}"), mask)
    elif count is not None and count > 1 and datatype in _types.BYTES:
        return (flat.view(f"V{count}"), mask)
    else:
        flat = flat.view(_types.numpy_type(datatype))
    if count == 1:
        return (flat, mask)
    if count is not None:
        return (flat.reshape(-1, count), mask)
    return (cells_of(flat, offsets), mask)


def to_numpy(column: Column, *, binary: bool = False) -> Any:
    """Converts a column without an enumeration.

    Shares the memory of numbers. Texts become objects, with ``None`` for null. Other nullable
    columns become masked arrays. ``binary`` converts texts to bytes.
    """
    np = numpy()

    if column.values_per_cell is None and column.datatype in _types.TEXTS | _types.BYTES:
        form = "bytes" if binary or column.datatype in _types.BYTES else "text"
        return column.objects(form, None, None)
    values, valid = _numbers(column)
    if valid is None:
        return values
    if values.dtype.kind == "O":
        values[~valid] = None
        return values
    mask = ~valid
    if values.ndim > 1:
        mask = np.repeat(mask[:, None], values.shape[1], axis=1)
    return np.ma.MaskedArray(values, mask=mask)


def _positions(column: Column, count: int) -> tuple[Any, Any]:
    """Returns the positions in an enumeration, and which of the cells have a value."""
    positions, valid = _numbers(column)
    inside = positions < count
    if positions.dtype.kind == "i":
        inside &= positions >= 0
    return (positions, inside if valid is None else inside & valid)


def enumerated(column: Column, values: Any) -> Any:
    """Converts positions in an enumeration to its values.

    Null and positions outside of the enumeration become ``None`` in columns of objects, and are
    masked in others.
    """
    np = numpy()

    positions, present = _positions(column, len(values))
    complete = bool(present.all())
    if len(values) == 0:
        found = np.zeros(len(positions), dtype=values.dtype)
    else:
        found = values[positions if complete else np.where(present, positions, 0)]
    if complete:
        return found
    if found.dtype.kind == "O":
        found[~present] = None
        return found
    return np.ma.MaskedArray(found, mask=~present)


def scalar(column: Column, enumeration: tuple[Any, bool] | None) -> Any:
    """Returns the first cell of a column. A date becomes a ``datetime64``."""
    if enumeration is None and column.values_per_cell is None:
        return column.texts(column.datatype in _types.BYTES)[0]
    value = column.numbers()[0]
    if value is None:
        return None
    if enumeration is not None:
        values = enumeration[0]
        return values[value] if 0 <= value < len(values) else None
    unit = _types.unit_of(column.datatype)
    if unit is not None:
        np = numpy()

        return np.datetime64(value, unit[1]) if unit[0] == "M" else np.timedelta64(value, unit[1])
    return bool(value) if column.datatype == "bool" else value


def to_pandas(column: Column, enumeration: tuple[Any, bool] | None) -> Any:
    """Converts a column to a column of pandas."""
    np = numpy()
    pd = pandas()

    if enumeration is not None:
        values, ordered = enumeration
        positions, present = _positions(column, len(values))
        codes = positions if present.all() else np.where(present, positions, -1)
        dtype: Any = pd.CategoricalDtype(list(values), ordered=ordered)
        return pd.Categorical.from_codes(codes.astype(np.int64), dtype=dtype)
    return of_pandas(to_numpy(column))


def of_pandas(values: Any) -> Any:
    """Converts an array to a column of pandas, without a copy of numbers."""
    np = numpy()
    pd = pandas()

    if values.ndim > 1:
        return _objects([*values])
    if values.dtype.kind in "Mm":
        # pandas has no other units.
        unit = str(values.dtype).partition("[")[2].rstrip("]")
        if unit not in ("s", "ms", "us", "ns"):
            values = values.astype(f"{values.dtype.kind}8[{'s' if unit in 'YMWDhm' else 'ns'}]")
    if not isinstance(values, np.ma.MaskedArray):
        return _objects(values.tolist()) if values.dtype.kind in "SV" else values
    data, mask = np.asarray(values.data), np.ma.getmaskarray(values)
    if data.dtype.kind in "iu":
        return pd.arrays.IntegerArray(data, mask)
    if data.dtype.kind == "f":
        return pd.arrays.FloatingArray(data, mask)
    if data.dtype.kind == "b":
        return pd.arrays.BooleanArray(data, mask)
    if data.dtype.kind in "Mm":
        data[mask] = "NaT"
        return data
    objects = _objects(data.tolist())
    objects[mask] = None
    return objects
