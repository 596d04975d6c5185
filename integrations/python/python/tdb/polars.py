"""Arrays as lazy frames of polars.

>>> import tdb.polars
>>> frame = tdb.polars.scan("path/to/array")                             # doctest: +SKIP
>>> frame.filter(pl.col("pos") < 500).select("qual").collect()           # doctest: +SKIP
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Literal

import polars as pl
from polars.io.plugins import register_io_source

from ._array import Array, Field
from ._expr import Col, Condition
from ._pushdown import (
    MIRRORED,
    NEGATED,
    compared,
    is_comparable,
    joined,
    read_of,
    replaced,
    restricted,
)
from ._read import Read

__all__ = ["condition", "scan"]


def scan(source: Read | Array | str | os.PathLike[str]) -> pl.LazyFrame:
    """Scans a read, an array, or the array at a path or URL.

    The selected columns, the first rows of a slice, and the parts of a filter that are conditions
    of arrays reach the array, and skip its tiles. polars evaluates the whole filter again.
    """
    read = read_of(source)
    schema: pl.Schema = replaced(read, limit=0).to_polars().schema
    return register_io_source(partial(_frames, read, schema), schema=schema)


def _frames(
    read: Read,
    schema: pl.Schema,
    columns: list[str] | None,
    predicate: pl.Expr | None,
    rows: int | None,
    batch_rows: int | None,
) -> Iterator[pl.DataFrame]:
    if columns is not None:
        read = replaced(read, columns=columns)
    # polars limits the rows before it filters them.
    if rows is not None:
        read = replaced(read, limit=rows)
        batch_rows = max(min(rows, batch_rows or rows), 1)
    elif predicate is not None:
        array = read._owner
        read = restricted(read, lambda: condition(predicate, array))
    is_empty = True
    for batch in read.batches(batch_rows):
        is_empty = False
        frame = pl.DataFrame(batch)
        yield frame if predicate is None else frame.filter(predicate)
    if is_empty:
        yield pl.DataFrame(schema={name: schema[name] for name in columns or schema})


def condition(predicate: pl.Expr, array: Array) -> Condition | None:
    """Translates a filter to a condition that holds for at least the rows of the filter.

    Returns ``None`` if no part of the filter has a translation.
    """
    if len(predicate.meta.root_names()) > _MOST_COLUMNS:
        return None
    return _translated(predicate, {field.name: field for field in array.fields}, negated=False)


def _translated(expr: pl.Expr, fields: Mapping[str, Field], *, negated: bool) -> Condition | None:
    parts = expr.meta.pop()
    # The last argument comes first.
    parts.reverse()
    if not parts:
        return _flag(expr, fields, negated=negated)
    first = parts[0]
    if len(parts) == 1:
        if _is(expr, ~first):
            return _translated(first, fields, negated=not negated)
        if _is(expr, first.is_null()) or _is(expr, first.is_not_null()):
            return _null(first, fields, is_null=_is(expr, first.is_null()) != negated)
        return None
    if len(parts) == 3:
        return _between(expr, parts, fields, negated=negated)
    second = parts[1]
    for is_and, combined in ((True, first & second), (False, first | second)):
        if not _is(expr, combined):
            continue
        left, right = (_translated(part, fields, negated=negated) for part in parts)
        return joined(left, right, both=is_and != negated)
    if _is(expr, first.is_in(second)):
        return _member(first, second, fields, negated=negated)
    for operator, comparison in _COMPARISONS.items():
        if _is(expr, comparison(first, second)):
            if second.meta.is_column():
                first, second, operator = second, first, MIRRORED.get(operator, operator)
            return _comparison(first, NEGATED[operator] if negated else operator, second, fields)
    return None


_COMPARISONS = {
    "<": pl.Expr.__lt__,
    "<=": pl.Expr.__le__,
    ">": pl.Expr.__gt__,
    ">=": pl.Expr.__ge__,
    "=": pl.Expr.__eq__,
    "!=": pl.Expr.__ne__,
}


def _is(expr: pl.Expr, other: pl.Expr) -> bool:
    return expr.meta.eq(other)


def _field(expr: pl.Expr, fields: Mapping[str, Field]) -> Field | None:
    """Returns the field of a column, if conditions compare its cells."""
    if not expr.meta.is_column():
        return None
    field = fields.get(expr.meta.output_name())
    return field if field is not None and is_comparable(field) else None


def _comparison(
    column: pl.Expr, operator: str, value: pl.Expr, fields: Mapping[str, Field]
) -> Condition | None:
    field = _field(column, fields)
    if field is None or not value.meta.is_literal():
        return None
    return _compared(field, operator, pl.select(value).to_series())


def _compared(field: Field, operator: str, values: pl.Series) -> Condition | None:
    """Compares a field with the only value of a series."""
    if len(values) != 1 or values[0] is None:
        return None
    kind = values.dtype
    is_date = kind == pl.Date or (isinstance(kind, pl.Datetime) and kind.time_zone is None)
    value: Any = values.to_numpy()[0] if is_date else values[0]
    found = compared(field, operator, value)
    if (
        found is not None
        and field.datatype.startswith("float")
        and field.role != "dimension"
        and ">" in operator
    ):
        # In polars, NaN is greater than all numbers.
        return found | Col(field.name).is_nan()
    return found


def _flag(expr: pl.Expr, fields: Mapping[str, Field], *, negated: bool) -> Condition | None:
    """Translates a column of booleans."""
    field = _field(expr, fields)
    if field is None or field.datatype != "bool" or field.enumeration is not None:
        return None
    return Col(field.name) == (not negated)


def _null(expr: pl.Expr, fields: Mapping[str, Field], *, is_null: bool) -> Condition | None:
    # Positions outside of an enumeration, and dates without a value, are null in polars alone.
    field = _field(expr, fields)
    if field is None or field.enumeration is not None or field.datatype.startswith("datetime_"):
        return None
    null = Col(field.name).is_null()
    return null if is_null else ~null


def _between(
    expr: pl.Expr, parts: list[pl.Expr], fields: Mapping[str, Field], *, negated: bool
) -> Condition | None:
    value, low, high = parts
    ends: tuple[Literal["both", "left", "right", "none"], ...] = ("both", "left", "right", "none")
    if negated or not any(_is(expr, value.is_between(low, high, closed=closed)) for closed in ends):
        return None
    # Includes both ends, whichever are closed.
    return joined(
        _comparison(value, ">=", low, fields), _comparison(value, "<=", high, fields), both=True
    )


def _member(
    column: pl.Expr, values: pl.Expr, fields: Mapping[str, Field], *, negated: bool
) -> Condition | None:
    field = _field(column, fields)
    if field is None or negated or not values.meta.is_literal():
        return None
    items = pl.select(values).to_series()
    if items.dtype.is_nested():
        items = items.explode()
    items = items.drop_nulls()
    if not 0 < len(items) <= _MOST_VALUES:
        return None
    tests = [_compared(field, "=", items.slice(place, 1)) for place in range(len(items))]
    known = [test.text for test in tests if test is not None]
    return Condition(" or ".join(known)) if len(known) == len(tests) else None


#: Longer lists and filters are left to polars.
_MOST_VALUES = 1000
_MOST_COLUMNS = 256
