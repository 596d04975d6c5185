"""Writes `trades.tar.gz`: simulated trades of 4 symbols on 5 days, from data frames.

    pip install tiledb==0.36.1 pandas==2.3.3
    python finance.py

TileDB-Py writes the data frame of each day with `tiledb.from_pandas`, and appends it: a fragment
per day, with the close of the day as its time.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import tiledb
from pack import pack

SYMBOLS = {
    "ACME": (184.2, 0.012),
    "BOLT": (42.7, 0.021),
    "CRUX": (311.0, 0.009),
    "DYNE": (8.6, 0.034),
}
VENUES = ["ARCX", "BATS", "IEXG", "XNAS", "XNYS"]
DAYS = pd.bdate_range("2025-03-03", periods=5)


def trades() -> pd.DataFrame:
    random = np.random.default_rng(20250303)
    parts = []
    for symbol, (price, volatility) in SYMBOLS.items():
        for day in DAYS:
            count = int(random.integers(380, 560))
            # More trades after the open and before the close.
            share = np.sort(random.beta(0.6, 0.6, count))
            nanoseconds = 9.5 * 3600e9 + share * 6.5 * 3600e9
            time = day + pd.to_timedelta(np.unique((nanoseconds // 1000 * 1000).astype(np.int64)))
            steps = random.standard_t(4, len(time)) * volatility / np.sqrt(len(time)) * 0.7
            path = price * np.exp(np.cumsum(steps))
            odd = random.random(len(time)) < 0.18
            size = np.where(
                odd, random.integers(1, 100, len(time)), 100 * random.geometric(0.4, len(time))
            )
            parts.append(
                pd.DataFrame(
                    {
                        "symbol": symbol,
                        "time": time,
                        "price": path.round(2),
                        "size": size.astype(np.int32),
                        "venue": random.choice(VENUES, len(time), p=[0.15, 0.2, 0.05, 0.35, 0.25]),
                        "odd_lot": odd.astype(np.uint8),
                    }
                )
            )
            price = float(path[-1]) * float(np.exp(random.normal(0, volatility * 0.4)))
    table = pd.concat(parts, ignore_index=True)
    # An erroneous trade: the decimal point is one place to the right.
    wrong = table.index[(table.symbol == "CRUX") & (table.time.dt.day == 5)][200]
    table.loc[wrong, ["price", "size"]] = [table.price[wrong] * 10, 5000]
    return table


with tempfile.TemporaryDirectory() as place:
    folder = Path(place) / "trades"
    zstd = tiledb.FilterList([tiledb.ByteShuffleFilter(), tiledb.ZstdFilter(level=19)])
    times = tiledb.FilterList([tiledb.DoubleDeltaFilter(), tiledb.ZstdFilter(level=19)])
    table = trades()
    for number, (day, rows) in enumerate(table.groupby(table.time.dt.normalize())):
        close = int((day + pd.Timedelta(hours=16)).timestamp() * 1000)
        tiledb.from_pandas(
            str(folder),
            rows.set_index(["symbol", "time"]),
            sparse=True,
            mode="append" if number else "ingest",
            full_domain=True,
            tile={"time": 24 * 3600 * 10**9},
            capacity=512,
            attr_filters=zstd,
            dim_filters={"time": times},
            timestamp=close,
        )
    pack(folder)
