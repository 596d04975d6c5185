"""Data sets of PyTorch."""

from __future__ import annotations

import doctest
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
import tdb
import tdb.torch
import torch
from test_neighbors_page import examples
from test_tiles import CELLS, ROWS, points, samples
from torch.utils.data import DataLoader

__all__ = ["points", "samples"]


def test_batches_are_tensors(samples: str, points: str) -> None:
    batch = next(iter(tdb.torch.Dataset(tdb.open(samples).read(), batch_size=8)))
    assert batch["x"].dtype == torch.float32 and batch["x"].shape == (8, 6)
    batch = next(iter(tdb.torch.Dataset(tdb.open(points).read(), batch_size=8)))
    assert batch["day"].dtype == torch.int64 and torch.equal(batch["day"], batch["n"])
    assert batch["name"] == [f"t{number}" for number in batch["n"].tolist()]
    assert torch.equal(torch.isnan(batch["depth"]), batch["n"] % 3 == 0)


def test_ranks_share_the_samples(points: str) -> None:
    read = tdb.open(points).read(["n"])
    seen: list[int] = []
    for rank in range(3):
        data = tdb.torch.Dataset(read, rank=rank, world_size=3)
        seen += [number for batch in data for number in batch["n"].tolist()]
    assert sorted(seen) == list(range(CELLS))


def test_copies_share_the_order(points: str) -> None:
    data = tdb.torch.Dataset(tdb.open(points).read(["n"]), seed=3)
    data.set_epoch(2)
    copy = pickle.loads(pickle.dumps(data))
    assert all(torch.equal(one["n"], other["n"]) for one, other in zip(data, copy, strict=True))


SCRIPT = """
import sys
import tdb, tdb.torch
from torch.utils.data import DataLoader

if __name__ == "__main__":
    method, workers, persistent, *uris = sys.argv[1:]
    for uri in uris:
        array = tdb.open(uri)
        array.read(["n"]).to_numpy()  # starts the threads of the array
        data = tdb.torch.Dataset(array.read(["n"]), batch_size=32, seed=7)
        loader = DataLoader(
            data,
            batch_size=None,
            num_workers=int(workers),
            multiprocessing_context=method,
            persistent_workers=persistent == "True",
        )
        for epoch in (0, 1, 0):
            data.set_epoch(epoch)
            rows = [number for batch in loader for number in batch["n"].reshape(len(batch["n"]), -1)[:, 0].tolist()]
            print(*rows)
"""


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_share_the_samples(
    samples: str, points: str, method: str, persistent: bool, tmp_path: Path
) -> None:
    # In a fresh interpreter, because TileDB-Py warns of every fork.
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, script, method, "2", str(persistent), samples, points]
    lines = subprocess.check_output(command, text=True, timeout=300).splitlines()
    epochs = [[int(number) for number in line.split()] for line in lines]
    for (first, second, again), count, step in ((epochs[:3], ROWS, 6), (epochs[3:], CELLS, 1)):
        assert sorted(first) == sorted(second) == list(range(0, count * step, step))
        assert first == again and first != second


def test_doctests() -> None:
    assert doctest.testmod(tdb.torch).failed == 0


def test_the_example_runs(tmp_path: Path) -> None:
    create, example = examples()[0], examples()[-1]
    script = f"{create}\nif __name__ == '__main__':\n{textwrap.indent(example, '    ')}    print(*shapes, sep='\\n')\n"
    (tmp_path / "script.py").write_text(script)
    shown = subprocess.check_output(
        [sys.executable, "script.py"], text=True, timeout=300, cwd=tmp_path
    )
    assert shown.splitlines().count("torch.Size([64, 1000])") == 14


def test_a_model_learns(samples: str) -> None:
    read = tdb.open(samples).read(["x", "n"], ranges={"value": (0, 1)})
    data = tdb.torch.Dataset(read, batch_size=64)
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    losses: list[float] = []
    for epoch in range(12):
        data.set_epoch(epoch)
        for batch in DataLoader(data, batch_size=None):
            inputs = batch["x"] / (ROWS * 6)
            loss = ((model(inputs) - inputs.sum(1, keepdim=True)) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    assert np.mean(losses[-10:]) < losses[0] / 10
