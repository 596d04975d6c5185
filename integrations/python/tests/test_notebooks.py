"""Notebooks of docs/notebooks: a run returns the stored outputs.

Run this file as a program to store the outputs of a run:

    python integrations/python/tests/test_notebooks.py [NAME.ipynb ...]
"""

from __future__ import annotations

import base64
import io
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parents[3] / "docs/notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
#: The largest notebook, in bytes.
LARGEST = 150_000
#: The number of colors of stored pictures.
COLORS = 128


def executed(path: Path, folder: Path) -> Any:
    """Runs a notebook in a folder with the archives of arrays."""
    shutil.copytree(FOLDER / "data", folder / "data")
    notebook = nbformat.read(path, as_version=4)
    stored = dict(notebook.metadata)
    client = NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute()
    # The kernel adds its version.
    notebook.metadata = nbformat.from_dict(stored)
    return notebook


def texts(notebook: Any) -> list[tuple[str, list[tuple[str, str]]]]:
    """Returns the source and the texts of each code cell. Pictures depend on fonts."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        outputs: list[tuple[str, str]] = []
        for output in cell.outputs:
            if output.output_type == "stream":
                if outputs and outputs[-1][0] == output.name:
                    # A kernel may send a stream in several parts.
                    outputs[-1] = (output.name, outputs[-1][1] + output.text)
                else:
                    outputs.append((output.name, output.text))
                continue
            for kind, text in sorted(output.data.items()):
                outputs.append((kind, text if kind.startswith("text/") else ""))
        found.append((cell.source, outputs))
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
# The clients of kernels use what Python deprecates.
@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
def test_a_run_returns_the_stored_outputs(path: Path, tmp_path: Path) -> None:
    stored = texts(nbformat.read(path, as_version=4))
    assert any(outputs for _, outputs in stored), "no outputs are stored"
    for (source, expected), (_, found) in zip(stored, texts(executed(path, tmp_path))):
        assert found == expected, source


def test_notebooks_are_small() -> None:
    assert len(NOTEBOOKS) >= 5
    assert max(path.stat().st_size for path in NOTEBOOKS) <= LARGEST


def smaller(picture: str) -> str:
    """Reduces the colors of a PNG."""
    from PIL import Image

    reduced = io.BytesIO()
    image = Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGB")
    image.quantize(COLORS).save(reduced, "png", optimize=True)
    return base64.b64encode(reduced.getvalue()).decode()


def store(path: Path) -> None:
    """Stores the outputs of a run."""
    with tempfile.TemporaryDirectory() as folder:
        notebook = executed(path, Path(folder))
    for output in (output for cell in notebook.cells for output in cell.get("outputs", ())):
        if "image/png" in output.get("data", {}):
            output.data["image/png"] = smaller(output.data["image/png"])
    nbformat.write(notebook, path)
    print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    for notebook in NOTEBOOKS:
        if not sys.argv[1:] or notebook.name in sys.argv[1:]:
            store(notebook)
