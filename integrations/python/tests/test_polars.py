"""Scans by polars."""

from __future__ import annotations

import datetime
import operator
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import tdb
import tdb.polars
import tiledb
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

CELLS = 2000
DATES = {"day": "D", "month": "M", "sec": "s", "ms": "ms", "ns": "ns"}


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A sparse array of 20 tiles with a column of each kind, written by TileDB-Py."""
    uri = str(tmp_path_factory.mktemp("cells") / "array")
    domain = tiledb.Domain(tiledb.Dim("pos", domain=(0, 1_000_000), tile=1000, dtype=np.uint32))
    attributes = [
        tiledb.Attr("number", dtype=np.int64),
        tiledb.Attr("float", dtype=np.float32),
        tiledb.Attr("depth", dtype=np.int16, nullable=True),
        tiledb.Attr("flag", dtype=np.bool_),
        tiledb.Attr("text", dtype="U", var=True),
        tiledb.Attr("filter", dtype=np.int8, enum_label="filters"),
        *(tiledb.Attr(name, dtype=f"datetime64[{unit}]") for name, unit in DATES.items()),
    ]
    filters = tiledb.Enumeration("filters", True, values=["z", "a", "m"])
    schema = tiledb.ArraySchema(
        domain=domain, attrs=attributes, sparse=True, capacity=100, enums=[filters]
    )
    tiledb.Array.create(uri, schema)
    places = np.arange(CELLS)
    floats = (places / 4).astype(np.float32)
    floats[::7] = np.nan
    # 30 hours from cell to cell, before and after 1970.
    times = ((places - 100) * 108_000_000_000_123).astype("datetime64[ns]")
    data = {
        "number": places,
        "float": floats,
        "depth": pd.array(
            [None if place % 5 == 0 else place // 2 for place in places], dtype="Int16"
        ),
        "flag": places % 3 == 0,
        "text": np.array([f"t{place:04}" for place in places]),
        "filter": (places * 3 // CELLS).astype(np.int8),
        **{name: times.astype(f"datetime64[{unit}]") for name, unit in DATES.items()},
    }
    data["day"][::9] = "NaT"
    with tiledb.open(uri, "w") as array:
        array[places] = data
    return uri


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A dense array of 100 tiles, written by TileDB-Py."""
    uri = str(tmp_path_factory.mktemp("grid") / "array")
    dimensions = [tiledb.Dim(name, domain=(0, 99), tile=10, dtype=np.int32) for name in "yx"]
    schema = tiledb.ArraySchema(tiledb.Domain(*dimensions), [tiledb.Attr("a", dtype=np.int64)])
    tiledb.Array.create(uri, schema)
    with tiledb.open(uri, "w") as array:
        array[:] = np.arange(10_000).reshape(100, 100)
    return uri


c = pl.col
MIDDLE = datetime.date(1970, 3, 15)
DAY = datetime.date(1970, 3, 1)
TIME = datetime.datetime(1970, 3, 1, 7, 30)
BEFORE = datetime.datetime(1969, 12, 1, 7, 30, 5, 999)

#: Filters that become conditions, and those that do not.
TRANSLATED = [
    c("number") > 1900,
    1900 <= c("number"),
    c("number") == 7,
    c("number") != 7,
    ~(c("number") < 1900),
    ~((c("number") < 1900) | (c("float") > 480)),
    ~((c("number") < 1900) & (c("number") > 10)),
    (c("number") > 1900) & (c("number") % 2 == 0),
    (c("number") % 2 == 0) & (c("number") > 1900),
    (c("number") > 1900) & (c("text") > "t1950") & c("flag"),
    c("number").is_in([3, 1999, None]),
    c("number").is_between(5, 10, closed="both"),
    c("number").is_between(5, 10, closed="none"),
    c("number").is_between(5, 10, closed="left"),
    c("pos") > 1900,
    (c("pos") < 5) | (c("pos") >= 1995),
    c("float") > 480,
    c("float") >= 480.25,
    c("float") < 2.5,
    ~(c("float") < 480),
    ~(c("float") > 480),
    c("float") != 1.25,
    c("float").is_in([1.25, 2.0]),
    c("depth") > 900,
    ~(c("depth") > 10),
    c("depth") != 3,
    c("depth").is_null(),
    c("depth").is_not_null(),
    ~c("depth").is_null(),
    c("depth").is_null() | (c("depth") == 2),
    c("flag"),
    ~c("flag"),
    c("flag") == False,  # noqa: E712
    c("text") == "t0003",
    c("text") <= "t0003",
    c("text").is_in(["t0003", "it's"]),
    c("filter") == "a",
    c("filter") != "a",
    c("filter") == "missing",
    c("filter").is_in(["m"]),
    c("day") > DAY,
    c("day") == DAY,
    ~(c("day") <= DAY),
    c("day").is_in([DAY]),
    c("month") > DAY,
    c("month") < DAY,
    c("month") == DAY,
    c("month") < MIDDLE,
    ~(c("month") >= MIDDLE),
    c("sec") >= TIME,
    c("ms") < TIME,
    c("ms") < BEFORE,
    c("ms") > BEFORE,
    c("ns") > TIME,
    c("ns") <= BEFORE,
    c("ns").is_between(BEFORE, TIME),
]
UNTRANSLATED = [
    c("number") % 2 == 0,
    (c("number") % 2 == 0) | (c("number") > 1900),
    ~((c("number") % 2 == 0) & (c("number") > 1900)),
    c("number") > c("pos"),
    c("number").cast(pl.Float64) > 3.5,
    c("number").ne_missing(3),
    ~c("number").is_in([3, 4]),
    ~c("number").is_between(5, 10),
    c("number").is_in([]),
    c("float") == float("nan"),
    c("float") > float("nan"),
    c("float").is_in([1.25, float("nan")]),
    c("depth") == pl.lit(None, pl.Int16),
    c("text").str.starts_with("t00"),
    c("day").is_null(),
    c("day") != DAY,
]


