"""Writes, and input that is refused."""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tdb
import tiledb


@pytest.fixture
def uri(tmp_path: Path) -> str:
    return str(tmp_path / "array")


def calls_schema(**settings: Any) -> tdb.Schema:
    return tdb.Schema(
        [tdb.Dimension("chrom", str), tdb.Dimension("pos", np.uint32, (1, 1000), 100)],
        [
            tdb.Attribute("qual", "float32", fill=-1),
            tdb.Attribute("alt", str, filters=[tdb.Filter("zstd", level=5)]),
            tdb.Attribute("depth", np.int16, nullable=True),
            tdb.Attribute("day", "datetime64[D]"),
            tdb.Attribute("verdict", "int8", enumeration="verdicts"),
            tdb.Attribute("likelihoods", "float64", values_per_cell="var"),
            tdb.Attribute("pair", "int32", values_per_cell=2),
        ],
        sparse=True,
        enumerations=[tdb.Enumeration("verdicts", ["PASS", "low"])],
        **settings,
    )


def calls() -> dict[str, Any]:
    return {
        "chrom": ["2", "1", "1"],
        "pos": np.array([7, 20, 10], np.uint32),
        "qual": np.array([1.5, 2.5, 3.5], np.float32),
        "alt": np.array(["T", "", "Gé"]),
        "depth": np.ma.MaskedArray(np.array([1, 2, 3], np.int16), [False, True, False]),
        "day": np.array(["2024-01-01", "2024-01-02", "1960-02-29"], "datetime64[D]"),
        "verdict": ["PASS", "low", "PASS"],
        "likelihoods": [[1.0], [], [0.25, 0.75]],
        "pair": np.array([[1, 2], [3, 4], [5, 6]], np.int32),
    }


def check_calls(array: tdb.Array) -> None:
    cells = array.read(order="row-major").to_numpy()
    assert cells["pos"].tolist() == [10, 20, 7]
    assert cells["qual"].tolist() == [3.5, 2.5, 1.5]
    assert cells["alt"].tolist() == ["Gé", "", "T"]
    assert cells["depth"].tolist() == [3, None, 1]
    assert cells["day"].astype(str).tolist() == ["1960-02-29", "2024-01-02", "2024-01-01"]
    assert cells["verdict"].tolist() == ["PASS", "low", "PASS"]
    assert [list(cell) for cell in cells["likelihoods"]] == [[0.25, 0.75], [], [1.0]]
    assert cells["pair"].tolist() == [[5, 6], [3, 4], [1, 2]]


def test_a_dictionary_of_columns(uri: str) -> None:
    array = tdb.create(uri, calls_schema())
    written = array.write(calls())
    assert written.cells == 3 and len(written.fragments) == 1
    check_calls(array)
    check_calls(tdb.open(uri))


def test_lists_of_python_objects(uri: str) -> None:
    array = tdb.create(uri, calls_schema())
    columns = {
        name: column if isinstance(column, list) else column.tolist()
        for name, column in calls().items()
    }
    assert isinstance(columns["day"][0], datetime.date) and columns["depth"][1] is None
    array.write(columns)
    check_calls(array)


def test_arrow_pandas_and_polars_tables(uri: str) -> None:
    array = tdb.create(uri, calls_schema())
    columns = {
        name: pa.array(column.tolist() if name == "pair" else column)
        for name, column in calls().items()
    }
    columns["pair"] = pa.array(calls()["pair"].tolist(), pa.list_(pa.int32(), 2))
    table = pa.table(columns)
    array.write(table)
    check_calls(array)
    assert array.read().to_arrow().num_rows == 3
    array.write(table.to_batches()[0], at=array.time[1] + 10)
    array.write(pl.from_arrow(table), at=array.time[1] + 20)
    frame = pd.DataFrame({name: list(column) for name, column in calls().items()})
    frame["depth"] = pd.array([1, None, 3], dtype="Int16")
    frame["verdict"] = frame["verdict"].astype("category")
    frame["day"] = calls()["day"].astype("datetime64[s]")
    array.write(frame.astype({"pos": np.uint32}), at=array.time[1] + 30)
    check_calls(tdb.open(uri, at=array.time[1] + 100))
    assert len(tdb.open(uri, at=array.time[1] + 100).fragments) == 4


