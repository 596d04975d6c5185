"""Fragments."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Iterator
from typing import Any

from .. import _native
from . import _engine
from ._engine import TileDBError, call
from .array_schema import ArraySchema
from .ctx import Ctx, context, key_of, storage_options
from .dimension import coordinate


class FragmentInfo:
    """Facts about a fragment."""

    def __init__(self, fragments: FragmentInfoList, num: int) -> None:
        self._frags = fragments
        self.num = num
        self.uri: str = fragments.uri[num]
        self.version: int = fragments.version[num]
        self.nonempty_domain: Any = fragments.nonempty_domain[num]
        self.cell_num: int = fragments.cell_num[num]
        self.timestamp_range: tuple[int, int] = fragments.timestamp_range[num]
        self.sparse: bool = fragments.sparse[num]
        self.has_consolidated_metadata: bool = fragments.has_consolidated_metadata[num]
        self.unconsolidated_metadata_num: int = fragments.unconsolidated_metadata_num
        self.to_vacuum: tuple[str, ...] = fragments.to_vacuum
        self.array_schema_name: str = fragments.array_schema_name[num]

    @property
    def mbrs(self) -> Any:
        """The minimum bounding rectangles of the tiles."""
        return self._frags.mbrs[self.num]

    def _shown(self) -> list[tuple[str, Any]]:
        names = (
            "uri", "version", "nonempty_domain", "cell_num", "timestamp_range", "sparse",
            "has_consolidated_metadata", "unconsolidated_metadata_num", "to_vacuum",
        )  # fmt: skip
        return [(name, getattr(self, name)) for name in names]

    def __repr__(self) -> str:
        return (
            "FragmentInfo(" + ", ".join(f"{name}={value!r}" for name, value in self._shown()) + ")"
        )

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td>{name}</td><td>{value}</td></tr>" for name, value in self._shown())
        return f"<section><h3>{self.uri}</h3><table>{rows}</table></section>"


class FragmentInfoList:
    """Facts about the fragments of an array, oldest first."""

    def __init__(self, array_uri: Any, include_mbrs: bool = False, ctx: Ctx | None = None) -> None:
        ctx = context(ctx)
        self.array_uri = os.fspath(array_uri)
        path = _engine.path_of(self.array_uri)
        native = _engine.open_array(path, None, None, key_of(ctx), storage_options(ctx, path))
        schema = ArraySchema._of_native(native)
        facts = call(native.fragments)
        details = call(_native.fragment_details, native, include_mbrs)
        base = os.path.abspath(path)
        dims = list(schema.domain)

        def ends(sides: Any) -> Any:
            if sides is None:
                return None
            return tuple(
                tuple(
                    item.decode() if isinstance(item, bytes) else coordinate(dim, item)
                    for item in side
                )
                for dim, side in zip(dims, sides)
            )

        self.uri = tuple(f"file://{base}/{found['folder']}" for found in details)
        self.version = tuple(found["format_version"] for found in facts)
        self.nonempty_domain = tuple(ends(found["domain"]) for found in facts)
        self.sparse = tuple(not found["is_dense"] for found in facts)
        self.cell_num = tuple(
            found["cells"] if not found["is_dense"] else _dense_cells(schema, sides)
            for found, sides in zip(facts, self.nonempty_domain)
        )
        self.timestamp_range = tuple((found["start"], found["end"]) for found in facts)
        self.array_schema_name = tuple(os.path.basename(found["schema"]) for found in details)
        consolidated = set(call(_native.consolidated_footers, native))
        names = [os.path.basename(found["folder"]) for found in details]
        self.has_consolidated_metadata = tuple(name in consolidated for name in names)
        self.unconsolidated_metadata_num = sum(name not in consolidated for name in names)
        self.to_vacuum = _to_vacuum(path, native)
        self._mbrs: Any = None
        if include_mbrs:
            self._mbrs = tuple(
                tuple(ends(sides) for sides in found["mbrs"]) if "mbrs" in found else ()
                for found in details
            )

    @property
    def mbrs(self) -> Any:
        """The minimum bounding rectangles of the tiles."""
        if self._mbrs is None:
            raise AttributeError(
                "retrieving minimum bounding rectangles is disabled; use array_fragments(uri, include_mbrs=True)"
            )
        return self._mbrs

    def __iter__(self) -> Iterator[FragmentInfo]:
        return (FragmentInfo(self, num) for num in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return [FragmentInfo(self, num) for num in range(*key.indices(len(self)))]
        if isinstance(key, int):
            num = key + len(self) if key < 0 else key
            if not 0 <= num < len(self):
                raise IndexError(f"fragment {key} is out of range for {len(self)} fragments")
            return FragmentInfo(self, num)
        raise TypeError(f"invalid index {key!r}")

    def __len__(self) -> int:
        return len(self.uri)

    def __repr__(self) -> str:
        return "FragmentInfoList([" + ", ".join(repr(found) for found in self) + "])"

    def _repr_html_(self) -> str:
        return "<section>" + "".join(found._repr_html_() for found in self) + "</section>"


def _dense_cells(schema: ArraySchema, sides: Any) -> int:
    """Counts the cells of the tiles of a dense fragment, as the C++ library does."""
    from .dimension import plain

    count = 1
    for dim, (first, last) in zip(schema.domain, sides):
        low, extent = plain(dim.domain[0]), dim._tile or dim.size
        tiles = (plain(last) - low) // extent - (plain(first) - low) // extent + 1
        count *= tiles * extent
    return count


def _to_vacuum(path: str, native: Any) -> tuple[str, ...]:
    """Returns the fragments that consolidated fragments have replaced."""
    found: list[str] = []
    base = os.path.abspath(path)
    for listed, _, _ in call(_native.vacuum_lists, native):
        with open(os.path.join(path, listed), encoding="utf-8") as file:
            for line in file.read().split():
                name = os.path.basename(line.rstrip("/"))
                if os.path.isdir(os.path.join(path, "__fragments", name)):
                    found.append(f"file://{base}/__fragments/{name}")
    return tuple(sorted(found))


class PyFragmentInfo:
    """The interface of the C++ library."""

    def __init__(
        self, uri: Any, schema: Any = None, include_mbrs: bool = False, ctx: Ctx | None = None
    ) -> None:
        self._list = FragmentInfoList(uri, include_mbrs, ctx)

    def get_num_fragments(self) -> int:
        """The number of fragments."""
        return len(self._list)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("get_"):
            raise AttributeError(name)
        value = getattr(self._list, name.removeprefix("get_"))
        return lambda: value

    def dump(self) -> str:
        """Returns the fragments as text."""
        lines = [f"- Fragment num: {len(self._list)}"]
        lines += [f"- Fragment #{place}: {found!r}" for place, found in enumerate(self._list, 1)]
        return "\n".join(lines) + "\n"


def array_fragments(
    uri: Any, include_mbrs: bool = False, ctx: Ctx | None = None
) -> FragmentInfoList:
    """Returns facts about the fragments of an array."""
    return FragmentInfoList(uri, include_mbrs, ctx)


def _in_range(fragments: FragmentInfoList, timestamp_range: tuple[int, int]) -> list[FragmentInfo]:
    first, last = timestamp_range
    return [
        found
        for found in fragments
        if first <= found.timestamp_range[0] and found.timestamp_range[1] <= last
    ]


def _copy_fragments(found: list[FragmentInfo], source: str, target: str) -> None:
    for item in found:
        name = os.path.basename(item.uri)
        folder = os.path.join(target, "__fragments")
        os.makedirs(folder, exist_ok=True)
        shutil.copytree(os.path.join(source, "__fragments", name), os.path.join(folder, name))
        commits = os.path.join(target, "__commits")
        os.makedirs(commits, exist_ok=True)
        shutil.copy(os.path.join(source, "__commits", name + ".wrt"), commits)


def create_array_from_fragments(
    src_uri: Any,
    dst_uri: Any,
    timestamp_range: tuple[int, int],
    config: Any = None,
    ctx: Ctx | None = None,
    verbose: bool = False,
    dry_run: bool = False,
) -> None:
    """Creates an array from the fragments that were written within a time range."""
    source, target = (_engine.path_of(uri) for uri in (src_uri, dst_uri))
    if os.path.isdir(os.path.join(target, "__schema")):
        raise TileDBError(f"Array URI `{dst_uri}` already exists")
    found = _in_range(FragmentInfoList(source, ctx=ctx), timestamp_range)
    if dry_run:
        return
    os.makedirs(target, exist_ok=True)
    shutil.copytree(os.path.join(source, "__schema"), os.path.join(target, "__schema"))
    for folder in ("__commits", "__fragments", "__fragment_meta", "__labels", "__meta"):
        os.makedirs(os.path.join(target, folder), exist_ok=True)
    _copy_fragments(found, source, target)


def copy_fragments_to_existing_array(
    src_uri: Any,
    dst_uri: Any,
    timestamp_range: tuple[int, int],
    config: Any = None,
    ctx: Ctx | None = None,
    verbose: bool = False,
    dry_run: bool = False,
) -> None:
    """Copies the fragments that were written within a time range to an array of equal schema."""
    source, target = (_engine.path_of(uri) for uri in (src_uri, dst_uri))
    if ArraySchema.load(source, ctx) != ArraySchema.load(target, ctx):
        raise TileDBError("Source and destination array schemas do not match")
    schemas = [
        name
        for name in os.listdir(os.path.join(source, "__schema"))
        if not name.startswith("__enum")
    ]
    if len(schemas) > 1:
        raise TileDBError("Copying fragments of arrays with an evolved schema is not supported")
    found = _in_range(FragmentInfoList(source, ctx=ctx), timestamp_range)
    if dry_run:
        return
    # Fragments name their schema.
    for name in schemas:
        place = os.path.join(target, "__schema", name)
        if not os.path.exists(place):
            shutil.copy(os.path.join(source, "__schema", name), place)
    _copy_fragments(found, source, target)


def delete_fragments(uri: Any, timestamp_range: tuple[int, int], ctx: Ctx | None = None) -> None:
    """Deletes the fragments that were written within a time range."""
    from .array import Array

    warnings.warn(
        "delete_fragments is deprecated; use Array.delete_fragments",
        DeprecationWarning,
        stacklevel=2,
    )
    Array.delete_fragments(uri, timestamp_range[0], timestamp_range[1], ctx)
