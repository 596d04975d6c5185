"""Random schemas and cells, with TileDB-Py as the judge, in both directions."""

from __future__ import annotations

import collections
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import tdb
import tiledb
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
DATES = ["datetime64[D]", "datetime64[ns]", "datetime64[ms]"]


class Dim(NamedTuple):
    name: str
    #: A type of NumPy, or ``text``.
    dtype: str
    low: int
    size: int
    tile: int


class Attr(NamedTuple):
    name: str
    #: A type of NumPy, ``text`` or ``bytes``.
    dtype: str
    nullable: bool


class Case(NamedTuple):
    """An array and its cells, column by column."""

    sparse: bool
    dims: list[Dim]
    attrs: list[Attr]
    cells: dict[str, Any]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(dim.size for dim in self.dims)


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=5)
ASCII = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=5)


def values_of(dtype: str) -> st.SearchStrategy[Any]:
    if dtype == "text":
        return TEXT
    if dtype == "ascii":
        return ASCII
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return st.floats(width=32 if kind.itemsize == 4 else 64)
    if kind.kind == "b":
        return st.booleans()
    if kind.kind == "M":
        # Dates of Arrow have 32 bits.
        return st.integers(-(2**31), 2**31 - 1)
    # The fill value of TileDB is an extreme.
    info = np.iinfo(kind)
    return st.integers(int(info.min), int(info.max))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    sparse = draw(st.booleans())
    dims: list[Dim] = []
    dense = draw(st.sampled_from([*INTEGERS, DATES[0]]))
    for number in range(draw(st.integers(1, 3))):
        dtype = (
            draw(st.sampled_from([*INTEGERS, DATES[0], "float64", "ascii"])) if sparse else dense
        )
        size = draw(st.integers(1, 60 if sparse else 7))
        unsigned = dtype.startswith("uint")
        low = draw(st.integers(0 if unsigned else -50, 40))
        dims.append(Dim(f"d{number}", dtype, low, size, draw(st.integers(1, size))))
    attrs: list[Attr] = []
    for number in range(draw(st.integers(1, 3))):
        dtype = draw(
            st.sampled_from([*INTEGERS, "float32", "float64", "bool", *DATES, "text", "ascii"])
        )
        nullable = (
            draw(st.booleans())
            and np.dtype(object if dtype in ("text", "ascii") else dtype).kind in "iuf"
        )
        attrs.append(Attr(f"a{number}", dtype, nullable))
    cells: dict[str, Any] = {}
    if sparse:
        coordinate = st.tuples(
            *(
                ASCII if dim.dtype == "ascii" else st.integers(dim.low, dim.low + dim.size - 1)
                for dim in dims
            )
        )
        points = draw(st.lists(coordinate, min_size=1, max_size=30, unique=True))
        for dim, column in zip(dims, zip(*points)):
            cells[dim.name] = np.array(column, dtype=object if dim.dtype == "ascii" else dim.dtype)
        count, shape = len(points), (len(points),)
    else:
        shape = tuple(dim.size for dim in dims)
        count = int(np.prod(shape))
    for attr in attrs:
        value = values_of(attr.dtype)
        column = draw(
            st.lists(st.none() | value if attr.nullable else value, min_size=count, max_size=count)
        )
        if attr.nullable:
            mask = np.array([item is None for item in column])
            data = np.array([0 if item is None else item for item in column], dtype=attr.dtype)
            cells[attr.name] = np.ma.MaskedArray(data, mask).reshape(shape)
        else:
            dtype = object if attr.dtype in ("text", "ascii") else attr.dtype
            filled = np.empty(count, dtype=dtype)
            filled[:] = np.array(column, dtype=dtype)
            cells[attr.name] = filled.reshape(shape)
    return Case(sparse, dims, attrs, cells)


def our_schema(case: Case) -> tdb.Schema:
    dimensions = [
        tdb.Dimension(dim.name, str)
        if dim.dtype == "ascii"
        else tdb.Dimension(dim.name, dim.dtype, (dim.low, dim.low + dim.size - 1), dim.tile)
        for dim in case.dims
    ]
    names = {"text": "string_utf8", "ascii": "string_ascii"}
    attributes = [
        tdb.Attribute(attr.name, names.get(attr.dtype, attr.dtype), nullable=attr.nullable)
        for attr in case.attrs
    ]
    return tdb.Schema(dimensions, attributes, sparse=case.sparse)


