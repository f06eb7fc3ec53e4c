"""Reads a trace that joulecast wrote as Parquet and checks what it promises of it.

Usage: python check_parquet.py X.parquet ENERGY_J

ENERGY_J is what `joulecast stats --json` says of the same trace, or `null`. Needs pyarrow and polars
from PyPI. Prints one line; exits with 1 and a reason on the first thing that does not hold.
"""

import json
import sys
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq

BESIDE = {
    "spans": ["kind", "name", "track", "inference", "start_ps", "end_ps"],
    "marks": ["teller", "track", "name", "at_ps", "meter_ps"],
    "edges": ["line", "name", "at_ps", "level"],
}


def near(a, b, what):
    assert abs(a - b) <= 1e-9 * max(abs(a), abs(b)), f"{what}: {a} against {b}"


def metadata(path):
    pairs = pq.read_metadata(path).metadata
    return {key.decode(): value.decode() for key, value in pairs.items()}


def energies(path):
    """The integral of each power, by polars and by pyarrow."""
    frame = pl.read_parquet(path)
    assert frame["time_ps"].dtype == pl.Int64 and frame["time_ps"].null_count() == 0
    stretch = (pl.col("time_ps").shift(-1) - pl.col("time_ps")) * 1e-12
    powers = [name for name in frame.columns if name.endswith("_w")]
    by_polars = frame.select([(pl.col(name) * stretch).sum() for name in powers]).row(0)
    table = pq.read_table(path).to_pydict()
    times = table["time_ps"]
    assert all(a < b for a, b in zip(times, times[1:])), "time does not go on"
    for name, polars in zip(powers, by_polars):
        pairs = zip(table[name], times, times[1:])
        arrow = sum(value * (to - at) * 1e-12 for value, at, to in pairs if value is not None)
        near(arrow, polars, name)
    return dict(zip(powers, by_polars)), frame


def main():
    path, expected = Path(sys.argv[1]), json.loads(sys.argv[2])
    said = metadata(path)
    assert said["joulecast.schema"] == "joulecast.trace/1", said["joulecast.schema"]
    header, remarks = json.loads(said["joulecast.header"]), json.loads(said["joulecast.remarks"])
    assert said["joulecast.version"] and isinstance(remarks, list)
    energy, frame = energies(path)
    names = [f"{part['name']}_w" for part in header["components"]]
    assert frame.columns[: len(names) + 2] == ["time_ps", *names, "total_w"], frame.columns
    if expected is not None:
        near(energy["total_w"], expected, "the energy")
        if frame.null_count().select(names).row(0) == (0,) * len(names):
            near(sum(energy[name] for name in names), expected, "the sum of parts")
    counts = {}
    for kind, columns in BESIDE.items():
        beside = pl.read_parquet(path.with_suffix(f".{kind}.parquet"))
        assert beside.columns == columns, beside.columns
        arrow = pq.read_table(path.with_suffix(f".{kind}.parquet"))
        assert arrow.to_pylist() == beside.to_dicts(), f"{kind} read differently"
        counts[kind] = beside.height
    last = frame["time_ps"][-1]
    shown = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    print(f"{path}: {frame.height} rows, {shown}, {energy.get('total_w')} J in {last} ps")


if __name__ == "__main__":
    try:
        main()
    except (AssertionError, KeyError, OSError) as fault:
        sys.exit(f"{sys.argv[1]}: {type(fault).__name__}: {fault}")
