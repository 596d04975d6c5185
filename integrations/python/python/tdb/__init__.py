"""TileDB arrays: read, write, query and maintain, without the C++ library.

>>> import tdb
>>> array = tdb.open("path/to/array")                                    # doctest: +SKIP
>>> array.read(["pos", "qual"], where="qual > 30").to_pandas()           # doctest: +SKIP
"""

from __future__ import annotations

from ._array import Array, Field, Fragment, open
from ._errors import (
    AlreadyExistsError,
    ConflictError,
    DamageError,
    EncryptionKeyError,
    Error,
    NotFoundError,
    UnavailableError,
    UnsupportedError,
    UsageError,
)
from ._expr import Aggregate, Col, Condition, col, count
from ._read import Batch, Groups, GroupTable, Plan, Read, Statistics

__all__ = [
    "Aggregate",
    "AlreadyExistsError",
    "Array",
    "Batch",
    "Col",
    "Condition",
    "ConflictError",
    "DamageError",
    "EncryptionKeyError",
    "Error",
    "Field",
    "Fragment",
    "GroupTable",
    "Groups",
    "NotFoundError",
    "Plan",
    "Read",
    "Statistics",
    "UnavailableError",
    "UnsupportedError",
    "UsageError",
    "col",
    "count",
    "open",
]
