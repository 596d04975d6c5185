"""Arrays for libraries that have no null, and few units of dates."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def nullable(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Returns the type that represents null by NaN, NaT or ``None``."""
    if dtype.kind in "fMm":
        return dtype
    if dtype.kind in "iu":
        return np.dtype(np.float32 if dtype.itemsize <= 2 else np.float64)
    return np.dtype(object)


def plain(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Replaces masked cells by NaN, NaT or ``None``."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    plain = np.asarray(values.data).astype(nullable(values.dtype))
    missing: Any = {"f": np.nan, "M": "NaT", "m": "NaT"}.get(plain.dtype.kind)
    plain[np.ma.getmaskarray(values)] = missing
    return plain


def supported(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Converts dates and times to a unit of pandas and xarray."""
    if values.dtype.kind not in "Mm":
        return values
    unit = np.datetime_data(values.dtype)[0]
    if unit in ("s", "ms", "us", "ns"):
        return values
    return values.astype(f"{values.dtype.kind}8[{'s' if unit in 'YMWDhm' else 'ns'}]")
