"""Schemas of arrays."""

from __future__ import annotations

import copy
import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .. import _native
from . import _text
from ._engine import TileDBError, call, open_array
from .attribute import Attr
from .ctx import Ctx, context, key_of, storage_options
from .current_domain import CurrentDomain, NDRectangle
from .dimension import Dim, coordinate
from .dimension_label import DimLabel, DimLabelSchema
from .domain import Domain
from .enumeration import Enumeration
from .filter import FilterList, RleFilter, ZstdFilter, filter_list

_ORDERS = {
    "row-major": "row-major",
    "C": "row-major",
    "R": "row-major",
    "col-major": "col-major",
    "F": "col-major",
    "hilbert": "hilbert",
    "H": "hilbert",
    None: "row-major",
}


def _order(order: Any) -> str:
    if order not in _ORDERS:
        raise ValueError(f"unknown tiledb layout: {order!r}")
    return _ORDERS[order]


class ArraySchema:
    """The schema of an array."""

    def __init__(
        self,
        domain: Domain | None = None,
        attrs: Sequence[Attr] = (),
        cell_order: Any = "row-major",
        tile_order: Any = "row-major",
        capacity: int = 0,
        coords_filters: Any = None,
        offsets_filters: Any = None,
        validity_filters: Any = None,
        allows_duplicates: bool = False,
        sparse: bool = False,
        dim_labels: Mapping[int, Mapping[str, DimLabelSchema]] | None = None,
        enums: Sequence[Enumeration] | None = None,
        ctx: Ctx | None = None,
    ) -> None:
        if not isinstance(domain, Domain):
            raise TypeError(f"expected a Domain, found {domain!r}")
        self._sparse = bool(sparse)
        self._cell_order = _order(cell_order)
        self._tile_order = _order(tile_order)
        if self._cell_order == "hilbert" and not sparse:
            raise TileDBError(
                "Cannot set cell order; Hilbert order is only applicable to sparse arrays"
            )
        if self._tile_order == "hilbert":
            raise TileDBError("Cannot set tile order; Hilbert order is not applicable to tiles")
        self._capacity = int(capacity) if capacity > 0 else 10000
        self._allows_duplicates = bool(allows_duplicates)
        self._coords_filters = FilterList([ZstdFilter()])
        if coords_filters is not None:
            warnings.warn(
                "coords_filters is deprecated; set the FilterList for each dimension",
                DeprecationWarning,
                stacklevel=2,
            )
            given = filter_list(coords_filters)
            dims: list[Dim] = []
            for dim in domain:
                filtered = dim._renamed(dim.name)
                filtered._filters = given
                dims.append(filtered)
            domain._dims = tuple(dims)
            self._coords_filters = FilterList()
        default = FilterList([ZstdFilter()])
        self._offsets_filters = default if offsets_filters is None else filter_list(offsets_filters)
        self._validity_filters = (
            FilterList([RleFilter()]) if validity_filters is None else filter_list(validity_filters)
        )
        self._domain = domain
        items: list[Any] = list(attrs)
        if not all(isinstance(item, Attr) for item in items):
            raise TypeError("Cannot add attribute to schema: expected Attr objects")
        self._attrs: tuple[Attr, ...] = tuple(items)
        self._enums: dict[str, Enumeration] = {item.name: item for item in enums or ()}
        self._label_schemas = {place: dict(labels) for place, labels in (dim_labels or {}).items()}
        self._labels: tuple[DimLabel, ...] = ()
        self._current: CurrentDomain | None = None
        self._version = 22
        self._read_labels(self._complete())

    def _complete(self) -> dict[str, Any]:
        """Checks the schema, and returns it with all defaults."""
        return call(_native.parse_toml, call(_native.complete_schema, self._toml()))

    def _toml(self) -> str:
        parts = [
            _text.section(
                "",
                {
                    "array_type": "sparse" if self._sparse else "dense",
                    "tile_order": self._tile_order,
                    "cell_order": self._cell_order,
                    "capacity": self._capacity,
                    "allows_duplicates": self._allows_duplicates or None,
                    "coords_filters": self._coords_filters._spec(),
                    "offsets_filters": self._offsets_filters._spec(),
                    "validity_filters": self._validity_filters._spec(),
                },
            )
        ]
        rectangle = (
            None if self._current is None or self._current.is_empty else self._current.ndrectangle
        )
        for place, dim in enumerate(self._domain):
            parts.append(dim._section(None if rectangle is None else rectangle.range(place)))
        parts += [attr._section() for attr in self._attrs]
        parts += [item._section() for item in self._enums.values()]
        for place, labels in self._label_schemas.items():
            for name, label in labels.items():
                parts.append(label._section(name, self._domain.dim(place)))
        return "".join(parts)

    def _read_labels(self, table: Mapping[str, Any], uri: str | None = None) -> None:
        labels: list[DimLabel] = []
        for place, label in enumerate(table.get("label", ())):
            dim = self._domain.dim(label["dimension"])
            path = None if uri is None else label.get("uri", f"{uri}/__labels/l{place}")
            labels.append(DimLabel(label, dim, self._domain._index(dim.name), path))
        self._labels = tuple(labels)

    @classmethod
    def _of_native(cls, native: _native.Array, uri: str | None = None) -> ArraySchema:
        """Returns the schema of an opened array."""
        schema = cls._of_toml(call(native.schema_text), uri)
        return schema

    @classmethod
    def _of_toml(cls, text: str, uri: str | None = None) -> ArraySchema:
        table = call(_native.parse_toml, text)
        schema = cls.__new__(cls)
        schema._sparse = table["array_type"] == "sparse"
        schema._cell_order = table.get("cell_order", "row-major")
        schema._tile_order = table.get("tile_order", "row-major")
        schema._capacity = int(table.get("capacity", 10000))
        schema._allows_duplicates = bool(table.get("allows_duplicates", False))
        lists = {
            name: FilterList._of_spec(table.get(name))
            for name in ("coords_filters", "offsets_filters")
        }
        schema._coords_filters = lists["coords_filters"]
        schema._offsets_filters = lists["offsets_filters"]
        schema._validity_filters = FilterList._of_spec(table.get("validity_filters"))
        # Dimensions without filters have those of coordinates.
        coords = table.get("coords_filters")
        dims = [
            Dim._of_table({**item, "filters": item.get("filters") or coords})
            for item in table["dimension"]
        ]
        schema._domain = Domain(*dims)
        schema._attrs = tuple(Attr._of_table(item) for item in table.get("attribute", ()))
        enums = [Enumeration._of_table(item) for item in table.get("enumeration", ())]
        schema._enums = {item.name: item for item in enums}
        schema._label_schemas = {}
        schema._version = int(table.get("format_version", 22))
        schema._current = None
        if table["dimension"][0].get("current_domain") is not None:
            rectangle = NDRectangle(None, schema._domain)
            for dim, item in zip(dims, table["dimension"]):
                first, last = (
                    _text.scalar(dim._tiledb_dtype, end) for end in item["current_domain"]
                )
                rectangle.set_range(dim.name, coordinate(dim, first), coordinate(dim, last))
            schema._current = CurrentDomain()
            schema._current.set_ndrectangle(rectangle)
        schema._read_labels(table, uri)
        return schema

    @classmethod
    def load(cls, uri: str, ctx: Ctx | None = None, key: Any = None) -> ArraySchema:
        """Reads the schema of an array."""
        ctx = context(ctx)
        return cls._of_native(
            open_array(uri, None, None, key_of(ctx, key), storage_options(ctx, uri)), uri
        )

    @classmethod
    def from_file(cls, uri: str, ctx: Ctx | None = None) -> ArraySchema:
        """The C++ library infers this schema from a file."""
        raise NotImplementedError("file stores are not supported")

    @property
    def sparse(self) -> bool:
        """Whether the array is sparse."""
        return self._sparse

    @property
    def allows_duplicates(self) -> bool:
        """Whether cells of a sparse array may have equal coordinates."""
        if not self._sparse:
            raise TileDBError("ArraySchema.allows_duplicates does not apply to dense arrays")
        return self._allows_duplicates

    @property
    def capacity(self) -> int:
        """The number of cells per data tile of sparse arrays."""
        return self._capacity

    @property
    def cell_order(self) -> str:
        """The order of cells."""
        return self._cell_order

    @property
    def tile_order(self) -> str | None:
        """The order of tiles. Hilbert order has none."""
        return None if self._cell_order == "hilbert" else self._tile_order

    @property
    def coords_filters(self) -> FilterList:
        """The filters of dimensions without filters."""
        return self._coords_filters

    @coords_filters.setter
    def coords_filters(self, value: Any) -> None:
        warnings.warn(
            "coords_filters is deprecated; set the FilterList for each dimension",
            DeprecationWarning,
            stacklevel=2,
        )

    @property
    def offsets_filters(self) -> FilterList:
        """The filters of offsets."""
        return self._offsets_filters

    @property
    def validity_filters(self) -> FilterList:
        """The filters of validity."""
        return self._validity_filters

    @property
    def domain(self) -> Domain:
        """The dimensions."""
        return self._domain

    @property
    def current_domain(self) -> CurrentDomain:
        """The part of the domain in use."""
        return CurrentDomain() if self._current is None else self._current

    def set_current_domain(self, current_domain: CurrentDomain) -> None:
        """Sets the part of the domain in use."""
        before = self._current
        self._current = current_domain
        try:
            self._complete()
        except TileDBError:
            self._current = before
            raise

    @property
    def version(self) -> int:
        """The format version."""
        return self._version

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._domain.ndim

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of coordinates along each dimension."""
        return self._domain.shape

    @property
    def nattr(self) -> int:
        """The number of attributes."""
        return len(self._attrs)

    def attr(self, key: Any) -> Attr:
        """Returns the attribute of a position or name."""
        if isinstance(key, str):
            for attr in self._attrs:
                if attr.name == key or attr._internal_name == key:
                    return attr
            raise TileDBError(f"ArraySchema: no attribute named {key!r}")
        if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
            if not 0 <= key < len(self._attrs):
                raise TileDBError(
                    f"ArraySchema: no attribute {key}; the array has {len(self._attrs)}"
                )
            return self._attrs[int(key)]
        raise TypeError(
            f"attr indices must be a string name, or an integer index, not {type(key)!r}"
        )

    def has_attr(self, name: str) -> bool:
        """Whether an attribute has a name."""
        return any(attr.name == name for attr in self._attrs)

    def attr_or_dim_dtype(self, name: str) -> np.dtype[Any]:
        """Returns the type of an attribute or dimension."""
        if self.has_attr(name):
            dtype = self.attr(name).dtype
        elif self._domain.has_dim(name):
            dtype = self._domain.dim(name).dtype
        else:
            raise TileDBError(f"Unknown attribute or dimension ('{name}')")
        return np.dtype((dtype, 1)) if dtype.itemsize == 0 else dtype

    @property
    def nlabel(self) -> int:
        """The number of labels."""
        return len(self._labels)

    def has_dim_label(self, name: str) -> bool:
        """Whether a label has a name."""
        return any(label.name == name for label in self._labels)

    def dim_label(self, name: str) -> DimLabel:
        """Returns a label."""
        for label in self._labels:
            if label.name == name:
                return label
        raise TileDBError(f"ArraySchema: no dimension label named {name!r}")

    def enum(self, name: str) -> Enumeration:
        """Returns an enumeration."""
        found = self._enums.get(name)
        if found is None:
            raise TileDBError(
                f"ArraySchema: Unable to check if unknown enumeration is loaded. No enumeration named '{name}'."
            )
        return found

    def check(self) -> bool:
        """Checks the schema."""
        self._complete()
        return True

    def __iter__(self) -> Iterator[Attr]:
        return iter(self._attrs)

    def __len__(self) -> int:
        return len(self._attrs)

    def _key(self) -> tuple[Any, ...]:
        return (
            self._sparse,
            self._cell_order,
            self.tile_order,
            self._capacity,
            self._sparse and self._allows_duplicates,
            self._offsets_filters,
            self._validity_filters,
            self._domain,
            self._attrs,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ArraySchema) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((self._sparse, self._domain, self._attrs))

    def __copy__(self) -> ArraySchema:
        made = ArraySchema.__new__(ArraySchema)
        made.__dict__.update(self.__dict__)
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> ArraySchema:
        return copy.copy(self)

    def __repr__(self) -> str:
        out = io.StringIO()
        out.write("ArraySchema(\n  domain=Domain(*[\n")
        for dim in self._domain:
            out.write(f"    {dim!r},\n")
        out.write("  ]),\n  attrs=[\n")
        for attr in self._attrs:
            out.write(f"    {attr!r},\n")
        out.write("  ],\n")
        out.write(f"  cell_order='{self._cell_order}',\n  tile_order={self.tile_order!r},\n")
        if self._sparse:
            out.write(f"  capacity={self._capacity},\n")
        out.write(f"  sparse={self._sparse},\n")
        if self._sparse:
            out.write(f"  allows_duplicates={self._allows_duplicates},\n")
        if self._enums:
            out.write(
                "  enums=[\n"
                + "".join(f"    {item!r},\n" for item in self._enums.values())
                + "  ],\n"
            )
        out.write(")\n")
        return out.getvalue()

    def _repr_html_(self) -> str:
        attrs = "".join(attr._repr_html_row_() for attr in self._attrs)
        rows = [
            ("Domain", self._domain._repr_html_()),
            ("Attributes", f"<table>{attrs}</table>"),
            ("Cell Order", self._cell_order),
            ("Tile Order", self.tile_order),
            ("Capacity", self._capacity),
            ("Sparse", self._sparse),
        ]
        if self._sparse:
            rows.append(("Allows Duplicates", self._allows_duplicates))
        cells = "".join(f"<tr><th>{head}</th></tr><tr><td>{cell}</td></tr>" for head, cell in rows)
        return f"<table>{cells}</table>"

    def dump(self) -> None:
        """Prints the schema."""
        lines = [
            f"- Array type: {'sparse' if self._sparse else 'dense'}",
            f"- Cell order: {self._cell_order}",
            f"- Tile order: {self._tile_order}",
            f"- Capacity: {self._capacity}",
            f"- Allows duplicates: {str(self._allows_duplicates).lower()}",
            f"- Coordinates filters: {len(self._coords_filters)}",
            f"- Offsets filters: {len(self._offsets_filters)}",
            f"- Validity filters: {len(self._validity_filters)}",
            "",
        ]
        lines += [dim._dumped() for dim in self._domain]
        lines += [attr._dumped() for attr in self._attrs]
        print("\n".join(lines))
