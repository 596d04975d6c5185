"""Compares zarr-python and TileDB-Py on both sides of a conversion.

judge.py make FOLDER        writes arrays of many types, codecs and shapes with zarr-python
judge.py imported FOLDER    compares the imported arrays in TileDB-Py with the originals in zarr-python
judge.py arrays FOLDER      writes dense arrays of many types, filters and shapes with TileDB-Py
judge.py exported FOLDER    compares the exported arrays in zarr-python with the originals in TileDB-Py
"""

import random
import sys
import warnings
from pathlib import Path

import numcodecs
import numpy as np
import pyarrow as pa
import tiledb
import zarr
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, TransposeCodec, ZstdCodec

warnings.simplefilter("ignore")
TYPES = "bool i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16 M8[ns] M8[D] m8[ms] S5 U4 str".split()
CNAMES = ["lz4", "lz4hc", "blosclz", "zlib", "zstd"]


def cells(rng, dtype, shape):
    count = int(np.prod(shape))
    if dtype == "bool":
        flat = np.array([rng.random() < 0.5 for _ in range(count)])
    elif dtype[0] in "iu":
        flat = np.array([rng.randint(np.iinfo(dtype).min, np.iinfo(dtype).max) for _ in range(count)], dtype=dtype)
    elif dtype[0] == "f":
        flat = np.array([rng.choice([rng.gauss(0, 1), float("nan")]) for _ in range(count)]).astype(dtype)
    elif dtype[0] == "c":
        flat = np.array([complex(rng.gauss(0, 1), rng.gauss(0, 1)) for _ in range(count)]).astype(dtype)
    elif dtype[0] in "Mm":
        flat = np.array([rng.randint(-(10**12), 10**12) for _ in range(count)]).astype(dtype)
    elif dtype == "S5":
        flat = np.array([bytes(rng.choices(b"abc\xc3", k=rng.randint(0, 5))) for _ in range(count)], dtype="S5")
    else:
        words = ["".join(rng.choices("abé漢😀", k=rng.randint(0, 4))) for _ in range(count)]
        flat = np.array(words, dtype="U4" if dtype == "U4" else object)
    return flat.reshape(shape)


def of_version_3(rng, dtype, dims, chunks):
    keys = [{"name": name, "separator": separator} for name in ("default", "v2") for separator in "/."]
    blosc = BloscCodec(cname=rng.choice(CNAMES), clevel=rng.randint(0, 9), shuffle=rng.choice(["noshuffle", "shuffle", "bitshuffle"]))
    compressors = [None, GzipCodec(level=rng.randint(0, 9)), ZstdCodec(checksum=True), [ZstdCodec(), Crc32cCodec()], blosc]
    more = {"compressors": rng.choice(compressors), "chunk_key_encoding": rng.choice(keys)}
    if dtype != "str" and rng.random() < 0.25:
        more["filters"] = [TransposeCodec(order=tuple(rng.sample(range(dims), dims)))]
    elif rng.random() < 0.4:
        more["shards"] = tuple(chunk * rng.randint(1, 3) for chunk in chunks)
    if dtype not in ("str", "S5", "U4") and rng.random() < 0.3:
        more["serializer"] = BytesCodec(endian="big")
    return more


def of_version_2(rng, dtype):
    blosc = numcodecs.Blosc(cname=rng.choice(CNAMES), clevel=rng.randint(0, 9), shuffle=rng.choice([0, 1, 2]))
    compressors = [None, blosc, numcodecs.Zlib(), numcodecs.GZip(), numcodecs.Zstd(), numcodecs.LZ4()]
    more = {"compressors": rng.choice(compressors), "order": rng.choice("CF")}
    if dtype != "str" and rng.random() < 0.2:
        more["filters"] = [numcodecs.Shuffle(np.dtype(dtype).itemsize)]
    return more


def make(folder):
    rng = random.Random(1)
    for number in range(200):
        version, dtype, dims = rng.choice([3, 3, 2]), rng.choice(TYPES), rng.choice([1, 2, 3])
        shape = tuple(rng.randint(1, {1: 200, 2: 30, 3: 12}[dims]) for _ in range(dims))
        chunks = tuple(rng.randint(1, length + 2) for length in shape)
        more = of_version_3(rng, dtype, dims, chunks) if version == 3 else of_version_2(rng, dtype)
        if dtype[0] in "iu":
            more["fill_value"] = 7
        of = str if dtype == "str" else dtype
        if version == 2 and dtype[0] in "iufcMm" and np.dtype(dtype).itemsize > 1 and rng.random() < 0.4:
            of = np.dtype(dtype).newbyteorder(">")
        path = folder / f"{number}.zarr"
        array = zarr.create_array(path, shape=shape, chunks=chunks, dtype=of, zarr_format=version, attributes={"n": number}, **more)
        part = tuple(slice(0, rng.randint(1, length)) if rng.random() < 0.4 else slice(None) for length in shape)
        array[part] = cells(rng, dtype, shape)[part]


def is_same(ours, theirs):
    if ours.dtype.names:
        ours = np.ascontiguousarray(ours).view(theirs.dtype.newbyteorder("="))
    if theirs.dtype.kind in "UOT":
        # The fill value of text is a zero byte, which TileDB-Py omits.
        text = lambda cells: [str(cell).rstrip("\0") for cell in cells.ravel()]
        return text(ours) == text(theirs)
    if theirs.dtype.kind == "S":
        return [bytes(cell).rstrip(b"\0") for cell in ours.ravel()] == list(theirs.ravel())
    return np.array_equal(ours.reshape(theirs.shape), theirs, equal_nan=theirs.dtype.kind in "fcMm")


