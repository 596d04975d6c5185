"""Data frames of pandas."""

from __future__ import annotations

import dataclasses
import datetime
import glob
import json
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from . import _cells
from ._engine import TileDBError
from ._reading import Cells
from .array import Array, SparseArray
from .array_schema import ArraySchema
from .attribute import Attr
from .ctx import Ctx, context
from .datatypes import DataType
from .dimension import Dim
from .domain import Domain
from .enumeration import Enumeration
from .filter import FilterList, ZstdFilter, filter_list
from .highlevel import open as open_array
from .object import object_type

_INDEX, _REPR = "__pandas_index_dims", "__pandas_attribute_repr"
_ROWS = "__tiledb_rows"
#: The types of texts in Arrow.
_TEXTS = {
    "STRING_UTF8": "large_string",
    "STRING_ASCII": "large_string",
    "CHAR": "large_binary",
    "BLOB": "large_binary",
}
_INT_TYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


@dataclasses.dataclass(frozen=True)
class ColumnInfo:
    """How a column of pandas is stored."""

    dtype: Any
    repr: str | None = None
    nullable: bool = False
    var: bool = False
    enumeration: Any = False

    @classmethod
    def from_values(cls, array_like: Any, varlen_types: Any = ()) -> ColumnInfo:
        """Describes the values of a column."""
        import pandas as pd

        dtype = array_like.dtype
        name = getattr(array_like, "name", None)
        if isinstance(dtype, pd.CategoricalDtype):
            return cls.from_categorical(array_like)
        if dtype == np.dtype("O"):
            kind = pd.api.types.infer_dtype(array_like)
            if kind in ("string", "empty"):
                return cls(np.dtype("U"), nullable=bool(pd.isna(array_like).any()))
            if kind == "bytes":
                return cls(np.dtype("S"), nullable=bool(pd.isna(array_like).any()))
            raise NotImplementedError(f"{kind} inferred dtype not supported (column {name})")
        return cls.from_dtype(dtype, name, varlen_types)

    @classmethod
    def from_categorical(cls, column: Any) -> ColumnInfo:
        """Describes a categorical column."""
        accessor = column.cat if hasattr(column, "cat") else column
        codes = accessor.codes
        return cls(
            np.dtype("int32"), nullable=bool((np.asarray(codes) < 0).any()), enumeration=True
        )

    @classmethod
    def from_dtype(cls, dtype: Any, column_name: Any, varlen_types: Any = ()) -> ColumnInfo:
        """Describes a type."""
        from pandas.api import types

        if isinstance(dtype, str) and dtype in ("ascii", "blob", "wkb", "wkt"):
            return cls(dtype)
        original = dtype
        dtype = types.pandas_dtype(dtype)
        if varlen_types and any(dtype == item for item in varlen_types):
            return cls(getattr(dtype, "subtype", dtype), var=True)
        what = f"dtype {original!r} not supported (column {column_name})"
        if types.is_bool_dtype(dtype):
            return cls(np.dtype("bool"), str(dtype), types.is_extension_array_dtype(dtype))
        if types.is_extension_array_dtype(dtype):
            if str(dtype) in ("string", "str") or str(dtype).startswith("string"):
                return cls(np.dtype("U"), "string", True)
            numpy_dtype = getattr(dtype, "numpy_dtype", None)
            if numpy_dtype is not None and np.dtype(numpy_dtype).kind in "iuf":
                return cls(np.dtype(numpy_dtype), str(dtype), True)
            raise NotImplementedError(what)
        if types.is_integer_dtype(dtype):
            return cls(dtype)
        if dtype.kind == "f" and dtype.itemsize in (4, 8):
            return cls(dtype)
        if dtype.kind == "M" and dtype == np.dtype("M8[ns]"):
            return cls(dtype)
        if dtype.kind in "SU" or str(original) in ("str", "bytes"):
            return cls(np.dtype("U" if dtype.kind == "U" else "S"))
        raise NotImplementedError(what)


# Reads.


def index_names(array: Array, index_col: Any) -> list[str]:
    """Returns the columns of the index of data frames."""
    if index_col is True:
        return list(_stored(array, _INDEX))
    if index_col is None or index_col is False:
        return []
    return [index_col] if isinstance(index_col, str) else list(index_col)


