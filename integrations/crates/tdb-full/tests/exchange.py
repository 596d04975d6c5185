"""Exports arrays of the reference library to files, and imports the files again.

exchange.py TDB FOLDER      TDB is the full command; FOLDER is empty

The command exports each array to every file format. pyarrow, pandas and DuckDB must read from the
file the cells that TileDB-Py reads from the array. They then write the file again, and the command
imports this file. TileDB-Py must read the same cells from the new array.
"""

import csv
import json
import subprocess
import sys
import warnings
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import tiledb

warnings.simplefilter("ignore")
TDB = None
DATES = "Y M W D h m s ms us ns ps fs as".split()
TIMES = "h m s ms us ns ps fs as".split()
NUMBERS = "i1 i2 i4 i8 u1 u2 u4 u8 f4 f8".split()


def tdb(*arguments):
    run = subprocess.run([TDB, *map(str, arguments)], capture_output=True, text=True)
    assert run.returncode == 0, (arguments, run.stdout, run.stderr)
    return run.stdout


def numbers(dtype, count):
    """Returns the limits of the type, zero, and floats with special comparisons."""
    if np.dtype(dtype).kind == "f":
        special = [np.nan, -0.0, 0.0, np.inf, -np.inf, np.finfo(dtype).max, np.finfo(dtype).tiny, 1.5]
    else:
        special = [np.iinfo(dtype).min, np.iinfo(dtype).max, 0, 1]
    return np.resize(np.array(special, dtype=dtype), count)


def objects(values, count):
    cells = np.empty(count, dtype=object)
    cells[:] = [values[at % len(values)] for at in range(count)]
    return cells


# Each entry returns an attribute and the given number of cells.
def attributes(is_dense):
    for dtype in NUMBERS:
        yield tiledb.Attr(dtype, dtype=dtype), lambda count, dtype=dtype: numbers(dtype, count)
        if dtype in ("i4", "f8", "u1"):
            yield tiledb.Attr(f"{dtype}_null", dtype=dtype, nullable=True), lambda count, dtype=dtype: numbers(dtype, count)
    # DuckDB ignores the case of names.
    for number, unit in enumerate(DATES):
        days = np.array([0, -1, 10, 365], dtype="i8")
        yield tiledb.Attr(f"date_{number}", dtype=f"M8[{unit}]"), lambda count, unit=unit, days=days: np.resize(days, count).astype(f"M8[{unit}]")
    for number, unit in enumerate(TIMES):
        within = np.array([0, 1, 23], dtype="i8")
        yield tiledb.Attr(f"time_{number}", dtype=f"m8[{unit}]"), lambda count, unit=unit, within=within: np.resize(within, count).astype(f"m8[{unit}]")
    yield tiledb.Attr("bool", dtype="bool"), lambda count: np.arange(count) % 3 == 0
    yield tiledb.Attr("bool_null", dtype="bool", nullable=True), lambda count: np.arange(count) % 3 == 0
    yield tiledb.Attr("utf8", dtype=np.dtype("U0")), lambda count: objects(["", "a", "é漢😀", "x" * 300], count)
    yield tiledb.Attr("utf8_null", dtype=np.dtype("U0"), nullable=True), lambda count: objects(["ä", "a"], count)
    yield tiledb.Attr("ascii", dtype="ascii", var=True), lambda count: objects([b"", b"a", b"bc"], count)
    yield tiledb.Attr("bytes", dtype=np.dtype("S0")), lambda count: objects([b"", b"\xff\x00a", b"bc"], count)
    yield tiledb.Attr("blob", dtype="blob", var=True), lambda count: objects([b"\x00", b"\xff" * 40], count)
    yield tiledb.Attr("fixed", dtype="S4"), lambda count: np.resize(np.array([b"abcd", b"wxyz"], dtype="S4"), count)
    three = np.dtype([("", "i4"), ("", "i4"), ("", "i4")])
    yield tiledb.Attr("three", dtype=three), lambda count: np.array([(at, -at, 7) for at in range(count)], dtype=three)
    if not is_dense:
        lists = [np.array([1, 2, 3], dtype="i8"), np.array([-4], dtype="i8")]
        yield tiledb.Attr("lists", dtype="i8", var=True), lambda count: objects(lists, count)
    yield tiledb.Attr("colour", dtype="i1", enum_label="colours"), lambda count: np.resize(np.array([0, 2, 1], dtype="i1"), count)
    yield tiledb.Attr("size", dtype="u4", enum_label="sizes"), lambda count: np.resize(np.array([2, 0], dtype="u4"), count)
    yield tiledb.Attr("code", dtype="i4", enum_label="codes", nullable=True), lambda count: np.resize(np.array([1, 0], dtype="i4"), count)


