"""Dense arrays as datasets of xarray.

>>> import xarray
>>> xarray.open_dataset("path/to/array", engine="tdb", chunks={})        # doctest: +SKIP
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from xarray import Dataset, Variable
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core import indexing

from . import _types
from ._array import Array, Field
from ._array import open as open_array
from ._errors import UsageError
from ._plain import nullable, plain, supported

__all__ = ["Backend"]

#: The largest number of coordinates of a dimension: the index of xarray keeps them in memory.
MOST_COORDINATES = 1 << 28
# Prefixes of the metadata of an attribute or a dimension, by the convention of TileDB-CF-Py.
_PREFIXES = ("__tiledb_attr.", "__tiledb_dim.")


class Backend(BackendEntrypoint):
    """The engine ``tdb`` of :func:`xarray.open_dataset`."""

    description: ClassVar[str] = "Open dense TileDB arrays"
    open_dataset_parameters: ClassVar[tuple[str, ...] | None] = (
        "filename_or_obj",
        "drop_variables",
        "at",
        "between",
        "key",
        "storage_options",
        "nonempty",
    )

    def open_dataset(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        filename_or_obj: Any,
        *,
        drop_variables: str | Iterable[str] | None = None,
        at: int | None = None,
        between: tuple[int, int] | None = None,
        key: bytes | None = None,
        storage_options: Mapping[str, Any] | None = None,
        nonempty: bool = False,
    ) -> Dataset:
        """Opens an array. The parameters are those of :func:`tdb.open`.

        The dataset covers the domain of the array, or the part with cells if ``nonempty`` is set.
        """
        if isinstance(filename_or_obj, Array):
            return dataset(filename_or_obj, drop_variables, nonempty=nonempty)
        array = open_array(
            filename_or_obj, at=at, between=between, key=key, storage_options=storage_options
        )
        found = dataset(array, drop_variables, nonempty=nonempty)
        found.set_close(array.close)
        return found

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Whether the path is the folder of an array."""
        if not isinstance(filename_or_obj, (str, os.PathLike)):
            return False
        path: str = os.fspath(filename_or_obj)
        return any(
            os.path.exists(os.path.join(path, name)) for name in ("__schema", "__array_schema.tdb")
        )


class _Axis(NamedTuple):
    name: str
    datatype: str
    first: int
    last: int
    #: The first coordinate of a tile, and the number of coordinates of tiles.
    origin: int
    tile: int

    @property
    def size(self) -> int:
        return self.last - self.first + 1

    def coordinates(self) -> npt.NDArray[Any]:
        dtype = np.dtype(_types.numpy_type(self.datatype))
        number = np.dtype(np.int64) if dtype.kind in "Mm" else dtype
        values: Any = np.arange(self.size, dtype=np.uint64).astype(number) + np.asarray(
            self.first, number
        )
        return supported(values.view(dtype))

    def chunks(self) -> int | tuple[int, ...]:
        """Returns the sizes of chunks that consist of whole tiles."""
        head = self.tile - (self.first - self.origin) % self.tile
        if head == self.tile:
            return min(self.tile, self.size)
        ends = [*range(head, self.size, self.tile), self.size]
        return tuple(end - start for start, end in zip([0, *ends], ends))


def dataset(
    array: Array, drop_variables: str | Iterable[str] | None = None, *, nonempty: bool = False
) -> Dataset:
    """Returns an open array as a dataset."""
    if not array.is_dense:
        raise UsageError(
            f"{array.uri}: xarray needs a dense array; use tdb.open(uri).read().to_pandas()",
            path=array.uri,
        )
    axes = _axes(array, nonempty=nonempty)
    dropped = {drop_variables} if isinstance(drop_variables, str) else {*(drop_variables or ())}
    own, attributes = _metadata(array)
    names = [axis.name for axis in axes]
    coordinates = {
        axis.name: Variable((axis.name,), axis.coordinates(), own.get(axis.name))
        for axis in axes
        if axis.name not in dropped
    }
    variables: dict[str, Variable] = {}
    chunks = {axis.name: axis.chunks() for axis in axes}
    for field in array.fields:
        if field.role != "attribute" or field.name in dropped:
            continue
        values = _Values(array, field, axes)
        dims = [*names, *([f"{field.name}_value"] if len(values.shape) > len(names) else [])]
        lazy = indexing.LazilyIndexedArray(values)
        encoding = {
            "preferred_chunks": dict(zip(dims, [*chunks.values(), *values.shape[len(names) :]]))
        }
        variables[field.name] = Variable(dims, lazy, own.get(field.name), encoding)
    return Dataset(variables, coordinates, attributes)


