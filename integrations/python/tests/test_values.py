"""Values of Python, NumPy, pandas, polars and pyarrow in writes and selections."""

from __future__ import annotations

import datetime
import os
import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import tdb


@pytest.fixture
def uri(tmp_path: Path) -> str:
    return str(tmp_path / "array")


def sparse(uri: str, attribute: tdb.Attribute, **settings: Any) -> tdb.Array:
    dimension = tdb.Dimension("d", "int64", (0, 99), 10)
    return tdb.create(uri, tdb.Schema([dimension], [attribute], sparse=True, **settings))


def written(array: tdb.Array, values: Any) -> list[Any]:
    """Writes the values of the attribute `v`, and reads them."""
    array.write({"d": np.arange(len(values)), "v": values})
    return array.read(["v"], order="row-major").to_numpy()["v"].tolist()


def dense(uri: str, attribute: tdb.Attribute, size: int = 3, **settings: Any) -> tdb.Array:
    dimension = tdb.Dimension("d", "int64", (0, size - 1), size)
    return tdb.create(uri, tdb.Schema([dimension], [attribute], sparse=False, **settings))


@pytest.mark.parametrize("order", ["row-major", "col-major", "global", None])
def test_a_dense_write_keeps_the_places_of_cells_in_every_order(
    uri: str, order: str | None
) -> None:
    values = np.arange(60, dtype=np.int32).reshape(5, 12)
    array = tdb.from_numpy(uri, np.zeros_like(values), tile=(2, 5))
    array.write({"value": values}, order=order)
    np.testing.assert_array_equal(array[...], values)
    array.write({"value": values[1:3, 2:5] + 100}, ranges={"dim_0": (1, 2), "dim_1": (2, 4)})
    part = array.read(order="col-major", ranges={"dim_0": (0, 3)}).to_numpy()["value"]
    array.write({"value": part + 1}, order=order, ranges={"dim_0": (0, 3)})
    np.testing.assert_array_equal(array[:4], part + 1)


def test_validity_follows_the_order_of_a_dense_write(uri: str) -> None:
    values = np.ma.MaskedArray(np.arange(12).reshape(3, 4), np.arange(12).reshape(3, 4) % 5 == 0)
    array = tdb.from_numpy(uri, values)
    array.write({"value": values}, order="col-major")
    assert array[...].tolist() == values.tolist()


def whole(array: tdb.Array) -> list[int]:
    return array[...].tolist()


def test_a_copy_has_the_changes_of_its_original(uri: str) -> None:
    array = tdb.from_numpy(uri, np.arange(5))
    assert whole(pickle.loads(pickle.dumps(array))) == [0, 1, 2, 3, 4]
    array[:] = np.arange(5) * 10
    assert whole(pickle.loads(pickle.dumps(array))) == [0, 10, 20, 30, 40]
    array[0] = 7
    assert whole(tdb.open(uri, at=array.time[1])) == [7, 10, 20, 30, 40]


def test_a_failed_refresh_is_repeated(uri: str) -> None:
    array = tdb.from_numpy(uri, np.arange(3))
    array[:] = np.arange(3) + 5
    os.rename(uri, uri + "x")
    with pytest.raises(tdb.Error):
        whole(array)
    os.rename(uri + "x", uri)
    assert whole(array) == [5, 6, 7]


def test_every_thread_reads_a_finished_write(uri: str) -> None:
    array = dense(uri, tdb.Attribute("v", "int64"))
    late: list[int] = []
    for number in range(40):
        array[:] = number
        start = threading.Barrier(4)

        def read(start: threading.Barrier = start, number: int = number) -> None:
            start.wait()
            if array[0] != number:
                late.append(number)

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert late == []


