"""Writes `tissue.tar.gz`: a simulated fluorescence image with 3 channels and 3 levels.

    pip install tiledb-bioimg==0.3.10 tiledb==0.36.1 tifffile==2026.3.3 scipy typing_extensions
    python imaging.py

tifffile writes an OME-TIFF with a pyramid, as scanners do. tiledb-bioimg converts it to a group
with an array per level.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import scipy.ndimage
import tifffile
import tiledb
from pack import pack
from tiledb.bioimg.converters.ome_tiff import OMETiffConverter

SIDE = 512
CELLS = 190
CHANNELS = ["DAPI", "CD45", "PanCK"]


def image() -> np.ndarray:
    """Draws nuclei (DAPI), immune cells (CD45) and a nest of tumour cells (PanCK)."""
    random = np.random.default_rng(77)
    y, x = np.mgrid[:SIDE, :SIDE]
    planes = np.zeros((3, SIDE, SIDE))
    placed: list[tuple[float, float]] = []
    while len(placed) < CELLS:
        centre = random.uniform(14, SIDE - 14, 2)
        if all(np.hypot(*(centre - other)) > 19 for other in placed):
            placed.append(tuple(centre))
    nest = np.array([310, 190])
    for cy, cx in placed:
        tumour = np.hypot(cy - nest[0], (cx - nest[1]) * 0.8) < 130
        long, short, turn = (
            random.uniform(7, 9.5) + tumour,
            random.uniform(5, 7),
            random.uniform(0, np.pi),
        )
        u = (x - cx) * np.cos(turn) + (y - cy) * np.sin(turn)
        v = (y - cy) * np.cos(turn) - (x - cx) * np.sin(turn)
        radius = np.hypot(u / long, v / short)
        planes[0] += (radius < 1) * random.uniform(120, 190)
        ring = (radius >= 1) & (radius < 1.45)
        planes[2 if tumour else 1] += (
            ring * random.uniform(90, 150) * (tumour or random.random() < 0.6)
        )
    for plane, width in zip(planes, (1.0, 1.3, 1.3)):
        plane[:] = scipy.ndimage.gaussian_filter(plane, width)
    # The camera has an offset and little noise. Steps of 4 keep the file small.
    planes += 12 + random.normal(0, 1.2, planes.shape)
    return (np.clip(planes, 0, 255) / 4).round().astype(np.uint8) * 4


with tempfile.TemporaryDirectory() as place:
    source, folder = Path(place) / "tissue.ome.tiff", Path(place) / "tissue"
    full = image()
    levels = [full] + [
        full.reshape(3, SIDE // step, step, SIDE // step, step).mean(axis=(2, 4)).astype(np.uint8)
        for step in (2, 4)
    ]
    description = {
        "axes": "CYX",
        "Channel": {"Name": CHANNELS},
        "PhysicalSizeX": 0.5,
        "PhysicalSizeXUnit": "µm",
        "PhysicalSizeY": 0.5,
        "PhysicalSizeYUnit": "µm",
    }
    options = {"photometric": "minisblack", "tile": (128, 128), "compression": "zlib"}
    with tifffile.TiffWriter(source, ome=True) as tiff:
        tiff.write(levels[0], subifds=2, metadata=description, **options)
        for level in levels[1:]:
            tiff.write(level, subfiletype=1, **options)
    OMETiffConverter.to_tiledb(
        str(source), str(folder), tiles={"Y": 128, "X": 128}, compressor=tiledb.ZstdFilter(level=19)
    )
    pack(folder)
