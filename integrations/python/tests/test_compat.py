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


def sparse_array(
    module: Any, uri: str, values: dict[str, Any], attrs: list[Any], **options: Any
) -> Any:
    """Writes a sparse array of the coordinates 0, 1, ..., and opens it."""
    domain = module.Domain(module.Dim("d", domain=(0, 99), tile=10, dtype=np.int32))
    module.Array.create(
        uri, module.ArraySchema(domain=domain, attrs=attrs, sparse=True, **options)
    )
    with module.open(uri, "w") as array:
        array[np.arange(len(next(iter(values.values()))))] = values
    return module.open(uri)


modules = pytest.mark.parametrize("module", [tdb.compat, tiledb], ids=["compat", "tiledb"])


@modules
def test_aggregates_of_nan_are_nan(module: Any, tmp_path: Path) -> None:
    values = {"f": np.array([np.nan, 1.5]), "i": np.array([4, 5], np.int16)}
    attrs = [module.Attr("f", dtype=np.float64), module.Attr("i", dtype=np.int16)]
    with sparse_array(module, str(tmp_path / "a"), values, attrs) as array:
        names = ["sum", "min", "max", "mean"]
        found = array.query().agg({"f": names, "i": names})[:]
        assert np.isnan(found["f"]["sum"]) and np.isnan(found["f"]["mean"])
        assert (found["f"]["min"], found["f"]["max"]) == (1.5, 1.5)
        assert {type(value) for value in found["f"].values()} == {float}
        assert [type(value) for value in found["i"].values()] == [int, int, int, float]
        assert array.query().agg({"f": "sum"})[5:9] == 0


@modules
def test_empty_frames_have_no_domain(module: Any, tmp_path: Path) -> None:
    frame = pd.DataFrame({"c": np.array([], dtype=float)})
    for options in ({}, {"sparse": True}, {"mode": "schema_only"}, {"nrows": 5}):
        with pytest.raises(ValueError):
            module.from_pandas(str(tmp_path / "a"), frame, **options)
    uri = str(tmp_path / "full")
    module.from_pandas(uri, frame, sparse=True, full_domain=True)
    assert len(module.open_dataframe(uri)) == 0


@modules
def test_columns_of_one_name_are_rejected(module: Any, tmp_path: Path) -> None:
    for names in (["a", "a"], [1, "1"]):
        with pytest.raises(module.TileDBError):
            module.from_pandas(str(tmp_path / "a"), pd.DataFrame([[1, 2]], columns=names))


@modules
def test_conditions_pad_bytes_of_fixed_size(module: Any, tmp_path: Path) -> None:
    values = {"s": np.array([b"abc", b"d", b"e"], dtype="S3")}
    attrs = [module.Attr("s", dtype="S3")]
    with sparse_array(module, str(tmp_path / "a"), values, attrs) as array:
        for condition, expected in (("s == 'd'", [1]), ("s != 'd'", [0, 2]), ("s > 'd'", [2])):
            assert list(array.query(cond=condition)[:]["d"]) == expected
        if module is tdb.compat:
            # The C++ library compares only the bytes that both sides have, and rejects the list.
            assert list(array.query(cond="s == 'a'")[:]["d"]) == []
            assert list(array.query(cond="s in ['d', 'abc']")[:]["d"]) == [0, 1]


def test_tables_have_the_types_of_tiledb(tmp_path: Path) -> None:
    tables: list[Any] = []
    for module in (tdb.compat, tiledb):
        uri = str(tmp_path / module.__name__)
        attrs = [
            module.Attr("ascii", dtype="ascii"),
            module.Attr("bytes", dtype="S0", var=True),
            module.Attr("day", dtype="datetime64[D]"),
            module.Attr("number", dtype=np.int32, nullable=True),
        ]
        domain = module.Domain(module.Dim("d", domain=(None, None), dtype="ascii"))
        module.Array.create(uri, module.ArraySchema(domain=domain, attrs=attrs, sparse=True))
        with module.open(uri, "w") as array:
            array[["k", "l"]] = {
                "ascii": np.array(["a", "bb"], dtype=object),
                "bytes": np.array([b"\xff", b""], dtype=object),
                "day": np.array(["2024-01-01", "2024-01-02"], dtype="M8[D]"),
                "number": pd.Series([1, None], dtype="Int32"),
            }
        with module.open(uri) as array:
            query = array.query(return_arrow=True)
            tables += [query.df[:], query.df["x":"y"]]
    for mine, theirs in zip(tables[:2], tables[2:]):
        assert mine.equals(theirs)
        assert mine.schema.equals(theirs.schema)
        pd.testing.assert_frame_equal(mine.to_pandas(), theirs.to_pandas())


