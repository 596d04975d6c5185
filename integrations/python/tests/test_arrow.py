"""pyarrow, pandas, DuckDB and DataFusion."""

from __future__ import annotations

import datetime
import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import datafusion
import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest
import tdb
import tdb.arrow
import tiledb
from hypothesis import given, settings
from test_polars import CELLS, cells, combined, grid

__all__ = ["cells", "grid"]

f = pc.field
TIME = pa.scalar(datetime.datetime(1970, 3, 1, 7, 30), pa.timestamp("ns"))
DAY = pa.scalar(datetime.date(1970, 3, 1))
FLOAT = pa.scalar(480.1, pa.float32())

#: Filters that become conditions, and those that do not.
TRANSLATED = [
    f("number") > 1900,
    f("number") == 7,
    f("number") != 7,
    ~(f("number") < 1900),
    ~((f("number") < 1900) | (f("number") > 1950)),
    (f("number") > 1900) & f("number").is_valid(),
    (f("number") > 1900) & f("depth").is_null(),
    f("number").isin(pa.array(range(20), pa.int64())),
    ((f("number") > 1900) & (f("pos") < pa.scalar(1950, pa.uint32()))) | (f("number") == 3),
    f("number").isin(pa.array([3, 1999], pa.int64())),
    (f("number") > 1900) & f("text").isin(pa.array(["t1901", "x"], pa.large_string())),
    f("float") > FLOAT,
    f("float") < pa.scalar(2.5, pa.float32()),
    f("depth") >= pa.scalar(900, pa.int16()),
    f("flag") == pa.scalar(True),
    f("text") == pa.scalar("t0003", pa.large_string()),
    f("text") < pa.scalar('t00 "05" \\ \n', pa.large_string()),
    f("day") > DAY,
    f("day") == DAY,
    f("ns") > TIME,
    f("ns") <= TIME,
]
UNTRANSLATED = [
    ~(f("float") < FLOAT),
    f("text").isin(pa.array(["t1901", 'a "b" \\ c'], pa.large_string())),
    pc.add(f("number"), 1) == 2,
    f("number") > f("depth"),
    f("number").cast(pa.float64()) > 3.5,
    f("number") > pa.scalar(3, pa.int32()),
    f("depth").is_null(),
    f("depth").is_valid(),
    f("number").isin(pa.array(range(100), pa.int64())),
    f("day") != DAY,
    f("float") == pa.scalar(float("nan"), pa.float32()),
]


def same(table: pa.Table, other: pa.Table) -> bool:
    # NaN differs from NaN.
    return table.schema == other.schema and table.drop_columns("float").equals(
        other.drop_columns("float")
    )


@pytest.mark.parametrize("filter", TRANSLATED, ids=str)
def test_a_condition_selects_the_rows_of_the_filter(cells: str, filter: pc.Expression) -> None:
    array = tdb.open(cells)
    everything = pa.table(array.read())
    expected = everything.filter(filter)
    condition = tdb.arrow.condition(filter, array)
    assert condition is not None
    kept = pa.table(array.read(where=condition))
    assert len(kept) < len(everything)
    assert same(kept.filter(filter), expected)
    assert same(tdb.arrow.dataset(array).to_table(filter=filter), expected)


@pytest.mark.parametrize("filter", UNTRANSLATED, ids=str)
def test_pyarrow_filters_the_rest(cells: str, filter: pc.Expression) -> None:
    array = tdb.open(cells)
    assert tdb.arrow.condition(filter, array) is None
    expected = pa.table(array.read()).filter(filter)
    assert same(tdb.arrow.dataset(array).to_table(filter=filter), expected)


def test_names_like_filters_are_fields(tmp_path: Path) -> None:
    names = ["a", "a b", "a.b", "a > 1) and (b", "(a", 'q"t', "and", "is_valid(a)", "true"]
    uri = str(tmp_path / "array")
    domain = tiledb.Domain(tiledb.Dim("x", domain=(0, 99), tile=10, dtype=np.int32))
    attributes = [tiledb.Attr(name, dtype=np.int64) for name in names]
    tiledb.Array.create(uri, tiledb.ArraySchema(domain, attributes))
    with tiledb.open(uri, "w") as array:
        array[:] = {name: (np.arange(100) * (place + 3)) % 100 for place, name in enumerate(names)}
    data = tdb.arrow.dataset(uri)
    everything = pa.table(tdb.open(uri).read())
    for name in names:
        for other in names:
            filter = (f(name) > 20) & ((f(other) < 50) | (f(name) == 99))
            assert data.to_table(columns=["x"], filter=filter).equals(
                everything.filter(filter).select(["x"])
            )


