"""Enumerations."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _text
from . import libtiledb as lt
from ._engine import TileDBError
from .datatypes import DataType, by_engine_name, numpy_dtype, physical_dtype


class Enumeration:
    """A list of values. Cells of an attribute hold positions in the list."""

    def __init__(
        self,
        name: str,
        ordered: bool = False,
        values: Any = None,
        dtype: Any = None,
        ctx: Any = None,
    ) -> None:
        if values is None or len(values) == 0:
            if dtype is None:
                raise ValueError("dtype must be provided for empty enumeration")
            array = np.array([], dtype=np.dtype(dtype))
        else:
            array = np.array(values) if dtype is None else np.array(values, dtype=dtype)
        if array.dtype.kind == "O":
            items = list(array)
            kind = "S" if all(isinstance(item, bytes) for item in items) else "U"
            if not all(isinstance(item, (str, bytes)) for item in items):
                raise TileDBError(f"enumeration {name!r}: values have different types")
            array = np.array(items, dtype=kind)
        if array.ndim != 1:
            raise TileDBError(
                f"enumeration {name!r}: expected one dimension of values, found {array.ndim}"
            )
        if len(set(array.tolist())) != len(array):
            raise TileDBError(f"enumeration {name!r}: values are not unique")
        self._name = str(name)
        self._ordered = bool(ordered)
        self._values = array
        found = DataType.from_numpy("ascii" if array.dtype.kind == "S" else array.dtype)
        self._datatype = found.tiledb_type
        self._ncells = lt.VAR_NUM if array.dtype.kind in "SU" else found.ncells

    @classmethod
    def _of_table(cls, table: dict[str, Any]) -> Enumeration:
        """Creates an enumeration from a parsed schema."""
        made = cls.__new__(cls)
        made._name = table["name"]
        made._ordered = bool(table.get("ordered", False))
        made._datatype = by_engine_name(table["datatype"])
        number = table.get("values_per_value", 1)
        made._ncells = lt.VAR_NUM if number == "var" else int(number)
        cells = [_text.cell_bytes(made._datatype, item) for item in table["values"]]
        if made._ncells == lt.VAR_NUM and made._datatype.name == "STRING_UTF8":
            made._values = np.array(
                [cell.decode("utf-8", "surrogateescape") for cell in cells], dtype="U"
            )
        elif made._ncells == lt.VAR_NUM:
            made._values = np.array(cells, dtype="S")
        else:
            made._values = np.frombuffer(
                b"".join(cells), dtype=numpy_dtype(made._datatype, made._ncells)
            )
        return made

    def _cells(self) -> list[bytes]:
        if self._values.dtype.kind == "U":
            return [item.encode() for item in self._values.tolist()]
        if self._values.dtype.kind == "S":
            return self._values.tolist()
        physical = physical_dtype(self._datatype)
        return [item.tobytes() for item in self._values.astype(physical)]

    def _section(self) -> str:
        texts = self._values.dtype.kind == "U"
        values: list[Any] = self._values.tolist() if texts else self._cells()
        return _text.section(
            "enumeration",
            {
                "name": self._name,
                "datatype": _text.name_of(self._datatype),
                "values_per_value": "var" if self._ncells == lt.VAR_NUM else self._ncells,
                "ordered": self._ordered or None,
                "values": values,
            },
        )

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values."""
        if self._values.dtype.kind in "SU" and len(self._values):
            return np.dtype(f"{self._values.dtype.kind}1")
        return self._values.dtype

    @property
    def cell_val_num(self) -> int:
        """The number of elements per value."""
        return self._ncells

    @property
    def type(self) -> lt.DataType:
        """The datatype."""
        return self._datatype

    @property
    def ordered(self) -> bool:
        """Whether the order of the values has a meaning."""
        return self._ordered

    def values(self) -> np.ndarray[Any, Any]:
        """Returns the values."""
        return self._values

    def extend(self, values: Any) -> Enumeration:
        """Returns an enumeration with more values at the end."""
        array = np.array(values)
        own = self._values
        texts = "SU"
        if own.dtype.kind in texts or array.dtype.kind in texts:
            if array.dtype.kind == "S" and own.dtype.kind == "U":
                array = np.char.decode(array, "utf-8")
            if array.dtype.kind == "U" and own.dtype.kind == "S":
                array = np.char.encode(array, "utf-8")
            if own.dtype.kind != array.dtype.kind:
                raise TileDBError(
                    f"enumeration {self._name!r}: cannot extend {own.dtype} by {array.dtype}"
                )
        elif own.dtype.kind == "b" and array.dtype.kind == "b":
            pass
        elif own.dtype.kind in "iu" and array.dtype.kind not in "iu":
            raise TileDBError(
                f"enumeration {self._name!r}: cannot extend {own.dtype} by {array.dtype}"
            )
        else:
            array = array.astype(own.dtype)
        kind = own.dtype.kind if own.dtype.kind in texts else own.dtype
        joined = np.array(own.tolist() + array.tolist(), dtype=kind)
        if len(set(joined.tolist())) != len(joined):
            raise TileDBError(f"enumeration {self._name!r}: values are not unique")
        return Enumeration(self._name, self._ordered, joined)

    def __len__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Enumeration):
            return False
        return (
            self._name == other._name
            and self._ordered == other._ordered
            and self._values.dtype.kind == other._values.dtype.kind
            and np.array_equal(self._values, other._values)
        )

    def __hash__(self) -> int:
        return hash((self._name, self._ordered, len(self._values)))

    def __repr__(self) -> str:
        dtype = self.dtype
        return (
            f"Enumeration(name='{self._name}', dtype={dtype}, dtype_name='{dtype.name}',"
            f" cell_val_num={self._ncells}, ordered={self._ordered}, values={self._values.tolist()})"
        )

    def _repr_html_(self) -> str:
        heads = "".join(f"<th>{head}</th>" for head in ("Name", "Data Type", "Ordered"))
        return f"<table><tr>{heads}</tr><tr><td>{self._name}</td><td>{self.dtype}</td><td>{self._ordered}</td></tr></table>"
