"""The package without the libraries that it can use."""

from __future__ import annotations

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
import gc, os, sys
import tdb

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

def work(times):
    for _ in range(times):
        with tdb.open(sys.argv[1], threads=1) as array:
            array.read(limit=10).to_numpy()
            try:
                array.read(where="absent > 1").to_numpy()
            except tdb.UsageError:
                pass
    gc.collect()

work(300)
before = resident()
work(1500)
print(resident() - before)
"""


def test_opens_reads_and_errors_leak_no_memory(tmp_path: Path) -> None:
    import numpy as np
    import tdb

    tdb.from_numpy(tmp_path / "array", np.arange(10_000))
    command = [sys.executable, "-c", LEAK, str(tmp_path / "array")]
    grown = int(subprocess.check_output(command, text=True))
    # An array of a leaked read has 80 bytes, an open array several kilobytes.
    assert grown < 4 << 20