@pytest.mark.parametrize(
    "nothing",
    [
        [],
        np.array([], np.int64),
        range(5, 5),
        range(0, 0, 2),
        [range(3, 3)],
        pd.Series([], dtype="int64"),
    ],
)
def test_an_empty_selection_selects_nothing(uri: str, nothing: Any) -> None:
    array = sparse(uri, tdb.Attribute("v", "int64"))
    array.write({"d": [1, 2, 5], "v": [1, 2, 5]})
    assert array.read(ranges={"d": nothing}).to_numpy()["v"].tolist() == []
    assert array.read(ranges={"d": nothing}).aggregate(tdb.count()) == {"count": 0}
    assert array.read(ranges={"d": nothing}, points={"d": [1]}).to_arrow().num_rows == 0
    assert array.read(ranges={"d": [nothing, 2]}).to_numpy()["v"].tolist() == [2]
    with pytest.raises(tdb.UsageError, match="not a dimension"):
        array.read(ranges={"x": nothing}).to_numpy()
    cells = tdb.from_numpy(uri + "2", np.arange(6).reshape(2, 3))
    assert cells.read(ranges={"dim_0": nothing, "dim_1": 1}).to_arrow().num_rows == 0


@pytest.mark.parametrize(
    ("enumeration", "values", "message"),
    [
        (tdb.Enumeration("E", ["a", "b"]), [7], "cell 0, field 'E': 7 is not a valid string_utf8"),
        (tdb.Enumeration("E", ["a", "b"]), ["c", None], "cell 1, field 'E': None"),
        (tdb.Enumeration("E", ["a", "b"]), [b"\xff"], "cell 0, field 'E': 'utf-8'"),
        (tdb.Enumeration("E", ["a", "b"]), "cd", "enumeration 'E': 'cd' is not a list"),
        (tdb.Enumeration("E", [1, 2], dtype="uint8"), [3, 300], "cell 1, field 'E': 300"),
        (tdb.Enumeration("E", [1, 2], dtype="uint8"), [-1], "cell 0, field 'E': -1"),
        (tdb.Enumeration("E", [1, 2]), [2.5], "column 'E': found float64"),
        (tdb.Enumeration("E", [1, 2]), [3, None], "cell 1, field 'E': None"),
        (tdb.Enumeration("E", [1, 2]), ["x"], "column 'E': found <U1"),
        (tdb.Enumeration("E", [1.5]), [2**53 + 1], "field 'E': 9007199254740993"),
    ],
)
def test_values_of_another_type_never_extend_an_enumeration(
    uri: str, enumeration: tdb.Enumeration, values: Any, message: str
) -> None:
    array = sparse(uri, tdb.Attribute("v", "int8", enumeration="E"), enumerations=[enumeration])
    with pytest.raises(tdb.UsageError, match=message) as caught:
        array.evolve(extend={"E": values})
    assert caught.value.field == "E"
    assert array.enumerations["E"].tolist() == enumeration.values
    with pytest.raises(tdb.UsageError, match="unknown enumeration 'F'"):
        array.evolve(extend={"F": values})


def test_enumerations_of_every_type_are_extended(uri: str) -> None:
    day = np.datetime64("2024-01-02")
    cases: list[tuple[tdb.Enumeration, list[Any], list[Any]]] = [
        (tdb.Enumeration("E", ["a"]), ["é", b"c"], ["a", "é", "c"]),
        (tdb.Enumeration("E", [b"a"]), [b"\xff"], [b"a", b"\xff"]),
        (tdb.Enumeration("E", [1], dtype="uint8"), [np.int64(2), 255], [1, 2, 255]),
        (tdb.Enumeration("E", [1.5], dtype="float32"), [0.1], [1.5, float(np.float32(0.1))]),
        (
            tdb.Enumeration("E", [3], dtype="datetime_day"),
            [day],
            [datetime.date(1970, 1, 4), day.item()],
        ),
    ]
    for place, (enumeration, values, expected) in enumerate(cases):
        attribute = tdb.Attribute("v", "int8", enumeration="E")
        array = sparse(f"{uri}{place}", attribute, enumerations=[enumeration])
        array.evolve(extend={"E": values})
        assert array.enumerations["E"].tolist() == expected


