"""Indices of ranges: both ends are included."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._engine import TileDBError
from ._reading import Cells, Selected, columns_of, empty_columns, read, read_dense
from ._selection import Range, engine_range

if TYPE_CHECKING:
    from .query import Query


class EmptyRange:
    """Selects no cells."""


@dataclasses.dataclass(frozen=True)
class EstimatedResultSize:
    """The estimated bytes of a column."""

    offsets_bytes: int
    data_bytes: int


def _as_range(item: Any) -> Range:
    if isinstance(item, slice):
        if item.step is not None:
            raise ValueError("Stepped slice ranges are not supported")
        return (item.start, item.stop)
    if isinstance(item, (tuple, list)):
        parts: list[Any] = list(item)  # pyright: ignore[reportUnknownArgumentType]
        if len(parts) == 1:
            return (parts[0], parts[0])
        if len(parts) != 2:
            raise ValueError(f"a range has two ends, found {parts!r}")
        return (parts[0], parts[1])
    return (item, item)


def _dimension(item: Any) -> tuple[Range, ...] | None:
    """Returns the ranges of a dimension: none for all coordinates, ``None`` for no coordinate."""
    if isinstance(item, slice) and item.start is None and item.stop is None and item.step is None:
        return ()
    if isinstance(item, np.ndarray):
        return tuple((point, point) for point in item.reshape(-1)) or None
    if isinstance(item, list):
        items: list[Any] = item
        return tuple(_as_range(part) for part in items) or None
    if type(item).__module__.startswith(("pyarrow", "pandas")):
        foreign: Any = item
        array = (
            foreign.to_numpy(zero_copy_only=False)
            if hasattr(foreign, "to_pylist")
            else np.asarray(foreign)
        )
        return tuple((point, point) for point in array) or None
    return (_as_range(item),)


def getitem_ranges(array: Any, idx: Any) -> tuple[Any, ...]:
    """Returns the ranges of each dimension. No range selects all coordinates."""
    items: tuple[Any, ...] = idx if isinstance(idx, tuple) else (idx,)
    ndim = array.schema.domain.ndim
    if any(item is Ellipsis for item in items):
        place = next(place for place, item in enumerate(items) if item is Ellipsis)
        items = (*items[:place], *[slice(None)] * (ndim - len(items) + 1), *items[place + 1 :])
    if len(items) > ndim:
        raise IndexError(f"found ranges for {len(items)} dimensions; the array has {ndim}")
    found: list[Any] = [_dimension(item) for item in items]
    return tuple(found + [()] * (ndim - len(items)))


def mr_dense_result_shape(ranges: Any, base_shape: Any = None) -> tuple[int, ...]:
    """Returns the shape of the result of ranges in a dense array."""
    if base_shape is not None and any(len(items) == 0 for items in ranges):
        return tuple(
            base if len(items) == 0 else _count(items) for items, base in zip(ranges, base_shape)
        )
    return tuple(_count(items) for items in ranges)


def _count(items: Sequence[Range]) -> int:
    return sum(int(last) - int(first) + 1 for first, last in items)


class _Indexer:
    """Base class of indexers."""

    def __init__(self, query: Query) -> None:
        self.query = query
        self.array = query.array

    def _ranges(self, idx: Any) -> list[tuple[str, list[Range]]] | None:
        """Returns the given ranges. ``None`` selects no cells."""
        if idx is EmptyRange or (isinstance(idx, (tuple, list)) and len(idx) == 0):  # pyright: ignore[reportUnknownArgumentType]
            return None
        schema = self.array.schema
        found = getitem_ranges(self.array, idx)
        if any(items is None for items in found):
            return None
        ranges: list[tuple[str, list[Range]]] = []
        limits = self._limits() if not schema.sparse else self._sparse_limits()
        given = len(idx) if isinstance(idx, tuple) else 1  # pyright: ignore[reportUnknownArgumentType]
        if not schema.sparse and idx is not Ellipsis and given < schema.ndim:
            # Dimensions that the index leaves out are complete.
            limits[given:] = self.array._limits()[given:]
        for dim, items, limit in zip(schema.domain, found, limits):
            if not items:
                if limit is not None:
                    ranges.append((dim.name, [limit]))
                continue
            checked = [self._checked(dim, item, limit) for item in items]
            ranges.append((dim.name, checked))
        return ranges

    def _limits(self) -> list[Any]:
        limits = self.array._limits()
        found = self.array.nonempty_domain()
        if found is None:
            return limits
        return [
            (max(low, first), min(high, last))
            for (low, high), (first, last) in zip(limits, found)
        ]

    def _sparse_limits(self) -> list[Any]:
        schema = self.array.schema
        return [None] * schema.ndim if schema.current_domain.is_empty else self.array._limits()

    def _checked(self, dim: Any, item: Range, limit: Any) -> Range:
        first, last = item
        kind = dim.dtype.kind
        for end in item:
            wrong = isinstance(end, (str, bytes)) != (kind == "S") or (
                kind == "M" and not isinstance(end, (np.datetime64, int, np.integer))
            )
            if end is not None and wrong:
                raise TileDBError(
                    f"Failed to cast dim range '{item}' to dim type {dim._tiledb_dtype.name}"
                )
            if (
                end is not None
                and kind in "iu"
                and isinstance(end, (float, np.floating))
                and end != int(end)
            ):
                raise IndexError(f"cannot index integral dimension {dim.name!r} with {end}")
        if limit is not None:
            first = limit[0] if first is None else first
            last = limit[1] if last is None else last
        if kind in "iu":
            first = None if first is None else int(first)
            last = None if last is None else int(last)
            low, high = dim.domain if limit is None else limit
            start, end = low if first is None else first, high if last is None else last
            if self.array.schema.sparse and not low <= start <= end <= high:
                raise TileDBError(
                    f"Cannot add range to dimension '{dim.name}'; Range [{start}, {end}] is out of domain bounds"
                    f" [{low}, {high}]"
                )
        elif kind == "f":
            first = None if first is None else dim.dtype.type(first)
            last = None if last is None else dim.dtype.type(last)
        return (first, last)

    def _selected(self) -> Selected:
        return self.query._selected(self._default_coords())

    def _default_coords(self) -> bool:
        return self.array.schema.sparse

    def _cells(self, ranges: list[tuple[str, list[Range]]] | None, flat: bool = False) -> Cells:
        array, selected = self.array, self._selected()
        if ranges is None:
            return Cells(array, empty_columns(array, selected), None)
        if array.schema.sparse:
            return read(array, selected, ranges)
        return read_dense(array, selected, ranges)

    def __getitem__(self, idx: Any) -> Any:
        self.array._check_readable()
        ranges = self._ranges(idx)
        if self.query.return_incomplete:
            return _Results(self, ranges)
        return self._result(ranges)

    def _result(self, ranges: list[tuple[str, list[Range]]] | None) -> Any:
        raise NotImplementedError


class _Results:
    """The results of a query that returns them in parts. The engine returns one part."""

    def __init__(self, indexer: _Indexer, ranges: Any) -> None:
        self.indexer = indexer
        self.ranges = ranges

    def estimated_result_sizes(self) -> OrderedDict[str, EstimatedResultSize]:
        """Returns the bytes of each column."""
        found: OrderedDict[str, EstimatedResultSize] = OrderedDict()
        cells = self.indexer._cells(self.ranges)
        for name, (values, _) in cells.columns.items():
            if values.dtype.kind == "O":
                parts = [
                    item.encode() if isinstance(item, str) else item for item in values.reshape(-1)
                ]
                data = sum(len(part) if isinstance(part, bytes) else part.nbytes for part in parts)
                found[name] = EstimatedResultSize(8 * len(parts), data)
            else:
                found[name] = EstimatedResultSize(0, int(values.nbytes))
        return found

    def __iter__(self) -> Iterator[Any]:
        yield self.indexer._result(self.ranges)


class MultiRangeIndexer(_Indexer):
    """Reads ranges into arrays of NumPy."""

    def _result(self, ranges: Any) -> OrderedDict[str, Any]:
        if self.query.return_arrow:
            raise TileDBError("`return_arrow=True` requires .df indexer")
        if self.query._aggregates is not None:
            return self.query._aggregated(ranges)
        return self._cells(ranges).decoded()


class DomainIndexer(_Indexer):
    """Reads ranges into arrays of NumPy, with coordinates."""

    def _default_coords(self) -> bool:
        return True

    def _result(self, ranges: Any) -> OrderedDict[str, Any]:
        return self._cells(ranges).decoded()


class LabelIndexer(_Indexer):
    """Reads ranges of labels."""

    def __init__(self, query: Query, labels: Sequence[str]) -> None:
        super().__init__(query)
        self.labels = [labels] if isinstance(labels, str) else list(labels)
        places = [self.array.schema.dim_label(name).dim_index for name in self.labels]
        if len(set(places)) != len(places):
            raise TileDBError("Cannot set more than one label per dimension")

    def __getitem__(self, idx: Any) -> Any:
        self.array._check_readable()
        schema = self.array.schema
        items: tuple[Any, ...] = idx if isinstance(idx, tuple) else (idx,)
        names: list[Any] = [None] * schema.ndim
        for name in self.labels:
            names[schema.dim_label(name).dim_index] = name
        ranges: list[tuple[str, list[Range]]] = []
        labels: list[tuple[str, list[Range]]] = []
        for place, dim in enumerate(schema.domain):
            item = items[place] if place < len(items) else slice(None)
            found = _dimension(item)
            if found is None:
                return Cells(
                    self.array, empty_columns(self.array, self._selected()), None
                ).decoded()
            if not found:
                continue
            (labels if names[place] else ranges).append((names[place] or dim.name, list(found)))
        if self.query._aggregates is not None:
            from .subarray import Subarray

            subarray = Subarray(self.array)
            subarray._labels = dict(labels)
            found_ranges, _ = subarray._resolved()._parts()
            return self.query._aggregated([*ranges, *found_ranges])
        return label_cells(self.query, self._selected(), ranges, labels).decoded()

    def _selected(self) -> Selected:
        selected = super()._selected()
        return Selected(
            selected.attrs, [*self.labels, *selected.dims], selected.condition, selected.order
        )


def label_cells(
    query: Query,
    selected: Selected,
    ranges: Sequence[tuple[str, list[Range]]],
    labels: Sequence[tuple[str, list[Range]]],
) -> Cells:
    """Reads ranges of labels."""
    array = query.array
    schema = array.schema
    dims = [dim.name for dim in schema.domain]
    columns = columns_of(
        array,
        Selected(selected.attrs, selected.dims, selected.condition, selected.order),
        list(ranges),
        list(labels),
    )
    if schema.sparse or schema.ndim == 1:
        return Cells(array, columns, None)
    # Labels have one value per coordinate of their dimension, other fields one per cell.
    coordinates = columns_of(
        array, Selected([], dims, None, selected.order), list(ranges), list(labels)
    )
    axes = [np.unique(coordinates[name][0]) for name in dims]
    shape = tuple(len(axis) for axis in axes)
    found: OrderedDict[str, tuple[Any, Any]] = OrderedDict()
    for name, (values, valid) in columns.items():
        if schema.has_dim_label(name):
            place = schema.dim_label(name).dim_index
            firsts = tuple(slice(None) if axis == place else 0 for axis in range(schema.ndim))
            found[name] = (
                values.reshape(shape)[firsts] if values.size == np.prod(shape) else values,
                None,
            )
            continue
        found[name] = (values.reshape(shape), None if valid is None else valid.reshape(shape))
    return Cells(array, found, shape)


class DataFrameIndexer(_Indexer):
    """Reads ranges into data frames of pandas."""

    def __getitem__(self, idx: Any) -> Any:
        if self.query._aggregates is not None:
            raise NotImplementedError("Aggregation results in dataframe not supported")
        return super().__getitem__(idx)

    def _selected(self) -> Selected:
        from .dataframe_ import index_names, uses_arrow

        selected = super()._selected()
        query = self.query
        explicit = query.dims is not None or query.coords is not None
        extra = [
            name
            for name in index_names(self.array, query.index_col)
            if self.array.schema.has_attr(name) and name not in selected.attrs
        ]
        if explicit and not selected.dims and query.index_col is True:
            extra = []
        attrs = [*selected.attrs, *extra]
        texts = uses_arrow(self.array, [*selected.dims, *attrs], query)
        return Selected(attrs, selected.dims, selected.condition, selected.order, texts=texts)

    def _result(self, ranges: Any) -> Any:
        from .dataframe_ import frame_of

        query = self.query
        if query.use_arrow is True:
            for name in self._selected().attrs:
                attr = self.array.schema.attr(name)
                if (attr.isvar and attr.dtype.kind not in "SU") or (
                    not attr.isvar and attr.ncells > 1 and attr.dtype.kind != "S"
                ):
                    raise TileDBError(
                        "Multi-value attributes are not currently supported when use_arrow=True. "
                        "This includes all variable-length attributes and fixed-length "
                        "attributes with more than one value. Use `query(use_arrow=False)`."
                    )
        cells = self._cells(ranges)
        if ranges is None and query.return_arrow:
            return frame_of(self.array, cells, query).to_pandas()
        return frame_of(self.array, cells, query)


def spans(array: Any, ranges: Sequence[tuple[str, list[Range]]]) -> list[Any]:
    """Returns the ranges for the native module."""
    return [
        (name, [engine_range(array.schema.domain.dim(name), item) for item in items])
        for name, items in ranges
    ]
