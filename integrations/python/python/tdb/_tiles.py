"""Batches of cells in random order."""

from __future__ import annotations

from collections.abc import Iterator, MutableSequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._errors import UsageError
from ._native import Query
from ._plain import plain
from ._pushdown import replaced
from ._read import Read

#: The largest number of parts of a read of cells. More parts shuffle better, and plan longer.
MOST_PARTS = 1024


class TileBatches:
    """The samples of a read in batches, shuffled by tile.

    A read of one subarray of a dense array has a sample per coordinate of its first dimension,
    other reads have a sample per cell. Each epoch puts the tiles in a random order, distributes
    them among shards, and mixes the samples of ``mixed`` tiles at a time.
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
    ) -> None:
        if batch_size < 1 or mixed < 1:
            raise UsageError("batch_size and mixed are at least 1")
        if read._spec.limit is not None:
            raise UsageError("a read with a limit has no tiles")
        self._read = read
        self._batch_size = batch_size
        self._shuffle = shuffle
        self._seed = seed
        self._mixed = mixed
        self._drop_last = drop_last
        self._epoch: MutableSequence[int] = [0]
        #: Ranges of the first dimension, or parts of a query.
        self._units: list[tuple[int, int]] | list[bytes]
        self._units = _slices(read) or _parts(read)

    def set_epoch(self, epoch: int) -> None:
        """Selects the random order of an epoch."""
        self._epoch[0] = epoch

    def batches(self, shard: int = 0, shards: int = 1) -> Iterator[dict[str, npt.NDArray[Any]]]:
        """Iterates over the batches of a shard. Each sample is in one shard of an epoch."""
        epoch = int(self._epoch[0])
        places: Any = np.arange(len(self._units))
        if self._shuffle:
            np.random.default_rng((self._seed, epoch)).shuffle(places)
        mine: list[int] = places[shard::shards].tolist()
        random = np.random.default_rng((self._seed, epoch, shard)) if self._shuffle else None
        rest: dict[str, npt.NDArray[Any]] = {}
        query: Query | None = None
        if isinstance(self._units[0], bytes):
            query = self._read._query(table=True)
        for start in range(0, len(mine), self._mixed):
            tiles = [
                self._tile(query, self._units[place]) for place in mine[start : start + self._mixed]
            ]
            samples = {
                name: np.concatenate(
                    [*([rest[name]] if rest else []), *(tile[name] for tile in tiles)]
                )
                for name in tiles[0]
            }
            count = len(next(iter(samples.values())))
            order = np.arange(count) if random is None else random.permutation(count)
            whole = count - count % self._batch_size
            for first in range(0, whole, self._batch_size):
                chosen = order[first : first + self._batch_size]
                yield {name: values[chosen] for name, values in samples.items()}
            rest = {name: values[order[whole:]] for name, values in samples.items()}
        if rest and not self._drop_last and len(next(iter(rest.values()))):
            yield rest

    def _tile(
        self, query: Query | None, unit: tuple[int, int] | bytes
    ) -> dict[str, npt.NDArray[Any]]:
        read = self._read
        if isinstance(unit, bytes):
            assert query is not None
            columns = query.part(unit).columns()
            return {column.name: plain(read._numpy(column, column.name)) for column in columns}
        owner, spec = read._owner, read._spec
        ranges = {**(spec.ranges or {}), owner.dimension_names[0]: unit}
        cells = replaced(read, ranges=ranges).to_numpy()
        return {name: plain(values) for name, values in cells.items()}


def _slices(read: Read) -> list[tuple[int, int]]:
    """Returns the tiles of the first dimension, if the read is one subarray of a dense array."""
    if read._shape is None:
        return []
    array, spec = read._owner, read._spec
    dimension = array.schema.dimensions[0]
    ends = array.domain[0]
    assert ends is not None and dimension.domain is not None
    given = (spec.ranges or {}).get(dimension.name)
    if given is not None:
        ((first, last),) = array._ends(dimension.name, given)
        ends = (ends[0] if first is None else first, ends[1] if last is None else last)
        if not all(isinstance(end, int) for end in ends):
            raise UsageError(
                f"dimension {dimension.name!r}: give its range as integers", field=dimension.name
            )
    first, last = ends
    tile = dimension.tile or last - first + 1
    start = first - (first - dimension.domain[0]) % tile
    return [(max(low, first), min(low + tile - 1, last)) for low in range(start, last + 1, tile)]


def _parts(read: Read) -> list[bytes]:
    return read._query(table=True).split(min(max(read.plan().tiles, 1), MOST_PARTS))
