"""Dense arrays as datasets of xarray."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pandas as pd
import pytest
import tdb
import tiledb
import xarray as xr


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A dense array of many kinds of attributes with metadata, written by TileDB-Py."""
    uri = str(tmp_path_factory.mktemp("grid") / "array")
    domain = tiledb.Domain(
        tiledb.Dim("y", domain=(10, 109), tile=16, dtype=np.int32),
        tiledb.Dim("x", domain=(-5, 44), tile=16, dtype=np.int32),
    )
    attributes = [
        tiledb.Attr("a", dtype=np.int64),
        tiledb.Attr("b", dtype=np.float32, nullable=True),
        tiledb.Attr("c", dtype=np.int16, nullable=True),
        tiledb.Attr("kind", dtype=np.int8, enum_label="kinds"),
        tiledb.Attr("day", dtype="datetime64[D]"),
        tiledb.Attr("text", dtype="U", var=True),
        tiledb.Attr("rgb", dtype=[("", np.uint8)] * 3),
    ]
    kinds = tiledb.Enumeration("kinds", False, values=["sea", "land"])
    tiledb.Array.create(uri, tiledb.ArraySchema(domain=domain, attrs=attributes, enums=[kinds]))
    with tiledb.open(uri, "w") as array:
        array[:] = columns()
        array.meta["title"] = "a grid"
        array.meta["levels"] = (1, 2, 3)
        array.meta["__tiledb_attr.a.units"] = "metres"
        array.meta["__tiledb_dim.y.axis"] = "Y"
    return uri


def columns() -> dict[str, Any]:
    places = np.arange(5000).reshape(100, 50)
    nulls = places.ravel() % 3 == 0
    texts = np.array([f"t{place}" for place in places.ravel()], dtype=object)
    colours = np.stack([places % 256, places % 7, places % 5], axis=-1).astype(np.uint8)
    return {
        "a": places,
        "b": pd.arrays.FloatingArray(places.ravel().astype(np.float32), nulls),
        "c": pd.arrays.IntegerArray(places.ravel().astype(np.int16), nulls),
        "kind": (places % 2).astype(np.int8),
        "day": places.astype("datetime64[D]"),
        "text": texts.reshape(100, 50),
        "rgb": np.ascontiguousarray(colours).view([("", np.uint8)] * 3).reshape(100, 50),
    }


def test_a_dataset_has_the_cells_the_coordinates_and_the_metadata(grid: str) -> None:
    data = xr.open_dataset(grid, engine="tdb")
    places = np.arange(5000).reshape(100, 50)
    assert dict(data.sizes) == {"y": 100, "x": 50, "rgb_value": 3}
    np.testing.assert_array_equal(data.y, np.arange(10, 110, dtype=np.int32))
    assert data.y.dtype == np.int32 and data.x.values[0] == -5
    np.testing.assert_array_equal(data.a, places)
    nulls = places % 3 == 0
    np.testing.assert_array_equal(data.b, np.where(nulls, np.nan, places.astype(np.float32)))
    np.testing.assert_array_equal(data.c, np.where(nulls, np.nan, places.astype(np.float32)))
    np.testing.assert_array_equal(data.kind, np.where(places % 2 == 0, "sea", "land"))
    np.testing.assert_array_equal(data.day, places.astype("datetime64[D]"))
    assert data.text.values[1, 2] == "t52"
    np.testing.assert_array_equal(data.rgb.values[..., 1], places % 7)
    for variable in data.variables.values():
        # The type that xarray knows before a cell is read.
        assert variable.dtype == variable.values.dtype
    assert data.attrs == {"title": "a grid", "levels": (1, 2, 3)}
    assert data.a.attrs == {"units": "metres"} and data.y.attrs == {"axis": "Y"}


def test_only_the_selected_tiles_are_read(grid: str) -> None:
    array = tdb.open(grid)
    data = xr.open_dataset(array, engine="tdb", drop_variables=["text"])  # type: ignore[arg-type]
    assert "text" not in data
    start = array.counters()["bytes_read"]
    assert data.a.sel(y=10, x=-5).item() == 0
    one = array.counters()["bytes_read"] - start
    data.a.load()
    assert 0 < one < (array.counters()["bytes_read"] - start) / 4


@pytest.mark.parametrize(
    "key",
    [
        {"y": 5},
        {"y": -1, "x": 3},
        {"y": slice(3, 80, 7), "x": slice(None, None, -1)},
        {"y": slice(90, 10, -4)},
        {"y": slice(5, 5)},
        {"y": [3, 3, 99, 0], "x": np.array([1, 40])},
        {"y": xr.DataArray([1, 50, 99], dims="p"), "x": xr.DataArray([0, 49, 7], dims="p")},
    ],
    ids=str,
)
def test_indices_select_the_cells_of_numpy(grid: str, key: dict[str, Any]) -> None:
    lazy = xr.open_dataset(grid, engine="tdb")
    loaded = xr.open_dataset(grid, engine="tdb").load()
    xr.testing.assert_identical(lazy.isel(key).load(), loaded.isel(key))
    part = {"y": slice(2, 99), "x": slice(4, 30, 2)}
    xr.testing.assert_identical(
        lazy.isel(part).isel(y=slice(5, 9)).load(), loaded.isel(part).isel(y=slice(5, 9))
    )


@pytest.mark.parametrize("scheduler", ["synchronous", "threads", "processes"])
def test_dask_computes_by_tiles(grid: str, scheduler: str) -> None:
    data = xr.open_dataset(grid, engine="tdb", chunks={})[["a", "day", "rgb"]]
    assert data.a.chunks == ((16,) * 6 + (4,), (16, 16, 16, 2))
    assert data.rgb.chunks == ((16,) * 6 + (4,), (16, 16, 16, 2), (3,))
    with dask.config.set(scheduler=scheduler):
        assert data.a.isel(y=slice(0, 40)).sum().compute().item() == 1999 * 1000
        np.testing.assert_array_equal(
            data.a.mean("y").compute(), np.arange(5000).reshape(100, 50).mean(0)
        )


