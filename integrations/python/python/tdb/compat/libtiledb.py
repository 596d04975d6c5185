"""Constants of the C++ library, by the names of TileDB-Py."""

from __future__ import annotations

import enum

from ._engine import TileDBError

__all__ = [
    "TILEDB_MAX_PATH",
    "TILEDB_OFFSET_SIZE",
    "TILEDB_VAR_NUM",
    "ArrayType",
    "CurrentDomainType",
    "DataOrder",
    "DataType",
    "FilterType",
    "LayoutType",
    "QueryStatus",
    "QueryType",
    "TileDBError",
    "WebpInputFormat",
    "version",
]


class DataType(enum.IntEnum):
    """The datatypes of the format. The names in lower case are those of the engine."""

    INT32 = 0
    INT64 = 1
    FLOAT32 = 2
    FLOAT64 = 3
    CHAR = 4
    INT8 = 5
    UINT8 = 6
    INT16 = 7
    UINT16 = 8
    UINT32 = 9
    UINT64 = 10
    STRING_ASCII = 11
    STRING_UTF8 = 12
    STRING_UTF16 = 13
    STRING_UTF32 = 14
    STRING_UCS2 = 15
    STRING_UCS4 = 16
    ANY = 17
    DATETIME_YEAR = 18
    DATETIME_MONTH = 19
    DATETIME_WEEK = 20
    DATETIME_DAY = 21
    DATETIME_HR = 22
    DATETIME_MIN = 23
    DATETIME_SEC = 24
    DATETIME_MS = 25
    DATETIME_US = 26
    DATETIME_NS = 27
    DATETIME_PS = 28
    DATETIME_FS = 29
    DATETIME_AS = 30
    TIME_HR = 31
    TIME_MIN = 32
    TIME_SEC = 33
    TIME_MS = 34
    TIME_US = 35
    TIME_NS = 36
    TIME_PS = 37
    TIME_FS = 38
    TIME_AS = 39
    BLOB = 40
    BOOL = 41
    GEOM_WKB = 42
    GEOM_WKT = 43


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
