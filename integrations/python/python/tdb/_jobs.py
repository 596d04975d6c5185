"""Maintenance of arrays and groups.

``progress`` is a function of the bytes passed and of the expected bytes, ``None`` if unknown. A
progress bar of tqdm works too. Ctrl-C ends a job: the array stays as it was, or the next job
completes it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from . import _native
from ._array import Array, opening
from ._array import open as open_array
from ._libraries import whole
from ._schema import Filter, Filters, tables

Uri: TypeAlias = str | os.PathLike[str]
Progress: TypeAlias = Callable[[int, int | None], object] | Any


class FragmentStep(NamedTuple):
    """A step of a consolidation: fragments that became one."""

    replaced: tuple[str, ...]
    #: Empty in a plan.
    fragments: tuple[str, ...]
    cells: int


class FileStep(NamedTuple):
    """A file that a job has written or removed."""

    action: str
    path: str
    what: str
    bytes: int


class Retained(NamedTuple):
    """A file that a vacuum has kept, and the reason."""

    path: str
    why: str


class Consolidation(NamedTuple):
    """The result of :func:`consolidate`."""

    steps: tuple[FragmentStep | FileStep, ...]
    #: Names of the remaining fragments, or retained files.
    left: tuple[str | Retained, ...]


class Vacuum(NamedTuple):
    """The result of :func:`vacuum`."""

    steps: tuple[FileStep, ...]
    left: tuple[Retained, ...]


class Finding(NamedTuple):
    """A problem that :func:`verify` has found."""

    kind: str
    #: ``finding`` or ``note``.
    severity: str
    path: str
    field: str | None
    tile: int | None
    what: str


class Verification(NamedTuple):
    """The result of :func:`verify`."""

    groups: int
    arrays: int
    fragments: int
    tiles: int
    cells: int
    bytes: int
    findings: tuple[Finding, ...]

    @property
    def is_sound(self) -> bool:
        """Whether nothing but notes was found."""
        return all(finding.severity == "note" for finding in self.findings)


class Diagnosis(NamedTuple):
    """A problem that :func:`doctor` has found, and its remedy."""

    path: str
    what: str
    why: str
    remedy: str
    severity: str
    bytes: int


class Repair(NamedTuple):
    """The result of :func:`doctor`."""

    diagnoses: tuple[Diagnosis, ...]
    #: The folder with the quarantined files.
    quarantine: str | None


class Rebuilt(NamedTuple):
    """The result of :func:`rebuild`."""

    cells: int
    tiles: int
    lost: str | None


class Advice(NamedTuple):
    """An advice of :func:`advise`."""

    kind: str
    #: ``strong``, ``weak`` or ``note``.
    level: str
    field: str | None
    what: str
    #: Commands of the program ``tdb``.
    commands: tuple[str, ...]


class Copied(NamedTuple):
    """The result of :func:`copy`."""

    files: int
    bytes: int


class Migrated(NamedTuple):
    """The result of :func:`migrate`."""

    fragments: int
    cells: int


class Comparison(NamedTuple):
    """The result of :func:`diff`."""

    is_same: bool
    counts: Mapping[str, int]
    #: The first differences, as text.
    differences: tuple[str, ...]


class Report(str):
    """A page in HTML, which a notebook shows."""

    def _repr_html_(self) -> str:
        from html import escape

        # A frame keeps the styles of the page from the notebook.
        return f'<iframe srcdoc="{escape(str(self))}" width="100%" height="800" frameborder="0"></iframe>'

    def __repr__(self) -> str:
        return f"<tdb.Report of {len(self)} characters>"


def _calls(progress: Progress | None) -> Callable[[int, int | None], object] | None:
    """Returns a function that updates a progress bar."""
    if progress is None or not hasattr(progress, "update"):
        return progress
    bar: Any = progress

    def update(done: int, total: int | None) -> None:
        if total is not None:
            bar.total = total
        bar.update(done - bar.n)

    return update


def _parts(
    uri: Uri | Array, key: bytes | None, storage_options: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Describes the array or group of a job."""
    if isinstance(uri, Array):
        return uri._opening._asdict()
    return opening(uri, key=key, storage_options=storage_options)._asdict()


