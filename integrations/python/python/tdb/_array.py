"""Arrays."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _columns, _native, _types, _write
from ._errors import UsageError
from ._expr import Aggregate, Condition, text_for
from ._libraries import is_iterable, is_list, is_mapping, is_tuple, numpy, whole
from ._metadata import Metadata
from ._native import Array as NativeArray
from ._read import Groups, Ranges, Read, Spec, ends_of
from ._schema import Attribute, Enumeration, Schema, tables
from ._types import numpy_type

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Field(NamedTuple):
    """A dimension, an attribute or a label of an array."""

    name: str
    #: ``dimension``, ``attribute`` or ``label``.
    role: str
    #: The name of the datatype, such as ``int32`` or ``datetime_ns``.
    datatype: str
    #: ``None`` for cells of variable length.
    values_per_cell: int | None
    nullable: bool
    enumeration: str | None


class Fragment(NamedTuple):
    """The result of a write."""

    name: str
    #: The first and the last millisecond since 1970.
    time: tuple[int, int]
    format_version: int
    is_dense: bool
    cells: int
    tiles: int
    bytes: int
    #: The first and the last coordinate of each dimension.
    domain: tuple[tuple[Any, Any], ...] | None


class Written(NamedTuple):
    """The result of a write."""

    #: The names of the new fragments.
    fragments: tuple[str, ...]
    cells: int


class _Opening(NamedTuple):
    uri: str
    start: int | None
    end: int | None
    key: bytes | None
    threads: int
    storage_options: Mapping[str, str]


class Array:
    """An array at a point in time: see :func:`tdb.open`.

    Safe to share between threads. A copy in another process, made by pickle or by fork, opens the
    array again at the same time.
    """

    def __init__(self, opening: _Opening, native: NativeArray | None = None) -> None:
        self._opening = opening
        self._process = os.getpid()
        self._native = NativeArray.open(opening._asdict()) if native is None else native
        self._closed = False
        self._lock = threading.Lock()
        # The latest change through this array, and the latest change that reads show.
        self._change: object = None
        self._shown: object = None
        self._describe()

    def _describe(self) -> None:
        self._enumerations: dict[str, tuple[npt.NDArray[Any], bool]] = {}
        self._fields = tuple(Field(*field) for field in self._native.fields)

    @property
    def _handle(self) -> NativeArray:
        if self._closed:
            raise UsageError(f"{self.uri}: the array is closed", path=self.uri)
        return self._current()

    def _current(self) -> NativeArray:
        """Opens the array again after a fork or a change."""
        if self._process != os.getpid():
            # Threads, locks and connections do not survive a fork.
            self._lock = threading.Lock()
            self._native = NativeArray.open(self._at(self._native.time)._asdict())
            self._process = os.getpid()
        if self._shown is not self._change:
            with self._lock:
                change = self._change
                if self._shown is not change:
                    start, end = self._opening.start, self._opening.end
                    self._native = self._native.refreshed(start, end)
                    self._describe()
                    self._shown = change
        return self._native

    def _changed(self) -> None:
        """Shows the change to the next read, unless the array was opened at another time."""
        if self._opening.end is None:
            self._change = object()

    def _at(self, time: tuple[int, int]) -> _Opening:
        return self._opening._replace(start=time[0], end=time[1])

    def __reduce__(self) -> tuple[Any, ...]:
        return (Array, (self._at(self.time),))

    def __enter__(self) -> Array:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Releases the array. Results stay valid."""
        self._closed = True

    @property
    def uri(self) -> str:
        """The path or URL."""
        return self._opening.uri

    @property
    def time(self) -> tuple[int, int]:
        """The first and the last millisecond since 1970 at which the array was opened."""
        return self._current().time

    def refresh(self) -> Array:
        """Opens the array again, at the current time or at the time given to :func:`tdb.open`."""
        opening = self._opening
        native = self._handle.refreshed(opening.start, opening.end)
        return Array(opening, native)

    @property
    def is_dense(self) -> bool:
        """Whether the array is dense."""
        return self._native.is_dense

    @property
    def fields(self) -> tuple[Field, ...]:
        """The dimensions, the attributes and the labels."""
        if not self._closed:
            self._current()
        return self._fields

    @property
    def dimension_names(self) -> tuple[str, ...]:
        """The names of the dimensions."""
        return tuple(field.name for field in self.fields if field.role == "dimension")

    @property
    def attribute_names(self) -> tuple[str, ...]:
        """The names of the attributes."""
        return tuple(field.name for field in self.fields if field.role == "attribute")

    @property
    def labels(self) -> tuple[Field, ...]:
        """The dimension labels."""
        return tuple(field for field in self.fields if field.role == "label")

    def field(self, name: str) -> Field:
        """Returns the dimension, attribute or label of a name."""
        for field in self.fields:
            if field.name == name:
                return field
        known = ", ".join(repr(field.name) for field in self.fields)
        raise UsageError(f"unknown field {name!r}; the array has {known}", field=name)

    @property
    def domain(self) -> tuple[tuple[Any, Any] | None, ...]:
        """The first and the last coordinate of each dimension.

        Dates are integers that count units since 1970. A dimension of texts has no domain. If the
        array has a current domain, it is returned instead.
        """
        return tuple(self._handle.domain)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of coordinates along each dimension of a dense array."""
        if not self.is_dense:
            raise UsageError(f"{self.uri}: a sparse array has no shape", path=self.uri)
        return tuple(last - first + 1 for first, last in self._bounds())

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.dimension_names)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the only attribute."""
        np = numpy()

        field = self.field(self._only_attribute())
        if field.values_per_cell is None or field.enumeration is not None:
            return np.dtype(object)
        return np.dtype(numpy_type(field.datatype))

    def _only_attribute(self) -> str:
        names = self.attribute_names
        if len(names) != 1:
            raise UsageError(
                f"{self.uri}: the array has {len(names)} attributes; name one: array.read(columns=[…])",
                path=self.uri,
            )
        return names[0]

    def _bounds(self) -> list[tuple[int, int]]:
        return [ends for ends in self._handle.domain if ends is not None]

    @property
    def non_empty_domain(self) -> tuple[tuple[Any, Any], ...] | None:
        """The first and the last coordinate of the cells of all fragments."""
        found = self._handle.non_empty_domain()
        return None if found is None else tuple(found)

    @property
    def fragments(self) -> tuple[Fragment, ...]:
        """The fragments, oldest first."""
        return tuple(
            Fragment(
                found["name"],
                (found["start"], found["end"]),
                found["format_version"],
                found["is_dense"],
                found["cells"],
                found["tiles"],
                found["bytes"],
                None if found["domain"] is None else tuple(found["domain"]),
            )
            for found in self._handle.fragments()
        )

    @property
    def enumerations(self) -> dict[str, npt.NDArray[Any]]:
        """The values of the enumerations, by name."""
        return {name: self._enumeration(name)[0] for name in self._handle.enumerations}

    def _enumeration(self, name: str) -> tuple[npt.NDArray[Any], bool]:
        self._current()
        # A refresh by another thread leaves the values of older schemas in the older dictionary.
        known = self._enumerations
        found = known.get(name)
        if found is None:
            column, ordered = self._handle.enumeration(name)
            found = (_columns.to_numpy(column), ordered)
            known[name] = found
        return found

    def _enumeration_of(self, name: str) -> tuple[npt.NDArray[Any], bool] | None:
        """Returns the values of the enumeration of a field."""
        for field in self.fields:
            if field.name == name and field.enumeration is not None and field.values_per_cell == 1:
                return self._enumeration(field.enumeration)
        return None

    def _datatype_of(self, name: str) -> str | None:
        """Returns the datatype of the values of a field, or ``None`` for an unknown field."""
        for field in self.fields:
            if field.name == name:
                if field.enumeration is None:
                    return field.datatype
                values = self._enumeration(field.enumeration)[0]
                return (
                    field.datatype
                    if values.dtype.kind == "O"
                    else _types.datatype_of(values.dtype, name)[0]
                )
        return None

    def _ends(self, name: str, ranges: Ranges) -> list[tuple[Any, Any]]:
        """Returns the first and the last coordinate of each range of a dimension or label."""
        return ends_of(name, ranges, self._datatype_of)

    def _single(self, name: str, ranges: Ranges, what: str) -> tuple[Any, Any]:
        ends = self._ends(name, ranges)
        if len(ends) != 1:
            raise UsageError(f"dimension {name!r}: {what} has one range per dimension", field=name)
        return ends[0]

    def counters(self) -> dict[str, int]:
        """Returns the requests and bytes of the array since it was opened."""
        return self._handle.counters()

    @property
    def schema(self) -> Schema:
        """The schema."""
        return Schema.from_toml(self._handle.schema_text())

    @property
    def metadata(self) -> Metadata:
        """The metadata."""

        def write(changes: list[Any]) -> None:
            _native.write_metadata(self._handle, changes, None)
            self._changed()

        return Metadata(lambda: self._handle.metadata(), write)

    def _normalized(
        self,
        data: Any,
        *,
        lookup: bool = False,
        shape: tuple[int, ...] | None = None,
        order: str | None = None,
    ) -> list[tuple[str, Any, Any]]:
        """Converts the columns of a table to the forms of the native module."""
        fields = {field.name: field for field in self.fields}

        def values(name: str) -> Any:
            return self._enumeration(name)[0]

        return _write.columns(data, fields, values if lookup else None, shape, order)

    def write(
        self,
        data: Any,
        *,
        ranges: Mapping[str, Ranges] | None = None,
        order: str | None = None,
        duplicates: str | None = None,
        at: int | None = None,
    ) -> Written:
        """Writes cells atomically.

        ``data`` is a dictionary of columns, a data frame, a structured array, or a table of Arrow:
        any object with ``__arrow_c_stream__`` or ``__arrow_c_array__``. A sparse array needs all
        dimensions and attributes, in any order of cells. A dense array needs all attributes, as
        arrays with the shape of ``ranges``, by default of the whole array. The values of all
        columns are checked first: an error names the column and the row, and nothing is written.

        ``order`` is the order of the cells of a sparse array, or of a table of Arrow. Arrays with a
        shape mean the same cells in every order.

        ``duplicates`` is ``refuse``, ``keep-last`` or ``keep``: the rule for cells with equal
        coordinates in ``data``. ``at`` sets the time of the write in milliseconds since 1970.
        """
        settings = self._settings(ranges, order, duplicates, at)
        try:
            if _write.is_arrow(data):
                found = _native.write_arrow(self._handle, data, settings)
            else:
                shape = self._write_shape(settings["ranges"])
                if shape is not None and order == "global":
                    # Arrays with a shape have no cells in global order.
                    settings["order"] = order = "row-major"
                columns = self._normalized(data, lookup=True, shape=shape, order=order)
                found = _native.write_columns(self._handle, columns, settings)
        finally:
            # An interrupt may come after the commit.
            self._changed()
        return Written(tuple(found[0]), found[1])

    def _settings(
        self,
        ranges: Mapping[str, Ranges] | None,
        order: str | None,
        duplicates: str | None,
        at: int | None,
    ) -> dict[str, Any]:
        sides = [
            (name, self._single(name, given, "a write")) for name, given in (ranges or {}).items()
        ]
        return {
            "ranges": sides,
            "order": order,
            "duplicates": duplicates,
            "at": whole("at", at),
            "budget": None,
        }

    def _write_shape(self, sides: list[tuple[str, Any]]) -> tuple[int, ...] | None:
        if not self.is_dense:
            return None
        extents = {name: self._handle.extent(name, ends) for name, ends in sides}
        return tuple(
            extents.get(name, size) for name, size in zip(self.dimension_names, self.shape)
        )

    def __setitem__(self, key: Any, value: Any) -> None:
        """Writes a subarray of a dense array, with the indices of NumPy.

        Steps are not supported. A scalar is written to all cells. An array with several attributes
        takes a dictionary of arrays.
        """
        if not self.is_dense:
            raise UsageError(
                f"{self.uri}: a sparse array has no positions; use array.write(…)", path=self.uri
            )
        box, inner = self._box(key)
        if any(item not in (0, slice(None)) for item in inner):
            raise IndexError(f"{self.uri}: cannot write with a step")
        shape = tuple(high - low + 1 for low, high in box)
        if min(shape) <= 0:
            return
        if is_mapping(value):
            values = value
        elif len(self.attribute_names) == 1:
            values = {self._only_attribute(): value}
        else:
            values = _write.table(value)
        dropped = tuple(size for size, item in zip(shape, inner) if item != 0)
        columns = {
            name: self._filled(name, cells, shape, dropped) for name, cells in values.items()
        }
        self.write(columns, ranges=dict(zip(self.dimension_names, box)))

    def _filled(
        self, name: str, cells: Any, shape: tuple[int, ...], dropped: tuple[int, ...]
    ) -> Any:
        """Gives cells the shape of a subarray whose dimensions with an integer index are dropped."""
        np = numpy()

        field = self.field(name)
        is_scalar = isinstance(cells, (str, bytes)) or not is_iterable(cells)
        if is_scalar or getattr(cells, "ndim", 1) == 0:
            scalar: Any = cells
            values = np.asarray(scalar)
            if values.dtype.kind in "USO":
                filled = np.empty(shape, dtype=object)
                filled[...] = scalar
                return filled
            target = numpy_type(field.datatype)
            if type(scalar) is float and target == "float32":
                # A number of Python rounds, as in a list.
                rounds = abs(scalar) <= np.finfo(target).max
                values = np.float32(scalar) if rounds else values
            if values.dtype.kind in "iu" and target.startswith(("float", "int", "uint")):
                converted = values.astype(target)
                if converted == values:
                    values = converted
            return np.full(shape, values)
        cells = _write.array_of(cells, field)
        if cells.shape[: len(dropped)] == dropped:
            return cells.reshape(shape + cells.shape[len(dropped) :])
        return cells

    def writer(
        self,
        *,
        ranges: Mapping[str, Ranges] | None = None,
        order: str | None = None,
        duplicates: str | None = None,
        at: int | None = None,
    ) -> Writer:
        """Starts a write of several batches, which become visible together.

        Use the result in a ``with`` statement. A sparse array takes cells in any order, in a
        fragment for each batch (for a table of Arrow, for each 256 MiB), or with ``order="global"``
        cells in global order, in one fragment.
        A dense array takes the cells of ``ranges`` in global order.
        """
        return Writer(self, self._settings(ranges, order, duplicates, at))

    def delete(self, where: Condition | str, *, at: int | None = None) -> None:
        """Deletes the cells of a sparse array that match a condition."""
        _native.delete_cells(self._handle, text_for(where, self), whole("at", at))
        self._changed()

    def delete_fragments(self, between: tuple[int | None, int | None]) -> int:
        """Deletes the fragments of a time range, and returns their number."""
        count = _native.delete_fragments(self._handle, *times("between", between))
        self._changed()
        return count

    def evolve(
        self,
        *,
        add: Sequence[Attribute] = (),
        drop: Sequence[str] = (),
        add_enumerations: Sequence[Enumeration] = (),
        extend: Mapping[str, Sequence[Any]] | None = None,
        drop_enumerations: Sequence[str] = (),
        current_domain: Mapping[str, Ranges] | None = None,
        at: int | None = None,
    ) -> None:
        """Changes the schema atomically.

        ``extend`` adds values to enumerations. ``current_domain`` widens the current domain.
        """
        parts = [("attribute", attribute._table()) for attribute in add]
        parts += [("enumeration", enumeration._table()) for enumeration in add_enumerations]
        extended = [
            (name, self._enumeration_bytes(name, values)) for name, values in (extend or {}).items()
        ]
        _native.evolve(
            self._handle,
            {
                "add": tables(parts),
                "drop": list(drop),
                "extend": extended,
                "drop_enumerations": list(drop_enumerations),
                "current_domain": self._settings(current_domain, None, None, None)["ranges"],
                "at": whole("at", at),
            },
        )
        self._changed()

    def _enumeration_bytes(self, name: str, values: Any) -> list[bytes]:
        known = {enumeration.name: enumeration for enumeration in self.schema.enumerations}
        enumeration = known.get(name)
        if enumeration is None:
            names = ", ".join(map(repr, known)) or "none"
            raise UsageError(f"unknown enumeration {name!r}; the array has {names}", field=name)
        if isinstance(values, (str, bytes)):
            raise UsageError(
                f"enumeration {name!r}: {values!r} is not a list of values", field=name
            )
        count = enumeration.values_per_value
        per_value = None if isinstance(count, str) else count
        field = Field(name, "enumeration", enumeration.dtype, per_value, False, None)
        return _write.bytes_of(list(values), field)

    def read(
        self,
        columns: Sequence[str] | None = None,
        *,
        ranges: Mapping[str, Ranges] | None = None,
        points: Any = None,
        boxes: Sequence[Mapping[str, Ranges]] | None = None,
        where: Condition | str | None = None,
        order: str | None = None,
        limit: int | None = None,
        budget: int | None = None,
        fill: bool = False,
        strings_as_bytes: bool = False,
    ) -> Read:
        """Describes a read. Cells are read when a method of the result asks for them.

        ``columns`` names attributes, dimensions and labels. ``ranges`` maps dimensions or labels to
        coordinates: a coordinate, a pair of the first and the last coordinate (both included,
        ``None`` for the end of the domain), a ``range``, or a list of these. ``points`` maps each
        dimension to coordinates: row ``i`` of all columns is point ``i``. ``boxes`` is a list of
        ``ranges`` whose cells form a union. ``where`` is a condition, as text or from
        :func:`tdb.col`. A dense array returns only matching cells, or fill values in place of the
        others with ``fill``. ``order`` is ``row-major``, ``col-major``, ``global`` or
        ``unordered``. ``budget`` limits the memory of the read in bytes.
        """
        limit, budget = whole("limit", limit), whole("budget", budget)
        spec = Spec(
            columns, ranges, points, boxes, where, order, limit, budget, fill, strings_as_bytes
        )
        return Read(self, spec)

    def aggregate(self, *aggregates: Aggregate) -> dict[str, Any]:
        """Computes aggregates over all cells: see :meth:`Read.aggregate`."""
        return self.read().aggregate(*aggregates)

    def group_by(self, *keys: str) -> Groups:
        """Groups all cells: see :meth:`Read.group_by`."""
        return self.read().group_by(*keys)

    def _box(self, key: Any) -> tuple[list[tuple[int, int]], tuple[Any, ...]]:
        """Resolves an index into coordinates, and the index of the cells that are read."""
        bounds = self._bounds()
        keys: list[Any] = list(key) if is_tuple(key) else [key]
        if any(item is Ellipsis for item in keys):
            place = next(place for place, item in enumerate(keys) if item is Ellipsis)
            missing = len(bounds) - len(keys) + 1
            keys[place : place + 1] = [slice(None)] * missing
        if len(keys) > len(bounds) or any(item is Ellipsis for item in keys):
            raise IndexError(f"{self.uri}: {len(keys)} indices for {len(bounds)} dimensions")
        keys += [slice(None)] * (len(bounds) - len(keys))
        box: list[tuple[int, int]] = []
        inner: list[Any] = []
        for (first, last), item in zip(bounds, keys):
            size = last - first + 1
            if isinstance(item, slice):
                span = range(*item.indices(size))
                low, high = (span[0], span[-1]) if span.step > 0 and span else (0, -1)
                if span and span.step < 0:
                    low, high = span[-1], span[0]
                inner.append(slice(None) if span.step == 1 else slice(None, None, span.step))
            elif hasattr(item, "__index__") and not isinstance(item, bool):
                low = high = item.__index__() + (size if item.__index__() < 0 else 0)
                if not 0 <= low < size:
                    raise IndexError(
                        f"{self.uri}: index {item} is out of range for {size} coordinates"
                    )
                inner.append(0)
            else:
                raise IndexError(
                    f"{self.uri}: expected integers and slices, found {type(item).__name__};"
                    " use read(points=…) for lists of coordinates"
                )
            box.append((first + low, first + high))
        return (box, tuple(inner))

    def __getitem__(self, key: Any) -> Any:
        """Reads a subarray of a dense array, with the indices of NumPy.

        Indices are positions: 0 is the first coordinate of the domain, and -1 the last. Use
        :meth:`read` to select coordinates. Returns an array, or a dictionary of arrays if the
        array has several attributes.
        """
        if not self.is_dense:
            raise UsageError(
                f"{self.uri}: a sparse array has no positions; use array.read(ranges=…)",
                path=self.uri,
            )
        box, inner = self._box(key)
        names = self.attribute_names
        shape = tuple(max(high - low + 1, 0) for low, high in box)
        if 0 in shape:
            np = numpy()

            # One cell has the types of all cells.
            one = self._read_box([(first, first) for first, _ in self._bounds()])
            arrays = {
                name: np.empty(shape + cells.shape[len(shape) :], cells.dtype)
                for name, cells in one.items()
            }
        else:
            arrays = self._read_box(box)
        if any(item != slice(None) for item in inner):
            arrays = {name: cells[inner] for name, cells in arrays.items()}
        return arrays[names[0]] if len(names) == 1 else arrays

    def _read_box(self, box: list[tuple[int, int]]) -> dict[str, npt.NDArray[Any]]:
        ranges = dict(zip(self.dimension_names, box))
        return self.read(ranges=ranges).to_numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        np = numpy()

        self._only_attribute()
        if copy is False:
            raise ValueError("a read of an array is a copy")
        return np.asarray(self[...], dtype=dtype)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        # Without this method, Python would read the cells one by one.
        raise TypeError(f"{self.uri}: use array[...] or array.read()")

    def __repr__(self) -> str:
        if self._closed:
            return f"<tdb.Array {self.uri}: closed>"
        dimensions = ", ".join(
            f"{name}={'text' if ends is None else f'{ends[0]}..{ends[1]}'}"
            for name, ends in zip(self.dimension_names, self.domain)
        )
        attributes = ", ".join(
            f"{field.name}: {field.datatype}{'?' if field.nullable else ''}"
            for field in self.fields
            if field.role == "attribute"
        )
        kind = "dense" if self.is_dense else "sparse"
        return f"<tdb.Array {self.uri}: {kind}, {dimensions}; {attributes}>"

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            "<tr>"
            + "".join(
                f"<td>{escape(str(cell))}</td>"
                for cell in (
                    field.name,
                    field.role,
                    field.datatype,
                    "var" if field.values_per_cell is None else field.values_per_cell,
                    "yes" if field.nullable else "",
                    field.enumeration or "",
                )
            )
            + "</tr>"
            for field in self.fields
        )
        heads = "".join(
            f"<th>{head}</th>"
            for head in ("field", "role", "datatype", "values per cell", "nullable", "enumeration")
        )
        kind = "dense" if self.is_dense else "sparse"
        return (
            f"<p><b>{escape(self.uri)}</b>: {kind} array</p>"
            f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
        )


