"""The package without the libraries that it can use."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sys
for name in ("numpy", "pandas", "polars", "pyarrow"):
    sys.modules[name] = None
import tdb
schema = tdb.Schema(
    [tdb.Dimension("pos", "uint32", (0, 99), 10)],
    [tdb.Attribute("qual", "float64", nullable=True), tdb.Attribute("alt", str)],
    sparse=True,
)
array = tdb.create(sys.argv[1], schema)
array.write({"pos": [3, 1], "qual": [0.5, None], "alt": ["x", "é"]})
array.metadata["source"] = "test"
assert array.metadata["source"] == "test"
assert array.aggregate(tdb.count(), tdb.col("qual").max()) == {"count": 2, "max(qual)": 0.5}
assert [len(batch) for batch in array.read(where="qual > 0").batches()] == [1]
assert tdb.verify(array).is_sound
assert array.fragments[0].cells == 2 and array.schema == schema
try:
    array.read().to_numpy()
except ImportError as error:
    assert "numpy" in str(error)
else:
    raise AssertionError
try:
    array.write({"pos": [3, "x"], "qual": [0.5, None], "alt": ["x", "é"]})
except tdb.UsageError as error:
    assert (error.field, error.cell) == ("pos", 1)
print("done")
"""


def test_lists_are_written_and_batches_are_counted(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "array")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "done\n", done.stderr


LEAK = """
import gc, os, shutil, signal, sys
import tdb

tiny, large, scratch = sys.argv[1:]

def resident():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

class Stop(Exception):
    pass

def stop(*_):
    raise Stop

def cancelled():
    array = tdb.open(large)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.002)
        while True:
            array.aggregate(tdb.col("value").median())
    except Stop:
        pass

def written(number):
    schema = tdb.Schema(
        [tdb.Dimension("d", "int32", (0, 99), 10)], [tdb.Attribute("text", str)], sparse=True
    )
    array = tdb.create(scratch, schema)
    array.write({"d": [number % 100], "text": ["text" * 20]})
    try:
        array.write({"d": [1000], "text": ["outside"]})
    except tdb.UsageError:
        pass
    tdb.remove(scratch)

def work(start, end):
    for number in range(start, end):
        with tdb.open(tiny, threads=1) as array:
            array.read(limit=10).to_numpy()
            try:
                array.read(where="absent > 1").to_numpy()
            except tdb.UsageError:
                pass
        if number % 100 == 0:
            written(number)
        if number % 200 == 0:
            cancelled()

signal.signal(signal.SIGALRM, stop)
work(0, 2000)
before = resident()
work(2000, 10_000)
print(resident() - before)
"""


def test_opens_reads_writes_errors_and_cancelled_reads_leak_no_memory(tmp_path: Path) -> None:
    import numpy as np
    import tdb

    tdb.from_numpy(tmp_path / "tiny", np.arange(1000))
    tdb.from_numpy(tmp_path / "large", np.random.default_rng(0).random(200_000))
    folders = [str(tmp_path / name) for name in ("tiny", "large", "scratch")]
    # Returns freed memory to the system at once.
    settings = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "65536"}
    environment = {**os.environ, **settings, "MALLOC_TRIM_THRESHOLD_": "65536"}
    command = [sys.executable, "-c", LEAK, *folders]
    grown = int(subprocess.check_output(command, text=True, env=environment, timeout=600))
    # An array of a leaked read has 80 bytes, an open array several kilobytes.
    assert grown < 5 << 20, grown
