"""Dimension labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _text
from . import libtiledb as lt
from ._engine import TileDBError
from .datatypes import DataType, by_engine_name, numpy_dtype
from .dimension import Dim
from .filter import FilterList, filter_list

_ORDERS = {
    "increasing": "increasing",
    "decreasing": "decreasing",
    "unordered": "unordered",
}


class DimLabelSchema:
    """The schema of a new label."""

    def __init__(
        self,
        order: str = "increasing",
        label_dtype: Any = np.uint64,
        dim_dtype: Any = np.uint64,
        dim_tile: Any = None,
        label_filters: Any = None,
        ctx: Any = None,
    ) -> None:
        if order not in _ORDERS:
            raise TileDBError(
                f"unknown label order {order!r}; expected {', '.join(map(repr, _ORDERS))}"
            )
        self._order = order
        special = isinstance(label_dtype, str) and label_dtype == "ascii"
        found = DataType.from_numpy(label_dtype)
        # The engine stores labels of text as ASCII.
        is_text = special or found.np_dtype.kind in "SU"
        self._datatype = lt.DataType["STRING_ASCII"] if is_text else found.tiledb_type
        self._ncells = lt.VAR_NUM if is_text else found.ncells
        self._dim_dtype = np.dtype(dim_dtype)
        self._tile = dim_tile
        self._filters: FilterList | None = (
            None if label_filters is None else filter_list(label_filters)
        )

    @property
    def label_order(self) -> str:
        """The order of the labels."""
        return self._order

    @property
    def label_dtype(self) -> np.dtype[Any]:
        """The type of the labels."""
        return numpy_dtype(self._datatype, self._ncells)

    @property
    def dim_dtype(self) -> np.dtype[Any]:
        """The type of the dimension."""
        return self._dim_dtype

    @property
    def dim_tile(self) -> Any:
        """The tile extent of the label's array."""
        return self._tile

    @property
    def label_filters(self) -> FilterList | None:
        """The filters of the labels."""
        return self._filters

    def _section(self, name: str, dim: Dim) -> str:
        tile = self._tile
        if isinstance(tile, np.timedelta64):
            tile = int(tile.astype(np.int64))
        return _text.section(
            "label",
            {
                "name": name,
                "dimension": dim.name,
                "datatype": _text.name_of(self._datatype),
                "order": self._order,
                "tile_extent": tile,
                "filters": self._filters._spec() if self._filters else None,
            },
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DimLabelSchema) and self._key() == other._key()

    def _key(self) -> tuple[Any, ...]:
        return (self._order, self._datatype, self._dim_dtype, self._tile, self._filters)

    def __hash__(self) -> int:
        return hash((self._order, self._datatype))

    def __repr__(self) -> str:
        return (
            f"DimLabelSchema(order='{self._order}', label_dtype='{self.label_dtype}', dim_dtype='{self._dim_dtype}',"
            f" dim_tile={self._tile}, label_filters={self._filters!r})"
        )


class DimLabel:
    """A label of an array."""

    def __init__(self, table: dict[str, Any], dim: Dim, place: int, uri: str | None = None) -> None:
        self._table = table
        self._dim = dim
        self._place = place
        self._uri = uri

    @property
    def name(self) -> str:
        """The name."""
        return self._table["name"]

    @property
    def dim_index(self) -> int:
        """The position of the dimension."""
        return self._place

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the labels."""
        datatype = by_engine_name(self._table["datatype"])
        ncells = lt.VAR_NUM if datatype.name == "STRING_ASCII" else 1
        return numpy_dtype(datatype, ncells)

    @property
    def isvar(self) -> bool:
        """Whether labels have variable length."""
        return self._table["datatype"] == "string_ascii"

    @property
    def isascii(self) -> bool:
        """Whether labels are ASCII texts."""
        return self._table["datatype"] == "string_ascii"

    @property
    def label_attr_name(self) -> str:
        """The attribute of the label's array."""
        return self._table.get("attribute", "label")

    @property
    def label_order(self) -> str:
        """The order of the labels."""
        return self._table["order"]

    @property
    def uri(self) -> str:
        """The place of the label's array."""
        if self._uri is None:
            raise TileDBError(f"label {self.name!r}: the place is known after the array was opened")
        return self._uri

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DimLabel):
            return False
        return self._table == other._table and self._place == other._place

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return (
            f"DimLabel(name={self.name!r}, dtype='{self.dtype}', var={self.isvar},"
            f" order={self.label_order!r}, dim_index={self._place})"
        )
