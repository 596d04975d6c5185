"""The interface of TileDB-Py on this engine, for existing programs.

>>> import tdb.compat as tiledb
>>> with tiledb.open("path/to/array") as array:                          # doctest: +SKIP
...     array.df[10:20]

:func:`install` makes ``import tiledb`` work in programs that cannot be changed. Features that the
engine lacks raise :class:`TileDBError` or ``NotImplementedError``.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from types import ModuleType

from . import ctx as ctx
from . import domain as domain
from . import filter as filter
from . import libtiledb, main
from ._engine import TileDBError
from .array import Array, DenseArray, DenseArrayImpl, SparseArray, SparseArrayImpl
from .array_schema import ArraySchema
from .attribute import Attr
from .consolidation_plan import ConsolidationPlan
from .ctx import Config, Ctx, as_built, default_ctx, scope_ctx
from .current_domain import CurrentDomain, NDRectangle
from .dataframe_ import from_csv, from_pandas, from_parquet, open_dataframe
from .dimension import Dim
from .dimension_label import DimLabel, DimLabelSchema
from .domain import Domain
from .enumeration import Enumeration
from .filter import (
    BitShuffleFilter,
    BitWidthReductionFilter,
    ByteShuffleFilter,
    Bzip2Filter,
    ChecksumMD5Filter,
    ChecksumSHA256Filter,
    CompressionFilter,
    DeltaFilter,
    DictionaryFilter,
    DoubleDeltaFilter,
    Filter,
    FilterList,
    FloatScaleFilter,
    GzipFilter,
    LZ4Filter,
    NoOpFilter,
    PositiveDeltaFilter,
    RleFilter,
    WebpFilter,
    XORFilter,
    ZstdFilter,
)
from .fragment import (
    FragmentInfo,
    FragmentInfoList,
    array_fragments,
    copy_fragments_to_existing_array,
    create_array_from_fragments,
    delete_fragments,
)
from .group import Group, Object, group_create
from .highlevel import consolidate, empty_like, from_numpy, open, save, schema_like, vacuum
from .metadata import Metadata
from .multirange_indexing import EmptyRange
from .object import array_exists, ls, move, object_type, remove, walk
from .query import Query
from .query_condition import QueryCondition
from .schema_evolution import ArraySchemaEvolution
from .stats import stats_disable, stats_dump, stats_enable, stats_reset
from .subarray import Subarray
from .version_helper import version
from .vfs import VFS, FileIO

__all__ = [
    "VFS",
    "Array",
    "ArraySchema",
    "ArraySchemaEvolution",
    "Attr",
    "BitShuffleFilter",
    "BitWidthReductionFilter",
    "ByteShuffleFilter",
    "Bzip2Filter",
    "ChecksumMD5Filter",
    "ChecksumSHA256Filter",
    "CompressionFilter",
    "Config",
    "ConsolidationPlan",
    "Ctx",
    "CurrentDomain",
    "DeltaFilter",
    "DenseArray",
    "DenseArrayImpl",
    "DictionaryFilter",
    "Dim",
    "DimLabel",
    "DimLabelSchema",
    "Domain",
    "DoubleDeltaFilter",
    "EmptyRange",
    "Enumeration",
    "FileIO",
    "Filter",
    "FilterList",
    "FloatScaleFilter",
    "FragmentInfo",
    "FragmentInfoList",
    "Group",
    "GzipFilter",
    "LZ4Filter",
    "Metadata",
    "NDRectangle",
    "NoOpFilter",
    "Object",
    "PositiveDeltaFilter",
    "Query",
    "QueryCondition",
    "RleFilter",
    "SparseArray",
    "SparseArrayImpl",
    "Subarray",
    "TileDBError",
    "WebpFilter",
    "XORFilter",
    "ZstdFilter",
    "array_exists",
    "array_fragments",
    "as_built",
    "consolidate",
    "copy_fragments_to_existing_array",
    "create_array_from_fragments",
    "default_ctx",
    "delete_fragments",
    "empty_like",
    "from_csv",
    "from_numpy",
    "from_pandas",
    "from_parquet",
    "group_create",
    "install",
    "libtiledb",
    "ls",
    "main",
    "move",
    "object_type",
    "open",
    "open_dataframe",
    "remove",
    "save",
    "schema_like",
    "scope_ctx",
    "stats_disable",
    "stats_dump",
    "stats_enable",
    "stats_reset",
    "vacuum",
    "version",
    "walk",
]


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports ``tiledb.x`` as ``tdb.compat.x``."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        own = __name__ + fullname.removeprefix("tiledb")
        if fullname != "tiledb" and not fullname.startswith("tiledb."):
            return None
        if importlib.util.find_spec(own) is None:
            return None
        return importlib.machinery.ModuleSpec(fullname, self)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return importlib.import_module(__name__ + spec.name.removeprefix("tiledb"))

    def exec_module(self, module: ModuleType) -> None:
        """The module has been imported under its own name."""


def install() -> None:
    """Makes ``import tiledb`` import this module."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    sys.modules["tiledb"] = sys.modules[__name__]