def consolidate(
    uri: Uri | Array,
    what: str = "fragments",
    *,
    fragments: Sequence[str] | None = None,
    between: tuple[int | None, int | None] | None = None,
    steps: int | None = None,
    min_fragments: int | None = None,
    max_fragments: int | None = None,
    size_ratio: float | None = None,
    amplification: float | None = None,
    max_fragment_size: int | None = None,
    purge_deleted: bool = False,
    flatten_history: bool = False,
    budget: int | None = None,
    at: int | None = None,
    plan: bool = False,
    take_over: bool = False,
    progress: Progress | None = None,
    key: bytes | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Consolidation:
    """Replaces many ``fragments``, ``commits``, ``footers`` or ``metadata`` files by one.

    docs/guides/maintenance.md describes the options, which are those of ``tdb consolidate``.
    """
    parts = _parts(uri, key, storage_options)
    if what != "fragments":
        done, kept = _native.change_files(
            parts, "consolidate", what, False, plan, take_over, _calls(progress)
        )
        return Consolidation(
            tuple(FileStep(*step) for step in done), tuple(Retained(*file) for file in kept)
        )
    options = {
        "fragments": None if fragments is None else list(fragments),
        "between": between,
        "steps": steps,
        "min_fragments": min_fragments,
        "max_fragments": max_fragments,
        "size_ratio": size_ratio,
        "amplification": amplification,
        "max_fragment_size": max_fragment_size,
        "purge_deleted": purge_deleted,
        "flatten_history": flatten_history,
        "budget": budget,
        "at": at,
    }
    found, left = _native.consolidate_fragments(parts, options, plan, take_over, _calls(progress))
    made = (FragmentStep(tuple(replaced), tuple(new), cells) for replaced, new, cells in found)
    return Consolidation(tuple(made), tuple(left))


def vacuum(
    uri: Uri | Array,
    what: str = "fragments",
    *,
    delete_files: bool = False,
    plan: bool = False,
    take_over: bool = False,
    progress: Progress | None = None,
    key: bytes | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Vacuum:
    """Deletes the ``fragments``, ``commits``, ``footers`` or ``metadata`` that a consolidation has
    replaced, or ``all`` of them.
    """
    parts = _parts(uri, key, storage_options)
    done, kept = _native.change_files(
        parts, "vacuum", what, delete_files, plan, take_over, _calls(progress)
    )
    return Vacuum(tuple(FileStep(*step) for step in done), tuple(Retained(*file) for file in kept))


def verify(
    uri: Uri | Array,
    *,
    progress: Progress | None = None,
    key: bytes | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Verification:
    """Checks every file, tile and statistic of an array or group."""
    counts, findings = _native.verify(_parts(uri, key, storage_options), _calls(progress))
    return Verification(**counts, findings=tuple(Finding(*finding) for finding in findings))


def doctor(
    uri: Uri | Array,
    *,
    fix: bool = False,
    only: Sequence[str] | None = None,
    take_over: bool = False,
    progress: Progress | None = None,
    key: bytes | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Repair:
    """Finds leftovers of interrupted writes and jobs, and repairs them with ``fix``."""
    parts = _parts(uri, key, storage_options)
    paths = None if only is None else list(only)
    found, quarantine = _native.doctor(parts, fix, paths, take_over, _calls(progress))
    return Repair(tuple(Diagnosis(*diagnosis) for diagnosis in found), quarantine)


def rebuild(
    uri: Uri | Array,
    fragment: str,
    *,
    salvage: bool = False,
    plan: bool = False,
    take_over: bool = False,
    progress: Progress | None = None,
    key: bytes | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Rebuilt:
    """Rebuilds the lost metadata of a fragment from its data files."""
    parts = _parts(uri, key, storage_options)
    return Rebuilt(*_native.rebuild(parts, fragment, salvage, plan, take_over, _calls(progress)))


def advise(
    uri: Uri | Array,
    *,
    progress: Progress | None = None,
    key: bytes | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> list[Advice]:
    """Suggests how to make an array smaller or faster."""
    found = _native.advise(_parts(uri, key, storage_options), _calls(progress))
    return [
        Advice(kind, level, field, what, tuple(commands))
        for kind, level, field, what, commands in found
    ]


def report(
    uri: Uri | Array,
    *,
    progress: Progress | None = None,
    key: bytes | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Report:
    """Creates a page about an array or group, with pictures. A notebook shows the result."""
    return Report(_native.report(_parts(uri, key, storage_options), _calls(progress)))


def diff(
    first: Uri | Array, second: Uri | Array, *, physical: bool = False, limit: int = 20
) -> Comparison:
    """Compares the schemas, the metadata and the cells of two arrays, or of two times of an array.

    ``physical`` also compares the fragments. ``limit`` is the number of described differences.
    """
    one, other = (
        array if isinstance(array, Array) else open_array(array) for array in (first, second)
    )
    count = whole("limit", limit) or 0
    is_same, counts, found = _native.diff(one._handle, other._handle, physical, count)
    return Comparison(is_same, counts, tuple(found))


def copy(
    uri: Uri,
    to: Uri,
    *,
    progress: Progress | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Copied:
    """Copies an array or group."""
    source, target = _parts(uri, None, storage_options), _parts(to, None, storage_options)
    return Copied(*_native.copy(source, target, _calls(progress)))


def move(
    uri: Uri,
    to: Uri,
    *,
    progress: Progress | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> list[str]:
    """Moves an array or group. Returns the paths that remain at the old place."""
    source, target = _parts(uri, None, storage_options), _parts(to, None, storage_options)
    return _native.relocate(source, target, _calls(progress))


def remove(
    uri: Uri, *, recursive: bool = False, storage_options: Mapping[str, Any] | None = None
) -> list[str]:
    """Removes an array, or a group with ``recursive``. Returns the removed arrays and groups."""
    return _native.remove(_parts(uri, None, storage_options), recursive)


def migrate(
    uri: Uri,
    *,
    to: int | None = None,
    out: Uri | None = None,
    capacity: int | None = None,
    filters: Mapping[str, Sequence[Filter | str]] | None = None,
    flatten: bool = False,
    budget: int | None = None,
    remove_old: bool = False,
    progress: Progress | None = None,
    key: bytes | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Migrated:
    """Rewrites an array with another format version, capacity or filters.

    Without ``out``, replaces the array, and keeps the old files unless ``remove_old``. ``flatten``
    drops the history.
    """
    settings = {
        "to": to,
        "capacity": capacity,
        "filters": tables(
            (
                "attribute",
                {"name": field, "datatype": "uint8", "filters": Filters(pipeline)._table()},
            )
            for field, pipeline in (filters or {}).items()
        ),
        "flatten": flatten,
        "budget": budget,
        "remove_old": remove_old,
    }
    parts = _parts(uri, key, storage_options)
    target = None if out is None else _parts(out, key, storage_options)
    return Migrated(*_native.migrate(parts, target, settings, _calls(progress)))
