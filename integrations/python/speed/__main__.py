"""Compares the speed and the memory of `tdb` and of TileDB-Py: `cargo xtask speed python`.

Each row runs in two processes, one per library. They run alternately, open the array again for each
run, and must return equal results. TileDB-Py writes the arrays that both read.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import data
import numpy as np
import pandas as pd
from rows import ROWS, Row, Write

#: Both libraries write to memory, because only `tdb` waits until the files are durable.
MEMORY = Path("/dev/shm")

#: A row ends after this number of seconds, or after `--repeats` runs.
SECONDS = 6.0

#: The goals for the geometric means of the ratios of time and of memory.
FASTER, SMALLER = 3.0, 3.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="cargo xtask speed python")
    parser.add_argument("--only", default="", help="run only rows whose names contain this text")
    parser.add_argument("--repeats", type=int, default=7, help="runs per row and library (default 7)")
    parser.add_argument("--arrays", type=Path, help="folder of the arrays, created if missing")
    parser.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work is not None:
        library, name = arguments.work
        work(library, next(row for row in ROWS if row.name == name), arguments.arrays)
        return 0
    rows = [row for row in ROWS if arguments.only in row.name]
    if not rows:
        parser.error(f"no name of a row contains {arguments.only!r}")
    with tempfile.TemporaryDirectory(prefix="tdb-speed-") as scratch:
        folder = arguments.arrays or Path(scratch) / "arrays"
        if not folder.exists():
            data.create(folder)
        return table([measured(row, folder, arguments.repeats) for row in rows])


class Side(NamedTuple):
    """The median times in seconds, and the peak memory in bytes, of a library."""

    clock: float
    cpu: float
    memory: int


class Measured(NamedTuple):
    """The measurements of a row."""

    name: str
    ours: Side
    theirs: Side
    #: The difference of the results, or an empty text.
    difference: str

    @property
    def faster(self) -> float:
        return self.theirs.clock / self.ours.clock

    @property
    def cheaper(self) -> float:
        return self.theirs.cpu / self.ours.cpu

    @property
    def smaller(self) -> float:
        return self.theirs.memory / self.ours.memory


class Worker:
    """The process of a library for a row."""

    def __init__(self, library: str, row: Row | Write, folder: Path) -> None:
        command = [sys.executable, "-W", "ignore", str(Path(__file__).parent), "--arrays", str(folder)]
        command += ["--work", library, row.name]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, request: str) -> Any:
        pipes = self._process
        assert pipes.stdin is not None and pipes.stdout is not None
        pipes.stdin.write(request + "\n")
        pipes.stdin.flush()
        answer = pipes.stdout.readline()
        if not answer:
            raise SystemExit(f"a process has failed: {pipes.args}")
        return json.loads(answer)

    def end(self) -> None:
        self._process.communicate()


def measured(row: Row | Write, folder: Path, repeats: int) -> Measured:
    """Runs both sides alternately, after a run without measurement."""
    workers = [Worker(library, row, folder) for library in ("tdb", "tiledb")]
    start = time.perf_counter()
    # The first run warms up, and counts only if it takes too long for another.
    runs = [[worker.ask("run")] for worker in workers]
    if time.perf_counter() - start < SECONDS:
        runs = [[], []]
    while not runs[0] or (len(runs[0]) < repeats and time.perf_counter() - start < SECONDS):
        for worker, found in zip(workers, runs):
            found.append(worker.ask("run"))
    memory = [worker.ask("memory") for worker in workers]
    results = [worker.ask("result") for worker in workers]
    for worker in workers:
        worker.end()
    difference = "" if results[0] == results[1] else f"tdb {results[0]}, tiledb {results[1]}"
    sides = [
        Side(*(statistics.median(part) for part in zip(*found)), peak)
        for found, peak in zip(runs, memory)
    ]
    done = Measured(row.name, *sides, difference)
    print(f"{line(done)}{difference and ' <- ' + difference}", file=sys.stderr, flush=True)
    return done


def mean(ratios: Iterable[float]) -> float:
    """Returns the geometric mean."""
    return math.exp(statistics.fmean(map(math.log, ratios)))


def seconds(time: float) -> str:
    if time < 1e-3:
        return f"{time * 1e6:.0f} µs"
    return f"{time * 1e3:.1f} ms" if time < 1 else f"{time:.2f} s"


def line(row: Measured) -> str:
    megabytes = [f"{side.memory / 1e6:.1f} MB" for side in (row.theirs, row.ours)]
    cells = [
        row.name,
        seconds(row.theirs.clock),
        seconds(row.ours.clock),
        f"**{row.faster:.1f}**",
        f"{row.cheaper:.1f}",
        *megabytes,
        f"**{row.smaller:.1f}**",
    ]
    return f"| {' | '.join(cells)} |"


def table(rows: list[Measured]) -> int:
    """Prints the table. Returns an exit code."""
    print("| workload | TileDB-Py | tdb | ratio | ratio of CPU time | memory of TileDB-Py | of tdb | ratio |")
    print("| --- | --: | --: | --: | --: | --: | --: | --: |")
    for row in rows:
        print(line(row))
    faster = [row.faster for row in rows]
    print(f"\nTime: geometric mean {mean(faster):.2f} (goal {FASTER:.0f}), median {statistics.median(faster):.2f}.")
    print(f"CPU time: geometric mean {mean(row.cheaper for row in rows):.2f}.")
    print(f"Memory: geometric mean {mean(row.smaller for row in rows):.2f} (goal {SMALLER:.0f}).")
    slower = [row for row in rows if row.faster < 1]
    larger = [row for row in rows if row.smaller < 1]
    wrong = [row for row in rows if row.difference]
    for title, some in (("Slower", slower), ("More memory", larger), ("Different results", wrong)):
        print(f"\n{title}: {', '.join(row.name for row in some) or 'none'}.")
    return 1 if wrong else 0


# The process of a library.


def status(name: str) -> int:
    """Returns an entry of the status of this process, in bytes."""
    for entry in Path("/proc/self/status").read_text().splitlines():
        if entry.startswith(name):
            return int(entry.split()[1]) * 1024
    raise LookupError(name)


def work(library: str, row: Row | Write, folder: Path) -> None:
    """Answers requests until the end of the input.

    The memory excludes the interpreter, NumPy, pandas, and the cells to write.
    """
    cells = row.cells() if isinstance(row, Write) else None
    before = status("VmRSS")
    # Forgets the peak of the process so far.
    Path("/proc/self/clear_refs").write_text("5")
    run = prepared(library, row, folder, cells)
    result: Any = None
    for request in sys.stdin:
        if request == "run\n":
            forget(result)
            result = None
            clock, cpu = time.perf_counter(), time.process_time()
            result = run()
            answer: Any = [time.perf_counter() - clock, time.process_time() - cpu]
        elif request == "memory\n":
            answer = status("VmHWM") - before
        else:
            answer = digest(result, row.unordered)
        print(json.dumps(answer), flush=True)
    forget(result)


def prepared(library: str, row: Row | Write, folder: Path, cells: Any) -> Callable[[], Any]:
    """Returns the function of a run."""
    if library == "tiledb":
        import tiledb as module

        function: Any = row.theirs
    elif row.ours is None:
        import tdb.compat as module

        function = row.theirs
    else:
        import tdb as module

        function = row.ours
    if isinstance(row, Row):
        return lambda: function(module, folder)
    folder = MEMORY if MEMORY.is_dir() else Path(tempfile.gettempdir())

    def run() -> Any:
        path = folder / f"tdb-speed-{uuid.uuid4()}"
        function(module, path, cells)
        return Written(path)

    return run


class Written(NamedTuple):
    """The path of a written array."""

    path: Path


def forget(result: Any) -> None:
    """Removes a written array."""
    if isinstance(result, Written):
        shutil.rmtree(result.path)


def digest(result: Any, unordered: bool) -> str:
    """Returns a digest of a result, which does not depend on the types of the libraries."""
    if isinstance(result, Written):
        # TileDB-Py reads what either library has written.
        import tiledb

        with tiledb.open(str(result.path)) as array:
            result = array[:]
    if isinstance(result, pd.DataFrame):
        names = [name for name in result.index.names if name is not None]
        frame = result.reset_index(level=names) if names else result
        result = {name: frame[name] for name in frame.columns}
    if isinstance(result, dict) and len(result) == 1:
        (result,) = result.values()
    if isinstance(result, np.ndarray):
        result = {"": result}
    if not isinstance(result, dict):
        return repr(json.loads(json.dumps(result), parse_float=lambda text: f"{float(text):.9g}"))
    rows: Any = 0
    for name in sorted(result):
        hashed = pd.util.hash_array(np.asarray(plain(result[name])).reshape(-1))
        rows = rows * np.uint64(1_000_003) + hashed
    rows = np.sort(rows) if unordered else rows
    return f"{sorted(result)} {len(rows)} {hashlib.sha256(rows.tobytes()).hexdigest()[:16]}"


def plain(values: Any) -> Any:
    """Returns numbers, or objects with `None` for null."""
    if isinstance(values, np.ma.MaskedArray):
        plain = values.data.astype(object)
        plain[np.ma.getmaskarray(values)] = None
        values = plain
    if not isinstance(values, np.ndarray):
        missing = np.asarray(pd.isna(values))
        values = np.asarray(values.astype(object)) if values.dtype.kind not in "iufM" or missing.any() else values.to_numpy()
        if values.dtype.kind == "O":
            values = np.where(missing, None, values)
    if values.dtype.kind == "M":
        values = values.astype("M8[ns]").view(np.int64)
    if values.dtype.kind in "SUO":
        texts = [value.decode() if isinstance(value, bytes) else None if value is None else str(value) for value in values.reshape(-1)]
        return np.array(texts, object)
    return values.astype(np.float64 if values.dtype.kind == "f" else np.int64)


if __name__ == "__main__":
    sys.exit(main())
