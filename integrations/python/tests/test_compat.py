"""Programs of TileDB-Py on ``tdb.compat``, with TileDB-Py as the judge, in both directions."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
import tdb
import tdb.compat
import tiledb

#: The writer and the reader.
DIRECTIONS = [(tdb.compat, tiledb), (tiledb, tdb.compat), (tdb.compat, tdb.compat)]
both = pytest.mark.parametrize(
    ("writer", "reader"),
    DIRECTIONS,
    ids=["compat to tiledb", "tiledb to compat", "compat to compat"],
)


def dense(module: Any, uri: str) -> dict[str, Any]:
    """Writes a dense array, and returns its cells."""
    domain = module.Domain(
        module.Dim("y", domain=(1, 4), tile=2, dtype=np.int32),
        module.Dim("x", domain=(1, 6), tile=3, dtype=np.int32),
    )
    attrs = [
        module.Attr(
            "number", dtype=np.float64, filters=[module.ByteShuffleFilter(), module.ZstdFilter(5)]
        ),
        module.Attr("text", dtype=str),
        module.Attr("fixed", dtype="S3"),
        module.Attr("day", dtype="datetime64[D]", fill=np.timedelta64(3, "D")),
    ]
    module.Array.create(uri, module.ArraySchema(domain=domain, attrs=attrs))
    cells = {
        "number": np.arange(24.0).reshape(4, 6),
        "text": np.array([f"{place}é" * (place % 3) for place in range(24)], dtype=object).reshape(
            4, 6
        ),
        "fixed": np.array([f"{place:03}".encode() for place in range(24)]).reshape(4, 6),
        "day": np.arange(24).astype("datetime64[D]").reshape(4, 6),
    }
    with module.open(uri, "w") as array:
        array[:] = cells
        array.meta["answer"] = 42
        array.meta["list"] = (1.5, 2.5)
        array.meta["matrix"] = np.arange(6).reshape(2, 3)
    return cells


def sparse(module: Any, uri: str) -> dict[str, Any]:
    """Writes a sparse array, and returns its cells in order of coordinates."""
    domain = module.Domain(
        module.Dim("name", dtype="ascii"),
        module.Dim("position", domain=(0, 1000), tile=1001, dtype=np.uint64),
    )
    attrs = [
        module.Attr("depth", dtype=np.int32, nullable=True),
        module.Attr("kind", dtype=np.int8, enum_label="kinds"),
        module.Attr("scores", dtype=np.float32, var=True),
    ]
    schema = module.ArraySchema(
        domain=domain,
        attrs=attrs,
        sparse=True,
        capacity=3,
        enums=[module.Enumeration("kinds", False, ["gain", "loss"])],
    )
    module.Array.create(uri, schema)
    scores = np.empty(4, dtype=object)
    scores[:] = [np.arange(length, dtype=np.float32) for length in (1, 3, 2, 4)]
    cells = {
        "depth": np.ma.MaskedArray([5, 0, 7, 8], mask=[False, True, False, False], dtype=np.int32),
        "kind": np.array([0, 1, 1, 0], dtype=np.int8),
        "scores": scores,
    }
    values = {**cells, "depth": pd.Series([5, None, 7, 8], dtype="Int32")}
    with module.open(uri, "w") as array:
        array[["a", "a", "b", "c"], [3, 900, 10, 0]] = values
    return cells


@both
def test_dense_arrays_agree(writer: Any, reader: Any, tmp_path: Path) -> None:
    uri = str(tmp_path / "dense")
    cells = dense(writer, uri)
    with reader.open(uri) as array:
        found = array[:]
        for name, expected in cells.items():
            np.testing.assert_array_equal(found[name], expected)
        np.testing.assert_array_equal(array[2:4, 3]["number"], cells["number"][1:3, 2])
        chosen = array.multi_index[[1, 4], 2:3]
        np.testing.assert_array_equal(chosen["text"], cells["text"][[0, 3], 1:3])
        frame = array.df[2:3, 1:2]
        assert list(frame["number"]) == cells["number"][1:3, 0:2].ravel().tolist()
        assert array.nonempty_domain() == ((1, 4), (1, 6))
        assert array.attr("number").filters[1].level == 5
        assert array.meta["answer"] == 42
        assert array.meta["list"] == (1.5, 2.5)
        np.testing.assert_array_equal(array.meta["matrix"], np.arange(6).reshape(2, 3))


@both
def test_sparse_arrays_agree(writer: Any, reader: Any, tmp_path: Path) -> None:
    uri = str(tmp_path / "sparse")
    cells = sparse(writer, uri)
    with reader.open(uri) as array:
        found = array[:]
        assert list(found["name"]) == [b"a", b"a", b"b", b"c"]
        assert list(found["position"]) == [3, 900, 10, 0]
        assert list(found["kind"]) == ["gain", "loss", "loss", "gain"]
        np.testing.assert_array_equal(found["depth"].mask, cells["depth"].mask)
        for mine, expected in zip(found["scores"], cells["scores"]):
            np.testing.assert_array_equal(mine, expected)
        assert list(array.multi_index["a":"b", 5:1000]["position"]) == [900, 10]
        matching = array.query(cond="kind == 'loss' and position < 500", attrs=["kind"])[:]
        assert list(matching["position"]) == [10]
        assert array.query().agg({"depth": "sum"})[:] == 20
        frame = array.query(attrs=["kind"]).df[:]
        assert list(frame["kind"]) == ["gain", "loss", "loss", "gain"]
        assert isinstance(frame["kind"].dtype, pd.CategoricalDtype)


@both
def test_histories_agree(writer: Any, reader: Any, tmp_path: Path) -> None:
    uri = str(tmp_path / "history")
    for time, value in ((10, 1), (20, 2), (30, 3)):
        if time == 10:
            writer.from_numpy(uri, np.full(4, value), timestamp=time).close()
        else:
            with writer.open(uri, "w", timestamp=time) as array:
                array[0:2] = np.full(2, value)
    assert reader.array_fragments(uri).timestamp_range == ((10, 10), (20, 20), (30, 30))
    with reader.open(uri, timestamp=20) as array:
        assert array[:].tolist() == [2, 2, 1, 1]
    writer.consolidate(uri)
    writer.vacuum(uri)
    assert len(reader.array_fragments(uri)) == 1
    with reader.open(uri) as array:
        assert array[:].tolist() == [3, 3, 1, 1]


@both
def test_data_frames_agree(writer: Any, reader: Any, tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "text": ["a", "bb", ""],
            "number": [1.5, np.nan, 3.0],
            "count": pd.Series([1, None, 3], dtype="Int64"),
            "time": pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03"]),
            "flag": [True, False, True],
        }
    )
    rows, indexed = str(tmp_path / "rows"), str(tmp_path / "indexed")
    writer.from_pandas(rows, frame)
    pd.testing.assert_frame_equal(reader.open_dataframe(rows), frame)
    writer.from_pandas(indexed, frame.set_index("text"), sparse=True)
    expected = frame.set_index("text").sort_index()
    pd.testing.assert_frame_equal(reader.open_dataframe(indexed).sort_index(), expected)


@both
def test_schema_changes_agree(writer: Any, reader: Any, tmp_path: Path) -> None:
    uri = str(tmp_path / "evolved")
    dense(writer, uri)
    change = writer.ArraySchemaEvolution()
    change.add_attribute(writer.Attr("more", dtype=np.int16, fill=-1))
    change.drop_attribute("text")
    change.array_evolve(uri)
    schema = reader.ArraySchema.load(uri)
    assert [attr.name for attr in schema] == ["number", "fixed", "day", "more"]
    with reader.open(uri) as array:
        assert (array[:]["more"] == -1).all()


@both
def test_groups_agree(writer: Any, reader: Any, tmp_path: Path) -> None:
    uri, member = str(tmp_path / "group"), str(tmp_path / "group" / "member")
    writer.Group.create(uri)
    writer.from_numpy(member, np.arange(3)).close()
    with writer.Group(uri, "w") as group:
        group.add("member", name="first", relative=True)
        group.meta["owner"] = "somebody"
    with reader.Group(uri) as group:
        assert len(group) == 1
        assert group["first"].type is reader.Array
        assert group.is_relative("first")
        assert group.meta["owner"] == "somebody"
        with reader.open(group["first"].uri) as array:
            assert array[:].tolist() == [0, 1, 2]


def test_deletes_agree(tmp_path: Path) -> None:
    uri = str(tmp_path / "deleted")
    sparse(tdb.compat, uri)
    with tdb.compat.open(uri, "d") as array:
        array.query(cond="position >= 10").submit()
    for module in (tdb.compat, tiledb):
        with module.open(uri) as array:
            assert list(array[:]["position"]) == [3, 0]


@pytest.mark.parametrize("name", ["v22-by-2.30.0-sparse-2d", "v22-by-2.30.0-dense-2d-row-row"])
def test_fixtures_agree(fixture_array: Callable[[str], str], name: str) -> None:
    uri = fixture_array(name)
    with tdb.compat.open(uri) as mine, tiledb.open(uri) as theirs:
        assert mine.schema.shape == theirs.schema.shape
        assert mine.nonempty_domain() == theirs.nonempty_domain()
        found, expected = mine.multi_index[:], theirs.multi_index[:]
        assert found.keys() == expected.keys()
        for field, values in expected.items():
            np.testing.assert_array_equal(found[field], values)
        pd.testing.assert_frame_equal(mine.df[:], theirs.df[:])


def test_errors_are_those_of_the_module(tmp_path: Path) -> None:
    with pytest.raises(tdb.compat.TileDBError):
        tdb.compat.open(str(tmp_path / "missing"))
    with pytest.raises(tdb.compat.TileDBError, match="Duplicate coordinates"):
        sparse(tdb.compat, str(tmp_path / "a"))
        with tdb.compat.open(str(tmp_path / "a"), "w") as array:
            values = {
                "depth": [1, 2],
                "kind": [0, 0],
                "scores": np.array([[1.0], [2.0]], dtype=np.float32),
            }
            array[["a", "a"], [1, 1]] = {
                **values,
                "scores": np.array([np.ones(1), np.ones(2)], dtype=object),
            }


def test_install_replaces_tiledb(tmp_path: Path) -> None:
    code = """
import sys, tdb.compat
tdb.compat.install()
import tiledb, tiledb.libtiledb
from tiledb.main import PyFragmentInfo
assert tiledb is tdb.compat
assert tiledb.libtiledb is sys.modules["tdb.compat.libtiledb"]
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)


def test_import_of_tdb_needs_no_compat() -> None:
    code = "import sys, tdb; assert not {'numpy', 'pandas', 'tdb.compat'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_names_are_those_of_tiledb() -> None:
    missing = {"Filestore", "Profile", "lib_name"}
    modules = {name for name in dir(tiledb) if isinstance(getattr(tiledb, name), ModuleType)}
    public = {name for name in dir(tiledb) if name[0] != "_" and name not in modules} - missing
    assert public - set(dir(tdb.compat)) == set()
    assert tdb.__name__ == "tdb"
