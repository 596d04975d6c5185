"""Imports files of other programs as new arrays. Unsupported columns must be rejected by name.

foreign.py TDB FOLDER      TDB is the full command; FOLDER is empty
"""

import subprocess
import sys
import warnings
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import tiledb

warnings.simplefilter("ignore")
TDB = None
CALLS = 0
ENDS = [-(2**63), 2**63 - 1, 0]


def tdb(*arguments):
    global CALLS
    CALLS += 1
    run = subprocess.run([TDB, *map(str, arguments)], capture_output=True, text=True)
    assert "panicked" not in run.stderr, run.stderr
    return run.returncode, run.stdout + run.stderr


def save(path, table):
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        with (pa.ipc.new_file if path.suffix == ".arrow" else pa.ipc.new_stream)(path, table.schema) as file:
            file.write_table(table)
    return path


def refused(folder):
    """Imports columns of types that arrays do not support, from each file format that supports them."""
    kinds = {
        "null": pa.nulls(2),
        "half": pa.array(np.array([1, 2], dtype="f2")),
        "decimal": pa.array([Decimal("1.5"), Decimal("2.5")]),
        "decimal256": pa.array([Decimal("1.5"), Decimal("2.5")], pa.decimal256(50, 2)),
        "interval": pa.array([(1, 2, 3), (4, 5, 6)], pa.month_day_nano_interval()),
        "struct": pa.array([{"a": 1}, {"a": 2}]),
        "map": pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int32())),
        "list of lists": pa.array([[[1]], [[2]]]),
        "list of strings": pa.array([["a"], ["b"]]),
        "list of structs": pa.array([[{"a": 1}], []]),
        "large list of lists": pa.array([[[1]], [[2]]], pa.large_list(pa.list_(pa.int8()))),
        "fixed list of strings": pa.array([["a"], ["b"]], pa.list_(pa.string(), 1)),
        "fixed list of none": pa.array([[], []], pa.list_(pa.int8(), 0)),
        "list view": pa.array([[1], [2]], pa.list_view(pa.int32())),
        "runs": pa.array([1, 1], pa.run_end_encoded(pa.int32(), pa.int64())),
        "union": pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])]),
        "dictionary of nulls": pa.DictionaryArray.from_arrays(pa.array([0, 0], pa.int8()), pa.nulls(1)),
    }
    told = 0
    for name, column in kinds.items():
        table = pa.table({"d": pa.array([1, 2]), name: column})
        for ending in ("parquet", "arrow", "arrows"):
            try:
                path = save(folder / f"{name.replace(' ', '-')}.{ending}", table)
            except (pa.ArrowException, NotImplementedError):
                # The file format does not support the column either.
                continue
            if ending == "parquet" and pq.read_schema(path).field(name).type != table.schema.field(name).type:
                continue
            array = folder / "refused"
            code, said = tdb("import", array, path, "--dimensions", "d")
            # The file may store a column of half floats or nulls as a type that arrays support.
            assert code == 4 and f'"{name}"' in said and path.name in said, (path, code, said)
            assert not array.exists()
            told += 1
    assert told >= 35, told


