"""Indices of arrays as ranges of coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._engine import TileDBError
from .dimension import Dim, plain
from .domain import Domain

#: The first and the last coordinate, both included.
Range = tuple[Any, Any]


def expanded(key: Any, ndim: int) -> tuple[Any, ...]:
    """Returns one index per dimension, without ellipses."""
    items: list[Any] = list(key) if isinstance(key, tuple) else [key]
    places = [place for place, item in enumerate(items) if item is Ellipsis]
    if len(places) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if places:
        place = places[0]
        missing = ndim - (len(items) - 1)
        items[place : place + 1] = [slice(None)] * max(missing, 0)
    if len(items) > ndim:
        raise IndexError("too many indices for array")
    return (*items, *[slice(None)] * (ndim - len(items)))


def _is_integer(item: Any) -> bool:
    return isinstance(item, (int, np.integer)) and not isinstance(item, (bool, np.bool_))


class Axis:
    """The index of a dimension, in the rules of Python: an integer slice excludes its end."""

    def __init__(self, dim: Dim, item: Any, limits: Range | None, sparse: bool) -> None:
        self.dim = dim
        self.drop = False
        self.step = 1
        #: No cells.
        self.empty = False
        self.ranges: list[Range] | None = None
        kind = dim.dtype.kind
        if isinstance(item, np.ndarray) and item.ndim == 0:
            item = item[()]
        if type(item).__module__.startswith("pyarrow"):
            foreign: Any = item
            item = foreign.to_pylist()
        if isinstance(item, (list, np.ndarray, tuple)):
            if not sparse:
                raise IndexError(f"invalid index type: {type(item)!r}")
            points: list[Any] = list(item)
            self.ranges = [(self._point(point), self._point(point)) for point in points]
            return
        if not isinstance(item, slice):
            self.drop = True
            point = self._scalar(item, limits)
            self.ranges = [(point, point)]
            return
        if item.step is not None and sparse:
            raise IndexError("steps are not supported for sparse arrays")
        self.step = 1 if item.step is None else int(item.step)
        start, stop = item.start, item.stop
        if kind == "S":
            if start is None and stop is None:
                self.ranges = None
            else:
                self.ranges = [
                    (
                        None if start is None else self._text(start),
                        None if stop is None else self._text(stop),
                    )
                ]
            return
        if start is None and stop is None:
            self.ranges = None if limits is None else [limits]
            return
        first, last = dim.domain if limits is None else limits
        if limits is not None and limits != dim.domain:
            # Explicit ends beyond the current domain are errors, those beyond the domain are not.
            wide = dim.domain
            self._of_slice(
                start if start is not None else first,
                stop if stop is not None or dim.dtype.kind not in "iu" else int(last) + 1,
                *wide,
            )
            return
        self._of_slice(start, stop, first, last)

    def _text(self, item: Any) -> Any:
        if not isinstance(item, (str, bytes)):
            raise TileDBError(f"dimension {self.dim.name!r}: expected text, found {item!r}")
        return item

    def _point(self, item: Any) -> Any:
        kind = self.dim.dtype.kind
        if kind == "S":
            return self._text(item)
        if kind == "M":
            if not isinstance(item, np.datetime64):
                raise IndexError("cannot index datetime dimension with non-datetime interval")
            return item.astype(self.dim.dtype)
        if isinstance(item, (str, bytes)) or item is None:
            raise IndexError(f"invalid index type: {type(item)!r}")
        return self.dim.dtype.type(item)

    def _scalar(self, item: Any, limits: Range | None) -> Any:
        kind = self.dim.dtype.kind
        if kind in "iu":
            if not _is_integer(item):
                raise IndexError(
                    f"cannot index integral domain dimension with {type(item).__name__}"
                )
            number = int(item)
            first, last = self.dim.domain if limits is None else limits
            if (number < 0 and number < int(first)) or (number < 0 and int(first) >= 0):
                number += int(last) + 1
            elif number < 0 and kind == "i" and int(first) < 0:
                pass
            if not int(self.dim.domain[0]) <= number <= int(self.dim.domain[1]):
                raise IndexError(f"index {item} is out of bounds for dimension {self.dim.name!r}")
            return number
        return self._point(item)

    def _of_slice(self, start: Any, stop: Any, first: Any, last: Any) -> None:
        kind = self.dim.dtype.kind
        if kind == "M":
            low = first if start is None else self._point(start)
            high = last if stop is None else self._point(stop)
            self._set(max(low, first), min(high, last))
            return
        if start is not None and stop is not None and type(start) is not type(stop):
            promoted = np.promote_types(np.asarray(start).dtype, np.asarray(stop).dtype)
            if promoted.kind in "iuf":
                start, stop = promoted.type(start), promoted.type(stop)
        for end in (start, stop):
            if end is None:
                continue
            if kind in "iu" and not _is_integer(end):
                raise IndexError("cannot index integral domain dimension with floating point slice")
            if not isinstance(end, (int, float, np.number)):
                raise IndexError(f"invalid index type: {type(end)!r}")
        if kind == "f" and not (stop is not None and _is_integer(stop)):
            low = first if start is None else self.dim.dtype.type(start)
            high = last if stop is None else self.dim.dtype.type(stop)
            self._set(max(low, first), min(high, last))
            return
        top = int(last)
        low = plain(first) if start is None else plain(start)
        if start is not None and low < 0:
            low += top + 1
        high = top + 1 if stop is None else int(stop)
        if stop is not None and high < 0:
            high += top + 1
        low = max(low, plain(first))
        self._set(low, min(high - 1, plain(last)))

    def _set(self, low: Any, high: Any) -> None:
        self.empty = bool(high < low)
        self.ranges = [(low, high)]


def axes(domain: Domain, key: Any, sparse: bool, limits: list[Range | None]) -> list[Axis]:
    """Resolves an index."""
    items = expanded(key, domain.ndim)
    return [Axis(dim, item, limit, sparse) for dim, item, limit in zip(domain, items, limits)]


def engine_range(dim: Dim, ends: Range) -> tuple[Any, Any]:
    """Converts a range for the native module."""
    first, last = ends
    return (_engine_end(dim, first), _engine_end(dim, last))


def _engine_end(dim: Dim, end: Any) -> Any:
    if end is None:
        return None
    if dim.isvar:
        return end if isinstance(end, (str, bytes)) else str(end)
    if dim.dtype.kind == "M" and isinstance(end, np.datetime64):
        return int(end.astype(dim.dtype).astype(np.int64))
    if dim.dtype.kind == "f":
        return float(end)
    return plain(end)
