"""Values of Python, NumPy, pandas, polars and pyarrow in writes and selections."""

from __future__ import annotations

import os
import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tdb


@pytest.fixture
def uri(tmp_path: Path) -> str:
    return str(tmp_path / "array")


def dense(uri: str, attribute: tdb.Attribute, size: int = 3, **settings: Any) -> tdb.Array:
    dimension = tdb.Dimension("d", "int64", (0, size - 1), size)
    return tdb.create(uri, tdb.Schema([dimension], [attribute], sparse=False, **settings))


def whole(array: tdb.Array) -> list[int]:
    return array[...].tolist()


def test_a_copy_has_the_changes_of_its_original(uri: str) -> None:
    array = tdb.from_numpy(uri, np.arange(5))
    assert whole(pickle.loads(pickle.dumps(array))) == [0, 1, 2, 3, 4]
    array[:] = np.arange(5) * 10
    assert whole(pickle.loads(pickle.dumps(array))) == [0, 10, 20, 30, 40]
    array[0] = 7
    assert whole(tdb.open(uri, at=array.time[1])) == [7, 10, 20, 30, 40]


def test_a_failed_refresh_is_repeated(uri: str) -> None:
    array = tdb.from_numpy(uri, np.arange(3))
    array[:] = np.arange(3) + 5
    os.rename(uri, uri + "x")
    with pytest.raises(tdb.Error):
        whole(array)
    os.rename(uri + "x", uri)
    assert whole(array) == [5, 6, 7]


def test_every_thread_reads_a_finished_write(uri: str) -> None:
    array = dense(uri, tdb.Attribute("v", "int64"))
    late: list[int] = []
    for number in range(40):
        array[:] = number
        start = threading.Barrier(4)

        def read(start: threading.Barrier = start, number: int = number) -> None:
            start.wait()
            if array[0] != number:
                late.append(number)

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert late == []
