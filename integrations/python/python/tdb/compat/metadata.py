"""Metadata of arrays and groups."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

import numpy as np

from .. import _native
from . import _engine
from ._engine import TileDBError, call
from .datatypes import DataType, base_dtype, by_engine_name, engine_name, physical_dtype

#: Prefixes of the keys of arrays of NumPy: the values, and the shape.
_FLAT, _SHAPE = "__np_flat_", "__np_shape_"

_MISSING: Any = object()

#: The datatype and the bytes of a value.
_Packed = tuple[str, bytes]


def _pack(value: Any) -> _Packed:
    if isinstance(value, str):
        return ("string_utf8", value.encode())
    if isinstance(value, (bytes, bytearray)):
        return ("blob", bytes(value))
    if isinstance(value, np.generic):
        return _pack_array(np.asarray(value))
    if isinstance(value, (list, tuple)):
        items: list[Any] = list(value)  # pyright: ignore[reportUnknownArgumentType]
        if not items:
            return ("int32", b"")
        kinds = {type(item) for item in items}
        if len(kinds) > 1:
            raise TypeError(f"Mixed-type sequences are not supported: {value!r}")
        if kinds <= {str, bytes}:
            raise TypeError(f"Unsupported item type '{kinds.pop()}'")
        packed = [_pack_number(item) for item in items]
        return (packed[0][0], b"".join(part for _, part in packed))
    return _pack_number(value)


def _pack_number(value: Any) -> _Packed:
    if isinstance(value, (bool, int)):
        if not -(2**63) <= int(value) < 2**63:
            raise OverflowError(f"integer {value} does not fit into 64 bits")
        return ("int64", int(value).to_bytes(8, "little", signed=True))
    if isinstance(value, float):
        return ("float64", np.float64(value).tobytes())
    if isinstance(value, np.generic):
        return _pack_array(np.asarray(value))
    raise TypeError(f"Unsupported item type '{type(value)}'")


def _pack_array(array: Any) -> _Packed:
    if array.dtype.kind in "SU" and array.dtype.itemsize > (4 if array.dtype.kind == "U" else 1):
        if array.size == 1 and not array.ndim:
            item: Any = array[()]
            return (
                ("string_utf8", item.encode()) if isinstance(item, str) else ("blob", bytes(item))
            )
        if array.size != 1:
            raise TypeError(
                f"Unsupported item type '{array.dtype}': arrays of texts have one character per text"
            )
    if array.dtype.kind == "U":
        return ("string_utf8", array.astype(array.dtype.newbyteorder("<")).tobytes())
    if array.dtype.kind == "S":
        return ("string_ascii", array.tobytes())
    found = DataType.from_numpy(array.dtype)
    return (engine_name(found.tiledb_type), array.tobytes())


def _raw(datatype: str, value: Any) -> bytes:
    """Returns the bytes of a value of the native module."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return value
    physical = physical_dtype(by_engine_name(datatype))
    return np.array(value, dtype=physical).tobytes()


