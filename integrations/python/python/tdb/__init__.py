"""TileDB arrays: read, write, query and maintain, without the C++ library.

>>> import tdb
>>> array = tdb.open("path/to/array")                                    # doctest: +SKIP
>>> array.read(["pos", "qual"], where="qual > 30").to_pandas()           # doctest: +SKIP
"""

from __future__ import annotations

from ._array import Array, Field, Fragment, Writer, Written, open
from ._create import (
    create,
    from_arrow,
    from_csv,
    from_numpy,
    from_pandas,
    from_parquet,
    schema_from_arrow,
    schema_from_numpy,
    schema_from_pandas,
)
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
from ._group import Group, Member, Node, create_group, object_type, open_group
from ._metadata import Metadata
from ._read import Batch, Groups, GroupTable, Plan, Read, Statistics
from ._schema import Attribute, Dimension, Enumeration, Filter, Filters, Schema

__all__ = [
    "Aggregate",
    "AlreadyExistsError",
    "Array",
    "Attribute",
    "Batch",
    "Col",
    "Condition",
    "ConflictError",
    "DamageError",
    "Dimension",
    "EncryptionKeyError",
    "Enumeration",
    "Error",
    "Field",
    "Filter",
    "Filters",
    "Fragment",
    "Group",
    "GroupTable",
    "Groups",
    "Member",
    "Metadata",
    "Node",
    "NotFoundError",
    "Plan",
    "Read",
    "Schema",
    "Statistics",
    "UnavailableError",
    "UnsupportedError",
    "UsageError",
    "Writer",
    "Written",
    "col",
    "count",
    "create",
    "create_group",
    "from_arrow",
    "from_csv",
    "from_numpy",
    "from_pandas",
    "from_parquet",
    "object_type",
    "open",
    "open_group",
    "schema_from_arrow",
    "schema_from_numpy",
    "schema_from_pandas",
]
