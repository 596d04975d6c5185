"""Compares `tdb sql` with DuckDB, by random statements on random arrays of TileDB-Py.

sql_judge.py TDB FOLDER [SEED COUNT STATEMENTS]     TDB is the full command; FOLDER is empty

TileDB-Py creates an array for each seed, and copies its cells to a table of DuckDB. `tdb sql` on the
array and DuckDB on the table must return the same rows for the same statements. Then `tdb sql`
inserts and deletes rows, and TileDB-Py must read the rows of DuckDB after the same statements. A
difference is printed with the smallest statement and the fewest array steps that reproduce it.
"""

import collections
import copy
import csv
import io
import math
import multiprocessing
import random
import re
import subprocess
import sys
import warnings
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

import sql_arrays
from sql_statements import Statements, condition, literal, quoted, render, smaller, words

warnings.simplefilter("ignore")
csv.field_size_limit(1 << 30)
TDB, FOLDER = None, None
SEEN = collections.Counter()
FORKED = multiprocessing.get_context("fork")


def ask_tdb(statements):
    """Returns the result of each statement: the rows as text, or the error message."""
    results = []
    while len(results) < len(statements):
        file = FOLDER / "statements.sql"
        file.write_text(";\n".join(statements[len(results) :]))
        run = subprocess.run([TDB, "sql", "-f", file.name, "--format", "csv", "--null", "\\N"], capture_output=True, cwd=FOLDER)
        found = []
        for row in csv.reader(io.StringIO(run.stdout.decode(), newline="")):
            if row and re.match(r"q\d+_0_", row[0]):
                found.append((row, []))
            elif found:
                found[-1][1].append(row)
        if run.returncode == 0:
            assert len(results) + len(found) == len(statements), (run.stdout[-500:], statements)
            return results + found
        # The first failure ends the run, possibly after some rows. A panic counts as an error message.
        failed = re.search(r"statements\.sql:(\d+)", run.stderr.decode())
        done = len(found)
        if failed:
            lines = 1
            for at, statement in enumerate(statements[len(results) :]):
                lines += statement.count("\n") + 1
                if int(failed[1]) < lines:
                    done = at
                    break
        results += found[:done] + [run.stderr.decode().strip() or f"exit code {run.returncode}"]
    return results


def ask_duckdb(table, name, statement):
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.register(name.strip('"'), table)
        try:
            return connection.execute(statement).to_arrow_table()
        except duckdb.Error as error:
            return str(error)


def from_text(text, kind):
    """Converts a cell of CSV to a comparable value."""
    if text == "\\N":
        return None
    if pa.types.is_floating(kind):
        return bits(np.float32(text) if pa.types.is_float32(kind) else float(text))
    if pa.types.is_boolean(kind):
        return {"true": True, "false": False}[text]
    if pa.types.is_integer(kind):
        return int(text)
    if pa.types.is_date(kind):
        return int(np.datetime64(text, "D").astype("i8"))
    if pa.types.is_timestamp(kind):
        return int(np.datetime64(text, kind.unit).astype("i8"))
    if pa.types.is_time(kind):
        hours, minutes, seconds = text.split(":")
        seconds, _, rest = seconds.partition(".")
        return (int(hours) * 3600 + int(minutes) * 60 + int(seconds)) * 10**9 + int((rest + "0" * 9)[:9])
    return text


def bits(value):
    return "nan" if math.isnan(value) else float(value).hex()


def from_arrow(column):
    kind = column.type
    if pa.types.is_temporal(kind):
        scale = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[kind.unit] if pa.types.is_time(kind) else 1
        raw = column.cast(pa.int32() if kind.bit_width == 32 else pa.int64()).to_pylist()
        return [None if value is None else value * scale for value in raw]
    if pa.types.is_floating(kind):
        return [None if value is None else bits(value) for value in column.to_pylist()]
    if pa.types.is_decimal(kind):
        return [None if value is None else int(value) for value in column.to_pylist()]
    return column.to_pylist()