def _stored(array: Array, key: str) -> dict[str, Any]:
    try:
        text = array.meta.get(key)
    except TileDBError:
        return {}
    return {} if text is None else json.loads(text)


def _dates(values: Any) -> Any:
    """Converts days to dates of Python, as Arrow does."""
    days = values.astype(np.int64)
    if len(days) and (
        days.max() > np.iinfo(np.int32).max
        or days[~np.isnat(values)].min(initial=0) < np.iinfo(np.int32).min
    ):
        raise TileDBError(
            "a date exceeds the 32 bits of dates in Arrow; use query(use_arrow=False)"
        )
    found: list[Any] = []
    for value in values:
        if np.isnat(value):
            found.append(None)
            continue
        text = str(value)
        year, month, day = text.rsplit("-", 2)
        found.append(datetime.date(int(year), int(month), int(day)))
    return _cells.objects(found)


def _column(array: Array, name: str, values: Any, valid: Any, arrow: bool) -> Any:
    import pandas as pd

    schema = array.schema
    attr = schema.attr(name) if schema.has_attr(name) else None
    if arrow and values.dtype == np.dtype("M8[D]"):
        values = _dates(values)
    if attr is not None and attr.enum_label is not None:
        enumeration = schema.enum(attr.enum_label)
        known = enumeration.values()
        inside = (values >= 0) & (values < len(known))
        if valid is not None:
            inside &= valid
        codes = np.where(inside, values, -1)
        categories: Any = known.astype(object) if known.dtype.kind in "SU" else known
        return pd.Categorical.from_codes(
            codes.astype(np.int64), dtype=pd.CategoricalDtype(categories, enumeration.ordered)
        )
    if values.dtype.kind == "S":
        values = _cells.objects(values.tolist())
    if values.dtype.kind in "Mm":
        unit = np.datetime_data(values.dtype)[0]
        if unit not in ("s", "ms", "us", "ns"):
            values = values.astype(f"{values.dtype.kind}8[{'s' if unit in 'YMWDhm' else 'ns'}]")
    if valid is None or valid.all():
        if attr is not None and attr.isnullable and values.dtype.kind in "iu":
            return pd.arrays.IntegerArray(values, np.zeros(len(values), dtype=bool))
        if attr is not None and attr.isnullable and values.dtype.kind == "b":
            return pd.arrays.BooleanArray(values, np.zeros(len(values), dtype=bool))
        return values
    if values.dtype.kind in "iu":
        return pd.arrays.IntegerArray(values, ~valid)
    if values.dtype.kind == "b":
        return pd.arrays.BooleanArray(values, ~valid)
    values = values.copy()
    values[~valid] = (
        np.nan if values.dtype.kind == "f" else None if values.dtype.kind == "O" else "NaT"
    )
    return values


def _is_several(array: Array, name: str) -> bool:
    """Whether cells of an attribute have several values."""
    if not array.schema.has_attr(name):
        return False
    attr = array.schema.attr(name)
    if attr.dtype.kind in "SU":
        return False
    return attr.isvar or attr.ncells > 1


def uses_arrow(array: Array, names: Iterable[str], query: Any) -> bool:
    """Whether data frames hold the objects of Arrow: by default, unless cells have several values."""
    return query.use_arrow is not False and not any(_is_several(array, name) for name in names)


def frame_of(array: Array, cells: Cells, query: Any) -> Any:
    """Returns cells as a data frame, or as a table of Arrow."""
    import pandas as pd

    columns: dict[str, Any] = {}
    order = "F" if query.order == "F" else "C"
    for name, (values, valid) in cells.columns.items():
        marks = None if valid is None else valid.reshape(-1, order=order)
        columns[name] = (values.reshape(-1, order=order), marks)
    if query.return_arrow:
        return _table(array, columns)
    arrow = uses_arrow(array, columns, query)
    made = {
        name: _column(array, name, values, valid, arrow)
        for name, (values, valid) in columns.items()
    }
    if not made:
        return pd.DataFrame()
    frame = pd.DataFrame(made, copy=False)
    for name, shown in _stored(array, _REPR).items():
        if name in frame.columns and not isinstance(frame[name].dtype, pd.CategoricalDtype):
            frame[name] = frame[name].astype(shown)
    stored = _stored(array, _INDEX) if query.index_col is True else {}
    names = [name for name in index_names(array, query.index_col) if name in frame.columns]
    if names:
        for name in names:
            shown = stored.get(name)
            if shown is not None and frame[name].dtype != shown:
                frame[name] = _converted(frame[name], shown)
        frame = frame.set_index(names)
        frame.index.names = [None if name == _ROWS else name for name in names]
    return frame