def held(folder):
    """Imports supported columns with extreme values. TileDB-Py must read the same values."""
    nan = float("nan")
    kinds = {
        "i8": (pa.array(ENDS), ENDS),
        "u8": (pa.array([0, 2**64 - 1, 1], pa.uint64()), [0, 2**64 - 1, 1]),
        "floats": (pa.array([nan, -0.0, 0.0]), [nan, -0.0, 0.0]),
        "texts": (pa.array(["", "é", "x" * 70000]), ["", "é", "x" * 70000]),
        "large": (pa.array(["", "é", "b"], pa.large_string()), ["", "é", "b"]),
        "view": (pa.array(["", "é", "a text of more than twelve bytes"], pa.string_view()), ["", "é", "a text of more than twelve bytes"]),
        "binary": (pa.array([b"", b"\xff", b"b"]), [b"", b"\xff", b"b"]),
        "zoned": (pa.array([0, -1, 10], pa.timestamp("us", "Europe/Berlin")), [0, -1, 10]),
        "naive": (pa.array([0, -1, 10], pa.timestamp("ms")), [0, -1, 10]),
        "date": (pa.array([0, -1, 10], pa.date32()), [0, -1, 10]),
        "time": (pa.array([0, 1, 10], pa.time64("us")), [0, 1, 10]),
        "bool": (pa.array([True, False, True]), [True, False, True]),
    }
    nullable = {"maybe": pa.array([1, None, 3]), "maybe text": pa.array(["a", None, ""]), "maybe bool": pa.array([None, True, None])}
    kinds["words"] = (pa.array(["b", "", "b"]).dictionary_encode(), ["b", "", "b"])
    table = pa.table({"d": pa.array([5, 6, 7])} | {name: column for name, (column, _) in kinds.items()} | nullable)
    for ending in ("parquet", "arrow", "arrows"):
        path = save(folder / f"held.{ending}", table)
        array = folder / f"held-{ending}"
        code, said = tdb("import", array, path, "--dimensions", "d")
        assert code == 0, said
        with tiledb.open(str(array)) as opened:
            read = opened[:]
            for name, (_, cells) in kinds.items():
                found = read[name]
                assert (opened.attr(name).enum_label is not None) == (name == "words")
                if found.dtype.kind in "Mm":
                    found = found.astype("i8")
                if name == "floats":
                    assert np.array(found).tobytes() == np.array(cells).tobytes() or np.isnan(found[0])
                    assert np.signbit(found[1]) and not np.signbit(found[2])
                    continue
                assert [bytes(c) if isinstance(c, memoryview) else c for c in found.tolist()] == cells, (ending, name, found)
            assert np.ma.getmaskarray(read["maybe"]).tolist() == [False, True, False]
        # Exports the array again.
        back = folder / f"back-of-{ending}.parquet"
        assert tdb("export", array, back)[0] == 0
        again = pq.read_table(back)
        for name in nullable:
            assert again.column(name).to_pylist() == table.column(name).to_pylist(), name


def odd(folder):
    """Imports unusual files, and checks the exit code and a word of the output."""
    ints = pa.array([1, 2])
    schema = pa.schema([("d", pa.int64()), ("a", pa.int64())])
    invalid = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(np.array([0, 1, 2], dtype="i4")), pa.py_buffer(b"\xff\xfe")])
    nulls = pa.DictionaryArray.from_arrays(pa.array([None, None], pa.int8()), pa.array(["a"]))
    for ending in ("parquet", "arrow", "arrows"):
        def case(name, code, word, table=None, data=None, more=("--dimensions", "d")):
            path = folder / f"odd-{name}.{ending}"
            if data is not None:
                path.write_bytes(data)
            elif table is not None:
                save(path, table)
            array = folder / f"odd-{name}-{ending}"
            found, said = tdb("import", array, path, *more)
            assert found == code and word in said, (path.name, found, said)
            assert code == 0 or not array.exists()
            return array

        case("empty", 3, f"odd-empty.{ending}", data=b"")
        case("short", 3, f"odd-short.{ending}", data=b"PAR1" if ending == "parquet" else b"ARROW1\0\0")
        array = case("no-rows", 0, "0 cells", table=schema.empty_table())
        with tiledb.open(str(array)) as opened:
            assert opened.schema.sparse and opened.nonempty_domain() is None
        case("no-columns", 2, "d", table=pa.table({}))
        case("twice", 2, "two columns are named", table=pa.table([ints, ints, ints], names=["d", "a", "a"]))
        case("twice-dimension", 2, "two columns are named", table=pa.table([ints, ints], names=["d", "d"]))
        case("nulls", 0, "2 cells", table=pa.table({"d": ints, "a": nulls}))
        case("null-places", 1, "null", table=pa.table({"d": pa.array([1, None]), "a": ints}))
        # Invalid UTF-8: the writer did not check the strings.
        case("utf8", 3, f"odd-utf8.{ending}", table=pa.table({"d": ints, "a": invalid}))
        # No domain covers all numbers of the type, so one extreme is rejected by row.
        case("ends", 1, "row 2: d: 9223372036854775807 is outside of the domain", table=pa.table({"d": pa.array(ENDS[:2]), "a": ints}))
        array = case("end", 0, "2 cells", table=pa.table({"d": pa.array([ENDS[0], 2**63 - 2]), "a": ints}))
        with tiledb.open(str(array)) as opened:
            assert opened[:]["a"].tolist() == [1, 2] and opened[:]["d"].tolist() == [ENDS[0], 2**63 - 2]
    # Empty row groups, and empty batches between others.
    path = folder / "groups.parquet"
    with pq.ParquetWriter(path, schema) as writer:
        for rows in ([], [1, 2], [], [3]):
            writer.write_table(pa.table({"d": pa.array(rows, pa.int64()), "a": pa.array(rows, pa.int64())}, schema=schema))
    code, said = tdb("import", folder / "groups", path, "--dimensions", "d")
    assert code == 0 and "3 cells" in said, said
    path = folder / "batches.arrows"
    with pa.ipc.new_stream(path, schema) as writer:
        for rows in ([], [1, 2], [], [3], []):
            column = pa.array(rows, pa.int64())
            writer.write_batch(pa.record_batch([column, column], schema=schema))
    code, said = tdb("import", folder / "batches", path, "--dimensions", "d")
    assert code == 0 and "3 cells" in said, said


