"""Lazy reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from . import _columns, _types
from ._errors import UsageError
from ._expr import Aggregate, Condition, date_text, text_for, units_of
from ._libraries import is_list, is_tuple, pandas, polars, pyarrow, whole
from ._native import Batch as NativeBatch
from ._native import Column, Query

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd
    import polars as pl

    from ._array import Array

#: A range of a dimension or label: a coordinate, a pair of the first and the last coordinate (both
#: included, ``None`` for the end of the domain), a ``range``, or a list of these.
Ranges: TypeAlias = Any


class Plan(NamedTuple):
    """The cost of a read, known before a cell is read."""

    #: Tiles and byte ranges of each fragment.
    text: str
    tiles: int
    bytes: int
    fragments: int

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Plan(tiles={self.tiles}, bytes={self.bytes}, fragments={self.fragments})"


class Statistics(NamedTuple):
    """Exact statistics of a field from metadata. An unknown figure is ``None``."""

    cells: int | None
    #: Cells that are not null.
    values: int | None
    nulls: int | None
    min: Any
    max: Any
    sum: Any
    #: The reasons why figures are unknown, by name of the figure.
    unknown: Mapping[str, str]


class Table:
    """Columns of cells that other libraries read."""

    def _native_columns(self) -> list[Column]:
        raise NotImplementedError

    def _array(self) -> Array:
        raise NotImplementedError

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        raise NotImplementedError

    def _numpy(self, column: Column, source: str) -> npt.NDArray[Any]:
        enumeration = self._array()._enumeration_of(source)
        if enumeration is None:
            return _columns.to_numpy(column)
        return _columns.enumerated(column, enumeration[0])

    def to_numpy(self) -> dict[str, npt.NDArray[Any]]:
        """Returns an array per column, without a copy of numbers.

        Texts are arrays of objects. Other nullable columns are masked arrays. Columns with an
        enumeration hold its values.
        """
        return {column.name: self._numpy(column, column.name) for column in self._native_columns()}

    def to_arrow(self) -> Any:
        """Returns a table of pyarrow."""
        pa = pyarrow()

        return pa.table(self)

    def to_pandas(self) -> pd.DataFrame:
        """Returns a data frame of pandas. pyarrow is not needed."""
        pd = pandas()

        enumeration = self._array()._enumeration_of
        columns = {
            column.name: _columns.to_pandas(column, enumeration(column.name))
            for column in self._native_columns()
        }
        return pd.DataFrame(columns, copy=False)

    def to_polars(self) -> pl.DataFrame:
        """Returns a data frame of polars."""
        pl = polars()

        return pl.DataFrame(self)


class Batch(Table):
    """Some of the cells of a read."""

    __slots__ = ("_native", "_owner")

    def __init__(self, native: NativeBatch, owner: Array) -> None:
        self._native = native
        self._owner = owner

    def __len__(self) -> int:
        return len(self._native)

    def _native_columns(self) -> list[Column]:
        return self._native.columns()

    def _array(self) -> Array:
        return self._owner

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        return self._native.__arrow_c_array__(requested_schema)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"<tdb.Batch of {len(self)} cells>"


class Spec(NamedTuple):
    """The parts of a read."""

    columns: Sequence[str] | None
    ranges: Mapping[str, Ranges] | None
    points: Any
    boxes: Sequence[Mapping[str, Ranges]] | None
    where: Condition | str | None
    order: str | None
    limit: int | None
    budget: int | None
    fill: bool
    strings_as_bytes: bool


class Read(Table):
    """A read, which starts when its cells are requested. See :meth:`tdb.Array.read`."""

    __slots__ = ("_owner", "_spec")

    def __init__(self, owner: Array, spec: Spec) -> None:
        self._owner = owner
        self._spec = spec
        _check(spec)

    def _array(self) -> Array:
        return self._owner

    @property
    def _shape(self) -> tuple[int, ...] | None:
        """The shape of the cells, if they fill one subarray of a dense array."""
        array, spec = self._owner, self._spec
        if not array.is_dense or spec.points is not None or spec.boxes is not None:
            return None
        if (spec.where is not None and not spec.fill) or spec.limit is not None:
            return None
        if spec.order not in (None, "row-major", "col-major"):
            return None
        shape = [*array.shape]
        names = array.dimension_names
        for name, ranges in (spec.ranges or {}).items():
            all_ends = array._ends(name, ranges)
            if len(all_ends) != 1 or name not in names:
                return None
            extent = array._handle.extent(name, all_ends[0])
            shape[names.index(name)] = extent
        return tuple(shape)

    def _query(self, *, table: bool, batch_cells: int | None = None) -> Query:
        array, spec = self._owner, self._spec
        columns = spec.columns
        if columns is None and array.is_dense and table:
            columns = [*array.dimension_names, *array.attribute_names]
        points = None
        if spec.points is not None:
            points = array._normalized(spec.points)
        boxes = None
        if spec.boxes is not None:
            boxes = [
                [(name, array._single(name, ends, "a box")) for name, ends in box.items()]
                for box in spec.boxes
            ]
        ranges = [(name, array._ends(name, given)) for name, given in (spec.ranges or {}).items()]
        if not all(ends for _, ends in ranges):
            # A dimension without a range selects no cell.
            points, boxes = None, []
        return array._handle.query(
            {
                "columns": None if columns is None else list(columns),
                "ranges": ranges,
                "points": None
                if points is None
                else [(name, values) for name, values, _ in points],
                "boxes": boxes,
                "condition": None if spec.where is None else text_for(spec.where, array),
                "order": spec.order,
                "limit": spec.limit,
                "budget": spec.budget,
                "batch_cells": batch_cells,
                "fill": spec.fill,
                "binary": spec.strings_as_bytes,
            }
        )

    def _native_columns(self) -> list[Column]:
        return self._query(table=True).columns()

    def _numpy(self, column: Column, source: str) -> npt.NDArray[Any]:
        if self._spec.strings_as_bytes and column.values_per_cell is None:
            return _columns.to_numpy(column, binary=True)
        return super()._numpy(column, source)

    def to_numpy(self) -> dict[str, npt.NDArray[Any]]:
        """Returns an array per column, without a copy of numbers.

        Texts are arrays of objects. Other nullable columns are masked arrays. Columns with an
        enumeration hold its values. A read of one subarray of a dense array returns arrays of its
        shape, by default without the dimensions.
        """
        shape = self._shape
        columns = self._query(table=shape is None).columns()
        arrays: dict[str, Any] = {
            column.name: self._numpy(column, column.name) for column in columns
        }
        if shape is None:
            return arrays
        order = "F" if self._spec.order == "col-major" else "C"
        return {
            name: values.reshape(shape + values.shape[1:], order=order)
            for name, values in arrays.items()
        }

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._query(table=True).stream().__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> Any:
        """Returns a table of pyarrow."""
        pa = pyarrow()

        # Unlike the consumption of a stream, this stops at Ctrl-C.
        return pa.table(self._query(table=True).record_batches())

    def batches(self, cells: int | None = None) -> Iterator[Batch]:
        """Iterates over batches, within the budget, of at most ``cells`` cells."""
        cells = whole("cells", cells, 1)
        batches = self._query(table=True, batch_cells=cells).batches()
        return (Batch(batch, self._owner) for batch in batches)

    def __iter__(self) -> Iterator[Batch]:
        return self.batches()

    def plan(self) -> Plan:
        """Plans the read, without reading a cell."""
        return Plan(*self._query(table=True).plan())

    def stats(self, *fields: str) -> dict[str, Statistics]:
        """Returns the statistics of fields, by default of all attributes, from metadata alone."""
        names = list(fields) or [*self._owner.attribute_names]
        found = self._query(table=True).statistics(names)
        return {name: _statistics(row) for name, row in zip(names, found)}

    def aggregate(self, *aggregates: Aggregate) -> dict[str, Any]:
        """Computes aggregates over the selected cells.

        Keys are the texts of the aggregates, such as ``mean(qual)``. A date is a ``datetime64``.
        """
        columns, _ = self._query(table=True).aggregate(_parts(aggregates))
        return {
            column.name: _columns.scalar(column, self._owner._enumeration_of(_source(aggregate)))
            for column, aggregate in zip(columns, aggregates)
        }

    def group_by(self, *keys: str) -> Groups:
        """Groups the selected cells by attributes or dimensions."""
        if not keys:
            raise UsageError("group_by needs at least one field")
        return Groups(self, keys)

    def __repr__(self) -> str:
        given = {
            name: value
            for name, value in self._spec._asdict().items()
            if value is not None and value is not False
        }
        parts = ", ".join(f"{name}={value!r}" for name, value in given.items())
        return f"<tdb.Read of {self._owner.uri}{': ' if parts else ''}{parts}>"


class Groups:
    """Groups of cells: see :meth:`Read.group_by`."""

    __slots__ = ("_keys", "_read")

    def __init__(self, read: Read, keys: Sequence[str]) -> None:
        self._read = read
        self._keys = list(keys)

    def aggregate(self, *aggregates: Aggregate) -> GroupTable:
        """Computes aggregates of each group. The result is sorted by key."""
        query = self._read._query(table=True)
        columns, _ = query.group_by(self._keys, _parts(aggregates))
        sources = [*self._keys, *(_source(aggregate) for aggregate in aggregates)]
        return GroupTable(
            {
                column.name: self._read._numpy(column, source)
                for column, source in zip(columns, sources)
            }
        )


class GroupTable:
    """A row for each group: see :meth:`Groups.aggregate`."""

    __slots__ = ("_columns",)

    def __init__(self, columns: dict[str, npt.NDArray[Any]]) -> None:
        self._columns = columns

    def to_numpy(self) -> dict[str, npt.NDArray[Any]]:
        """Returns an array per column."""
        return dict(self._columns)

    def to_pandas(self) -> pd.DataFrame:
        """Returns a data frame of pandas."""
        pd = pandas()

        columns = {name: _columns.of_pandas(values) for name, values in self._columns.items()}
        return pd.DataFrame(columns)

    def to_arrow(self) -> Any:
        """Returns a table of pyarrow."""
        pa = pyarrow()

        return pa.table({name: pa.array(values) for name, values in self._columns.items()})

    def to_polars(self) -> pl.DataFrame:
        """Returns a data frame of polars."""
        pl = polars()

        return pl.DataFrame(self.to_arrow())

    def __len__(self) -> int:
        return max((len(values) for values in self._columns.values()), default=0)


def _statistics(row: list[tuple[Any, str | None]]) -> Statistics:
    (cells, _), (values, _), (nulls, _), (low, _), (high, _), (total, _) = row
    reasons = {figure: why for figure, (_, why) in zip(Statistics._fields, row) if why is not None}
    return Statistics(cells, values, nulls, low, high, total, reasons)


def _source(aggregate: Aggregate) -> str:
    """Returns the field whose values the aggregate returns, or an empty text."""
    return aggregate.field or "" if aggregate.function in ("min", "max", "quantile") else ""


def _parts(aggregates: Iterable[Aggregate]) -> list[tuple[str, str | None, float]]:
    found = list(aggregates)
    if not found:
        raise UsageError("name at least one aggregate, such as tdb.count()")
    for aggregate in found:
        if type(aggregate) is not Aggregate:
            raise UsageError(f"found {aggregate!r}; expected an aggregate, such as tdb.count()")
    return [(aggregate.function, aggregate.field, aggregate.share) for aggregate in found]


def _check(spec: Spec) -> None:
    """Checks the parts that the native module does not see."""
    if spec.fill and spec.where is None:
        raise UsageError("fill needs a condition")


def _coordinate(field: str, value: Any, datatype: Callable[[str], str | None]) -> Any:
    """Converts dates and durations of Python, NumPy and pandas."""
    if value is None or isinstance(value, (int, float, str, bytes)):
        return value
    if _types.is_duration(value):
        known = datatype(field)
        return value if known is None else units_of(field, value, known)
    return date_text(value) if _types.is_date(value) else value


def ends_of(
    field: str, ranges: Ranges, datatype: Callable[[str], str | None]
) -> list[tuple[Any, Any]]:
    """Returns the first and the last coordinate of each range.

    ``datatype`` returns the datatype of a field, which a duration needs.
    """
    if is_list(ranges):
        return [ends for item in ranges for ends in ends_of(field, item, datatype)]
    if is_tuple(ranges):
        if len(ranges) != 2:
            raise UsageError(f"{ranges!r} is not a range; expected (first, last)")
        first, last = ranges
        return [(_coordinate(field, first, datatype), _coordinate(field, last, datatype))]
    if isinstance(ranges, range):
        if ranges.step != 1:
            return [(value, value) for value in ranges]
        return [(ranges.start, ranges.stop - 1)] if ranges else []
    if isinstance(ranges, slice):
        raise UsageError(
            "a slice is no range; write (first, last), both included, or range(start, stop)"
        )
    items = ranges if getattr(ranges, "shape", ()) else (ranges,)
    values = [_coordinate(field, value, datatype) for value in items]
    return [(value, value) for value in values]