def test_tiledb_reads_the_cells(uri: str) -> None:
    tdb.create(uri, calls_schema()).write(calls())
    with tiledb.open(uri) as array:
        cells = array.query(attrs=["qual", "alt", "depth", "pair"])[:]
    assert [str(value) for value in cells["alt"]] == ["Gé", "", "T"]
    assert cells["qual"].tolist() == [3.5, 2.5, 1.5]


def test_dense_arrays_are_written_by_position(uri: str) -> None:
    schema = tdb.Schema(
        [tdb.Dimension("y", "int32", (-2, 7), 4), tdb.Dimension("x", "int32", (1, 6), 4)],
        [tdb.Attribute("a", "int64", fill=-9)],
        sparse=False,
    )
    array, expected = tdb.create(uri, schema), np.full((10, 6), -9)
    steps: list[tuple[Any, Any]] = [
        ((slice(2, 4), slice(1, 3)), np.array([[1, 2], [3, 4]])),
        ((0,), np.arange(6)),
        ((slice(None), -1), np.arange(10)),
        ((slice(-2, None), slice(0, 2)), 7),
        ((5, 5), 8),
        ((slice(6, 8), slice(2, 4)), np.array([[1, 2], [3, 4]]).T[::-1]),
        ((slice(3, 3),), np.zeros((0, 6), np.int64)),
    ]
    for key, values in steps:
        array[key] = values
        expected[key] = values
        np.testing.assert_array_equal(array[...], expected)
    with tiledb.open(uri) as judge:
        np.testing.assert_array_equal(judge[:]["a"], expected)
    array.write({"a": np.array([[1, 2]])}, ranges={"y": -2, "x": (1, 2)})
    assert array[0, :2].tolist() == [1, 2]
    with pytest.raises(tdb.UsageError, match=r"found the shape \(2, 2\), expected \(1, 2\)"):
        array.write({"a": np.array([[1, 2], [3, 4]])}, ranges={"y": -2, "x": (1, 2)})
    with pytest.raises(IndexError, match="step"):
        array[::2] = 1


def test_several_attributes_of_a_dense_array(uri: str) -> None:
    texts = np.array([["a", "bb"], ["", "é"]], dtype=object)
    array = tdb.from_numpy(uri, {"number": np.arange(4.0).reshape(2, 2), "text": texts})
    assert array[...]["text"].tolist() == texts.tolist()
    array[0] = {"number": [5, 6], "text": ["x", "y"]}
    assert array[...]["text"].tolist() == [["x", "y"], ["", "é"]]
    assert array[0]["number"].tolist() == [5, 6]


@pytest.mark.parametrize(
    "prepare",
    [
        lambda values: np.asfortranarray(values),
        lambda values: values.astype(">f8"),
        lambda values: np.repeat(values, 2, axis=1)[:, ::2],
        lambda values: values[::-1][::-1],
        lambda values: (
            np.require(values, requirements="O") if values.setflags(write=False) else values
        ),
        lambda values: values.astype(np.float32),
        lambda values: values.astype(np.int16),
        lambda values: values.tolist(),
    ],
)
def test_any_layout_of_an_array_is_written(uri: str, prepare: Callable[[Any], Any]) -> None:
    values = np.arange(12.0).reshape(3, 4)
    array = tdb.from_numpy(uri, values)
    array[...] = prepare(values + 1)
    np.testing.assert_array_equal(array[...], values + 1)
    assert array.dtype == np.float64


UTC = datetime.timezone.utc


