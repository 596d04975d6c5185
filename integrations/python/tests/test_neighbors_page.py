"""Examples of the page about other libraries."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[3] / "docs/guides/python-neighbors.md"


def examples() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)


def test_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    # The folder tests_torch runs the example of PyTorch.
    ran = [
        exec(compile(example, PAGE, "exec"), names)
        for example in examples()
        if "torch" not in example
    ]
    assert len(ran) >= 6