class Metadata(MutableMapping[str, Any]):
    """The metadata of an array or group. Changes are written when it is closed."""

    def __init__(self, owner: Any) -> None:
        self._owner = owner
        self._changes: dict[str, _Packed | None] = {}
        self._entries: tuple[Any, dict[str, tuple[str, Any]]] | None = None

    def _native(self) -> Any:
        return self._owner._opened()

    def _loaded(self) -> dict[str, tuple[str, Any]]:
        native = self._native()
        if self._owner.mode not in ("r", "m"):
            raise TileDBError("cannot read metadata of an object that is open for writing")
        if self._entries is None or self._entries[0] is not native:
            self._entries = (
                native,
                {key: (datatype, value) for key, datatype, value in call(native.metadata)},
            )
        return self._entries[1]

    def _value(self, key: str) -> tuple[str, Any]:
        entries = self._loaded()
        if key in entries:
            datatype, value = entries[key]
            if datatype == "string_utf8" and value == ():
                return datatype, ""
            if datatype in ("blob", "char", "string_ascii"):
                return datatype, b"" if value == () else _raw(datatype, value)
            return datatype, value
        if _FLAT + key in entries:
            datatype, value = entries[_FLAT + key]
            raw = b"" if value == () else _raw(datatype, value)
            dtype = (
                np.dtype("U1")
                if datatype == "string_utf8"
                else base_dtype(by_engine_name(datatype))
            )
            array = np.frombuffer(raw, dtype=dtype)
            if _SHAPE + key in entries:
                shape = entries[_SHAPE + key][1]
                array = array.reshape(shape if isinstance(shape, tuple) else (shape,))
            return datatype, array
        raise KeyError(key)

    def __getitem__(self, key: str) -> Any:
        if not isinstance(key, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"Unexpected key type '{type(key)}': expected str")
        datatype, value = self._value(key)
        dtype = base_dtype(by_engine_name(datatype))
        return dtype.type(value) if dtype.kind in "if" and np.isscalar(value) else value

    def _check_writable(self) -> None:
        self._native()
        if self._owner.mode != "w":
            raise TileDBError("metadata can be changed in mode 'w' only")

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"Unexpected key type '{type(key)}': expected str")
        self._check_writable()
        if isinstance(value, np.ndarray):
            array: Any = np.ascontiguousarray(value) if value.ndim else value
            changes: dict[str, _Packed | None] = {
                key: None,
                _SHAPE + key: None,
                _FLAT + key: _pack_array(array),
            }
            if array.ndim != 1:
                shape = array.shape
                changes[_SHAPE + key] = ("int32", b"") if not shape else _pack(list(shape))
        else:
            changes = {_FLAT + key: None, _SHAPE + key: None, key: _pack(value)}
        self._changes.update(changes)

    def __delitem__(self, key: str) -> None:
        if not isinstance(key, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"Unexpected key type '{type(key)}': expected str")
        self._check_writable()
        for name in (key, _FLAT + key, _SHAPE + key):
            self._changes[name] = None

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, str):
            raise TypeError(f"Unexpected key type '{type(key)}': expected str")
        entries = self._loaded()
        return key in entries or _FLAT + key in entries

    def __iter__(self) -> Iterator[str]:
        for key in self._loaded():
            if key.startswith(_FLAT):
                yield key[len(_FLAT) :]
            elif not key.startswith(_SHAPE):
                yield key

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Not implemented, as in TileDB-Py."""
        raise NotImplementedError("setdefault needs metadata that is both readable and writable")

    def pop(self, key: str, default: Any = _MISSING) -> Any:
        """Not implemented, as in TileDB-Py."""
        raise NotImplementedError("pop needs metadata that is both readable and writable")

    def popitem(self) -> tuple[str, Any]:
        """Not implemented, as in TileDB-Py."""
        raise NotImplementedError("popitem needs metadata that is both readable and writable")

    def clear(self) -> None:
        """Not implemented, as in TileDB-Py."""
        raise NotImplementedError("clear needs metadata that is both readable and writable")

    def consolidate(self) -> None:
        """Consolidates the metadata files."""
        self._flush()
        uri, key = self._owner.uri, getattr(self._owner, "_key", None)
        consolidate_metadata(uri, key)

    def dump(self) -> None:
        """Prints keys, types and values."""
        lines = ["### Array Metadata ###", f"- Num: {len(self)}"]
        for key in self:
            datatype, value = self._value(key)
            lines += [f"- Key: {key}", f"- Value: {value}", f"- Type: DataType.{datatype.upper()}"]
        print("\n".join(lines))

    def __repr__(self) -> str:
        return f"Metadata({dict(self)!r})"

    def _flush(self) -> None:
        """Writes the changes."""
        if not self._changes:
            return
        changes, self._changes = list(self._changes.items()), {}
        self._owner._write_metadata(changes)


def consolidate_metadata(uri: str, key: bytes | None = None) -> None:
    """Consolidates the metadata files of an array or group."""
    opening = _engine.opening(_engine.path_of(uri), None, None, key)
    call(_native.change_files, opening, "consolidate", "metadata", False, False, False, None)


def vacuum_metadata(uri: str, key: bytes | None = None) -> None:
    """Deletes superseded metadata files of an array or group."""
    opening = _engine.opening(_engine.path_of(uri), None, None, key)
    call(_native.change_files, opening, "vacuum", "metadata", True, False, False, None)
