"""Attributes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from . import _text
from . import libtiledb as lt
from .ctx import Ctx
from .datatypes import DataType, by_engine_name, numpy_dtype
from .filter import FilterList, filter_list

_SPECIAL = {"STRING_ASCII": "ascii", "BLOB": "blob", "GEOM_WKB": "wkb", "GEOM_WKT": "wkt"}


class Attr:
    """An attribute of an array."""

    def __init__(
        self,
        name: str = "",
        dtype: Any = np.float64,
        fill: Any = None,
        var: bool | None = None,
        nullable: bool = False,
        filters: Any = None,
        enum_label: str | None = None,
        ctx: Ctx | None = None,
    ) -> None:
        found = DataType.from_numpy(dtype)
        datatype, ncells = found.tiledb_type, found.ncells
        special = isinstance(dtype, str) and dtype in _SPECIAL.values()
        if special:
            if dtype == "ascii" and var is False:
                raise TypeError("dtype is not compatible with var-length attribute")
            if dtype != "blob" or var is not False:
                ncells = lt.VAR_NUM
        elif found.np_dtype.kind == "U":
            ncells = lt.VAR_NUM
        elif found.np_dtype.kind == "S":
            fixed = found.np_dtype.itemsize > 0
            if var is True and fixed:
                self._warn("var=True", found.np_dtype)
                ncells = lt.VAR_NUM
            elif var is False and not fixed:
                self._warn("var=False", found.np_dtype)
        elif var:
            if ncells != 1:
                raise TypeError("dtype is not compatible with var-length attribute")
            ncells = lt.VAR_NUM
        if found.np_dtype.kind == "V" and ncells == 2 and datatype.name in ("FLOAT32", "FLOAT64"):
            pass
        self._name = str(name)
        self._tiledb_dtype = datatype
        self._ncells = ncells
        self._nullable = bool(nullable)
        self._filters = filter_list(filters)
        self._enum: str | None = enum_label
        self._order = "unordered"
        self._fill: bytes = _text.default_fill(datatype, ncells)
        self._fill_valid = False
        if fill is not None:
            self.fill = fill

    @staticmethod
    def _warn(given: str, dtype: np.dtype[Any]) -> None:
        what = "fixed" if dtype.itemsize else "variable"
        warnings.warn(
            f"Attr given `{given}` but `dtype` {dtype!r} is {what}",
            DeprecationWarning,
            stacklevel=3,
        )

    @classmethod
    def _of_table(cls, table: dict[str, Any]) -> Attr:
        """Creates an attribute from a parsed schema."""
        attr = cls.__new__(cls)
        datatype = by_engine_name(table["datatype"])
        number = table.get("values_per_cell", 1)
        attr._name = table["name"]
        attr._tiledb_dtype = datatype
        attr._ncells = lt.VAR_NUM if number == "var" else int(number)
        attr._nullable = bool(table.get("nullable", False))
        attr._filters = FilterList._of_spec(table.get("filters"))
        attr._enum = table.get("enumeration")
        attr._order = table.get("order", "unordered")
        fill = table.get("fill")
        attr._fill = (
            _text.default_fill(datatype, attr._ncells)
            if fill is None
            else _text.cell_bytes(datatype, fill)
        )
        attr._fill_valid = bool(table.get("fill_valid", False))
        return attr

    def _section(self) -> str:
        default = _text.default_fill(self._tiledb_dtype, self._ncells)
        return _text.section(
            "attribute",
            {
                "name": self._name,
                "datatype": _text.name_of(self._tiledb_dtype),
                "values_per_cell": "var" if self.isvar else self._ncells,
                "nullable": self._nullable or None,
                "fill": None if self._fill == default else self._fill,
                "fill_valid": self._fill_valid or None,
                "order": None if self._order == "unordered" else self._order,
                "enumeration": self._enum,
                "filters": self._filters._spec() if len(self._filters) else None,
            },
        )

    @property
    def name(self) -> str:
        """The name. Anonymous attributes have an empty name."""
        return "" if self._name.startswith("__attr") else self._name

    @property
    def _internal_name(self) -> str:
        return self._name

    @property
    def isanon(self) -> bool:
        """Whether the attribute has no name."""
        return self.name == ""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of cells in NumPy."""
        return numpy_dtype(self._tiledb_dtype, self._ncells)

    @property
    def ncells(self) -> int:
        """The number of values per cell."""
        return self._ncells

    @property
    def isvar(self) -> bool:
        """Whether cells have variable length."""
        return self._ncells == lt.VAR_NUM

    @property
    def isnullable(self) -> bool:
        """Whether cells may be null."""
        return self._nullable

    @property
    def isascii(self) -> bool:
        """Whether cells are ASCII texts."""
        return self._tiledb_dtype.name == "STRING_ASCII"

    @property
    def filters(self) -> FilterList:
        """The filters of the cells."""
        return self._filters

    @property
    def enum_label(self) -> str | None:
        """The name of the enumeration."""
        return self._enum

    @property
    def enum(self) -> str | None:
        """The name of the enumeration."""
        return self._enum

    @enum.setter
    def enum(self, name: str | None) -> None:
        self._enum = name

    @property
    def fill(self) -> Any:
        """The value of unwritten cells."""
        if self._tiledb_dtype.name == "STRING_UTF8":
            return self._fill.decode("utf-8", "surrogateescape")
        dtype = self.dtype
        if dtype.kind == "S":
            return self._fill
        if dtype.kind == "M":
            return np.frombuffer(self._fill, dtype=f"m8[{np.datetime_data(dtype)[0]}]")[0]
        return np.frombuffer(self._fill, dtype=dtype)

    @fill.setter
    def fill(self, value: Any) -> None:
        dtype = self.dtype
        if dtype.kind == "U":
            self._fill = value.encode()
        elif dtype.kind == "S":
            self._fill = bytes(value)
        elif dtype.kind == "M" and isinstance(value, np.timedelta64):
            self._fill = np.array([value.astype(np.int64)]).tobytes()
        elif dtype.kind == "c":
            # Two numbers, a record of them, or complex numbers.
            if isinstance(value, tuple):
                self._fill = np.array(value, dtype=np.dtype(f"f{dtype.itemsize // 2}")).tobytes()
            elif isinstance(value, np.ndarray) and value.dtype.kind == "V":
                self._fill = value.tobytes()
            else:
                self._fill = np.array(
                    [value] if not isinstance(value, np.ndarray) else value, dtype=dtype
                ).tobytes()
        else:
            self._fill = np.array(
                [value] if not isinstance(value, np.ndarray) else value, dtype=dtype
            ).tobytes()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Attr):
            return False
        same = (
            self.name == other.name
            and self._tiledb_dtype == other._tiledb_dtype
            and self._ncells == other._ncells
            and self._nullable == other._nullable
            and self._fill == other._fill
            and self._enum == other._enum
        )
        return same and self._filters == other._filters

    def __hash__(self) -> int:
        return hash((self.name, self._tiledb_dtype, self._ncells))

    def __repr__(self) -> str:
        special = _SPECIAL.get(self._tiledb_dtype.name)
        dtype = self.dtype
        shown = special or (
            "<U0" if dtype.kind == "U" else "|S0" if dtype == np.dtype("S0") else None
        )
        shown = shown or (
            dtype.str if dtype.kind == "S" else dtype.name if dtype.kind != "V" else None
        )
        text = (
            f"'{shown}'"
            if shown is not None
            else repr([("", kind[0].name) for kind in (dtype.fields or {}).values()])
        )
        filters = f", filters={self._filters._in_line()}" if len(self._filters) else ""
        return (
            f"Attr(name={self.name!r}, dtype={text}, var={self.isvar}, nullable={self._nullable},"
            f" enum_label={self._enum!r}{filters})"
        )

    def _repr_html_row_(self) -> str:
        filters = self._filters._repr_html_()
        cells = (self.name, self.dtype, self.isvar, self._nullable, filters)
        return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"

    def _repr_html_(self) -> str:
        heads = ("Name", "Data Type", "Is Var-Len", "Is Nullable", "Filters")
        return (
            "<table><tr>"
            + "".join(f"<th>{head}</th>" for head in heads)
            + f"</tr>{self._repr_html_row_()}</table>"
        )

    def _dumped(self) -> str:
        number = "var" if self.isvar else self._ncells
        return (
            "### Attribute ###\n"
            f"- Name: {self.name or '<anonymous>'}\n"
            f"- Type: {self._tiledb_dtype.name}\n"
            f"- Nullable: {str(self._nullable).lower()}\n"
            f"- Cell val num: {number}\n"
            f"- Filters: {len(self._filters)}\n"
            f"- Fill value: {self.fill}\n"
        )

    def dump(self) -> None:
        """Prints the attribute."""
        print(self._dumped())