@modules
def test_queries_of_dense_arrays_have_no_coordinates(module: Any, tmp_path: Path) -> None:
    uri = str(tmp_path / "frame")
    module.from_pandas(uri, pd.DataFrame({"a": [3, 1], "b": [5, 6]}))
    with module.open(uri) as array:
        assert list(array.query(attrs=["a"], return_arrow=True).df[:].column_names) == ["a"]
        assert isinstance(array.query(attrs=["a"]).df[:].index, pd.RangeIndex)
        assert not isinstance(array.df[:].index, pd.RangeIndex)
    uri = str(tmp_path / "matrix")
    module.from_numpy(uri, np.arange(6).reshape(2, 3)).close()
    with module.open(uri) as array:
        assert list(array.df[:].columns) == ["__dim_0", "__dim_1", ""]
        frame = array.query(order="F").df[:]
        assert list(frame.columns) == [""]
        assert frame[""].tolist() == [0, 3, 1, 4, 2, 5]


@modules
@pytest.mark.parametrize("key", [slice(-5, 3), slice(50, 200), slice(None, 200), [1, 200]], ids=str)
def test_ranges_outside_the_domain_are_errors(module: Any, key: Any, tmp_path: Path) -> None:
    attrs = [module.Attr("v", dtype=np.int8)]
    with sparse_array(module, str(tmp_path / "a"), {"v": np.ones(3, np.int8)}, attrs) as array:
        for indexer in (array.multi_index, array.df):
            with pytest.raises(module.TileDBError, match="out of domain bounds"):
                indexer[key]
        assert len(array.multi_index[0:99]["v"]) == 3
        assert array.query(cond="d > 0").submit()["d"].tolist() == [1, 2]


@modules
def test_open_ranges_end_with_the_cells(module: Any, tmp_path: Path) -> None:
    uri = str(tmp_path / "a")
    domain = module.Domain(module.Dim("d", domain=(0, 99), tile=10, dtype=np.int32))
    schema = module.ArraySchema(domain=domain, attrs=[module.Attr("v", dtype=np.int8)])
    current = module.CurrentDomain(module.Ctx())
    rectangle = module.NDRectangle(module.Ctx(), domain)
    rectangle.set_range(0, 0, 20)
    current.set_ndrectangle(rectangle)
    schema.set_current_domain(current)
    module.Array.create(uri, schema)
    with module.open(uri, "w") as array:
        array[1:4] = np.arange(3, dtype=np.int8)
    with module.open(uri) as array:
        assert array.multi_index[2:]["v"].tolist() == [1, 2]
        assert array.multi_index[:]["v"].tolist() == [0, 1, 2]
        assert array.df[:2]["v"].tolist() == [0, 1]


@modules
def test_scalars_have_the_types_of_tiledb(module: Any, tmp_path: Path) -> None:
    uri = str(tmp_path / "numbers")
    module.from_numpy(uri, np.arange(6).reshape(2, 3)).close()
    with module.open(uri, "w") as array:
        array.meta.update({"i": 5, "f": 1.5, "pair": (1, 2)})
    with module.open(uri) as array:
        assert isinstance(array[0, 0], np.ndarray) and array[0, 0].shape == ()
        types = [type(array.meta[key]) for key in ("i", "f", "pair")]
        assert types == [np.int64, np.float64, tuple]
    uri = str(tmp_path / "texts")
    module.from_numpy(uri, np.array(["a", "bb"], dtype=object)).close()
    with module.open(uri) as array:
        assert array[1].dtype == object and array[1] == "bb"
    uri = str(tmp_path / "categories")
    module.from_pandas(uri, pd.DataFrame({"c": pd.Categorical(["a", "b"])}))
    with module.open(uri) as array:
        assert array.attr("c").dtype == np.int32
    uri = str(tmp_path / "floats")
    domain = module.Domain(module.Dim("x", domain=(0, 9), tile=2, dtype=np.float32))
    attrs = [module.Attr("v", dtype=np.int8)]
    module.Array.create(uri, module.ArraySchema(domain=domain, attrs=attrs, sparse=True))
    with module.open(uri, "w") as array:
        array[[1.5, 2.5]] = np.array([1, 2], dtype=np.int8)
    with module.open(uri) as array:
        assert array.nonempty_domain() == ((1.5, 2.5),)
        assert type(array.nonempty_domain()[0][0]) is float


@modules
def test_opened_dimensions_have_the_filters_of_coordinates(module: Any, tmp_path: Path) -> None:
    uri = str(tmp_path / "a")
    module.from_numpy(uri, np.arange(3)).close()
    with module.open(uri) as array:
        assert list(array.dim(0).filters) == [module.ZstdFilter(-1)]
        assert "filters=FilterList([ZstdFilter(level=-1), ])" in repr(array.schema)
    filters = module.FilterList([module.ZstdFilter(3), module.BitShuffleFilter()])
    assert repr(filters) == "FilterList([ZstdFilter(level=3),\n       BitShuffleFilter()])"


