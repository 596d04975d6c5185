"""Runs the tests of TileDB-Py on ``tdb.compat``, and prints a table per module.

Fetches the wheel of ``tiledb`` with pip, and extracts only its tests. Arguments after ``--`` are
those of pytest.

    python tests/compat/run.py
    python tests/compat/run.py test_query_condition -- -x
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

VERSION = "0.36.1"

#: Modules without tests of arrays.
OTHERS = (
    "test_cloud", "test_vfs", "test_context_and_config", "test_profile", "test_stats", "test_serialization",
    "test_filestore", "test_fork_ctx", "test_cc", "test_core", "test_examples",
)  # fmt: skip

#: Imported by the tests in place of the package.
SHIM = '''"""Imports tdb.compat as tiledb."""

import tdb.compat

tdb.compat.__path__ = [*tdb.compat.__path__, *__path__]
tdb.compat.install()
'''


def extract(target: Path) -> Path:
    """Extracts the tests of the wheel, and returns their folder."""
    root = target / f"tiledb-tests-{VERSION}"
    tests = root / "tiledb" / "tests"
    if not tests.exists():
        wheels = target / "wheels"
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--dest",
            str(wheels),
        ]
        subprocess.run([*command, f"tiledb=={VERSION}"], check=True)
        with zipfile.ZipFile(next(wheels.glob(f"tiledb-{VERSION}-*.whl"))) as wheel:
            names = [name for name in wheel.namelist() if name.startswith("tiledb/tests/")]
            wheel.extractall(root, names)
    (root / "tiledb" / "__init__.py").write_text(SHIM)
    # An empty file stops pytest from reading the settings of this repository.
    (root / "pytest.ini").write_text("[pytest]\npython_classes = *Test*\n")
    return tests


def main() -> int:
    """Runs the tests, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "modules", nargs="*", help="names of test modules; the default is all about arrays"
    )
    parser.add_argument("--all", action="store_true", help="also run the other modules")
    parser.add_argument(
        "--failures", action="store_true", help="print the first line of each failure"
    )
    parser.add_argument("--minimum", type=int, help="fail if fewer tests pass")
    own = sys.argv[1 : sys.argv.index("--")] if "--" in sys.argv else sys.argv[1:]
    options = parser.parse_args(own)
    rest = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []
    python = Path(__file__).resolve().parents[2]
    tests = extract(python.parents[1] / "target")
    names = options.modules or sorted(path.stem for path in tests.glob("test_*.py"))
    if not options.modules and not options.all:
        names = [name for name in names if name not in OTHERS]
    report = tests.parents[1] / "report.xml"
    paths = os.pathsep.join([str(tests.parents[1]), os.environ.get("PYTHONPATH", "")])
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        f"--junit-xml={report}",
        "--tb=short",
    ]
    command += [f"--rootdir={tests.parents[1]}", "-c", str(tests.parents[1] / "pytest.ini")]
    result = subprocess.run(
        [*command, *rest, *(str(tests / f"{name}.py") for name in names)],
        env={**os.environ, "PYTHONPATH": paths},
        cwd=tests.parents[1],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    (tests.parents[1] / "pytest.log").write_text(result.stdout)
    if not report.exists() or result.returncode > 1:
        print(result.stdout[-4000:])
    return table(report, names, options.failures, options.minimum)


def table(report: Path, names: list[str], failures: bool, minimum: int | None) -> int:
    """Prints the counts per module."""
    counts: dict[str, list[int]] = {name: [0, 0, 0] for name in names}
    for case in ElementTree.parse(report).iter("testcase"):
        found = re.search(r"(test_[\w-]+)", case.get("classname") or "") or re.search(
            r"(test_[\w-]+)", case.get("name") or ""
        )
        name = found.group(1) if found else "?"
        row = counts.setdefault(name, [0, 0, 0])
        failed = [child for child in case if child.tag in ("failure", "error")]
        row[1 if failed else 2 if case.find("skipped") is not None else 0] += 1
        if failed and failures:
            message = (failed[0].get("message") or "").strip().splitlines()
            print(f"{name}::{case.get('name')}: {message[0][:200] if message else ''}")
    print("| module | tests | passed | failed | skipped |\n| --- | --: | --: | --: | --: |")
    for name, (passed, failed_, skipped) in counts.items():
        print(f"| {name} | {passed + failed_ + skipped} | {passed} | {failed_} | {skipped} |")
    passed, failed_, skipped = (sum(row[place] for row in counts.values()) for place in range(3))
    print(f"| **total** | {passed + failed_ + skipped} | {passed} | {failed_} | {skipped} |")
    print(f"\n{100 * passed / max(passed + failed_, 1):.1f} % of the tests that ran pass")
    return 1 if minimum is not None and passed < minimum else 0


if __name__ == "__main__":
    sys.exit(main())
