"""Maintenance, progress and interruption."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import tdb
import tiledb
from tqdm import tqdm


def fragmented(uri: str, fragments: int = 3, cells: int = 100) -> tdb.Array:
    """A sparse array with interleaved fragments."""
    schema = tdb.Schema(
        [tdb.Dimension("d", "int64", (0, 10**9), 1000)],
        [tdb.Attribute("a", "float64"), tdb.Attribute("t", str)],
        sparse=True,
    )
    array = tdb.create(uri, schema)
    for number in range(fragments):
        places = np.arange(cells) * fragments + number
        array.write({"d": places, "a": places * 0.5, "t": places.astype("S")}, at=100 + number)
    return array


def dump(array: tdb.Array) -> dict[str, list[Any]]:
    return {
        name: column.tolist() for name, column in array.read(order="row-major").to_numpy().items()
    }


@pytest.fixture
def uri(tmp_path: Path) -> str:
    return str(tmp_path / "array")


def test_consolidation_and_vacuum_keep_the_cells(uri: str) -> None:
    array = fragmented(uri)
    before = dump(array)
    planned = tdb.consolidate(uri, plan=True)
    assert len(planned.steps) == 1 and len(array.refresh().fragments) == 3
    done = tdb.consolidate(array)
    (step,) = done.steps
    assert isinstance(step, tdb.FragmentStep)
    assert (len(step.replaced), len(step.fragments), step.cells) == (3, 1, 300)
    assert dump(tdb.open(uri)) == before
    assert tdb.vacuum(uri, plan=True).steps == tdb.vacuum(uri).steps
    assert len(list((Path(uri) / "__fragments").iterdir())) == 1
    assert dump(tdb.open(uri)) == before
    with tiledb.open(uri) as judge:
        assert judge[:]["a"].tolist() == before["a"]


@pytest.mark.parametrize("what", ["commits", "footers", "metadata"])
def test_files_are_consolidated(uri: str, what: str) -> None:
    array = fragmented(uri)
    array.metadata["a"] = 1
    array.metadata["b"] = 2
    before = dump(array)
    assert tdb.consolidate(uri, what).steps
    assert not tdb.vacuum(uri, what).left
    assert dump(tdb.open(uri)) == before
    assert dict(tdb.open(uri).metadata) == {"a": 1, "b": 2}
    with pytest.raises(tdb.UsageError, match="cannot consolidate"):
        tdb.consolidate(uri, "nothing")


def test_progress_reaches_the_total(uri: str) -> None:
    fragmented(uri)
    seen: list[tuple[int, int | None]] = []
    tdb.consolidate(uri, progress=lambda done, total: seen.append((done, total)))
    assert seen and seen[-1][0] == seen[-1][1] and seen[-1][0] > 0
    # The expected number may change when a step ends.
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    bar = tqdm(disable=False, file=open(os.devnull, "w"))
    tdb.verify(uri, progress=bar)
    assert bar.n == bar.total > 0
    bar.fp.close()


def test_verification_finds_damage(uri: str) -> None:
    array = fragmented(uri)
    assert tdb.verify(uri).is_sound
    folder = Path(uri) / "__fragments" / array.fragments[0].name
    data = folder / "a0.tdb"
    content = bytearray(data.read_bytes())
    content[-1] ^= 0xFF
    content[len(content) // 2] ^= 0xFF
    data.write_bytes(content)
    found = tdb.verify(uri)
    assert not found.is_sound and any(finding.field == "a" for finding in found.findings)
    data.write_bytes(content[:40])
    with pytest.raises(tdb.DamageError) as caught:
        tdb.open(uri).read().to_numpy()
    assert caught.value.path is not None and "a0.tdb" in caught.value.path
    metadata = folder / "__fragment_metadata.tdb"
    footer = bytearray(metadata.read_bytes())
    footer[-8:] = b"\xff" * 8
    metadata.write_bytes(footer)
    with pytest.raises(tdb.DamageError) as caught:
        _ = tdb.open(uri).fragments
    assert caught.value.path == str(metadata) and caught.value.offset is not None


def test_the_doctor_repairs_leftovers(uri: str) -> None:
    array = fragmented(uri)
    (Path(uri) / "__commits" / f"{array.fragments[0].name}.wrt").unlink()
    found = tdb.doctor(uri)
    assert len(found.diagnoses) == 1 and found.quarantine is None
    repaired = tdb.doctor(uri, fix=True, only=[found.diagnoses[0].path])
    assert repaired.quarantine is not None and (Path(uri) / repaired.quarantine).exists()
    assert tdb.doctor(uri).diagnoses == () or all(
        diagnosis.severity == "note" for diagnosis in tdb.doctor(uri).diagnoses
    )


def test_lost_metadata_of_a_fragment_is_rebuilt(uri: str) -> None:
    array = fragmented(uri, fragments=1)
    before = dump(array)
    name = array.fragments[0].name
    (Path(uri) / "__fragments" / name / "__fragment_metadata.tdb").unlink()
    with pytest.raises(tdb.NotFoundError):
        dump(tdb.open(uri))
    assert tdb.rebuild(uri, name, plan=True).cells == 100
    assert tdb.rebuild(uri, name).cells == 100
    assert dump(tdb.open(uri)) == before


def test_advice_and_reports(uri: str) -> None:
    fragmented(uri, fragments=20)
    advice = tdb.advise(uri)
    assert any("consolidate" in command for item in advice for command in item.commands)
    page = tdb.report(uri)
    assert page.startswith("<!DOCTYPE html>") or "<html" in page
    assert "iframe" in page._repr_html_() and len(repr(page)) < 100


def test_comparisons(uri: str, tmp_path: Path) -> None:
    array = fragmented(uri)
    other = str(tmp_path / "other")
    assert tdb.copy(uri, other).files > 0
    assert tdb.diff(array, tdb.open(other)).is_same
    tdb.open(other).write({"d": [7], "a": [-1.0], "t": ["x"]})
    found = tdb.diff(array.refresh(), tdb.open(other))
    assert not found.is_same and found.counts["differing_cells"] == 1
    assert found.differences == ("a cell differs in a, t",)


def test_copies_moves_and_removals(uri: str, tmp_path: Path) -> None:
    before = dump(fragmented(uri))
    moved, copied = str(tmp_path / "moved"), str(tmp_path / "copied")
    tdb.move(uri, moved)
    assert not os.path.exists(uri)
    tdb.copy(moved, copied)
    with pytest.raises(tdb.AlreadyExistsError):
        tdb.copy(moved, copied)
    assert dump(tdb.open(moved)) == dump(tdb.open(copied)) == before
    assert tdb.remove(moved)
    assert not os.path.exists(moved)
    with pytest.raises(tdb.NotFoundError):
        tdb.remove(moved)


def test_migrations(uri: str, tmp_path: Path) -> None:
    before = dump(fragmented(uri))
    out = str(tmp_path / "out")
    done = tdb.migrate(
        uri, to=21, out=out, filters={"a": [tdb.Filter("gzip", level=9)]}, capacity=50
    )
    assert done.cells == 300
    array = tdb.open(out)
    assert dump(array) == before
    assert array.schema.settings["format_version"] == 21 and array.schema.settings["capacity"] == 50
    assert array.schema.attributes[0].filters == tdb.Filters([tdb.Filter("gzip", level=9)])
    tdb.migrate(uri, filters={"t": ["lz4"]}, remove_old=True)
    assert dump(tdb.open(uri)) == before


def interrupting(seen: list[int]) -> Callable[[int, int | None], None]:
    """A progress function that presses Ctrl-C."""

    def press(done: int, total: int | None) -> None:
        seen.append(done)
        signal.raise_signal(signal.SIGINT)

    return press


def test_an_interrupted_consolidation_changes_nothing(uri: str) -> None:
    array = fragmented(uri, fragments=12, cells=60_000)
    before = array.aggregate(tdb.count(), tdb.col("a").sum())
    seen: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        tdb.consolidate(uri, progress=interrupting(seen))
    array = tdb.open(uri)
    assert len(array.fragments) == 12
    assert array.aggregate(tdb.count(), tdb.col("a").sum()) == before
    # No lock remains.
    assert len(tdb.consolidate(uri).steps) == 1


def test_an_interrupted_copy_leaves_no_copy(uri: str, tmp_path: Path) -> None:
    fragmented(uri, fragments=1, cells=1000)
    for number in range(40):
        shutil.copytree(Path(uri), tmp_path / f"group/{number}")
    tdb.create_group(tmp_path / "group")
    seen: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        tdb.copy(tmp_path / "group", tmp_path / "copy", progress=interrupting(seen))
    assert tdb.object_type(tmp_path / "copy") is None


def test_a_failing_progress_function_ends_the_job(uri: str) -> None:
    array = fragmented(uri, fragments=12, cells=60_000)

    def fail(done: int, total: int | None) -> None:
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        tdb.consolidate(uri, progress=fail)
    assert len(array.refresh().fragments) == 12


def stop(*_: object) -> None:
    raise TimeoutError


@pytest.fixture
def stopped() -> Iterator[None]:
    """Lets a timer interrupt the test, as Ctrl-C does."""
    before = signal.signal(signal.SIGALRM, stop)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("stopped")
def test_signal_handlers_run_during_a_query(uri: str) -> None:
    # The median of distinct values needs many passes.
    array = tdb.from_numpy(uri, np.random.default_rng(0).random(8_000_000))
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    with pytest.raises(TimeoutError):
        array.read(budget=1 << 20).aggregate(tdb.col("value").median())
    assert len(array[:10]) == 10


# Each of these writes takes much longer than 50 ms.
_CELLS = np.random.default_rng(0).permutation(3_000_000)
# Made before the timer starts, so that it interrupts the write.
_TABLE = pa.table({"d": _CELLS, "a": _CELLS * 0.5})


def write_sparse(array: tdb.Array) -> None:
    array.write({"d": _CELLS, "a": _CELLS * 0.5})


def write_arrow(array: tdb.Array) -> None:
    array.write(_TABLE)


def write_batches(array: tdb.Array) -> None:
    with array.writer() as writer:
        for part in np.split(_CELLS, 3):
            writer.write({"d": part, "a": part * 0.5})


@pytest.mark.usefixtures("stopped")
@pytest.mark.parametrize("write", [write_sparse, write_arrow, write_batches])
def test_an_interrupted_write_leaves_nothing(
    uri: str, write: Callable[[tdb.Array], None]
) -> None:
    dimension = tdb.Dimension("d", "int64", (0, 10**9), 1000)
    attribute = tdb.Attribute("a", "float64", filters=["zstd"])
    array = tdb.create(uri, tdb.Schema([dimension], [attribute], sparse=True))
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    with pytest.raises(TimeoutError):
        write(array)
    assert tdb.open(uri).fragments == ()
    folders = ("__fragments", "__commits")
    assert not [name for folder in folders for name in Path(uri, folder).glob("*")]


@pytest.mark.usefixtures("stopped")
def test_an_interrupted_creation_leaves_no_array(uri: str, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("d,a\n" + "".join(f"{place},{place / 3}\n" for place in range(500_000)))
    cells = np.random.default_rng(0).random(30_000_000)
    dimension = tdb.Dimension("d", "int64", (0, 10**9), 1000)
    schema = tdb.Schema([dimension], [tdb.Attribute("a", "float64")], sparse=True)
    for create in (
        lambda: tdb.from_numpy(uri, cells),
        lambda: tdb.from_csv(uri, rows, schema=schema),
    ):
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(TimeoutError):
            create()
        assert not Path(uri).exists()


def test_an_interruption_right_after_the_creation_leaves_no_array(uri: str) -> None:
    def interrupt(*_: object) -> None:
        if Path(uri).exists():
            sys.setprofile(None)
            raise TimeoutError

    # Python calls the function before and after each call, as a signal handler may be.
    sys.setprofile(interrupt)
    try:
        with pytest.raises(TimeoutError):
            tdb.from_numpy(uri, np.arange(3))
    finally:
        sys.setprofile(None)
    assert not Path(uri).exists()


def test_a_failed_creation_keeps_the_existing_array(uri: str) -> None:
    tdb.from_numpy(uri, np.arange(3))
    with pytest.raises(tdb.AlreadyExistsError):
        tdb.from_numpy(uri, np.arange(4))
    assert tdb.open(uri)[:].tolist() == [0, 1, 2]