def _axes(array: Array, *, nonempty: bool) -> list[_Axis]:
    ends: Any = array.non_empty_domain if nonempty else array.domain
    if ends is None:
        raise UsageError(
            f"{array.uri}: the array has no cells; open it without nonempty", path=array.uri
        )
    axes: list[_Axis] = []
    for dimension, (first, last) in zip(array.schema.dimensions, ends):
        size = last - first + 1
        if size > MOST_COORDINATES:
            hint = "" if nonempty else "; open the part with cells with nonempty=True"
            raise UsageError(
                f"{array.uri}: dimension {dimension.name!r} has {size} coordinates{hint}",
                path=array.uri,
                field=dimension.name,
            )
        origin = first if dimension.domain is None else dimension.domain[0]
        axes.append(
            _Axis(dimension.name, dimension.dtype, first, last, origin, dimension.tile or size)
        )
    return axes


def _metadata(array: Array) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Returns the metadata of attributes and dimensions by name, and the metadata of the array."""
    own: dict[str, dict[str, Any]] = {}
    others: dict[str, Any] = {}
    for key, value in array.metadata.items():
        prefix = next((prefix for prefix in _PREFIXES if key.startswith(prefix)), None)
        # The name of an attribute may contain dots, the name of an entry does not.
        name, dot, entry = key.removeprefix(prefix or "").rpartition(".")
        if prefix is None or not dot:
            others[key] = value
        else:
            own.setdefault(name, {})[entry] = value
    return own, others


class _Values(BackendArray):
    """The cells of an attribute, which are read when they are indexed."""

    def __init__(self, array: Array, field: Field, axes: list[_Axis]) -> None:
        self._source = array
        self._name = field.name
        self._axes = axes
        self.dtype, inner = _layout(array, field)
        self.shape: tuple[int, ...] = (*(axis.size for axis in axes), *inner)

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.BASIC, self._cells
        )

    def _cells(self, key: tuple[int | slice, ...]) -> npt.NDArray[Any]:
        ranges: dict[str, tuple[int, int]] = {}
        shape: list[int] = []
        inner: list[int | slice] = []
        for axis, item in zip(self._axes, key):
            span = (
                range(axis.size)[item]
                if isinstance(item, slice)
                else range(int(item), int(item) + 1)
            )
            low, high = (min(span), max(span)) if span else (0, -1)
            ranges[axis.name] = (axis.first + low, axis.first + high)
            shape.append(high - low + 1)
            inner.append(slice(None, None, span.step) if isinstance(item, slice) else 0)
        if 0 in shape:
            cells = np.empty((*shape, *self.shape[len(shape) :]), self.dtype)
        else:
            read = self._source.read([self._name], ranges=ranges)
            cells = plain(supported(read.to_numpy()[self._name])).astype(self.dtype, copy=False)
        return cells[(*inner, *key[len(shape) :])]


def _layout(array: Array, field: Field) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """Returns the type of the cells, and the shape of a cell."""
    enumeration = array._enumeration_of(field.name)
    if enumeration is not None:
        # Unwritten cells have no position in the enumeration.
        return (nullable(supported(enumeration[0][:0]).dtype), ())
    count = field.values_per_cell
    is_bytes = field.datatype in _types.TEXTS | _types.BYTES
    if count is None:
        return (np.dtype(object), ())
    if is_bytes and count > 1:
        kind = "S" if field.datatype in _types.TEXTS | {"char"} else "V"
        dtype = np.dtype(f"{kind}{count}")
    else:
        dtype = supported(np.empty(0, _types.numpy_type(field.datatype))).dtype
    inner = () if is_bytes or count == 1 else (count,)
    return (nullable(dtype) if field.nullable else dtype, inner)