def difference(found, wanted, parts, scale):
    """Returns the difference between the results of `tdb sql` and DuckDB, or None."""
    if isinstance(wanted, str):
        SEEN["refused by DuckDB" + (" and tdb" if isinstance(found, str) else " alone")] += 1
        return None if isinstance(found, str) else f"DuckDB refuses: {wanted}"
    if isinstance(found, str):
        if "overflow" in found and has_wide_sum(wanted):
            SEEN["sums that exceed 64 bits"] += 1
            return None
        return f"tdb: {found}"
    header, rows = found
    if header != wanted.column_names:
        return f"columns {header}"
    try:
        ours = [tuple(adjust(from_text(text, field.type), field) for text, field in zip(row, wanted.schema)) for row in rows]
    except (ValueError, KeyError) as error:
        return f"not of DuckDB's type: {error} in {rows[:3]}"
    columns = [[adjust(value, field) for value in from_arrow(column)] for field, column in zip(wanted.schema, wanted.columns)]
    theirs = list(zip(*columns))
    if not parts.get("order"):
        exact = [at for at, name in enumerate(header) if not name.endswith("near")]
        key = lambda row: [(row[at] is not None, str(row[at])) for at in exact]
        ours, theirs = sorted(ours, key=key), sorted(theirs, key=key)
    if len(ours) != len(theirs):
        extra = collections.Counter(ours) - collections.Counter(theirs), collections.Counter(theirs) - collections.Counter(ours)
        return f"{len(ours)} rows by tdb, {len(theirs)} by DuckDB; only by tdb {list(extra[0])[:3]}, only by DuckDB {list(extra[1])[:3]}"
    for at, (one, other) in enumerate(zip(ours, theirs)):
        if any(not equal(a, b, name, scale) for a, b, name in zip(one, other, header)):
            return f"row {at}: {one} by tdb, {other} by DuckDB"
    return None


def has_wide_sum(table):
    """Returns True if a sum of integers has more than 64 bits."""
    sums = [column for field, column in zip(table.schema, table.columns) if field.name.endswith("_sum")]
    return any(value is not None and not -(2**63) <= int(value) < 2**63 for column in sums for value in column.to_pylist())


def adjust(value, field):
    """Converts sums of DuckDB from text. Treats zeros of both signs as equal in minima and maxima."""
    if value is not None and field.name.endswith("_sum"):
        return int(value)
    if field.name.endswith("_zero") and value in (bits(0.0), bits(-0.0)):
        return bits(0.0)
    return value


def equal(one, other, name, scale):
    if one == other or not name.endswith("_near") or None in (one, other) or "nan" in (one, other):
        return one == other
    one, other = float.fromhex(one), float.fromhex(other)
    return abs(one - other) <= 1e-12 * max(scale, abs(other))


def scale_of(table):
    """Returns the maximum number, as the scale for errors of averages."""
    greatest = 1.0
    for column in table.columns:
        if pa.types.is_integer(column.type):
            greatest = max([greatest, *(abs(float(value)) for value in column.to_pylist() if value is not None)])
    return greatest


