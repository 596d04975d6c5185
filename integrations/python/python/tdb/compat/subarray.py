"""Subarrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._engine import TileDBError
from ._reading import Selected, columns_of
from ._selection import Range
from .ctx import Ctx


class Subarray:
    """Ranges of dimensions and labels."""

    def __init__(self, array: Any, ctx: Ctx | None = None) -> None:
        self._array = array
        self._ranges: dict[int, list[Range]] = {}
        self._labels: dict[str, list[Range]] = {}

    def _domain(self) -> Any:
        return self._array.schema.domain

    def _cast(self, dim: Any, item: Any) -> Range:
        ends: list[Any] = list(item) if isinstance(item, (tuple, list)) else [item, item]
        if len(ends) == 3:
            raise TileDBError("Subarray: ranges with a stride are not supported")
        first, last = ends
        kind = dim.dtype.kind
        name = dim._tiledb_dtype.name
        for end in ends:
            fits = {
                "S": isinstance(end, (str, bytes)),
                "M": isinstance(end, (np.datetime64, int, np.integer)),
                "f": isinstance(end, (int, float, np.number)),
            }.get(kind, isinstance(end, (int, np.integer)) and not isinstance(end, bool))
            if end is not None and not fits:
                raise TileDBError(f"Failed to cast dim range '{tuple(ends)}' to dim type {name}.")
        if kind == "M":
            unit: Any = np.datetime_data(dim.dtype)[0]
            converted = [
                end.astype(dim.dtype)
                if isinstance(end, np.datetime64)
                else np.datetime64(int(end), unit)
                for end in ends
            ]
            return (converted[0], converted[1])
        if kind in "iu":
            return (int(first), int(last))
        return (first, last) if kind == "S" else (dim.dtype.type(first), dim.dtype.type(last))

    def add_dim_range(self, dim: Any, dim_range: Any) -> None:
        """Adds a range of a dimension."""
        place = self._domain()._index(dim)
        found = self._cast(self._domain().dim(place), dim_range)
        self._check(place, found)
        self._ranges.setdefault(place, []).append(found)

    def _check(self, place: int, found: Range) -> None:
        dim = self._domain().dim(place)
        if dim.isvar:
            return
        first, last = dim.domain
        if found[0] < first or found[1] > last or found[0] > found[1]:
            raise TileDBError(
                f"Subarray: Cannot add range to dimension '{dim.name}'; Range [{found[0]}, {found[1]}] is out of"
                f" domain bounds [{first}, {last}]"
            )

    def add_ranges(self, ranges: Sequence[Sequence[Any]]) -> None:
        """Adds ranges of all dimensions."""
        for place, items in enumerate(ranges):
            for item in items:
                self.add_dim_range(place, item)

    def add_dim_ranges(self, dim: Any, ranges: Sequence[Any]) -> None:
        """Adds ranges of a dimension."""
        for item in ranges:
            self.add_dim_range(dim, item)

    def add_label_range(self, label: str, label_range: Any) -> None:
        """Adds a range of a label."""
        self._array.schema.dim_label(label)
        first, last = label_range
        self._labels.setdefault(label, []).append((first, last))

    def add_label_ranges(self, labels: Sequence[tuple[str, Sequence[Any]]]) -> None:
        """Adds ranges of labels."""
        for name, items in labels:
            for item in items:
                self.add_label_range(name, item)

    def _labelled(self, place: int) -> str | None:
        schema = self._array.schema
        for name in self._labels:
            if schema.dim_label(name).dim_index == place:
                return name
        return None

    def num_dim_ranges(self, dim: Any) -> int:
        """The number of ranges of a dimension."""
        place = self._domain()._index(dim)
        if self._labelled(place) is not None:
            return 0
        return len(self._ranges.get(place, [None]))

    def num_label_ranges(self, label: str) -> int:
        """The number of ranges of a label."""
        return len(self._labels.get(label, []))

    def has_label_range(self, dim: Any) -> bool:
        """Whether a dimension has ranges of a label."""
        return self._labelled(self._domain()._index(dim)) is not None

    def _of(self, place: int) -> list[Range]:
        dim = self._domain().dim(place)
        return self._ranges.get(place, [dim.domain])

    def get_range(self, dim: Any, range_index: int) -> list[Any]:
        """Returns a range: its ends, and the stride for numbers."""
        place = self._domain()._index(dim)
        found = self._of(place)
        if not 0 <= range_index < len(found):
            raise TileDBError(
                f"Subarray: no range {range_index}; dimension {dim!r} has {len(found)}"
            )
        first, last = found[range_index]
        if self._domain().dim(place).isvar:
            return [item.decode() if isinstance(item, bytes) else item for item in (first, last)]
        return [first, last, 0]

    def shape(self) -> tuple[int, ...]:
        """The number of coordinates in each dimension."""
        sizes: list[int] = []
        for place, dim in enumerate(self._domain()):
            if dim.dtype.kind not in "iuM":
                raise TileDBError(
                    "Subarray: the shape is known for integer and date dimensions only"
                )
            sizes.append(
                sum(
                    int((last - first) / np.timedelta64(1, np.datetime_data(dim.dtype)[0])) + 1
                    if dim.dtype.kind == "M"
                    else int(last) - int(first) + 1
                    for first, last in self._of(place)
                )
            )
        return tuple(sizes)

    def copy_ranges(self, subarray: Subarray, dims: Sequence[Any]) -> None:
        """Adds the ranges of another subarray for some dimensions."""
        for dim in dims:
            place = self._domain()._index(dim)
            for item in subarray._ranges.get(place, []):
                self.add_dim_range(place, item)

    def _parts(self) -> tuple[list[tuple[str, list[Range]]], list[tuple[str, list[Range]]]]:
        """Returns the ranges of dimensions, and of labels."""
        ranges = [
            (self._domain().dim(place).name, items) for place, items in sorted(self._ranges.items())
        ]
        ranges = [(name, items) for name, items in ranges if not self.has_label_range(name)]
        return ranges, list(self._labels.items())

    def _single_ranges(self) -> list[Range]:
        if self._labels:
            raise TileDBError("Subarray: writes by ranges of labels are not supported")
        found = [self._of(place) for place in range(self._domain().ndim)]
        if any(len(items) != 1 for items in found):
            raise TileDBError("Subarray: a write needs one range per dimension")
        return [items[0] for items in found]

    def _resolved(self) -> Subarray:
        """Returns a subarray with the coordinates of label ranges."""
        made = Subarray(self._array)
        made._ranges = dict(self._ranges)
        for name, items in self._labels.items():
            place = self._array.schema.dim_label(name).dim_index
            dim = self._domain().dim(place)
            for item in items:
                columns = columns_of(self._array, Selected([], [dim.name]), [], [(name, [item])])
                cells = np.unique(columns[dim.name][0])
                if len(cells):
                    made.add_dim_range(place, (cells[0], cells[-1]))
        return made
