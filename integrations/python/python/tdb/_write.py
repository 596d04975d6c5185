"""Columns to write, checked and in the forms of the native module."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from . import _types
from ._errors import UsageError
from ._libraries import is_iterable, is_list, is_mapping, is_tuple, numpy, pandas

if TYPE_CHECKING:
    from ._array import Field

#: The name, the values and the validity of a column.
Prepared = tuple[str, Any, Any]

#: Returns the values of an enumeration.
Lookup = Callable[[str], Any]

# The values per cell of texts, for which texts of NumPy are written.
_TEXTS = _types.TEXTS | {"char"}


def is_arrow(data: object) -> bool:
    """Whether the data is a table of Arrow, and no data frame of pandas."""
    return not _is_pandas(data) and (
        hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")
    )


def _library(data: object) -> str:
    return type(data).__module__.partition(".")[0]


def _is_pandas(data: object) -> bool:
    return _library(data) == "pandas"


def is_missing(value: Any) -> bool:
    """Whether a value is ``None``, NaN, or a missing value of pandas."""
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, float) and value != value)
    )


def table(data: Any) -> dict[str, Any]:
    """Returns the columns of a dictionary, a data frame, a structured array or a table, by name."""
    if _is_pandas(data) and hasattr(data, "columns"):
        index = data.index
        levels = [index.get_level_values(place) for place in range(index.nlevels)]
        for place, level in enumerate(levels):
            if level.name is None and len(levels) > 1:
                raise UsageError(f"level {place} of the index has no name; name or reset the index")
        columns = [(level.name, level) for level in levels if level.name is not None]
        columns += [(name, data.iloc[:, place]) for place, name in enumerate(data.columns)]
        return _by_name((str(name), column) for name, column in columns)
    if is_mapping(data):
        return dict(data)
    if hasattr(data, "get_columns"):
        return _by_name((column.name, column) for column in data.get_columns())
    if _library(data) == "pyarrow" and hasattr(data, "columns"):
        return _by_name(zip(data.schema.names, data.columns))
    names = getattr(getattr(data, "dtype", None), "names", None)
    if names is not None:
        return {name: data[name] for name in names}
    raise UsageError(
        f"cannot take columns from {type(data).__name__}; expected a dictionary, a data frame, or an Arrow table"
    )


def _by_name(columns: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, column in columns:
        if name in found:
            raise UsageError(f"two columns are named {name!r}", field=name)
        found[name] = column
    return found


def columns(
    data: Any,
    fields: Mapping[str, Field],
    lookup: Lookup | None = None,
    shape: tuple[int, ...] | None = None,
    order: str | None = None,
) -> list[Prepared]:
    """Checks the columns of a table. Nothing is written before all of them are checked.

    ``shape`` is the shape of the cells of a dense array, ``order`` the order of the result.
    """
    prepared: list[Prepared] = []
    for name, values in table(data).items():
        field = fields.get(name)
        if field is None:
            known = ", ".join(repr(known) for known in fields)
            raise UsageError(f"unknown field {name!r}; the array has {known}", field=name)
        prepared.append((name, *_Column(field, lookup).prepared(values, shape, order)))
    lengths = {name: _length(fields[name], values) for name, values, _ in prepared}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name!r} has {length}" for name, length in lengths.items())
        raise UsageError(f"the columns differ in length: {found}")
    return prepared


def array_of(values: Any, field: Field) -> Any:
    """Converts the cells of a dense array to an array of NumPy."""
    np = numpy()

    column = _Column(field, None)
    values, valid = column.unmasked(values)
    if is_list(values):
        return np.asarray(values, dtype=object)
    if column.is_of_pandas and values.dtype.kind == "O" and not column.is_float:
        return np.where(pandas().isna(values), None, values)
    return values if valid is None else np.ma.MaskedArray(values, mask=~valid)


def bytes_of(values: list[Any], field: Field) -> list[bytes]:
    """Converts values to the bytes of a cell each."""
    np = numpy()

    column = _Column(field, None)
    if column.is_text():
        return [column.text_bytes(cell, value) for cell, value in enumerate(values)]
    if not values:
        return []
    items: list[Any] = [column.item(cell, value) for cell, value in enumerate(values)]
    try:
        array = np.asarray(items)
    except ValueError as error:
        raise column.error(str(error)) from None
    if array.dtype.kind == "O":
        cell = next(
            (cell for cell, item in enumerate(items) if not isinstance(item, (int, float))), 0
        )
        raise column.cell_error(cell, f"{values[cell]!r} is not a valid {field.datatype}")
    if field.datatype == "float32" and np.all(np.abs(array) <= np.finfo("float32").max):
        # Numbers of Python round, as in a list of cells.
        array = array.astype("float32")
    cells, _ = column.prepared(array, None, None)
    if is_tuple(cells):
        cells = cells[1]
    return [cell.tobytes() for cell in cells.reshape(len(items), -1)]


def _length(field: Field, values: Any) -> int:
    if is_tuple(values):
        form, flat, extra = values
        return len(extra) - 1 if form == "lists" else len(flat) // max(extra, 1)
    if is_list(values):
        return len(values)
    return len(values) // (field.values_per_cell or 1)


class _Column:
    """The conversion of a column for a field."""

    def __init__(self, field: Field, lookup: Lookup | None) -> None:
        self.field = field
        self.lookup = lookup
        self.datatype = field.datatype
        self.count = field.values_per_cell
        self.is_float = field.enumeration is None and self.datatype.startswith("float")
        self.is_of_pandas = False

    def error(self, what: str) -> UsageError:
        return UsageError(f"column {self.field.name!r}: {what}", field=self.field.name)

    def cell_error(self, cell: int, what: str) -> UsageError:
        name = self.field.name
        return UsageError(f"cell {cell}, field {name!r}: {what}", field=name, cell=cell)

    def prepared(
        self, values: Any, shape: tuple[int, ...] | None, order: str | None
    ) -> tuple[Any, Any]:
        values, valid = self.unmasked(values)
        if shape is not None:
            if is_list(values):
                values = numpy().asarray(values, dtype=object)
            values, valid = self._shaped(values, valid, shape, order)
        if self.field.enumeration is not None and self.count == 1 and self.lookup is not None:
            values, valid = self._positions(values, valid, self.lookup(self.field.enumeration))
        if is_list(values):
            return (self._list(values), None)
        if values.ndim == 0:
            raise self.error("expected one value per cell, found a single value")
        return self._array(values, valid)

    def is_text(self) -> bool:
        return self.datatype in _TEXTS or (self.datatype in _types.BYTES and self.count != 1)

    def unmasked(self, values: Any) -> tuple[Any, Any]:
        """Splits a column into values and validity."""
        if _is_pandas(values):
            self.is_of_pandas = True
            return self._pandas(values)
        times = self._arrow_times(values)
        if times is not None:
            return times
        for method in ("to_pylist", "to_list"):
            if not hasattr(values, "dtype") or type(values).__module__.startswith("polars"):
                convert = getattr(values, method, None)
                if convert is not None:
                    return (convert(), None)
        if is_list(values) or is_tuple(values):
            return ([*values], None)
        mask = getattr(values, "mask", None)
        if mask is not None and hasattr(values, "filled"):
            np = numpy()

            return (np.asarray(values.data), ~np.ma.getmaskarray(values))
        if hasattr(values, "dtype"):
            return (values, None)
        if hasattr(values, "__array__") or isinstance(values, memoryview):
            np = numpy()

            return (np.asarray(values), None)
        if isinstance(values, (str, bytes)) or not is_iterable(values):
            raise self.error(f"expected one value per cell, found {type(values).__name__}")
        return ([*values], None)

    def _pandas(self, values: Any) -> tuple[Any, Any]:
        np = numpy()

        if hasattr(values, "columns"):
            return (values.to_numpy(), None)
        dtype: Any = values.dtype
        if getattr(dtype, "tz", None) is not None:
            raise self.error(f"{dtype} has a time zone; convert it to UTC, and remove the zone")
        # Texts are checked later, and NaN and NaT are values.
        is_text = self.is_text() and self.field.enumeration is None
        keeps_missing = is_text or self.is_float or not self.field.nullable
        if isinstance(dtype, np.dtype) and (dtype.kind != "O" or keeps_missing):
            return (values.to_numpy(), None)
        missing = np.asarray(values.isna())
        kind: Any = dtype if isinstance(dtype, np.dtype) else getattr(dtype, "numpy_dtype", None)
        if kind is None or kind.kind == "O" or self.is_text():
            return (np.where(missing, None, np.asarray(values.astype(object))), None)
        array = values.to_numpy(
            dtype=kind, na_value=kind.type(0) if kind.kind not in "Mm" else None
        )
        return (array, None if not missing.any() else ~missing)

    def _arrow_times(self, values: Any) -> tuple[Any, Any] | None:
        """Splits dates and times of polars and pyarrow, without a loss of nanoseconds."""
        library = _library(values)
        if library == "polars" and hasattr(values, "dtype") and values.dtype.is_temporal():
            kind = type(values.dtype).__name__
            zone = getattr(values.dtype, "time_zone", None)
            unit = "D" if kind == "Date" else getattr(values.dtype, "time_unit", "ns")
            numbers: Any = values.to_physical().fill_null(0).to_numpy()
            valid: Any = values.is_not_null().to_numpy()
        elif library == "pyarrow" and hasattr(values, "type"):
            # A type such as `timestamp[ns, tz=UTC]`, `date32[day]` or `duration[us]`.
            kind, _, unit = str(values.type).rstrip("]").partition("[")
            if kind.rstrip("3264") not in ("timestamp", "date", "duration", "time"):
                return None
            zone = getattr(values.type, "tz", None)
            unit = "D" if unit == "day" else unit.partition(",")[0]
            numbers = numpy().asarray(
                values.cast("int32" if kind.endswith("32") else "int64").fill_null(0)
            )
            valid = numpy().asarray(values.is_valid())
        else:
            return None
        if zone is not None:
            raise self.error(
                f"{kind} has the time zone {zone}; convert it to UTC, and remove the zone"
            )
        form = "M" if kind.lower().startswith(("date", "timestamp")) else "m"
        return (numbers.astype("int64").view(f"{form}8[{unit}]"), None if valid.all() else valid)

    def _positions(self, values: Any, valid: Any, known: Any) -> tuple[Any, Any]:
        """Looks up values of an enumeration. Integers are positions in an enumeration of texts."""
        kind = getattr(getattr(values, "dtype", None), "kind", None)
        has_texts = known.dtype.kind in "OS"
        if kind in ("i", "u") and has_texts:
            wrong = (values < 0) | (values >= len(known))
            if valid is not None:
                wrong &= valid
            if wrong.any():
                cell = int(wrong.argmax())
                raise self._no_position(cell, values.flat[cell])
            return (values, valid)
        items: list[Any] = [
            item.item() if hasattr(item, "dtype") else item
            for item in (values if is_list(values) else values.tolist())
        ]
        if valid is not None:
            items = [item if keep else None for item, keep in zip(items, valid)]
        if has_texts and set(map(type, items)) - {type(None)} == {int}:
            for cell, item in enumerate(items):
                if item is not None and not 0 <= item < len(known):
                    raise self._no_position(cell, item)
            return (items, None)
        places = {value: place for place, value in enumerate(known.tolist())}
        found: list[Any] = []
        for cell, item in enumerate(items):
            if item is None:
                found.append(None)
                continue
            place = places.get(item)
            if place is None:
                enumeration = self.field.enumeration
                raise self.cell_error(
                    cell, f"{item!r} is not in enumeration {enumeration!r}; extend it first"
                )
            found.append(place)
        return (found, None)

    def _no_position(self, cell: int, position: Any) -> UsageError:
        enumeration = self.field.enumeration
        return self.cell_error(cell, f"{position} is not a position in enumeration {enumeration!r}")

    def _list(self, values: list[Any]) -> list[Any]:
        # The native module converts these types.
        plain = {type(None), bool, float, str, bytes, float if self.is_float else int}
        if set(map(type, values)) <= plain:
            return values
        return [self.item(cell, value) for cell, value in enumerate(values)]

    def item(self, cell: int, value: Any) -> Any:
        """Converts dates, durations, and objects of NumPy and pandas."""
        if isinstance(value, int) and self.is_float:
            self._require_exact(cell, value)
        if value is None or isinstance(value, (int, float, str, bytes)):
            return value
        if type(value).__name__ == "NAType":
            return None
        if _types.is_date(value) or _types.is_duration(value):
            if value != value:
                return None if self.field.nullable else _types.NOT_A_TIME
            try:
                return _types.number_of(value, self.datatype)
            except UsageError as error:
                raise self.cell_error(cell, str(error)) from None
        if hasattr(value, "dtype") and getattr(value, "ndim", 0) == 0:
            return self.item(cell, value.item())
        if self.count != 1 and (is_list(value) or is_tuple(value)):
            return [self.item(cell, item) for item in value]
        return value

    def _require_exact(self, cell: int, value: int) -> None:
        form = "f" if self.datatype == "float32" else "d"
        try:
            is_exact = struct.unpack(form, struct.pack(form, value))[0] == value
        except (OverflowError, struct.error):
            is_exact = False
        if not is_exact:
            raise self.cell_error(cell, f"{value} is not a valid {self.datatype}")

    def text_bytes(self, cell: int, value: Any) -> bytes:
        """Converts a text to bytes."""
        if not isinstance(value, (str, bytes)):
            raise self.cell_error(cell, f"{value!r} is not a valid {self.datatype}")
        try:
            if isinstance(value, str):
                return value.encode()
            if self.datatype in _types.TEXTS:
                value.decode()
        except UnicodeError as error:
            raise self.cell_error(cell, str(error)) from None
        return value

    def _shaped(
        self, values: Any, valid: Any, shape: tuple[int, ...], order: str | None
    ) -> tuple[Any, Any]:
        """Checks the shape of the cells of a dense array, and flattens it."""
        if values.shape[: len(shape)] != shape:
            raise self.error(f"found the shape {values.shape}, expected {shape}")

        def flat(array: Any) -> Any:
            inner = range(len(shape), array.ndim)
            if order == "col-major":
                array = array.transpose(*reversed(range(len(shape))), *inner)
            return array.reshape((-1, *(array.shape[place] for place in inner)))

        return (flat(values), None if valid is None else flat(valid))

    def _array(self, values: Any, valid: Any) -> tuple[Any, Any]:
        np = numpy()

        if valid is not None:
            if valid.ndim > 1:
                valid = valid.all(axis=tuple(range(1, valid.ndim)))
            valid = np.ascontiguousarray(valid, dtype=np.bool_).view(np.uint8)
        if self.is_text():
            return (self._texts(values), valid)
        if values.dtype.kind == "O":
            return self._objects(values, valid)
        if values.dtype.kind in "USTV":
            raise self.error(f"found {values.dtype}, expected {self.datatype}")
        expected = 1 if self.count == 1 else 2
        if values.ndim != expected or ((self.count or 1) > 1 and values.shape[1] != self.count):
            per_cell = "one value" if self.count == 1 else f"{self.count or 'lists of'} values"
            raise self.error(f"found the shape {values.shape}, expected {per_cell} per cell")
        no_time = None
        if values.dtype.kind in "Mm":
            if self.field.nullable and valid is None:
                no_time = np.isnat(values)
            flat = self._times(values.reshape(-1))
        else:
            flat = self._numbers(
                values.reshape(-1), None if valid is None or values.ndim > 1 else valid
            )
        flat = np.ascontiguousarray(flat)
        if no_time is not None and no_time.any():
            valid = np.ascontiguousarray(~no_time).view(np.uint8)
        if self.count is None:
            offsets = np.arange(len(values) + 1, dtype=np.uint64) * np.uint64(values.shape[1])
            return (("lists", flat, offsets), valid)
        return (flat, valid)

    def _objects(self, values: Any, valid: Any) -> tuple[Any, Any]:
        """Converts objects: lists of variable length, or numbers one by one."""
        np = numpy()

        items: list[Any] = values.tolist() if values.ndim > 1 else list(values)
        if self.count is None and items and all(hasattr(item, "dtype") for item in items):
            lengths = np.array([0, *(len(item) for item in items)], dtype=np.uint64)
            joined = np.concatenate([np.asarray(item) for item in items])
            if joined.dtype.kind in "Mm":
                flat = self._times(joined)
            else:
                flat = self._numbers(
                    joined, None, np.repeat(np.arange(len(items)), lengths[1:].astype(np.int64))
                )
            return (
                ("lists", np.ascontiguousarray(flat), np.cumsum(lengths, dtype=np.uint64)),
                valid,
            )
        if valid is not None:
            items = [item if keep else None for item, keep in zip(items, valid)]
        return (self._list(items), None)

    def _texts(self, values: Any) -> Any:
        np = numpy()

        if values.ndim != 1:
            raise self.error(f"found the shape {values.shape}, expected one text per cell")
        if values.dtype.kind in ("O", "T"):
            items: list[Any] = values.tolist()
            # The native module takes texts, bytes and `None` as they are.
            if set(map(type, items)) <= {str, bytes, type(None)}:
                return items
            if self.is_of_pandas:
                # pandas has NaN for missing texts.
                items = np.where(pandas().isna(values), None, values).tolist()
            return self._list(items)
        if values.dtype.kind == "V":
            if self.count is None or self.count == values.dtype.itemsize:
                return self._list([item.tobytes() for item in values])
            raise self.error(f"found {values.dtype}, expected {self.count} bytes per cell")
        if values.dtype.kind not in "SU":
            raise self.error(f"found {values.dtype}, expected texts")
        if self.count is not None:
            width = values.dtype.itemsize // (4 if values.dtype.kind == "U" else 1)
            encoded: Any = values if values.dtype.kind == "S" else np.char.encode(values, "utf-8")
            too_long = (
                np.flatnonzero(np.char.str_len(encoded) > self.count) if width else np.arange(0)
            )
            if len(too_long):
                cell = int(too_long[0])
                raise self.cell_error(cell, f"{values[cell]!r} has more than {self.count} bytes")
            return np.ascontiguousarray(encoded.astype(f"S{self.count}")).view(np.uint8)
        if values.dtype.itemsize == 0 or len(values) == 0:
            return self._list(values.tolist())
        if values.dtype.kind == "S":
            return ("fixed", np.ascontiguousarray(values).view(np.uint8), values.dtype.itemsize)
        native = np.ascontiguousarray(values.astype(values.dtype.newbyteorder("="), copy=False))
        return ("unicode", native.view(np.uint32), values.dtype.itemsize // 4)

    def _times(self, values: Any) -> Any:
        """Converts dates and times to the unit of the field."""
        np = numpy()

        if self.field.role == "dimension" and values.dtype.kind in "Mm":
            self._reject(np.isnat(values), values, "is not a coordinate")
        if values.dtype == _types.numpy_type(self.datatype):
            return values.view(np.int64)
        found = _types.in_units(values, self.datatype)
        if found is None:
            raise self.error(f"found {values.dtype}, expected {self.datatype}")
        self._reject(found[1], values, f"is not a whole number of {self.datatype}")
        return found[0].view(np.int64)

    def _numbers(self, values: Any, valid: Any, cells: Any = None) -> Any:
        """Converts numbers to the type of the field, if it can represent each of them."""
        np = numpy()

        target = np.dtype(
            "int64" if _types.unit_of(self.datatype) else _types.numpy_type(self.datatype)
        )
        found = values.dtype
        if found == target and found.isnative:
            return values.view(np.uint8) if target.kind == "b" else values
        what = f"is not a valid {self.datatype}"
        if found.kind not in "biuf" or (found.kind == "f" and target.kind != "f"):
            raise self.error(f"found {found}, expected {self.datatype}")
        if target.kind == "b":
            target = np.dtype(np.uint8)
            self._reject((values != 0) & (values != 1), values, what, cells)
        with np.errstate(all="ignore"):
            converted = values.astype(target)
            wrong = converted != values
            if found.kind == "f":
                wrong &= ~np.isnan(values)
            elif target.kind in "iu" and found.kind in "iu":
                # A comparison of signed with unsigned numbers rounds.
                wrong = (converted.astype(found) != values) | ((converted < 0) != (values < 0))
            elif target.kind == "f":
                wrong = converted.astype(found) != values
        if valid is not None:
            wrong &= valid.astype(np.bool_)
        self._reject(wrong, values, what, cells)
        return converted

    def _reject(self, wrong: Any, values: Any, what: str, cells: Any = None) -> None:
        if not wrong.any():
            return
        place = int(wrong.argmax())
        cell = place // (self.count or 1) if cells is None else int(cells[place])
        raise self.cell_error(cell, f"{values[place]} {what}")
