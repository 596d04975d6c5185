"""Calls of the native module, with the exceptions of TileDB-Py."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from .. import _errors, _native

T = TypeVar("T")


class TileDBError(Exception):
    """An error of the array engine."""


_memory: list[tempfile.TemporaryDirectory[str]] = []


def path_of(uri: Any) -> str:
    """Returns the path or URL that the engine takes.

    ``mem://`` is a temporary folder of the process.
    """
    text = os.fspath(uri)
    if text.startswith("mem://"):
        if not _memory:
            _memory.append(tempfile.TemporaryDirectory(prefix="tdb-mem-"))
        return os.path.join(_memory[0].name, text.removeprefix("mem://"))
    return text.removeprefix("file://")


def call(function: Callable[..., T], *args: Any) -> T:
    """Calls a function of the native module. Its errors become :class:`TileDBError`."""
    try:
        return function(*args)
    except _errors.Error as error:
        raise TileDBError(str(error)) from error


class _Clock:
    """A clock that never returns the same millisecond twice, so that writes have an order."""

    def __init__(self) -> None:
        self._last = 0
        self._lock = threading.Lock()

    def tick(self) -> int:
        with self._lock:
            self._last = max(self._last + 1, time.time_ns() // 1_000_000)
            return self._last

    def now(self) -> int:
        with self._lock:
            return max(self._last, time.time_ns() // 1_000_000)


CLOCK = _Clock()


def opening(
    uri: str,
    start: int | None = None,
    end: int | None = None,
    key: bytes | None = None,
    options: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Describes how the native module opens an array or group."""
    return {
        "uri": uri,
        "start": start,
        "end": end,
        "key": key,
        "threads": 0,
        "storage_options": dict(options or {}),
    }


def open_array(
    uri: str,
    start: int | None = None,
    end: int | None = None,
    key: bytes | None = None,
    options: Mapping[str, str] | None = None,
) -> _native.Array:
    """Opens an array."""
    return call(_native.Array.open, opening(uri, start, end, key, options))


def query(native: _native.Array, **parts: Any) -> _native.Query:
    """Describes a read."""
    defaults: dict[str, Any] = {
        "columns": None,
        "ranges": [],
        "points": None,
        "boxes": None,
        "condition": None,
        "order": None,
        "limit": None,
        "budget": None,
        "batch_cells": None,
        "fill": False,
        "binary": True,
    }
    return call(native.query, {**defaults, **parts})


def object_kind(
    uri: str, key: bytes | None = None, options: Mapping[str, str] | None = None
) -> str | None:
    """Returns ``array``, ``group`` or ``None``."""
    return call(_native.object_type, opening(uri, None, None, key, options))