@given(filter=combined(TRANSLATED + UNTRANSLATED))
@settings(max_examples=200, deadline=None)
def test_combined_filters_select_the_rows_of_pyarrow(cells: str, filter: pc.Expression) -> None:
    array = tdb.open(cells)
    expected = pa.table(array.read()).filter(filter)
    assert same(tdb.arrow.dataset(array).to_table(filter=filter), expected)


def test_deep_filters_are_left_to_pyarrow(cells: str) -> None:
    filter = f("number") == 0
    for place in range(1, 400):
        filter = (filter | (f("number") == place)) & (f("number") >= 0)
    assert tdb.arrow.dataset(cells).count_rows(filter=filter) == 400


def test_a_dataset_has_the_methods_of_pyarrow(cells: str) -> None:
    data = tdb.arrow.dataset(tdb.open(cells).read(["number", "text"], ranges={"pos": (0, 99)}))
    assert isinstance(data, ds.Dataset) and data.schema.names == ["number", "text"]
    assert data.count_rows() == 100 and data.count_rows(filter=f("number") > 90) == 9
    assert data.head(3)["number"].to_pylist() == [0, 1, 2]
    assert data.take(pa.array([5, 7]))["number"].to_pylist() == [5, 7]
    assert data.to_table(columns={"double": pc.add(f("number"), f("number"))})[
        "double"
    ].to_pylist()[:3] == [0, 2, 4]
    late = data.filter(f("number") > 90).filter(f("text") < "t0095")
    assert late.to_table(columns=["text"])["text"].to_pylist() == [
        "t0091",
        "t0092",
        "t0093",
        "t0094",
    ]
    assert sum(batch.num_rows for batch in late.to_batches(filter=f("number") < 93)) == 2
    assert pickle.loads(pickle.dumps(late)).count_rows() == 4
    for use in (data.sort_by, data.join, data.join_asof, data.replace_schema):
        with pytest.raises(NotImplementedError):
            use("number")
    with pytest.raises(tdb.UsageError, match="limit"):
        tdb.arrow.dataset(tdb.open(cells).read(limit=3))


def bytes_of(array: tdb.Array, use: Callable[[], Any]) -> tuple[int, Any]:
    """Returns the bytes that a query read, and its result."""
    before = array.counters()["bytes_read"]
    found = use()
    return (array.counters()["bytes_read"] - before, found)


def sql(engine: str, data: ds.Dataset) -> Callable[[str], list[tuple[Any, ...]]]:
    """Returns a function that queries the table ``data``."""
    if engine == "duckdb":
        connection = duckdb.connect()
        connection.register("data", data)
        return lambda query: connection.sql(query).fetchall()
    context = datafusion.SessionContext()
    context.register_dataset("data", data)

    def run(query: str) -> list[tuple[Any, ...]]:
        columns = context.sql(query).to_pydict()
        return list(zip(*columns.values(), strict=True))

    return run


