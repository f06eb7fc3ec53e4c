"""How fast a large CSV is read and summed, beside polars.

    python3 benches/compare_csv.py [ROWS] [RUNS] [FILE]

Writes FILE (in the folder of temporary files unless named) of ROWS rows
`Timestamp(ms),Current(uA)` at 100 kHz as Nordic's app exports them, then runs
polars and `target/release/examples/sum_samples` in turn, RUNS times, each in a
process of its own, and prints the best and the median of the wall times and the
largest resident memory. A file made here is deleted at the end.
Needs polars and numpy; build first: cargo build --release --example sum_samples
"""

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EAGER = """
import sys, polars as pl
frame = pl.read_csv(sys.argv[1])
print(frame.height, frame["Current(uA)"].sum() * 1e-6, frame["Timestamp(ms)"].last())
"""
LAZY = """
import sys, polars as pl
frame = pl.scan_csv(sys.argv[1]).select(
    pl.len(), pl.col("Current(uA)").sum(), pl.col("Timestamp(ms)").last()
).collect(engine="streaming")
print(frame.row(0)[0], frame.row(0)[1] * 1e-6, frame.row(0)[2])
"""


def generate(path, rows):
    import numpy as np
    import polars as pl

    random = np.random.default_rng(1)
    with open(path, "wb") as out:
        for first in range(0, rows, 5_000_000):
            k = np.arange(first, min(rows, first + 5_000_000))
            # The shortest text of the time, three decimals of the current.
            current = np.where(k % 50_000 < 700, 23_000_000, 4_200) + random.integers(0, 900, len(k))
            frame = pl.DataFrame({"Timestamp(ms)": k / 100, "Current(uA)": current})
            frame = frame.with_columns(
                pl.when(pl.col("Timestamp(ms)") % 1 == 0)
                .then(pl.col("Timestamp(ms)").cast(pl.Int64).cast(pl.String))
                .otherwise(pl.col("Timestamp(ms)").cast(pl.String)),
                (pl.col("Current(uA)") // 1000).cast(pl.String)
                + "."
                + (pl.col("Current(uA)") % 1000).cast(pl.String).str.zfill(3),
            )
            frame.write_csv(out, include_header=first == 0, quote_style="never")


def run(command):
    start = time.perf_counter()
    done = subprocess.run(
        ["/usr/bin/env", "time", "-f", "%M KiB", *command], capture_output=True, text=True
    )
    took = time.perf_counter() - start
    if done.returncode != 0:
        sys.exit(done.stderr)
    memory = int(re.search(r"(\d+) KiB", done.stderr).group(1)) / 1024
    return took, memory, done.stdout.strip().replace("\n", "; ")


def main():
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    named = len(sys.argv) > 3
    path = Path(sys.argv[3] if named else Path(tempfile.gettempdir()) / f"compare_{rows}.csv")
    made = not path.exists()
    if made:
        generate(path, rows)
    target = os.environ.get("CARGO_TARGET_DIR", Path(__file__).parent.parent / "target")
    tools = {
        "polars read_csv": [sys.executable, "-c", EAGER, path],
        "polars scan_csv": [sys.executable, "-c", LAZY, path],
        "joulecast": [Path(target) / "release/examples/sum_samples", path],
    }
    results = {name: [] for name in tools}
    for _ in range(runs):
        for name, command in tools.items():
            results[name].append(run(command))
    print(f"{rows} rows, {path.stat().st_size / 1e6:.0f} MB, {os.cpu_count()} CPUs, {runs} runs")
    for name, measured in results.items():
        times = sorted(took for took, _, _ in measured)
        memory = max(memory for _, memory, _ in measured)
        print(
            f"{name:16} best {times[0]:7.3f} s, median {statistics.median(times):7.3f} s, "
            f"memory {memory:6.0f} MiB: {measured[0][2]}"
        )
    if made and not named:
        path.unlink()


if __name__ == "__main__":
    main()