@modules
@pytest.mark.parametrize("recursive", [False, True])
def test_deletes_of_groups_keep_other_arrays(
    module: Any, recursive: bool, tmp_path: Path
) -> None:
    uri = tmp_path / "group"
    module.Group.create(str(uri))
    module.Group.create(str(uri / "inner"))
    for name in ("member", "other", "inner/member"):
        module.from_numpy(str(uri / name), np.arange(3)).close()
    for place, names in ((uri / "inner", ["member"]), (uri, ["member", "inner"])):
        with module.Group(str(place), "w") as group:
            for name in names:
                group.add(name, name=name, relative=True)
    with module.Group(str(uri)) as group, pytest.raises(module.TileDBError):
        group["missing"]
    with module.Group(f"file://{uri}") as group:
        assert group["member"].uri == f"file://{uri}/member"
    with module.Group(str(uri), "m") as group:
        group.delete(recursive=recursive)
    kept = {path: module.object_type(str(path)) for path in (uri, uri / "member", uri / "inner")}
    expected = [None, None, None] if recursive else [None, "array", "group"]
    assert list(kept.values()) == expected
    assert module.object_type(str(uri / "other")) == "array"


def test_groups_that_contain_each_other_end(tmp_path: Path) -> None:
    places = [str(tmp_path / name) for name in ("a", "b", "c")]
    shared = str(tmp_path / "array")
    tdb.compat.from_numpy(shared, np.arange(3)).close()
    for place in places:
        tdb.compat.Group.create(place)
    for place in places:
        with tdb.compat.Group(place, "w") as group:
            for member in (*places, shared):
                group.add(member, name=Path(member).name)
    with tdb.compat.Group(places[0]) as group:
        lines = repr(group).splitlines()
    # A group inside itself has no lines of members.
    assert (len(lines), max(line.index("|--") for line in lines[1:])) == (21, 8)
    with tdb.compat.Group(places[0], "m") as group:
        group.delete(recursive=True)
    assert not any(Path(place).exists() for place in (*places, shared))


@modules
def test_dimensions_without_a_range_are_complete(module: Any, tmp_path: Path) -> None:
    uri = str(tmp_path / "a")
    dims = [module.Dim(name, domain=(0, 5), tile=3, dtype=np.int32) for name in ("y", "x")]
    attrs = [module.Attr("v", dtype=np.int8)]
    module.Array.create(uri, module.ArraySchema(domain=module.Domain(*dims), attrs=attrs))
    with module.open(uri, "w") as array:
        array[1:3, 0:2] = np.arange(4, dtype=np.int8).reshape(2, 2)
    with module.open(uri) as array:
        assert len(array.df[:]) == 12
        assert len(array.df[:, :]) == 4


@modules
def test_distinct_coordinates_have_the_type_of_the_dimension(module: Any, tmp_path: Path) -> None:
    uri = str(tmp_path / "a")
    first, last = np.datetime64("2000-01-01", "ns"), np.datetime64("2040-01-01", "ns")
    dim = module.Dim("t", domain=(first, last), tile=np.timedelta64(1, "D"), dtype="M8[ns]")
    attrs = [module.Attr("v", dtype=np.int8)]
    schema = module.ArraySchema(domain=module.Domain(dim), attrs=attrs, sparse=True)
    module.Array.create(uri, schema)
    times = np.array(["2020-01-01", "2021-01-01"], dtype="M8[ns]")
    with module.open(uri, "w") as array:
        array[times] = np.ones(2, np.int8)
    with module.open(uri) as array:
        assert array.unique_dim_values("t") == tuple(times)


@modules
def test_frames_keep_nullable_floats_and_days(module: Any, tmp_path: Path) -> None:
    uri = str(tmp_path / "floats")
    frame = pd.DataFrame({"f": pd.array([1.5, None], dtype="Float64")})
    module.from_pandas(uri, frame)
    pd.testing.assert_frame_equal(module.open_dataframe(uri), frame)
    uri = str(tmp_path / "days")
    first, last = np.datetime64("2020-01-01"), np.datetime64("2020-01-31")
    dim = module.Dim("t", domain=(first, last), tile=10, dtype="M8[D]")
    attrs = [module.Attr("v", dtype=np.int8)]
    schema = module.ArraySchema(domain=module.Domain(dim), attrs=attrs, sparse=True)
    module.Array.create(uri, schema)
    with module.open(uri, "w") as array:
        array[np.array([first])] = np.ones(1, np.int8)
    with module.open(uri) as array:
        assert array.df[:]["t"].tolist() == [first.item()]
