"""Reads."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import tdb
import tiledb


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A dense array of two attributes with the domain 10..109 by -5..44, written by TileDB-Py."""
    uri = str(tmp_path_factory.mktemp("grid") / "array")
    domain = tiledb.Domain(
        tiledb.Dim("y", domain=(10, 109), tile=16, dtype=np.int32),
        tiledb.Dim("x", domain=(-5, 44), tile=16, dtype=np.int32),
    )
    attributes = [tiledb.Attr("a", dtype=np.int64), tiledb.Attr("b", dtype=np.float32)]
    tiledb.Array.create(uri, tiledb.ArraySchema(domain=domain, attrs=attributes))
    with tiledb.open(uri, "w") as array:
        array[:] = {"a": values().astype(np.int64), "b": values().astype(np.float32) / 4}
    return uri


def values() -> np.ndarray[Any, Any]:
    return np.arange(5000).reshape(100, 50)


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A sparse array with texts, nulls and an enumeration, written by TileDB-Py."""
    uri = str(tmp_path_factory.mktemp("calls") / "array")
    domain = tiledb.Domain(
        tiledb.Dim("chrom", domain=(None, None), tile=None, dtype="ascii"),
        tiledb.Dim("pos", domain=(1, 1000), tile=100, dtype=np.uint32),
    )
    attributes = [
        tiledb.Attr("qual", dtype=np.float32),
        tiledb.Attr("alt", dtype="ascii", var=True),
        tiledb.Attr("depth", dtype=np.int16, nullable=True),
        tiledb.Attr("filter", dtype=np.int8, enum_label="filters"),
        tiledb.Attr("day", dtype="datetime64[D]"),
        tiledb.Attr("likelihoods", dtype=np.float64, var=True),
    ]
    enumeration = tiledb.Enumeration("filters", False, values=["PASS", "low"])
    schema = tiledb.ArraySchema(
        domain=domain, attrs=attributes, sparse=True, enums=[enumeration], allows_duplicates=False
    )
    tiledb.Array.create(uri, schema)
    lists = np.empty(4, dtype=object)
    lists[:] = [np.array([0.5]), np.array([0.25, 0.75]), np.array([1.0]), np.array([2.0])]
    with tiledb.open(uri, "w") as array:
        array[["1", "1", "2", "X"], [10, 20, 5, 1000]] = {
            "qual": np.array([31.5, 8.0, 55.25, 27.0], np.float32),
            "alt": np.array(["A", "GG", "", "T"]),
            "depth": pd.array([7, None, 9, None], dtype="Int16"),
            "filter": np.array([0, 1, 0, 0], np.int8),
            "day": np.array(
                ["2024-01-01", "2024-01-02", "2024-02-01", "1969-12-31"], "datetime64[D]"
            ),
            "likelihoods": lists,
        }
    return uri


def test_slices_equal_numpy(grid: str) -> None:
    array, all_cells = tdb.open(grid), values()
    for key in [
        ...,
        5,
        -1,
        (3, 4),
        (slice(2, 7), slice(-6, None)),
        (slice(None, None, 3), -2),
        (slice(50, 10, -4), slice(None)),
        (slice(5, 5), slice(None)),
        (slice(90, 300),),
        (..., slice(1, 2)),
    ]:
        cells = array[key]
        np.testing.assert_array_equal(cells["a"], all_cells[key])
        np.testing.assert_array_equal(cells["b"], (all_cells / 4).astype(np.float32)[key])
        assert cells["a"].dtype == np.int64 and cells["b"].dtype == np.float32


@pytest.mark.parametrize("key", [100, -101, (0, 50), (1, 2, 3)])
def test_positions_outside_of_the_array_are_index_errors(grid: str, key: Any) -> None:
    with pytest.raises(IndexError):
        tdb.open(grid)[key]


def test_indices_are_positions_and_ranges_are_coordinates(grid: str) -> None:
    array = tdb.open(grid)
    by_position = array[0:2, 0:3]["a"]
    by_coordinate = array.read(["a"], ranges={"y": (10, 11), "x": (-5, -3)}).to_numpy()["a"]
    np.testing.assert_array_equal(by_position, by_coordinate)
    assert array.shape == (100, 50)
    assert array.domain == ((10, 109), (-5, 44))


def test_large_columns_reach_numpy_without_a_copy(grid: str) -> None:
    cells = tdb.open(grid).read(["a"]).to_numpy()["a"]
    base = cells
    while isinstance(base.base, np.ndarray):
        base = base.base
    owner: Any = base.base
    address, read_only = owner.__array_interface__["data"]
    assert cells.ctypes.data == address
    assert not read_only
    cells[0, 0] = -7
    assert tdb.open(grid)[0, 0]["a"] == 0


def test_batches_share_their_memory_with_numpy_pandas_and_arrow(grid: str) -> None:
    batch = next(tdb.open(grid).read(["a"]).batches())
    first, second = batch.to_numpy()["a"], batch.to_numpy()["a"]
    # A copy would have another address.
    assert first.ctypes.data == second.ctypes.data
    assert batch.to_pandas()["a"].to_numpy().ctypes.data == first.ctypes.data
    assert batch.to_arrow().column("a").chunk(0).buffers()[1].address == first.ctypes.data
    assert not first.flags.writeable


def test_a_result_outlives_its_array(grid: str) -> None:
    with tdb.open(grid) as array:
        cells = array[...]["a"]
    del array
    np.testing.assert_array_equal(cells, values())


def test_a_closed_array_is_an_error(grid: str) -> None:
    array = tdb.open(grid)
    array.close()
    for use in [lambda: array[0], lambda: array.read().to_numpy(), lambda: array.fragments]:
        with pytest.raises(tdb.UsageError, match="closed"):
            use()
    assert "closed" in repr(array)


def test_asarray_reads_the_only_attribute(tmp_path: Path, grid: str) -> None:
    uri = str(tmp_path / "array")
    tiledb.from_numpy(uri, values()).close()
    np.testing.assert_array_equal(np.asarray(tdb.open(uri)), values())
    assert np.asarray(tdb.open(uri), dtype=np.float32).dtype == np.float32
    with pytest.raises(tdb.UsageError, match="2 attributes"):
        np.asarray(tdb.open(grid))


def test_columns_have_the_types_of_numpy(calls: str) -> None:
    cells = tdb.open(calls).read(order="row-major").to_numpy()
    assert cells["chrom"].tolist() == ["1", "1", "2", "X"]
    assert cells["pos"].tolist() == [10, 20, 5, 1000] and cells["pos"].dtype == np.uint32
    assert cells["alt"].tolist() == ["A", "GG", "", "T"]
    assert isinstance(cells["depth"], np.ma.MaskedArray)
    assert cells["depth"].tolist() == [7, None, 9, None]
    assert cells["filter"].tolist() == ["PASS", "low", "PASS", "PASS"]
    assert cells["day"].dtype == np.dtype("datetime64[D]") and str(cells["day"][3]) == "1969-12-31"
    assert [list(cell) for cell in cells["likelihoods"]] == [[0.5], [0.25, 0.75], [1.0], [2.0]]


def test_pandas_keeps_nulls_categories_and_dates(calls: str) -> None:
    frame = tdb.open(calls).read(order="row-major").to_pandas()
    assert frame["depth"].tolist() == [7, pd.NA, 9, pd.NA]
    assert str(frame["depth"].dtype) == "Int16"
    assert frame["filter"].tolist() == ["PASS", "low", "PASS", "PASS"]
    assert isinstance(frame["filter"].dtype, pd.CategoricalDtype)
    assert frame["day"][2] == pd.Timestamp("2024-02-01")


def test_equal_texts_may_share_an_object(tmp_path: Path) -> None:
    random = np.random.default_rng(8)
    # Few letters make texts of different lengths that begin and end alike.
    known = {"".join(random.choice(list("a\0é"), size)) for size in range(70) for _ in range(20)}
    texts = random.choice(np.array(sorted(known), object), 20_000)
    array = tdb.from_numpy(tmp_path / "array", {"text": texts})
    read = array.read().to_numpy()["text"]
    assert read.tolist() == texts.tolist()
    assert len(set(map(id, read))) < len(texts)


def test_arrow_and_polars_read_the_same_cells(calls: str) -> None:
    read = tdb.open(calls).read(["pos", "alt", "depth", "filter"], order="row-major")
    expected = {
        "pos": [10, 20, 5, 1000],
        "alt": ["A", "GG", "", "T"],
        "depth": [7, None, 9, None],
        "filter": ["PASS", "low", "PASS", "PASS"],
    }
    assert read.to_arrow().to_pydict() == expected
    assert pa.table(read).to_pydict() == expected
    assert read.to_polars().to_dict(as_series=False) == expected
    assert pl.DataFrame(read).to_dict(as_series=False) == expected
    batches = [pa.record_batch(batch) for batch in read.batches(cells=3)]
    assert [batch.num_rows for batch in batches] == [3, 1]


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        ({"ranges": {"chrom": "1"}}, [10, 20]),
        ({"ranges": {"chrom": ("2", None)}}, [5, 1000]),
        ({"ranges": {"pos": range(5, 20)}}, [10, 5]),
        ({"ranges": {"pos": [(1, 5), 1000]}}, [5, 1000]),
        ({"ranges": {"pos": np.array([20, 5])}}, [20, 5]),
        ({"points": {"chrom": ["2", "1"], "pos": [5, 20]}}, [20, 5]),
        ({"points": {"chrom": np.array(["2", "1"]), "pos": np.array([5, 21], np.uint32)}}, [5]),
        ({"boxes": [{"chrom": "1", "pos": (1, 10)}, {"chrom": "X"}]}, [10, 1000]),
        ({"where": "qual > 30"}, [10, 5]),
        ({"where": tdb.col("filter") == "low"}, [20]),
        ({"where": tdb.col("depth").is_null() & ~tdb.col("alt").is_in(["T"])}, [20]),
        ({"where": tdb.col("day") >= np.datetime64("2024-01-02")}, [20, 5]),
        ({"where": tdb.col("day").between("2024-01", "2024-01")}, [10, 20]),
        ({"where": (tdb.col("qual") < 10) | "pos = 1000"}, [20, 1000]),
        ({"limit": 3}, [10, 20, 5]),
        ({"limit": 0}, []),
    ],
)
def test_selections(calls: str, selection: dict[str, Any], expected: list[int]) -> None:
    cells = tdb.open(calls).read(["pos"], order="row-major", **selection).to_numpy()
    assert cells["pos"].tolist() == expected
    assert cells["pos"].dtype == np.uint32


def test_an_empty_result_has_the_types_of_its_columns(calls: str) -> None:
    read = tdb.open(calls).read(where="qual > 1000")
    cells = read.to_numpy()
    assert {name: len(column) for name, column in cells.items()} == dict.fromkeys(cells, 0)
    assert cells["day"].dtype == np.dtype("datetime64[D]")
    assert len(read.to_pandas()) == 0 and read.to_arrow().num_rows == 0


def test_a_condition_on_a_dense_array_selects_or_fills(grid: str) -> None:
    array = tdb.open(grid)
    cells = array.read(where="a < 3").to_numpy()
    assert cells["y"].tolist() == [10, 10, 10] and cells["x"].tolist() == [-5, -4, -3]
    filled = array.read(["a"], where="a < 3", fill=True).to_numpy()["a"]
    assert filled.shape == (100, 50)
    assert filled[0, :4].tolist() == [0, 1, 2, np.iinfo(np.int64).min]


def test_column_order_of_a_dense_read_is_fortran_order(grid: str) -> None:
    cells = tdb.open(grid).read(["a"], order="col-major").to_numpy()["a"]
    np.testing.assert_array_equal(cells, values())
    assert cells.flags.f_contiguous


def test_several_ranges_of_a_dense_array_are_a_table(grid: str) -> None:
    cells = tdb.open(grid).read(ranges={"y": [10, 12], "x": (-5, -4)}).to_numpy()
    assert cells["a"].tolist() == [0, 1, 100, 101]
    assert cells["y"].tolist() == [10, 10, 12, 12]


def test_budget_and_batches_return_each_cell_once(grid: str) -> None:
    read = tdb.open(grid).read(["a"], budget=1 << 12)
    assert np.concatenate([batch.to_numpy()["a"] for batch in read]).tolist() == list(range(5000))
    np.testing.assert_array_equal(read.to_numpy()["a"], values())


def test_aggregates_equal_numpy(grid: str, calls: str) -> None:
    found = tdb.open(grid).aggregate(
        tdb.count(),
        tdb.col("a").sum(),
        tdb.col("a").mean(),
        tdb.col("b").max(),
        tdb.col("a").median(),
    )
    assert list(found.values()) == [5000, 4999 * 2500, 2499.5, 1249.75, 2499]
    found = tdb.open(calls).aggregate(
        tdb.col("depth").count(),
        tdb.col("depth").null_count(),
        tdb.col("day").min(),
        tdb.col("alt").max(),
        tdb.col("filter").max(),
        tdb.col("alt").count_distinct(),
    )
    assert list(found.values()) == [2, 2, np.datetime64("1969-12-31"), "T", "low", 4]
    none = tdb.open(calls).read(where="qual > 1000").aggregate(tdb.col("qual").mean())
    assert list(none.values()) == [None]


def test_an_aggregate_with_a_limit_is_an_error(grid: str) -> None:
    read = tdb.open(grid).read(limit=10)
    with pytest.raises(tdb.UsageError, match="remove the limit"):
        read.aggregate(tdb.count())
    with pytest.raises(tdb.UsageError, match="remove the limit"):
        read.group_by("a").aggregate(tdb.count())


def test_groups_are_sorted_by_key(calls: str) -> None:
    groups = tdb.open(calls).group_by("chrom").aggregate(tdb.count(), tdb.col("qual").max())
    assert groups.to_numpy()["chrom"].tolist() == ["1", "2", "X"]
    expected = {"chrom": ["1", "2", "X"], "count": [2, 1, 1], "max(qual)": [31.5, 55.25, 27.0]}
    assert groups.to_pandas().to_dict("list") == expected
    assert groups.to_arrow().to_pydict() == expected
    assert groups.to_polars().to_dict(as_series=False) == expected
    by_filter = tdb.open(calls).read(where="qual > 30").group_by("filter").aggregate(tdb.count())
    assert by_filter.to_numpy()["filter"].tolist() == ["PASS"]


def test_plans_and_statistics_read_no_cell(calls: str) -> None:
    array = tdb.open(calls)
    plan = array.read(["qual"], ranges={"chrom": "1"}).plan()
    assert plan.fragments == 1 and plan.tiles == 1 and plan.bytes > 0
    assert "fragments" in str(plan)
    found = array.read().stats("qual", "depth")
    assert (found["qual"].min, found["qual"].max, found["qual"].cells) == (8.0, 55.25, 4)
    assert (found["depth"].values, found["depth"].nulls) == (2, 2)
    unknown = array.read(ranges={"chrom": "1"}).stats("qual")["qual"]
    assert unknown.max is None and unknown.unknown["max"]


def test_descriptions(calls: str, grid: str) -> None:
    array = tdb.open(calls)
    assert array.field("depth") == tdb.Field("depth", "attribute", "int16", 1, True, None)
    assert array.field("alt").values_per_cell is None
    assert array.enumerations["filters"].tolist() == ["PASS", "low"]
    assert array.non_empty_domain == (("1", "X"), (5, 1000))
    assert array.domain == (None, (1, 1000))
    (fragment,) = array.fragments
    assert (fragment.cells, fragment.is_dense) == (4, False)
    assert fragment.domain == (("1", "X"), (5, 1000))
    assert "sparse" in repr(array) and "<td>depth</td>" in array._repr_html_()
    assert tdb.open(grid).dimension_names == ("y", "x")
    assert array.counters()["reads"] > 0


def test_times(tmp_path: Path) -> None:
    uri = str(tmp_path / "array")
    tiledb.from_numpy(uri, values(), timestamp=100).close()
    with tiledb.open(uri, "w", timestamp=200) as array:
        array[0:1, 0:1] = np.array([[-1]])
    assert tdb.open(uri)[0, 0] == -1
    assert tdb.open(uri, at=150)[0, 0] == 0
    assert tdb.open(uri, between=(150, 250))[0, 1] != 1
    with pytest.raises(tdb.UsageError, match="not both"):
        tdb.open(uri, at=1, between=(1, 2))


def test_a_pickled_array_reads_the_same_point_in_time(tmp_path: Path) -> None:
    uri = str(tmp_path / "array")
    tiledb.from_numpy(uri, values()).close()
    array = tdb.open(uri)
    text = pickle.dumps(array)
    with tiledb.open(uri, "w", timestamp=array.time[1] + 1) as writer:
        writer[0:1, 0:1] = np.array([[-1]])
    assert pickle.loads(text)[0, 0] == 0


def run(script: str, *arguments: str) -> str:
    """Runs a script in a fresh interpreter, because TileDB-Py warns of every fork."""
    command = [sys.executable, "-W", "error", "-c", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_arrays_work_in_child_processes(grid: str, method: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        """