def their_schema(case: Case) -> tiledb.ArraySchema:
    def dimension(dim: Dim) -> tiledb.Dim:
        if dim.dtype == "ascii":
            return tiledb.Dim(dim.name, domain=(None, None), tile=None, dtype="ascii")
        kind = np.dtype(dim.dtype)
        ends: tuple[Any, Any] = (dim.low, dim.low + dim.size - 1)
        tile: Any = dim.tile
        if kind.kind == "M":
            unit = np.datetime_data(kind)[0]
            ends, tile = tuple(np.datetime64(end, unit) for end in ends), np.timedelta64(tile, unit)
        return tiledb.Dim(dim.name, domain=ends, tile=tile, dtype=kind)

    def attribute(attr: Attr) -> tiledb.Attr:
        if attr.dtype in ("text", "ascii"):
            return tiledb.Attr(attr.name, dtype="U0" if attr.dtype == "text" else "ascii", var=True)
        return tiledb.Attr(attr.name, dtype=np.dtype(attr.dtype), nullable=attr.nullable)

    domain = tiledb.Domain(*(dimension(dim) for dim in case.dims))
    return tiledb.ArraySchema(
        domain=domain, attrs=[attribute(attr) for attr in case.attrs], sparse=case.sparse
    )


def their_column(attr: Attr, column: Any) -> Any:
    if attr.nullable:
        kind = str(np.dtype(attr.dtype))
        name = kind.replace("uint", "UInt") if kind.startswith("uint") else kind.capitalize()
        array = pd.array(column.filled(0).reshape(-1), dtype=name)
        array[np.ma.getmaskarray(column).reshape(-1)] = pd.NA
        return array
    return column


@contextmanager
def place() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        yield f"{folder}/array"


def plain(value: Any) -> Any:
    """Converts a cell for a comparison. NumPy drops zeros at the ends of bytes."""
    if value is None or value is np.ma.masked or value is pd.NA:
        return None
    if isinstance(value, (np.ndarray, list, tuple)):
        items = tuple(
            plain(item) for item in (value.tolist() if isinstance(value, np.ndarray) else value)
        )
        # TileDB-Py masks each value of a null cell.
        return None if items and set(items) == {None} else items
    if isinstance(value, str):
        return value.encode().rstrip(b"\0")
    if isinstance(value, (bytes, memoryview)):
        return bytes(value).rstrip(b"\0")
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return int(value.astype(np.int64))
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value != value:
        return "nan"
    return value


def rows(columns: dict[str, Any]) -> collections.Counter[str]:
    """Returns the rows of columns without an order."""
    names = sorted(columns)
    flat = [
        [plain(item) for item in (c if isinstance(c, list) else c.reshape(-1))]
        for c in map(columns.get, names)
    ]
    return collections.Counter(map(repr, zip(*flat)))


def named(columns: dict[str, Any], case: Case) -> dict[str, Any]:
    names = [*(dim.name for dim in case.dims if case.sparse), *(attr.name for attr in case.attrs)]
    return {name: columns[name] for name in names}


def their_cells(uri: str, case: Case) -> dict[str, Any]:
    with tiledb.open(uri) as array:
        found = array[:]
    return named(found if isinstance(found, dict) else {case.attrs[0].name: found}, case)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(cases())
def test_arrays_written_here_are_read_by_tiledb(case: Case) -> None:
    with place() as uri:
        tdb.create(uri, our_schema(case)).write(case.cells)
        found = their_cells(uri, case)
        assert rows(found) == rows(case.cells)
        if not case.sparse:
            assert all(column.shape == case.shape for column in found.values())


@settings(max_examples=30, deadline=None, derandomize=True)
@given(cases())
def test_arrays_written_by_tiledb_are_read_here(case: Case) -> None:
    with place() as uri:
        tiledb.Array.create(uri, their_schema(case))
        columns = {attr.name: their_column(attr, case.cells[attr.name]) for attr in case.attrs}
        with tiledb.open(uri, "w") as array:
            if case.sparse:
                array[tuple(case.cells[dim.name] for dim in case.dims)] = columns
            elif any(attr.nullable for attr in case.attrs):
                # TileDB-Py takes nullable columns of sparse arrays only.
                array[:] = {
                    name: case.cells[name].filled(0)
                    if hasattr(case.cells[name], "mask")
                    else case.cells[name]
                    for name in columns
                }
            else:
                array[:] = columns
        array = tdb.open(uri)
        found = named(array.read().to_numpy(), case)
        assert rows(found) == rows(their_cells(uri, case))
        assert array.schema == tdb.Schema.from_toml(array.schema.to_toml())
        frame = array.read([*found]).to_pandas()
        table = array.read([*found]).to_arrow()
        assert len(frame) == table.num_rows == sum(rows(found).values())


