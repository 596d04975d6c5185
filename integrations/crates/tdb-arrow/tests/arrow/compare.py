"""Validates `ours.arrow` of each fixture, and compares the file with the Arrow output of tiledb-py.

The cells are compared as sets of rows, because the library returns sparse cells in another order.
"""
import functools
import json
import os
import signal
import sys
import warnings
from pathlib import Path

import pyarrow as pa
import tiledb

warnings.filterwarnings("ignore")

# Parts of error messages about types that the library cannot convert to Arrow.
BEYOND = ("not understood", "not currently supported", "unsupported format", "not supported", "Multi-value", "Expected 3 buffers", "DataType.STRING_")


def plain(column):
    """Converts cells to comparable Python values: dates to numbers, floats to bits."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if pa.types.is_temporal(kind):
        wide = pa.int32() if kind.bit_width == 32 else pa.int64()
        column = column.view(wide)
    elif pa.types.is_boolean(kind):
        column = column.cast(pa.uint8())
    elif pa.types.is_floating(kind):
        column = column.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        column = column.cast(pa.large_binary())
    return column.to_pylist()


@functools.cache
def context(key):
    config = {"sm.compute_concurrency_level": "1", "sm.io_concurrency_level": "1"}
    if key:
        config |= {"sm.encryption_type": "AES_256_GCM", "sm.encryption_key": key}
    return tiledb.Ctx(config)


def theirs(folder, key, names):
    with tiledb.open(str(folder / "array"), ctx=context(key)) as array:
        dims = [array.schema.domain.dim(i).name for i in range(array.schema.domain.ndim)]
        attrs = [name for name in names if name not in dims]
        query = array.query(attrs=attrs, dims=dims, return_arrow=True)
        return query.df[:]


def read_ours(folder):
    with pa.ipc.open_file(folder / "ours.arrow") as file:
        ours = file.read_all()
    try:
        ours.validate(full=True)
    except pa.ArrowInvalid as error:
        # Cells of random bits are times of day beyond 24 hours: docs/guides/arrow.md.
        if "is not within the acceptable range" not in str(error):
            raise
        ours.validate()
    return ours


def cut_to_32_bits(ours, name):
    """Returns True if tdb converted times to integers. The library truncates such times to 32 bits."""
    field = ours.schema.field(name)
    return field.metadata[b"tdb.datatype"] in (b"time_sec", b"time_ms") and pa.types.is_int64(field.type)


def compare(folder, ours, key, fields):
    """Returns the number of compared cells, the reason for no comparison, or the difference."""
    try:
        table = theirs(folder, key, fields)
    except Exception as error:  # the library reports the reason
        known = any(words in str(error) for words in BEYOND)
        return "skipped" if known else f"not compared: {str(error)[:160]}"
    if not set(fields) <= set(table.column_names):
        return "skipped"
    mine = sorted(zip(*(plain(ours[f]) for f in fields)), key=repr)
    # For dense arrays, the library returns the whole domain, and tdb the non-empty domain.
    places = {row[:-1] for row in mine}
    other = sorted((row for row in zip(*(plain(table[f]) for f in fields)) if row[:-1] in places), key=repr)
    if "sparse-unsorted" in folder.name:
        return "cells out of order, where the library also returns overwritten cells: docs/internals/fixtures.md"
    if cut_to_32_bits(ours, fields[-1]):
        return "times that the library truncates to 32 bits"
    if mine == other:
        return len(mine)
    first = next(((a, b) for a, b in zip(mine, other) if a != b), (len(mine), len(other)))
    return f"WRONG: {str(first)[:300]}"


def in_child(results):
    """Returns the values of a generator that runs in a separate process. The library crashes on some fields."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        signal.alarm(60)
        with os.fdopen(write, "w") as pipe:
            for result in results():
                pipe.write(json.dumps(result) + "\n")
                pipe.flush()
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        lines = pipe.readlines()
    os.waitpid(child, 0)
    return [json.loads(line) for line in lines]


def fields_of(folder):
    """Returns the dimensions and attributes of tdb's file, and writes a copy with pyarrow as `back.arrow`."""
    ours = read_ours(folder)
    with pa.ipc.new_file(folder / "back.arrow", ours.schema) as file:
        file.write_table(ours)
    dims = [f.name for f in ours.schema if f.metadata[b"tdb.role"] == b"dimension"]
    return dims, [name for name in ours.schema.names if name and name not in dims]


def main(root):
    # Only child processes use the two libraries, because a fork does not copy threads.
    compared = cells = 0
    others, wrong = {}, []
    for folder in sorted(Path(root).iterdir()):
        expected = json.loads((folder / "expected.json").read_text())
        if any("reader" in query for query in expected["queries"]):
            others["of arrays that this release misreads"] = others.get("of arrays that this release misreads", 0) + 1
            continue
        key = expected.get("encryption_key")
        found = in_child(lambda: [fields_of(folder)])
        if not found:
            wrong.append(f"{folder.name}: pyarrow cannot read the file of tdb")
            continue
        dims, attributes = found[0]
        results = []
        while len(results) < len(attributes):

            def further():
                ours = read_ours(folder)
                for name in attributes[len(results):]:
                    yield compare(folder, ours, key, dims + [name])

            there = in_child(further)
            results += there
            if len(results) < len(attributes):
                results.append("the library ended the process")
        for name, result in zip(attributes, results):
            if isinstance(result, int):
                compared += 1
                cells += result
            elif result.startswith("WRONG"):
                wrong.append(f"{folder.name}.{name}: {result}")
            else:
                others[result] = others.get(result, 0) + 1
    print(f"{compared} fields of {cells} cells compared")
    for reason, count in others.items():
        print(f"{count} fields: {reason}")
    print("\n".join(wrong))
    return 1 if wrong or compared < 300 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
