"""The version of TileDB-Py whose interface this module follows."""

from __future__ import annotations

from typing import NamedTuple


class VersionHelper(NamedTuple):
    """A version."""

    version: str
    version_tuple: tuple[int, int, int]

    def __call__(self) -> tuple[int, int, int]:
        return self.version_tuple


version = VersionHelper("0.36.1", (0, 36, 1))
