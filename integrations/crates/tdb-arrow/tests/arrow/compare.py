"""Compares `ours.arrow` of each fixture with what tiledb-py gives as Arrow, and validates it.

The cells of both are compared as sets of rows: the library gives those of sparse arrays in an order of its own.
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

# What the library's Arrow has no words for, as it says itself.
BEYOND = ("not understood", "not currently supported", "unsupported format", "not supported", "Multi-value", "Expected 3 buffers", "DataType.STRING_")


def plain(column):
    """Cells as Python values that can be compared: dates as numbers, floats as their bits."""
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
        # Cells of any bits are times of day beyond a day: docs/arrow.md.
        if "is not within the acceptable range" not in str(error):
            raise
        ours.validate()
    return ours


def cut_to_32_bits(ours, name):
    """Whether we gave times as integers, since they don't fit into the 32 bits that the library cuts them to."""
    field = ours.schema.field(name)
    return field.metadata[b"tdb.datatype"] in (b"time_sec", b"time_ms") and pa.types.is_int64(field.type)


def compare(folder, ours, key, fields):
    """The number of cells, or why they weren't compared, or how they differ."""
    try:
        table = theirs(folder, key, fields)
    except Exception as error:  # the reasons are the library's own
        known = any(words in str(error) for words in BEYOND)
        return "skipped" if known else f"not compared: {str(error)[:160]}"
    if not set(fields) <= set(table.column_names):
        return "skipped"
    mine = sorted(zip(*(plain(ours[f]) for f in fields)), key=repr)
    # Of dense arrays the library gives the whole domain, ours the cells within what was written.
    places = {row[:-1] for row in mine}
    other = sorted((row for row in zip(*(plain(table[f]) for f in fields)) if row[:-1] in places), key=repr)
    if "sparse-unsorted" in folder.name:
        return "cells out of order, of which the library gives overwritten ones too: docs/fixtures.md"
    if cut_to_32_bits(ours, fields[-1]):
        return "times that the library cuts to 32 bits"
    if mine == other:
        return len(mine)
    first = next(((a, b) for a, b in zip(mine, other) if a != b), (len(mine), len(other)))
    return f"WRONG: {str(first)[:300]}"


def in_child(results):
    """What a generator yields in a process of its own, up to where the library ends that: it does with some fields."""
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
    """The dimensions and the attributes of our file, which is valid; pyarrow writes it again as `back.arrow`."""
    ours = read_ours(folder)
    with pa.ipc.new_file(folder / "back.arrow", ours.schema) as file:
        file.write_table(ours)
    dims = [f.name for f in ours.schema if f.metadata[b"tdb.role"] == b"dimension"]
    return dims, [name for name in ours.schema.names if name and name not in dims]


def main(root):
    # Only children use the two libraries: threads don't come along into a child.
    compared = cells = 0
    others, wrong = {}, []
    for folder in sorted(Path(root).iterdir()):
        expected = json.loads((folder / "expected.json").read_text())
        if any("reader" in query for query in expected["queries"]):
            others["of arrays that this release reads wrongly"] = others.get("of arrays that this release reads wrongly", 0) + 1
            continue
        key = expected.get("encryption_key")
        found = in_child(lambda: [fields_of(folder)])
        if not found:
            wrong.append(f"{folder.name}: pyarrow can't read our file")
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