class Writer:
    """A write of several batches: see :meth:`Array.writer`."""

    def __init__(self, array: Array, settings: dict[str, Any]) -> None:
        self._array = array
        self._settings = settings
        self._native = _native.Writer(array._handle, settings)
        #: The result, after the end.
        self.written: Written | None = None

    def write(self, data: Any) -> None:
        """Adds cells. The forms of ``data`` are those of :meth:`Array.write`."""
        if _write.is_arrow(data):
            self._native.arrow(data)
        else:
            self._native.columns(self._array._normalized(data, lookup=True))

    def commit(self) -> Written:
        """Ends the write, and makes all batches visible."""
        try:
            fragments, cells = self._native.commit()
        finally:
            # An interrupt may come after the commit.
            self._array._changed()
        self.written = Written(tuple(fragments), cells)
        return self.written

    def abandon(self) -> None:
        """Ends the write. Nothing becomes visible."""
        self._native.abandon()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        if error is not None:
            self.abandon()
        elif self.written is None:
            self.commit()


def open(
    uri: str | os.PathLike[str],
    *,
    at: int | None = None,
    between: tuple[int, int] | None = None,
    key: bytes | None = None,
    threads: int = 0,
    storage_options: Mapping[str, Any] | None = None,
) -> Array:
    """Opens an array for reading and writing.

    ``at`` opens the array as of a millisecond since 1970, ``between`` restricts it to the writes
    of a time range. ``key`` are the 32 bytes of an AES-256 key. ``threads`` limits the threads of
    queries; 0 means one per core. ``storage_options`` configures an object store.
    """
    return Array(opening(uri, at, between, key, threads, storage_options))


def opening(
    uri: str | os.PathLike[str],
    at: int | None = None,
    between: tuple[int, int] | None = None,
    key: bytes | None = None,
    threads: int = 0,
    storage_options: Mapping[str, Any] | None = None,
) -> _Opening:
    """Describes how an array or group is opened."""
    if at is not None and between is not None:
        raise UsageError("give at or between, not both")
    start, end = (None, whole("at", at)) if between is None else times("between", between)
    if key is not None and type(key) is not bytes:
        raise UsageError(f"key is of type {type(key).__name__}; expected 32 bytes")
    # `True` is `true` in the options of stores.
    options = {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in (storage_options or {}).items()
    }
    return _Opening(os.fspath(uri), start, end, key, whole("threads", threads) or 0, options)


def times(name: str, between: Any) -> tuple[int | None, int | None]:
    """Returns an argument that is a pair of times."""
    if not (is_tuple(between) or is_list(between)) or len(between) != 2:
        raise UsageError(f"{name} is {between!r}; expected (first, last) in milliseconds")
    return (whole(name, between[0]), whole(name, between[1]))