@pytest.mark.parametrize(
    ("column", "values", "field", "cell", "message"),
    [
        ("qual", np.array([1.0, 2.0, 0.1]), "qual", 2, "0.1 is not a valid float32"),
        ("qual", np.array([1 + 2j] * 3), "qual", None, "complex128"),
        ("qual", np.array(["1", "2", "3"]), "qual", None, "expected float32"),
        ("pos", np.array([1, 2, -3]), "pos", 2, "-3 is not a valid uint32"),
        ("pos", np.array([1, 2**40, 3]), "pos", 1, "1099511627776 is not a valid uint32"),
        ("pos", np.array([1.0, 2.0, 3.0]), "pos", None, "float64"),
        ("pos", np.array([1, 5000, 3], np.uint32), "pos", 1, "outside of the domain"),
        ("pos", np.array([[1, 2], [3, 4], [5, 6]], np.uint32), "pos", None, "shape"),
        ("pos", np.array([1, 2], np.uint32), None, None, "differ in length"),
        ("pos", np.uint32(7), "pos", None, "single value"),
        ("pos", 7, "pos", None, "found int"),
        ("pos", [1, "x", 3], "pos", 1, "x is not a valid uint32"),
        ("pos", [1, None, 3], "pos", 1, "null"),
        ("chrom", ["1", 2, "3"], "chrom", 1, "expected str or bytes, found int"),
        ("chrom", np.array([1, 2, 3]), "chrom", None, "expected texts"),
        ("alt", ["a", None, "c"], "alt", 1, "null"),
        ("alt", np.array(["a", 1.5, "c"], dtype=object), "alt", 1, "found float"),
        ("alt", ["a", "\ud800", "c"], "alt", 1, "surrogate"),
        ("alt", [b"a", b"\xff", b"c"], "alt", 1, "UTF-8"),
        ("depth", np.array([1, 2, 40000]), "depth", 2, "40000 is not a valid int16"),
        ("depth", np.array([1, object(), 2], dtype=object), "depth", 1, "is not a valid int16"),
        ("depth", [1, 2.5, 3], "depth", 1, "2.5 is not a valid int16"),
        ("day", np.array(["2024-01-01T12"] * 3, "datetime64[h]"), "day", 0, "not a whole number"),
        ("day", [datetime.datetime(2024, 1, 1, tzinfo=UTC)] * 3, "day", 0, "time zone"),
        ("day", pd.Series(pd.date_range("2024", periods=3, tz="UTC")), "day", None, "time zone"),
        ("day", np.array([1, 2, 3], "timedelta64[D]"), "day", None, "timedelta64"),
        ("verdict", ["PASS", "bad", "low"], "verdict", 1, "'bad' is not in enumeration"),
        ("likelihoods", [[1.0], 2.0, []], "likelihoods", 1, "expected a sequence"),
        ("likelihoods", [[1.0], [None], []], "likelihoods", 1, "None is not a valid float64"),
        ("pair", [[1, 2], [3], [4, 5]], "pair", 1, "found 1 values, expected 2"),
        (
            "pair",
            np.arange(9, dtype=np.int32).reshape(3, 3),
            "pair",
            None,
            "expected 2 values per cell",
        ),
        ("other", [1, 2, 3], "other", None, "unknown field"),
    ],
)
def test_bad_columns_name_the_column_and_the_row(
    uri: str, column: str, values: Any, field: str | None, cell: int | None, message: str
) -> None:
    array = tdb.create(uri, calls_schema())
    with pytest.raises(tdb.UsageError, match=message) as caught:
        array.write({**calls(), column: values})
    assert (caught.value.field, caught.value.cell) == (field, cell)
    assert isinstance(caught.value, ValueError)
    assert array.fragments == () and list((Path(uri) / "__fragments").iterdir()) == []


def test_not_a_time_is_no_coordinate(uri: str) -> None:
    schema = tdb.Schema(
        [
            tdb.Dimension(
                "day", "datetime64[D]", (np.datetime64("1970-01-01"), datetime.date(2030, 1, 1)), 10
            )
        ],
        [
            tdb.Attribute("when", "datetime64[ns]"),
            tdb.Attribute("maybe", "datetime64[ns]", nullable=True),
        ],
        sparse=True,
    )
    array = tdb.create(uri, schema)
    times = np.array(["2024-01-01T00:00:00.000000001", "NaT"], "datetime64[ns]")
    with pytest.raises(tdb.UsageError, match="not a coordinate") as caught:
        array.write(
            {"day": np.array(["2024-01-01", "NaT"], "datetime64[D]"), "when": times, "maybe": times}
        )
    assert (caught.value.field, caught.value.cell) == ("day", 1)
    array.write(
        {
            "day": np.array(["2024-01-01", "2024-01-02"], "datetime64[D]"),
            "when": times,
            "maybe": times,
        }
    )
    cells = array.read(order="row-major").to_numpy()
    np.testing.assert_array_equal(cells["when"], times)
    assert cells["maybe"].mask.tolist() == [False, True]
    assert array.read(ranges={"day": (np.datetime64("2024-01-02"), None)}).to_numpy()[
        "day"
    ].tolist() == [datetime.date(2024, 1, 2)]
    assert len(array.read(ranges={"day": "2024"}).to_numpy()["day"]) == 2