@pytest.mark.parametrize("predicate", TRANSLATED, ids=str)
def test_a_condition_selects_the_rows_of_the_filter(cells: str, predicate: pl.Expr) -> None:
    array = tdb.open(cells)
    everything = array.read().to_polars()
    assert_frame_equal(
        tdb.polars.scan(array).filter(predicate).collect(), everything.filter(predicate)
    )
    seen: list[pl.Expr] = []

    def source(columns: Any, predicate: pl.Expr | None, *_: Any) -> Any:
        assert predicate is not None
        seen.append(predicate)
        yield everything.filter(predicate)

    # The optimizer changes the filter.
    scan = pl.io.plugins.register_io_source(source, schema=everything.schema)
    scan.filter(predicate).collect()
    condition = tdb.polars.condition(seen[0], array)
    assert condition is not None
    kept = array.read(where=condition).to_polars()
    assert_frame_equal(kept.filter(predicate), everything.filter(predicate))
    assert len(kept) < len(everything) or predicate.meta.undo_aliases().meta.root_names() == [
        "filter"
    ]


@pytest.mark.parametrize("predicate", UNTRANSLATED, ids=str)
def test_polars_filters_the_rest(cells: str, predicate: pl.Expr) -> None:
    array = tdb.open(cells)
    assert tdb.polars.condition(predicate, array) is None
    expected = array.read().to_polars().filter(predicate)
    assert_frame_equal(tdb.polars.scan(array).filter(predicate).collect(), expected)


def combined(atoms: list[Any]) -> st.SearchStrategy[Any]:
    """Returns combinations of filters by AND, OR and NOT."""
    return st.recursive(
        st.sampled_from(atoms),
        lambda inner: st.one_of(
            st.builds(operator.and_, inner, inner),
            st.builds(operator.or_, inner, inner),
            st.builds(operator.invert, inner),
        ),
        max_leaves=6,
    )


@given(predicate=combined(TRANSLATED + UNTRANSLATED))
@settings(max_examples=200, deadline=None)
def test_combined_filters_select_the_rows_of_polars(cells: str, predicate: pl.Expr) -> None:
    array = tdb.open(cells)
    expected = array.read().to_polars().filter(predicate)
    assert_frame_equal(tdb.polars.scan(array).filter(predicate).collect(), expected)


def bytes_of(
    uri: str,
    use: Callable[[pl.LazyFrame], pl.LazyFrame],
    engine: Any = "auto",
    budget: int | None = None,
) -> tuple[int, int]:
    """Returns the bytes that a query read, and its number of rows."""
    array = tdb.open(uri)
    frame = use(tdb.polars.scan(array.read(budget=budget)))
    before = array.counters()["bytes_read"]
    rows = frame.collect(engine=engine).height
    return (array.counters()["bytes_read"] - before, rows)


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_filters_and_columns_skip_tiles(cells: str, grid: str, engine: Any) -> None:
    columns = ["number", "text", "ns"]
    total, rows = bytes_of(cells, lambda frame: frame.select(columns), engine)
    assert rows == CELLS
    for predicate in (
        c("number") > 1950,
        c("pos") > 1950,
        c("text") > "t1950",
        c("ns") > datetime.datetime(1976, 6, 1),
    ):
        some, rows = bytes_of(
            cells, lambda frame, where=predicate: frame.filter(where).select(columns), engine
        )
        assert 0 < rows < 100
        assert some < total / 2, predicate
    one, _ = bytes_of(cells, lambda frame: frame.select("number"), engine)
    assert one < total / 2
    total, _ = bytes_of(grid, lambda frame: frame, engine)
    some, rows = bytes_of(grid, lambda frame: frame.filter((c("y") < 10) & (c("x") < 10)), engine)
    assert rows == 100 and some < total / 4


