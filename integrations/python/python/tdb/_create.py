"""Creation of arrays."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _expr, _native, _types, _write
from ._array import Array, opening
from ._errors import UsageError
from ._jobs import Progress, _calls
from ._libraries import is_mapping, numpy, pandas, whole
from ._schema import Attribute, Dimension, Enumeration, Filter, Schema

if TYPE_CHECKING:
    import numpy.typing as npt

#: The number of cells in a tile of a new dense array.
_TILE_CELLS = 1 << 18

_DIMENSION_TYPES = frozenset(
    [
        *_types.NUMBERS,
        *(f"datetime_{unit}" for unit in _types.UNITS),
        *(f"time_{unit}" for unit in _types.UNITS),
    ]
)


def create(
    uri: str | os.PathLike[str],
    schema: Schema | str,
    *,
    key: bytes | None = None,
    at: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Array:
    """Creates an array from a schema or its text in TOML, and opens it.

    Never overwrites an array.
    """
    text = schema if isinstance(schema, str) else schema.to_toml()
    parts = opening(uri, key=key, storage_options=storage_options)
    _native.create_array(parts._asdict(), text, whole("at", at))
    return Array(parts)


def schema_from_numpy(
    data: npt.NDArray[Any] | Mapping[str, npt.NDArray[Any]],
    *,
    dimensions: Sequence[str] | None = None,
    tile: Sequence[int] | None = None,
    filters: Sequence[Filter | str] = ("zstd",),
) -> Schema:
    """Builds the schema of a dense array for an array of NumPy, or for several of one shape.

    A single array becomes the attribute ``value``. Dimensions count from 0.
    """
    arrays = _named(data)
    shapes = {name: array.shape for name, array in arrays.items()}
    if len(set(shapes.values())) != 1:
        found = ", ".join(f"{name!r} has {shape}" for name, shape in shapes.items())
        raise UsageError(f"expected arrays of one shape, found: {found or 'none'}")
    (shape,) = set(shapes.values())
    if not shape or 0 in shape:
        raise UsageError(f"an array of the shape {shape} has no cells to create an array for")
    names = (
        [f"dim_{place}" for place in range(len(shape))] if dimensions is None else list(dimensions)
    )
    if len(names) != len(shape):
        raise UsageError(f"found {len(names)} names for {len(shape)} dimensions")
    extents = _tile_of(shape) if tile is None else list(tile)
    if len(extents) != len(shape):
        raise UsageError(f"found a tile of {len(extents)} extents for {len(shape)} dimensions")
    attributes: list[Attribute] = []
    for name, array in arrays.items():
        if array.dtype.kind == "O":
            attribute = _object_attribute(name, array.reshape(-1), filters)
        else:
            datatype, count = _types.datatype_of(array.dtype, name)
            nullable = hasattr(array, "mask")
            attribute = Attribute(
                name, datatype, values_per_cell=count, nullable=nullable, filters=filters
            )
        attributes.append(attribute)
    return Schema(
        [
            Dimension(name, "uint64", (0, size - 1), min(size, extent))
            for name, size, extent in zip(names, shape, extents)
        ],
        attributes,
        sparse=False,
    )


def _named(data: Any) -> dict[str, Any]:
    np = numpy()

    if is_mapping(data):
        return {name: np.asanyarray(array) for name, array in data.items()}
    array = np.asanyarray(data)
    if array.dtype.names is not None:
        return {name: array[name] for name in array.dtype.names}
    return {"value": array}


def _tile_of(shape: tuple[int, ...]) -> list[int]:
    """Halves the longest sides until a tile has few enough cells."""
    extents = list(shape)
    cells = 1
    for extent in extents:
        cells *= extent
    while cells > _TILE_CELLS:
        place = extents.index(max(extents))
        cells //= extents[place]
        extents[place] = -(-extents[place] // 2)
        cells *= extents[place]
    return extents


def from_numpy(
    uri: str | os.PathLike[str],
    data: npt.NDArray[Any] | Mapping[str, npt.NDArray[Any]],
    *,
    dimensions: Sequence[str] | None = None,
    tile: Sequence[int] | None = None,
    filters: Sequence[Filter | str] = ("zstd",),
    key: bytes | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Array:
    """Creates a dense array from an array of NumPy, or from a dictionary of arrays of one shape."""
    schema = schema_from_numpy(data, dimensions=dimensions, tile=tile, filters=filters)
    cells = _named(data)
    return _created(uri, schema, key, storage_options, lambda array: array.write(cells))


def _created(
    uri: str | os.PathLike[str],
    schema: Schema | str,
    key: bytes | None,
    storage_options: Mapping[str, Any] | None,
    fill: Callable[[Array], object],
) -> Array:
    """Creates an array with cells. Removes it if ``fill`` fails."""
    text = schema if isinstance(schema, str) else schema.to_toml()
    parts = opening(uri, key=key, storage_options=storage_options)
    created: list[None] = []
    try:
        # No signal handler can run after the creation and before the entry in the list, because
        # `extend` runs no Python code between the two.
        created.extend(map(_native.create_array, [parts._asdict()], [text], [None]))
        array = Array(parts)
        fill(array)
        return array
    except BaseException:
        if created:
            _native.remove(parts._asdict(), False)
        raise


def _object_attribute(
    name: str,
    values: Any,
    filters: Sequence[Filter | str],
) -> Attribute:
    """Builds an attribute for objects: texts, bytes, or numbers of one type."""
    items: list[Any] = values.tolist()
    found = set(map(type, items))
    if found - {type(None)} in ({str}, {bytes}):
        # Neither of them has NaN.
        nullable = type(None) in found
        return Attribute(name, *found - {type(None)}, nullable=nullable, filters=filters)
    nullable = False
    kinds: dict[type, int] = {}
    for cell, value in enumerate(items):
        if _write.is_missing(value):
            nullable = True
        else:
            is_scalar = hasattr(value, "dtype") and value.ndim == 0
            plain: Any = value.item() if is_scalar else value
            kinds.setdefault(plain.__class__, cell)
    if len(kinds) > 1:
        (first, _), (second, cell) = list(kinds.items())[:2]
        raise UsageError(
            f"cell {cell}, field {name!r}: found {second.__name__} in a column of {first.__name__}",
            field=name,
            cell=cell,
        )
    kind = next(iter(kinds), str)
    if kind not in (str, bytes, bool, int, float):
        raise UsageError(
            f"column {name!r}: arrays do not support {kind.__name__} objects", field=name
        )
    return Attribute(name, kind, nullable=nullable, filters=filters)


def schema_from_pandas(
    frame: Any,
    *,
    dimensions: Sequence[str] | None = None,
    domains: Mapping[str, tuple[Any, Any]] | None = None,
    tiles: Mapping[str, Any] | None = None,
    filters: Sequence[Filter | str] = ("zstd",),
    allows_duplicates: bool = False,
) -> Schema:
    """Builds a schema for a data frame of pandas.

    ``dimensions`` names columns or levels of the index, by default the levels of an index with
    names. Without dimensions, the array is dense with the dimension ``row``.
    """
    np = numpy()
    pd = pandas()

    columns = _write.table(frame)
    if dimensions is None:
        dimensions = [str(name) for name in frame.index.names if name is not None]
    enumerations: list[Enumeration] = []
    attributes: list[Attribute] = []
    for name, column in columns.items():
        if name in dimensions:
            continue
        dtype: Any = column.dtype
        if getattr(dtype, "tz", None) is not None:
            raise UsageError(
                f"column {name!r}: {dtype} has a time zone; convert it to UTC, and remove the zone",
                field=name,
            )
        if isinstance(dtype, pd.CategoricalDtype):
            values = list(dtype.categories)
            enumerations.append(Enumeration(name, values, ordered=bool(dtype.ordered)))
            size = "int8" if len(values) < 128 else "int16" if len(values) < 2**15 else "int32"
            nullable = bool(column.isna().any())
            attributes.append(
                Attribute(name, size, enumeration=name, nullable=nullable, filters=filters)
            )
        elif isinstance(dtype, np.dtype) and dtype.kind != "O":
            datatype, count = _types.datatype_of(dtype, name)
            attributes.append(Attribute(name, datatype, values_per_cell=count, filters=filters))
        elif getattr(dtype, "numpy_dtype", np.dtype(object)).kind != "O":
            datatype, _ = _types.datatype_of(dtype.numpy_dtype, name)
            attributes.append(Attribute(name, datatype, nullable=True, filters=filters))
        else:
            objects = np.asarray(column.astype(object))
            attributes.append(_object_attribute(name, objects, filters))
    types = {name: _dimension_type(name, columns) for name in dimensions}
    return _table_schema(
        types, attributes, enumerations, len(frame), domains, tiles, allows_duplicates
    )


def _dimension_type(name: str, columns: Mapping[str, Any]) -> str:
    column = columns.get(name)
    if column is None:
        known = ", ".join(repr(known) for known in columns)
        raise UsageError(f"no column is named {name!r}; the columns are {known}", field=name)
    kind: Any = getattr(column.dtype, "numpy_dtype", column.dtype)
    if getattr(kind, "kind", "O") in "iufMm":
        return _types.datatype_of(kind, name)[0]
    return "string_ascii"


def _table_schema(
    types: Mapping[str, str],
    attributes: list[Attribute],
    enumerations: list[Enumeration],
    rows: int,
    domains: Mapping[str, tuple[Any, Any]] | None,
    tiles: Mapping[str, Any] | None,
    allows_duplicates: bool,
) -> Schema:
    """Builds the schema of a table: sparse with dimensions, and dense without."""
    if not types:
        if rows == 0:
            raise UsageError("a table without rows needs dimensions")
        row = Dimension("row", "uint64", (0, rows - 1), min(rows, _TILE_CELLS))
        return Schema([row], attributes, sparse=False, enumerations=enumerations)
    dimensions: list[Dimension] = []
    for name, datatype in types.items():
        domain, tile = (domains or {}).get(name), (tiles or {}).get(name)
        if datatype in _DIMENSION_TYPES:
            if domain is None:
                domain, tile = _whole_domain(datatype, tile)
        elif datatype != "string_ascii":
            raise UsageError(f"column {name!r}: {datatype} cannot be a dimension", field=name)
        dimensions.append(Dimension(name, datatype, domain, tile))
    return Schema(
        dimensions,
        attributes,
        sparse=True,
        enumerations=enumerations,
        allows_duplicates=allows_duplicates,
    )


def _whole_domain(datatype: str, tile: Any) -> tuple[tuple[Any, Any], Any]:
    """Returns the largest domain whose last tile ends within the datatype."""
    if datatype.startswith("float"):
        most = 3.4028234663852886e38 if datatype == "float32" else 1.7976931348623157e308
        return ((-most, most), tile)
    unsigned = datatype.startswith("uint")
    bits = 64 if datatype not in _types.NUMBERS else int(datatype.lstrip("uint"))
    extent = int(tile) if tile is not None else min(10_000, 2 ** (bits - 4))
    # The lowest date is no time.
    low = 0 if unsigned else -(2 ** (bits - 1)) + (datatype not in _types.NUMBERS)
    high = 2**bits - 1 if unsigned else 2 ** (bits - 1) - 1
    return ((low, high - extent), extent)


def from_pandas(
    uri: str | os.PathLike[str],
    frame: Any,
    *,
    dimensions: Sequence[str] | None = None,
    domains: Mapping[str, tuple[Any, Any]] | None = None,
    tiles: Mapping[str, Any] | None = None,
    filters: Sequence[Filter | str] = ("zstd",),
    allows_duplicates: bool = False,
    key: bytes | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Array:
    """Creates an array from a data frame of pandas: see :func:`schema_from_pandas`."""
    schema = schema_from_pandas(
        frame,
        dimensions=dimensions,
        domains=domains,
        tiles=tiles,
        filters=filters,
        allows_duplicates=allows_duplicates,
    )
    return _created(uri, schema, key, storage_options, lambda array: array.write(frame))


def schema_from_arrow(
    table: Any,
    *,
    dimensions: Sequence[str] = (),
    rows: int | None = None,
    domains: Mapping[str, tuple[Any, Any]] | None = None,
    tiles: Mapping[str, Any] | None = None,
    filters: Sequence[Filter | str] = ("zstd",),
    allows_duplicates: bool = False,
) -> Schema:
    """Builds a schema for a table of Arrow.

    Without dimensions, the array is dense with the dimension ``row``, of ``rows`` rows.
    """
    parts = Schema.from_toml(_native.attributes_of_arrow(table))
    types: dict[str, str] = {}
    known = {attribute.name: attribute for attribute in parts.attributes}
    for name in dimensions:
        attribute = known.pop(name, None)
        if attribute is None:
            raise UsageError(
                f"no column is named {name!r}; the columns are {', '.join(map(repr, known))}",
                field=name,
            )
        is_text = attribute.dtype in _types.TEXTS or attribute.enumeration is not None
        types[name] = "string_ascii" if is_text else attribute.dtype
    for attribute in known.values():
        attribute.filters = Attribute("", "int8", filters=filters).filters
    used = {attribute.enumeration for attribute in known.values()}
    enumerations = [enumeration for enumeration in parts.enumerations if enumeration.name in used]
    count = getattr(table, "num_rows", 0) if rows is None else rows
    return _table_schema(
        types, list(known.values()), enumerations, count, domains, tiles, allows_duplicates
    )


def from_arrow(
    uri: str | os.PathLike[str],
    table: Any,
    *,
    dimensions: Sequence[str] = (),
    domains: Mapping[str, tuple[Any, Any]] | None = None,
    tiles: Mapping[str, Any] | None = None,
    filters: Sequence[Filter | str] = ("zstd",),
    allows_duplicates: bool = False,
    key: bytes | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Array:
    """Creates an array from a table of Arrow: see :func:`schema_from_arrow`.

    The table must be readable twice, unlike a stream.
    """
    schema = schema_from_arrow(
        table,
        dimensions=dimensions,
        rows=len(table) if hasattr(table, "__len__") else None,
        domains=domains,
        tiles=tiles,
        filters=filters,
        allows_duplicates=allows_duplicates,
    )
    return _created(uri, schema, key, storage_options, lambda array: array.write(table))


def from_parquet(
    uri: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    dimensions: Sequence[str],
    domains: Mapping[str, tuple[Any, Any]] | None = None,
    tiles: Mapping[str, Any] | None = None,
    filters: Sequence[Filter | str] = ("zstd",),
    allows_duplicates: bool = False,
    key: bytes | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Array:
    """Creates a sparse array from a Parquet file, in bounded memory.

    Writes one fragment, or several if the rows take more than 256 MiB. Rows with equal coordinates
    are an error unless ``allows_duplicates``.
    """
    schema = schema_from_arrow(
        _native.open_parquet(os.fspath(path)),
        dimensions=dimensions,
        domains=domains,
        tiles=tiles,
        filters=filters,
        allows_duplicates=allows_duplicates,
    )

    def fill(array: Array) -> None:
        with array.writer() as writer:
            writer.write(_native.open_parquet(os.fspath(path)))
        written = writer.written
        # A fragment has no duplicates, but two fragments may have a cell in common.
        if written is not None and len(written.fragments) > 1 and not allows_duplicates:
            cells = array.aggregate(_expr.count())["count"]
            if cells != written.cells:
                raise UsageError(
                    f"{os.fspath(path)}: {written.cells - cells} rows repeat the coordinates of other"
                    " rows; allow duplicates",
                    path=os.fspath(path),
                )

    return _created(uri, schema, key, storage_options, fill)


def from_csv(
    uri: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    dimensions: Sequence[str] = (),
    schema: Schema | None = None,
    delimiter: str | None = None,
    nulls: Sequence[str] = ("",),
    allows_duplicates: bool = False,
    keep_last: bool = False,
    progress: Progress | None = None,
    key: bytes | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Array:
    """Creates an array from a CSV file, or from JSON lines (``.json``, ``.jsonl``, ``.ndjson``).

    Without a ``schema``, the types of the columns are inferred, and the array is sparse. All rows
    are checked before the first is written. ``nulls`` are the texts of missing values.
    ``progress`` receives the bytes of the file that the current pass has read, and the size of the
    file. The passes infer the types, check the rows, and read large files again to write them.
    """
    calls = _calls(progress)
    rows: dict[str, Any] = {
        "path": os.fspath(path),
        "is_json": os.fspath(path).lower().endswith((".json", ".jsonl", ".ndjson")),
        "delimiter": delimiter,
        "nulls": list(nulls),
        "ignore_others": False,
    }
    if schema is None:
        text = _native.schema_of_rows(rows, list(dimensions), allows_duplicates, calls)
    else:
        text = schema.to_toml()

    def fill(array: Array) -> None:
        _native.import_rows(array._handle, rows, keep_last, None, calls)

    return _created(uri, text, key, storage_options, fill).refresh()
