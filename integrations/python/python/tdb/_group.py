"""Groups."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from . import _native
from ._array import Array, opening
from ._errors import NotFoundError
from ._libraries import whole
from ._metadata import Metadata


class Member(NamedTuple):
    """A member of a group, as the group stores it."""

    name: str | None
    #: ``array``, ``group`` or ``invalid``.
    kind: str
    uri: str
    #: Whether the URI is relative to the folder of the group.
    relative: bool


class Node(NamedTuple):
    """An array or a group that a walk found."""

    depth: int
    name: str
    #: ``array``, ``group``, or the reason why a member was not examined.
    kind: str
    uri: str | None


class Group:
    """A group at a point in time: see :func:`tdb.open_group`."""

    def __init__(self, parts: Any) -> None:
        self._opening = parts
        self._native = _native.Group.open(parts._asdict())

    def __reduce__(self) -> tuple[Any, ...]:
        return (Group, (self._opening,))

    @property
    def uri(self) -> str:
        """The path or URL."""
        return self._opening.uri

    @property
    def members(self) -> dict[str, Member]:
        """The members, by name, or by URI for members without a name."""
        return {
            key: Member(name, kind, uri, relative)
            for key, name, kind, uri, relative in self._native.members
        }

    def __getitem__(self, key: str) -> Array | Group:
        """Opens a member."""
        place = self._native.place(key)
        if place is None:
            known = ", ".join(repr(known) for known in self.members)
            raise KeyError(f"{self.uri}: no member {key!r}; the group has {known or 'no members'}")
        parts = self._opening._replace(uri=place)
        kind = _native.object_type(parts._asdict())
        if kind is None:
            raise NotFoundError(f"{place}: not an array or group", path=place)
        return Array(parts) if kind == "array" else Group(parts)

    def __contains__(self, key: object) -> bool:
        return key in self.members

    def __iter__(self) -> Iterator[str]:
        return iter(self.members)

    def __len__(self) -> int:
        return len(self._native.members)

    def _refresh(self) -> None:
        self._native = _native.Group.open(self._opening._asdict())

    def add(
        self,
        uri: str | os.PathLike[str],
        name: str | None = None,
        *,
        relative: bool = True,
        at: int | None = None,
    ) -> None:
        """Adds an array or group: a path relative to the group, or any URI if not ``relative``."""
        path = os.fspath(uri)
        if not relative and "://" not in path:
            path = os.path.realpath(path)
        self._native.change([(path, relative, name)], [], whole("at", at))
        self._refresh()

    def remove(self, key: str, *, at: int | None = None) -> None:
        """Removes a member from the group. The array or group itself stays."""
        self._native.change([], [key], whole("at", at))
        self._refresh()

    def walk(self) -> list[Node]:
        """Finds the arrays and groups in this group and in its groups."""
        return [Node(*node) for node in self._native.walk()]

    @property
    def metadata(self) -> Metadata:
        """The metadata."""

        def write(changes: list[Any]) -> None:
            self._native.write_metadata(changes, None)
            self._refresh()

        return Metadata(lambda: self._native.metadata(), write)

    def __repr__(self) -> str:
        return f"<tdb.Group {self.uri}: {len(self)} members>"

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><td>{escape(key)}</td><td>{member.kind}</td><td>{escape(member.uri)}</td></tr>"
            for key, member in self.members.items()
        )
        heads = "<tr><th>member</th><th>kind</th><th>uri</th></tr>"
        return f"<p><b>{escape(self.uri)}</b>: group</p><table><thead>{heads}</thead><tbody>{rows}</tbody></table>"


def open_group(
    uri: str | os.PathLike[str],
    *,
    at: int | None = None,
    between: tuple[int, int] | None = None,
    key: bytes | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Group:
    """Opens a group. The parameters are those of :func:`tdb.open`."""
    return Group(opening(uri, at, between, key, 0, storage_options))


def create_group(
    uri: str | os.PathLike[str],
    *,
    key: bytes | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Group:
    """Creates an empty group, and opens it."""
    parts = opening(uri, key=key, storage_options=storage_options)
    _native.create_group(parts._asdict())
    return Group(parts)


def object_type(
    uri: str | os.PathLike[str], *, storage_options: Mapping[str, Any] | None = None
) -> str | None:
    """Returns ``array`` or ``group``, or ``None`` if the place is neither."""
    return _native.object_type(opening(uri, storage_options=storage_options)._asdict())