def typed(folder):
    """Imports columns that --type converts, and dictionaries of booleans, which need no --type."""
    halves = np.array([1.5, 2, 3], dtype="f2")
    kinds = {
        "dictionary of booleans": (pa.array([True, None, False]).dictionary_encode(), None, ["true", "", "false"]),
        "halves": (pa.array(halves), "float64", ["1.5", "2.0", "3.0"]),
        "null": (pa.nulls(3), "int16", ["", "", ""]),
        "dictionary of decimals": (pa.array([Decimal("1.50"), None, Decimal("2.00")]).dictionary_encode(), "float32", ["1.5", "", "2.0"]),
        "list of decimals": (pa.array([[Decimal("1")], [], [Decimal("2"), Decimal("3")]]), "int64", ["[1]", "[]", '"[2,3]"']),
        "list of halves": (pa.array([halves[:1], halves[:0], halves[1:]], pa.list_(pa.float16())), "float32", ["[1.5]", "[]", '"[2.0,3.0]"']),
        "durations": (pa.array([1, None, 3], pa.duration("us")), "int32", ["1", "", "3"]),
        "zoned": (pa.array([0, None, 10], pa.timestamp("us", "Europe/Berlin")), "int64", ["0", "", "10"]),
        "numbers": (pa.array([1, None, 3]), "string_utf8", ["1", "", "3"]),
        "words": (pa.array(["7", None, "9"]).dictionary_encode(), "uint8", ["7", "", "9"]),
    }
    table = pa.table({"d": pa.array([5, 6, 7])} | {name: column for name, (column, _, _) in kinds.items()})
    types = [word for name, (_, datatype, _) in kinds.items() if datatype for word in ("--type", f"{name}={datatype}")]
    for ending in ("parquet", "arrow", "arrows"):
        path = save(folder / f"typed.{ending}", table)
        array = folder / f"typed-{ending}"
        code, said = tdb("import", array, path, "--dimensions", "d", *types)
        assert code == 0, said
        for name, (_, _, cells) in kinds.items():
            code, said = tdb("read", array, "--select", name, "--format", "csv", "--order", "row-major")
            # A line of one empty field is quoted.
            found = [cell.replace('""', "") for cell in said.splitlines()[1:]]
            assert code == 0 and found == cells, (ending, name, said)
        with tiledb.open(str(array)) as opened:
            assert opened.attr("dictionary of booleans").dtype == np.bool_


def of_duckdb(folder):
    """Imports Parquet files written by DuckDB."""
    path = folder / "duck.parquet"
    duckdb.sql(
        f"""copy (select i as d, i * 2 as even, 'n' || (i % 3) as word, i % 2 = 0 as is_even, timestamp '2020-01-01' + interval (i) second as at,
        case when i % 5 = 0 then null else i end as maybe, [i, i + 1] as list, date '2020-01-01' + i::integer as day
        from range(1000) t(i)) to '{path}' (format parquet, row_group_size 100)"""
    )
    array = folder / "duck"
    code, said = tdb("import", array, path, "--dimensions", "d")
    assert code == 0 and "1000 cells" in said, said
    with tiledb.open(str(array)) as opened:
        read = opened[:]
        assert read["even"].tolist() == list(range(0, 2000, 2))
        assert read["word"].tolist() == [f"n{i % 3}" for i in range(1000)]
        assert read["list"][7].tolist() == [7, 8]
        assert np.ma.getmaskarray(read["maybe"]).sum() == 200


if __name__ == "__main__":
    TDB = sys.argv[1]
    folder = Path(sys.argv[2])
    for job in (refused, held, typed, odd, of_duckdb):
        place = folder / job.__name__
        place.mkdir()
        job(place)
    print(f"{CALLS} runs of the command")
