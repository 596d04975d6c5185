"""The rows: the same work with both libraries."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import data
import numpy as np

Run = Callable[[Any, Path], Any]


class Row(NamedTuple):
    """A comparison. The functions take the module, and the folder of the arrays.

    TileDB-Py returns the cells of arrays with duplicates in no order, unless an order is given.
    """

    name: str
    theirs: Run
    #: `None` runs `theirs` with the module `tdb.compat`.
    ours: Run | None
    #: Reads a sparse array, whose cells have no order.
    unordered: bool = False


def same(name: str, run: Run) -> Row:
    """Returns a row of the same program with both modules."""
    return Row(name, run, run)


class Write(NamedTuple):
    """A write. The functions take the module, the path of the new array, and the cells."""

    name: str
    cells: Callable[[], Any]
    theirs: Callable[[Any, Path, Any], None]
    ours: Callable[[Any, Path, Any], None]
    unordered: bool = False


def on(name: str, read: Callable[[Any], Any]) -> Run:
    """Opens an array, and reads it."""

    def run(module: Any, folder: Path) -> Any:
        with module.open(str(folder / name)) as array:
            return read(array)

    return run


def pandas_of(*arguments: Any, **options: Any) -> Callable[[Any], Any]:
    return lambda array: array.read(*arguments, **options).to_pandas()


def numpy_of(*arguments: Any, **options: Any) -> Callable[[Any], Any]:
    return lambda array: array.read(*arguments, **options).to_numpy()


_PLACES = np.random.default_rng(8).integers(0, 480, (10_000, 2)).tolist()


def theirs_small(array: Any) -> Any:
    return sum(int(array[y : y + 12, x : x + 12]["height"][5, 5]) for y, x in _PLACES)


def ours_small(array: Any) -> Any:
    return sum(int(array[y : y + 12, x : x + 12][5, 5]) for y, x in _PLACES)


def theirs_opens(name: str, times: int) -> Run:
    def run(module: Any, folder: Path) -> Any:
        for _ in range(times):
            with module.open(str(folder / name)) as array:
                found = array.nonempty_domain()[0]
        return [int(end) for end in found]

    return run


def ours_opens(name: str, times: int) -> Run:
    def run(module: Any, folder: Path) -> Any:
        for _ in range(times):
            with module.open(folder / name) as array:
                found = array.non_empty_domain[0]
        return [int(end) for end in found]

    return run


def theirs_group(module: Any, folder: Path) -> Any:
    found: dict[str, int] = {}
    with module.Group(str(folder / "group")) as group:
        for member in group:
            with module.open(member.uri) as array:
                found[member.name] = int(array.shape[0] + array.meta["number"])
    return sorted(found.values())


def ours_group(module: Any, folder: Path) -> Any:
    found: dict[str, int] = {}
    group = module.open_group(folder / "group")
    for name in group:
        with group[name] as array:
            found[name] = array.shape[0] + array.metadata["number"]
    return sorted(found.values())


def theirs_times(array: Any) -> Any:
    # `multi_index` shows fill values instead of nulls.
    query = array.query(attrs=["symbol", "price"])
    return query.multi_index[[slice(*times) for times in _TIMES]]


_AGGREGATES = ("count", "sum", "min", "max", "mean")


def theirs_aggregates(cond: str | None) -> Callable[[Any], Any]:
    def read(array: Any) -> Any:
        found = array.query(cond=cond).agg({"z": list(_AGGREGATES)})[:]
        return [float(found[name]) for name in _AGGREGATES]

    return read


def ours_aggregates(where: str | None) -> Callable[[Any], Any]:
    def read(array: Any) -> Any:
        import tdb

        z = tdb.col("z")
        parts = (z.count(), z.sum(), z.min(), z.max(), z.mean())
        return [float(value) for value in array.read(where=where).aggregate(*parts).values()]

    return read


def ours_raster(module: Any, path: Path, cells: Any) -> None:
    sides = zip("yx", data.RASTER)
    dims = [module.Dimension(name, "int32", (0, size - 1), 256) for name, size in sides]
    attr = module.Attribute("height", "float32", filters=["zstd"])
    module.create(path, module.Schema(dims, [attr], sparse=False))[:] = cells


def ours_points(module: Any, path: Path, cells: dict[str, Any]) -> None:
    zstd, names = ["zstd"], ("z", "intensity", "kind")
    dims = [module.Dimension(name, "float64", (0, 1000), 100, filters=zstd) for name in "xy"]
    attrs = [module.Attribute(name, cells[name].dtype.name, filters=zstd) for name in names]
    schema = module.Schema(dims, attrs, sparse=True, allows_duplicates=True)
    module.create(path, schema).write(cells)


def ours_variants(module: Any, path: Path, cells: dict[str, Any]) -> None:
    zstd = ["zstd"]
    dims = [
        module.Dimension("chrom", str, filters=zstd),
        module.Dimension("pos", "uint32", (1, 250_000_000), 10_000, filters=zstd),
    ]
    attrs = [
        module.Attribute("qual", "float32", filters=zstd),
        module.Attribute("depth", "int32", filters=zstd),
        module.Attribute("alt", str, filters=zstd),
    ]
    schema = module.Schema(dims, attrs, sparse=True, allows_duplicates=True)
    module.create(path, schema).write(cells)


def ours_table(module: Any, path: Path, frame: Any) -> None:
    module.from_pandas(path, frame)


_BOX = (slice(300.0, 520.0), slice(400.0, 610.0))
_HOURS = (np.datetime64("2024-03-02T11:20", "ns"), np.datetime64("2024-03-03T15:40", "ns"))
_STARTS = np.datetime64("2024-03-01T09:00", "ns") + np.arange(200) * np.timedelta64(1500, "s")
_TIMES = [(start, start + np.timedelta64(400, "s")) for start in _STARTS]

ROWS: list[Row | Write] = [
    same("dense: all of a raster, NumPy", on("raster", lambda array: array[:])),
    same("dense: a window of a raster", on("raster", lambda array: array[411:1411, 1022:2522])),
    same("dense: one column of a raster", on("raster", lambda array: array[:, 1717])),
    same("dense: three attributes, NumPy", on("weather", lambda array: array[:])),
    Row(
        "dense: 10,000 small reads",
        on("small", theirs_small),
        on("small", ours_small),
    ),
    Row(
        "dense: a table with dates and texts, pandas",
        on("table", lambda array: array.df[:]),
        on("table", pandas_of(["id", "name", "since", "balance", "visits"])),
    ),
    Row(
        "dense: an enumeration, pandas",
        on("kinds", lambda array: array.query(attrs=["kind", "value"]).df[:]),
        on("kinds", pandas_of(["kind", "value"])),
    ),
    Row(
        "sparse: points, NumPy",
        on("points", lambda array: array[:]),
        on("points", numpy_of(order="unordered")),
        unordered=True,
    ),
    Row(
        "sparse: points in row-major order, NumPy",
        on("points", lambda array: array.query(order="C")[:]),
        on("points", numpy_of(order="row-major")),
        unordered=True,
    ),
    Row(
        "sparse: points, `df[]`",
        on("points", lambda array: array.df[:]),
        on("points", pandas_of(order="unordered")),
        unordered=True,
    ),
    Row(
        "sparse: points in a window, `multi_index[]`",
        on("points", lambda array: array.multi_index[_BOX]),
        on("points", numpy_of(ranges={"x": (300.0, 520.0), "y": (400.0, 610.0)}, order="unordered")),
        unordered=True,
    ),
    Row(
        "sparse: variants with texts, `df[]`",
        on("variants", lambda array: array.df[:]),
        on("variants", pandas_of(order="unordered")),
        unordered=True,
    ),
    Row(
        "compat: variants with texts, `df[]`",
        on("variants", lambda array: array.df[:]),
        None,
        unordered=True,
    ),
    Row(
        "sparse: trades of 200 times, `multi_index[]`",
        on("trades", theirs_times),
        on("trades", numpy_of(["time", "symbol", "price"], ranges={"time": _TIMES}, order="unordered")),
        unordered=True,
    ),
    Row(
        "compat: trades of 200 times, `multi_index[]`",
        on("trades", theirs_times),
        None,
        unordered=True,
    ),
    Row(
        "sparse: trades with nulls and dates, `df[]`",
        on("trades", lambda array: array.df[:]),
        on("trades", pandas_of(order="unordered")),
        unordered=True,
    ),
    Row(
        "compat: trades with nulls and dates, `df[]`",
        on("trades", lambda array: array.df[:]),
        None,
        unordered=True,
    ),
    Row(
        "sparse: trades of a day, `df[]`",
        on("trades", lambda array: array.df[slice(*_HOURS)]),
        on("trades", pandas_of(ranges={"time": _HOURS}, order="unordered")),
        unordered=True,
    ),
    Row(
        "filter: numbers, sparse, pandas",
        on("variants", lambda array: array.query(cond="qual > 150 and depth < 30").df[:]),
        on("variants", pandas_of(where="qual > 150 and depth < 30", order="unordered")),
        unordered=True,
    ),
    Row(
        "filter: texts, sparse, pandas",
        on("variants", lambda array: array.query(cond="alt == 'GA'").df[:]),
        on("variants", pandas_of(where="alt = 'GA'", order="unordered")),
        unordered=True,
    ),
    Row(
        "filter: dense, NumPy",
        on("weather", lambda array: array.query(cond="wind > 20", attrs=["wind"])[:]["wind"]),
        on("weather", lambda array: array.read(["wind"], where="wind > 20", fill=True).to_numpy()["wind"]),
    ),
    Row(
        "aggregates: points, all",
        on("points", theirs_aggregates(None)),
        on("points", ours_aggregates(None)),
    ),
    Row(
        "aggregates: points, filtered",
        on("points", theirs_aggregates("intensity > 3000")),
        on("points", ours_aggregates("intensity > 3000")),
    ),
    Row(
        "open: one fragment, 200 times",
        theirs_opens("one", 200),
        ours_opens("one", 200),
    ),
    Row(
        "open: 100 fragments, 10 times",
        theirs_opens("hundred", 10),
        ours_opens("hundred", 10),
    ),
    Row("open: a group of 50 arrays with metadata", theirs_group, ours_group),
    Write("write: a raster, NumPy", data.raster, data.write_raster, ours_raster),
    Write("write: points, NumPy", data.points, data.write_points, ours_points, unordered=True),
    Write("write: variants with texts", data.variants, data.write_variants, ours_variants, unordered=True),
    Write("write: a table, `from_pandas`", data.table, data.write_table, ours_table),
]
