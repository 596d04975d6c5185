"""Arrays for the tests."""

from __future__ import annotations

import signal
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

# A background job of a shell starts with Ctrl-C ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def fixture_array(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Unpacks an array of the repository, by name, once per session."""
    folder = tmp_path_factory.mktemp("fixtures")

    def unpacked(name: str) -> str:
        place = folder / name
        if not place.exists():
            source = ROOT / "fixtures" / name
            if source.is_dir():
                return str(source / "array")
            with tarfile.open(f"{source}.tar.gz") as pack:
                pack.extractall(place, filter="data")
        return str(place / "array")

    return unpacked