def _converted(series: Any, dtype: str) -> Any:
    if dtype in ("<U0", "str") or dtype.startswith("<U"):
        return series.map(lambda item: item.decode() if isinstance(item, bytes) else item)
    if dtype.startswith("|S") or dtype == "bytes":
        return series.map(lambda item: item.encode() if isinstance(item, str) else item)
    return series.astype(dtype)


def _table(array: Array, columns: Mapping[str, Any]) -> Any:
    import pyarrow as pa

    schema = array.schema
    arrays: dict[str, Any] = {}
    integers: list[dict[str, str]] = []
    for name, (values, valid) in columns.items():
        attr = schema.attr(name) if schema.has_attr(name) else None
        field = schema.domain.dim(name) if attr is None else attr
        mask = None if valid is None else ~valid
        if attr is not None and attr.enum_label is not None:
            known = schema.enum(attr.enum_label).values()
            indices = pa.array(values, mask=mask)
            arrays[name] = pa.DictionaryArray.from_arrays(indices, pa.array(known.tolist()))
        elif values.dtype.kind in "SUO":
            kind = _TEXTS.get(field._tiledb_dtype.name)
            kind = None if kind is None else pa.type_for_alias(kind)
            arrays[name] = pa.array(values.tolist(), type=kind, mask=mask)
        else:
            if values.dtype.kind == "M" and np.datetime_data(values.dtype)[0] in "YMWhm":
                values = values.astype("M8[s]")
            arrays[name] = pa.array(values, mask=mask)
            if attr is not None and attr.isnullable and values.dtype.kind in "iu":
                shown = str(values.dtype).replace("int", "Int").replace("u", "U")
                integers.append(
                    {"field_name": name, "name": name, "pandas_type": shown, "numpy_type": shown}
                )
    table = pa.table(arrays)
    # Without this, pandas converts integers with nulls to floats.
    index = {"kind": "range", "name": None, "start": 0, "stop": len(table), "step": 1}
    shown = json.dumps({"columns": integers, "index_columns": [index]})
    return table.replace_schema_metadata({"pandas": shown})


def open_dataframe(
    uri: Any,
    *,
    attrs: Any = None,
    use_arrow: bool | None = None,
    idx: Any = slice(None),
    ctx: Ctx | None = None,
) -> Any:
    """Reads an array that :func:`from_pandas` wrote as a data frame."""
    with open_array(uri, ctx=ctx) as array:
        if attrs is not None:
            # The order of columns follows the argument.
            query = array.query(attrs=attrs, coords=True, use_arrow=use_arrow)
            return query.df[idx][list(attrs)]
        return array.query(coords=True, use_arrow=use_arrow).df[idx]


# Writes.

_OPTIONS = {
    "allows_duplicates": None,
    "attr_filters": True,
    "capacity": 0,
    "cell_order": "row-major",
    "column_types": None,
    "coords_filters": True,
    "date_spec": None,
    "debug": None,
    "dim_filters": True,
    "fillna": None,
    "fit_to_df": False,
    "full_domain": False,
    "index_dims": None,
    "mode": "ingest",
    "nrows": None,
    "offsets_filters": True,
    "row_start_idx": None,
    "schema": None,
    "sparse": None,
    "tile": None,
    "tile_order": "row-major",
    "timestamp": None,
    "varlen_types": None,
    "index_col": None,
    "max_rows": None,
    #: The type of the default index.
    "row_dtype": None,
    #: The tile extent of dimensions without one in ``tile``.
    "default_tile": 10000,
}


