"""Functions on arrays."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _native
from . import _engine
from ._engine import TileDBError, call
from .array import Array, DenseArray, SparseArray
from .array_schema import ArraySchema
from .attribute import Attr
from .consolidation_plan import options
from .ctx import Config, Ctx, context, key_of, storage_options
from .datatypes import DataType
from .dimension import Dim
from .domain import Domain

_ALL = 2**64 - 1


def open(
    uri: Any,
    mode: str = "r",
    key: Any = None,
    attr: str | None = None,
    config: Config | None = None,
    timestamp: Any = None,
    ctx: Ctx | None = None,
) -> Any:
    """Opens an array."""
    if config is not None:
        ctx = Ctx(config)
    probe = Array(
        uri, mode="r" if mode == "r" else mode, key=key, timestamp=timestamp, attr=attr, ctx=ctx
    )
    probe.__class__ = SparseArray if probe.schema.sparse else DenseArray
    return probe


def save(uri: Any, array: Any, **kw: Any) -> Any:
    """Creates a dense array from an array of NumPy."""
    if not isinstance(array, np.ndarray):
        raise ValueError(f"expected an array of NumPy, found {type(array).__name__}")
    return from_numpy(uri, array, **kw)


def empty_like(
    uri: Any,
    arr: Any,
    config: Any = None,
    key: Any = None,
    tile: Any = None,
    ctx: Ctx | None = None,
    dtype: Any = None,
) -> Any:
    """Creates an empty array with the schema of an array."""
    if config is not None:
        ctx = Ctx(config)
    if isinstance(arr, ArraySchema):
        schema = arr
    elif isinstance(arr, Array):
        schema = arr.schema
    else:
        if isinstance(arr, tuple):
            schema = schema_like(shape=arr, dtype=dtype, tile=tile, ctx=ctx)
        else:
            schema = (
                schema_like(shape=arr.shape, dtype=arr.dtype, tile=tile, ctx=ctx)
                if not isinstance(arr, np.ndarray)
                else schema_like(arr, tile=tile, ctx=ctx)
            )
    Array.create(uri, schema, key=key, ctx=ctx)
    return open(uri, mode="w", key=key, ctx=ctx)


def schema_like(*arrays: Any, ctx: Ctx | None = None, **kw: Any) -> ArraySchema:
    """Returns the schema of a dense array for an array of NumPy, or for a shape and a type."""
    shape, dtype = kw.pop("shape", None), kw.pop("dtype", None)
    if arrays:
        array = arrays[0]
        if isinstance(array, Array):
            return array.schema
        if not hasattr(array, "shape") or not hasattr(array, "dtype"):
            raise ValueError("give an array, or shape and dtype")
        return schema_for(array.shape, array, ctx=ctx, **kw)
    if shape is None or dtype is None:
        raise ValueError("give an array, or shape and dtype")
    return schema_for(tuple(shape), np.empty(0, dtype=dtype), ctx=ctx, **kw)


def schema_for(
    shape: tuple[int, ...],
    array: Any,
    full_domain: bool = False,
    sparse: bool = False,
    tile: Any = None,
    attr_name: str = "",
    dim_dtype: Any = np.uint64,
    ctx: Ctx | None = None,
    **kw: Any,
) -> ArraySchema:
    """Returns a schema for the shape and the type of an array of NumPy."""
    if not shape:
        raise TileDBError("cannot create a zero-dimensional array")
    if tile is None:
        extents: Sequence[Any] = [None] * len(shape)
    elif isinstance(tile, (int, np.integer)):
        extents = [int(tile)] * len(shape)
    else:
        extents = list(tile)
    dims: list[Dim] = []
    for place, (length, extent) in enumerate(zip(shape, extents)):
        extent = (
            min(length, 10000) or 1
            if extent is None
            else min(int(extent), length)
            if not full_domain
            else int(extent)
        )
        kind = np.dtype(dim_dtype)
        first = int(np.iinfo(kind).min) if full_domain else 0
        last = int(np.iinfo(kind).max) - extent if full_domain else max(length - 1, 0)
        dims.append(Dim(f"__dim_{place}", (first, last), extent, dtype=kind))
    filters = kw.pop("filters", kw.pop("attr_filters", None))
    dtype = array.dtype
    var = kw.pop("var", None)
    if dtype.kind == "O":
        flat = array.reshape(-1)
        first_item: Any = flat[0] if flat.size else ""
        if not isinstance(first_item, (str, bytes, np.ndarray)):
            raise TypeError(f"unsupported object of type {type(first_item)}")
        if not all(isinstance(item, type(first_item)) for item in flat):
            raise TypeError("arrays of objects must have one type")
        if isinstance(first_item, np.ndarray):
            attr = Attr(attr_name, dtype=first_item.dtype, var=True, filters=filters)
        else:
            attr = Attr(
                attr_name,
                dtype=np.dtype("U0" if isinstance(first_item, str) else "S0"),
                filters=filters,
            )
    else:
        if dtype.kind == "U":
            dtype = np.dtype("U0")
        attr = Attr(
            attr_name,
            dtype=dtype,
            var=var,
            filters=filters,
            nullable=bool(kw.pop("nullable", False)),
        )
    names = (
        "cell_order",
        "tile_order",
        "capacity",
        "coords_filters",
        "offsets_filters",
        "validity_filters",
    )
    given = {name: kw[name] for name in names if name in kw}
    return ArraySchema(Domain(*dims), attrs=[attr], sparse=sparse, ctx=ctx, **given)


def from_numpy(uri: Any, array: Any, config: Any = None, ctx: Ctx | None = None, **kw: Any) -> Any:
    """Creates a dense array from an array of NumPy, or appends to it."""
    if config is not None:
        ctx = Ctx(config)
    if not isinstance(array, np.ndarray):
        raise Exception(f"expected an array of NumPy, found {type(array).__name__}")
    mode = kw.pop("mode", "ingest")
    timestamp = kw.pop("timestamp", None)
    start_idx, append_dim = kw.pop("start_idx", None), kw.pop("append_dim", 0)
    if kw.get("sparse"):
        raise TileDBError("from_numpy only supports dense arrays")
    if mode not in ("ingest", "schema_only", "append"):
        raise TileDBError(f"Invalid mode specified ('{mode}')")
    if mode != "append":
        if mode == "ingest" and array.ndim == 0:
            raise TileDBError("cannot create a zero-dimensional array")
        Array.create(uri, schema_like(array, ctx=ctx, **kw), ctx=ctx)
    if mode == "ingest":
        with open(uri, mode="w", ctx=ctx, timestamp=timestamp) as target:
            if target.schema.domain.shape == array.shape:
                target[:] = array
            else:
                firsts = [dim.domain[0] for dim in target.schema.domain]
                low = [0 if first < 0 else first for first in firsts]
                target._write_box(
                    [(first, first + size - 1) for first, size in zip(low, array.shape)], array
                )
    elif mode == "append":
        _append(uri, array, ctx, timestamp, start_idx, append_dim)
    return open(uri, ctx=ctx)


def _append(
    uri: Any, array: Any, ctx: Ctx | None, timestamp: Any, start_idx: Any, append_dim: int
) -> None:
    with open(uri, ctx=ctx) as target:
        if target.ndim != array.ndim:
            raise ValueError(f"the data has {array.ndim} dimensions, and the array {target.ndim}")
        if append_dim >= array.ndim:
            raise IndexError(f"append_dim is {append_dim}; the array has {array.ndim} dimensions")
        found = target.nonempty_domain()
        if found is None:
            found = tuple((0, -1) for _ in range(array.ndim))
        for place in range(array.ndim):
            size = int(found[place][1]) - int(found[place][0]) + 1
            if place != append_dim and array.shape[place] != size and size > 0:
                raise ValueError(
                    f"dimension {place} has {size} coordinates, and the data {array.shape[place]}"
                )
        ranges: list[tuple[int, int]] = []
        for place in range(array.ndim):
            first = int(found[place][0])
            if place == append_dim:
                first = int(found[place][1]) + 1 if start_idx is None else int(start_idx)
            ranges.append((first, first + array.shape[place] - 1))
    with open(uri, mode="w", ctx=ctx, timestamp=timestamp) as target:
        target._write_box(ranges, array)


def consolidate(
    uri: Any,
    config: Config | None = None,
    ctx: Ctx | None = None,
    fragment_uris: Sequence[str] | None = None,
    timestamp: Any = None,
    key: Any = None,
) -> None:
    """Consolidates the fragments, commits, footers or metadata of an array."""
    ctx = context(ctx)
    settings = ctx.config() if config is None else config
    if config is not None:
        ctx = Ctx(config)
    path = _engine.path_of(uri)
    opening = _engine.opening(path, None, None, key_of(ctx, key), storage_options(ctx, path))
    mode = settings["sm.consolidation.mode"]
    native = _engine.open_array(path, None, None, opening["key"], opening["storage_options"])
    if fragment_uris is None and mode != "fragments":
        kinds = {
            "commits": "commits",
            "fragment_meta": "footers",
            "array_meta": "metadata",
            "group_meta": "metadata",
        }
        if mode not in kinds:
            raise TileDBError(f"Cannot consolidate; unknown mode {mode!r}")
        call(_native.change_files, opening, "consolidate", kinds[mode], False, False, False, None)
        return
    names: list[str] | None = None
    between: tuple[int | None, int | None] | None = None
    if fragment_uris is not None:
        if timestamp is not None:
            warnings.warn(
                "The `timestamp` argument will be ignored and only fragments "
                "passed to `fragment_uris` will be consolidate",
                DeprecationWarning,
                stacklevel=2,
            )
        names = [os.path.basename(name) for name in fragment_uris]
    else:
        first, last = (
            int(settings["sm.consolidation.timestamp_start"]),
            int(settings["sm.consolidation.timestamp_end"]),
        )
        if timestamp is not None:
            first, last = (
                0 if timestamp[0] is None else timestamp[0],
                _ALL if timestamp[1] is None else timestamp[1],
            )
        between = None if (first, last) == (0, _ALL) else (first, last)
    facts = call(native.fragments)
    if names is None and len(facts) < 2:
        return

    def number(name: str, unlimited: int) -> int | None:
        value = int(settings[f"sm.consolidation.{name}"])
        return None if value in (unlimited, 0) else value

    given = options(
        fragments=names,
        between=between,
        steps=number("steps", 2**32 - 1),
        min_fragments=number("step_min_frags", 2**32 - 1),
        max_fragments=number("step_max_frags", 2**32 - 1),
        size_ratio=float(settings["sm.consolidation.step_size_ratio"]) or None,
        amplification=float(settings["sm.consolidation.amplification"]),
        max_fragment_size=number("max_fragment_size", _ALL),
        # Consolidation of the C++ library drops the values of dropped attributes.
        flatten_history=True,
        purge_deleted=settings["sm.consolidation.purge_deleted_cells"] == "true",
    )
    call(_native.consolidate_fragments, opening, given, False, False, None)


def vacuum(
    uri: Any, config: Config | None = None, ctx: Ctx | None = None, timestamp: Any = None
) -> None:
    """Deletes superseded files of an array."""
    ctx = context(ctx)
    settings = ctx.config() if config is None else config
    if config is not None:
        ctx = Ctx(config)
    if timestamp is not None:
        warnings.warn(
            "Partial vacuuming via timestamp will be deprecrated in "
            "a future release and replaced by passing in fragment URIs.",
            DeprecationWarning,
            stacklevel=2,
        )
        if not isinstance(timestamp, tuple) or len(timestamp) != 2:  # pyright: ignore[reportUnknownArgumentType]
            raise TypeError("'timestamp' argument expects tuple(start: int, end: int)")
        # The engine vacuums a consolidated fragment as a whole, if all its sources are in range.
        from .fragment import FragmentInfoList

        found = [
            item
            for item in FragmentInfoList(uri, ctx=ctx)
            if timestamp[0] <= item.timestamp_range[0] and item.timestamp_range[1] <= timestamp[1]
        ]
        if not found:
            return
    mode = settings["sm.vacuum.mode"]
    kinds = {
        "fragments": "fragments",
        "commits": "commits",
        "fragment_meta": "footers",
        "array_meta": "metadata",
        "group_meta": "metadata",
    }
    if mode not in kinds:
        raise TileDBError(f"Cannot vacuum; unknown mode {mode!r}")
    path = _engine.path_of(uri)
    opening = _engine.opening(path, None, None, key_of(ctx), storage_options(ctx, path))
    call(_native.change_files, opening, "vacuum", kinds[mode], True, False, False, None)


def dtype_of(dtype: Any) -> DataType:
    """Returns the datatype for a type of NumPy."""
    return DataType.from_numpy(dtype)
