"""Arrays and groups as objects of a file system."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from typing import Any

from .. import _native
from . import _engine
from ._engine import TileDBError, call, path_of
from .ctx import Ctx, context, storage_options


def object_type(uri: Any, ctx: Ctx | None = None) -> str | None:
    """Returns ``array``, ``group``, or ``None``."""
    path = path_of(uri)
    return _engine.object_kind(path, None, storage_options(context(ctx), path))


def array_exists(
    uri: Any, isdense: bool = False, issparse: bool = False, ctx: Ctx | None = None
) -> bool:
    """Whether an array exists, of the given kind."""
    if object_type(uri, ctx) != "array":
        return False
    if not (isdense or issparse):
        return True
    is_dense = bool(_engine.open_array(path_of(uri)).is_dense)
    return is_dense if isdense else not is_dense


def remove(uri: Any, ctx: Ctx | None = None) -> None:
    """Deletes an array or group, with the objects in its folder."""
    path = path_of(uri)
    opening = _engine.opening(path, None, None, None, storage_options(context(ctx), path))
    call(_native.remove, opening, True)
    if os.path.isdir(path):
        # Objects in the folder that are no members.
        shutil.rmtree(path)


def move(old_uri: Any, new_uri: Any, ctx: Ctx | None = None) -> None:
    """Moves an array or group."""
    ctx = context(ctx)
    parts = [
        _engine.opening(path, None, None, None, storage_options(ctx, path))
        for path in (path_of(old_uri), path_of(new_uri))
    ]
    call(_native.relocate, parts[0], parts[1], None)


def _children(path: str) -> list[tuple[str, str | None]]:
    if not os.path.isdir(path):
        raise TileDBError(f"{path}: not a folder")
    found: list[tuple[str, str | None]] = []
    for name in sorted(os.listdir(path)):
        child = os.path.join(path, name)
        if os.path.isdir(child) and not (name.startswith("__") and object_type(path) is not None):
            found.append((child, object_type(child)))
    return found


def ls(path: Any, func: Callable[[str, str], Any], ctx: Ctx | None = None) -> None:
    """Calls a function for each array and group of a folder."""
    for child, kind in _children(path_of(path)):
        if kind is not None:
            _visit(func, f"file://{child}" if os.path.isabs(child) else child, kind)


def _visit(func: Callable[[str, str], Any], path: str, kind: str) -> None:
    try:
        func(path, kind)
    except Exception as error:
        raise TileDBError(f"{type(error).__name__}: {error}") from error


def walk(
    path: Any, func: Callable[[str, str], Any], order: str = "preorder", ctx: Ctx | None = None
) -> None:
    """Calls a function for each array and group below a folder."""
    if order not in ("preorder", "postorder"):
        raise ValueError(f"unknown order {order!r}; expected 'preorder' or 'postorder'")
    for child, kind in _children(path_of(path)):
        if kind is not None and order == "preorder":
            _visit(func, child, kind)
        if kind != "array":
            walk(child, func, order, ctx)
        if kind is not None and order == "postorder":
            _visit(func, child, kind)