class Case:
    def __init__(self, seed, recipe=None):
        self.seed = seed
        self.recipe = recipe or sql_arrays.Recipe(random.Random(seed))
        self.name = f"a{seed}"
        self.uri = str(FOLDER / self.name)

    def make(self):
        sql_arrays.make(self.recipe, self.uri, random.Random(self.recipe.extents))

    def every_column(self):
        recipe = self.recipe
        return recipe.dimensions + recipe.attributes + [of for what, _, of in recipe.steps if what == "add"]

    def read(self, time=None):
        return sql_arrays.read(self.recipe, self.uri, self.every_column(), time)

    def judge(self, table, name, asked):
        """Returns the statements with different results, and the differences."""
        texts = [render(parts, name, number) for number, parts in enumerate(asked)]
        found = ask_tdb([words(text, 1) for text in texts])
        scale = scale_of(table)
        for parts, text, ours in zip(asked, texts, found):
            SEEN["statements"] += 1
            wanted = ask_duckdb(table, name, words(text, 2))
            SEEN["statements with rows"] += not isinstance(wanted, str) and wanted.num_rows > 0
            why = difference(ours, wanted, parts, scale)
            if why:
                yield parts, why

    def run(self, statements):
        self.make()
        rng = random.Random(self.seed + 1)
        time = rng.choice([None, None, rng.choice(self.recipe.steps)[1]])
        table, columns = self.read(time)
        SEEN["dense" if self.recipe.is_dense else "sparse"] += 1
        SEEN["cells"] += table.num_rows
        name = quoted(self.name if time is None else f"{self.name}@{time}")
        maker = Statements(rng, columns, self.recipe, name)
        differing = 0
        for parts, why in self.judge(table, name, [maker.statement() for _ in range(statements)]):
            differing += 1
            # Skips further statements with the same cause.
            kind = re.sub(r"[^a-z ]+", " ", why)[:70]
            SEEN[f"differing: {kind}"] += 1
            if SEEN[f"differing: {kind}"] <= 2:
                self.shrink(parts, why, time, name)
        return differing + self.writes(rng)

    def shrink(self, parts, why, time, name):
        """Prints the smallest statement and array with a difference, possibly another difference."""
        table, _ = self.read(time)
        parts, why = self.smallest(table, name, parts, why)
        small = Case(self.seed, copy.deepcopy(self.recipe))
        small.uri, shown = str(FOLDER / f"s{self.seed}"), name.replace(f"a{self.seed}", f"s{self.seed}", 1)
        at = 0
        while at < len(small.recipe.steps):
            taken = small.recipe.steps.pop(at)
            try:
                small.make()
                less = next(small.judge(small.read(time)[0], shown, [parts]), None)
            except Exception:  # the array cannot be created
                less = None
            if less is None:
                small.recipe.steps.insert(at, taken)
                at += 1
            else:
                why = less[1]
        small.make()
        table, columns = small.read(time)
        print(f"\nseed {self.seed}: {words(render(parts, shown), 1)}\n  {why}")
        print(f"  {'dense' if self.recipe.is_dense else 'sparse'}, columns {[(of.name, of.dtype, of.nullable, of.enumeration) for of in columns]}")
        for what, when, of in small.recipe.steps:
            print(f"  {what} at {when}: {str(of)[:1500]}")
        cells = {name: from_arrow(column) for name, column in zip(table.column_names, table.columns)}
        print(f"  cells: {cells if table.num_rows < 40 else table.num_rows}", flush=True)

    def smallest(self, table, name, parts, why):
        for less in smaller(parts):
            found = next(self.judge(table, name, [less]), None)
            if found:
                return self.smallest(table, name, *found)
        return parts, why

    def writes(self, rng):
        """Runs INSERT and DELETE, and compares the rows that TileDB-Py reads afterwards."""
        differing = 0
        for _ in range(3):
            before, columns = self.read()
            maker = Statements(rng, columns, self.recipe, quoted(self.name))
            if rng.random() < 0.5 and not self.recipe.is_dense:
                tree = maker.tree(1)
                statement = f"DELETE FROM {quoted(self.name)} WHERE {condition(tree)}"
                model = f"SELECT * FROM before WHERE NOT coalesce(({condition(tree)}), false)"
            else:
                statement, model = self.insert(rng, columns, before)
            statement, model = words(statement, 1), words(model, 2)
            run = subprocess.run([TDB, "sql", statement], capture_output=True, text=True, cwd=FOLDER)
            what = statement.split()[0]
            SEEN[f"{what} refused" if run.returncode else what] += 1
            if run.returncode:
                SEEN[f"{what}: {re.sub(r'[^a-z ]+', ' ', run.stderr.splitlines()[0][:160])[:90]}"] += 1
                model = "SELECT * FROM before"
            # UNION ALL and VALUES determine their own types.
            wanted = ask_duckdb(before, "before", model)
            assert not isinstance(wanted, str), (model, wanted)
            wanted = rows_of(wanted.cast(before.schema))
            found = rows_of(self.read()[0])
            # The non-empty domain of a dense array grows, by cells with unknown values.
            if wanted - found if self.recipe.is_dense else wanted != found:
                differing += 1
                print(f"\nseed {self.seed}: {statement}\n  {run.stdout.strip()} {run.stderr.strip()}")
                print(f"  only read after it {list((found - wanted).items())[:3]}, only expected {list((wanted - found).items())[:3]}")
                print(f"  {sum(found.values())} cells, {sum(wanted.values())} expected, {before.num_rows} before; columns {[(of.name, of.dtype, of.nullable, of.enumeration) for of in columns]}", flush=True)
                break
        return differing

    def insert(self, rng, columns, before):
        """Returns rows of literals: a box for a dense array, any cells for a sparse one. Replaces older cells."""
        keys = [of for of in columns if of.is_dimension]
        if self.recipe.is_dense:
            ends = [sorted(rng.choices(of.pool, k=2)) for of in keys]
            places = [()]
            for first, last in ends:
                places = [(*place, at) for place in places for at in range(first, last + 1)]
            rng.shuffle(places)
        else:
            places = [tuple(rng.choice(of.pool) for of in keys) for _ in range(rng.choice([1, 3, 10]))]
            places = places if self.recipe.duplicates else list(dict.fromkeys(places))
        rows = []
        for place in places:
            cells = [None if of.nullable and rng.random() < 0.3 else rng.choice(of.values()) for of in columns if not of.is_dimension]
            rows.append("(" + ", ".join(literal(of, value) for of, value in zip(columns, [*place, *cells])) + ")")
        names = ", ".join(quoted(of.name) for of in columns)
        text = ", ".join(rows)
        statement = f"INSERT INTO {quoted(self.name)} ({names}) VALUES {text}"
        typed = f"SELECT * FROM (SELECT * FROM before LIMIT 0) UNION ALL SELECT * FROM (VALUES {text}) AS added({names})"
        same = " AND ".join(f"before.{quoted(of.name)} = added.{quoted(of.name)}" for of in keys)
        if self.recipe.duplicates:
            return statement, f"SELECT * FROM before UNION ALL ({typed})"
        return statement, f"WITH added AS ({typed}) SELECT * FROM before WHERE NOT EXISTS (SELECT 1 FROM added WHERE {same}) UNION ALL SELECT * FROM added"


