"""Changes of schemas."""

from __future__ import annotations

from typing import Any

from .. import _native
from . import _engine
from ._engine import CLOCK, TileDBError, call
from .attribute import Attr
from .ctx import Ctx, context, key_of, storage_options
from .current_domain import CurrentDomain
from .enumeration import Enumeration


class ArraySchemaEvolution:
    """A change of the schema of an array."""

    def __init__(self, ctx: Ctx | None = None) -> None:
        self._ctx = context(ctx)
        self._attrs: list[Attr] = []
        self._drops: list[str] = []
        self._enums: list[Enumeration] = []
        self._enum_drops: list[str] = []
        self._extended: list[Enumeration] = []
        self._current: CurrentDomain | None = None
        self._time: int | None = None

    def add_attribute(self, attr: Attr) -> None:
        """Adds an attribute."""
        if any(known.name == attr.name for known in self._attrs):
            raise TileDBError(
                f"Cannot add attribute {attr.name!r}; Input attribute name is already there"
            )
        self._attrs.append(attr)

    def drop_attribute(self, attr_name: str) -> None:
        """Drops an attribute."""
        self._drops.append(attr_name)

    def add_enumeration(self, enmr: Enumeration) -> None:
        """Adds an enumeration."""
        self._enums.append(enmr)

    def drop_enumeration(self, enmr_name: str) -> None:
        """Drops an enumeration."""
        self._enum_drops.append(enmr_name)

    def extend_enumeration(self, enmr: Enumeration) -> None:
        """Replaces an enumeration by one with more values at the end."""
        self._extended.append(enmr)

    def expand_current_domain(self, current_domain: CurrentDomain) -> None:
        """Expands the current domain."""
        self._current = current_domain

    def timestamp(self, timestamp: int) -> None:
        """Sets the time of the change."""
        if not isinstance(timestamp, int):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError("'timestamp' argument expects int")
        self._time = timestamp

    def array_evolve(self, uri: Any) -> None:
        """Changes the schema of an array."""
        path = _engine.path_of(uri)
        native = _engine.open_array(
            path, None, None, key_of(self._ctx), storage_options(self._ctx, path)
        )
        from .array_schema import ArraySchema
        from .dimension import plain

        schema = ArraySchema._of_native(native)
        enums = {name for name in schema._enums if name not in self._enum_drops}
        enums |= {item.name for item in self._enums}
        for attr in self._attrs:
            if attr.enum_label is not None and attr.enum_label not in enums:
                raise TileDBError(
                    f"ArraySchema: Cannot add attribute; Attribute refers to an unknown enumeration {attr.enum_label!r}"
                )
        for attr in schema:
            if attr.enum_label in self._enum_drops and attr.name not in self._drops:
                raise TileDBError(
                    f"ArraySchema: Unable to drop enumeration {attr.enum_label!r}; attribute {attr.name!r} uses it"
                )
        extended: list[tuple[str, list[bytes]]] = []
        for enumeration in self._extended:
            before = schema.enum(enumeration.name)
            cells = enumeration._cells()
            known = before._cells()
            if cells[: len(known)] != known:
                raise TileDBError(
                    f"enumeration {enumeration.name!r}: the values do not extend the present ones"
                )
            extended.append((enumeration.name, cells[len(known) :]))
        ranges: list[tuple[str, tuple[Any, Any]]] = []
        if self._current is not None:
            rectangle = self._current.ndrectangle
            for place, dim in enumerate(schema.domain):
                first, last = rectangle.range(place)
                ranges.append((dim.name, (plain(first), plain(last))))
        sections = [attr._section() for attr in self._attrs] + [
            item._section() for item in self._enums
        ]
        evolution = {
            "add": "".join(sections),
            "drop": self._drops,
            "extend": extended,
            "drop_enumerations": self._enum_drops,
            "current_domain": ranges,
            "at": CLOCK.tick() if self._time is None else self._time,
        }
        call(_native.evolve, native, evolution)