@pytest.mark.parametrize("engine", ["duckdb", "datafusion"])
def test_engines_skip_columns_and_tiles(cells: str, grid: str, engine: str) -> None:
    array = tdb.open(cells)
    query = sql(engine, tdb.arrow.dataset(array))
    total, _ = bytes_of(array, lambda: query("SELECT * FROM data"))
    one, rows = bytes_of(array, lambda: query("SELECT sum(number) FROM data"))
    assert rows == [(CELLS * (CELLS - 1) // 2,)] and one < total / 2
    for where, count in [
        ("number > 1950", 49),
        ("number BETWEEN 5 AND 9", 5),
        ("pos >= 1990 AND number < 1995", 5),
        ("text = 't0003'", 1),
        ("number IN (3, 1999)", 2),
    ]:
        some, rows = bytes_of(array, partial(query, f"SELECT count(*) FROM data WHERE {where}"))
        assert rows == [(count,)] and some < total / 4, where
    array = tdb.open(grid)
    query = sql(engine, tdb.arrow.dataset(array))
    total, _ = bytes_of(array, lambda: query("SELECT sum(a) FROM data"))
    some, rows = bytes_of(array, lambda: query("SELECT max(a) FROM data WHERE y < 10 AND x < 10"))
    assert rows == [(909,)] and some < total / 4


@pytest.mark.parametrize("engine", ["duckdb", "datafusion"])
def test_engines_return_the_rows_of_a_plain_table(cells: str, engine: str) -> None:
    array = tdb.open(cells)
    query, expected = (
        sql(engine, tdb.arrow.dataset(array)),
        sql(engine, ds.dataset(pa.table(array.read()))),
    )
    for where in [
        "float > 480",
        "float >= 480.25 OR depth IS NULL",
        "NOT (float < 480)",
        "flag AND number > 1900",
        "NOT flag AND number > 1900",
        "filter = 'a'",
        "filter <> 'a' AND number % 7 = 0",
        "day > DATE '1970-03-01'",
        "day IS NULL",
        "ns BETWEEN TIMESTAMP '1970-01-02 00:00:00' AND TIMESTAMP '1970-03-01 07:30:00'",
        "sec < TIMESTAMP '1970-01-01 00:00:00'",
        "text LIKE 't199%'",
        "number NOT IN (1, 2) AND number < 5",
        "depth IS NOT NULL AND depth < 3",
        "number > (SELECT avg(number) FROM data) + 990",
    ]:
        text = f"SELECT number FROM data WHERE {where} ORDER BY number"
        assert query(text) == expected(text), where
        assert query(text), where


def test_duckdb_reads_a_variable(cells: str) -> None:
    read = tdb.open(cells).read(["number", "text"], where="number < 10")
    # A read starts again with each scan.
    assert duckdb.sql(
        "SELECT count(*), max(a.text) FROM read a JOIN read b USING (number)"
    ).fetchall() == [(10, "t0009")]
    assert duckdb.from_arrow(read).filter("number > 7").fetchall() == [(8, "t0008"), (9, "t0009")]
    connection = duckdb.connect()
    connection.register("calls", read)
    connection.execute("CREATE TABLE copy AS SELECT * FROM calls")
    assert connection.sql("SELECT sum(number) FROM copy").fetchall() == [(45,)]
    assert read.to_arrow().equals(
        duckdb.sql("FROM read").to_arrow_table().cast(pa.table(read).schema)
    )


def test_datafusion_reads_a_stream(cells: str) -> None:
    read = tdb.open(cells).read(["number", "text"], where="number < 10")
    frame = datafusion.SessionContext().from_arrow(read)
    assert frame.filter(datafusion.col("number") > datafusion.lit(7)).to_pydict()["text"] == [
        "t0008",
        "t0009",
    ]


def test_pyarrow_reads_a_stream(cells: str) -> None:
    read = tdb.open(cells).read(["number", "depth"])
    table = pa.table(read)
    assert table.num_rows == CELLS and table["depth"].null_count == CELLS // 5
    reader = pa.RecordBatchReader.from_stream(read)
    assert reader.schema == table.schema
    assert pa.Table.from_batches(reader) == table


def test_an_error_of_a_stream_is_raised(cells: str, tmp_path: Path) -> None:
    import shutil

    uri = tmp_path / "array"
    shutil.copytree(cells, uri)
    read = tdb.open(uri).read(["number"])
    for data in uri.glob("__fragments/*/a0.tdb"):
        data.write_bytes(data.read_bytes()[:-100])
    with pytest.raises(Exception, match=r"a0\.tdb"):
        pa.RecordBatchReader.from_stream(read).read_all()
    with pytest.raises(Exception, match=r"a0\.tdb"):
        duckdb.sql("SELECT sum(number) FROM read").fetchall()


def test_pandas_keeps_types(cells: str) -> None:
    # CI runs this test with pandas 2 and 3.
    frame = tdb.open(cells).read(order="row-major").to_pandas()
    table = tdb.open(cells).read(order="row-major").to_arrow()
    assert str(frame["depth"].dtype) == "Int16" and frame["depth"].isna().sum() == CELLS // 5
    assert isinstance(frame["filter"].dtype, pd.CategoricalDtype) and frame["filter"].cat.ordered
    assert frame["text"].tolist() == table["text"].to_pylist()
    assert str(frame["ns"].dtype) == "datetime64[ns]" and str(frame["ms"].dtype) == "datetime64[ms]"
    assert frame["day"].isna().sum() == len(range(0, CELLS, 9))
    grouped = frame.groupby("filter", observed=True)["number"].count()
    assert grouped.to_dict() == {"z": 667, "a": 667, "m": 666}
    plain = table.to_pandas()
    assert plain["number"].equals(frame["number"]) and plain["float"].equals(frame["float"])
    if hasattr(pd.DataFrame, "from_arrow"):
        pd.testing.assert_frame_equal(
            pd.DataFrame.from_arrow(tdb.open(cells).read(["number"])), frame[["number"]]
        )
