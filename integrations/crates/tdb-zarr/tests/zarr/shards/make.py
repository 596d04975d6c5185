"""Writes the arrays of this folder with zarr-python 3: make.py FOLDER

Each array has 8 by 8 cells in chunks of 2 by 2 and shards of 4 by 4. Rows 0 to 2 are written. The
lower two shards do not exist. The upper two shards have all four chunks, except for the chunk of
rows 0 and 1 and columns 2 and 3, whose cells are fill values.
"""

import sys
from pathlib import Path

import numpy as np
import zarr
from zarr.codecs import BytesCodec, Crc32cCodec, GzipCodec, ShardingCodec, VLenUTF8Codec

INDEX = {"codecs": [BytesCodec(endian="little"), Crc32cCodec()], "big": [BytesCodec(endian="big")]}


def make(folder, name, dtype, inner, index, location):
    codec = ShardingCodec(chunk_shape=(2, 2), codecs=inner, index_codecs=index, index_location=location)
    array = zarr.create_array(
        folder / f"{name}.zarr",
        shape=(8, 8),
        chunks=(4, 4),
        dtype=dtype,
        serializer=codec,
        compressors=None,
        filters=None,
        fill_value="" if dtype is str else 7,
    )
    numbers = np.arange(24).reshape(3, 8) + 100
    cells = np.array([[f"é{number}" for number in row] for row in numbers], dtype=object) if dtype is str else numbers
    cells[0:2, 2:4] = "" if dtype is str else 7
    array[0:3] = cells


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    numbers = [BytesCodec(endian="little"), GzipCodec(level=1)]
    make(folder, "behind", "int32", numbers, INDEX["codecs"], "end")
    make(folder, "in-front", "int32", numbers, INDEX["codecs"], "start")
    make(folder, "big", "int32", [BytesCodec(endian="big")], INDEX["big"], "end")
    make(folder, "texts", str, [VLenUTF8Codec()], INDEX["codecs"], "end")
