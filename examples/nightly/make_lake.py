"""Invents a lake: 3,000 homes in two regions, two days of each, as a meter company would keep them."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import dpfda as dp

rng = np.random.default_rng(2026)
for number, region in enumerate(("north", "south")):
    curves = dp.datasets.load_curves(3000, rng).curves * (1.0 + 0.2 * number)
    homes = np.repeat([f"{region}-{home:04d}" for home in range(1500)], 2)
    columns = {f"h{point:02d}": curves[:, point] for point in range(48)}
    folder = Path("lake") / f"region={region}"
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"home": homes, **columns}), folder / "days.parquet")