@pytest.mark.parametrize(
    "minute",
    [
        np.timedelta64(1, "m"),
        np.timedelta64(60_000, "ms"),
        datetime.timedelta(minutes=1),
        pd.Timedelta("1min"),
        datetime.time(0, 1),
    ],
)
def test_a_duration_has_a_unit(uri: str, minute: Any) -> None:
    array = sparse(uri, tdb.Attribute("v", "time_sec"))
    assert written(array, [minute, datetime.timedelta(seconds=1)])[0].total_seconds() == 60
    array.write({"d": [2], "v": np.array([600], "m8[s]")})
    col = tdb.col("v")
    for condition, expected in [
        (col == minute, [0]),
        (~(col < minute), [0, 2]),
        (col.is_in([minute, np.timedelta64(10, "m")]), [0, 2]),
        (col.between(minute, minute) | "d = 1", [0, 1]),
        ("d > 0" & (col != minute), [1, 2]),
    ]:
        found = array.read(["d"], where=condition, order="row-major").to_numpy()
        assert found["d"].tolist() == expected
    array.delete(col == minute)
    assert array.read(["d"], order="row-major").to_numpy()["d"].tolist() == [1, 2]
    schema = tdb.Schema(
        [tdb.Dimension("t", "time_sec", (0, 9999), 10)], [tdb.Attribute("v", "int8")], sparse=True
    )
    times = tdb.create(uri + "2", schema)
    times.write({"t": np.array([1, 60, 600], "m8[s]"), "v": [1, 2, 3]})
    assert times.read(ranges={"t": minute}).to_numpy()["v"].tolist() == [2]
    assert times.read(ranges={"t": (minute, None)}).to_numpy()["v"].tolist() == [2, 3]
    assert times.read(boxes=[{"t": (None, minute)}]).to_numpy()["v"].tolist() == [1, 2]
    assert times.read(points={"t": [minute]}).to_numpy()["v"].tolist() == [2]


def test_a_duration_that_is_no_whole_number_of_units_is_refused(uri: str) -> None:
    array = sparse(uri, tdb.Attribute("v", "time_sec"))
    half = np.timedelta64(1500, "ms")
    with pytest.raises(tdb.UsageError, match="field 'v': 1500 milliseconds is not a whole number"):
        array.read(where=tdb.col("v") == half).to_numpy()
    with pytest.raises(tdb.UsageError, match=r"field 'd': found timedelta64\[ms\], expected int64"):
        array.read(ranges={"d": half}).to_numpy()
    with pytest.raises(tdb.UsageError, match="cell 1, field 'v'") as caught:
        array.write({"d": [1, 2], "v": [datetime.timedelta(0), half]})
    assert caught.value.cell == 1
    assert repr(tdb.col("v") > half) == "Condition('`v` > 1500 milliseconds')"


MIDNIGHTS: list[Any] = [
    np.datetime64("2024-05-01"),
    np.datetime64("2024-05-01T00", "h"),
    np.datetime64("2024-05"),
    datetime.datetime(2024, 5, 1),
    pd.Timestamp("2024-05-01"),
]


@pytest.mark.parametrize("midnight", MIDNIGHTS)
@pytest.mark.parametrize("unit", ["s", "ns"])
def test_a_datetime_is_an_instant(uri: str, midnight: Any, unit: str) -> None:
    first = np.datetime64("2024-05-01", unit).astype(np.int64)
    stamps = np.array([first - 1, first, first + 1, first + 10**4], f"M8[{unit}]")
    array = sparse(uri, tdb.Attribute("v", f"datetime64[{unit}]"))
    assert written(array, stamps) == stamps.tolist()
    col, instant = tdb.col("v"), stamps == stamps[1]
    for condition, expected in [
        (col == midnight, instant),
        (col != midnight, ~instant),
        (col <= midnight, stamps <= stamps[1]),
        (col > midnight, stamps > stamps[1]),
        (col.is_in([midnight]), instant),
        # A date and a text are whole days.
        (col == datetime.date(2024, 5, 1), stamps > stamps[0]),
        (col == "2024-05-01", stamps > stamps[0]),
    ]:
        found = array.read(["d"], where=condition, order="row-major").to_numpy()
        assert found["d"].tolist() == np.flatnonzero(expected).tolist()
    array.delete(col == midnight)
    assert array.read(["d"], order="row-major").to_numpy()["d"].tolist() == [0, 2, 3]
    domain = (np.datetime64("2000-01-01"), np.datetime64("2030-01-01"))
    dimension = tdb.Dimension("t", f"datetime64[{unit}]", domain, np.timedelta64(1, "D"))
    schema = tdb.Schema([dimension], [tdb.Attribute("v", "int8")], sparse=True)
    times = tdb.create(uri + "2", schema)
    times.write({"t": stamps, "v": [0, 1, 2, 3]})
    for ranges, values in [
        (midnight, [1]),
        ((None, midnight), [0, 1]),
        ((midnight, None), [1, 2, 3]),
        ([midnight, midnight], [1]),
        ("2024-05-01", [1, 2, 3]),
    ]:
        found = times.read(ranges={"t": ranges}, order="row-major").to_numpy()
        assert found["v"].tolist() == values
    assert times.read(points={"t": [midnight]}).to_numpy()["v"].tolist() == [1]


