"""Dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _text
from . import libtiledb as lt
from ._engine import TileDBError
from .ctx import Ctx
from .datatypes import DataType, base_dtype, by_engine_name
from .filter import FilterList, filter_list


class Dim:
    """A dimension of an array."""

    def __init__(
        self,
        name: str = "__dim_0",
        domain: Any = None,
        tile: Any = None,
        filters: Any = None,
        dtype: Any = np.uint64,
        var: bool | None = None,
        ctx: Ctx | None = None,
    ) -> None:
        if domain is not None and len(domain) != 2:
            raise ValueError(f"invalid domain extent, must be a pair, found {domain!r}")
        self._name = str(name)
        self._filters = filter_list(filters)
        self._tile: Any = None
        is_text = isinstance(dtype, str) and dtype == "ascii"
        found = None if is_text else DataType.from_numpy(dtype)
        if is_text or (found is not None and found.np_dtype == np.dtype("S0")):
            self._tiledb_dtype = lt.DataType["STRING_ASCII"]
            self._domain: Any = None
            return
        if found is None or found.np_dtype.kind not in "iufMS" or found.ncells != 1 or var:
            raise TypeError(f"invalid Dim dtype {np.dtype(dtype)!r}")
        self._tiledb_dtype = found.tiledb_type
        self._tile = self._extent(found, tile)
        self._domain = self._bounds(found, domain)

    def _extent(self, found: DataType, tile: Any) -> Any:
        if tile is None:
            return None
        if isinstance(tile, np.ndarray):
            tile = tile.item()
        extent = found.cast_tile_extent(tile)
        if extent == 0:
            raise TileDBError(
                f"Dimension: Tile extent check failed on dimension '{self._name}'; Tile extent must not be 0"
            )
        if found.np_dtype.kind in "iu" and int(extent) < 0:
            raise TileDBError(f"Dimension: the tile extent of dimension '{self._name}' is negative")
        return extent.item() if found.np_dtype.kind in "iuM" else found.np_dtype.type(extent)

    def _bounds(self, found: DataType, domain: Any) -> tuple[Any, Any]:
        dtype = found.np_dtype
        first, last = (None, None) if domain is None else domain
        if dtype.kind == "M":
            unit: Any = np.datetime_data(dtype)[0]
            low = np.datetime64(np.iinfo(np.int64).min + 1, unit)
            high = np.datetime64(np.iinfo(np.int64).max - (self._tile or 0), unit)
            ends = [low if first is None else first, high if last is None else last]
            if not all(isinstance(end, np.datetime64) for end in ends):
                raise TypeError("the domain of a date dimension needs datetime64 values")
            return (ends[0].astype(dtype), ends[1].astype(dtype))
        low, high = found.domain
        if last is None and dtype.kind in "iu":
            # The last tile must not exceed the range of the type.
            high -= int(self._tile or 1)
        ends = [low if first is None else first, high if last is None else last]
        if dtype.kind in "iu":
            converted: list[Any] = [int(end) for end in ends]
            limits = np.iinfo(dtype)
            for end in converted:
                if not limits.min <= end <= limits.max:
                    raise OverflowError(
                        f"domain value {end} of dimension {self._name!r} is out of range for {dtype}"
                    )
            if converted[0] == limits.min and converted[1] == limits.max:
                raise TileDBError(
                    "Dimension: Domain check failed; Domain range (upper + lower + 1) is larger than the maximum"
                    " unsigned number"
                )
        else:
            converted = [dtype.type(end) for end in ends]
        if converted[0] > converted[1]:
            raise TileDBError(
                "Dimension: Domain check failed; Upper domain bound should not be smaller than the lower one"
            )
        return (converted[0], converted[1])

    @classmethod
    def _of_table(cls, table: dict[str, Any]) -> Dim:
        """Creates a dimension from a parsed schema."""
        dim = cls.__new__(cls)
        dim._name = table["name"]
        dim._tiledb_dtype = by_engine_name(table["datatype"])
        dim._filters = FilterList._of_spec(table.get("filters"))
        domain = table.get("domain")
        dim._domain = (
            None
            if domain is None
            else tuple(_text.scalar(dim._tiledb_dtype, end) for end in domain)
        )
        tile = table.get("tile_extent")
        if tile is not None:
            tile = (
                int(tile)
                if base_dtype(dim._tiledb_dtype).kind in "iuM"
                else _text.scalar(dim._tiledb_dtype, tile)
            )
        dim._tile = tile
        return dim

    def _renamed(self, name: str) -> Dim:
        dim = Dim.__new__(Dim)
        dim.__dict__.update(self.__dict__)
        dim._name = name
        return dim

    def _section(self, current: Any = None, filters: FilterList | None = None) -> str:
        domain = None if self._domain is None else [_plain(end) for end in self._domain]
        used = self._filters if len(self._filters) or filters is None else filters
        return _text.section(
            "dimension",
            {
                "name": self._name,
                "datatype": _text.name_of(self._tiledb_dtype),
                "domain": domain,
                "tile_extent": self._tile,
                "current_domain": None if current is None else [_plain(end) for end in current],
                "filters": used._spec() if len(used) else None,
            },
        )

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @property
    def isanon(self) -> bool:
        """Whether the dimension has no name."""
        return self._name == "" or self._name.startswith("__dim_")

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of coordinates in NumPy."""
        return np.dtype("S0") if self.isvar else base_dtype(self._tiledb_dtype)

    @property
    def isvar(self) -> bool:
        """Whether coordinates are texts."""
        return self._domain is None and self._tiledb_dtype.name == "STRING_ASCII"

    @property
    def filters(self) -> FilterList:
        """The filters of the coordinates."""
        return self._filters

    @property
    def domain(self) -> tuple[Any, Any]:
        """The first and the last coordinate."""
        return ("", "") if self._domain is None else self._domain

    @property
    def tile(self) -> Any:
        """The number of coordinates per tile."""
        dtype = self.dtype
        if self.isvar:
            return None
        if dtype.kind == "M":
            return np.timedelta64(self._tile or 0, np.datetime_data(dtype)[0])
        return (
            dtype.type(0)
            if self._tile is None
            else dtype.type(self._tile)
            if dtype.kind == "f"
            else self._tile
        )

    @property
    def size(self) -> int:
        """The number of coordinates of an integer dimension."""
        if self.dtype.kind not in "iuM":
            raise TypeError("size only valid for integer dimension domains")
        return int(_plain(self._domain[1])) - int(_plain(self._domain[0])) + 1

    @property
    def shape(self) -> tuple[int]:
        """The number of coordinates, as a tuple."""
        if self.dtype.kind not in "iuM":
            raise TypeError("shape only valid for integer and datetime dimension domains")
        return (self.size,)

    def create_label_schema(
        self,
        order: str = "increasing",
        dtype: Any = None,
        tile: Any = None,
        filters: Any = None,
    ) -> Any:
        """Describes a label of this dimension."""
        from .dimension_label import DimLabelSchema

        return DimLabelSchema(
            order,
            self.dtype if dtype is None else dtype,
            self.dtype,
            self._tile if tile is None else tile,
            filters,
        )

    def __len__(self) -> int:
        return self.size

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dim):
            return False
        return (
            self._name == other._name
            and self._tiledb_dtype == other._tiledb_dtype
            and self.domain == other.domain
            and self.tile == other.tile
            and self._filters == other._filters
        )

    def __hash__(self) -> int:
        return hash((self._name, self._tiledb_dtype))

    def _shown_domain(self) -> str:
        return repr(self.domain).replace("np.", "numpy.")

    def __repr__(self) -> str:
        dtype = "|S0" if self.isvar else self.dtype.name
        tile = repr(self.tile) if self.dtype.kind == "M" else str(self.tile)
        ends = tuple(
            end.item() if isinstance(end, np.generic) and self.dtype.kind != "M" else end
            for end in self.domain
        )
        parts = [f"name={self._name!r}", f"domain={ends!r}", f"tile={tile}", f"dtype='{dtype}'"]
        if self.isvar:
            parts.append("var=True")
        if len(self._filters):
            parts.append(f"filters={self._filters._in_line()}")
        return f"Dim({', '.join(parts)})".replace("np.", "numpy.")

    def _repr_html_row_(self) -> str:
        filters = self._filters._repr_html_()
        cells = (self._name, self.domain, self.tile, self.dtype, self.dtype == np.bytes_, filters)
        return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"

    @staticmethod
    def _repr_html_heads_() -> str:
        heads = ("Name", "Domain", "Tile", "Data Type", "Is Var-Len", "Filters")
        return "<tr>" + "".join(f"<th>{head}</th>" for head in heads) + "</tr>"

    def _repr_html_(self) -> str:
        return f"<table>{self._repr_html_heads_()}{self._repr_html_row_()}</table>"

    def _dumped(self) -> str:
        domain = "null" if self.isvar else f"[{self.domain[0]}, {self.domain[1]}]"
        return (
            "### Dimension ###\n"
            f"- Name: {self._name}\n"
            f"- Type: {self._tiledb_dtype.name}\n"
            f"- Cell val num: {'var' if self.isvar else 1}\n"
            f"- Domain: {domain}\n"
            f"- Tile extent: {'null' if self.isvar else self.tile}\n"
            f"- Filters: {len(self._filters)}\n"
        )


def _plain(end: Any) -> Any:
    """Converts a coordinate to a number or text of the engine."""
    if isinstance(end, np.datetime64):
        return int(end.astype(np.int64))
    if isinstance(end, np.generic):
        return end.item()
    return end


plain = _plain


def coordinate(dim: Dim, end: Any) -> Any:
    """Converts a number of the engine to a coordinate."""
    if end is None:
        return None
    dtype = dim.dtype
    if dtype.kind == "M":
        unit: Any = np.datetime_data(dtype)[0]
        return np.datetime64(int(end), unit)
    if dtype.kind == "f":
        return dtype.type(end)
    return int(end) if dtype.kind in "iu" else end
