"""Constants of the C++ library, by the names of TileDB-Py."""

from __future__ import annotations

import enum

from ._engine import TileDBError

__all__ = [
    "ArrayType",
    "CurrentDomainType",
    "DataOrder",
    "DataType",
    "FilterType",
    "LayoutType",
    "QueryStatus",
    "QueryType",
    "TILEDB_MAX_PATH",
    "TILEDB_OFFSET_SIZE",
    "TILEDB_VAR_NUM",
    "TileDBError",
    "WebpInputFormat",
    "version",
]

_NAMES = [
    "INT32", "INT64", "FLOAT32", "FLOAT64", "CHAR", "INT8", "UINT8", "INT16", "UINT16", "UINT32", "UINT64",
    "STRING_ASCII", "STRING_UTF8", "STRING_UTF16", "STRING_UTF32", "STRING_UCS2", "STRING_UCS4", "ANY",
    "DATETIME_YEAR", "DATETIME_MONTH", "DATETIME_WEEK", "DATETIME_DAY", "DATETIME_HR", "DATETIME_MIN",
    "DATETIME_SEC", "DATETIME_MS", "DATETIME_US", "DATETIME_NS", "DATETIME_PS", "DATETIME_FS", "DATETIME_AS",
    "TIME_HR", "TIME_MIN", "TIME_SEC", "TIME_MS", "TIME_US", "TIME_NS", "TIME_PS", "TIME_FS", "TIME_AS",
    "BLOB", "BOOL", "GEOM_WKB", "GEOM_WKT",
]  # fmt: skip

#: The datatypes of the format. The names in lower case are those of the engine.
DataType = enum.IntEnum("DataType", {name: code for code, name in enumerate(_NAMES)})


class ArrayType(enum.IntEnum):
    DENSE = 0
    SPARSE = 1


class LayoutType(enum.IntEnum):
    ROW_MAJOR = 0
    COL_MAJOR = 1
    GLOBAL_ORDER = 2
    UNORDERED = 3
    HILBERT = 4


class QueryType(enum.IntEnum):
    READ = 0
    WRITE = 1
    DELETE = 2
    MODIFY_EXCLUSIVE = 4


class QueryStatus(enum.IntEnum):
    FAILED = 0
    COMPLETE = 1
    INPROGRESS = 2
    INCOMPLETE = 3
    UNINITIALIZED = 4


class DataOrder(enum.IntEnum):
    UNORDERED_DATA = 0
    INCREASING_DATA = 1
    DECREASING_DATA = 2


class CurrentDomainType(enum.IntEnum):
    NDRECTANGLE = 0


class WebpInputFormat(enum.IntEnum):
    WEBP_NONE = 0
    WEBP_RGB = 1
    WEBP_BGR = 2
    WEBP_RGBA = 3
    WEBP_BGRA = 4


class FilterType(enum.IntEnum):
    NONE = 0
    GZIP = 1
    ZSTD = 2
    LZ4 = 3
    RLE = 4
    BZIP2 = 5
    DOUBLE_DELTA = 6
    BIT_WIDTH_REDUCTION = 7
    BITSHUFFLE = 8
    BYTESHUFFLE = 9
    POSITIVE_DELTA = 10
    CHECKSUM_MD5 = 12
    CHECKSUM_SHA256 = 13
    DICTIONARY = 14
    SCALE_FLOAT = 15
    XOR = 16
    WEBP = 18
    DELTA = 19


#: Unlimited values per cell.
VAR_NUM = 2**32 - 1


def TILEDB_VAR_NUM() -> int:
    """The number of values per cell of variable-length cells."""
    return VAR_NUM


def TILEDB_MAX_PATH() -> int:
    """The maximum length of a path."""
    return 4096


def TILEDB_OFFSET_SIZE() -> int:
    """The bytes of an offset."""
    return 8


def version() -> tuple[int, int, int]:
    """The release of the C++ library whose format and behavior this module follows."""
    return (2, 30, 0)