@settings(max_examples=25, deadline=None, derandomize=True)
@given(cases(), st.data())
def test_ranges_select_the_cells_that_numpy_selects(case: Case, data: st.DataObject) -> None:
    with place() as uri:
        array = tdb.create(uri, our_schema(case))
        array.write(case.cells)
        coordinates = array.read(list(array.dimension_names)).to_numpy()
        if not case.sparse:
            coordinates = {name: column.reshape(-1) for name, column in coordinates.items()}
        ranges: dict[str, Any] = {}
        keep = np.ones(len(next(iter(coordinates.values()))), dtype=bool)
        for dim in case.dims:
            if dim.dtype == "ascii":
                low, high = sorted(data.draw(st.tuples(ASCII, ASCII)))
                ranges[dim.name] = (low, high)
                keep &= np.array([low <= value <= high for value in coordinates[dim.name]])
                continue
            ends = data.draw(st.tuples(*[st.integers(dim.low, dim.low + dim.size - 1)] * 2))
            low, high = sorted(ends)
            ranges[dim.name] = (low, high)
            column = coordinates[dim.name]
            numbers = column.astype(np.int64) if column.dtype.kind == "M" else column
            keep &= (numbers >= low) & (numbers <= high)
        expected = {name: column[keep] for name, column in coordinates.items()}
        found = array.read(list(array.dimension_names), ranges=ranges).to_numpy()
        assert rows(found) == rows(expected)
        assert array.read(ranges=ranges).aggregate(tdb.count()) == {"count": int(keep.sum())}


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=3), st.data())
def test_indices_and_assignments_equal_those_of_numpy(
    shape: list[int], data: st.DataObject
) -> None:
    index = st.integers(-7, 7) | st.builds(slice, *[st.none() | st.integers(-7, 7)] * 2)
    model = np.arange(int(np.prod(shape))).reshape(shape)
    with place() as uri:
        array = tdb.from_numpy(uri, model)
        for number in range(3):
            key = tuple(data.draw(st.lists(index, max_size=len(shape))))
            outcomes = [attempt(lambda key=key: model[key]), attempt(lambda key=key: array[key])]
            if isinstance(outcomes[0], IndexError):
                assert isinstance(outcomes[1], IndexError)
                continue
            np.testing.assert_array_equal(outcomes[1], outcomes[0])
            assert outcomes[1].shape == outcomes[0].shape
            step = data.draw(st.sampled_from([1, 2, -1, -3]))
            np.testing.assert_array_equal(array[::step], model[::step])
            replaced = np.full(outcomes[0].shape, -number - 1)
            model[key] = replaced
            array[key] = replaced
        np.testing.assert_array_equal(array[...], model)


def attempt(action: Callable[[], Any]) -> Any:
    try:
        return np.asarray(action())
    except IndexError as error:
        return error


FIXTURES = sorted(
    name
    for name, entry in json.loads((ROOT / "fixtures/MANIFEST.json").read_text())["fixtures"].items()
    # TileDB-Py 0.36.1 crashes on fills beyond the domain, does not read UTF-16, and
    # believes wrong promises of an order.
    if entry["kind"] == "array"
    and name.startswith(("v1-", "v5-", "v16-", "v22-"))
    and not any(
        part in name for part in ("encrypted", "beyond", "datatypes", "conditions", "unsorted")
    )
)

COMPARE = """
import math, sys
import tdb, tiledb
from test_judge import rows
for name, uri in (line.split("\\t") for line in sys.stdin.read().splitlines()):
    array = tdb.open(uri)
    if array.is_dense and math.prod(array.shape) > 1e6 or any(field.enumeration for field in array.fields):
        continue  # the judge returns positions in enumerations
    try:
        with tiledb.open(uri) as judge:
            expected = judge.query(coords=True)[:]
    except (tiledb.TileDBError, ValueError):
        continue  # the judge cannot read every array of older versions
    found = array.read([*array.dimension_names, *array.attribute_names], strings_as_bytes=True).to_numpy()
    found = {name: [*column.reshape(-1, *column.shape[array.ndim if array.is_dense else 1:])] for name, column in found.items()}
    expected = {name: [*column.reshape(-1, *column.shape[array.ndim if array.is_dense else 1:])] for name, column in expected.items()}
    assert rows(found) == rows({key: expected[key] for key in found}), name
    print(name)
"""


def test_arrays_of_the_repository(fixture_array: Callable[[str], str]) -> None:
    assert len(FIXTURES) > 60
    lines = "\n".join(f"{name}\t{fixture_array(name)}" for name in FIXTURES)
    command = [sys.executable, "-c", COMPARE]
    folder = str(ROOT / "integrations/python/tests")
    done = subprocess.run(
        command, input=lines, capture_output=True, text=True, cwd=folder, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(done.stdout.split()) > 60


@pytest.mark.parametrize("name", ["heights", "pbmc", "variants"])
def test_real_arrays(name: str, tmp_path: Any) -> None:
    import tarfile

    with tarfile.open(ROOT / f"integrations/crates/tdb-full/tests/jobs/{name}.tar.gz") as pack:
        pack.extractall(tmp_path, filter="data")
    uris = [
        str(path)
        for path in [tmp_path, *tmp_path.rglob("*")]
        if path.is_dir() and tdb.object_type(path) == "array"
    ]
    assert uris
    for uri in uris:
        array = tdb.open(uri)
        count = array.aggregate(tdb.count())["count"]
        limited = array.read(limit=50)
        assert len(limited.to_pandas()) == len(limited.to_arrow()) == min(50, count)
        with tiledb.open(uri) as judge:
            assert judge.schema.nattr == len(array.attribute_names)
            if judge.schema.sparse:
                assert sum(fragment.cells for fragment in array.fragments) >= count
