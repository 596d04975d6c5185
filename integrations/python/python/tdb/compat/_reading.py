"""Reads of arrays."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _cells, _engine
from ._engine import TileDBError
from ._selection import Range, engine_range
from .attribute import Attr

if TYPE_CHECKING:
    from .array import Array

_ORDERS = {"C": "row-major", "F": "col-major", "G": "global", "U": "unordered"}


def engine_order(order: str | None, array: Array) -> str:
    """Returns the order of the engine."""
    if order is None:
        if not array.schema.sparse:
            return "row-major"
        return "unordered" if array.schema.allows_duplicates else "global"
    if order not in _ORDERS:
        raise ValueError(f"unknown order {order!r}; expected 'C', 'F', 'G' or 'U'")
    if order == "U" and not array.schema.sparse:
        return "row-major"
    return _ORDERS[order]


@dataclasses.dataclass
class Selected:
    """The fields, the condition and the order of a read."""

    attrs: list[str]
    dims: list[str]
    condition: Any = None
    order: str | None = None
    #: Return positions in enumerations instead of values.
    positions: bool = False
    #: Return ASCII as text, as in data frames.
    texts: bool = False


class Cells:
    """The cells of a read: an array and its validity per field."""

    def __init__(
        self,
        array: Array,
        columns: OrderedDict[str, tuple[Any, Any]],
        shape: tuple[int, ...] | None,
    ) -> None:
        self.array = array
        self.columns = columns
        self.shape = shape

    def decoded(self, positions: bool = False) -> OrderedDict[str, Any]:
        """Returns the fields: null is masked, and positions in enumerations become values.

        Results of queries keep the ``positions``.
        """
        found: OrderedDict[str, Any] = OrderedDict()
        schema = self.array.schema
        for name, (values, valid) in self.columns.items():
            attr = schema.attr(name) if schema.has_attr(name) else None
            if attr is not None and attr.enum_label is not None and not positions:
                values, valid = self._enumerated(attr, values, valid)
            elif attr is not None and attr.isnullable and valid is None:
                valid = np.ones(values.shape, dtype=bool)
            if valid is not None:
                values = np.ma.MaskedArray(values, mask=~valid)
            found[name] = values
        return found

    def _enumerated(self, attr: Attr, values: Any, valid: Any) -> tuple[Any, Any]:
        known = self.array.schema.enum(attr.enum_label or "").values()
        inside = (values >= 0) & (values < len(known))
        if valid is not None:
            inside &= valid
        if not len(known):
            return values, inside
        mapped = known[np.where(inside, values, 0)]
        if attr.isnullable or not inside.all():
            return mapped, inside
        return mapped, None


def columns_of(
    array: Array,
    selected: Selected,
    ranges: Sequence[tuple[str, list[Range]]],
    labels: Sequence[tuple[str, list[Range]]] = (),
) -> OrderedDict[str, tuple[Any, Any]]:
    """Reads fields, in one dimension."""
    schema = array.schema
    names = [*selected.dims, *[schema.attr(name)._internal_name for name in selected.attrs]]
    shown = [*selected.dims, *selected.attrs]
    parts: list[tuple[str, list[tuple[Any, Any]]]] = []
    for name, items in ranges:
        dim = schema.domain.dim(name)
        parts.append((name, [engine_range(dim, item) for item in items]))
    for name, items in labels:
        parts.append((name, [_label_range(item) for item in items]))
    order = engine_order(selected.order, array)
    if order == "global" and selected.order is None and any(len(items) > 1 for _, items in parts):
        # The engine has no global order for several ranges.
        order = {"row-major": "row-major", "col-major": "col-major"}.get(
            schema.cell_order, "unordered"
        )
    condition = None
    if selected.condition is not None:
        from .query_condition import condition_text

        condition = condition_text(selected.condition, array)
    query = _engine.query(
        array._native,
        columns=names,
        ranges=parts,
        condition=condition,
        order=order,
        fill=True,
    )
    columns = _engine.call(query.columns)
    # A query that names no field still has cells.
    return OrderedDict(
        (name, _cells.from_column(column, selected.texts)) for name, column in zip(shown, columns)
    )


def _label_range(item: Range) -> Range:
    def end(value: Any) -> Any:
        if isinstance(value, np.datetime64):
            return int(value.astype(np.int64))
        return value.item() if isinstance(value, np.generic) else value

    return (end(item[0]), end(item[1]))


def empty_columns(array: Array, selected: Selected) -> OrderedDict[str, tuple[Any, Any]]:
    """Returns fields without cells."""
    schema = array.schema
    found: OrderedDict[str, tuple[Any, Any]] = OrderedDict()
    for name in selected.dims:
        found[name] = (_cells.empty(schema.domain.dim(name)), None)
    for name in selected.attrs:
        found[name] = (_cells.empty(schema.attr(name)), None)
    return found


def read(array: Array, selected: Selected, ranges: Sequence[tuple[str, list[Range]]]) -> Cells:
    """Reads cells of a sparse array."""
    if any(not items for _, items in ranges):
        return Cells(array, empty_columns(array, selected), None)
    return Cells(array, columns_of(array, selected, ranges), None)


def _points(dim: Any, item: Range) -> Any:
    first, last = (int(end) for end in engine_range(dim, item))
    return np.arange(first, last + 1, dtype=object if last > 2**62 else np.int64)


def read_dense(
    array: Array, selected: Selected, ranges: Sequence[tuple[str, list[Range]]]
) -> Cells:
    """Reads cells of a dense array: one axis per dimension, in the order of the ranges."""
    domain = array.schema.domain
    given = dict(ranges)
    used: list[tuple[str, list[Range]]] = []
    takes: list[Any] = []
    shape: list[int] = []
    limits = array._limits()
    for dim, limit in zip(domain, limits):
        items = given.get(dim.name)
        if items is None:
            items = [limit]
        if not items:
            return Cells(array, empty_columns(array, selected), None)
        for item in items:
            first, last = engine_range(dim, item)
            low, high = engine_range(dim, limit)
            if first < low or last > high or first > last:
                raise TileDBError(
                    f"Subarray: Cannot add range to dimension '{dim.name}'; Range [{item[0]}, {item[1]}] is out of"
                    f" domain bounds [{limit[0]}, {limit[1]}]"
                )
        if len(items) == 1:
            first, last = (int(end) for end in engine_range(dim, items[0]))
            shape.append(last - first + 1)
            takes.append(None)
            used.append((dim.name, items))
            continue
        wanted = np.concatenate([_points(dim, item) for item in items])
        unique, places = np.unique(wanted, return_inverse=True)
        shape.append(len(unique))
        takes.append(places.reshape(-1))
        merged = _merged(unique)
        used.append((dim.name, merged))
    columns = columns_of(array, selected, used)
    order = selected.order or "C"
    if order == "G":
        return Cells(array, columns, None)
    found: OrderedDict[str, tuple[Any, Any]] = OrderedDict()
    for name, (values, valid) in columns.items():
        found[name] = (
            _shaped(values, shape, takes, order),
            None if valid is None else _shaped(valid, shape, takes, order),
        )
    return Cells(array, found, tuple(shape))


def _merged(unique: Any) -> list[Range]:
    breaks = np.flatnonzero(np.diff(unique) != 1)
    starts = [0, *(breaks + 1).tolist()]
    ends = [*breaks.tolist(), len(unique) - 1]
    return [(int(unique[start]), int(unique[end])) for start, end in zip(starts, ends)]


def _shaped(values: Any, shape: list[int], takes: list[Any], order: str) -> Any:
    cells = values.reshape(shape, order="F" if order == "F" else "C")
    for axis, take in enumerate(takes):
        if take is not None:
            cells = np.take(cells, take, axis=axis)
    return np.asfortranarray(cells) if order == "F" else cells
