"""Exceptions."""

from __future__ import annotations


class Error(Exception):
    """An error of the package.

    ``path`` is the file or folder at fault, ``offset`` the byte in a damaged structure, ``field``
    the column and ``cell`` the row, from 0. Each is ``None`` if unknown.
    """

    path: str | None
    offset: int | None
    field: str | None
    cell: int | None

    def __init__(
        self,
        message: str = "",
        *,
        path: str | None = None,
        offset: int | None = None,
        field: str | None = None,
        cell: int | None = None,
    ) -> None:
        super().__init__(message)
        self.path = path
        self.offset = offset
        self.field = field
        self.cell = cell


class UsageError(Error, ValueError):
    """The request is wrong: change the request."""


class AlreadyExistsError(UsageError, FileExistsError):
    """An array, a group or a file exists at the place."""


class DamageError(Error):
    """The bytes are damaged: restore or repair the file."""


class UnsupportedError(Error, NotImplementedError):
    """The array needs a newer version of this package, or a limit is exceeded."""


class EncryptionKeyError(Error):
    """The encryption key is missing, wrong, or given for an unencrypted array."""


class UnavailableError(Error, OSError):
    """A file is unreachable, or an operation on a file failed."""


class NotFoundError(UnavailableError, FileNotFoundError):
    """No array, group or file exists at the place."""


class ConflictError(Error):
    """Another process changed the array or holds its lock: try again."""
