"""Schemas of arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, overload

from . import _native, _types
from ._errors import UsageError
from ._expr import units_of
from ._libraries import is_list, is_mapping, is_tuple, numpy


class Filter:
    """A filter with options, such as ``Filter("zstd", level=5)``.

    docs/reference/schema-text.md lists the filters and their options.
    """

    __slots__ = ("name", "options")

    def __init__(self, name: str, **options: Any) -> None:
        self.name = name
        self.options: dict[str, Any] = options

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Filter) and (self.name, self.options) == (
            other.name,
            other.options,
        )

    def __hash__(self) -> int:
        return hash((self.name, *self.options.items()))

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"Filter({self.name!r}{options})"

    def _table(self) -> Any:
        return {"filter": self.name, **self.options} if self.options else self.name


class Filters(Sequence[Filter]):
    """A list of filters, which writers apply in order, with the size of a chunk in bytes."""

    __slots__ = ("_filters", "max_chunk_size")

    def __init__(
        self, filters: Iterable[Filter | str] = (), max_chunk_size: int | None = None
    ) -> None:
        self._filters = [Filter(item) if isinstance(item, str) else item for item in filters]
        self.max_chunk_size = max_chunk_size

    @overload
    def __getitem__(self, index: int) -> Filter: ...
    @overload
    def __getitem__(self, index: slice) -> Filters: ...
    def __getitem__(self, index: int | slice) -> Filter | Filters:
        if isinstance(index, slice):
            return Filters(self._filters[index], self.max_chunk_size)
        return self._filters[index]

    def __len__(self) -> int:
        return len(self._filters)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Filters) and self._table() == other._table()

    def __hash__(self) -> int:
        return hash(tuple(self._filters))

    def __repr__(self) -> str:
        chunk = "" if self.max_chunk_size is None else f", max_chunk_size={self.max_chunk_size}"
        return f"Filters({self._filters!r}{chunk})"

    def _table(self) -> Any:
        filters = [item._table() for item in self._filters]
        if self.max_chunk_size is None:
            return filters
        return {"max_chunk_size": self.max_chunk_size, "filters": filters}

    @classmethod
    def _of(cls, table: Any) -> Filters:
        if is_mapping(table):
            return cls(cls._of(table["filters"]), table.get("max_chunk_size"))
        items: list[Any] = table
        return cls(
            Filter(item)
            if isinstance(item, str)
            else Filter(
                item["filter"], **{key: value for key, value in item.items() if key != "filter"}
            )
            for item in items
        )


def _filters(filters: Iterable[Filter | str] | None) -> Filters | None:
    return filters if filters is None or isinstance(filters, Filters) else Filters(filters)


class Dimension:
    """A dimension.

    ``dtype`` is the name of a datatype, or a type of NumPy or Python: ``str`` is a dimension of
    texts. ``domain`` has the first and the last coordinate, ``tile`` the number of coordinates per
    tile.
    """

    __slots__ = ("current_domain", "domain", "dtype", "filters", "name", "tile")

    def __init__(
        self,
        name: str,
        dtype: Any,
        domain: tuple[Any, Any] | None = None,
        tile: Any = None,
        *,
        current_domain: tuple[Any, Any] | None = None,
        filters: Iterable[Filter | str] | None = None,
    ) -> None:
        self.name = name
        datatype, _ = _datatype(dtype, name)
        self.dtype: str = "string_ascii" if datatype == "string_utf8" else datatype
        self.domain = domain
        self.tile = tile
        self.current_domain = current_domain
        self.filters = _filters(filters)

    def __repr__(self) -> str:
        parts = "".join(f", {part}" for part in (self.domain, self.tile) if part is not None)
        return f"Dimension({self.name!r}, {self.dtype!r}{parts})"

    def _table(self) -> dict[str, Any]:
        def ends(pair: tuple[Any, Any] | None) -> Any:
            return None if pair is None else [_constant(end, self.dtype, self.name) for end in pair]

        return {
            "name": self.name,
            "datatype": self.dtype,
            "domain": ends(self.domain),
            # The extent of a tile of dates is a duration.
            "tile_extent": None
            if self.tile is None
            else _constant(self.tile, self.dtype.replace("datetime_", "time_"), self.name),
            "current_domain": ends(self.current_domain),
            "filters": None if self.filters is None else self.filters._table(),
        }

    @classmethod
    def _of(cls, table: dict[str, Any]) -> Dimension:
        def ends(name: str) -> tuple[Any, Any] | None:
            pair = table.get(name)
            return None if pair is None else (_number(pair[0], table), _number(pair[1], table))

        return cls(
            table["name"],
            table["datatype"],
            ends("domain"),
            _number(table.get("tile_extent"), table),
            current_domain=ends("current_domain"),
            filters=None if "filters" not in table else Filters._of(table["filters"]),
        )


class Attribute:
    """An attribute.

    ``dtype`` is the name of a datatype, or a type of NumPy or Python: ``str`` and ``bytes`` are of
    variable length. ``fill`` is the value of unwritten cells.
    """

    __slots__ = (
        "dtype",
        "enumeration",
        "fill",
        "fill_valid",
        "filters",
        "name",
        "nullable",
        "order",
        "values_per_cell",
    )

    def __init__(
        self,
        name: str,
        dtype: Any,
        *,
        values_per_cell: int | str | None = None,
        nullable: bool = False,
        fill: Any = None,
        fill_valid: bool = False,
        enumeration: str | None = None,
        order: str | None = None,
        filters: Iterable[Filter | str] | None = None,
    ) -> None:
        self.name = name
        self.dtype, default = _datatype(dtype, name)
        self.values_per_cell = default if values_per_cell is None else values_per_cell
        self.nullable = nullable
        self.fill = fill
        self.fill_valid = fill_valid
        self.enumeration = enumeration
        self.order = order
        self.filters = _filters(filters)

    def __repr__(self) -> str:
        parts = "" if self.values_per_cell == 1 else f", values_per_cell={self.values_per_cell!r}"
        parts += ", nullable=True" if self.nullable else ""
        parts += "" if self.enumeration is None else f", enumeration={self.enumeration!r}"
        return f"Attribute({self.name!r}, {self.dtype!r}{parts})"

    def _table(self) -> dict[str, Any]:
        fill = self.fill
        if is_list(fill) or is_tuple(fill):
            fill = [_constant(value, self.dtype, self.name) for value in fill]
        elif fill is not None and not isinstance(fill, dict):
            fill = _constant(fill, self.dtype, self.name)
        return {
            "name": self.name,
            "datatype": self.dtype,
            "values_per_cell": None if self.values_per_cell == 1 else self.values_per_cell,
            "nullable": self.nullable or None,
            "fill": fill,
            "fill_valid": self.fill_valid or None,
            "enumeration": self.enumeration,
            "order": self.order,
            "filters": None if self.filters is None else self.filters._table(),
        }

    @classmethod
    def _of(cls, table: dict[str, Any]) -> Attribute:
        return cls(
            table["name"],
            table["datatype"],
            values_per_cell=table.get("values_per_cell", 1),
            nullable=table.get("nullable", False),
            fill=_number(table.get("fill"), table),
            fill_valid=table.get("fill_valid", False),
            enumeration=table.get("enumeration"),
            order=table.get("order"),
            filters=None if "filters" not in table else Filters._of(table["filters"]),
        )


class Enumeration:
    """The values of an attribute whose cells hold positions."""

    __slots__ = ("dtype", "name", "ordered", "values", "values_per_value")

    def __init__(
        self,
        name: str,
        values: Iterable[Any],
        *,
        dtype: Any = None,
        ordered: bool = False,
        values_per_value: int | str | None = None,
    ) -> None:
        self.name = name
        self.values: list[Any] = [
            value.item() if hasattr(value, "dtype") else value for value in values
        ]
        first: Any = self.values[0] if self.values else ""
        self.dtype, default = _datatype(type(first) if dtype is None else dtype, name)
        self.values_per_value = default if values_per_value is None else values_per_value
        self.ordered = ordered

    def __repr__(self) -> str:
        return (
            f"Enumeration({self.name!r}, {self.values!r}{', ordered=True' if self.ordered else ''})"
        )

    def _table(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "datatype": self.dtype,
            "values_per_value": None if self.values_per_value == 1 else self.values_per_value,
            "ordered": self.ordered or None,
            "values": [
                value if isinstance(value, dict) else _constant(value, self.dtype, self.name)
                for value in self.values
            ],
        }

    @classmethod
    def _of(cls, table: dict[str, Any]) -> Enumeration:
        return cls(
            table["name"],
            [_number(value, table) for value in table["values"]],
            dtype=table["datatype"],
            ordered=table.get("ordered", False),
            values_per_value=table.get("values_per_value", 1),
        )


class Schema:
    """The schema of an array: see docs/reference/schema-text.md for the settings.

    >>> import tdb
    >>> schema = tdb.Schema(
    ...     [tdb.Dimension("pos", "uint32", (0, 999_999), 10_000)],
    ...     [tdb.Attribute("qual", "float32"), tdb.Attribute("alt", str, filters=["zstd"])],
    ...     sparse=True,
    ... )
    >>> schema
    Schema(sparse, [Dimension('pos', 'uint32', (0, 999999), 10000)], \
[Attribute('qual', 'float32'), Attribute('alt', 'string_utf8', values_per_cell='var')])
    """

    __slots__ = ("attributes", "dimensions", "enumerations", "labels", "settings", "sparse")

    def __init__(
        self,
        dimensions: Iterable[Dimension],
        attributes: Iterable[Attribute],
        *,
        sparse: bool,
        enumerations: Iterable[Enumeration] = (),
        labels: Iterable[Mapping[str, Any]] = (),
        **settings: Any,
    ) -> None:
        self.dimensions = list(dimensions)
        self.attributes = list(attributes)
        self.enumerations = list(enumerations)
        self.labels = [dict(label) for label in labels]
        self.sparse = sparse
        #: Keys of docs/reference/schema-text.md: ``capacity``, ``cell_order``, …
        self.settings: dict[str, Any] = settings

    def __repr__(self) -> str:
        return (
            f"Schema({'sparse' if self.sparse else 'dense'}, {self.dimensions}, {self.attributes})"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Schema):
            return NotImplemented
        return _native.complete_schema(self.to_toml()) == _native.complete_schema(other.to_toml())

    __hash__ = None  # type: ignore[assignment]

    def to_toml(self) -> str:
        """Returns the schema as text."""
        table: dict[str, Any] = {"array_type": "sparse" if self.sparse else "dense"}
        for key, value in self.settings.items():
            filters = _filters(value) if key.endswith("_filters") else None
            table[key] = value if filters is None else filters._table()
        parts = [("", table)]
        parts += [("dimension", dimension._table()) for dimension in self.dimensions]
        parts += [("attribute", attribute._table()) for attribute in self.attributes]
        parts += [("enumeration", enumeration._table()) for enumeration in self.enumerations]
        parts += [("label", label) for label in self.labels]
        return tables(parts)

    @classmethod
    def from_toml(cls, text: str) -> Schema:
        """Parses the text of a schema."""
        table: dict[str, Any] = _native.parse_toml(text)
        lists = ("dimension", "attribute", "enumeration", "label", "array_type")
        settings = {key: value for key, value in table.items() if key not in lists}
        for key, value in settings.items():
            if key.endswith("_filters"):
                settings[key] = Filters._of(value)
        return cls(
            [Dimension._of(item) for item in table.get("dimension", [])],
            [Attribute._of(item) for item in table.get("attribute", [])],
            sparse=table.get("array_type") == "sparse",
            enumerations=[Enumeration._of(item) for item in table.get("enumeration", [])],
            labels=table.get("label", []),
            **settings,
        )


def tables(parts: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
    """Writes tables in TOML. Keys whose value is ``None`` are left out."""
    lines: list[str] = []
    for name, table in parts:
        if name:
            lines.append(f"[[{name}]]")
        lines += [f"{key} = {_toml(value)}" for key, value in table.items() if value is not None]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        # TOML has integers of 64 bits.
        return str(value) if -(2**63) <= value < 2**63 else f'"{value}"'
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, str):
        import json

        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
    if isinstance(value, (bytes, bytearray)):
        return f'{{ hex = "{value.hex()}" }}'
    if is_mapping(value):
        return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + " }"
    if is_list(value) or is_tuple(value):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    raise UsageError(f"{value!r} is not a value of a schema")


def _constant(value: Any, datatype: str, field: str) -> Any:
    """Converts a value of NumPy, or a date."""
    if _types.is_date(value) or _types.is_duration(value):
        return units_of(field, value, datatype)
    if hasattr(value, "dtype"):
        value = value.item()
    if datatype in ("float32", "float64") and isinstance(value, int):
        return float(value)
    if datatype in _types.BYTES and isinstance(value, str):
        return value.encode()
    return value


def _number(value: Any, table: Mapping[str, Any]) -> Any:
    """Converts integers above the range of TOML, which are texts."""
    return int(value) if table["datatype"] == "uint64" and isinstance(value, str) else value


_PYTHON: dict[type, tuple[str, int | str]] = {
    str: ("string_utf8", "var"),
    bytes: ("blob", "var"),
    bool: ("bool", 1),
    int: ("int64", 1),
    float: ("float64", 1),
}

_NAMES = (
    _types.NUMBERS
    | _types.TEXTS
    | _types.BYTES
    | {"bool", *_types.WIDE}
    | {f"datetime_{unit}" for unit in _types.UNITS}
    | {f"time_{unit}" for unit in _types.UNITS}
)


def _datatype(dtype: Any, name: str) -> tuple[str, int | str]:
    """Returns the name of a datatype, and the values per cell."""
    if isinstance(dtype, str) and dtype in _NAMES:
        return (dtype, "var" if dtype in _types.TEXTS else 1)
    if isinstance(dtype, type) and dtype in _PYTHON:
        return _PYTHON[dtype]
    np = numpy()

    try:
        found = np.dtype(dtype)
    except TypeError:
        raise UsageError(f"field {name!r}: unknown type {dtype!r}", field=name) from None
    return _types.datatype_of(found, name)