def test_missing_columns_and_duplicates(uri: str) -> None:
    array = tdb.create(uri, calls_schema())
    columns = calls()
    del columns["qual"]
    with pytest.raises(tdb.UsageError, match="missing column") as caught:
        array.write(columns)
    assert caught.value.field == "qual"
    twice = {**calls(), "chrom": ["1", "1", "1"], "pos": np.array([5, 6, 5], np.uint32)}
    with pytest.raises(tdb.UsageError, match="same coordinates") as caught:
        array.write(twice)
    assert caught.value.cell == 2
    assert array.fragments == ()
    assert array.write(twice, duplicates="keep-last").cells == 2


def test_foreign_objects_are_refused(uri: str) -> None:
    array = tdb.create(uri, calls_schema())
    for data in [7, "text", [1, 2], None]:
        with pytest.raises(tdb.UsageError, match="cannot take columns"):
            array.write(data)


def test_huge_texts(uri: str) -> None:
    schema = tdb.Schema(
        [tdb.Dimension("d", "int32", (0, 9))], [tdb.Attribute("t", str)], sparse=True
    )
    array = tdb.create(uri, schema)
    array.write({"d": [1, 2], "t": ["x" * 20_000_000, ""]})
    cells = array.read(order="row-major").to_numpy()["t"]
    assert len(cells[0]) == 20_000_000 and cells[1] == ""


def test_a_full_disk_is_an_error_and_leaves_no_fragment(tmp_path: Path) -> None:
    script = """
import resource, signal, sys
import numpy as np, tdb
array = tdb.create(sys.argv[1], tdb.Schema([tdb.Dimension("d", "int64", (0, 10**7), 1000)],
    [tdb.Attribute("a", "float64")], sparse=False))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    array.write({"a": np.random.default_rng(0).random(10**6)}, ranges={"d": (0, 10**6 - 1)})
except OSError as error:
    print(type(error).__name__, error.path is not None)
print(len(array.refresh().fragments))
"""
    done = subprocess.check_output(
        [sys.executable, "-c", script, str(tmp_path / "array")], text=True
    )
    assert done.split() == ["UnavailableError", "True", "0"]