def _parsed(kwargs: dict[str, Any]) -> dict[str, Any]:
    unknown = sorted(set(kwargs) - set(_OPTIONS))
    if unknown:
        raise TypeError(f"unknown argument {unknown[0]!r}")
    found = {**_OPTIONS, **kwargs}
    tile = found["tile"]
    if tile is not None and not isinstance(tile, (int, np.integer, np.timedelta64, Mapping)):
        raise ValueError(
            f"Argument `tile` must be an int or a dictionary of extents, found {tile!r}"
        )
    if found["mode"] not in ("ingest", "schema_only", "append"):
        raise TileDBError(f"Invalid mode specified ('{found['mode']}')")
    return found


def _filters(spec: Any, name: str, default: FilterList) -> FilterList:
    if spec is True:
        return default
    if isinstance(spec, Mapping):
        chosen: Mapping[str, Any] = spec
        return filter_list(chosen[name]) if name in chosen else default
    return filter_list(None if spec is False else spec)


def _dim_of(name: str, values: Any, options: dict[str, Any], forced: Any) -> Dim:
    import pandas as pd

    array: Any = values
    full, tile = options["full_domain"], options["tile"]
    if isinstance(tile, Mapping):
        extents: Mapping[str, Any] = tile
        tile = extents.get(name)
    filters = _filters(options["dim_filters"], name, FilterList([ZstdFilter()]))
    if forced is None:
        info = ColumnInfo.from_values(pd.Series(array) if not hasattr(array, "dtype") else array)
        dtype = info.dtype
    else:
        dtype = ColumnInfo.from_dtype(forced, name).dtype
    if isinstance(dtype, str) or np.dtype(dtype).kind in "SU":
        return Dim(name, (None, None), None, dtype=np.bytes_, filters=filters)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        raise NotImplementedError("boolean dimensions are not supported")
    extent: Any = options["default_tile"] if tile is None else tile
    if full:
        low, high = DataType.from_numpy(dtype).domain
        if dtype.kind == "M":
            number = (
                int(extent)
                if not isinstance(extent, np.timedelta64)
                else int(extent.astype(np.int64))
            )
            top = np.datetime64(int(np.iinfo(np.int64).max) - number, "ns")
            return Dim(
                name,
                (np.datetime64(int(np.iinfo(np.int64).min) + 1, "ns"), top),
                extent,
                dtype=dtype,
                filters=filters,
            )
        if dtype.kind in "iu":
            extent = min(int(extent), int(high) // 2)
            return Dim(name, (low, int(high) - int(extent)), extent, dtype=dtype, filters=filters)
        return Dim(name, (low, high), extent, dtype=dtype, filters=filters)
    if not len(array):
        raise ValueError(
            "an empty data frame has no range of coordinates; pass full_domain=True or a schema"
        )
    series = pd.Series(np.asarray(array)).astype(dtype)
    low, high = series.min(), series.max()
    if dtype.kind == "M":
        # Timestamps of pandas convert to datetime64 in microseconds.
        low, high = (np.datetime64(getattr(end, "value", 0), "ns") for end in (low, high))
        span = int(high.astype(np.int64)) - int(low.astype(np.int64)) + 1
    elif dtype.kind in "iu":
        ends: list[Any] = [low, high]
        low, high = (int(end) for end in ends)
        span = high - low + 1
    else:
        width = float(high - low)
        return Dim(
            name, (low, high), min(float(extent), width) or None, dtype=dtype, filters=filters
        )
    if dtype.kind in "iu" and (low, high) == (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)):
        high -= 1
    if isinstance(extent, np.timedelta64):
        extent = int(extent.astype("m8[ns]").astype(np.int64))
    return Dim(name, (low, high), max(1, min(int(extent), span)), dtype=dtype, filters=filters)


def _columns_of(frame: Any, options: dict[str, Any]) -> dict[str, ColumnInfo]:
    types = options["column_types"] or {}
    varlen = options["varlen_types"] or ()
    found: dict[str, ColumnInfo] = {}
    for name, column in frame.items():
        if name in types:
            found[str(name)] = ColumnInfo.from_dtype(types[name], name, varlen)
        else:
            found[str(name)] = ColumnInfo.from_values(column, varlen)
    return found


