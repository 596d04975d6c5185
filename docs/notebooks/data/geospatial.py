"""Writes `scenes.tar.gz`: simulated satellite scenes of farmland, from a NetCDF file.

    pip install tiledb-cf==0.9.1 tiledb==0.29.0 'numpy<2' netCDF4 scipy
    python geospatial.py

The NetCDF file follows the CF conventions: 9 dates, 2 bands of reflectance as scaled integers, and
a scene classification with clouds. tiledb-cf converts it to a group of arrays.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import netCDF4
import numpy as np
import scipy.ndimage
import tiledb
import tiledb.cf
from pack import pack

DAYS = [75, 95, 115, 135, 150, 170, 190, 215, 245]
ROWS, COLUMNS = 100, 140
PIXEL = 20.0
WEST, NORTH = 600_000.0, 5_400_000.0
#: Classes of the Sentinel-2 scene classification.
SHADOW, VEGETATION, SOIL, WATER, CLOUD = 3, 4, 5, 6, 9
#: Day of the highest NDVI, width of the season, highest NDVI.
CROPS = {
    "wheat": (145, 38, 0.82),
    "maize": (210, 42, 0.86),
    "meadow": (170, 110, 0.68),
    "bare": (150, 60, 0.22),
}


def scenes() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(31)
    y, x = np.mgrid[:ROWS, :COLUMNS]
    parcels = (y // 20) * 7 + (x + (y // 20) * 6) // 24
    crops = random.choice(len(CROPS), parcels.max() + 1, p=[0.34, 0.3, 0.24, 0.12])[parcels]
    water = np.hypot((y - 22) / 1.4, x - 108) < 11
    texture = scipy.ndimage.gaussian_filter(random.normal(0, 1, (ROWS, COLUMNS)), 2.5) * 0.1
    red, nir, classes = (np.zeros((len(DAYS), ROWS, COLUMNS)) for _ in range(3))
    for place, day in enumerate(DAYS):
        peak, width, height = (np.array(column)[crops] for column in zip(*CROPS.values()))
        ndvi = 0.15 + (height - 0.15) * np.exp(-(((day - peak) / width) ** 2)) + texture
        ndvi = np.clip(ndvi, 0.05, 0.9)
        nir[place] = 0.16 + 0.3 * ndvi
        red[place] = nir[place] * (1 - ndvi) / (1 + ndvi)
        classes[place] = np.where(ndvi > 0.35, VEGETATION, SOIL)
        red[place][water], nir[place][water], classes[place][water] = 0.04, 0.02, WATER
        cover = scipy.ndimage.gaussian_filter(random.normal(0, 1, (ROWS, COLUMNS)), 9)
        share = [0.05, 0.3, 0.0, 0.12, 0.62, 0.04, 0.0, 0.2, 0.08][place]
        cloud = cover > np.quantile(cover, 1 - share) if share else np.zeros_like(water)
        shadow = np.roll(cloud, (6, 5), (0, 1)) & ~cloud
        red[place][cloud], nir[place][cloud], classes[place][cloud] = 0.46, 0.50, CLOUD
        red[place][shadow] *= 0.4
        nir[place][shadow] *= 0.4
        classes[place][shadow] = SHADOW
    noise = random.normal(0, 0.002, red.shape)
    # Steps of 0.002 keep the file small.
    scaled = [((band + noise) / 0.002).round().clip(1) * 20 for band in (red, nir)]
    return scaled[0].astype(np.int16), scaled[1].astype(np.int16), classes.astype(np.uint8)


def write(path: Path) -> None:
    with netCDF4.Dataset(path, "w") as file:
        file.Conventions, file.title = "CF-1.8", "Surface reflectance of farmland (simulated)"
        file.crs = "EPSG:32632"
        for name, size in (("time", len(DAYS)), ("y", ROWS), ("x", COLUMNS)):
            file.createDimension(name, size)
        axes = {
            "time": (np.array(DAYS, np.int32), "days since 2025-01-01"),
            "y": (NORTH - PIXEL / 2 - PIXEL * np.arange(ROWS), "m"),
            "x": (WEST + PIXEL / 2 + PIXEL * np.arange(COLUMNS), "m"),
        }
        for name, (values, units) in axes.items():
            axis = file.createVariable(name, values.dtype, (name,))
            axis[:], axis.units = values, units
        for name, values in zip(("red", "nir", "scl"), scenes()):
            band = file.createVariable(name, values.dtype, ("time", "y", "x"))
            band.set_auto_scale(False)
            if name != "scl":
                band.scale_factor, band.add_offset = 1e-4, 0.0
                band.standard_name = "surface_bidirectional_reflectance"
            band[:] = values


with tempfile.TemporaryDirectory() as place:
    source, folder = Path(place) / "scenes.nc", Path(place) / "scenes"
    write(source)
    tiledb.cf.from_netcdf(
        str(source),
        str(folder),
        tiles_by_dims={"/": {("time", "y", "x"): (1, 50, 70)}},
        attrs_filters=tiledb.FilterList([tiledb.ByteShuffleFilter(), tiledb.ZstdFilter(level=19)]),
    )
    pack(folder)
