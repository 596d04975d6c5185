"""The names of TileDB-Py's native module that programs use."""

from __future__ import annotations

from typing import Any

from ._engine import TileDBError
from .fragment import PyFragmentInfo
from .schema_evolution import ArraySchemaEvolution

__all__ = ["ArraySchemaEvolution", "PyFragmentInfo", "PyQuery", "metadata_test_aux"]


class _MetadataTestAux:
    """Writes metadata of types that Python values do not select."""

    @staticmethod
    def write_ascii(uri: str) -> None:
        """Writes an ASCII text."""
        from .array import Array

        with Array(uri, "w") as array:
            array._write_metadata([("abc", ("string_ascii", b"xyz"))])


metadata_test_aux = _MetadataTestAux()


class PyQuery:
    """The low-level queries of the C++ library."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise NotImplementedError("low-level queries are not supported; use Array.query")


def python_internal_stats(*_: Any) -> str:
    """Statistics of TileDB-Py."""
    raise TileDBError("statistics belong to arrays: use Query.get_stats")
