"""Current domains."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import libtiledb as lt
from ._engine import TileDBError
from .ctx import Ctx
from .domain import Domain


class NDRectangle:
    """A range of coordinates for each dimension."""

    def __init__(self, ctx: Ctx | None = None, domain: Domain | None = None) -> None:
        if domain is None:
            raise TileDBError("an NDRectangle needs a domain")
        self._domain = domain
        self._ranges: list[Any] = [None] * domain.ndim

    def set_range(self, dim: Any, start: Any, end: Any) -> None:
        """Sets the range of a dimension."""
        place = self._domain._index(dim)
        dimension = self._domain.dim(place)
        if not dimension.isvar:
            dtype = dimension.dtype
            if isinstance(start, (str, bytes)) or isinstance(end, (str, bytes)):
                raise TileDBError(f"dimension {dimension.name!r}: expected {dtype}, found text")
            if dtype.kind in "iu":
                start, end = int(start), int(end)
            elif dtype.kind == "f":
                start, end = dtype.type(start), dtype.type(end)
            else:
                start, end = np.datetime64(start).astype(dtype), np.datetime64(end).astype(dtype)
        else:
            start, end = (
                item.decode() if isinstance(item, bytes) else str(item) for item in (start, end)
            )
        if end < start:
            raise TileDBError(f"dimension {dimension.name!r}: the range ends before it begins")
        self._ranges[place] = (start, end)

    def range(self, dim: Any) -> Any:
        """Returns the range of a dimension."""
        found = self._ranges[self._domain._index(dim)]
        if found is None:
            raise TileDBError(f"the NDRectangle has no range for dimension {dim!r}")
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NDRectangle) and self._ranges == other._ranges

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        names = (dim.name for dim in self._domain)
        return (
            "NDRectangle("
            + ", ".join(f"{name}={ends}" for name, ends in zip(names, self._ranges))
            + ")"
        )


class CurrentDomain:
    """The part of the domain in use."""

    def __init__(self, ctx: Ctx | None = None) -> None:
        self._rectangle: NDRectangle | None = None

    def set_ndrectangle(self, ndrect: NDRectangle) -> None:
        """Sets the ranges."""
        self._rectangle = ndrect

    @property
    def ndrectangle(self) -> NDRectangle:
        """The ranges."""
        if self._rectangle is None:
            raise TileDBError("the current domain is empty")
        return self._rectangle

    @property
    def is_empty(self) -> bool:
        """Whether no range is set."""
        return self._rectangle is None

    @property
    def type(self) -> lt.CurrentDomainType:
        """The type."""
        if self._rectangle is None:
            raise TileDBError("the current domain is empty")
        return lt.CurrentDomainType.NDRECTANGLE

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CurrentDomain) and self._rectangle == other._rectangle

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        return f"CurrentDomain({'' if self._rectangle is None else self._rectangle!r})"
