"""Plans of consolidations."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from .. import _native
from . import _engine
from ._engine import TileDBError, call
from .ctx import Ctx, context, key_of, storage_options
from .fragment import FragmentInfoList


class ConsolidationPlan:
    """The fragments that a consolidation would join."""

    def __init__(self, ctx: Ctx | None, array: Any, fragment_size: int) -> None:
        ctx = context(ctx)
        path = _engine.path_of(array.uri)
        fragments = FragmentInfoList(array.uri, ctx=ctx)
        uris = {os.path.basename(uri): uri for uri in fragments.uri}
        opening = _engine.opening(path, None, None, key_of(ctx), storage_options(ctx, path))
        steps: Any = []
        if len(uris) > 1:
            steps, _ = call(
                _native.consolidate_fragments,
                opening,
                options(max_fragment_size=int(fragment_size)),
                True,
                False,
                None,
            )
        self._nodes = [[uris[os.path.basename(name)] for name in names] for names, _, _ in steps]
        if len(uris) == 1:
            # The C++ library plans a node for a single fragment.
            self._nodes = [list(uris.values())]

    @property
    def num_nodes(self) -> int:
        """The number of consolidated fragments."""
        return len(self._nodes)

    def num_fragments(self, node_index: int) -> int:
        """The number of fragments of a node."""
        return len(self._node(node_index))

    def fragment_uri(self, node_index: int, fragment_index: int) -> str:
        """The place of a fragment of a node."""
        return self._node(node_index)[fragment_index]

    def _node(self, index: int) -> list[str]:
        if not 0 <= index < len(self._nodes):
            raise TileDBError(
                f"ConsolidationPlan: no node {index}; the plan has {len(self._nodes)}"
            )
        return self._nodes[index]

    def dump(self) -> str:
        """Returns the plan as JSON."""
        nodes = [{"uris": [{"uri": os.path.basename(uri)} for uri in node]} for node in self._nodes]
        return json.dumps({"nodes": nodes})

    def __len__(self) -> int:
        return len(self._nodes)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[place] for place in range(len(self)))

    def __getitem__(self, idx: int) -> dict[str, Any]:
        node = self._node(idx)
        return {"num_fragments": len(node), "fragment_uris": list(node)}

    def __repr__(self) -> str:
        return f"ConsolidationPlan(nodes={self._nodes})"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{place}</td><td>{len(node)}</td></tr>"
            for place, node in enumerate(self._nodes)
        )
        return f"<table><tr><th>Node</th><th>Fragments</th></tr>{rows}</table>"


def options(**given: Any) -> dict[str, Any]:
    """Returns the options of a consolidation of fragments."""
    defaults: dict[str, Any] = {
        "fragments": None,
        "between": None,
        "steps": None,
        "min_fragments": None,
        "max_fragments": None,
        "size_ratio": None,
        "amplification": None,
        "max_fragment_size": None,
        "purge_deleted": False,
        "flatten_history": False,
        "budget": None,
        "at": None,
    }
    return {**defaults, **given}
