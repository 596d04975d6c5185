"""Statistics."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_enabled = False


def stats_enable() -> None:
    """Enables statistics."""
    global _enabled
    _enabled = True


def stats_disable() -> None:
    """Disables statistics."""
    global _enabled
    _enabled = False


def stats_reset() -> None:
    """Statistics belong to arrays; nothing to reset."""


def stats_dump(
    version: bool = True,
    print_out: bool = True,
    include_python: bool = True,
    json: bool = False,
    verbose: bool = True,
) -> Any:
    """Global statistics of the C++ library."""
    if not _enabled:
        from ._engine import TileDBError

        raise TileDBError("Statistics are not enabled. Call tiledb.stats_enable() first.")
    raise NotImplementedError("the engine has no global statistics; use Query.get_stats")


def shown(counters: Mapping[str, int], as_json: bool = False) -> str:
    """Returns requests as text."""
    if as_json:
        return json.dumps({"counters": dict(counters)})
    return "\n".join(f"{name}: {number}" for name, number in counters.items())