def test_datasets_are_pickled(grid: str) -> None:
    for chunks in (None, {}):
        data = xr.open_dataset(grid, engine="tdb", chunks=chunks)
        xr.testing.assert_identical(pickle.loads(pickle.dumps(data)).load(), data.load())


def test_a_path_without_engine_is_recognized(grid: str) -> None:
    xr.testing.assert_identical(
        xr.open_dataset(grid).load(), xr.open_dataset(Path(grid), engine="tdb").load()
    )


def test_a_closed_dataset_is_an_error(grid: str) -> None:
    with xr.open_dataset(grid, engine="tdb") as data:
        pass
    with pytest.raises(tdb.UsageError, match="closed"):
        data.a.load()


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A dense array by day of which a part is written, twice."""
    uri = str(tmp_path_factory.mktemp("series") / "array")
    first, last = np.datetime64("1900-01-03"), np.datetime64("9999-12-31")
    dimension = tiledb.Dim(
        "day", domain=(first, last), tile=np.timedelta64(7, "D"), dtype="datetime64[D]"
    )
    schema = tiledb.ArraySchema(tiledb.Domain(dimension), [tiledb.Attr("rain", dtype=np.float64)])
    tiledb.Array.create(uri, schema)
    for time, start in ((1000, "2024-01-01"), (2000, "2024-01-31")):
        with tiledb.open(uri, "w", timestamp=time) as array:
            day = np.datetime64(start)
            array[day : day + 29] = np.arange(30.0) + time
    return uri


def test_dates_are_coordinates(series: str) -> None:
    data = xr.open_dataset(series, engine="tdb", nonempty=True, chunks={})
    assert data.sizes["day"] == 60
    assert data.day.values[0] == np.datetime64("2024-01-01") and data.day.dtype == "datetime64[s]"
    np.testing.assert_array_equal(data.rain.sel(day="2024-01"), [*np.arange(1000, 1030), 2000])
    assert data.rain.sel(day="2024-02-01").compute().item() == 2001
    # Chunks end where tiles end: 1900-01-03 is the first day of a tile.
    head = 7 - int((np.datetime64("2024-01-01") - np.datetime64("1900-01-03")).astype(int)) % 7
    assert data.rain.chunks is not None
    assert data.rain.chunks[0][:2] == (head, 7) and sum(data.rain.chunks[0]) == 60
    monthly = data.rain.groupby("day.month").max().compute()
    np.testing.assert_array_equal(monthly, [2000, 2029])


def test_a_dataset_shows_a_point_in_time(series: str) -> None:
    data = xr.open_dataset(series, engine="tdb", nonempty=True, at=1500)
    assert data.sizes["day"] == 30 and data.rain.max().item() == 1029
    with pytest.raises(tdb.UsageError, match="no cells"):
        xr.open_dataset(series, engine="tdb", nonempty=True, at=500)


def test_arrays_that_do_not_fit_are_errors(
    tmp_path: Path, fixture_array: Callable[[str], str]
) -> None:
    with pytest.raises(tdb.UsageError, match="dense"):
        xr.open_dataset(fixture_array("v22-by-2.30.0-sparse-2d"), engine="tdb")
    uri = str(tmp_path / "array")
    dimension = tiledb.Dim("x", domain=(0, 2**60), tile=1000, dtype=np.int64)
    schema = tiledb.ArraySchema(tiledb.Domain(dimension), [tiledb.Attr("a", dtype=np.int64)])
    tiledb.Array.create(uri, schema)
    with tiledb.open(uri, "w") as array:
        array[5:8] = np.array([1, 2, 3])
    with pytest.raises(tdb.UsageError, match="nonempty"):
        xr.open_dataset(uri, engine="tdb")
    data = xr.open_dataset(uri, engine="tdb", nonempty=True)
    assert data.a.values.tolist() == [1, 2, 3] and data.x.values.tolist() == [5, 6, 7]


@pytest.mark.parametrize(
    "name",
    [
        "v22-by-2.30.0-dense-2d-row-row",
        "v22-by-2.30.0-dense-3d-col-col",
        "v22-by-2.30.0-dense-datetime",
        "v22-by-2.30.0-dense-enumerations",
        "v22-by-2.30.0-dense-current-domain",
        "v22-by-2.30.0-dense-uint64-high",
        "v22-by-2.30.0-dense-labels",
        "v22-by-2.30.0-dense-metadata",
        "v4-by-1.7.7-dense",
    ],
)
def test_arrays_of_all_releases_are_opened(fixture_array: Callable[[str], str], name: str) -> None:
    array = tdb.open(fixture_array(name))
    data = xr.open_dataset(array.uri, engine="tdb")
    assert tuple(data.sizes.values())[: array.ndim] == array.shape
    chunked = xr.open_dataset(array.uri, engine="tdb", chunks={}).load()
    cells = array.read([*array.attribute_names]).to_numpy()
    for attribute in array.attribute_names:
        found, plain = data[attribute], cells[attribute]
        assert found.dtype == found.values.dtype
        if found.dtype.kind == "O":
            # dask replaces `None` by NaN.
            for one, other in zip(
                found.values.ravel(), chunked[attribute].values.ravel(), strict=True
            ):
                assert np.array_equal(one, other) or (one is None and pd.isna(other))
            continue
        np.testing.assert_array_equal(found, chunked[attribute])
        if found.dtype.kind in "iuf" and not isinstance(plain, np.ma.MaskedArray):
            np.testing.assert_array_equal(found, plain)