def test_an_instant_between_two_values_compares_as_in_numpy(uri: str) -> None:
    days = np.array(["2024-04-30", "2024-05-01", "2024-05-02"], "M8[D]")
    array = sparse(uri, tdb.Attribute("v", "datetime64[D]"))
    written(array, days)
    col = tdb.col("v")
    for noon in (np.datetime64("2024-05-01T12:00", "ns"), pd.Timestamp("2024-05-01T12:00")):
        for condition, expected in [
            (col == noon, []),
            (col != noon, [0, 1, 2]),
            (col < noon, [0, 1]),
            (col <= noon, [0, 1]),
            (col >= noon, [2]),
            (col.is_in([noon]), []),
        ]:
            found = array.read(["d"], where=condition, order="row-major").to_numpy()
            assert found["d"].tolist() == expected
        with pytest.raises(tdb.UsageError, match="cell 0, field 'v': 2024-05-01T12") as caught:
            array.write({"d": [5], "v": [noon]})
        assert caught.value.cell == 0
    far = np.datetime64("12000-01-01", "D")
    assert array.read(where=col < far).to_arrow().num_rows == 3
    with pytest.raises(tdb.UsageError, match="time zone"):
        _ = col == pd.Timestamp("2024-05-01", tz="UTC")


STAMP = np.datetime64("2024-05-01T00:00:00.123456789")


@pytest.mark.parametrize(
    ("datatype", "column", "expected"),
    [
        ("datetime_ns", pl.Series(np.array([STAMP])), STAMP),
        ("datetime_ns", pa.array([STAMP]), STAMP),
        ("datetime_ns", pa.chunked_array([[STAMP], []], pa.timestamp("ns")), STAMP),
        ("datetime_ns", [pd.Timestamp(STAMP)], STAMP),
        ("datetime_day", pl.Series([datetime.date(2024, 5, 1)]), np.datetime64("2024-05-01")),
        ("datetime_day", pa.array([datetime.date(2024, 5, 1)]), np.datetime64("2024-05-01")),
        ("datetime_ms", pa.array([1], pa.date64()), np.datetime64(1, "ms")),
        ("time_ns", pl.Series([datetime.timedelta(seconds=1)]), np.timedelta64(10**9, "ns")),
        ("time_ns", pl.Series(np.array([123456789], "m8[ns]")), np.timedelta64(123456789, "ns")),
        ("time_ns", pl.Series([datetime.time(0, 0, 1)]), np.timedelta64(10**9, "ns")),
        ("time_us", pa.array([datetime.timedelta(seconds=1)]), np.timedelta64(10**6, "us")),
        ("time_ns", pa.array([123456789], pa.time64("ns")), np.timedelta64(123456789, "ns")),
        ("time_sec", pa.array([5], pa.time32("s")), np.timedelta64(5, "s")),
        ("time_sec", [datetime.timedelta(minutes=1)], np.timedelta64(60, "s")),
        ("time_sec", [pd.Timedelta("1min")], np.timedelta64(60, "s")),
    ],
)
def test_dates_and_durations_of_libraries_keep_all_digits(
    uri: str, datatype: str, column: Any, expected: Any
) -> None:
    array = sparse(uri, tdb.Attribute("v", datatype))
    array.write({"d": [0], "v": column})
    assert array.read(["v"]).to_numpy()["v"][0] == expected


