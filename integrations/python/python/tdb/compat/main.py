"""The names of TileDB-Py's native module that programs use."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np

from . import libtiledb as lt
from ._cells import Array as Values
from ._reading import Selected, columns_of, read_dense
from .fragment import PyFragmentInfo
from .schema_evolution import ArraySchemaEvolution

__all__ = [
    "ArraySchemaEvolution",
    "PyFragmentInfo",
    "PyQuery",
    "metadata_test_aux",
    "test_webp_filter",
]

_LAYOUTS = {0: "C", 1: "F", 2: "G", 3: "U"}


class _MetadataTestAux:
    """Writes metadata of types that Python values do not select."""

    @staticmethod
    def write_ascii(uri: str) -> None:
        """Writes an ASCII text."""
        from .array import Array

        with Array(uri, "w") as array:
            array._write_metadata([("abc", ("string_ascii", b"xyz"))])


class _WebpFilter:
    """The presence of the image filter."""

    @staticmethod
    def webp_filter_exists() -> bool:
        """Whether the engine has the filter."""
        return True


metadata_test_aux = _MetadataTestAux()
test_webp_filter = _WebpFilter()


class PyQuery:
    """A low-level query: bytes and offsets per field."""

    def __init__(
        self, ctx: Any, array: Any, attrs: Any, dims: Any, layout: int, use_arrow: bool
    ) -> None:
        self._array = array
        self._selected = Selected(
            list(attrs), list(dims), None, _LAYOUTS[int(lt.LayoutType(int(layout)))]
        )
        self._subarray: Any = None
        self._results: OrderedDict[str, tuple[Values, Values]] = OrderedDict()

    def set_subarray(self, subarray: Any) -> None:
        """Sets the ranges."""
        self._subarray = subarray

    def submit(self) -> None:
        """Reads the cells."""
        ranges: Any = []
        if self._subarray is not None:
            ranges, _ = self._subarray._parts()
        array = self._array
        if array.schema.sparse:
            columns = columns_of(array, self._selected, ranges)
        else:
            columns = read_dense(array, self._selected, ranges).columns
        for name, (values, _) in columns.items():
            flat = values.reshape(-1)
            if flat.dtype.kind != "O":
                self._results[name] = (
                    np.ascontiguousarray(flat).view(np.uint8),
                    np.empty(0, dtype=np.uint64),
                )
                continue
            cells = [item.encode() if isinstance(item, str) else bytes(item) for item in flat]
            ends = np.cumsum([0, *(len(cell) for cell in cells)], dtype=np.uint64)
            self._results[name] = (np.frombuffer(b"".join(cells), dtype=np.uint8), ends[:-1])

    def results(self) -> OrderedDict[str, tuple[Values, Values]]:
        """Returns the bytes and the offsets of each field."""
        return self._results


def python_internal_stats(*_: Any) -> str:
    """Statistics of TileDB-Py."""
    raise NotImplementedError("the engine has no statistics of Python code; use Query.get_stats")
