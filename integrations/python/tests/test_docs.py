"""Examples in documents."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
from pathlib import Path

import pytest
import tdb

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    "page", ["docs/guides/python.md", "README.md", "integrations/python/README.md"]
)
def test_examples_of_a_page_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if page != "docs/guides/python.md":
        example = tdb.Schema(
            [tdb.Dimension("pos", "uint32", (1, 1000), 10)],
            [tdb.Attribute("qual", "float32")],
            sparse=True,
        )
        os.makedirs("path/to")
        tdb.create("path/to/array", example).write({"pos": [1, 2], "qual": [10.0, 40.0]})
    examples = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)
    assert examples
    names: dict[str, object] = {}
    for example in examples:
        if "doctest: skip" not in example:
            exec(compile(example, page, "exec"), names)


def test_doctests() -> None:
    ran = 0
    for module in pkgutil.iter_modules(tdb.__path__, "tdb."):
        found = doctest.testmod(importlib.import_module(module.name))
        assert found.failed == 0, module.name
        ran += found.attempted
    assert ran >= 6
    assert doctest.testmod(tdb).failed == 0
