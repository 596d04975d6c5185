"""Statistics: the requests of arrays to the storage."""

from __future__ import annotations

import collections
import json as json_
import weakref
from collections.abc import Mapping
from typing import Any

from ._engine import TileDBError

_enabled = False
#: The requests of closed arrays, and the open arrays.
_closed: collections.Counter[str] = collections.Counter()
_arrays: weakref.WeakSet[Any] = weakref.WeakSet()


def stats_enable() -> None:
    """Starts to count the requests of all arrays that are opened from now on."""
    global _enabled
    _enabled = True


def stats_disable() -> None:
    """Stops counting."""
    global _enabled
    _enabled = False


def stats_reset() -> None:
    """Forgets the requests so far."""
    _closed.clear()
    for array in _arrays:
        _closed.subtract(array._counters())


def opened(array: Any) -> None:
    """Counts an array."""
    if _enabled:
        _arrays.add(array)


def closed(array: Any) -> None:
    """Keeps the requests of a closed array."""
    if array in _arrays:
        _arrays.discard(array)
        _closed.update(array._counters())


def stats_dump(
    version: bool = True,
    print_out: bool = True,
    include_python: bool = True,
    json: bool = False,
    verbose: bool = True,
) -> str | None:
    """Returns the requests of all arrays that were opened with statistics enabled, as text."""
    if not _enabled:
        raise TileDBError("Statistics are not enabled. Call tiledb.stats_enable() first.")
    total = collections.Counter(_closed)
    for array in _arrays:
        total.update(array._counters())
    text = shown(total, json)
    if print_out:
        print(text)
        return None
    return text


def shown(counters: Mapping[str, int], as_json: bool = False) -> str:
    """Returns requests as text."""
    if as_json:
        return json_.dumps({"counters": dict(counters)})
    lines = [f"{name}: {number}" for name, number in counters.items()]
    return "\n".join(lines) or "no requests"