def test_missing_dates_of_libraries_are_null(uri: str) -> None:
    array = sparse(uri, tdb.Attribute("v", "datetime_us", nullable=True))
    noon = datetime.datetime(2024, 5, 1, 12)
    columns: list[Any] = [
        pl.Series([noon, None]),
        pa.array([noon, None]),
        [noon, pd.NaT],
        [noon, np.datetime64("NaT")],
        pd.Series([noon, np.nan], dtype=object),
        pd.Series([noon, pd.NaT], dtype=object),
    ]
    for column in columns:
        assert written(array, column) == [noon, None]
    values = dense(uri + "2", tdb.Attribute("v", "datetime_us"), 2)
    values.write({"v": [noon, pd.NaT]})
    assert np.isnat(values[...]).tolist() == [False, True]
    with pytest.raises(tdb.UsageError, match="null"):
        values.write({"v": pl.Series([noon, None])})
    zoned = pl.Series([noon]).dt.replace_time_zone("UTC")
    for column in (zoned, zoned.to_arrow()):
        with pytest.raises(tdb.UsageError, match=r"column 'v': .* has the time zone UTC"):
            array.write({"d": [0], "v": column})


def test_columns_with_one_name_are_refused(uri: str) -> None:
    rows = [[1, 2], [3, 4]]
    pairs = pd.MultiIndex.from_tuples([(1, "a"), (2, "b")])
    cases = [
        (pd.DataFrame(rows, columns=[1, "1"]), "two columns are named '1'"),
        (pd.DataFrame(rows, columns=["a", "a"]), "two columns are named 'a'"),
        (
            pd.DataFrame({"a": [1, 2]}, index=pd.Index([5, 6], name="a")),
            "two columns are named 'a'",
        ),
        (pd.DataFrame({"a": [1, 2]}, index=pairs), "level 0 of the index has no name"),
        (pd.Series([1, 2], name="s"), "cannot take columns from Series"),
    ]
    array = sparse(uri, tdb.Attribute("v", "int64"))
    for frame, message in cases:
        with pytest.raises(tdb.UsageError, match=message):
            array.write(frame)
        with pytest.raises(tdb.UsageError, match=message):
            tdb.from_pandas(uri + "2", frame)
    with pytest.raises(tdb.UsageError, match="two columns are named 'd'"):
        array.read(points=pa.table([pa.array([1]), pa.array([2])], names=["d", "d"])).to_numpy()


def test_positions_outside_of_an_enumeration_are_refused(uri: str) -> None:
    attribute = tdb.Attribute("v", "int8", enumeration="E", nullable=True)
    array = sparse(uri, attribute, enumerations=[tdb.Enumeration("E", ["a", "b"])])
    for column in ([1, 7], [0, -1], np.array([0, 2]), np.ma.MaskedArray([9, 2], [True, False])):
        with pytest.raises(tdb.UsageError, match="not a position in enumeration 'E'") as caught:
            array.write({"d": [0, 1], "v": column})
        assert (caught.value.field, caught.value.cell) == ("v", 1)
    for column in (
        [1, None],
        [np.int64(1), None],
        pd.Series(["b", np.nan], dtype=object),
        np.ma.MaskedArray([1, 9], [False, True]),
        pd.Categorical(pd.array(["b", None], dtype="string")),
        pl.Series(["b", None]),
    ):
        assert written(array, column) == ["b", None]


def test_an_integer_in_a_list_of_floats_is_exact(uri: str) -> None:
    array = sparse(uri, tdb.Attribute("v", "float64"))
    assert written(array, [2**53, 0.1, -3]) == [2.0**53, 0.1, -3.0]
    for number in (2**53 + 1, 10**400):
        with pytest.raises(tdb.UsageError, match=f"cell 1, field 'v': {number} is not") as caught:
            array.write({"d": [0, 1], "v": [0.5, number]})
        assert (caught.value.field, caught.value.cell) == ("v", 1)
    narrow = sparse(uri + "2", tdb.Attribute("v", "float32", values_per_cell=2))
    with pytest.raises(tdb.UsageError, match="cell 0, field 'v': 16777217"):
        narrow.write({"d": [0], "v": [[1, 2**24 + 1]]})