def _prepared(frame: Any, options: dict[str, Any]) -> Any:
    import pandas as pd

    frame = frame.copy(deep=False)
    frame.columns = [str(name) for name in frame.columns]
    if len(set(frame.columns)) < len(frame.columns):
        raise TileDBError("two columns of the data frame have the same name; rename one of them")
    fillna = options["fillna"]
    if fillna is not None:
        if isinstance(fillna, Mapping):
            values: Mapping[str, Any] = fillna
            for name, value in values.items():
                frame[name] = frame[name].fillna(value)
        else:
            frame = frame.fillna(fillna)
    for name, kind in (options["column_types"] or {}).items():
        is_date = not isinstance(kind, pd.api.extensions.ExtensionDtype) and str(kind).lstrip(
            "<"
        ).startswith(("datetime64", "M8"))
        if is_date and name in frame.columns and frame[name].dtype == object:
            frame[name] = pd.to_datetime(frame[name])
    for name, spec in (options["date_spec"] or {}).items():
        frame[name] = pd.to_datetime(frame[name], format=spec)
    return frame


def _index_levels(frame: Any, options: dict[str, Any]) -> tuple[Any, list[str]]:
    """Moves dimensions into the columns. Returns the frame and their names."""
    import pandas as pd

    names = options["index_dims"]
    if names is not None and len(names):
        levels: list[str] = [_ROWS if name is None else str(name) for name in names]
        if _ROWS in levels and _ROWS not in frame.columns and _ROWS not in frame.index.names:
            index = np.asarray(frame.index)
            frame = frame.reset_index(drop=True)
            frame.insert(0, _ROWS, index)
        present = [name for name in frame.index.names if name is not None and name in levels]
        if present:
            frame = (
                frame.reset_index(level=present)
                if len(present) < frame.index.nlevels
                else frame.reset_index()
            )
        else:
            frame = frame.reset_index(drop=True)
        return frame, levels
    if isinstance(frame.index, pd.MultiIndex):
        levels = [str(name) for name in frame.index.names]
        return frame.reset_index(), levels
    name = _ROWS if frame.index.name is None else frame.index.name
    frame = frame.copy(deep=False)
    index = frame.index
    frame = frame.reset_index(drop=True)
    if name in frame.columns:
        raise ValueError(f"the column {name!r} has the name of the index")
    frame.insert(0, name, np.asarray(index) if index.dtype != object else list(index))
    return frame, [str(name)]


def from_pandas(uri: Any, dataframe: Any, ctx: Ctx | None = None, **kwargs: Any) -> None:
    """Creates an array from a data frame, or appends to it.

    ``mode`` is ``ingest``, ``schema_only`` or ``append``.
    """
    options = _parsed(kwargs)
    ctx = _context(ctx)
    mode = options["mode"]
    sparse = options["sparse"]
    if mode == "append" and options["schema"] is None and object_type(uri) is None:
        raise TileDBError(f"{uri}: no array to append to")
    _ingest(
        str(uri),
        dataframe,
        ctx,
        options,
        sparse,
        create=mode != "append",
        write=mode != "schema_only",
        row_offset=0,
    )


def _context(ctx: Any) -> Ctx:
    if ctx is not None and not isinstance(ctx, Ctx):
        raise ValueError(f"expected a TileDB Context object, found {type(ctx)}")
    return context(ctx)


def _is_dense(frame: Any, dims: list[str], types: Mapping[str, Any]) -> bool:
    """Whether an array is dense by default: if all dimensions are integers."""
    return all(np.dtype(types.get(name, frame[name].dtype)).kind in "iu" for name in dims)


