"""Arrays as data sets of PyTorch.

>>> import tdb.torch
>>> data = tdb.torch.Dataset(tdb.open("path/to/array").read(["x", "y"]), batch_size=64)  # doctest: +SKIP
>>> loader = torch.utils.data.DataLoader(data, batch_size=None, num_workers=2)           # doctest: +SKIP
"""

# The environment of the type checker has no PyTorch.
# pyright: reportMissingImports=false, reportUntypedBaseClass=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import distributed
from torch.utils.data import IterableDataset, get_worker_info

from ._read import Read
from ._tiles import TileBatches

__all__ = ["Dataset"]


class Dataset(TileBatches, IterableDataset[dict[str, Any]]):
    """Batches of a read, shuffled by tile: pass ``batch_size=None`` to the ``DataLoader``.

    The data set is iterable, because a random access to a cell decodes its whole tile. Each batch
    is a dictionary of tensors; texts and bytes are lists. ``mixed`` tiles are in memory at a time.
    :meth:`set_epoch` selects another order, also while workers run. Each sample is in one batch of
    one worker of one rank. ``rank`` and ``world_size`` are by default those of the process group.
    """

    def __init__(
        self,
        read: Read,
        *,
        batch_size: int = 256,
        shuffle: bool = True,
        seed: int = 0,
        mixed: int = 16,
        drop_last: bool = False,
        rank: int | None = None,
        world_size: int | None = None,
    ) -> None:
        super().__init__(
            read,
            batch_size=batch_size,
            shuffle=shuffle,
            seed=seed,
            mixed=mixed,
            drop_last=drop_last,
        )
        grouped = distributed.is_available() and distributed.is_initialized()
        self._rank = (distributed.get_rank() if grouped else 0) if rank is None else rank
        self._world_size = (
            (distributed.get_world_size() if grouped else 1) if world_size is None else world_size
        )
        # Workers that persist see the epochs of this process.
        self._epoch = cast(Any, torch.zeros(1, dtype=torch.int64).share_memory_())

    def __iter__(self) -> Iterator[dict[str, Any]]:
        worker = get_worker_info()
        place, workers = (0, 1) if worker is None else (worker.id, worker.num_workers)
        shard, shards = self._rank * workers + place, self._world_size * workers
        for batch in self.batches(shard, shards):
            yield {name: _tensor(values) for name, values in batch.items()}


def _tensor(values: npt.NDArray[Any]) -> Any:
    if values.dtype.kind in "OSV":
        return values.tolist()
    return torch.from_numpy(values.view(np.int64) if values.dtype.kind in "Mm" else values)