def imported(folder):
    count = 0
    for path in sorted(folder.glob("*.zarr")):
        theirs = np.asarray(zarr.open_array(path, mode="r")[...])
        with tiledb.open(str(path.with_suffix(""))) as array:
            ours = array[...]
            ours = ours[array.attr(0).name] if isinstance(ours, dict) else ours
            assert array.meta["n"] == int(path.stem), path
        theirs = theirs.astype("f4") if theirs.dtype == "f2" else theirs
        assert is_same(ours, theirs), (path, ours.ravel()[:5], theirs.ravel()[:5])
        count += 1
    assert count == 200, count


def one_attribute(rng, name, dims):
    """Returns an attribute, and a function that generates cells for a shape."""
    dtype = rng.choice("bool i1 i2 i4 i8 u1 u2 u4 u8 f4 f8 M8[s] M8[D] m8[ms] S5 U0 S0".split())
    filters = [tiledb.GzipFilter(4), tiledb.ZstdFilter(3), tiledb.LZ4Filter(), tiledb.Bzip2Filter(), tiledb.ChecksumMD5Filter()]
    filters = tiledb.FilterList(rng.sample(filters, rng.randint(0, 2)))
    nullable = dtype in ("i4", "f8", "u1", "bool") and rng.random() < 0.6
    if dtype == "S0":
        make = lambda shape: np.array([bytes(rng.choices(b"ab\xff\0", k=rng.randint(0, 4))) for _ in range(int(np.prod(shape)))], dtype=object).reshape(shape)
        return tiledb.Attr(name, dtype=np.dtype("S0"), filters=filters), make
    of = np.dtype("U0") if dtype == "U0" else np.dtype(dtype)
    label = {"enum_label": "words"} if dtype == "u1" and rng.random() < 0.5 else {}
    make = lambda shape: cells(rng, "str" if dtype == "U0" else dtype, shape) if not label else np.resize(np.array([0, 2, 1], "u1"), shape)
    return tiledb.Attr(name, dtype=of, filters=filters, nullable=nullable, **label), make


def nullable(attribute, values, rng):
    if not attribute.isnullable:
        return values
    mask = np.array([rng.random() < 0.3 for _ in range(values.size)])
    return pa.array(values.ravel(), mask=mask)


def arrays(folder):
    rng = random.Random(2)
    for number in range(120):
        dims = rng.choice([1, 2, 3])
        order, start = rng.choice(["row-major", "col-major"]), rng.choice([0, 3, 10])
        ends = [rng.randint(2, {1: 200, 2: 25, 3: 10}[dims]) for _ in range(dims)]
        tiles = [rng.randint(1, end) for end in ends]
        names = [f"d{at}" for at in range(dims)]
        domain = tiledb.Domain(*(tiledb.Dim(name, (start, start + end - 1), tile, dtype="i4") for name, end, tile in zip(names, ends, tiles)))
        attributes = [one_attribute(rng, f"a{at}", dims) for at in range(rng.choice([1, 1, 2, 3]))]
        words = tiledb.Enumeration("words", False, np.array(["x", "y", "z"], dtype="U1"))
        uses = [words] if any(attribute.enum_label for attribute, _ in attributes) else []
        schema = tiledb.ArraySchema(domain, [attribute for attribute, _ in attributes], cell_order=order, tile_order=rng.choice(["row-major", "col-major"]), enums=uses)
        path = folder / str(number)
        tiledb.Array.create(str(path), schema)
        with tiledb.open(str(path), "w") as array:
            array.meta["n"] = number
            # Some arrays have no written cells, or only the first rows.
            rows = ends[0] if rng.random() < 0.6 else rng.randint(0, ends[0])
            if rows > 1:
                part = slice(start, start + rows)
                array[part] = {attribute.name: nullable(attribute, make((rows, *ends[1:])), rng) for attribute, make in attributes}


def exported(folder):
    fields = 0
    for path in sorted(path for path in folder.iterdir() if path.suffix == ""):
        node = zarr.open(path.with_suffix(".zarr"), mode="r")
        assert node.attrs["n"] == int(path.name), path
        with tiledb.open(str(path)) as array:
            read = array.query(order="C")[:]
            for at in range(array.schema.nattr):
                attribute = array.attr(at)
                ours = node if isinstance(node, zarr.Array) else node[attribute.name]
                theirs = read[attribute.name] if isinstance(read, dict) else read
                assert list(ours.metadata.dimension_names[: array.ndim]) == [array.dim(d).name for d in range(array.ndim)]
                ours = np.asarray(ours[...])
                if attribute.isnullable:
                    valid = np.asarray(node[f"{attribute.name}.validity"][...])
                    assert np.array_equal(~valid, np.ma.getmaskarray(theirs)), path
                    # Values of null cells are undefined.
                    ours, theirs = ours[valid], np.asarray(theirs.data)[valid]
                theirs = np.asarray(theirs)
                if theirs.dtype == object:
                    plain = lambda cell: (cell.encode() if isinstance(cell, str) else bytes(cell)).rstrip(b"\0")
                    assert [plain(cell) for cell in ours.ravel()] == [plain(cell) for cell in theirs.ravel()], (path, attribute)
                else:
                    assert is_same(ours, theirs), (path, attribute, ours.ravel()[:5], theirs.ravel()[:5])
                fields += 1
    assert fields > 150, fields
    print(f"{fields} fields")


if __name__ == "__main__":
    {"make": make, "imported": imported, "arrays": arrays, "exported": exported}[sys.argv[1]](Path(sys.argv[2]))
