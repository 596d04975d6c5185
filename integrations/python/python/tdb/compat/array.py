"""Arrays."""

from __future__ import annotations

import os
import warnings
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import _native
from . import _cells, _engine, stats
from ._engine import CLOCK, TileDBError, call, path_of
from ._reading import Selected, read, read_dense
from ._selection import Axis, Range, axes, engine_range, expanded
from .array_schema import ArraySchema
from .attribute import Attr
from .ctx import Config, Ctx, context, key_of, storage_options
from .dimension import Dim, coordinate
from .dimension_label import DimLabel
from .domain import Domain
from .enumeration import Enumeration
from .metadata import Metadata
from .query_condition import condition_text

_MODES = ("r", "w", "d", "m")


class Array:
    """An array at a point in time."""

    def __init__(
        self,
        uri: Any,
        mode: str = "r",
        key: Any = None,
        timestamp: Any = None,
        attr: str | None = None,
        ctx: Ctx | None = None,
    ) -> None:
        if mode not in _MODES:
            raise ValueError(f"Invalid mode {mode}")
        self._uri = os.fspath(uri)
        self._mode = mode
        self._ctx = context(ctx)
        self._key = key_of(self._ctx, key)
        self._timestamp = self._checked(timestamp)
        self._isopen = False
        self._info: OrderedDict[str, tuple[int, int]] = OrderedDict()
        self._open()
        if attr is not None and not self._schema.has_attr(attr):
            self._isopen = False
            raise KeyError(f"No attribute matching '{attr}'")
        self._view = attr
        self._meta = Metadata(self)
        self._check_kind()
        self._ctx._arrays.add(self)
        stats.opened(self)

    def _check_kind(self) -> None:
        """Rejects arrays of another kind."""

    @staticmethod
    def _checked(timestamp: Any) -> tuple[int | None, int | None]:
        if timestamp is None:
            return (None, None)
        if isinstance(timestamp, (int, np.integer)):
            return (0, int(timestamp))
        if isinstance(timestamp, tuple) and len(timestamp) == 2:  # pyright: ignore[reportUnknownArgumentType]
            first, last = timestamp  # pyright: ignore[reportUnknownVariableType]
            return (0 if first is None else int(first), None if last is None else int(last))  # pyright: ignore[reportUnknownArgumentType]
        raise TypeError(
            f"'timestamp' argument expects either int or tuple(start: int, end: int), found {timestamp!r}"
        )

    def _open(self) -> None:
        start, end = self._timestamp
        last = CLOCK.now() if end is None else end
        options = storage_options(self._ctx, self._uri)
        path = path_of(self._uri)
        times = (start or 0, last) if self._mode == "r" else (None, None)
        if self._mode == "r" and os.path.isdir(path):
            try:
                self._native = _engine.open_array(path, *times, self._key, options)
            except TileDBError:
                # The C++ library reads the first schema at times before the creation.
                if end is None and not start:
                    raise
                newest = _engine.open_array(path, None, None, self._key, options)
                self._native = call(newest.refreshed, *times)
        else:
            self._native = _engine.open_array(path, *times, self._key, options)
        self._schema = ArraySchema._of_native(self._native, self._uri)
        self._times = (start or 0, last)
        self._isopen = True

    def _opened(self) -> _native.Array:
        if not self._isopen:
            raise TileDBError("Array is not open")
        return self._native

    @staticmethod
    def create(
        uri: Any,
        schema: ArraySchema,
        key: Any = None,
        overwrite: bool = False,
        ctx: Ctx | None = None,
    ) -> None:
        """Creates an array."""
        if not isinstance(schema, ArraySchema):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"expected an ArraySchema, found {schema!r}")
        ctx = context(ctx)
        path, key = path_of(uri), key_of(ctx, key)
        options = storage_options(ctx, path)
        if overwrite:
            if _engine.object_kind(path, None, options) is None:
                warnings.warn("Overwrite set, but array does not exist", UserWarning, stacklevel=2)
            else:
                from .object import remove

                remove(uri, ctx)
        elif _engine.object_kind(path, None, options) == "array":
            raise TileDBError(f"Array: cannot create the array; {uri} exists")
        at = CLOCK.tick()
        call(
            _native.create_array,
            _engine.opening(path, None, None, key, options),
            schema._toml(),
            at,
        )

    @staticmethod
    def load_typed(
        uri: Any,
        mode: str = "r",
        key: Any = None,
        timestamp: Any = None,
        attr: str | None = None,
        ctx: Ctx | None = None,
    ) -> Array:
        """Opens an array as a dense or a sparse array."""
        from .highlevel import open as open_typed

        return open_typed(uri, mode=mode, key=key, timestamp=timestamp, attr=attr, ctx=ctx)

    @staticmethod
    def delete_array(uri: Any, ctx: Ctx | None = None) -> None:
        """Deletes an array."""
        from .object import remove

        remove(uri, ctx)

    @staticmethod
    def delete_fragments(
        uri: Any, timestamp_start: int, timestamp_end: int, ctx: Ctx | None = None
    ) -> None:
        """Deletes the fragments that were written within a time range."""
        ctx = context(ctx)
        native = _engine.open_array(
            path_of(uri), None, None, key_of(ctx), storage_options(ctx, path_of(uri))
        )
        call(_native.delete_fragments, native, timestamp_start, timestamp_end)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Writes changes of the metadata, and releases the array."""
        if self._isopen:
            self._meta._flush()
            self._ctx._closed.update(self._counters())
            self._ctx._arrays.discard(self)
            stats.closed(self)
        self._isopen = False

    def _counters(self) -> dict[str, int]:
        """Returns the requests to the storage."""
        return self._native.counters()

    def reopen(self) -> None:
        """Opens the array at the current time."""
        self._opened()
        self._timestamp = (None, None)
        self._open()

    @property
    def isopen(self) -> bool:
        """Whether the array is open."""
        return self._isopen

    @property
    def iswritable(self) -> bool:
        """Whether the array was opened for writing."""
        return self._mode == "w"

    @property
    def uri(self) -> str:
        """The place of the array."""
        return self._uri

    @property
    def mode(self) -> str:
        """``r``, ``w``, ``d`` or ``m``."""
        return self._mode

    @property
    def ctx(self) -> Ctx:
        """The context."""
        return self._ctx

    @property
    def schema(self) -> ArraySchema:
        """The schema."""
        self._opened()
        return self._schema

    @property
    def domain(self) -> Domain:
        """The dimensions."""
        return self.schema.domain

    @property
    def meta(self) -> Metadata:
        """The metadata."""
        self._opened()
        return self._meta

    @property
    def timestamp_range(self) -> tuple[int, int]:
        """The first and the last millisecond of the opened time."""
        return self._times

    @property
    def timestamp(self) -> Any:
        """The opened time."""
        return self._times[1]

    @property
    def view_attr(self) -> str | None:
        """The attribute given to ``open``."""
        return self._view

    @property
    def last_write_info(self) -> Any:
        """The fragments of the last write, and their times."""
        return self._info or None

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.schema.ndim

    @property
    def nattr(self) -> int:
        """The number of attributes."""
        return 1 if self._view is not None else self.schema.nattr

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of coordinates along each dimension."""
        return self.schema.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the only attribute."""
        return self._only_attr().dtype

    def _only_attr(self) -> Attr:
        if self._view is not None:
            return self.schema.attr(self._view)
        if self.schema.nattr != 1:
            raise ValueError("an array of several attributes has no single type")
        return self.schema.attr(0)

    def attr(self, key: Any) -> Attr:
        """Returns an attribute."""
        return self.schema.attr(key)

    def dim(self, dim_id: Any) -> Dim:
        """Returns a dimension."""
        return self.schema.domain.dim(dim_id)

    def dim_label(self, name: str) -> DimLabel:
        """Returns a label."""
        return self.schema.dim_label(name)

    def enum(self, name: str) -> Enumeration:
        """Returns an enumeration."""
        return self.schema.enum(name)

    def label_dim(self, name: str) -> Dim:
        """Returns the dimension of a label."""
        return self.schema.domain.dim(self.dim_label(name).dim_index)

    @property
    def coords_dtype(self) -> np.dtype[Any]:
        """The type of coordinates of all dimensions."""
        return np.dtype([(dim.name, dim.dtype) for dim in self.schema.domain])

    def __len__(self) -> int:
        return self.domain.shape[0]

    def nonempty_domain(self) -> Any:
        """Returns the first and the last coordinate of the cells in each dimension."""
        found = call(self._opened().non_empty_domain)
        if found is None:
            return None
        ends: list[tuple[Any, Any]] = []
        for dim, (first, last) in zip(self.schema.domain, found):
            if dim.isvar:
                texts = (
                    item if isinstance(item, bytes) else str(item or "").encode()
                    for item in (first, last)
                )
                ends.append(tuple(texts))  # pyright: ignore[reportArgumentType]
            elif dim.dtype.kind == "f":
                ends.append((float(first), float(last)))
            else:
                ends.append((coordinate(dim, first), coordinate(dim, last)))
        return tuple(ends)

    def _nonempty_domain_var(self) -> Any:
        return self.nonempty_domain()

    def _limits(self) -> list[Any]:
        """Returns the range of each dimension: the current domain, if there is one."""
        schema = self.schema
        current = schema.current_domain
        rectangle = None if current.is_empty else current.ndrectangle
        found: list[Any] = []
        for place, dim in enumerate(schema.domain):
            if rectangle is not None:
                found.append(rectangle.range(place))
            else:
                found.append(None if dim.isvar else dim.domain)
        return found

    def consolidate(
        self,
        config: Config | None = None,
        key: Any = None,
        fragment_uris: Sequence[str] | None = None,
        timestamp: Any = None,
    ) -> None:
        """Consolidates fragments."""
        if self._mode == "r":
            raise TileDBError("cannot consolidate array opened in readonly mode (mode='r')")
        from .highlevel import consolidate

        self._meta._flush()
        key = self._key if key is None else key
        consolidate(
            self._uri,
            key=key,
            config=config,
            ctx=self._ctx,
            fragment_uris=fragment_uris,
            timestamp=timestamp,
        )

    def upgrade_version(self, config: Config | None = None) -> None:
        """Migrates the array to the newest format version, in place."""
        opening = _engine.opening(
            path_of(self._uri), None, None, self._key, storage_options(self._ctx, self._uri)
        )
        settings = {
            "to": 22,
            "capacity": None,
            "filters": "",
            "flatten": False,
            "budget": None,
            "remove_old": True,
        }
        call(_native.migrate, opening, None, settings, None)

    def dump(self) -> None:
        """Prints the schema."""
        self.schema.dump()

    def __repr__(self) -> str:
        if not self._isopen:
            return f"{type(self).__name__}(uri={self._uri!r}, closed)"
        return f"{type(self).__name__}(uri={self._uri!r}, mode={self._mode}, ndim={self.ndim})"

    def __reduce__(self) -> Any:
        config = self._ctx.config().dict()
        return (
            _unpickled,
            (type(self), self._uri, self._mode, self._key, self._view, self._times, config),
        )

    def _write_metadata(self, changes: Any) -> None:
        call(_native.write_metadata, self._native, changes, self._at())

    # Reads.

    def query(self, *arguments: Any, **options: Any) -> Any:
        """Describes a read: fields, a condition, an order."""
        from .query import Query

        if arguments:
            names = ("attrs", "cond", "dims", "has_coords", "index_col", "use_arrow", "order")
            options = {**dict(zip(names, arguments)), **options}
        return Query(self, **options)

    def _selected(self) -> Selected:
        attrs = [self._view] if self._view is not None else [attr.name for attr in self.schema]
        dims = [dim.name for dim in self.schema.domain] if self.schema.sparse else []
        return Selected(attrs, dims)

    def _check_readable(self) -> None:
        self._opened()
        if self._mode != "r":
            raise TileDBError("array is not opened for reading")

    def _ranges(self, key: Any) -> list[Axis]:
        schema = self.schema
        limits: list[Any] = self._limits()
        if schema.sparse and schema.current_domain.is_empty:
            limits = [None] * schema.ndim
        return axes(schema.domain, key, schema.sparse, limits)

    def subarray(
        self,
        selection: Any,
        attrs: Any = None,
        coords: bool | None = None,
        order: str | None = None,
        cond: Any = None,
    ) -> Any:
        """Reads a selection of fields."""
        options: dict[str, Any] = {"attrs": attrs, "order": order, "cond": cond}
        if coords is not None:
            options["coords"] = coords
        return self.query(**options)[selection]

    def _read_key(self, key: Any, selected: Selected) -> Any:
        raise TileDBError("open the array with tiledb.open to read cells")

    @property
    def multi_index(self) -> Any:
        """Reads ranges of coordinates, both ends included."""
        return self.query().multi_index

    @property
    def df(self) -> Any:
        """Reads ranges of coordinates as a data frame."""
        return self.query(coords=True).df

    @property
    def domain_index(self) -> Any:
        """Reads ranges of coordinates, both ends included."""
        return self.query().domain_index

    def label_index(self, labels: Sequence[str]) -> Any:
        """Reads ranges of labels."""
        return self.query().label_index(labels)

    def read_subarray(self, subarray: Any) -> Any:
        """Reads the ranges of a subarray."""
        return self.query()._read_subarray(subarray)

    # Writes.

    def _at(self) -> int:
        last = self._timestamp[1]
        return CLOCK.tick() if last is None else last

    def _check_writable(self) -> None:
        self._opened()
        if self._mode != "w":
            raise TileDBError("the array is not open in mode 'w'")

    def _write(
        self, columns: list[_cells.Given], ranges: list[tuple[str, Any]], order: str | None
    ) -> None:
        config = self._ctx.config()
        duplicates: str | None = None
        if self.schema.sparse and not self.schema.allows_duplicates:
            if config["sm.dedup_coords"] == "true":
                duplicates = "keep-last"
            elif config["sm.check_coord_dups"] == "false":
                duplicates = "keep"
        settings = {
            "ranges": ranges,
            "order": order,
            "duplicates": duplicates,
            "at": self._at(),
            "budget": None,
        }
        try:
            names, _ = call(_native.write_columns, self._opened(), columns, settings)
        except TileDBError as error:
            if "same coordinates" in str(error):
                raise TileDBError(f"Duplicate coordinates ({error}) are not allowed") from error
            raise
        self._info = OrderedDict()
        for name in names:
            parts = name.split("_")
            path = os.path.join(self._uri, "__fragments", name)
            self._info[path] = (int(parts[2]), int(parts[3]))

    def _columns(
        self, value: Any, count: int, nullmaps: Mapping[str, Any] | None = None
    ) -> list[_cells.Given]:
        """Converts the attributes of a write."""
        schema = self.schema
        if self._view is not None and not isinstance(value, Mapping):
            value = {self._view: value}
        if isinstance(value, Mapping) and schema.sparse:
            for name, cells in value.items():  # pyright: ignore[reportUnknownVariableType]
                size = getattr(cells, "size", None)
                if (
                    schema.has_attr(str(name))
                    and isinstance(cells, np.ndarray)
                    and size not in (1, count)
                    and cells.ndim
                ):
                    raise ValueError(
                        f"value length ({size}) does not match coordinate length ({count})"
                    )
                if (
                    schema.has_attr(str(name))
                    and isinstance(cells, np.ndarray)
                    and cells.ndim
                    and size != count
                ):
                    raise ValueError(
                        f"value length ({size}) does not match coordinate length ({count})"
                    )
        if isinstance(value, Mapping):
            data: dict[str, Any] = dict(value)  # pyright: ignore[reportUnknownArgumentType]
        elif schema.nattr == 0:
            data = {}
        elif schema.nattr == 1:
            data = {schema.attr(0).name: value}
        elif _is_frame(value):
            data = {str(name): value[name] for name in value.columns}
        else:
            raise ValueError(
                f"Must provide a dict of attribute values; the array has {schema.nattr} attributes, found {type(value)}"
            )
        labels = {name: data.pop(name) for name in list(data) if schema.has_dim_label(name)}
        for name in data:
            if not schema.has_attr(name):
                raise TileDBError(f"Attribute does not exist: '{name}'")
        attrs: list[Attr] = list(schema)
        missing = [attr.name for attr in attrs if attr.name not in data]
        if missing:
            raise TileDBError(
                f"must provide a value for each attribute; missing: {', '.join(map(repr, missing))}"
            )
        columns: list[_cells.Given] = []
        for attr in attrs:
            cells = data[attr.name]
            if nullmaps and attr.name in nullmaps:
                marks = np.asarray(nullmaps[attr.name]).astype(bool)
                array = np.asarray(cells)
                cells = np.ma.MaskedArray(array, mask=~np.broadcast_to(marks, array.shape))
            columns.append(_cells.to_given(attr, cells, count))
        self._pending_labels = labels
        return columns

    def _write_labels(
        self, labels: Mapping[str, Any], ranges: Mapping[str, Range] | None = None
    ) -> None:
        for name, values in labels.items():
            label = self.schema.dim_label(name)
            with _label_array(self, label) as target:
                dim = self.schema.domain.dim(label.dim_index)
                target._write_label(label, dim, (ranges or {}).get(dim.name, dim.domain), values)

    def _write_label(self, label: DimLabel, dim: Dim, span: Range, values: Any) -> None:
        raise TileDBError("the array of a label cannot be written")

    def delete_cells(self, cond: Any) -> None:
        """Deletes the cells that match a condition."""
        if self._mode != "d":
            raise TileDBError("the array is not open in mode 'd'")
        call(_native.delete_cells, self._opened(), condition_text(cond, self), self._at())


def _run(item: Any) -> Any:
    """Converts an array of consecutive coordinates to a slice."""
    if not isinstance(item, np.ndarray) or item.ndim == 0:
        return item
    if item.dtype.kind not in "iu" or not len(item) or (np.diff(item) != 1).any() or item[0] < 0:
        raise TileDBError("dense arrays do not support sparse writes; write a range of coordinates")
    return slice(int(item[0]), int(item[-1]) + 1)


def _is_frame(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "pandas" and hasattr(value, "columns")


def _label_array(array: Array, label: DimLabel) -> Any:
    from .highlevel import open as open_typed

    last = array._timestamp[1]
    return open_typed(label.uri, "w", timestamp=last, ctx=array.ctx)


def _unpickled(kind: Any, uri: str, mode: str, key: Any, view: Any, times: Any, config: Any) -> Any:
    return kind(uri, mode=mode, key=key, timestamp=times, attr=view, ctx=Ctx(config))


class DenseArray(Array):
    """A dense array."""

    def _check_kind(self) -> None:
        if self._schema.sparse:
            raise ValueError(f"Array at '{self._uri}' is not a dense array")

    @staticmethod
    def create(  # pyright: ignore[reportIncompatibleMethodOverride]
        uri: Any,
        schema: ArraySchema,
        key: Any = None,
        overwrite: bool = False,
        ctx: Ctx | None = None,
    ) -> None:
        """Creates a dense array."""
        if schema.sparse:
            raise ValueError(
                "Array.create `schema` argument must be a dense schema for DenseArray and subclasses"
            )
        Array.create(uri, schema, key, overwrite, ctx)

    @staticmethod
    def from_numpy(uri: Any, array: Any, ctx: Ctx | None = None, **options: Any) -> DenseArray:
        """Creates an array from an array of NumPy."""
        from .highlevel import from_numpy

        return from_numpy(uri, array, ctx=ctx, **options)

    def __getitem__(self, key: Any) -> Any:
        self._check_readable()
        return self._plain(self._read_key(key, self._selected()))

    def _plain(self, found: OrderedDict[str, Any]) -> Any:
        """Returns the only attribute if it was given to ``open``, or has no name."""
        if self._view is not None and len(found) == 1:
            return found[self._view]
        if list(found) == [""]:
            return found[""]
        return found

    def _read_key(self, key: Any, selected: Selected) -> OrderedDict[str, Any]:
        if (
            isinstance(key, tuple)
            and self.schema.ndim == 1
            and len(key) == 2
            and all(isinstance(k, (int, np.integer)) for k in key)
        ):  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
            raise IndexError("too many indices for array")
        selection = self._ranges(key)
        if any(axis.empty for axis in selection):
            return self._empty(selection, selected)
        ranges = [
            (axis.dim.name, axis.ranges or []) for axis in selection if axis.ranges is not None
        ]
        cells = read_dense(self, selected, ranges).decoded(selected.positions)
        if selected.order == "G":
            return cells
        inner = tuple(0 if axis.drop else slice(None, None, axis.step) for axis in selection)
        plain = all(item == slice(None, None, 1) for item in inner)
        return (
            cells
            if plain
            # The ellipsis keeps a single cell in an array.
            else OrderedDict((name, values[(*inner, ...)]) for name, values in cells.items())
        )

    def _empty(self, selection: list[Axis], selected: Selected) -> OrderedDict[str, Any]:
        shape = [0 if axis.empty else axis.dim.size for axis in selection if not axis.drop]
        found: OrderedDict[str, Any] = OrderedDict()
        for name in [*selected.dims, *selected.attrs]:
            schema = self.schema
            field: Any = schema.attr(name) if schema.has_attr(name) else schema.domain.dim(name)
            found[name] = np.empty(shape, dtype=_cells.empty(field).dtype)
        return found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if self._view is None and self.schema.nattr > 1:
            raise ValueError(
                f"an array of several attributes is no array of NumPy; select one of {[a.name for a in self.schema]}"
            )
        name = self._only_attr().name
        found = self[...]
        array = found[name] if isinstance(found, dict) else found
        return array if dtype is None else array.astype(dtype)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._setitem_impl(key, value, {})

    def _setitem_impl(self, selection: Any, value: Any, nullmaps: Mapping[str, Any]) -> None:
        self._check_writable()
        schema = self.schema
        items = expanded(selection, schema.ndim)
        chosen = axes(schema.domain, tuple(_run(item) for item in items), False, self._limits())
        if any(axis.step != 1 for axis in chosen):
            raise IndexError("steps are not supported for writes")
        ranges = [(axis.ranges or [axis.dim.domain])[0] for axis in chosen]
        self._write_box(ranges, value, nullmaps, [axis.drop for axis in chosen])

    def _write_box(
        self,
        ranges: Sequence[Range],
        value: Any,
        nullmaps: Mapping[str, Any] | None = None,
        drops: Sequence[bool] = (),
    ) -> None:
        schema = self.schema
        spans = [engine_range(dim, item) for dim, item in zip(schema.domain, ranges)]
        shape = tuple(int(last) - int(first) + 1 for first, last in spans)
        count = int(np.prod(shape))
        order = "row-major"
        single = not isinstance(value, Mapping)
        if (single and schema.nattr == 1) or (single and self._view is not None):
            value = self._broadcast(value, shape, drops)
        if single and self._view is not None and schema.nattr > 1:
            # A fragment has all attributes: the others keep their values.
            with DenseArray(self._uri, "r", key=self._key, ctx=self._ctx) as current:
                names = [attr.name for attr in schema if attr.name != self._view]
                spanned = [(dim.name, [item]) for dim, item in zip(schema.domain, ranges)]
                kept = read_dense(current, Selected(names, [], positions=True), spanned).decoded(
                    True
                )
            value, single = {**kept, self._view: value}, False
        try:
            columns = self._columns(value, count, nullmaps)
        except ValueError as error:
            if single or not str(error).startswith("value length"):
                raise
            raise TileDBError(str(error)) from error
        labels = self._pending_labels
        limits = [(dim.name, span) for dim, span in zip(schema.domain, spans)]
        self._write(columns, limits, order)
        self._write_labels(labels, dict(zip((dim.name for dim in schema.domain), ranges)))

    def _broadcast(self, value: Any, shape: tuple[int, ...], drops: Sequence[bool]) -> Any:
        attr = self._only_attr()
        if isinstance(value, (str, bytes)) or np.isscalar(value):
            if isinstance(value, (str, bytes)) or attr.dtype.kind in "SUV":
                return np.full(shape, value, dtype=object)
            return np.broadcast_to(np.asarray(value, dtype=attr.dtype), shape)
        if isinstance(value, tuple) and attr.dtype.kind == "V":
            return np.broadcast_to(np.array(value, dtype=attr.dtype), shape)
        found = getattr(value, "shape", None)
        if (
            found is not None
            and len(found) == len(shape)
            and tuple(found) != shape
            and not attr.isvar
        ):
            if int(np.prod(found)) != int(np.prod(shape)):
                if int(np.prod(found)) == 1 or all(a in (1, b) for a, b in zip(found, shape)):
                    return np.broadcast_to(value, shape)
                raise ValueError(f"the data has the shape {tuple(found)}, expected {shape}")
            raise ValueError(f"the data has the shape {tuple(found)}, expected {shape}")
        return value

    def write_direct(self, array: Any, **options: Any) -> None:
        """Writes an array of NumPy to the complete domain."""
        start = options.get("start_coord")
        shape = array.shape
        if start is None:
            ranges = [
                (dim.domain[0], dim.domain[0] + length - 1)
                for dim, length in zip(self.domain, shape)
            ]
        else:
            ranges = [(first, first + length - 1) for first, length in zip(start, shape)]
        self._check_writable()
        self._write_box(ranges, array)

    def write_subarray(self, subarray: Any, values: Any) -> None:
        """Writes values to the range of a subarray."""
        self._check_writable()
        ranges = subarray._single_ranges()
        self._write_box(ranges, values)

    def read_direct(self, name: str | None = None) -> Any:
        """Reads an attribute of the complete array."""
        if name is None and self._view is None and self.schema.nattr != 1:
            raise ValueError(
                "read_direct with no provided attribute is ambiguous for multi-attribute arrays"
            )
        chosen = name if name is not None else self._only_attr().name
        return self._read_key(..., Selected([chosen], []))[chosen]

    def read_subarray(self, subarray: Any) -> Any:
        return self.query()._read_subarray(subarray)

    def _write_label(self, label: DimLabel, dim: Dim, span: Range, values: Any) -> None:
        array = np.asarray(values)
        first = span[0]
        low = int(engine_range(dim, (first, first))[0])
        count = array.size
        name = label.label_attr_name
        columns = [_cells.to_given(self.schema.attr(name), array, count)]
        self._write(
            columns, [(self.schema.domain.dim(0).name, (low, low + count - 1))], "row-major"
        )


class SparseArray(Array):
    """A sparse array."""

    def _check_kind(self) -> None:
        if not self._schema.sparse:
            raise ValueError(f"Array at '{self._uri}' is not a sparse array")

    @staticmethod
    def create(  # pyright: ignore[reportIncompatibleMethodOverride]
        uri: Any,
        schema: ArraySchema,
        key: Any = None,
        overwrite: bool = False,
        ctx: Ctx | None = None,
    ) -> None:
        """Creates a sparse array."""
        if not schema.sparse:
            raise ValueError(
                "Array.create `schema` argument must be a sparse schema for SparseArray and subclasses"
            )
        Array.create(uri, schema, key, overwrite, ctx)

    def __len__(self) -> int:
        raise TypeError("a sparse array has no length; use shape")

    def __getitem__(self, key: Any) -> OrderedDict[str, Any]:
        self._check_readable()
        return self._read_key(key, self._selected())

    def _read_key(self, key: Any, selected: Selected) -> OrderedDict[str, Any]:
        selection = self._ranges(key)
        if any(axis.empty for axis in selection):
            ranges: list[tuple[str, list[Range]]] = [(selection[0].dim.name, [])]
        else:
            ranges = [(axis.dim.name, axis.ranges) for axis in selection if axis.ranges is not None]
        found = read(self, selected, ranges).decoded(selected.positions)
        dims = [name for name in selected.dims if name in found]
        return OrderedDict(
            (name, found[name]) for name in [*(name for name in found if name not in dims), *dims]
        )

    def __setitem__(self, key: Any, value: Any) -> None:
        self._setitem_impl(key, value, {})

    def _setitem_impl(self, selection: Any, value: Any, nullmaps: Mapping[str, Any]) -> None:
        self._check_writable()
        schema = self.schema
        items: tuple[Any, ...] = selection if isinstance(selection, tuple) else (selection,)
        if any(isinstance(item, slice) or item is Ellipsis for item in items):
            raise TileDBError("sparse arrays take coordinates, not slices")
        if len(items) != schema.ndim:
            raise IndexError(
                f"expected coordinates of {schema.ndim} dimensions, found {len(items)}"
            )
        columns = [_cells.coordinates(dim, item) for dim, item in zip(schema.domain, items)]
        lengths = {_cells.length(column) for column in columns}
        if len(lengths) != 1:
            raise ValueError("all dimensions must have equal-length coordinates")
        count = lengths.pop()
        columns += self._columns(value, count, nullmaps)
        labels = self._pending_labels
        self._write(columns, [], None)
        self._write_labels(labels)

    def unique_dim_values(self, dim: str | None = None) -> Any:
        """Returns the distinct coordinates of a dimension, or of all."""
        if dim is not None and not isinstance(dim, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"expected the name of a dimension, found {dim!r}")
        if dim is not None and not self.schema.domain.has_dim(dim):
            raise ValueError(f"the array has no dimension {dim!r}")
        names = [item.name for item in self.schema.domain]
        cells = read(self, Selected([], names), [])
        found: OrderedDict[str, tuple[Any, ...]] = OrderedDict()
        for name, (values, _) in cells.columns.items():
            found[name] = tuple(sorted(set(values)))
        return found if dim is None else found[dim]


DenseArrayImpl = DenseArray
SparseArrayImpl = SparseArray