def _ingest(
    uri: str,
    dataframe: Any,
    ctx: Ctx,
    options: dict[str, Any],
    sparse: Any,
    create: bool,
    write: bool,
    row_offset: int,
) -> None:
    import pandas as pd

    frame = _prepared(dataframe, options)
    default_index = (
        isinstance(frame.index, pd.RangeIndex)
        and frame.index.name is None
        and not options["index_dims"]
    )
    start = options["row_start_idx"]
    if default_index and (start is not None or row_offset):
        base = (start or 0) + row_offset
        frame.index = pd.RangeIndex(base, base + len(frame))
    frame, dims = _index_levels(frame, options)
    types = options["column_types"] or {}
    if sparse is None:
        sparse = (
            not _is_dense(frame, dims, types)
            if options["schema"] is None
            else options["schema"].sparse
        )
    attrs = frame.drop(columns=[name for name in dims if name in frame.columns])
    if options["fit_to_df"] or (not create and object_type(uri) is not None):
        with open_array(uri, ctx=ctx) as target:
            sparse = target.schema.sparse
            known = [dim.name for dim in target.schema.domain]
            if known != dims:
                missing = [name for name in known if name not in frame.columns]
                if missing == known and len(known) == 1 and len(dims) == 1:
                    frame = frame.rename(columns={dims[0]: known[0]})
                elif missing:
                    raise ValueError(f"the data frame lacks the dimensions {missing}")
                dims = known
            attrs = frame.drop(columns=[name for name in dims if name in frame.columns])
            if not sparse and default_index and start is None and not options["fit_to_df"]:
                found = target.nonempty_domain()
                if found is not None and row_offset == 0:
                    first = int(found[0][1]) + 1
                    frame[dims[0]] = np.arange(first, first + len(frame))
            if sparse and default_index and start is None and row_offset == 0 and dims == [_ROWS]:
                found = target.nonempty_domain()
                if found is not None:
                    first = int(found[0][1]) + 1
                    frame[dims[0]] = np.arange(first, first + len(frame))
    infos = _columns_of(attrs, options)
    if create:
        schema = options["schema"]
        if schema is None:
            schema = _schema(frame, dims, attrs, infos, options, bool(sparse), types, ctx)
        Array.create(uri, schema, ctx=ctx)
        _write_meta(uri, frame, dims, infos, options, ctx)
    if write and len(frame):
        _write(uri, frame, dims, attrs, infos, options, ctx)


def _schema(
    frame: Any,
    dims: list[str],
    attrs: Any,
    infos: dict[str, ColumnInfo],
    options: dict[str, Any],
    sparse: bool,
    types: Mapping[str, Any],
    ctx: Ctx,
) -> ArraySchema:
    domain: list[Dim] = []
    options = {**options, "default_tile": {1: 10000, 2: 1000, 3: 100}.get(len(dims), 10)}
    for name in dims:
        values = frame[name]
        nrows = None if options["full_domain"] else options["nrows"]
        if name == _ROWS and nrows is not None and len(values):
            values = np.arange(int(nrows))
        forced = types.get(
            name, options["row_dtype"] if name == _ROWS and values.dtype.kind in "iu" else None
        )
        domain.append(_dim_of(name, values, options, forced))
    made: list[Attr] = []
    enums: list[Enumeration] = []
    for name, info in infos.items():
        filters = _filters(options["attr_filters"], name, FilterList([ZstdFilter()]))
        if info.enumeration:
            column = attrs[name]
            categories = column.cat.categories
            values: Any = (
                np.array(list(categories)) if categories.dtype == object else np.asarray(categories)
            )
            if not len(categories):
                enums.append(
                    Enumeration(
                        name,
                        bool(column.cat.ordered),
                        dtype="U" if categories.dtype == object else categories.dtype,
                    )
                )
            else:
                enums.append(Enumeration(name, bool(column.cat.ordered), values))
            made.append(
                Attr(
                    name, dtype=info.dtype, nullable=info.nullable, filters=filters, enum_label=name
                )
            )
            continue
        made.append(
            Attr(
                name,
                dtype=info.dtype,
                var=info.var or None,
                nullable=info.nullable,
                filters=filters,
            )
        )
    if not made and not sparse:
        raise TileDBError("a dense array needs a column")
    duplicates = options["allows_duplicates"]
    offsets = options["offsets_filters"]
    return ArraySchema(
        Domain(*domain),
        attrs=made,
        cell_order=options["cell_order"],
        tile_order=options["tile_order"],
        capacity=options["capacity"] or 0,
        coords_filters=None
        if options["coords_filters"] is True
        else filter_list(options["coords_filters"]),
        offsets_filters=None if offsets is True else filter_list(offsets),
        sparse=sparse,
        allows_duplicates=bool(sparse and (duplicates is None or duplicates)),
        enums=enums,
        ctx=ctx,
    )


