"""Files. Only the local disk is supported."""

from __future__ import annotations

import io
import os
import shutil
from typing import Any

from ._engine import TileDBError
from .ctx import Config, Ctx, context


def _path(uri: Any) -> str:
    text = os.fspath(uri)
    if "://" in text and not text.startswith("file://"):
        scheme = text.partition("://")[0]
        raise NotImplementedError(
            f"{scheme}:// is not supported by VFS; arrays and groups support it"
        )
    return text.removeprefix("file://")


class VFS:
    """Files and folders."""

    def __init__(self, config: Any = None, ctx: Ctx | None = None) -> None:
        self._ctx = Ctx(config) if config is not None else context(ctx)

    def ctx(self) -> Ctx:
        """Returns the context."""
        return self._ctx

    def config(self) -> Config:
        """Returns the settings."""
        return self._ctx.config()

    def supports(self, scheme: str) -> bool:
        """Whether arrays of a scheme are supported."""
        known = {"file": True, "mem": False, "s3": True, "azure": True, "gcs": True, "hdfs": False}
        name = scheme.removesuffix("://")
        if name not in known:
            raise ValueError(f"Unsupported VFS scheme '{scheme}'")
        return known[name]

    def open(self, uri: Any, mode: str = "rb") -> FileIO:
        """Opens a file."""
        return FileIO(self, uri, mode)

    def close(self, file: Any) -> Any:
        """Closes a file."""
        file.close()
        return file

    def touch(self, uri: Any) -> None:
        """Creates an empty file."""
        with open(_path(uri), "ab"):
            pass

    def is_file(self, uri: Any) -> bool:
        """Whether a file exists."""
        return os.path.isfile(_path(uri))

    def is_dir(self, uri: Any) -> bool:
        """Whether a folder exists."""
        return os.path.isdir(_path(uri))

    def is_bucket(self, uri: Any) -> bool:
        """Whether a bucket exists."""
        _path(uri)
        raise TileDBError(f"{uri}: the local disk has no buckets")

    def create_bucket(self, uri: Any) -> None:
        """Creates a bucket."""
        self.is_bucket(uri)

    def create_dir(self, uri: Any) -> None:
        """Creates a folder."""
        os.makedirs(_path(uri), exist_ok=True)

    def remove_file(self, uri: Any) -> None:
        """Deletes a file."""
        self._do(os.remove, uri)

    def remove_dir(self, uri: Any) -> None:
        """Deletes a folder."""
        self._do(shutil.rmtree, uri)

    def _do(self, function: Any, *uris: Any) -> Any:
        try:
            return function(*(_path(uri) for uri in uris))
        except OSError as error:
            raise TileDBError(f"{uris[0]}: {error}") from error

    def move_file(self, old_uri: Any, new_uri: Any) -> None:
        """Moves a file."""
        self._do(os.replace, old_uri, new_uri)

    def move_dir(self, old_uri: Any, new_uri: Any) -> None:
        """Moves a folder."""
        self._do(os.replace, old_uri, new_uri)

    def copy_file(self, old_uri: Any, new_uri: Any) -> None:
        """Copies a file."""
        self._do(shutil.copyfile, old_uri, new_uri)

    def copy_dir(self, old_uri: Any, new_uri: Any) -> None:
        """Copies a folder."""
        self._do(shutil.copytree, old_uri, new_uri)

    def file_size(self, uri: Any) -> int:
        """Returns the bytes of a file."""
        return self._do(os.path.getsize, uri)

    def dir_size(self, uri: Any) -> int:
        """Returns the bytes of the files below a folder."""
        return sum(
            os.path.getsize(os.path.join(folder, name))
            for folder, _, names in os.walk(_path(uri))
            for name in names
        )

    def ls(self, uri: Any, recursive: bool = False) -> list[str]:
        """Lists a folder."""
        path = _path(uri)
        if not os.path.isdir(path):
            return []
        base = os.path.abspath(path)
        if not recursive:
            return [f"file://{base}/{name}" for name in sorted(os.listdir(base))]
        found: list[str] = []
        for folder, folders, names in os.walk(base):
            found += [f"file://{folder}/{name}" for name in [*folders, *names]]
        return sorted(found)

    def ls_recursive(self, uri: Any, callback: Any = None) -> Any:
        """Lists all files and folders below a folder, with their sizes."""
        base = os.path.abspath(_path(uri))
        found: list[tuple[str, int]] = []
        for folder, folders, names in os.walk(base):
            found += [(f"file://{folder}/{name}", 0) for name in folders]
            found += [
                (f"file://{folder}/{name}", os.path.getsize(os.path.join(folder, name)))
                for name in names
            ]
        found.sort()
        if callback is None:
            return found
        for path, size in found:
            if callback(path, size) is False:
                break
        return None


class FileIO(io.RawIOBase):
    """A file."""

    def __init__(self, vfs: VFS, uri: Any, mode: str = "rb") -> None:
        super().__init__()
        binary = mode if "b" in mode else mode + "b"
        if binary not in ("rb", "wb", "ab"):
            raise ValueError(f"invalid mode {mode!r}")
        self._vfs = vfs
        self._uri = uri
        self._mode = binary
        try:
            self._file: Any = open(_path(uri), binary)
        except OSError as error:
            raise TileDBError(f"{uri}: {error}") from error

    @property
    def mode(self) -> str:
        """The mode."""
        return self._mode

    def readable(self) -> bool:
        return self._mode == "rb"

    def writable(self) -> bool:
        return self._mode != "rb"

    def seekable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self._file.read(size)

    def readall(self) -> bytes:
        return self._file.read()

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def write(self, data: Any) -> int:
        if not self.writable():
            raise OSError("cannot write to a file opened for reading")
        return self._file.write(data.encode() if isinstance(data, str) else data)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def flush(self) -> None:
        if not self.closed and not self._file.closed:
            self._file.flush()

    def __len__(self) -> int:
        self.flush()
        return os.path.getsize(_path(self._uri))

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()
