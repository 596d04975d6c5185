"""Creates the rows, and implements the Python sides: DuckDB over Parquet, and TileDB-Py with pandas.

`sides.py make FOLDER ROWS GROUP INDEX` writes the same rows as a sparse array and as Parquet. GROUP
is the number of rows per row group, and INDEX is 1 for a page index. `sides.py SIDE FOLDER THREADS`
answers queries. Each query is a line of JSON on standard input. Each answer is a line of JSON on
standard output, with the rows, the wall time and the CPU time in seconds.
"""

import datetime
import json
import math
import os
import sys
import time

import numpy as np

CHROMS = 22
SPACING = 10
"""Average distance of positions on a chromosome."""
START = np.datetime64("2026-01-01T00:00:00", "ms")
DAYS = 30
KINDS = [f"{place}_{what}" for place in ("coding", "intron", "splice_region", "intergenic") for what in range(10)]
RARE = "promoter_flank"
CAPACITY = 10_000
BATCH = 5_000_000


def batches(rows):
    """Divides the rows into batches of whole chromosomes. Returns the first and the end row of each."""
    per_chrom = -(-rows // CHROMS)
    step = max(1, BATCH // per_chrom) * per_chrom
    return [(first, min(rows, first + step)) for first in range(0, rows, step)]


def rows_of(first, last, rows):
    """Generates the rows from `first` to before `last`, of `rows` in total."""
    random = np.random.default_rng(first)
    count = last - first
    per_chrom = -(-rows // CHROMS)
    number = np.arange(first, last, dtype=np.int64)
    chrom, place = number // per_chrom + 1, number % per_chrom
    # Each tenth row has the exact average position, and the others a random later position.
    pos = place * SPACING + np.where(place % 10 == 0, 0, random.integers(0, SPACING, count))
    passed = place * (DAYS * 86_400_000) // per_chrom + random.integers(0, 600_000, count)
    kind = random.integers(0, len(KINDS), count)
    kind[random.random(count) < 1e-5] = len(KINDS)
    return {
        "chrom": chrom.astype(np.int32),
        "pos": pos.astype(np.int32),
        "qual": np.round(random.random(count) * 100, 6),
        "score": random.normal(50, 10, count).astype(np.float32),
        "depth": random.geometric(0.03, count).astype(np.int32),
        "time": START + passed.astype("timedelta64[ms]"),
        "kind": kind.astype(np.uint8),
    }


def names():
    """Returns the kinds in the order of pandas categories, and the position of each kind in this order."""
    ordered = sorted([*KINDS, RARE])
    places = np.array([ordered.index(kind) for kind in [*KINDS, RARE]], dtype=np.uint8)
    return ordered, places


def make_array(path, rows):
    import tiledb

    zstd = lambda *before: tiledb.FilterList([*before, tiledb.ZstdFilter(level=3)])
    per_chrom = -(-rows // CHROMS)
    most = per_chrom * SPACING + SPACING
    domain = tiledb.Domain(
        tiledb.Dim("chrom", domain=(1, CHROMS), tile=1, dtype=np.int32, filters=zstd()),
        tiledb.Dim("pos", domain=(0, 2_000_000_000), tile=most, dtype=np.int32, filters=zstd(tiledb.DoubleDeltaFilter())),
    )
    ordered, places = names()
    attributes = [
        tiledb.Attr("qual", dtype=np.float64, filters=zstd(tiledb.ByteShuffleFilter())),
        tiledb.Attr("score", dtype=np.float32, filters=zstd(tiledb.ByteShuffleFilter())),
        tiledb.Attr("depth", dtype=np.int32, filters=zstd()),
        tiledb.Attr("time", dtype="datetime64[ms]", filters=zstd()),
        tiledb.Attr("kind", dtype=np.uint8, enum_label="kinds", filters=zstd()),
        tiledb.Attr("kind_text", dtype="U", var=True, filters=zstd()),
        # Parquet uses dictionaries by default.
        tiledb.Attr("kind_dictionary", dtype="U", var=True, filters=zstd(tiledb.DictionaryFilter())),
    ]
    # The offset filters of tiledbsoma.
    offsets = zstd(tiledb.DoubleDeltaFilter(), tiledb.BitWidthReductionFilter())
    schema = tiledb.ArraySchema(
        domain=domain,
        attrs=attributes,
        sparse=True,
        capacity=CAPACITY,
        offsets_filters=offsets,
        enums=[tiledb.Enumeration("kinds", False, np.array(ordered, dtype="U"))],
    )
    tiledb.Array.create(path, schema)
    with tiledb.open(path, "w") as array:
        for first, last in batches(rows):
            cells = rows_of(first, last, rows)
            chrom, pos = cells.pop("chrom"), cells.pop("pos")
            cells["kind"] = places[cells["kind"]]
            cells["kind_text"] = cells["kind_dictionary"] = np.array(ordered, dtype=object)[cells["kind"]]
            array[chrom, pos] = cells


def make_parquet(path, rows, row_group, page_index):
    import pyarrow
    import pyarrow.parquet

    ordered, places = names()
    writer = None
    for first, last in batches(rows):
        cells = rows_of(first, last, rows)
        kind = places[cells["kind"]]
        columns = {name: pyarrow.array(values) for name, values in cells.items() if name != "kind"}
        columns["kind"] = pyarrow.DictionaryArray.from_arrays(kind.astype(np.int32), ordered)
        columns["kind_text"] = columns["kind"].cast(pyarrow.string())
        table = pyarrow.table(columns)
        if writer is None:
            writer = pyarrow.parquet.ParquetWriter(
                path,
                table.schema,
                compression="zstd",
                write_page_index=page_index,
                sorting_columns=pyarrow.parquet.SortingColumn.from_ordering(
                    table.schema, [("chrom", "ascending"), ("pos", "ascending")]
                ),
            )
        writer.write_table(table, row_group_size=row_group)
    writer.close()


def make(folder, rows, row_group, page_index):
    make_array(os.path.join(folder, "array"), rows)
    make_parquet(os.path.join(folder, "rows.parquet"), rows, row_group, page_index)


class Duckdb:
    def __init__(self, folder, threads):
        import duckdb

        self.connection = duckdb.connect()
        self.connection.execute(f"SET threads = {threads}")
        self.connection.execute(f"CREATE VIEW t AS SELECT * FROM '{os.path.join(folder, 'rows.parquet')}'")

    def answer(self, query):
        return self.connection.execute(query["sql"]).fetchall()


class Tiledb:
    def __init__(self, folder, threads):
        import tiledb

        settings = {"sm.compute_concurrency_level": threads, "sm.io_concurrency_level": threads}
        self.context = tiledb.Ctx(settings)
        self.open = lambda: tiledb.open(os.path.join(folder, "array"), ctx=self.context)

    def answer(self, query):
        """Runs a query. The library evaluates columns, box and condition, and pandas the rest."""
        columns, condition, groups = query["columns"], query["condition"], query["groups"]
        with self.open() as array:
            dimensions = [name for name in columns if name in ("chrom", "pos")]
            attributes = [name for name in columns if name not in dimensions]
            asked = array.query(attrs=attributes, dims=dimensions, cond=condition)
            frame = asked.df[tuple(slice(*side) for side in query["box"])] if query["box"] else asked.df[:]
        if query["top"]:
            column, ascending, count = query["top"]
            by = ["chrom", "pos"] if column == "place" else column
            if column == "place":
                rows = frame.sort_values(by).head(count)
            else:
                rows = frame.nsmallest(count, by) if ascending else frame.nlargest(count, by)
            return rows[columns].values.tolist()
        aggregates = [tuple(aggregate) for aggregate in query["aggregates"]]
        if groups:
            grouped = frame.groupby(groups, observed=True)
            found = grouped.agg(**{f"c{i}": (column, how) for i, (how, column) in enumerate(aggregates)})
            return [[*(name if isinstance(name, tuple) else (name,)), *row] for name, row in zip(found.index, found.values.tolist())]
        if not aggregates:
            return frame[columns].values.tolist()
        return [[len(frame) if how == "count" else getattr(frame[column], how)() for how, column in aggregates]]


def plain(value):
    if isinstance(value, np.generic):
        value = value.item() if not isinstance(value, np.datetime64) else value.astype("datetime64[ms]").item()
    if isinstance(value, datetime.datetime):
        return round(value.replace(tzinfo=datetime.timezone.utc).timestamp() * 1000)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if hasattr(value, "as_integer_ratio") and not isinstance(value, (int, float)):
        return float(value)
    return value


def serve(side):
    # Redirects output of the libraries, such as progress, to standard error.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        query = json.loads(line)
        begun, cpu_begun = time.perf_counter(), time.process_time()
        rows = side.answer(query)
        cpu_seconds, seconds = time.process_time() - cpu_begun, time.perf_counter() - begun
        rows = [[plain(value) for value in row] for row in rows]
        print(json.dumps({"rows": rows, "seconds": seconds, "cpu_seconds": cpu_seconds}), file=answers, flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2], *(int(argument) for argument in sys.argv[3:6]))
    else:
        serve({"duckdb": Duckdb, "tiledb": Tiledb}[sys.argv[1]](sys.argv[2], int(sys.argv[3])))