import multiprocessing, sys, tdb

def corner(array):
    return int(array[...]["a"][-1, -1])

if __name__ == "__main__":
    array = tdb.open(sys.argv[1])
    assert corner(array) == 4999  # starts the threads of the array
    with multiprocessing.get_context(sys.argv[2]).Pool(2) as pool:
        print(pool.map(corner, [array] * 4))
"""
    )
    found = subprocess.check_output([sys.executable, script, grid, method], text=True, timeout=60)
    assert found.strip() == str([4999] * 4)


def test_a_forked_child_uses_the_open_array(grid: str) -> None:
    script = """
import os, sys, tdb
array = tdb.open(sys.argv[1])
assert array[...]["a"][-1, -1] == 4999
child = os.fork()
if child == 0:
    os._exit(0 if array[...]["a"][-1, -1] == 4999 else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert run(script, grid).strip() == "0"


def test_import_starts_no_thread_and_needs_no_other_library() -> None:
    script = """
import sys, threading
before = set(sys.modules)
import tdb
loaded = set(sys.modules) - before
for name in ("numpy", "pandas", "polars", "pyarrow"):
    assert name not in sys.modules, name
print(threading.active_count(), len(__import__("os").listdir("/proc/self/task")))
"""
    assert run(script).split() == ["1", "1"]


def test_threads_share_an_array(grid: str) -> None:
    array = tdb.open(grid)
    found: list[int] = []
    read = lambda: found.append(int(array[-1, -1]["a"]))  # noqa: E731
    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [4999] * 8
