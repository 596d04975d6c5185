"""Domains."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from ._engine import TileDBError
from .ctx import Ctx
from .dimension import Dim


class Domain:
    """The dimensions of an array."""

    def __init__(self, *dims: Any, ctx: Ctx | None = None) -> None:
        if len(dims) == 1 and not isinstance(dims[0], Dim):
            dims = tuple(dims[0])
        if not dims:
            raise TileDBError("Domain must have ndim >= 1")
        if not all(isinstance(dim, Dim) for dim in dims):
            raise TypeError(f"expected dimensions, found {dims!r}")
        anonymous = [dim.name.startswith("__dim_") for dim in dims]
        if any(anonymous) and not all(anonymous):
            raise TileDBError(
                "Mixed dimension naming: dimensions must be either all anonymous or all named."
            )
        if all(anonymous) and len(dims) > 1:
            dims = tuple(dim._renamed(f"__dim_{place}") for place, dim in enumerate(dims))
        elif all(anonymous):
            dims = tuple(dim._renamed("__dim_0") for dim in dims)
        names = [dim.name for dim in dims]
        if len(set(names)) != len(names):
            raise TileDBError(f"the domain has two dimensions of one name: {names}")
        self._dims: tuple[Dim, ...] = tuple(dims)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._dims)

    @property
    def nitems(self) -> int:
        """The number of dimensions."""
        return len(self._dims)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the first dimension."""
        return self._dims[0].dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of coordinates along each dimension."""
        if self.dtype.kind not in "iuM":
            raise TypeError("shape valid only for integer and datetime dimension domains")
        return tuple(dim.size for dim in self._dims)

    @property
    def size(self) -> int:
        """The number of cells."""
        return functools.reduce(operator.mul, self.shape, 1)

    @property
    def homogeneous(self) -> bool:
        """Whether all dimensions have one type."""
        return all(dim.dtype == self._dims[0].dtype for dim in self._dims)

    def dim(self, dim_id: Any) -> Dim:
        """Returns the dimension of a position or name."""
        if isinstance(dim_id, str):
            for dim in self._dims:
                if dim.name == dim_id:
                    return dim
            raise TileDBError(f"the domain has no dimension {dim_id!r}")
        if isinstance(dim_id, (int, np.integer)) and not isinstance(dim_id, bool):
            if not 0 <= dim_id < len(self._dims):
                raise TileDBError(f"the domain has no dimension {dim_id}; it has {len(self._dims)}")
            return self._dims[int(dim_id)]
        raise ValueError(f"Unsupported dim identifier: '{dim_id!r}' (expected int or str)")

    def has_dim(self, name: str) -> bool:
        """Whether a dimension has a name."""
        return any(dim.name == name for dim in self._dims)

    def _index(self, dim_id: Any) -> int:
        return self._dims.index(self.dim(dim_id))

    def __iter__(self) -> Iterator[Dim]:
        return iter(self._dims)

    def __len__(self) -> int:
        return len(self._dims)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Domain) and self._dims == other._dims

    def __hash__(self) -> int:
        return hash(self._dims)

    def __repr__(self) -> str:
        return "Domain(" + ",\n       ".join(repr(dim) for dim in self._dims) + ")"

    def _repr_html_(self) -> str:
        rows = "".join(dim._repr_html_row_() for dim in self._dims)
        return f"<table>{Dim._repr_html_heads_()}{rows}</table>"

    def dump(self) -> None:
        """Prints the dimensions."""
        print("\n".join(dim._dumped() for dim in self._dims))