def test_categories_with_missing_values(uri: str) -> None:
    columns = [
        pd.Categorical(pd.array(["a", None, "b"], dtype="string")),
        pd.Categorical(pd.array([1, None, 2], dtype="Int64")),
        pd.Categorical([None, None, None]),
        pd.Categorical([None, None, None], categories=["a"]),
    ]
    for place, column in enumerate(columns):
        array = tdb.from_pandas(f"{uri}{place}", pd.DataFrame({"c": column}))
        found = array.read(["c"]).to_pandas()["c"]
        assert found.isna().tolist() == pd.isna(column).tolist()
        assert found.dropna().tolist() == [value for value in column if not pd.isna(value)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, np.nan], [1, pd.NA]),
        ([True, pd.NA], [True, pd.NA]),
        ([np.str_("a"), None], ["a", None]),
        ([np.int64(1), np.int64(2)], [1, 2]),
        ([np.bool_(True), None], [True, pd.NA]),
    ],
)
def test_objects_of_numpy_and_pandas(uri: str, values: Any, expected: list[Any]) -> None:
    frame = pd.DataFrame({"c": pd.Series(values, dtype=object)})
    found = tdb.from_pandas(uri, frame).read(["c"]).to_pandas()["c"].tolist()
    assert [str(value) for value in found] == [str(value) for value in expected]
    column = np.empty(2, dtype=object)
    column[:] = values
    if not any(isinstance(value, float) for value in values):
        assert tdb.from_numpy(uri + "2", column).read().to_arrow().num_rows == 2


def test_arrays_of_arrays_are_refused(uri: str) -> None:
    values = np.empty(2, dtype=object)
    values[:] = [np.arange(2), np.arange(3)]
    with pytest.raises(tdb.UsageError, match="column 'value': arrays do not support ndarray"):
        tdb.from_numpy(uri, values)


@pytest.mark.parametrize(
    "row",
    [
        [1, 2, 3],
        (1, 2, 3),
        range(1, 4),
        pd.Series([1, 2, 3]),
        pd.Series([1, 2, 3], dtype="Int64"),
        pl.Series([1, 2, 3]),
        pa.array([1, 2, 3]),
        memoryview(np.array([1, 2, 3])),
        [np.int8(1), 2, 3],
    ],
)
def test_columns_of_libraries_are_assigned(uri: str, row: Any) -> None:
    array = tdb.from_numpy(uri, np.zeros((2, 3), np.int32))
    array[1] = row
    assert array[...].tolist() == [[0, 0, 0], [1, 2, 3]]
    array[:] = pd.DataFrame([[1, 2, 3], [4, 5, 6]])
    assert array[...].tolist() == [[1, 2, 3], [4, 5, 6]]


def test_data_frames_are_assigned_to_several_attributes(uri: str) -> None:
    array = tdb.from_numpy(uri, {"a": np.zeros(2, np.int8), "b": np.array(["", ""])})
    array[:] = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    assert array[...]["b"].tolist() == ["x", "y"]
    array[:] = np.array([(3, "u"), (4, "v")], [("a", "i1"), ("b", "U1")])
    assert array[...]["a"].tolist() == [3, 4] and array[...]["b"].tolist() == ["u", "v"]
    with pytest.raises(tdb.UsageError, match="cannot take columns from int"):
        array[0] = 1


def test_numbers_of_python_round_to_float32_in_dense_and_sparse_arrays(uri: str) -> None:
    expected = [float(np.float32(number)) for number in (0.1, 0.2, 0.3)]
    assert written(sparse(uri, tdb.Attribute("v", "float32")), [0.1, 0.2, 0.3]) == expected
    array = dense(uri + "2", tdb.Attribute("v", "float32"))
    array.write({"v": [0.1, 0.2, 0.3]})
    assert array[...].tolist() == expected
    array[:2] = [0.3, 0.2]
    array[2] = 0.1
    assert array[...].tolist() == expected[::-1]
    with pytest.raises(tdb.UsageError, match=r"0\.1 is not a valid float32"):
        array[:] = np.array([0.1, 0.2, 0.3])


