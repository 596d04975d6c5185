"""Groups."""

from __future__ import annotations

import os
import posixpath
import shutil
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import _native
from . import _engine
from ._engine import CLOCK, TileDBError, call
from .array import Array
from .ctx import Config, Ctx, context, key_of, storage_options
from .metadata import Metadata, consolidate_metadata, vacuum_metadata
from .object import object_type

_NO_TIME = str(2**64 - 1)


class Object:
    """A member of a group."""

    def __init__(self, type: Any, uri: str, name: str | None) -> None:
        self._type = type
        self._uri = uri
        self._name = name

    @property
    def type(self) -> Any:
        """:class:`Array` or :class:`Group`."""
        return self._type

    @property
    def uri(self) -> str:
        """The place."""
        return self._uri

    @property
    def name(self) -> str | None:
        """The name."""
        return self._name

    def __repr__(self) -> str:
        return f"Object(type={self._type!r}, uri={self._uri!r}, name={self._name!r})"


class Group:
    """A group at a point in time. Changes are written when it is closed."""

    def __init__(
        self, uri: Any, mode: str = "r", config: Config | None = None, ctx: Ctx | None = None
    ) -> None:
        if mode not in ("r", "w", "m"):
            raise ValueError(f"invalid mode {mode!r}")
        self._uri = os.fspath(uri)
        self._ctx = context(ctx)
        self._config = config
        self._isopen = False
        self._meta = Metadata(self)
        self.open(mode)

    @staticmethod
    def create(uri: Any, ctx: Ctx | None = None) -> None:
        """Creates a group."""
        path = _engine.path_of(uri)
        ctx = context(ctx)
        call(
            _native.create_group,
            _engine.opening(path, None, None, key_of(ctx), storage_options(ctx, path)),
        )

    @staticmethod
    def consolidate_metadata(
        uri: Any, config: Config | None = None, ctx: Ctx | None = None
    ) -> None:
        """Consolidates the metadata files."""
        consolidate_metadata(os.fspath(uri), key_of(context(ctx)))

    @staticmethod
    def vacuum_metadata(uri: Any, config: Config | None = None, ctx: Ctx | None = None) -> None:
        """Deletes superseded metadata files."""
        vacuum_metadata(os.fspath(uri), key_of(context(ctx)))

    def _settings(self) -> Config:
        return self._ctx.config() if self._config is None else self._config

    def open(self, mode: str = "r") -> None:
        """Opens the group."""
        if self._isopen:
            raise TileDBError("Group: cannot open; the group is open")
        config = self._settings()
        start, end = config["sm.group.timestamp_start"], config["sm.group.timestamp_end"]
        self._time = None if end == _NO_TIME else int(end)
        path = _engine.path_of(self._uri)
        last = CLOCK.now() if self._time is None else self._time
        times = (int(start), last) if mode == "r" else (None, None)
        opening = _engine.opening(path, *times, key_of(self._ctx), storage_options(self._ctx, path))
        self._native = call(_native.Group.open, opening)
        self._mode = mode
        self._isopen = True
        self._added: list[tuple[str, bool, str | None]] = []
        self._removed: list[str] = []
        self._meta = Metadata(self)

    def _opened(self) -> _native.Group:
        if not self._isopen:
            raise TileDBError("Group is not open")
        return self._native

    def close(self) -> None:
        """Writes the changes, and releases the group."""
        if not self._isopen:
            return
        self._meta._flush()
        try:
            if self._added or self._removed:
                call(self._native.change, self._added, self._removed, self._at())
        finally:
            self._isopen = False

    def _at(self) -> int:
        return CLOCK.tick() if self._time is None else self._time

    def _write_metadata(self, changes: Any) -> None:
        call(self._native.write_metadata, changes, self._at())

    def __enter__(self) -> Group:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def isopen(self) -> bool:
        """Whether the group is open."""
        return self._isopen

    @property
    def mode(self) -> str:
        """``r``, ``w`` or ``m``."""
        return self._mode

    @property
    def uri(self) -> str:
        """The place."""
        return self._uri

    @property
    def meta(self) -> Metadata:
        """The metadata."""
        self._opened()
        return self._meta

    def set_config(self, cfg: Config) -> None:
        """Sets the settings of the next :meth:`open`."""
        if self._isopen:
            raise ValueError("`set_config` can only be used on closed groups")
        self._config = cfg

    def _writable(self) -> None:
        self._opened()
        if self._mode == "r":
            raise TileDBError(
                "Group: cannot change members; the group was not opened in write mode"
            )

    def add(
        self, uri: Any, name: str | None = None, relative: bool = False, type: Any = None
    ) -> None:
        """Adds a member."""
        self._writable()
        text = os.fspath(uri)
        place = posixpath.join(self._uri, text) if relative else text
        if object_type(place) is None:
            raise TileDBError(f"Group: cannot add member {text}; it is no array or group")
        if not relative and "://" not in text.replace("mem://", ""):
            text = "file://" + os.path.abspath(_engine.path_of(text))
        self._added.append((text, bool(relative), name))

    def remove(self, member: str) -> None:
        """Removes a member by its name or URI."""
        self._writable()
        self._removed.append(self._key(member))

    def _key(self, member: str) -> str:
        members = self._native.members
        for key, name, _, _, _ in members:
            if member in (key, name):
                return key
        for key, _, _, uri, _ in members:
            if uri.removeprefix("file://") == os.path.abspath(member.removeprefix("file://")):
                return key
        raise TileDBError(f"Group: no member {member!r}")

    def __delitem__(self, member: str) -> None:
        self.remove(member)

    def delete(self, recursive: bool = False) -> None:
        """Deletes the group, with ``recursive`` also its members."""
        self._delete(recursive, {os.path.realpath(_engine.path_of(self._uri))})

    def _delete(self, recursive: bool, seen: set[str]) -> None:
        """Deletes the group, and members at places that are not in ``seen``."""
        if self._mode != "m":
            raise TileDBError("Group: cannot delete; the group was not opened in mode 'm'")
        from .object import remove

        path = _engine.path_of(self._uri)
        if "://" in path:
            raise TileDBError("Group: delete needs a local group; tiledb.remove deletes the folder")
        for item in self if recursive else ():
            # Groups may contain each other, or share members.
            place = os.path.realpath(_engine.path_of(item.uri))
            if place in seen:
                continue
            seen.add(place)
            if item.type is Group:
                with Group(item.uri, "m", ctx=self._ctx) as inner:
                    inner._delete(True, seen)
            else:
                remove(item.uri, self._ctx)
        self._isopen = False
        # The folder may contain arrays that are not members.
        for name in ("__tiledb_group.tdb", "__group", "__meta"):
            entry = os.path.join(path, name)
            if os.path.isdir(entry):
                shutil.rmtree(entry)
            elif os.path.exists(entry):
                os.remove(entry)
        if not os.listdir(path):
            os.rmdir(path)

    def _objects(self) -> list[Object]:
        native = self._opened()
        found: list[Object] = []
        base = _engine.path_of(self._uri)
        if "://" not in base:
            base = "file://" + os.path.abspath(base)
        for key, name, _, uri, relative in native.members:
            place = call(native.place, key) or uri
            kind = object_type(place)
            if relative:
                uri = posixpath.join(base, uri)
            found.append(Object(Group if kind == "group" else Array, uri, name))
        return found

    def __getitem__(self, member: Any) -> Object:
        objects = self._objects()
        if isinstance(member, (int, np.integer)):
            if not 0 <= member < len(objects):
                raise TileDBError(f"Group: no member {member}; the group has {len(objects)}")
            return objects[int(member)]
        if not isinstance(member, str):
            raise TypeError(f"Unexpected member type '{type(member)}': expected int or str")
        for found in objects:
            if found.name == member:
                return found
        raise TileDBError(f"Group: no member named {member!r}")

    def __contains__(self, member: object) -> bool:
        return any(found.name == member for found in self._objects())

    def __iter__(self) -> Iterator[Object]:
        return iter(self._objects())

    def __len__(self) -> int:
        return len(self._opened().members)

    def is_relative(self, name: str) -> bool:
        """Whether the URI of a member is relative to the group."""
        for _, known, _, _, relative in self._opened().members:
            if known == name:
                return relative
        raise TileDBError(f"Group: no member named {name!r}")

    def _lines(self, outer: tuple[str, ...] = ()) -> list[str]:
        """The lines of the members of a group inside the groups at the places ``outer``."""
        outer += (os.path.realpath(_engine.path_of(self._uri)),)
        lines: list[str] = []
        for found in self._objects():
            label = found.name or os.path.basename(found.uri.rstrip("/"))
            kind = "GROUP" if found.type is Group else "ARRAY"
            lines.append(f"{'    ' * (len(outer) - 1)}|-- {label} {kind}")
            # Groups may contain each other.
            if kind == "GROUP" and os.path.realpath(_engine.path_of(found.uri)) not in outer:
                with Group(found.uri, ctx=self._ctx) as inner:
                    lines += inner._lines(outer)
        return lines

    def __repr__(self) -> str:
        if not self._isopen or self._mode != "r":
            return f"Group(uri={self._uri!r}, {'open' if self._isopen else 'closed'})"
        name = os.path.basename(self._uri.rstrip("/"))
        return "\n".join([f"{name} GROUP", *self._lines()]) + "\n"


def group_create(uri: Any, ctx: Ctx | None = None) -> None:
    """Creates a group."""
    Group.create(uri, ctx)