def enumerations():
    colours = np.array(["red", "", "grün"], dtype="U4")
    return [
        tiledb.Enumeration("colours", False, colours),
        tiledb.Enumeration("sizes", True, np.array(["s", "m", "l"], dtype="U1")),
        tiledb.Enumeration("codes", False, np.array([-(2**63), 2**63 - 1], dtype="i8")),
    ]


def domains():
    """Yields name, domain and coordinates of each array. The coordinates are None for a dense array."""
    yield "dense", tiledb.Domain(tiledb.Dim("x", (0, 5), 3, dtype="i4"), tiledb.Dim("y", (-2, 1), 2, dtype="i4")), None
    yield "dense_date", tiledb.Domain(tiledb.Dim("t", (np.datetime64("2020-01-01"), np.datetime64("2020-01-09")), np.timedelta64(4, "D"), dtype="M8[D]")), None
    place = np.array([0, 5, 7, 99, 2, 30, 31], dtype="u8")
    yield "sparse", tiledb.Domain(tiledb.Dim("d", (0, 99), 10, dtype="u8")), [place]
    mixed = [objects([b"a", b"", b"zz", b"b\xc3"[:1], b"c", b"d", b"e"], 7), np.array([0.0, -1.5, 2.5, 1e9, -1e9, 3.0, 4.0])]
    yield "mixed", tiledb.Domain(tiledb.Dim("s", (None, None), None, dtype="ascii"), tiledb.Dim("f", (-1e10, 1e10), 100.0, dtype="f8")), mixed
    times = (np.arange(7, dtype="i8") * 10**9).astype("M8[ns]")
    yield "time", tiledb.Domain(tiledb.Dim("t", (np.datetime64(0, "ns"), np.datetime64(10**12, "ns")), np.timedelta64(10**9, "ns"), dtype="M8[ns]")), [times]


def make(folder):
    made = []
    for name, domain, places in domains():
        sparse = places is not None
        fields = list(attributes(not sparse))
        schema = tiledb.ArraySchema(domain, [field for field, _ in fields], sparse=sparse, enums=enumerations(), allows_duplicates=False)
        uri = folder / name
        tiledb.Array.create(str(uri), schema)
        shape = (len(places[0]),) if sparse else domain.shape
        count = int(np.prod(shape))
        cells = {}
        for field, of in fields:
            values = of(count)
            values = values if sparse else values.reshape(shape)
            if field.isnullable:
                values = (values, np.arange(count) % 4 == 1)
            cells[field.name] = values
        write(uri, schema, places, cells)
        made.append(uri)
    # No cell is written here.
    schema = tiledb.ArraySchema(tiledb.Domain(tiledb.Dim("d", (0, 9), 5, dtype="i4")), [tiledb.Attr("a", dtype="f8")], sparse=True)
    tiledb.Array.create(str(folder / "empty"), schema)
    return made


def write(uri, schema, places, cells):
    """Converts nullable values to arrays of pyarrow, as TileDB-Py requires."""
    with tiledb.open(str(uri), "w") as array:
        plain = {name: nullable(value, array.attr(name)) for name, value in cells.items()}
        if places is None:
            array[:] = plain
        else:
            array[tuple(places) if len(places) > 1 else places[0]] = plain


