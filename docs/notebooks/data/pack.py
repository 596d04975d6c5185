"""Packs the folder of an array or group, for the scripts in this folder."""

from __future__ import annotations

import gzip
import tarfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def pack(folder: Path) -> None:
    """Writes `FOLDER.tar.gz` next to this file, without times and owners of files."""

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.mtime = entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        return entry

    target = HERE / f"{folder.name}.tar.gz"
    with (
        gzip.GzipFile(target, "wb", 9, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as files,
    ):
        for path in [folder, *sorted(folder.rglob("*"))]:
            name = Path(folder.name) / path.relative_to(folder)
            files.add(path, str(name), recursive=False, filter=plain)
    print(f"{target.name}: {target.stat().st_size} bytes")