def test_a_killed_writer_leaves_a_readable_array(tmp_path: Path) -> None:
    uri = str(tmp_path / "array")
    script = """
import os, signal, sys
import numpy as np, tdb
schema = tdb.Schema([tdb.Dimension("d", "int64", (0, 10**6))], [tdb.Attribute("a", "int64")], sparse=True)
array = tdb.create(sys.argv[1], schema)
array.write({"d": [1], "a": [1]})
writer = array.writer()
writer.write({"d": np.arange(1000), "a": np.arange(1000)})
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", script, uri], check=False).returncode == -9
    array = tdb.open(uri)
    assert len(array.fragments) == 1 and array.aggregate(tdb.count()) == {"count": 1}


def test_writers_commit_all_batches_or_none(uri: str) -> None:
    array = tdb.create(uri, calls_schema())
    with array.writer() as writer:
        writer.write(calls())
        writer.write({**calls(), "chrom": ["3", "4", "5"]})
        assert array.refresh().fragments == ()
    assert writer.written is not None and writer.written.cells == 6
    assert array.aggregate(tdb.count()) == {"count": 6}
    with pytest.raises(RuntimeError), array.writer() as writer:
        writer.write({**calls(), "chrom": ["6", "7", "8"]})
        raise RuntimeError
    with pytest.raises(tdb.UsageError, match="ended"):
        writer.commit()
    assert array.refresh().aggregate(tdb.count()) == {"count": 6}


def test_dense_writers_take_rows_in_order(uri: str) -> None:
    schema = tdb.Schema(
        [tdb.Dimension("row", "uint64", (0, 99), 10)], [tdb.Attribute("a", "int64")], sparse=False
    )
    array = tdb.create(uri, schema)
    with array.writer(ranges={"row": (0, 49)}) as writer:
        for start in range(0, 50, 7):
            writer.write({"a": np.arange(start, min(start + 7, 50))})
    assert array[:50].tolist() == list(range(50))
    assert len(array.fragments) == 1


def test_deletes_and_evolution(uri: str) -> None:
    array = tdb.create(uri, calls_schema())
    array.write(calls())
    array.delete(tdb.col("verdict") == "low")
    assert array.read(["pos"], order="row-major").to_numpy()["pos"].tolist() == [10, 7]
    array.evolve(
        add=[
            tdb.Attribute("note", str, fill="none"),
            tdb.Attribute("kind", "uint8", enumeration="kinds"),
        ],
        drop=["pair"],
        add_enumerations=[tdb.Enumeration("kinds", [10, 20], ordered=True)],
        extend={"verdicts": ["new"]},
    )
    assert "pair" not in array.attribute_names
    assert array.enumerations["verdicts"].tolist() == ["PASS", "low", "new"]
    cells = array.read(["note", "kind"]).to_numpy()
    assert cells["note"].tolist() == ["none", "none"]
    more = {**calls(), "note": ["a", "b", "c"], "kind": [20, 10, 20], "verdict": ["new"] * 3}
    del more["pair"]
    array.write(more)
    assert array.read(["kind"], order="row-major").to_numpy()["kind"].tolist() == [20, 10, 20]
    assert array.read(["pos"], where=tdb.col("verdict") == "new").to_arrow().num_rows == 3


def test_fragments_are_deleted_by_time(uri: str) -> None:
    array = tdb.create(uri, calls_schema())
    array.write(calls(), at=100)
    array.write(calls(), at=200)
    assert array.delete_fragments((150, 250)) == 1
    assert [fragment.time for fragment in array.fragments] == [(100, 100)]
    assert len(array.read().to_arrow()) == 3


def test_current_domains_grow(uri: str) -> None:
    schema = tdb.Schema(
        [tdb.Dimension("d", "int64", (0, 999), 10, current_domain=(0, 9))],
        [tdb.Attribute("a", "int64")],
        sparse=False,
        format_version=22,
    )
    array = tdb.create(uri, schema)
    assert array.shape == (10,)
    array.evolve(current_domain={"d": (0, 19)})
    assert array.shape == (20,)
    array[...] = np.arange(20)
    assert array[-1] == 19


def test_metadata(uri: str) -> None:
    array = tdb.create(uri, calls_schema())
    values: dict[str, Any] = {
        "text": "é",
        "bytes": b"\x00\xff",
        "number": -5,
        "real": 2.5,
        "flag": True,
        "many": (1, 2, 3),
        "mixed": (1, 2.5),
        "array": np.array([1, 2], np.uint16),
        "empty": "",
    }
    array.metadata.update(values)
    expected = {**values, "flag": 1, "array": (1, 2), "mixed": (1.0, 2.5)}
    assert dict(array.metadata) == expected
    assert array.metadata.datatype("array") == "uint16"
    array.metadata["text"] = "other"
    del array.metadata["number"]
    assert array.metadata["text"] == "other" and "number" not in array.metadata
    assert len(array.metadata) == len(values) - 1
    with tiledb.open(uri) as judge:
        assert judge.meta["text"] == "other" and judge.meta["many"] == (1, 2, 3)
    for wrong in [object(), 2**70, [1, "x"], {}]:
        with pytest.raises(tdb.UsageError, match="metadata key 'wrong'"):
            array.metadata["wrong"] = wrong
    with pytest.raises(KeyError):
        del array.metadata["absent"]
    assert "<td>text</td>" in array.metadata._repr_html_()


def test_encrypted_arrays(uri: str) -> None:
    key = bytes(range(32))
    array = tdb.create(uri, calls_schema(), key=key)
    array.write(calls())
    check_calls(tdb.open(uri, key=key))
    with pytest.raises(tdb.EncryptionKeyError) as caught:
        tdb.open(uri)
    assert caught.value.path is not None
    with pytest.raises(tdb.UsageError, match="32"):
        tdb.open(uri, key=b"short")


def test_groups(tmp_path: Path) -> None:
    uri = str(tmp_path / "group")
    group = tdb.create_group(uri)
    tdb.create(f"{uri}/inner", calls_schema()).write(calls())
    tdb.create(str(tmp_path / "elsewhere"), calls_schema())
    tdb.create_group(f"{uri}/sub")
    group.add("inner", name="first")
    group.add(tmp_path / "elsewhere", name="second", relative=False)
    group.add("sub")
    assert set(group) == {"first", "second", "sub"} and len(group) == 3
    assert group.members["first"] == tdb.Member("first", "array", "inner", True)
    inner = group["first"]
    assert isinstance(inner, tdb.Array)
    check_calls(inner)
    assert isinstance(group["sub"], tdb.Group)
    assert {node.kind for node in group.walk()} == {"group", "array", "outside"}
    group.metadata["title"] = "x"
    assert tdb.open_group(uri).metadata["title"] == "x"
    group.remove("second")
    assert "second" not in tdb.open_group(uri)
    assert tdb.object_type(uri) == "group" and tdb.object_type(f"{uri}/inner") == "array"
    assert tdb.object_type(str(tmp_path)) is None
    with pytest.raises(KeyError, match="absent"):
        group["absent"]
    assert "first" in group._repr_html_() and "2 members" in repr(group)
    with tiledb.Group(uri) as judge:
        assert {member.name for member in judge} == {"first", None}


def test_schemas_round_trip_as_text(uri: str) -> None:
    schema = calls_schema(capacity=77, cell_order="col-major", allows_duplicates=True)
    array = tdb.create(uri, schema)
    assert array.schema == schema
    assert tdb.Schema.from_toml(schema.to_toml()) == schema
    assert array.schema.settings["capacity"] == 77
    assert array.schema.attributes[1].filters == tdb.Filters([tdb.Filter("zstd", level=5)])
    with pytest.raises(tdb.AlreadyExistsError) as caught:
        tdb.create(uri, schema)
    assert isinstance(caught.value, FileExistsError) and isinstance(caught.value, ValueError)
    with pytest.raises(tdb.UsageError, match="schema"):
        tdb.create(uri + "2", "array_type = 7")
    with pytest.raises(tdb.UsageError, match="unknown type"):
        tdb.Attribute("a", "float99")
    assert not os.path.exists(uri + "2")


@pytest.mark.parametrize(
    "dtype",
    [
        "int8",
        "uint64",
        "float32",
        "bool",
        "datetime64[ns]",
        "datetime64[M]",
        "timedelta64[s]",
        "S5",
        "U3",
    ],
)
def test_arrays_of_numpy_round_trip(uri: str, dtype: str) -> None:
    values = np.arange(600).reshape(20, 30).astype(dtype)
    array = tdb.from_numpy(uri, values)
    cells = array[...]
    expected = values.astype(str).astype(object) if values.dtype.kind in "SU" else values
    np.testing.assert_array_equal(cells, expected)


def test_data_frames_round_trip(uri: str) -> None:
    frame = pd.DataFrame(
        {
            "chrom": ["1", "1", "X"],
            "pos": np.array([5, 9, 2], np.int64),
            "qual": [1.5, np.nan, 2.5],
            "alt": ["A", None, "G"],
            "kind": pd.Categorical(["x", "y", "x"], ordered=True),
            "count": pd.array([1, None, 3], dtype="Int32"),
            "flag": [True, False, True],
            "when": pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03"]).astype(
                "datetime64[us]"
            ),
        }
    )
    array = tdb.from_pandas(uri, frame, dimensions=["chrom", "pos"])
    assert not array.is_dense
    found = array.read(order="row-major").to_pandas()
    pd.testing.assert_frame_equal(found, frame, check_column_type=False)
    by_row = tdb.from_pandas(uri + "2", frame)
    assert by_row.is_dense
    pd.testing.assert_frame_equal(by_row.read().to_pandas().drop(columns="row"), frame)
    by_index = tdb.from_pandas(uri + "3", frame.set_index("pos"))
    assert by_index.dimension_names == ("pos",)
    assert by_index.read(["alt"], ranges={"pos": 9}).to_numpy()["alt"].tolist() == [None]


def test_mixed_columns_and_failed_creations_leave_nothing(uri: str) -> None:
    frame = pd.DataFrame({"a": [1, 2], "mixed": ["x", 5]})
    with pytest.raises(tdb.UsageError, match="found int in a column of str") as caught:
        tdb.from_pandas(uri, frame)
    assert (caught.value.field, caught.value.cell) == ("mixed", 1)
    with pytest.raises(tdb.UsageError, match="same coordinates"):
        tdb.from_pandas(uri, pd.DataFrame({"d": [1, 1], "a": [1, 2]}), dimensions=["d"])
    with pytest.raises(tdb.UsageError, match="no column is named"):
        tdb.from_pandas(uri, frame[["a"]], dimensions=["absent"])
    assert not os.path.exists(uri)


def arrow_table() -> pa.Table:
    return pa.table(
        {
            "chrom": pa.array(["1", "2", "2"]).dictionary_encode(),
            "pos": pa.array([5, 9, 2], pa.uint32()),
            "alt": pa.array(["A", None, "G"]),
            "kind": pa.array(["x", "y", "x"]).dictionary_encode(),
            "when": pa.array([1, 2, None], pa.timestamp("ms")),
        }
    )


def test_arrow_tables_round_trip(uri: str, tmp_path: Path) -> None:
    table = arrow_table()
    array = tdb.from_arrow(uri, table, dimensions=["chrom", "pos"])
    expected = table.take([0, 2, 1]).to_pydict()
    assert array.read(order="row-major").to_arrow().to_pydict() == expected
    dense = tdb.from_arrow(uri + "2", table)
    assert (
        dense.read(["alt", "kind"]).to_arrow().to_pydict()
        == table.select(["alt", "kind"]).to_pydict()
    )
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=2)
    array = tdb.from_parquet(uri + "3", tmp_path / "t.parquet", dimensions=["chrom", "pos"])
    assert array.read(order="row-major").to_arrow().to_pydict() == expected
    with pytest.raises(FileNotFoundError):
        tdb.from_parquet(uri + "4", tmp_path / "absent", dimensions=["d"])


def test_a_parquet_file_becomes_one_fragment(uri: str, tmp_path: Path) -> None:
    # The reader returns batches of fewer rows.
    places = np.random.default_rng(0).permutation(5000)
    kinds = pa.array([f"kind {place % 7}" for place in places.tolist()]).dictionary_encode()
    table = pa.table({"d": places, "text": places.astype(str), "kind": kinds})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=700)
    array = tdb.from_parquet(uri, tmp_path / "t.parquet", dimensions=["d"])
    assert [fragment.cells for fragment in array.fragments] == [5000]
    expected = table.take(np.argsort(places)).to_pydict()
    assert array.read(order="row-major").to_arrow().to_pydict() == expected


def test_the_progress_of_an_import_ends_with_the_size_of_the_file(
    uri: str, tmp_path: Path
) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("d,a\n" + "".join(f"{place},{place}\n" for place in range(1000)))
    seen: list[tuple[int, int | None]] = []
    tdb.from_csv(uri, rows, dimensions=["d"], progress=lambda *step: seen.append(step))
    size = rows.stat().st_size
    # One pass infers the types, the other checks and keeps the rows.
    assert seen.count((size, size)) >= 2
    assert all(total == size and done <= size for done, total in seen)


def test_bad_arrow_columns_name_the_column_and_the_row(uri: str) -> None:
    array = tdb.create(uri, calls_schema())
    table = pa.table({"pos": pa.array([1, 2, -1], pa.int64())})
    with pytest.raises(tdb.UsageError, match="-1 is not a valid uint32") as caught:
        array.write(table)
    assert (caught.value.field, caught.value.cell) == ("pos", 2)
    with pytest.raises(tdb.UsageError, match="unknown field"):
        array.write(pa.table({"absent": [1]}))
    assert array.fragments == ()


def test_csv_and_json_files(uri: str, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("chrom,pos,qual\n1,7,1.5\n2,3,\n")
    array = tdb.from_csv(uri, rows, dimensions=["chrom", "pos"])
    assert array.read(order="row-major").to_arrow().to_pydict()["qual"] == [1.5, None]
    lines = tmp_path / "rows.jsonl"
    lines.write_text('{"d": 1, "t": "a"}\n{"d": 2, "t": "b"}\n')
    assert tdb.from_csv(uri + "2", lines, dimensions=["d"]).read(["t"]).to_arrow().num_rows == 2
    rows.write_text("chrom,pos,qual\n1,7,1.5\n2,3,high\n")
    schema = tdb.Schema(
        [tdb.Dimension("chrom", str), tdb.Dimension("pos", "uint32", (0, 100))],
        [tdb.Attribute("qual", "float32")],
        sparse=True,
    )
    with pytest.raises(tdb.UsageError, match=r"rows.csv:3: qual"):
        tdb.from_csv(uri + "3", rows, schema=schema)
    assert not os.path.exists(uri + "3")