def nullable(value, attribute):
    if not isinstance(value, tuple):
        return value
    values, mask = value
    if values.dtype == object:
        values = values.copy()
        values[mask.reshape(values.shape)] = None
        return pa.array(values.ravel())
    return pa.array(values.ravel(), mask=mask)


def bits(value):
    """Converts a cell to a comparable value: floats to bits, dates and times to numbers with a unit."""
    if isinstance(value, np.void) and value.dtype.names:
        return tuple(bits(part) for part in value)
    if isinstance(value, (np.ndarray, list, tuple)):
        return tuple(bits(part) for part in value)
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return int(value.astype("i8"))
    if isinstance(value, (np.floating, float)):
        return np.float64(value).tobytes() if value == value else b"nan"
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (np.integer, int)):
        return int(value)
    if isinstance(value, str):
        return value.encode()
    return bytes(value) if isinstance(value, memoryview) else value


UNITS = {"Y": None, "M": None, "W": 7 * 86400, "D": 86400, "h": 3600, "m": 60, "s": 1}


def expected(uri):
    """Reads an array with TileDB-Py. Returns comparable cells per field, in row-major order."""
    with tiledb.open(str(uri)) as array:
        schema = array.schema
        dims = [schema.domain.dim(at) for at in range(schema.domain.ndim)]
        read = array.query(coords=True, order="C")[:]
        all_cells = {}
        for field in [*dims, *(schema.attr(at) for at in range(schema.nattr))]:
            cells = read[field.name]
            if isinstance(cells, np.ma.MaskedArray) or type(cells).__name__ == "MaskedArray":
                flat, mask = cells.data.ravel(), np.ma.getmaskarray(cells).ravel()
                all_cells[field.name] = [None if null else bits(cell) for cell, null in zip(flat, mask)]
            else:
                all_cells[field.name] = [bits(cell) for cell in np.asarray(cells).ravel()]
            if getattr(field, "enum_label", None) is not None:
                values = [bits(value) for value in array.enum(field.enum_label).values()]
                positions = all_cells[field.name]
                all_cells[field.name] = [None if at is None else values[at] for at in positions]
        return all_cells


def of_arrow(table, name):
    """Converts the cells of a column to the form of `expected`. The metadata contain the original types."""
    field, column = table.schema.field(name), table.column(name).combine_chunks()
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if pa.types.is_temporal(kind):
        told = (field.metadata or {}).get(b"tdb.datatype", b"").decode()
        raw = column.view(pa.int32() if kind.bit_width == 32 else pa.int64()).to_pylist()
        return [None if cell is None else back(cell, kind, told) for cell in raw]
    return [bits(cell) for cell in column.to_pylist()]


def back(number, kind, told):
    unit = told.split("_")[1]
    seconds = {"year": "Y", "month": "M", "week": "W", "day": "D", "hr": "h", "min": "m", "sec": "s"}
    if unit not in seconds:
        return number
    unit = seconds[unit]
    if pa.types.is_date32(kind):
        return int(np.datetime64(number, "D").astype(f"M8[{unit}]").astype("i8"))
    scale = 1000 if kind.unit == "ms" else 1
    whole, rest = divmod(number, scale * UNITS[unit])
    assert rest == 0
    return whole


def same(found, wanted, what):
    assert found == wanted, (what, next(((at, a, b) for at, (a, b) in enumerate(zip(found, wanted)) if a != b), (len(found), len(wanted))))


def compare(table, wanted, file):
    assert set(table.column_names) == set(wanted), (file, table.column_names)
    table.validate(full=True)
    for name, cells in wanted.items():
        same(of_arrow(table, name), cells, (file, name))
    return len(wanted)