def test_a_slice_reads_the_first_rows(cells: str) -> None:
    total, _ = bytes_of(cells, lambda frame: frame, budget=1 << 15)
    some, rows = bytes_of(cells, lambda frame: frame.head(3), budget=1 << 15)
    assert rows == 3 and some < total / 2
    frame, everything = tdb.polars.scan(cells), tdb.open(cells).read().to_polars()
    even = c("number") % 2 == 0
    late = c("number") > 1
    for predicate in (even, late):
        assert_frame_equal(
            frame.head(5).filter(predicate).collect(), everything.head(5).filter(predicate)
        )
        assert_frame_equal(
            frame.filter(predicate).head(5).collect(), everything.filter(predicate).head(5)
        )
    assert_frame_equal(frame.tail(3).collect(), everything.tail(3))
    assert frame.select(pl.len()).collect().item() == CELLS
    assert frame.filter(late).select(pl.len()).collect().item() == CELLS - 2


@pytest.mark.parametrize("count", [5, 120, 500])
def test_deep_filters_are_left_to_polars(cells: str, count: int) -> None:
    predicate = c("number") == 0
    for place in range(1, count):
        # Alternates, so that the optimizer does not flatten the filter.
        predicate = (predicate | (c("number") == place)) & (c("number") >= 0)
    found = tdb.polars.scan(cells).filter(predicate).select(pl.len())
    assert found.collect().item() == count


def test_batches_are_streamed(grid: str) -> None:
    array = tdb.open(grid)
    seen: list[int] = []
    frame = tdb.polars.scan(array.read(budget=1 << 12))
    frame.map_batches(lambda batch: seen.append(batch.height) or batch, streamable=True).select(  # type: ignore[func-returns-value]
        c("a").sum()
    ).collect(engine="streaming")
    assert sum(seen) == 10_000 and len(seen) > 1


def test_a_scan_has_the_selection_of_a_read(cells: str) -> None:
    read = tdb.open(cells).read(
        ["number", "text"], ranges={"pos": (10, 19)}, where="number > 12", order="row-major"
    )
    frame = tdb.polars.scan(read)
    assert frame.collect_schema().names() == ["number", "text"]
    assert frame.select("number").collect().to_series().to_list() == list(range(13, 20))
    assert frame.filter(c("number") < 15).select("number").collect().to_series().to_list() == [
        13,
        14,
    ]
    assert frame.filter(c("number") < 0).collect().is_empty()
    assert frame.filter(c("number") < 0).collect().schema == frame.collect_schema()


def test_a_scan_joins_and_groups_like_a_frame(cells: str) -> None:
    frame, everything = tdb.polars.scan(cells), tdb.open(cells).read().to_polars()

    def counts(frame: pl.LazyFrame) -> pl.DataFrame:
        other = frame.filter(c("flag")).select("pos", double=c("number") * 2)
        return (
            frame.join(other, on="pos")
            .group_by("filter")
            .agg(c("double").sum())
            .sort("double")
            .collect()
        )

    assert_frame_equal(counts(frame), counts(everything.lazy()))


def test_the_source_of_a_scan_is_pickled(cells: str) -> None:
    frame = pickle.loads(pickle.dumps(tdb.polars.scan(cells)))
    assert frame.filter(c("number") > 1997).select("number").collect().to_series().to_list() == [
        1998,
        1999,
    ]


@pytest.mark.parametrize(
    "name",
    [
        "v22-by-2.30.0-sparse-deletes",
        "v22-by-2.30.0-sparse-datetime",
        "v22-by-2.30.0-dense-enumerations",
        "v22-by-2.30.0-dense-2d-col-row",
        "v3-by-1.6.3-sparse",
        "v10-by-2.4.3-dense-evolved",
    ],
)
def test_arrays_of_all_releases_are_scanned(fixture_array: Callable[[str], str], name: str) -> None:
    array = tdb.open(fixture_array(name))
    assert_frame_equal(tdb.polars.scan(array).collect(), array.read().to_polars())


def test_a_missing_array_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(tdb.NotFoundError):
        tdb.polars.scan(tmp_path / "missing")


def test_a_filter_of_fill_values_is_left_to_polars(grid: str) -> None:
    read = tdb.open(grid).read(["a"], where="a < 100", fill=True)
    everything = read.to_polars()
    for predicate in (c("a") < 5, c("a") > 95):
        found = tdb.polars.scan(read).filter(predicate).collect()
        assert_frame_equal(found, everything.filter(predicate))


def test_a_read_with_a_limit_is_an_error(cells: str) -> None:
    with pytest.raises(tdb.UsageError, match="limit"):
        tdb.polars.scan(tdb.open(cells).read(limit=3))