def rows_of(table):
    return collections.Counter(zip(*(from_arrow(column) for column in table.columns)))


def alone(seed, statements, told):
    SEEN.clear()  # removes the counts of the parent process
    differing = Case(seed).run(statements)
    told.send((differing, SEEN))


def main():
    global TDB, FOLDER
    TDB, FOLDER = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2])
    seed, count, statements = map(int, sys.argv[3:6] if len(sys.argv) > 3 else (0, 12, 40))
    failed = []
    for at in range(seed, seed + count):
        # Each case has a process, because the reference library may crash.
        ours, theirs = FORKED.Pipe(duplex=False)
        process = FORKED.Process(target=alone, args=(at, statements, theirs))
        process.start()
        theirs.close()
        try:
            differing, seen = ours.recv()
            SEEN.update(seen)
        except EOFError:
            process.join()
            differing = process.exitcode > 0
            SEEN[f"ended by signal {-process.exitcode}" if process.exitcode < 0 else "broken"] += 1
            print(f"\nseed {at}: ended with {process.exitcode}", flush=True)
        process.join()
        if differing:
            failed.append(at)
    print("\n".join(f"{number:8} {what}" for what, number in sorted(SEEN.items())))
    assert SEEN["statements with rows"] > SEEN["statements"] // 2, SEEN
    assert not failed, f"seeds with differences: {failed}"


if __name__ == "__main__":
    main()