def _write_meta(
    uri: str,
    frame: Any,
    dims: list[str],
    infos: dict[str, ColumnInfo],
    options: dict[str, Any],
    ctx: Ctx,
) -> None:
    shown: dict[str, str] = {}
    for name in dims:
        dtype = frame[name].dtype
        forced = (options["column_types"] or {}).get(name)
        if forced is not None:
            shown[name] = (
                np.dtype(forced).str
                if not isinstance(forced, str) or forced not in ("ascii", "blob")
                else "|S0"
            )
        elif dtype.kind == "O":
            first: Any = next(iter(frame[name]), "")
            shown[name] = "|S0" if isinstance(first, bytes) else "<U0"
        else:
            shown[name] = np.dtype(dtype).str if isinstance(dtype, np.dtype) else str(dtype)
    reprs = {name: info.repr for name, info in infos.items() if info.repr is not None}
    with Array(uri, "w", ctx=ctx, timestamp=options["timestamp"]) as target:
        target.meta[_INDEX] = json.dumps(shown)
        if reprs:
            target.meta[_REPR] = json.dumps(reprs)


def _write(
    uri: str,
    frame: Any,
    dims: list[str],
    attrs: Any,
    infos: dict[str, ColumnInfo],
    options: dict[str, Any],
    ctx: Ctx,
) -> None:
    with open_array(uri, "w", timestamp=options["timestamp"], ctx=ctx) as target:
        data: dict[str, Any] = {}
        for attr in target.schema:
            if attr.name not in attrs.columns:
                raise ValueError(f"the data frame lacks the column {attr.name!r}")
            data[attr.name] = _attr_values(target, attr, attrs[attr.name], infos[attr.name])
        if isinstance(target, SparseArray):
            coordinates = tuple(_dim_values(dim, frame[dim.name]) for dim in target.schema.domain)
            target[coordinates] = data
            return
        ranges: list[tuple[Any, Any]] = []
        if options["fit_to_df"] or len(dims) > 1:
            for dim in target.schema.domain:
                values = frame[dim.name]
                ranges.append((dim.dtype.type(values.min()), dim.dtype.type(values.max())))
        else:
            dim = target.schema.domain.dim(0)
            values = _dim_values(dim, frame[dims[0]])
            ranges.append((values[0], values[-1]))
        target._write_box(ranges, data)


def _dim_values(dim: Dim, series: Any) -> Any:
    if dim.isvar:
        return [item.encode() if isinstance(item, str) else item for item in series]
    if dim.dtype.kind == "M":
        import pandas as pd

        return np.asarray(pd.to_datetime(series) if series.dtype.kind == "O" else series).astype(
            dim.dtype
        )
    return np.asarray(series).astype(dim.dtype)


def _attr_values(target: Array, attr: Attr, series: Any, info: ColumnInfo) -> Any:
    import pandas as pd

    if attr.enum_label is not None and isinstance(series.dtype, pd.CategoricalDtype):
        known = target.schema.enum(attr.enum_label).values().tolist()
        places = {item: place for place, item in enumerate(known)}
        categories = [
            places.get(
                item.encode()
                if known and isinstance(known[0], bytes) and isinstance(item, str)
                else item,
                -1,
            )
            for item in series.cat.categories
        ]
        lookup = np.array([*categories, -1], dtype=np.int64)
        codes = lookup[np.asarray(series.cat.codes)]
        if (codes < 0).any():
            if not attr.isnullable:
                raise TileDBError(
                    f"column {attr.name!r}: a category is not in enumeration {attr.enum_label!r}"
                )
            return np.ma.MaskedArray(np.where(codes < 0, 0, codes), mask=codes < 0)
        return codes
    if attr.isvar and attr.dtype.kind not in "SU":
        return _cells.objects(list(series))
    if attr.dtype.kind in "SU" and attr.isvar:
        missing = np.asarray(pd.isna(series))
        items = [None if lack else item for item, lack in zip(series, missing)]
        texts = [
            item if item is None or isinstance(item, (str, bytes)) else str(item) for item in items
        ]
        if not attr.isnullable:
            texts = ["" if item is None else item for item in texts]
        return _cells.objects(texts)
    if attr.dtype.kind == "M" and series.dtype.kind == "O":
        return np.asarray(pd.to_datetime(series)).astype(attr.dtype)
    if attr.dtype.kind == "M" and series.dtype.kind in "iu":
        return np.asarray(series).astype(np.int64).view(attr.dtype)
    return series