def duck(path, table):
    """Checks that DuckDB and pyarrow read the same cells from a Parquet file, for types of DuckDB."""
    found = duckdb.sql(f"select * from '{path}'").to_arrow_table()
    assert found.column_names == table.column_names and found.num_rows == table.num_rows
    for name in table.column_names:
        ours = table.column(name)
        ours = ours.cast(ours.type.value_type) if pa.types.is_dictionary(ours.type) else ours
        theirs = found.column(name)
        if pa.types.is_fixed_size_binary(ours.type) or pa.types.is_large_binary(ours.type):
            ours, theirs = ours.cast(pa.binary()), theirs.cast(pa.binary())
        if pa.types.is_temporal(ours.type):
            ours, theirs = [[None if v is None else int(v) for v in c.cast(pa.int64() if c.type.bit_width == 64 else pa.int32()).to_pylist()] for c in (ours, theirs.cast(ours.type))]
        else:
            ours, theirs = ours.to_pylist(), theirs.to_pylist()
        same([bits(c) for c in theirs], [bits(c) for c in ours], ("DuckDB", path.name, name))


def texts(uri, folder, wanted):
    """Checks CSV and JSON lines: equal numbers of rows, and equal integers."""
    path = folder / f"{uri.name}.csv"
    tdb("export", uri, path, "--order", "row-major", "--all")
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    same([int(row["i8"]) for row in rows], wanted["i8"], (path, "i8"))
    same([int(row["u8"]) for row in rows], wanted["u8"], (path, "u8"))
    assert len(pd.read_csv(path)) == len(rows)
    path = folder / f"{uri.name}.jsonl"
    tdb("export", uri, path, "--order", "row-major", "--all")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    same([line["utf8"].encode() for line in lines], wanted["utf8"], (path, "utf8"))
    same([int(line["u8"]) for line in lines], wanted["u8"], (path, "u8"))


def again(uri, file, folder, wanted):
    """Checks that the import of a file yields the same array."""
    copy = folder / f"{uri.name}-of-{file.stem}-{file.suffix[1:]}"
    tdb("import", copy, file)
    run = subprocess.run([TDB, "diff", str(uri), str(copy), "--format", "csv"], capture_output=True, text=True)
    others = [line for line in run.stdout.splitlines()[1:] if not line.startswith("metadata")]
    assert not others, (file, others[:5], run.stderr)
    found = expected(copy)
    for name, cells in wanted.items():
        same(found[name], cells, (copy, name))


def main(folder):
    fields = 0
    for uri in make(folder):
        wanted = expected(uri)
        texts(uri, folder, wanted)
        for ending in ("parquet", "arrow", "arrows"):
            path = folder / f"{uri.name}.{ending}"
            tdb("export", uri, path, "--order", "row-major", "--all")
            if ending == "parquet":
                table = pq.read_table(path)
                duck(path, table)
                # Times of Python have no nanoseconds.
                known = [field.name for field in table.schema if field.type != pa.time64("ns")]
                assert len(pd.read_parquet(path, columns=known)) == table.num_rows
                pq.write_table(table, folder / f"{uri.name}-pyarrow.parquet", row_group_size=3)
                again(uri, folder / f"{uri.name}-pyarrow.parquet", folder, wanted)
            else:
                opened = pa.ipc.open_file(path) if ending == "arrow" else pa.ipc.open_stream(path)
                table = opened.read_all()
                rewritten = folder / f"{uri.name}-pyarrow.{ending}"
                writer = pa.ipc.new_file if ending == "arrow" else pa.ipc.new_stream
                with writer(rewritten, table.schema) as file:
                    file.write_table(table, max_chunksize=3)
                again(uri, rewritten, folder, wanted)
            fields += compare(table, wanted, path)
            again(uri, path, folder, wanted)
    for ending in ("parquet", "arrow", "arrows", "csv", "jsonl"):
        path = folder / f"empty.{ending}"
        tdb("export", folder / "empty", path)
        if ending == "parquet":
            assert pq.read_table(path).num_rows == 0
        if ending not in ("csv", "jsonl"):
            tdb("import", folder / f"empty-{ending}", path)
            assert expected(folder / f"empty-{ending}") == {"d": [], "a": []}
    print(f"{fields} fields compared")
    assert fields > 500, fields


if __name__ == "__main__":
    TDB = sys.argv[1]
    main(Path(sys.argv[2]))
