"""Metadata of arrays and groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any, TypeAlias

from . import _types
from ._errors import UsageError
from ._libraries import is_list, is_tuple, numpy

#: The name, the datatype and the value of an entry.
Entry: TypeAlias = tuple[str, str, Any]
#: The key, and the datatype and the bytes of the new value, or ``None`` to delete the key.
Change: TypeAlias = tuple[str, "tuple[str, bytes] | None"]


class Metadata(MutableMapping[str, Any]):
    """Metadata: a dictionary of texts, bytes, numbers, and tuples of numbers.

    Each change writes a file. :meth:`update` writes one file for all its keys.
    """

    def __init__(
        self, read: Callable[[], list[Entry]], write: Callable[[list[Change]], None]
    ) -> None:
        self._read = read
        self._write = write

    def _entries(self) -> dict[str, tuple[str, Any]]:
        return {key: (datatype, value) for key, datatype, value in self._read()}

    def __getitem__(self, key: str) -> Any:
        return self._entries()[key][1]

    def datatype(self, key: str) -> str:
        """Returns the datatype of a value."""
        return self._entries()[key][0]

    def __setitem__(self, key: str, value: Any) -> None:
        self._write([(key, _encoded(key, value))])

    def __delitem__(self, key: str) -> None:
        if key not in self._entries():
            raise KeyError(key)
        self._write([(key, None)])

    def update(self, values: Any = (), /, **further: Any) -> None:
        """Sets several keys atomically."""
        changes = {**dict(values), **further}
        self._write([(key, _encoded(key, value)) for key, value in changes.items()])

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries())

    def __len__(self) -> int:
        return len(self._entries())

    def __repr__(self) -> str:
        return f"Metadata({dict(self)!r})"

    def _repr_html_(self) -> str:
        from html import escape

        entries: Mapping[str, tuple[str, Any]] = self._entries()
        rows = "".join(
            f"<tr><td>{escape(key)}</td><td>{datatype}</td><td>{escape(repr(value))}</td></tr>"
            for key, (datatype, value) in entries.items()
        )
        return f"<table><thead><tr><th>key</th><th>datatype</th><th>value</th></tr></thead><tbody>{rows}</tbody></table>"


def _encoded(key: str, value: Any) -> tuple[str, bytes]:
    """Returns the datatype and the bytes of a value."""
    import struct

    if isinstance(value, str):
        return ("string_utf8", value.encode())
    if isinstance(value, (bytes, bytearray)):
        return ("blob", bytes(value))
    if hasattr(value, "dtype"):
        np = numpy()

        array = np.ascontiguousarray(value)
        datatype, count = _types.datatype_of(array.dtype, key)
        if count == 1 and array.ndim < 2:
            return (datatype, array.astype(array.dtype.newbyteorder("<")).tobytes())
        raise UsageError(
            f"metadata key {key!r}: cannot store an array of {array.dtype} with {array.ndim} dimensions"
        )
    items: list[Any] = [*value] if is_list(value) or is_tuple(value) else [value]
    kinds: set[type] = {type(item) for item in items}
    try:
        if kinds == {bool}:
            return ("bool", bytes(items))
        if kinds == {int}:
            return ("int64", struct.pack(f"<{len(items)}q", *items))
        if kinds and kinds <= {int, float}:
            return ("float64", struct.pack(f"<{len(items)}d", *items))
    except (struct.error, OverflowError):
        raise UsageError(f"metadata key {key!r}: {value!r} exceeds 64 bits") from None
    raise UsageError(
        f"metadata key {key!r}: cannot store {value!r}; expected text, bytes, numbers, or a tuple of numbers"
    )