def from_csv(
    uri: Any,
    csv_file: Any,
    ctx: Ctx | None = None,
    **kwargs: Any,
) -> None:
    """Creates an array from CSV files, read by pandas.

    Arguments of :func:`from_pandas` describe the array; other arguments are those of
    ``pandas.read_csv``.
    """
    own = {
        name: kwargs.pop(name)
        for name in list(kwargs)
        if name in _OPTIONS and name not in ("index_col", "nrows")
    }
    ctx = _context(ctx)
    options = _parsed({**own, "row_dtype": "uint64"})
    chunksize = kwargs.pop("chunksize", None)
    if isinstance(csv_file, (list, tuple)):
        files: list[Any] = list(csv_file)  # pyright: ignore[reportUnknownArgumentType]
        if not files:
            raise ValueError("Cannot ingest empty list of files")
        if chunksize is None:
            raise ValueError(
                "Multiple CSV requires explicit 'chunksize' argument to use from_csv with multiple files"
            )
    elif isinstance(csv_file, str) and "*" in csv_file:
        files = sorted(glob.glob(csv_file))
    else:
        files = [csv_file]
    indexed = bool(kwargs.get("index_col") or options["index_dims"])
    if not indexed and (chunksize is not None or options["sparse"] is False):
        options["full_domain"] = True
    if chunksize is not None:
        options["full_domain"] = True
    created, offset = options["mode"] == "append", 0
    for frame in _frames(files, chunksize, kwargs):
        write = options["mode"] != "schema_only"
        _ingest(
            str(uri),
            frame,
            ctx,
            options,
            options["sparse"],
            create=not created,
            write=write,
            row_offset=offset,
        )
        created = True
        offset += len(frame) if chunksize is not None else 0
        if not write:
            break


def _frames(files: Sequence[Any], chunksize: int | None, kwargs: dict[str, Any]) -> Iterator[Any]:
    """Reads files, into data frames of equal size if ``chunksize`` is given."""
    import pandas as pd

    kept: list[Any] = []
    rows = 0
    for file in files:
        path = file.removeprefix("file://") if isinstance(file, str) else file
        reader: Any = pd.read_csv(path, chunksize=chunksize, **kwargs)
        for chunk in [reader] if chunksize is None else reader:
            kept.append(chunk)
            rows += len(chunk)
            while chunksize is not None and rows >= chunksize:
                joined = _joined(kept)
                yield joined.iloc[:chunksize]
                kept, rows = [joined.iloc[chunksize:]], rows - chunksize
    if rows or chunksize is None:
        yield _joined(kept)


def _joined(frames: list[Any]) -> Any:
    import pandas as pd

    default = all(
        isinstance(frame.index, pd.RangeIndex) and frame.index.name is None for frame in frames
    )
    return (
        pd.concat(frames, ignore_index=default)
        if len(frames) > 1
        else frames[0].reset_index(drop=True)
        if default
        else frames[0]
    )


def from_parquet(uri: Any, parquet_path: Any) -> None:
    """Creates an array from a Parquet file."""
    import pandas as pd

    from_pandas(uri, pd.read_parquet(parquet_path))


def from_dataframe(*args: Any, **kwargs: Any) -> None:
    """The former name of :func:`from_pandas`."""
    warnings.warn(
        "from_dataframe is deprecated; please use from_pandas", DeprecationWarning, stacklevel=2
    )
    from_pandas(*args, **kwargs)


def column_names(columns: Sequence[Any]) -> list[str]:
    """Returns names as text."""
    return [str(name) for name in columns]
