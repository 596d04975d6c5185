"""The cells of the arrays, and the arrays of TileDB-Py.

No shape or number of rows is a multiple of a tile, and rows are in no particular order.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

RASTER = (2700, 3800)
WEATHER = (290, 91, 180)
VARIANTS = 400_000
POINTS = 900_000
TRADES = 350_000
TABLE = 300_000
MEMBERS = 50


def raster() -> Any:
    """Returns the heights of a landscape in decimeters."""
    random = np.random.default_rng(1)
    heights = np.cumsum(random.normal(0, 1, RASTER), axis=0)
    heights += np.cumsum(random.normal(0, 1, RASTER), axis=1)
    return np.round(heights * 10).astype(np.float32) / np.float32(10)


def weather() -> dict[str, Any]:
    """Returns temperatures, pressures and wind, by day and place."""
    random = np.random.default_rng(2)
    days = np.sin(np.arange(WEATHER[0]) / 58)[:, None, None]
    places = random.normal(0, 8, WEATHER[1:])[None]
    temperature = np.round(days * 12 + places + random.normal(0, 2, WEATHER), 1)
    pressure = np.round(1013 + random.normal(0, 9, WEATHER), 2)
    return {
        "temperature": temperature.astype(np.float32),
        "pressure": pressure.astype(np.float32),
        "wind": random.gamma(2, 3, WEATHER).astype(np.int16),
    }


def variants() -> dict[str, Any]:
    """Returns genetic variants."""
    random = np.random.default_rng(3)
    chroms = np.array([f"chr{number}" for number in [*range(1, 23), "X", "Y"]], "S")
    lengths = np.minimum(random.geometric(0.7, VARIANTS), 30)
    bases = "".join(random.choice(list("ACGT"), 60))
    starts = random.integers(0, 30, VARIANTS)
    alt = [bases[start : start + size] for start, size in zip(starts, lengths)]
    return {
        "chrom": chroms[np.minimum(random.geometric(0.09, VARIANTS) - 1, 23)],
        "pos": random.integers(1, 240_000_000, VARIANTS, dtype=np.uint32),
        "qual": random.gamma(3, 20, VARIANTS).astype(np.float32),
        "depth": random.poisson(32, VARIANTS).astype(np.int32),
        "alt": np.array(alt, object),
    }


def points() -> dict[str, Any]:
    """Returns the points of a laser scanner."""
    random = np.random.default_rng(4)
    x, y = random.normal(500, 160, POINTS), random.normal(500, 110, POINTS)
    z = np.hypot(x - 500, y - 500) / 9 + random.normal(0, 0.2, POINTS)
    return {
        "x": np.clip(x, 0, 1000),
        "y": np.clip(y, 0, 1000),
        "z": z.astype(np.float32),
        "intensity": random.integers(0, 4000, POINTS, dtype=np.uint16),
        "kind": random.choice(np.arange(9, dtype=np.uint8), POINTS),
    }


def trades() -> dict[str, Any]:
    """Returns trades. Some have no size, and some no venue."""
    random = np.random.default_rng(5)
    gaps = random.exponential(9e8, TRADES).astype(np.int64)
    symbols = ["".join(random.choice(list("ABCDEFGHIJ"), size)) for size in [3, 4] * 40]
    size = pd.Series(random.geometric(0.01, TRADES), dtype="Int64")
    size[random.random(TRADES) < 0.1] = pd.NA
    venue = random.choice(np.array(["XNAS", "XNYS", "BATS", "ARCX"], object), TRADES)
    venue[random.random(TRADES) < 0.2] = None
    return {
        "time": np.datetime64("2024-03-01T08:00:00", "ns") + np.cumsum(gaps),
        "symbol": random.choice(np.array(symbols, object), TRADES),
        "price": np.round(np.exp(random.normal(4, 0.4, TRADES)), 2),
        "size": size,
        "venue": pd.Series(venue, dtype=object),
    }


def table() -> pd.DataFrame:
    """Returns a table of customers."""
    random = np.random.default_rng(6)
    names = [f"{first} {last}" for first in "Ada Bo Cy Di Ed".split() for last in "Ng Roe Wu".split()]
    return pd.DataFrame(
        {
            "id": random.permutation(TABLE) + 1_000_000,
            "name": random.choice(np.array(names, object), TABLE),
            "since": np.datetime64("2015-01-01", "ns") + random.integers(0, 3 * 10**17, TABLE),
            "balance": np.round(random.normal(1500, 900, TABLE), 2),
            "visits": random.poisson(12, TABLE).astype(np.int32),
        }
    )


def write_raster(tiledb: Any, path: Path, cells: Any) -> None:
    dims = [tiledb.Dim(name, (0, size - 1), 256, dtype=np.int32) for name, size in zip("yx", RASTER)]
    attr = tiledb.Attr("height", dtype=np.float32, filters=[tiledb.ZstdFilter()])
    tiledb.Array.create(str(path), tiledb.ArraySchema(tiledb.Domain(*dims), [attr]))
    with tiledb.open(str(path), "w") as array:
        array[:] = cells


def write_points(tiledb: Any, path: Path, cells: dict[str, Any]) -> None:
    zstd = [tiledb.ZstdFilter()]
    names = ("z", "intensity", "kind")
    dims = [tiledb.Dim(name, (0, 1000), 100, dtype=np.float64, filters=zstd) for name in "xy"]
    attrs = [tiledb.Attr(name, dtype=cells[name].dtype, filters=zstd) for name in names]
    domain = tiledb.Domain(*dims)
    schema = tiledb.ArraySchema(domain, attrs, sparse=True, allows_duplicates=True)
    tiledb.Array.create(str(path), schema)
    with tiledb.open(str(path), "w") as array:
        array[cells["x"], cells["y"]] = {name: cells[name] for name in names}


def write_variants(tiledb: Any, path: Path, cells: dict[str, Any]) -> None:
    zstd = [tiledb.ZstdFilter()]
    domain = tiledb.Domain(
        tiledb.Dim("chrom", (None, None), None, dtype="ascii", filters=zstd),
        tiledb.Dim("pos", (1, 250_000_000), 10_000, dtype=np.uint32, filters=zstd),
    )
    attrs = [
        tiledb.Attr("qual", dtype=np.float32, filters=zstd),
        tiledb.Attr("depth", dtype=np.int32, filters=zstd),
        tiledb.Attr("alt", dtype=str, var=True, filters=zstd),
    ]
    schema = tiledb.ArraySchema(domain, attrs, sparse=True, allows_duplicates=True)
    tiledb.Array.create(str(path), schema)
    with tiledb.open(str(path), "w") as array:
        array[cells["chrom"], cells["pos"]] = {name: cells[name] for name in ("qual", "depth", "alt")}


def write_table(tiledb: Any, path: Path, frame: pd.DataFrame) -> None:
    zstd = [tiledb.ZstdFilter()]
    tiledb.from_pandas(str(path), frame, attr_filters=zstd, dim_filters=zstd, tile=20_000)


def create(folder: Path) -> None:
    """Writes all arrays."""
    import tiledb

    zstd = [tiledb.ZstdFilter()]
    random = np.random.default_rng(7)
    write_raster(tiledb, folder / "raster", raster())
    write_points(tiledb, folder / "points", points())
    write_variants(tiledb, folder / "variants", variants())
    write_table(tiledb, folder / "table", table())

    def written(name: str, schema: Any, *cells: Any) -> None:
        tiledb.Array.create(str(folder / name), schema)
        for part in cells:
            with tiledb.open(str(folder / name), "w") as array:
                place, values = part if isinstance(part, tuple) else (slice(None), part)
                array[place] = values

    dims = [tiledb.Dim(name, (0, 499), 60, dtype=np.int32) for name in "yx"]
    attr = tiledb.Attr("height", dtype=np.int16, filters=zstd)
    small = (raster()[:500, :500] * 10).astype(np.int16)
    written("small", tiledb.ArraySchema(tiledb.Domain(*dims), [attr]), small)

    cells = weather()
    sides = zip(("day", "lat", "lon"), WEATHER, (30, 91, 180))
    dims = [tiledb.Dim(name, (0, size - 1), tile, dtype=np.uint32) for name, size, tile in sides]
    attrs = [tiledb.Attr(name, dtype=part.dtype, filters=zstd) for name, part in cells.items()]
    written("weather", tiledb.ArraySchema(tiledb.Domain(*dims), attrs), cells)

    cells = trades()
    times = cells.pop("time")
    hour = np.timedelta64(3600 * 10**9, "ns")
    dim = tiledb.Dim("time", (times[0], times[-1]), hour, dtype="datetime64[ns]", filters=zstd)
    attrs = [
        tiledb.Attr("symbol", dtype=str, var=True, filters=zstd),
        tiledb.Attr("price", dtype=np.float64, filters=zstd),
        tiledb.Attr("size", dtype=np.int64, nullable=True, filters=zstd),
        tiledb.Attr("venue", dtype=str, var=True, nullable=True, filters=zstd),
    ]
    domain = tiledb.Domain(dim)
    schema = tiledb.ArraySchema(domain, attrs, sparse=True, allows_duplicates=True)
    written("trades", schema, (times, cells))

    kinds = tiledb.Enumeration("kinds", False, [f"kind {number}" for number in range(40)])
    dim = tiledb.Dim("row", (0, TABLE - 1), 20_000, dtype=np.uint64)
    attrs = [
        tiledb.Attr("kind", dtype=np.int8, enum_label="kinds", filters=zstd),
        tiledb.Attr("value", dtype=np.float64, filters=zstd),
    ]
    kind = np.minimum(random.geometric(0.1, TABLE) - 1, 39).astype(np.int8)
    schema = tiledb.ArraySchema(tiledb.Domain(dim), attrs, enums=[kinds])
    written("kinds", schema, {"kind": kind, "value": random.random(TABLE)})

    dim = tiledb.Dim("id", (0, 10**9), 10**6, dtype=np.int64, filters=zstd)
    attr = tiledb.Attr("value", dtype=np.float64, filters=zstd)
    schema = tiledb.ArraySchema(tiledb.Domain(dim), [attr], sparse=True)
    for name, fragments in (("one", 1), ("hundred", 100)):
        ids = [np.unique(random.integers(0, 10**9, 1500)) for _ in range(fragments)]
        written(name, schema, *((part, random.random(len(part))) for part in ids))

    group = str(folder / "group")
    tiledb.Group.create(group)
    with tiledb.Group(group, "w") as members:
        for number in range(MEMBERS):
            name = f"member-{number}"
            values = np.arange(number * 40 + 60) * 0.5
            tiledb.from_numpy(f"{group}/{name}", values).close()
            with tiledb.open(f"{group}/{name}", "w") as array:
                array.meta["number"] = number
            members.add(name, name, relative=True)