@pytest.mark.parametrize(
    "tile", [np.timedelta64(1, "D"), datetime.timedelta(days=1), pd.Timedelta("1D"), 86400]
)
def test_the_tile_of_a_dimension_of_dates_is_a_duration(uri: str, tile: Any) -> None:
    domain = (np.datetime64("2024-01-01"), datetime.date(2025, 1, 1))
    dimension = tdb.Dimension("t", "datetime64[s]", domain, tile)
    array = tdb.create(uri, tdb.Schema([dimension], [tdb.Attribute("v", "int8")], sparse=True))
    assert array.schema.dimensions[0].tile == 86400
    with pytest.raises(
        tdb.UsageError, match="field 't': 36 hours is not a whole number of time_day"
    ):
        tdb.create(
            uri + "2",
            tdb.Schema(
                [tdb.Dimension("t", "datetime64[D]", domain, np.timedelta64(36, "h"))],
                [tdb.Attribute("v", "int8")],
                sparse=True,
            ),
        )


def test_wrong_types_of_arguments_are_named(uri: str) -> None:
    array = sparse(uri, tdb.Attribute("v", "int64"))
    array.write({"d": [1, 2], "v": [1, 2]})
    calls: list[tuple[str, Any]] = [
        ("at is 1.5; expected an integer", lambda: tdb.open(uri, at=1.5)),  # type: ignore[arg-type]
        ("at is -1; expected 0 or more", lambda: tdb.open(uri, at=-1)),
        ("at is .*; expected less than", lambda: tdb.open(uri, at=2**64)),
        ("between is 5; expected", lambda: tdb.open(uri, between=5)),  # type: ignore[arg-type]
        ("threads is '2'", lambda: tdb.open(uri, threads="2")),  # type: ignore[arg-type]
        ("key is of type str", lambda: tdb.open(uri, key="k" * 32)),  # type: ignore[arg-type]
        ("limit is 1.5", lambda: array.read(limit=1.5)),  # type: ignore[arg-type]
        ("limit is True", lambda: array.read(limit=True)),
        ("budget is 'x'", lambda: array.read(budget="x")),  # type: ignore[arg-type]
        ("cells is 0; expected 1 or more", lambda: array.read().batches(0)),
        ("at is 'now'", lambda: array.write({"d": [1], "v": [1]}, at="now")),  # type: ignore[arg-type]
        ("at is 'now'", lambda: array.delete("v = 1", at="now")),  # type: ignore[arg-type]
        ("expected an aggregate", lambda: array.aggregate("count")),  # type: ignore[arg-type]
    ]
    for message, call in calls:
        with pytest.raises(tdb.UsageError, match=message):
            call()
    assert array.read(limit=np.int64(1)).to_arrow().num_rows == 1


def test_tables_of_polars_and_pyarrow_are_points(uri: str) -> None:
    array = sparse(uri, tdb.Attribute("v", "int64"))
    written(array, [5, 6, 7])
    for points in (pl.DataFrame({"d": [1]}), pa.table({"d": [1]}), pd.DataFrame({"d": [1]})):
        read = array.read(points=points)
        assert read.to_numpy()["v"].tolist() == [6]
        assert "points" in repr(read)


def test_arrays_at_two_paths_are_compared(uri: str) -> None:
    tdb.from_numpy(uri, np.arange(3))
    tdb.from_numpy(uri + "2", np.array([0, 1, 5]))
    assert tdb.diff(uri, uri).is_same
    found = tdb.diff(uri, tdb.open(uri + "2"))
    assert not found.is_same and found.counts["differing_cells"] == 1


def test_a_text_between_two_dates_is_no_value(uri: str) -> None:
    array = sparse(uri, tdb.Attribute("v", "datetime_day"))
    for text in ("2024-01-01T12:00", "2024-01-01T00:00:00.5"):
        with pytest.raises(tdb.UsageError, match="is not a valid datetime_day"):
            array.write({"d": [1], "v": [text]})
    array.write({"d": [1, 2], "v": ["2024-01-01T00:00", "2024-01"]})
    assert array.read().to_numpy()["v"].astype(str).tolist() == ["2024-01-01", "2024-01-01"]
