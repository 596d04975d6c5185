"""Arrays on an S3 server, with explicit options."""

from __future__ import annotations

import pickle
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import tdb


@pytest.fixture(scope="module")
def server() -> Iterator[dict[str, str]]:
    """Starts an S3 server with the bucket ``arrays``, and returns the options for it."""
    pytest.importorskip("moto.server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-W", "ignore", "-m", "moto.server", "-p", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                request = urllib.request.Request(f"{url}/arrays", method="PUT")
                urllib.request.urlopen(request).close()
                break
            except OSError:
                time.sleep(0.1)
        yield {"key": "a", "secret": "b", "endpoint_url": url, "region": "us-east-1"}
    finally:
        process.kill()
        process.wait()


def test_arrays_on_a_store(server: dict[str, str], tmp_path: Path) -> None:
    values = np.arange(1000.0).reshape(10, 100)
    array = tdb.from_numpy("s3://arrays/folder/one", values, storage_options=server)
    np.testing.assert_array_equal(array[...], values)
    array[0] = 5
    array.metadata["title"] = "x"
    copied = pickle.loads(pickle.dumps(tdb.open(array.uri, storage_options=server)))
    assert copied[0, 0] == 5 and copied.metadata["title"] == "x"
    assert len(tdb.consolidate(array.uri, storage_options=server).steps) == 1
    assert not tdb.vacuum(array, "all").left
    assert tdb.verify(array).is_sound
    tdb.copy("s3://arrays/folder/one", "s3://arrays/folder/two", storage_options=server)
    assert tdb.object_type("s3://arrays/folder/two", storage_options=server) == "array"
    assert tdb.open("s3://arrays/folder/two", storage_options=server)[0, 0] == 5
    tdb.remove("s3://arrays/folder/two", storage_options=server)
    with pytest.raises(tdb.NotFoundError):
        tdb.open("s3://arrays/folder/two", storage_options=server)


def test_groups_on_a_store(server: dict[str, str]) -> None:
    group = tdb.create_group("s3://arrays/group", storage_options=server)
    tdb.from_numpy("s3://arrays/group/inner", np.arange(5), storage_options=server)
    group.add("inner")
    inner = tdb.open_group("s3://arrays/group", storage_options=server)["inner"]
    assert isinstance(inner, tdb.Array) and inner[...].tolist() == [0, 1, 2, 3, 4]


def test_unknown_schemes_and_options_are_refused() -> None:
    with pytest.raises(tdb.UsageError, match="not a known scheme"):
        tdb.open("s4://bucket/array")
    with pytest.raises(tdb.UsageError, match="unknown option .endpoint_urls."):
        tdb.open("s3://bucket/array", storage_options={"endpoint_urls": "x"})
    with pytest.raises(tdb.UsageError, match="takes no options"):
        tdb.open("http://127.0.0.1:9/array", storage_options={"key": "x"})
