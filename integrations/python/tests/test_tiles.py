"""Batches of cells in random order, without PyTorch."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
import tdb
import tiledb
from tdb._tiles import TileBatches

ROWS, CELLS = 1003, 5000


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A dense array of 1003 samples with 6 values each in 32 tiles of rows, written by TileDB-Py."""
    uri = str(tmp_path_factory.mktemp("samples") / "array")
    domain = tiledb.Domain(
        tiledb.Dim("sample", domain=(5, ROWS + 4), tile=32, dtype=np.int32),
        tiledb.Dim("value", domain=(0, 5), tile=4, dtype=np.int32),
    )
    schema = tiledb.ArraySchema(
        domain, [tiledb.Attr("x", dtype=np.float32), tiledb.Attr("n", dtype=np.int64)]
    )
    tiledb.Array.create(uri, schema)
    numbers = np.arange(ROWS * 6).reshape(ROWS, 6)
    with tiledb.open(uri, "w") as array:
        array[:] = {"x": numbers.astype(np.float32), "n": numbers}
    return uri


@pytest.fixture(scope="session")
def points(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A sparse array of 5000 cells in 50 tiles, in two fragments, written by TileDB-Py."""
    uri = str(tmp_path_factory.mktemp("points") / "array")
    domain = tiledb.Domain(tiledb.Dim("pos", domain=(0, 10**6), tile=1000, dtype=np.uint32))
    attributes = [
        tiledb.Attr("n", dtype=np.int64),
        tiledb.Attr("name", dtype="U", var=True),
        tiledb.Attr("day", dtype="datetime64[D]"),
        tiledb.Attr("depth", dtype=np.int16, nullable=True),
    ]
    tiledb.Array.create(uri, tiledb.ArraySchema(domain, attributes, sparse=True, capacity=100))
    places = np.arange(CELLS)
    for mine in (places[::2], places[1::2]):
        with tiledb.open(uri, "w") as array:
            array[mine * 7] = {
                "n": mine,
                "name": np.array([f"t{place}" for place in mine]),
                "day": mine.astype("datetime64[D]"),
                "depth": pd.arrays.IntegerArray((mine % 100).astype(np.int16), mine % 3 == 0),
            }
    return uri


def numbers(batches: list[dict[str, npt.NDArray[Any]]]) -> npt.NDArray[np.int64]:
    """Returns the first number of each sample."""
    return np.concatenate([batch["n"].reshape(len(batch["n"]), -1)[:, 0] for batch in batches])


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("shards", [1, 3, 8, 100])
def test_each_sample_is_in_one_batch_of_one_shard(
    samples: str, points: str, shards: int, shuffle: bool
) -> None:
    for read, count, step in (
        (tdb.open(samples).read(), ROWS, 6),
        (tdb.open(points).read(["n"]), CELLS, 1),
    ):
        data = TileBatches(read, batch_size=50, shuffle=shuffle, mixed=4)
        found = [list(data.batches(shard, shards)) for shard in range(shards)]
        seen = numbers([batch for batches in found for batch in batches])
        np.testing.assert_array_equal(np.sort(seen), np.arange(count) * step)
        for batches in found:
            assert all(len(batch["n"]) == 50 for batch in batches[:-1])


def test_samples_keep_their_columns_together(samples: str, points: str) -> None:
    for batch in TileBatches(tdb.open(samples).read(), batch_size=64).batches():
        assert batch["x"].shape[1:] == (6,) and batch["x"].dtype == np.float32
        np.testing.assert_array_equal(batch["x"], batch["n"])
        np.testing.assert_array_equal(batch["n"], batch["n"][:, :1] + np.arange(6))
    for batch in TileBatches(tdb.open(points).read()).batches():
        np.testing.assert_array_equal(batch["pos"], batch["n"] * 7)
        np.testing.assert_array_equal(batch["day"], batch["n"].astype("datetime64[D]"))
        assert batch["name"].tolist() == [f"t{number}" for number in batch["n"]]
        np.testing.assert_array_equal(np.isnan(batch["depth"]), batch["n"] % 3 == 0)


def test_the_order_depends_on_seed_and_epoch_alone(samples: str, points: str) -> None:
    for read in (tdb.open(samples).read(["n"]), tdb.open(points).read(["n"])):

        def order(seed: int, epoch: int, read: tdb.Read = read) -> list[int]:
            data = TileBatches(read, seed=seed)
            data.set_epoch(epoch)
            return numbers(list(data.batches(1, 2))).tolist()

        first = order(1, 0)
        assert first == order(1, 0)
        assert first != order(2, 0) and first != order(1, 1)
        assert order(1, 5) == order(1, 5)


def test_each_epoch_mixes_the_samples_of_a_tile_anew(samples: str) -> None:
    data = TileBatches(tdb.open(samples).read(["n"], ranges={"sample": (5, 36)}))
    orders: list[list[int]] = []
    for epoch in (0, 1):
        data.set_epoch(epoch)
        orders.append(numbers(list(data.batches())).tolist())
    assert orders[0] != orders[1] and sorted(orders[0]) == sorted(orders[1])


def test_samples_are_mixed_across_tiles(samples: str) -> None:
    data = TileBatches(tdb.open(samples).read(["n"]), batch_size=32, mixed=16)
    for batch in list(data.batches())[:-1]:
        tiles = set((batch["n"][:, 0] // 6 // 32).tolist())
        assert 5 < len(tiles) <= 17


def test_without_shuffle_the_order_is_that_of_the_array(samples: str) -> None:
    data = TileBatches(tdb.open(samples).read(["n"]), batch_size=100, shuffle=False, mixed=3)
    assert numbers(list(data.batches())).tolist() == list(range(0, ROWS * 6, 6))


def test_a_read_selects_the_samples(samples: str, points: str) -> None:
    read = tdb.open(samples).read(["n"], ranges={"sample": (20, 99), "value": (2, 3)})
    batches = list(TileBatches(read, batch_size=1000).batches())
    assert [batch["n"].shape for batch in batches] == [(80, 2)]
    assert np.sort(numbers(batches)).tolist() == list(range(15 * 6 + 2, 95 * 6 + 2, 6))
    read = tdb.open(points).read(["n"], ranges={"pos": (0, 7000)}, where="n < 600")
    assert np.sort(numbers(list(TileBatches(read).batches()))).tolist() == list(range(600))
    # The matching cells of a dense array are samples.
    read = tdb.open(samples).read(["n"], where="n < 100")
    assert np.sort(numbers(list(TileBatches(read).batches()))).tolist() == list(range(100))
    assert list(TileBatches(tdb.open(points).read(["n"], where="n < 0")).batches()) == []


def test_the_last_batch_may_be_dropped(samples: str) -> None:
    data = TileBatches(tdb.open(samples).read(["n"]), batch_size=100, drop_last=True)
    assert [len(batch["n"]) for batch in data.batches()] == [100] * 10


def test_later_writes_change_no_copy(points: str, tmp_path: Path) -> None:
    uri = str(tmp_path / "array")
    shutil.copytree(points, uri)
    data = TileBatches(tdb.open(uri).read(["n"]))
    copy = pickle.loads(pickle.dumps(data))
    with tiledb.open(uri, "w") as array:
        columns = {"n": [-1], "name": np.array(["x"]), "day": np.array([0], "datetime64[D]")}
        array[[0]] = {**columns, "depth": pd.array([1], dtype="Int16")}
    assert np.sort(numbers(list(copy.batches()))).tolist() == list(range(CELLS))


def test_wrong_requests_are_errors(samples: str, points: str) -> None:
    with pytest.raises(tdb.UsageError, match="batch_size"):
        TileBatches(tdb.open(points).read(), batch_size=0)
    with pytest.raises(tdb.UsageError, match="limit"):
        TileBatches(tdb.open(points).read(limit=5))
