"""Queries."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _engine
from ._engine import TileDBError, call
from ._reading import Selected
from .array import Array
from .multirange_indexing import (
    DataFrameIndexer,
    DomainIndexer,
    LabelIndexer,
    MultiRangeIndexer,
    label_cells,
    spans,
)
from .query_condition import condition_text

_AGGREGATES = ("count", "sum", "min", "max", "mean", "null_count")


class Query:
    """A read with chosen fields, a condition and an order."""

    def __init__(
        self,
        array: Array,
        attrs: Any = None,
        cond: Any = None,
        dims: Any = None,
        has_coords: bool | None = None,
        index_col: Any = True,
        order: str | None = None,
        use_arrow: bool | None = None,
        return_arrow: bool = False,
        return_incomplete: bool = False,
        coords: bool | None = None,
        ctx: Any = None,
        attr_cond: Any = None,
    ) -> None:
        self.array = array
        schema = array.schema
        if attr_cond is not None:
            raise TileDBError("`attr_cond` is no longer supported. Use `cond`")
        if array.mode == "d" and not schema.sparse:
            raise TileDBError("Delete mode is not supported for queries on Dense Arrays")
        if return_incomplete and not schema.sparse:
            raise TileDBError("return_incomplete needs a sparse array")
        if return_arrow and use_arrow is False:
            raise TileDBError("Cannot initialize return_arrow with use_arrow=False")
        if order not in (None, "C", "F", "G", "U"):
            raise ValueError(f"unknown order {order!r}; expected 'C', 'F', 'G' or 'U'")
        if isinstance(attrs, str):
            attrs = [attrs] if attrs or schema.has_attr("") else []
        if attrs is not None:
            for name in attrs:
                if not schema.has_attr(name):
                    raise TileDBError(f"Attribute does not exist: '{name}'")
        coords = has_coords if coords is None else coords
        if dims is not None and coords is True and dims is not True:
            raise TileDBError("give dims or coords=True, not both")
        if isinstance(dims, str):
            dims = [dims]
        if dims not in (None, True, False):
            for name in dims:
                if not schema.domain.has_dim(name):
                    raise TileDBError(f"Selected dimension does not exist: '{name}'")
        self.attrs: list[str] | None = None if attrs is None else list(dict.fromkeys(attrs))
        self.cond = cond
        self.dims = dims
        self.coords = coords
        self.index_col = index_col
        self.order = order
        self.use_arrow = use_arrow
        self.return_arrow = return_arrow
        self.return_incomplete = return_incomplete
        self._aggregates: dict[str, tuple[str, ...]] | None = None
        self._by_default = False
        self._ran = False
        self._subarray: Any = None

    def _selected(self, default_coords: bool, positions: bool = False) -> Selected:
        schema = self.array.schema
        if self.attrs is not None:
            attrs = list(self.attrs)
        elif self.array.view_attr is not None:
            attrs = [self.array.view_attr]
        else:
            attrs = [attr.name for attr in schema]
        names = [dim.name for dim in schema.domain]
        if self.dims is True or (self.dims is None and self.coords is True):
            dims = names
        elif self.dims is False or (self.dims is None and self.coords is False):
            dims = []
        elif self.dims is not None:
            dims = list(self.dims)
        else:
            dims = names if default_coords else []
        return Selected(attrs, dims, self.cond, self.order, positions)

    def __getitem__(self, key: Any) -> Any:
        array = self.array
        array._check_readable()
        if self.return_arrow:
            raise TileDBError("`return_arrow=True` requires .df indexer`")
        if self._aggregates is not None:
            selection = array._ranges(key)
            ranges = [(axis.dim.name, axis.ranges) for axis in selection if axis.ranges is not None]
            return self._aggregated(ranges)
        self._ran = True
        selected = self._selected(array.schema.sparse, positions=True)
        found = array._read_key(key, selected)
        plain = getattr(array, "_plain", None)
        return found if plain is None else plain(found)

    @property
    def df(self) -> DataFrameIndexer:
        """Reads ranges, both ends included, as data frames.

        Frames of dense arrays have coordinates only if the query asks for them.
        """
        return DataFrameIndexer(self)

    @property
    def multi_index(self) -> MultiRangeIndexer:
        """Reads ranges, both ends included."""
        return MultiRangeIndexer(self)

    @property
    def domain_index(self) -> DomainIndexer:
        """Reads ranges, both ends included."""
        return DomainIndexer(self)

    def label_index(self, labels: Sequence[str]) -> LabelIndexer:
        """Reads ranges of labels."""
        return LabelIndexer(self, labels)

    def get_stats(self, print_out: bool = True, json: bool = False) -> str | None:
        """Returns the requests of the query."""
        if not self._ran:
            text = ""
        else:
            from .stats import shown

            text = shown(self.array._counters(), json)
        if print_out and text:
            print(text)
            return None
        return text

    def submit(self) -> Any:
        """Deletes the matching cells, if the array is open for deletes. Otherwise reads them."""
        if self.array.mode == "w":
            raise TileDBError("Write mode is not supported for queries on Sparse Arrays")
        if self.array.mode == "d":
            if self.cond is None:
                raise TileDBError("Cannot initialize deletes; One condition is needed")
            self.array.delete_cells(self.cond)
            return None
        return self[...]

    # Aggregates.

    def agg(self, aggs: Any) -> Query:
        """Computes aggregates of attributes instead of reading cells."""
        schema = self.array.schema
        attrs = self._selected(False).attrs or [attr.name for attr in schema]
        if isinstance(aggs, str) or not isinstance(aggs, Mapping):
            names: tuple[str, ...] = (aggs,) if isinstance(aggs, str) else tuple(aggs)
            chosen = {attr: names for attr in attrs}
        else:
            mapping: Mapping[str, Any] = aggs
            chosen = {
                attr: (names,) if isinstance(names, str) else tuple(names)
                for attr, names in mapping.items()
            }
        for attr, names in chosen.items():
            if not schema.has_attr(attr):
                raise TileDBError(f"Attribute does not exist: '{attr}'")
            for name in names:
                if name not in _AGGREGATES:
                    raise TileDBError(f"Channel operation '{name}' is not a valid aggregate")
                if name == "null_count" and not schema.attr(attr).isnullable:
                    raise TileDBError("NULL_COUNT may only be requested for nullable attributes")
        query = Query.__new__(Query)
        query.__dict__.update(self.__dict__)
        query._aggregates = chosen
        query._by_default = not isinstance(aggs, Mapping)
        return query

    def _aggregated(self, ranges: Any) -> Any:
        assert self._aggregates is not None
        found = OrderedDict(
            (attr, OrderedDict((name, self._aggregate(attr, name, ranges)) for name in names))
            for attr, names in self._aggregates.items()
        )
        if len(found) > 1:
            return found
        if len(self._selected(False).attrs) > 1 and self._by_default:
            return found
        only = next(iter(found.values()))
        return next(iter(only.values())) if len(only) == 1 else only

    def _aggregate(self, name: str, function: str, ranges: Any) -> Any:
        array = self.array
        schema = array.schema
        attr = schema.attr(name)
        is_number = attr.dtype.kind in "iufbmM" and not attr.isvar
        if function not in ("count", "null_count") and not is_number:
            raise TileDBError(f"the aggregate {function} needs numbers, found {attr.dtype}")
        if not schema.sparse:
            limits = dict(ranges or [])
            bounds = zip(schema.domain, array._limits())
            ranges = [(dim.name, limits.get(dim.name) or [limit]) for dim, limit in bounds]
        query = _engine.query(
            array._native,
            columns=[attr._internal_name],
            ranges=spans(array, ranges or []),
            condition=None if self.cond is None else condition_text(self.cond, array),
            order="unordered" if schema.sparse else "row-major",
        )
        field = None if function == "count" else attr._internal_name
        # The C++ library divides the sum.
        wanted = ["sum", "count"] if function == "mean" else [function]
        columns, _ = call(query.aggregate, [(item, field, 0.0) for item in wanted])
        value, *rest = (column.numbers()[0] for column in columns)
        if rest:
            value = value / rest[0] if rest[0] else None
        if value is None:
            # The C++ library adds up no cells to zero, unless the attribute is nullable.
            if function == "sum" and not attr.isnullable:
                return 0
            return (
                float("nan")
                if attr.dtype.kind == "f" or (function == "mean" and not attr.isnullable)
                else None
            )
        if function in ("min", "max") and attr.dtype.kind in "bM":
            return np.array([value]).astype(attr.dtype)[0]
        return value

    def _read_subarray(self, subarray: Any) -> Any:
        array = self.array
        array._check_readable()
        ranges, labels = subarray._parts()
        selected = self._selected(array.schema.sparse)
        if labels:
            return label_cells(self, selected, ranges, labels).decoded()
        from ._reading import read, read_dense

        cells = (
            read(array, selected, ranges)
            if array.schema.sparse
            else read_dense(array, selected, ranges)
        )
        found = cells.decoded()
        plain = getattr(array, "_plain", None)
        return found if plain is None or array.view_attr is not None else plain(found)

    # The interface of the C++ library.

    def set_subarray(self, subarray: Any) -> None:
        """Sets the ranges of a low-level query."""
        self._subarray = subarray

    def _submit(self) -> None:
        if self._subarray is None:
            raise TileDBError("the query has no subarray")
        self._subarray = self._subarray._resolved()

    def subarray(self) -> Any:
        """Returns the ranges, with labels resolved to coordinates."""
        return self._subarray

    def __repr__(self) -> str:
        return (
            f"Query(array={self.array!r}, attrs={self.attrs}, cond={self.cond!r}, dims={self.dims})"
        )


__all__ = ["Query"]
